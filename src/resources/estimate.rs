use crate::protocol::Resource;

/// What a picture costs at most: providers scale larger ones down to about this
/// (Anthropic: width × height / 750, up to 1,568 pixels a side).
pub const IMAGE_TOKENS: usize = 1_600;

/// What a resource is estimated to cost before it is read: a quarter of its size in bytes for
/// text, or 500 tokens where the server gives no size; [`IMAGE_TOKENS`] for a picture.
///
/// Four bytes a token is what English prose comes to; what was read is counted.
pub fn estimated_tokens(resource: &Resource) -> usize {
    const UNKNOWN_SIZE_TOKENS: usize = 500;
    if resource.mime_type.as_deref().is_some_and(|mime| mime.to_ascii_lowercase().starts_with("image/")) {
        return IMAGE_TOKENS;
    }
    let size = resource.size.map(|bytes| usize::try_from(bytes.div_ceil(4)).unwrap_or(usize::MAX));
    size.unwrap_or(UNKNOWN_SIZE_TOKENS)
}
