use serde_json::Value;

/// The JSON values of a text, one after the other however they are broken into lines, each with the
/// line on which it begins.
pub(super) fn values(text: &str) -> impl Iterator<Item = Result<(usize, Value), String>> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let (mut line, mut counted) = (1, 0);
    std::iter::from_fn(move || {
        let before = stream.byte_offset();
        let rest = text.get(before..).unwrap_or_default();
        let start = before + (rest.len() - rest.trim_start().len());
        line += text.get(counted..start).unwrap_or_default().matches('\n').count();
        counted = start;
        Some(stream.next()?.map(|value| (line, value)).map_err(|error| format!("it is no JSON: {error}")))
    })
    // What stands after a fault is not read.
    .scan(false, |failed, value| {
        let go_on = !*failed;
        *failed = value.is_err();
        go_on.then_some(value)
    })
}
