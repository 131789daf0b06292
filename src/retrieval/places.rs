/// The places that stand beside a hash in a sorted table, ascending.
pub(super) fn places(table: &[(u64, u32)], hash: u64) -> impl Iterator<Item = u32> {
    let start = table.partition_point(|(of, _)| *of < hash);
    let rest = table.get(start..).unwrap_or_default();
    rest.iter().take_while(move |(of, _)| *of == hash).map(|(_, place)| *place)
}
