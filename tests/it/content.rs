//! What a resource's content is, whatever its server says.

use base64::{Engine, engine::general_purpose::STANDARD};
use proem::{
    protocol::ResourceContents,
    resources::{Content, IMAGE_TOKENS, MAX_IMAGE_BYTES, TextKind, classify},
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn read(value: Value) -> Content {
    classify(&ResourceContents::read(value).unwrap())
}

fn blob(mime_type: &str, bytes: &[u8]) -> Content {
    read(json!({"uri": "x:", "mimeType": mime_type, "blob": STANDARD.encode(bytes)}))
}

fn text(content: Content) -> (Option<String>, String) {
    match content {
        Content::Text(text) => (text.mime_type, text.text),
        other => panic!("no text: {other:?}"),
    }
}

/// The beginning of a PNG of this size, which is all that is looked at.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend(b"\x08\x06\0\0\0");
    bytes
}

#[test]
fn the_servers_type_counts_as_long_as_the_bytes_do_not_speak_against_it() {
    assert_eq!(
        text(blob("Text/Markdown; charset=utf-8", b"\xef\xbb\xbf# A")),
        (Some("text/markdown".into()), "# A".into())
    );
    assert_eq!(text(blob("application/octet-stream", b"plain words")), (None, "plain words".into()));
    assert_eq!(text(blob("image/png", b"not found")), (None, "not found".into()));
    assert_eq!(text(read(json!({"uri": "x:", "mimeType": "image/png", "text": "a board"}))), (None, "a board".into()));
    assert_eq!(text(blob("image/svg+xml", b"<svg/>")), (Some("image/svg+xml".into()), "<svg/>".into()));
    assert_eq!(text(read(json!({"uri": "x:", "blob": ""}))), (None, String::new()));
    for called in ["text/plain", "application/octet-stream", "image/jpeg", "application/pdf", ""] {
        let Content::Image(image) = blob(called, &png(300, 200)) else { panic!("{called}") };
        assert_eq!((image.mime_type, image.tokens), ("image/png", 80), "{called}");
        assert_eq!(image.data, STANDARD.encode(png(300, 200)));
    }
}

#[test]
fn what_is_not_shown_keeps_its_type_and_size_only() {
    let bytes = [0, 1, 2, 3, 4, 5, 0xff, 0xfe, 0];
    let binary =
        |mime_type: Option<&str>, bytes, note| Content::Binary { mime_type: mime_type.map(Into::into), bytes, note };
    assert_eq!(blob("text/plain", &bytes), binary(Some("text/plain"), 9, Some("it is called text, but it is not")));
    assert_eq!(blob("image/png", &bytes), binary(Some("image/png"), 9, Some("it is called a picture, but it is not")));
    assert_eq!(blob("application/zip", &bytes), binary(Some("application/zip"), 9, None));
    assert_eq!(blob("application/octet-stream", b"%PDF-1.7\n\xff\xfe\0"), binary(Some("application/pdf"), 12, None));
    assert_eq!(blob("audio/x-own", &bytes), Content::Audio { mime_type: "audio/x-own".into(), bytes: 9 });
    assert_eq!(blob("", b"fLaC\0\0\0\x22"), Content::Audio { mime_type: "audio/x-flac".into(), bytes: 8 });
    assert_eq!(
        read(json!({"uri": "x:", "mimeType": "text/plain", "blob": "no base64!"})),
        binary(Some("text/plain"), 6, Some("it is no base64"))
    );
    let damaged = String::from_utf8_lossy(&[0x89, b'P', b'N', b'G', 0, 0, 0xff, 0xd8]).into_owned();
    assert!(matches!(
        read(json!({"uri": "x:", "text": damaged})),
        Content::Binary { note: Some("its text is binary data"), .. }
    ));
}

