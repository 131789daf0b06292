use super::turns::Turn;
use crate::protocol::Role;

/// The most blocks that one request may add before the end of the one before it is marked too.
///
/// From each breakpoint the provider looks back over 20 blocks for a prefix that it has cached
/// (Anthropic, prompt caching); 15 leave room for blocks that it counts otherwise than we do.
const SPACING: usize = 15;

/// Where cache breakpoints stand, for providers that have them on blocks.
///
/// A breakpoint is free where the prefix is cached already, so none is saved: only their number is
/// bounded. In the order of their worth:
///
/// - the newest block, which the next request reads;
/// - the end of the system text, which covers the tools too: other conversations read it;
/// - the last attachment, which stays while messages come and go;
/// - the end of the user's turn before the newest, where the request before this one ended, if it is
///   farther away than the provider looks back;
/// - the last tool, for conversations whose system text differs. It gives way if there are too many.
///
/// What is left over marks ends of still older turns, as far apart as the provider looks back. All
/// of it is decided from the layout alone: where older requests had their breakpoints is not known.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Breakpoints {
    /// On the last tool that is not deferred.
    pub(super) tools: bool,
    /// Turn and block, where the tools that join after a turn count as its last blocks. Newest first.
    pub(super) blocks: Vec<(usize, usize)>,
}

impl Breakpoints {
    /// At most `max`, those of the system text and of the attachments included, which stand wherever
    /// there are any.
    pub(super) fn new(max: usize, tools: bool, system: bool, turns: &[Turn<'_>]) -> Self {
        let ends = ends(turns);
        let attached = turns.iter().any(|turn| turn.attachments > 0);
        let left = max.saturating_sub(usize::from(system) + usize::from(attached));
        let far = matches!(ends.as_slice(), [newest, before, ..] if newest.at - before.at > SPACING);
        let room = left > 1 + usize::from(far);
        let tools = tools && (room || !system);
        let mut blocks = Vec::new();
        let mut marked = None;
        for end in ends {
            if blocks.len() == left.saturating_sub(usize::from(tools)) {
                break;
            }
            if marked.is_none_or(|at| at - end.at > SPACING) {
                marked = Some(end.at);
                blocks.push((end.turn, end.block));
            }
        }
        Self { tools, blocks }
    }
}

/// The last block of a turn.
struct End {
    turn: usize,
    block: usize,
    /// How many blocks of the conversation come before it.
    at: usize,
}

/// Where requests end: the newest block, then the last of each turn of the user, newest first.
/// A turn that holds nothing but attachments has its own breakpoint.
fn ends(turns: &[Turn<'_>]) -> Vec<End> {
    let mut ends = Vec::new();
    let mut count = 0;
    for (t, turn) in turns.iter().enumerate() {
        let blocks = turn.parts.len() + turn.added.len();
        count += blocks;
        if blocks > turn.attachments && (turn.role == Role::User || t + 1 == turns.len()) {
            ends.push(End { turn: t, block: blocks - 1, at: count - 1 });
        }
    }
    ends.reverse();
    ends
}
