use super::{left_out::LeftOutReason, options::PromptOptions};
use crate::{
    catalog::Catalog,
    id::ResourceId,
    protocol::{Annotations, ContentBlock},
};

/// What a block of a prompt says of itself.
pub(super) struct Piece<'a> {
    pub(super) kind: &'static str,
    pub(super) uri: Option<&'a str>,
    mime_type: Option<&'a str>,
    annotations: Option<&'a Annotations>,
    bytes: usize,
}

impl<'a> Piece<'a> {
    pub(super) fn of(content: &'a ContentBlock) -> Self {
        let mut piece = Self { kind: "unknown", uri: None, mime_type: None, annotations: None, bytes: 0 };
        match content {
            ContentBlock::Text { annotations, .. } => {
                (piece.kind, piece.annotations) = ("text", Some(annotations));
            }
            ContentBlock::Image { annotations, .. } => {
                (piece.kind, piece.annotations) = ("image", Some(annotations));
            }
            ContentBlock::Audio { annotations, .. } => {
                (piece.kind, piece.annotations) = ("audio", Some(annotations));
            }
            ContentBlock::ResourceLink(resource) => {
                (piece.kind, piece.annotations) = ("resource_link", Some(&resource.annotations));
                (piece.uri, piece.mime_type) = (Some(resource.uri.as_str()), resource.mime_type.as_deref());
            }
            ContentBlock::Resource { contents, annotations } => {
                (piece.kind, piece.annotations) = ("resource", Some(annotations));
                (piece.uri, piece.mime_type) = (Some(contents.uri.as_str()), contents.mime_type.as_deref());
                piece.bytes = match (&contents.text, &contents.blob) {
                    (Some(text), _) => text.len(),
                    (None, blob) => blob.as_ref().map_or(0, String::len) / 4 * 3,
                };
            }
            ContentBlock::Other(_) => {}
        }
        piece
    }

    /// Whether it may reach the model, and how many tokens it may have where a rule says so. What
    /// the catalog lists of the resource restricts as well: an answer must not talk its way around it.
    pub(super) fn permitted(
        &self,
        resource: Option<&ResourceId>,
        catalog: &Catalog,
        options: &PromptOptions,
    ) -> Result<Option<usize>, LeftOutReason> {
        let none = Annotations::default();
        let annotations = self.annotations.unwrap_or(&none);
        let Some(id) = resource else {
            return if annotations.for_model() { Ok(None) } else { Err(LeftOutReason::ForUser) };
        };
        let listed = catalog.resource(id).map(|entry| &entry.resource);
        let mut max_tokens: Option<usize> = None;
        let says = [Some((annotations, self.mime_type)), listed.map(|r| (&r.annotations, r.mime_type.as_deref()))];
        for (hints, mime_type) in says.into_iter().flatten() {
            let decision = options.governance.decide(id, mime_type);
            decision.permits(&options.destination).map_err(LeftOutReason::Forbidden)?;
            if !decision.for_model(hints) {
                return Err(LeftOutReason::ForUser);
            }
            if let Some(most) = decision.max_bytes.filter(|most| self.bytes > *most) {
                return Err(LeftOutReason::TooLarge { bytes: self.bytes, most });
            }
            max_tokens = max_tokens.into_iter().chain(decision.max_tokens).min();
        }
        Ok(max_tokens)
    }
}

/// What counts against the bound: texts and base64, and the names of resources.
pub(super) fn bytes(content: &ContentBlock) -> usize {
    match content {
        ContentBlock::Text { text, .. } => text.len(),
        ContentBlock::Image { data, mime_type, .. } | ContentBlock::Audio { data, mime_type, .. } => {
            data.len() + mime_type.len()
        }
        ContentBlock::ResourceLink(resource) => {
            let texts = [&resource.title, &resource.description, &resource.mime_type];
            let texts: usize = texts.into_iter().flatten().map(String::len).sum();
            resource.uri.len() + resource.name.len() + texts
        }
        ContentBlock::Resource { contents, .. } => {
            let texts = [&contents.text, &contents.blob, &contents.mime_type];
            contents.uri.len() + texts.into_iter().flatten().map(String::len).sum::<usize>()
        }
        // Never looked into: a fixed sentence stands for it.
        ContentBlock::Other(_) => 0,
    }
}
