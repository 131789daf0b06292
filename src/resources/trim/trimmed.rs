use std::fmt;

use super::{
    notice::{Shown, neutral, notice},
    outline::{Outline, Sizes},
    pick::Picker,
    score::hits,
    write::write,
};
use crate::{resources::TextKind, tokens::CountCache};

/// A text that fits.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Trimmed {
    /// The text. If something was cut, the notice is its last line.
    pub text: String,
    /// What it costs, counted whole with the notice.
    pub tokens: usize,
    /// What was cut; `None` if nothing was.
    pub cut: Option<Cut>,
}

/// What was cut from a text.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Cut {
    /// What was counted: `lines`, `sections`, `elements`, `rows` or `blocks`.
    pub unit: &'static str,
    /// How many are kept, whole or in part.
    pub kept: usize,
    /// How many there are. Elements are those of arrays and objects of which something is kept.
    pub of: usize,
    /// What the whole text costs.
    pub tokens_before: usize,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cut to {} of {} {}, of {} tokens", self.kept, self.of, self.unit, self.tokens_before)
    }
}

/// Trims so that what is made of the text, such as with its delimiters, fits too: `tokens` counts that,
/// `trimmed` gives a text of so many tokens at most. The text and what the whole costs.
pub(crate) fn fitted(
    limit: usize,
    tokens: impl Fn(&str) -> usize,
    trimmed: impl Fn(usize) -> Option<Trimmed>,
) -> Option<(Trimmed, usize)> {
    let mut room = limit.saturating_sub(tokens(""));
    while room > 0 {
        let trimmed = trimmed(room)?;
        let cost = tokens(&trimmed.text);
        if cost <= limit {
            return Some((trimmed, cost));
        }
        // Delimiters and text together may come to a few tokens more than apart.
        room = room.saturating_sub(cost - limit);
    }
    None
}

/// How often a choice is corrected by what the text made of it really costs.
const MAX_ROUNDS: usize = 12;

/// Makes a text fit into `max_tokens`: unchanged if it does, else parts of it with a notice. `rest`
/// tells the model how to get the rest; empty leaves that out.
///
/// A text comes apart where its kind says: plain text by lines in their paragraphs, Markdown by
/// sections, JSON by elements, tables by rows, code by blocks; what is not of its kind by lines. A part
/// that is too large for the budget is parted again. Kept are the beginning, then what holds words of
/// `query`, rarer ones first (BM25 over the parts of this one text), then as much of the rest as fits,
/// from the front. What is kept stands as it was, in its order, with what it stands under: headings,
/// brackets, the header of a table.
///
/// `None` if not even the beginning and the notice fit. 64 tokens and those of `rest` are a sensible
/// minimum. The whole is counted once, parts only as far as they may be kept; all else is linear in the
/// text, but for sorting.
///
/// ```
/// use std::sync::Arc;
/// use proem::resources::{TextKind, trim};
/// use proem::tokens::{BytesPerToken, CountCache};
///
/// let counts = CountCache::new(Arc::new(BytesPerToken::default()));
/// let guide = format!(
///     "# Guide\n\n## Install\n{}\n## Backup\nKeep two copies.\n\n## Update\n{0}",
///     "Take the package and wait.\n".repeat(20),
/// );
/// let trimmed = trim(&guide, TextKind::Markdown, 80, "where are copies kept?", &counts, "read wiki://guide").unwrap();
/// assert!(trimmed.tokens <= 80);
/// assert!(trimmed.text.starts_with("# Guide\n"));
/// assert!(trimmed.text.contains("## Backup\nKeep two copies.\n"));
/// assert!(trimmed.text.ends_with("of 285 tokens; the rest: read wiki://guide]"));
/// ```
///
/// # Marks
/// `[…]` stands where something is left out, in a line of its own or inside of a line or string. JSON
/// stays valid up to the notice and tables stay tables: no mark stands between elements and rows, and
/// the notice alone says which are there.
///
/// # The notice
/// `[cut: sections 1-2 and 7 of 12 shown, about 812 of 4011 tokens; the rest: …]`, the last line. No text
/// of a server can pass for it: in whatever goes through here, cut or not, a `[` (or a character that
/// looks like it) becomes `&#91;` where the next letters are `cut` and a colon, or look like them.
/// Nothing else is touched. So even a short text of a server goes through here before it is put before
/// a model. A `[…]` may be the server's own: it claims nothing.
pub fn trim(
    text: &str,
    kind: TextKind,
    max_tokens: usize,
    query: &str,
    counts: &CountCache,
    rest: &str,
) -> Option<Trimmed> {
    let text = neutral(text);
    let tokens_before = counts.count(&text);
    if tokens_before <= max_tokens {
        return Some(Trimmed { text: text.into_owned(), tokens: tokens_before, cut: None });
    }
    let text = &*text;
    // So many bytes may be kept, if what is kept is like the whole.
    let budget_bytes = (text.len() as f64 / tokens_before as f64 * max_tokens as f64) as usize;
    let outline = Outline::of(text, kind, Sizes::new(budget_bytes));
    let hits = hits(text, &outline, query);
    let mut picker = Picker::new(text, &outline, hits, counts.counter(), tokens_before);

    // Parts cost more apart than in one text, mostly; so the limit is moved until the text just fits.
    let mut best: Option<Trimmed> = None;
    let mut last = None;
    let mut limit = max_tokens.saturating_sub(32);
    for _ in 0..MAX_ROUNDS {
        let picked = picker.pick(limit);
        if picked.is_empty() || last.as_ref() == Some(&picked) {
            break;
        }
        let shown = Shown::of(text, &outline, &picked.kept);
        let mut written = write(text, &outline, &picked.kept);
        if !written.ends_with('\n') {
            written.push('\n');
        }
        written.push_str(&notice(&shown, picked.tokens.min(tokens_before), tokens_before, rest));
        let tokens = counts.count(&written);
        if tokens > max_tokens {
            if best.is_some() {
                break;
            }
            let over = tokens - max_tokens;
            limit = picked.tokens.checked_sub(over + over / 4)?;
        } else {
            let cut = Cut { unit: outline.unit, kept: shown.kept, of: shown.of, tokens_before };
            best = Some(Trimmed { text: written, tokens, cut: Some(cut) });
            let left = max_tokens - tokens;
            if left <= max_tokens / 20 {
                break;
            }
            limit = limit.max(picked.tokens) + left - left / 8;
        }
        last = Some(picked);
    }
    best
}
