use crate::protocol::Resource;

/// What a picture costs at most: providers scale larger ones down to about this
/// (Anthropic: width × height / 750, up to 1,568 pixels a side).
pub const IMAGE_TOKENS: usize = 1_600;

/// What a resource is estimated to cost before it is read: a quarter of its size in bytes for
/// text, or 500 tokens where the server gives no size. What was read is counted.
///
/// Four bytes a token is what English prose comes to. For a picture it is a token for each 200
/// bytes (a quarter of a byte for each pixel, as JPEG has it, and 750 pixels a token), from 50 to
/// [`IMAGE_TOKENS`].
pub fn estimated_tokens(resource: &Resource) -> usize {
    const UNKNOWN_SIZE_TOKENS: usize = 500;
    let part = |bytes: u64, of: u64| usize::try_from(bytes.div_ceil(of)).unwrap_or(usize::MAX);
    match resource.size {
        _ if is_picture(resource) => {
            resource.size.map_or(IMAGE_TOKENS, |bytes| part(bytes, 200).clamp(50, IMAGE_TOKENS))
        }
        Some(bytes) => part(bytes, 4),
        None => UNKNOWN_SIZE_TOKENS,
    }
}

/// Whether its server says that it is a picture of a kind that is shown as one.
pub(super) fn is_picture(resource: &Resource) -> bool {
    let mime_type = resource.mime_type.as_deref().unwrap_or_default();
    mime_type.to_ascii_lowercase().starts_with("image/") && !mime_type.contains("svg")
}
