use super::turns::Turn;
use crate::protocol::Role;

/// The most blocks that one request may add before the end of the one before it is marked too.
///
/// From each breakpoint the provider looks back over 20 blocks for a prefix that it has cached
/// (Anthropic, prompt caching); 15 leave room for blocks that it counts otherwise than we do.
const SPACING: usize = 15;

/// Where cache breakpoints stand, for providers that have them on blocks.
///
/// A breakpoint costs nothing where the prefix is cached already: only their number is bounded. Each
/// section before the messages has one at its end, which other conversations and other turns read;
/// but the tools have none where system text and attachments do, since the system text's covers
/// them and the conversation needs two. Where they stand before the messages depends on nothing in
/// the messages, so that the bytes there stay as they are.
///
/// In the messages, the newest block has one, which the next request reads. Those that are left stand
/// at the ends of turns of the user, where earlier requests ended: at the newest that the provider
/// would not find when it looks back from the breakpoint after it, and so on. All of it is decided from
/// the layout alone: where older requests had theirs is not known.
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
        let attached = turns.iter().any(|turn| turn.attachments > 0);
        let tools = tools && !(system && attached);
        let before = [tools, system, attached].into_iter().filter(|section| *section).count();
        let mut blocks = Vec::new();
        let mut marked = None;
        for end in ends(turns) {
            if blocks.len() == max.saturating_sub(before) {
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
