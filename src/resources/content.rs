use base64::{
    Engine,
    alphabet::STANDARD as ALPHABET,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};

use super::{estimate::IMAGE_TOKENS, mime, sniff, text_kind::TextKind};
use crate::protocol::ResourceContents;

/// What one content of a resource is, whatever its server calls it: see [`classify`].
///
/// What a model cannot be shown keeps its type and size only: base64 never becomes text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Content {
    /// Text, SVG and source code among it.
    Text(TextContent),
    /// A picture that every provider reads.
    Image(ImageContent),
    /// A sound.
    Audio {
        /// Such as `audio/mpeg`.
        mime_type: String,
        /// Its size, decoded.
        bytes: usize,
    },
    /// Anything else.
    Binary {
        /// The server's word, or what the bytes say where it gives none. `None` if both say nothing.
        mime_type: Option<String>,
        /// Its size, decoded; an estimate where it cannot be decoded.
        bytes: usize,
        /// What was wrong, if it was to be something that can be shown.
        note: Option<&'static str>,
    },
}

/// A text, and how it is parted.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TextContent {
    /// What [`trim`](super::trim) takes it for.
    pub kind: TextKind,
    /// The server's MIME type without parameters, if it is one of text; `None` claims nothing.
    pub mime_type: Option<String>,
    /// The text, without a byte order mark.
    pub text: String,
}

/// A picture that every provider reads.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ImageContent {
    /// `image/png`, `image/jpeg`, `image/gif` or `image/webp`: what the bytes say.
    pub mime_type: &'static str,
    /// Well-formed base64.
    pub data: String,
    /// What it costs, as an estimate: width × height / 750, at most [`IMAGE_TOKENS`], which is also
    /// taken where its size cannot be read (source: Anthropic, vision guide).
    pub tokens: usize,
}

/// The most bytes of a picture's base64: Anthropic refuses a request with a larger one (vision guide).
pub const MAX_IMAGE_BYTES: usize = 5 << 20;

/// The most pixels of a picture's side: Anthropic refuses a request with a larger one (vision guide).
pub const MAX_IMAGE_SIDE: usize = 8_000;

/// Says what one content of a resource is.
///
/// The server's MIME type counts as long as the bytes do not speak against it; a missing or wrong one
/// is made up for conservatively (WHATWG MIME Sniffing: its binary data bytes, and magic numbers):
/// - Well-formed UTF-8 without binary data bytes is text, whatever it is called. What is called text
///   may hold a few that are damaged. UTF-16 is read if it begins with a byte order mark.
/// - A picture is one if its bytes say so: a wrong picture makes a provider refuse the whole request.
/// - A text is decoded only if it is a whole `data:` URL, or base64 of what its MIME type promises.
///
/// Never fails: what cannot be read is [`Content::Binary`] with a note. Linear in the content.
///
/// ```
/// use proem::protocol::ResourceContents;
/// use proem::resources::{Content, TextKind, classify};
/// use serde_json::json;
///
/// let read = |value| ResourceContents::read(value).map(|contents| classify(&contents));
/// let Content::Text(text) = read(json!({"uri": "wiki://plan.md", "blob": "IyBQbGFu"}))? else { panic!() };
/// assert_eq!((text.kind, text.text.as_str()), (TextKind::Markdown, "# Plan"));
///
/// // Called text, but it is a picture that was cut off.
/// let picture = read(json!({"uri": "x:", "mimeType": "text/plain", "blob": "iVBORw0KGgo="}))?;
/// assert!(matches!(picture, Content::Image(image) if image.mime_type == "image/png"));
/// # Ok::<(), String>(())
/// ```
pub fn classify(contents: &ResourceContents) -> Content {
    let label = contents.mime_type.as_deref().and_then(mime::essence);
    match (&contents.text, &contents.blob) {
        (Some(text), _) => of_text(text, label, &contents.uri),
        (None, Some(blob)) => match decode(blob) {
            Some(bytes) => of_bytes(&bytes, blob, label, &contents.uri),
            None => Content::Binary { mime_type: label, bytes: blob.len() / 4 * 3, note: Some("it is no base64") },
        },
        (None, None) => text_content(String::new(), label, &contents.uri),
    }
}

