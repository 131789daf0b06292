use std::{borrow::Cow, collections::BTreeSet};

use super::{
    delimit,
    joining::{Joined, Joining, Place},
    layout::{Attachment, Layout, ToolSpec},
    message::{Block, decoded_len, left_out},
    report::RenderReport,
    tools::ReadyTool,
};
use crate::{error::excerpt, json, protocol::Role, resources::image_type};

/// Neighbouring messages of one role, as every provider takes them.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pub(super) role: Role,
    pub(super) parts: Vec<Part<'a>>,
    /// How many of the first parts are of attachments: their texts and pictures.
    pub(super) attachments: usize,
    /// Tools that join after it, for a provider that has a form for them. Only in the user's turns.
    pub(super) added: Vec<ReadyTool<'a>>,
}

/// A piece of a turn that every provider can be given.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// Not blank.
    Text(Cow<'a, str>),
    /// Of a type that every provider reads, with well-formed base64.
    Image { mime_type: &'static str, data: &'a str },
    /// Only in the model's turns. The arguments are a canonical JSON object.
    Call { id: &'a str, name: &'a str, arguments: String },
    /// Only in the user's turns, before everything but attachments. Holds texts and images, or the
    /// tools that a search found, for a provider that has a form for them: never both.
    Result { call_id: &'a str, parts: Vec<Self>, found: Vec<ReadyTool<'a>>, is_error: bool },
}

impl Part<'_> {
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// What stands before a failed call's result, for providers that have no field for it.
const FAILED: &str = "[the call failed]";

/// The text of a result, for providers that take nothing else. Images are described.
pub(super) fn result_text(parts: &[Part<'_>], is_error: bool) -> String {
    let mut texts: Vec<Cow<'_, str>> = Vec::with_capacity(parts.len() + 1);
    texts.extend(is_error.then_some(FAILED.into()));
    for part in parts {
        match part {
            Part::Text(text) => texts.push(text.as_ref().into()),
            Part::Image { mime_type, data } => texts.push(left_out("image", mime_type, decoded_len(data)).into()),
            Part::Call { .. } | Part::Result { .. } => {}
        }
    }
    texts.join("\n\n")
}

/// The host's text, then what servers say about themselves, each between its delimiters.
pub(super) fn system<'a>(layout: &'a Layout, report: &mut RenderReport) -> Vec<Cow<'a, str>> {
    let mut blocks: Vec<Cow<'a, str>> =
        layout.system.iter().filter(|text| !is_blank(text)).map(|text| text.as_str().into()).collect();
    for (server, text) in layout.ordered_instructions() {
        if is_blank(text) {
            continue;
        }
        let max = layout.max_instruction_chars;
        let block = match text.char_indices().nth(max) {
            None => delimit::instructions(server, text),
            Some((at, _)) => {
                let chars = text.chars().count();
                report.notes.push(format!("{server}: instructions cut to {max} of {chars} characters"));
                let kept = text.get(..at).unwrap_or_default();
                delimit::instructions(server, &format!("{kept}\n[cut: {max} of {chars} characters shown]"))
            }
        };
        blocks.push(block.into());
    }
    blocks
}

/// The conversation with the attachments before its first message.
///
/// Roles alternate, which some providers demand; the attachments are the user's, since it is the
/// host that attaches on the user's behalf. Tools that join it go through `joining`, in its order.
pub(super) fn turns<'a>(layout: &'a Layout, joining: &mut Joining<'a>, report: &mut RenderReport) -> Vec<Turn<'a>> {
    let mut attachments = Vec::new();
    for attachment in layout.ordered_attachments() {
        attachments.extend(attached(attachment, report));
    }
    let mut turns = Vec::new();
    if !attachments.is_empty() {
        turns.push(Turn { role: Role::User, attachments: attachments.len(), parts: attachments, added: Vec::new() });
    }
    let mut searches = BTreeSet::new();
    for (i, message) in layout.messages.iter().enumerate() {
        let mut reader = Reader { message: i, role: message.role, searches: &mut searches, joining, report };
        let mut read = Turn { role: message.role, parts: Vec::new(), attachments: 0, added: Vec::new() };
        message.content.iter().for_each(|block| reader.read(block, &mut read));
        match turns.last_mut() {
            _ if read.parts.is_empty() && read.added.is_empty() => {
                report.notes.push(format!("messages[{i}]: left out, it says nothing"));
            }
            Some(turn) if turn.role == message.role => {
                turn.parts.extend(read.parts);
                turn.added.extend(read.added);
            }
            _ => turns.push(read),
        }
    }
    for turn in &mut turns {
        // Results must follow their calls at once, or the request is refused.
        if let Some(said) = turn.parts.get_mut(turn.attachments..) {
            said.sort_by_key(|part| !matches!(part, Part::Result { .. }));
        }
    }
    turns
}

