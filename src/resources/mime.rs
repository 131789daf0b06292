use super::text_kind::TextKind;

/// The longest type or subtype (RFC 6838, section 4.2).
const MAX_NAME: usize = 127;

/// `type/subtype` in lower case, without parameters. `None` if it is no MIME type.
pub(super) fn essence(mime_type: &str) -> Option<String> {
    let essence = mime_type.split(';').next().unwrap_or_default().trim();
    let (kind, subtype) = essence.split_once('/')?;
    let is_name = |name: &str| (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_token);
    (is_name(kind) && is_name(subtype)).then(|| essence.to_ascii_lowercase())
}

/// Whether what is called so is text.
pub(super) fn is_text(essence: &str) -> bool {
    essence.starts_with("text/") || TextKind::of_mime(essence).is_some()
}

/// Whether it says no more than that there are bytes.
pub(super) fn is_generic(essence: &str) -> bool {
    matches!(essence, "application/octet-stream" | "binary/octet-stream" | "application/unknown" | "unknown/unknown")
}

/// The picture types that Anthropic and OpenAI both read, in the one spelling that they take.
pub(crate) fn image_type(mime_type: &str) -> Option<&'static str> {
    // A type may carry parameters, and data: URLs must not be opened up by them.
    Some(match essence(mime_type)?.as_str() {
        "image/png" => "image/png",
        "image/jpeg" | "image/jpg" => "image/jpeg",
        "image/gif" => "image/gif",
        "image/webp" => "image/webp",
        _ => return None,
    })
}

/// A character of a name (RFC 9110, section 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_read_without_parameters_and_nothing_else_is_one() {
        assert_eq!(essence(" Text/HTML ; charset=utf-8").as_deref(), Some("text/html"));
        assert_eq!(essence("application/vnd.api+json").as_deref(), Some("application/vnd.api+json"));
        for wrong in ["", "text", "/", "text/", "a b/c", "text/\"x\"", "text/a/b", &"x/".repeat(200)] {
            assert_eq!(essence(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn svg_is_text_and_no_picture() {
        assert!(is_text("image/svg+xml") && image_type("image/svg+xml").is_none());
        assert!(!is_text("image/png") && !is_text("application/pdf") && !is_text("application/octet-stream"));
    }
}
