use super::{Hit, Tier};
use crate::catalog::{Catalog, TrustTier};

/// Puts tools of servers that are trusted more before their equals: of those that are named, and of
/// those with the same score.
pub(super) fn order_equals(hits: &mut [Hit], catalog: &Catalog) {
    if catalog.servers().iter().all(|server| server.trust == TrustTier::Standard) {
        return;
    }
    let equal = |a: &Hit, b: &Hit| a.tier == b.tier && (a.tier == Tier::Named || a.score == b.score);
    for equals in hits.chunk_by_mut(equal) {
        equals.sort_by_key(|hit| catalog.trust(&hit.tool.server));
    }
    hits.iter_mut().zip(1..).for_each(|(hit, rank)| hit.rank = rank);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        id::{ServerId, ToolId},
        protocol::Tool,
    };

    #[test]
    fn only_equals_are_ordered() {
        let id = |server| ServerId::new(server).unwrap();
        let catalog = |tiers: [TrustTier; 3]| {
            let servers = ["a", "b", "c"].into_iter().zip(tiers);
            let builder = servers.fold(Catalog::builder(), |builder, (server, tier)| {
                builder.trust(id(server), tier).tool(id(server), Tool::new("t", ""))
            });
            builder.build()
        };
        let hit = |server, score, tier| Hit { tier, ..Hit::new(ToolId::new(id(server), "t"), score, 0) };
        let order = |catalog: &Catalog, mut hits: Vec<Hit>| {
            (1..).zip(&mut hits).for_each(|(rank, hit)| hit.rank = rank);
            order_equals(&mut hits, catalog);
            assert!(hits.iter().zip(1..).all(|(hit, rank)| hit.rank == rank));
            hits.iter().map(|hit| hit.tool.server.to_string()).collect::<String>()
        };
        use TrustTier::{Standard, Trusted, Untrusted};
        let mixed = catalog([Untrusted, Standard, Trusted]);
        let scored = |scores: [f32; 3]| {
            ["a", "b", "c"].into_iter().zip(scores).map(|(server, score)| hit(server, score, Tier::Scored)).collect()
        };
        assert_eq!(order(&mixed, scored([1.0, 1.0, 1.0])), "cba");
        assert_eq!(order(&mixed, scored([1.0, 0.5, 0.5])), "acb");
        assert_eq!(order(&mixed, scored([1.0, 0.9, 0.8])), "abc");
        assert_eq!(order(&catalog([Standard; 3]), scored([1.0, 1.0, 1.0])), "abc");
        let named = vec![hit("a", 9.0, Tier::Named), hit("c", 1.0, Tier::Named), hit("b", 9.0, Tier::Scored)];
        assert_eq!(order(&mixed, named), "cab");
    }
}