#[test]
fn base64_never_becomes_text() {
    let data = STANDARD.encode(png(10, 10));
    for value in [
        json!({"uri": "x:", "text": format!("data:image/png;base64,{data}")}),
        json!({"uri": "x:", "mimeType": "image/png", "text": data}),
        json!({"uri": "x:", "mimeType": "image/jpeg", "text": format!("{data}\n")}),
        json!({"uri": "x:", "blob": data.trim_end_matches('=')}),
        json!({"uri": "x:", "blob": format!("{}\r\n{}", &data[..8], &data[8..])}),
        json!({"uri": "x:", "blob": data.replace('+', "-").replace('/', "_")}),
    ] {
        let Content::Image(image) = read(value.clone()) else { panic!("{value}") };
        assert_eq!(STANDARD.decode(&image.data).unwrap(), png(10, 10), "{value}");
    }
    // But what only looks so is a text.
    for value in [
        json!({"uri": "x:", "mimeType": "image/png", "text": "word"}),
        json!({"uri": "x:", "text": "data:image/png;base64,see below"}),
        json!({"uri": "x:", "mimeType": "text/plain", "text": data}),
    ] {
        assert!(matches!(read(value.clone()), Content::Text(_)), "{value}");
    }
}

#[test]
fn pictures_cost_by_their_pixels_and_those_that_providers_refuse_are_none() {
    for (width, height, tokens) in [(1, 1, 1), (750, 10, 10), (4_000, 4_000, IMAGE_TOKENS), (0, 0, 1)] {
        let Content::Image(image) = blob("image/png", &png(width, height)) else { panic!() };
        assert_eq!(image.tokens, tokens);
    }
    let Content::Image(image) = blob("image/png", b"\x89PNG\r\n\x1a\n\0") else { panic!() };
    assert_eq!(image.tokens, IMAGE_TOKENS);
    for bytes in [png(8_001, 1), [png(1, 1), vec![0; MAX_IMAGE_BYTES]].concat(), png(u32::MAX, u32::MAX)] {
        assert!(matches!(blob("image/png", &bytes), Content::Binary { note: Some(_), .. }));
    }
}

#[test]
fn the_kind_of_a_text_is_its_types_or_its_extensions_or_what_it_looks_like() {
    let kind = |value| match read(value) {
        Content::Text(text) => text.kind,
        other => panic!("{other:?}"),
    };
    assert_eq!(kind(json!({"uri": "x:a.md", "mimeType": "text/plain", "text": "a"})), TextKind::Markdown);
    assert_eq!(kind(json!({"uri": "x:a.md", "mimeType": "application/json", "text": "{}"})), TextKind::Json);
    assert_eq!(kind(json!({"uri": "x:a", "mimeType": "image/png", "text": "[1]"})), TextKind::Json);
    assert_eq!(kind(json!({"uri": "x:a", "mimeType": "text/csv", "text": "a\tb"})), TextKind::Csv { delimiter: b'\t' });
    assert_eq!(kind(json!({"uri": "git://r/main.rs?ref=1", "text": "fn a() {}"})), TextKind::Code);
    assert_eq!(kind(json!({"uri": "x:a", "text": "words"})), TextKind::Plain);
}

proptest! {
    #[test]
    fn nothing_panics_and_a_blob_is_never_shown_as_base64(
        bytes in prop_oneof![any::<Vec<u8>>(), Just(png(3, 3)), "\\PC{0,40}".prop_map(String::into_bytes)],
        mime_type in "(text/(plain|csv|markdown)|image/(png|gif|svg\\+xml)|application/(json|octet-stream)|audio/wav|\\PC{0,9})",
        cut in 0..9_usize,
    ) {
        let data = STANDARD.encode(&bytes);
        let end = data.len().saturating_sub(cut);
        for value in [
            json!({"uri": "x:", "mimeType": mime_type, "blob": &data[..end]}),
            json!({"uri": "x:", "blob": &data[..end]}),
        ] {
            if let Content::Text(text) = read(value) {
                prop_assert!(text.text.len() <= bytes.len() * 3);
                if end == data.len() && !bytes.starts_with(b"\xef\xbb\xbf") && !bytes.starts_with(b"\xff\xfe") && !bytes.starts_with(b"\xfe\xff") {
                    prop_assert_eq!(text.text, String::from_utf8_lossy(&bytes));
                }
            }
        }
        let _ = read(json!({"uri": "x:", "mimeType": mime_type, "text": String::from_utf8_lossy(&bytes)}));
        let _ = read(json!({"uri": "x:", "mimeType": mime_type, "blob": String::from_utf8_lossy(&bytes)}));
    }
}
