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
    /// What ends with it, and may carry a cache mark.
    pub(super) ends: Option<End>,
}

/// What a part is the last of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum End {
    Attachments,
    /// The newest message.
    Messages,
}

/// Writes the messages of a provider whose messages hold everything as lists of blocks, with the
/// sections that they belong to. `list` is the key of the blocks, which sorts before `role`; `block`
/// writes one part.
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
            let attached = p < turn.attachments;
            body.section(if attached { SectionKind::Attachments } else { SectionKind::Messages });
            let ends = match (p + 1 == turn.attachments, p + 1 == turn.parts.len() && t + 1 == turns.len()) {
                (true, _) => Some(End::Attachments),
                (_, true) => Some(End::Messages),
                _ => None,
            };
            let signature = turn.signatures.iter().find(|(of, _)| *of == p).map(|(_, signature)| *signature);
            block(body, Placed { part, signature, ends });
            if ends == Some(End::Attachments) {
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
