use super::{
    joining::{Joined, Joining, Place},
    layout::{Attachment, ToolSpec},
    message::{Block, decoded_len, left_out},
    report::RenderReport,
    turns::{FAILED, Part, Turn, is_blank},
};
use crate::{error::excerpt, json, protocol::Role, resources::image_type};

/// Reads the blocks of one message.
pub(super) struct Reader<'a, 'r> {
    pub(super) message: usize,
    pub(super) role: Role,
    pub(super) joining: &'r mut Joining<'a>,
    pub(super) report: &'r mut RenderReport,
}

impl<'a> Reader<'a, '_> {
    /// Adds what `block` says to `turn`.
    pub(super) fn read(&mut self, block: &'a Block, turn: &mut Turn<'a>) {
        match block {
            Block::Text(_) | Block::Image { .. } => turn.parts.extend(self.shown(block)),
            Block::Attachment(attachment) if self.role == Role::User => {
                turn.parts.extend(attached(attachment, self.report));
            }
            Block::ToolCall { id, name, arguments } if self.role == Role::Assistant => {
                self.joining.called(id, name);
                let too_deep = arguments.values().any(|value| json::depth(value) >= json::MAX_DEPTH);
                if too_deep {
                    self.note("arguments left out, they are nested too deep");
                }
                let arguments = if too_deep { "{}".into() } else { json::canonical_object(arguments) };
                turn.parts.push(Part::Call { id: id.into(), name: name.into(), arguments });
            }
            Block::ToolResult { call_id, content, is_error } if self.role == Role::User => {
                self.result(call_id, content, *is_error, turn);
            }
            Block::Tools { tools } if self.role == Role::User => {
                let joined = self.join(tools, Place::Message);
                turn.parts.extend(joined.texts.into_iter().map(|text| Part::Text(text.into())));
                turn.added.extend(joined.tools);
            }
            Block::Signature(signature) if !turn.parts.is_empty() && self.role == Role::Assistant => {
                turn.signatures.push((turn.parts.len() - 1, signature));
            }
            Block::Signature(_) => self.note("a signature of nothing that the model said: left out"),
            Block::Attachment(_) | Block::ToolCall { .. } | Block::ToolResult { .. } | Block::Tools { .. } => {
                self.note("the model makes calls, the user gives results, resources and tools: left out");
            }
        }
    }

    /// One level: a result holds no calls and no results.
    fn result(&mut self, call_id: &'a str, content: &'a [Block], is_error: bool, turn: &mut Turn<'a>) {
        let place = self.joining.answered(call_id);
        let (mut parts, mut found) = (Vec::new(), Vec::new());
        for block in content {
            match (block, place) {
                (Block::Tools { tools }, Some(place)) => {
                    let joined = self.join(tools, place);
                    parts.extend(joined.texts.into_iter().map(|text| Part::Text(text.into())));
                    let native = if place == Place::Search { &mut found } else { &mut turn.added };
                    native.extend(joined.tools);
                }
                (Block::Tools { .. }, None) => self.note("tools in the result of no call: left out"),
                _ => parts.extend(self.shown(block)),
            }
        }
        // Definitions stand alone in a result, by every provider's rule: what was said with them follows.
        let bare = self.joining.is_bare(place);
        let mut beside = Vec::new();
        if bare || !found.is_empty() {
            beside.extend((bare && is_error).then_some(Part::Text(FAILED.into())));
            beside.append(&mut parts);
        }
        let found = (place == Some(Place::Search)).then_some(found);
        turn.parts.push(Part::Result { call_id: call_id.into(), parts, found, is_error });
        turn.parts.extend(beside);
    }

    fn join(&mut self, tools: &'a [ToolSpec], place: Place) -> Joined<'a> {
        self.joining.join(tools, place, self.message, self.report)
    }

    /// A text or a picture.
    fn shown(&mut self, block: &'a Block) -> Option<Part<'a>> {
        match block {
            Block::Text(text) => (!is_blank(text)).then(|| Part::Text(text.as_str().into())),
            Block::Image { mime_type, data } => {
                let shown = match self.role {
                    Role::User => picture(mime_type, data),
                    _ => Err("only the user may show one"),
                };
                Some(shown.unwrap_or_else(|reason| {
                    self.note(&format!("image described instead of shown: {reason}"));
                    Part::Text(left_out("image", mime_type, decoded_len(data)).into())
                }))
            }
            _ => None,
        }
    }

    fn note(&mut self, what: &str) {
        self.report.notes.push(format!("messages[{}]: {what}", self.message));
    }
}

/// The text of an attachment and its pictures.
pub(super) fn attached<'a>(attachment: &'a Attachment, report: &mut RenderReport) -> Vec<Part<'a>> {
    let images = attachment.images.iter().map(|image| {
        picture(&image.mime_type, &image.data).unwrap_or_else(|reason| {
            let resource = excerpt(&attachment.resource.to_string());
            report.notes.push(format!("{resource}: image described instead of shown: {reason}"));
            Part::Text(left_out("image", &image.mime_type, decoded_len(&image.data)).into())
        })
    });
    std::iter::once(Part::Text(attachment.rendered().into())).chain(images).collect()
}

/// A picture, or why it cannot be shown.
fn picture<'a>(mime_type: &str, data: &'a str) -> Result<Part<'a>, &'static str> {
    let mime_type = image_type(mime_type).ok_or("it is neither PNG, JPEG, GIF nor WebP")?;
    if is_base64(data) { Ok(Part::Image { mime_type, data }) } else { Err("its data is no base64") }
}

fn is_base64(data: &str) -> bool {
    let digits = data.trim_end_matches('=');
    !digits.is_empty()
        && data.len() - digits.len() <= 2
        && data.len().is_multiple_of(4)
        && digits.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
}
