use super::{
    body::{Body, Json},
    request::SectionKind,
    turns::{Part, Turn},
};
use crate::protocol::Role;

/// A part on its way into a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub(super) part: &'a Part<'a>,
    /// What the provider gave with it.
    pub(super) signature: Option<&'a str>,
    /// Its turn, and its place in the turn.
    pub(super) at: (usize, usize),
    /// It is the last of the attachments.
    pub(super) ends_attachments: bool,
}

/// Writes messages that hold everything as lists of blocks, with the sections that they belong to.
/// `list` is the key of the blocks, which sorts before `role`; `block` writes one part.
pub(super) fn messages<'a>(
    body: &mut Body,
    turns: &'a [Turn<'a>],
    list: &str,
    role: fn(Role) -> &'static str,
    mut block: impl FnMut(&mut Body, Placed<'a>),
) {
    body.open('[');
    for (t, turn) in turns.iter().enumerate() {
        if turn.attachments == 0 {
            body.section(SectionKind::Messages);
        }
        body.open('{');
        body.key(list);
        body.open('[');
        for (p, part) in turn.parts.iter().enumerate() {
            body.section(if p < turn.attachments { SectionKind::Attachments } else { SectionKind::Messages });
            let signature = turn.signatures.iter().find(|(of, _)| *of == p).map(|(_, signature)| *signature);
            let ends_attachments = p + 1 == turn.attachments;
            block(body, Placed { part, signature, at: (t, p), ends_attachments });
            if ends_attachments {
                body.end_section();
            }
        }
        body.close(']');
        body.field("role", &Json::text(role(turn.role)));
        body.close('}');
    }
    body.end_section();
    body.close(']');
}