/// The text of an attachment and its pictures.
fn attached<'a>(attachment: &'a Attachment, report: &mut RenderReport) -> Vec<Part<'a>> {
    let images = attachment.images.iter().map(|image| {
        picture(&image.mime_type, &image.data).unwrap_or_else(|reason| {
            let resource = excerpt(&attachment.resource.to_string());
            report.notes.push(format!("{resource}: image described instead of shown: {reason}"));
            Part::Text(left_out("image", &image.mime_type, decoded_len(&image.data)).into())
        })
    });
    std::iter::once(Part::Text(attachment.rendered().into())).chain(images).collect()
}

/// Reads the blocks of one message.
struct Reader<'a, 'r> {
    message: usize,
    role: Role,
    /// The calls so far that are searches.
    searches: &'r mut BTreeSet<&'a str>,
    joining: &'r mut Joining<'a>,
    report: &'r mut RenderReport,
}

impl<'a> Reader<'a, '_> {
    /// Adds what `block` says to `turn`.
    fn read(&mut self, block: &'a Block, turn: &mut Turn<'a>) {
        match block {
            Block::Text(_) | Block::Image { .. } => turn.parts.extend(self.shown(block)),
            Block::Attachment(attachment) if self.role == Role::User => {
                turn.parts.extend(attached(attachment, self.report));
            }
            Block::ToolCall { id, name, arguments } if self.role == Role::Assistant => {
                if self.joining.is_search(name) {
                    self.searches.insert(id);
                } else {
                    self.searches.remove(id.as_str());
                }
                let too_deep = arguments.values().any(|value| json::depth(value) >= json::MAX_DEPTH);
                if too_deep {
                    self.note("arguments left out, they are nested too deep");
                }
                let arguments = if too_deep { "{}".into() } else { json::canonical_object(arguments) };
                turn.parts.push(Part::Call { id, name, arguments });
            }
            Block::ToolResult { call_id, content, is_error } if self.role == Role::User => {
                self.result(call_id, content, *is_error, turn);
            }
            Block::Tools { tools } if self.role == Role::User => {
                let joined = self.join(tools, Place::Message);
                turn.parts.extend(joined.texts.into_iter().map(Part::Text));
                turn.added.extend(joined.tools);
            }
            Block::Attachment(_) | Block::ToolCall { .. } | Block::ToolResult { .. } | Block::Tools { .. } => {
                self.note("the model makes calls, the user gives results, resources and tools: left out");
            }
        }
    }

    /// One level: a result holds no calls and no results.
    fn result(&mut self, call_id: &'a str, content: &'a [Block], is_error: bool, turn: &mut Turn<'a>) {
        let place = if self.searches.contains(call_id) { Place::Search } else { Place::OtherResult };
        let (mut parts, mut found) = (Vec::new(), Vec::new());
        for block in content {
            if let Block::Tools { tools } = block {
                let joined = self.join(tools, place);
                parts.extend(joined.texts.into_iter().map(Part::Text));
                let native = if place == Place::Search { &mut found } else { &mut turn.added };
                native.extend(joined.tools);
            } else {
                parts.extend(self.shown(block));
            }
        }
        // Definitions stand alone in a result, by every provider's rule: what was said with them follows.
        let beside =
            if found.is_empty() && !self.joining.is_bare(place) { Vec::new() } else { std::mem::take(&mut parts) };
        turn.parts.push(Part::Result { call_id, parts, found, is_error });
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

/// Providers refuse a text that is empty or all white space.
fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
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
