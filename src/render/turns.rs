use std::borrow::Cow;

use super::{
    blocks::{Reader, attached},
    calls::pair,
    delimit,
    joining::Joining,
    layout::Layout,
    message::{decoded_len, left_out},
    report::RenderReport,
    tools::ReadyTool,
};
use crate::protocol::Role;

/// Neighbouring messages of one role, as every provider takes them.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    pub(super) role: Role,
    pub(super) parts: Vec<Part<'a>>,
    /// How many of the first parts are of attachments: their texts and pictures.
    pub(super) attachments: usize,
    /// What the provider gave with a part, by its place in `parts`. Only in the model's turns.
    pub(super) signatures: Vec<(usize, &'a str)>,
    /// Tools that join after it, for a provider that has a form for them. Only in the user's turns.
    pub(super) added: Vec<ReadyTool<'a>>,
}

impl Turn<'_> {
    /// A turn that says nothing.
    pub(super) fn new(role: Role) -> Self {
        Self { role, parts: Vec::new(), attachments: 0, signatures: Vec::new(), added: Vec::new() }
    }
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
    /// Only in the user's turns, before everything but attachments. Holds texts and images, or the
    /// tools that a search found, for a provider that has a form for them: never both.
    Result { call_id: Cow<'a, str>, parts: Vec<Self>, found: Option<Vec<ReadyTool<'a>>>, is_error: bool },
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
pub(super) const FAILED: &str = "[the call failed]";

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
        turns.push(Turn { attachments: attachments.len(), parts: attachments, ..Turn::new(Role::User) });
    }
    for (i, message) in layout.messages.iter().enumerate() {
        let begins = turns.last().is_none_or(|turn: &Turn<'_>| turn.role != message.role);
        if begins && message.role == Role::Assistant {
            joining.turn();
        }
        let mut reader = Reader { message: i, role: message.role, joining, report };
        let mut read = Turn::new(message.role);
        message.content.iter().for_each(|block| reader.read(block, &mut read));
        if begins && read.parts.is_empty() && !read.added.is_empty() {
            // Nobody else speaks here, and tools join after a turn that says something.
            read.parts.push(Part::Text("[tools are added]".into()));
        }
        match turns.last_mut() {
            _ if read.parts.is_empty() && read.added.is_empty() => {
                report.notes.push(format!("messages[{i}]: left out, it says nothing"));
            }
            Some(turn) if turn.role == message.role => {
                let before = turn.parts.len();
                turn.signatures.extend(read.signatures.into_iter().map(|(part, text)| (before + part, text)));
                turn.parts.extend(read.parts);
                turn.added.extend(read.added);
            }
            _ => turns.push(read),
        }
    }
    pair(&mut turns, joining.search(), report);
    turns
}

/// The tools that join in the provider's own form, in the order of the conversation.
pub(super) fn joined<'a>(turns: &'a [Turn<'a>]) -> impl Iterator<Item = &'a ReadyTool<'a>> {
    turns.iter().flat_map(|turn| {
        let found = turn.parts.iter().flat_map(|part| match part {
            Part::Result { found: Some(found), .. } => found.as_slice(),
            _ => &[],
        });
        found.chain(&turn.added)
    })
}

/// Puts a line of the user before a conversation that the model begins, for providers that refuse one.
pub(super) fn user_first(turns: &mut Vec<Turn<'_>>, report: &mut RenderReport) {
    if turns.first().is_some_and(|turn| turn.role != Role::User) {
        report.notes.push("the first message is not the user's: a line of the user stands before it".into());
        let parts = vec![Part::Text("[the conversation goes on]".into())];
        turns.insert(0, Turn { parts, ..Turn::new(Role::User) });
    }
}

/// Providers refuse a text that is empty or all white space.
pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
