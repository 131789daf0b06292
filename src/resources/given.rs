use super::{
    content::{Content, ImageContent, classify},
    text_kind::TextKind,
};
use crate::{
    json::Digest,
    protocol::{ReadResourceResult, ResourceContents},
};

/// What a model can be given of a resource that was read.
#[derive(Debug)]
pub(super) struct Given {
    /// The types of the contents that are given, as far as they have one, in their order.
    pub(super) mime_types: Vec<String>,
    /// What the text is, if all of it is of one kind.
    pub(super) kind: TextKind,
    /// Several contents are parted by a line that names each.
    pub(super) text: String,
    pub(super) images: Vec<ImageContent>,
    /// Over all contents, those that cannot be given too.
    pub(super) digest: Digest,
}

impl Given {
    /// Of the contents as a server gave them.
    ///
    /// # Errors
    /// What they are, if there is nothing among them that a model can be given.
    pub(super) fn new(result: &ReadResourceResult) -> Result<Self, String> {
        let mut given = Self {
            mime_types: Vec::new(),
            kind: TextKind::Plain,
            text: String::new(),
            images: Vec::new(),
            digest: digest(result),
        };
        let (mut kinds, mut others) = (Vec::new(), Vec::new());
        let several = result.contents.len() > 1;
        for contents in &result.contents {
            let mime_type = match classify(contents) {
                Content::Text(text) if text.text.trim().is_empty() => continue,
                Content::Text(text) => {
                    given.push(contents, &text.text, several);
                    kinds.push(text.kind);
                    text.mime_type
                }
                Content::Image(image) => {
                    let mime_type = image.mime_type.to_owned();
                    given.images.push(image);
                    Some(mime_type)
                }
                Content::Audio { mime_type, bytes } => {
                    others.push(describe(Some(&mime_type), bytes, None));
                    continue;
                }
                Content::Binary { mime_type, bytes, note } => {
                    others.push(describe(mime_type.as_deref(), bytes, note));
                    continue;
                }
            };
            given.mime_types.extend(mime_type);
        }
        if given.text.is_empty() && given.images.is_empty() {
            // A folder of sounds needs no list.
            others.truncate(4);
            return Err(if others.is_empty() { "it is empty".into() } else { others.join("; ") });
        }
        if let Some(first) = kinds.first().filter(|first| kinds.iter().all(|kind| kind == *first)) {
            // Lines that name the contents are no data.
            let structured = matches!(first, TextKind::Json | TextKind::Csv { .. });
            given.kind = if structured && kinds.len() > 1 { TextKind::Plain } else { *first };
        }
        Ok(given)
    }

    fn push(&mut self, contents: &ResourceContents, text: &str, named: bool) {
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        if named {
            let uri: String = contents.uri.chars().filter(|c| !c.is_control()).take(MAX_URI).collect();
            self.text.push_str(&format!("[{uri}]\n"));
        }
        self.text.push_str(text);
    }
}

/// The most characters of a content's own URI that are shown.
const MAX_URI: usize = 512;

fn describe(mime_type: Option<&str>, bytes: usize, note: Option<&str>) -> String {
    let what = crate::error::excerpt(mime_type.unwrap_or("of unknown type"));
    match note {
        Some(note) => format!("{what}, {bytes} bytes: {note}"),
        None => format!("{what}, {bytes} bytes"),
    }
}

/// With the lengths of all parts, so that no two answers look alike.
fn digest(result: &ReadResourceResult) -> Digest {
    let parts = result.contents.iter().flat_map(|contents| {
        let parts: [&str; 4] = [
            &contents.uri,
            contents.mime_type.as_deref().unwrap_or_default(),
            contents.text.as_deref().unwrap_or_default(),
            contents.blob.as_deref().unwrap_or_default(),
        ];
        parts
    });
    Digest::of_parts(parts)
}
