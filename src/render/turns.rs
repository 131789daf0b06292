use std::borrow::Cow;

use super::{
    calls::pair,
    delimit,
    layout::Layout,
    message::{Block, decoded_len, left_out},
    report::RenderReport,
};
use crate::{error::excerpt, json, protocol::Role, resources::image_type};

/// Neighbouring messages of one role, as every provider takes them.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pub(super) role: Role,
    pub(super) parts: Vec<Part<'a>>,
    /// How many of the first parts are of attachments: their texts and pictures.
    pub(super) attachments: usize,
    /// What the provider gave with a part, by its place in `parts`. Only in the model's turns.
    pub(super) signatures: Vec<(usize, &'a str)>,
}

/// A piece of a turn that every provider can be given.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// Not blank.
    Text(Cow<'a, str>),
    /// Of a type that every provider reads, with well-formed base64.
    Image { mime_type: &'static str, data: &'a str },
    /// Only in the model's turns. The arguments are a canonical JSON object.
    Call { id: Cow<'a, str>, name: Cow<'a, str>, arguments: String },
    /// Only in the user's turns, before everything but attachments. Holds texts and images.
    Result { call_id: Cow<'a, str>, parts: Vec<Self>, is_error: bool },
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
/// host that attaches on the user's behalf.
pub(super) fn turns<'a>(layout: &'a Layout, report: &mut RenderReport) -> Vec<Turn<'a>> {
    let mut attachments = Vec::new();
    for attachment in layout.ordered_attachments() {
        attachments.push(Part::Text(attachment.rendered().into()));
        attachments.extend(attachment.images.iter().map(|image| {
            picture(&image.mime_type, &image.data).unwrap_or_else(|reason| {
                report.notes.push(format!(
                    "{}: image described instead of shown: {reason}",
                    excerpt(&attachment.resource.to_string())
                ));
                Part::Text(left_out("image", &image.mime_type, decoded_len(&image.data)).into())
            })
        }));
    }
    let mut turns = Vec::new();
    if !attachments.is_empty() {
        turns.push(Turn {
            role: Role::User,
            attachments: attachments.len(),
            parts: attachments,
            signatures: Vec::new(),
        });
    }
    for (i, message) in layout.messages.iter().enumerate() {
        let mut parts = Vec::with_capacity(message.content.len());
        let mut signatures = Vec::new();
        for block in &message.content {
            match block {
                Block::Signature(signature) if message.role == Role::Assistant && !parts.is_empty() => {
                    signatures.push((parts.len() - 1, signature.as_str()));
                }
                block => parts.extend(part(block, message.role, i, report)),
            }
        }
        match turns.last_mut() {
            _ if parts.is_empty() => report.notes.push(format!("messages[{i}]: left out, it says nothing")),
            Some(turn) if turn.role == message.role => {
                turn.signatures.extend(signatures.into_iter().map(|(part, text)| (turn.parts.len() + part, text)));
                turn.parts.extend(parts);
            }
            _ => turns.push(Turn { role: message.role, parts, attachments: 0, signatures }),
        }
    }
    pair(&mut turns, report);
    turns
}

fn part<'a>(block: &'a Block, role: Role, message: usize, report: &mut RenderReport) -> Option<Part<'a>> {
    match block {
        Block::Text(text) => (!is_blank(text)).then(|| Part::Text(text.as_str().into())),
        Block::Image { mime_type, data } => {
            let shown = match role {
                Role::User => picture(mime_type, data),
                _ => Err("only the user may show one"),
            };
            Some(shown.unwrap_or_else(|reason| {
                report.notes.push(format!("messages[{message}]: image described instead of shown: {reason}"));
                Part::Text(left_out("image", mime_type, decoded_len(data)).into())
            }))
        }
        Block::ToolCall { id, name, arguments } if role == Role::Assistant => {
            let too_deep = arguments.values().any(|value| json::depth(value) >= json::MAX_DEPTH);
            if too_deep {
                report.notes.push(format!("messages[{message}]: arguments left out, they are nested too deep"));
            }
            let arguments = if too_deep { "{}".into() } else { json::canonical_object(arguments) };
            Some(Part::Call { id: id.into(), name: name.into(), arguments })
        }
        Block::ToolResult { call_id, content, is_error } if role == Role::User => {
            // One level: a result holds no calls and no results.
            let parts = content
                .iter()
                .filter(|block| matches!(block, Block::Text(_) | Block::Image { .. }))
                .filter_map(|block| part(block, role, message, report))
                .collect();
            Some(Part::Result { call_id: call_id.into(), parts, is_error: *is_error })
        }
        Block::Tools { .. } => None,
        Block::Signature(_) => {
            report.notes.push(format!("messages[{message}]: a signature of nothing that the model said: left out"));
            None
        }
        Block::ToolCall { .. } | Block::ToolResult { .. } => {
            report
                .notes
                .push(format!("messages[{message}]: the model makes calls and the user gives results: left out"));
            None
        }
    }
}

/// Puts a line of the user before a conversation that the model begins, for providers that refuse one.
pub(super) fn user_first(turns: &mut Vec<Turn<'_>>, report: &mut RenderReport) {
    if turns.first().is_some_and(|turn| turn.role != Role::User) {
        report.notes.push("the first message is not the user's: a line of the user stands before it".into());
        let parts = vec![Part::Text("[the conversation goes on]".into())];
        turns.insert(0, Turn { role: Role::User, parts, attachments: 0, signatures: Vec::new() });
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