fn of_text(text: &str, label: Option<String>, uri: &str) -> Content {
    if let Some((label, data, bytes)) = encoded(text, label.as_deref()) {
        return of_bytes(&bytes, data, label, uri);
    }
    if !sniff::is_readable(text) {
        return Content::Binary { mime_type: label, bytes: text.len(), note: Some("its text is binary data") };
    }
    text_content(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned(), label, uri)
}

/// Bytes that a server wrote as text: a whole `data:` URL, or base64 of what the label promises.
fn encoded<'a>(text: &'a str, label: Option<&str>) -> Option<(Option<String>, &'a str, Vec<u8>)> {
    // A URL's head is short; what is longer is looked at as base64 at most.
    const MAX_HEAD: usize = 128;
    let text = text.trim();
    if let Some(url) = text.strip_prefix("data:") {
        let (head, data) = url.split_once(',').filter(|(head, data)| head.len() <= MAX_HEAD && !data.contains(' '))?;
        return Some((mime::essence(head.strip_suffix(";base64")?), data, decode(data)?));
    }
    let label = label.filter(|label| !mime::is_text(label))?;
    let bytes = decode(text)?;
    let (promised, found) = (label.split('/').next(), sniff::magic(&bytes)?);
    (found == label || found.split('/').next() == promised && promised != Some("application"))
        .then(|| (Some(label.to_owned()), text, bytes))
}

fn of_bytes(bytes: &[u8], blob: &str, label: Option<String>, uri: &str) -> Content {
    let is_text_label = label.as_deref().is_some_and(mime::is_text);
    if let Some(text) = sniff::text(bytes, is_text_label) {
        return text_content(text, label, uri);
    }
    let found = sniff::magic(bytes);
    let binary = |note| Content::Binary {
        mime_type: label.clone().filter(|label| !mime::is_generic(label)).or(found.map(Into::into)),
        bytes: bytes.len(),
        note,
    };
    if let Some(mime_type) = found.and_then(mime::image_type) {
        return image(mime_type, bytes, blob).unwrap_or_else(|note| binary(Some(note)));
    }
    let label = label.as_deref();
    match label.filter(|label| label.starts_with("audio/")).or(found.filter(|found| found.starts_with("audio/"))) {
        Some(mime_type) if !is_text_label => Content::Audio { mime_type: mime_type.into(), bytes: bytes.len() },
        _ if is_text_label => binary(Some("it is called text, but it is not")),
        _ if label.and_then(mime::image_type).is_some() => binary(Some("it is called a picture, but it is not")),
        _ => binary(None),
    }
}

fn image(mime_type: &'static str, bytes: &[u8], blob: &str) -> Result<Content, &'static str> {
    let tokens = match imagesize::blob_size(bytes) {
        Ok(size) if size.width.max(size.height) > MAX_IMAGE_SIDE => return Err("it has too many pixels"),
        Ok(size) => (size.width * size.height).div_ceil(750).clamp(1, IMAGE_TOKENS),
        Err(_) => IMAGE_TOKENS,
    };
    // As it was sent, if every reader of base64 takes that.
    let data = if STANDARD.decode(blob).is_ok() { blob.to_owned() } else { STANDARD.encode(bytes) };
    if data.len() > MAX_IMAGE_BYTES {
        return Err("it has too many bytes");
    }
    Ok(Content::Image(ImageContent { mime_type, data, tokens }))
}

fn text_content(text: String, label: Option<String>, uri: &str) -> Content {
    let mime_type = label.filter(|label| mime::is_text(label));
    let kind = TextKind::of(mime_type.as_deref(), uri, &text);
    Content::Text(TextContent { kind, mime_type, text })
}

/// Decodes base64 as leniently as is safe: with or without padding, broken into lines, or with the
/// alphabet for URLs (RFC 4648, section 5).
fn decode(blob: &str) -> Option<Vec<u8>> {
    const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    const LENIENT: GeneralPurpose = GeneralPurpose::new(&ALPHABET, CONFIG);
    STANDARD.decode(blob).ok().or_else(|| {
        let digits: Vec<u8> = blob
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .map(|byte| match byte {
                b'-' => b'+',
                b'_' => b'/',
                byte => byte,
            })
            .collect();
        LENIENT.decode(digits).ok()
    })
}
