use std::collections::HashMap;

use super::outline::Outline;
use crate::index::{fold, is_stop_word, normalize, split};

/// The most words of a query that count, in its order: enough for a long request, and it bounds the work.
const MAX_TERMS: usize = 64;

/// BM25 with its usual parameters (Robertson and Zaragoza 2009).
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Groups that hold words of the query, best first; equals in the order of the text.
///
/// BM25 over the groups of this one text. A word in a frame counts half for what is in it, a quarter in
/// the frame around that, and so on: a heading says what stands under it.
pub(super) fn hits(text: &str, outline: &Outline, query: &str) -> Vec<usize> {
    let terms = Terms::new(query);
    if terms.0.is_empty() {
        return Vec::new();
    }
    let inherited = inherited(text, outline, &terms);
    let mut found: Vec<(usize, f64, Box<[f64]>)> = Vec::new();
    let mut in_groups = vec![0_usize; terms.0.len()];
    let mut words_of_all = 0_usize;
    for (at, group) in outline.groups.iter().enumerate() {
        let pieces = &outline.pieces[group.pieces.clone()];
        let (Some(first), Some(last)) = (pieces.first(), pieces.last()) else { continue };
        let (mut counts, words) = terms.count(&text[first.range.start..last.range.end]);
        words_of_all += words;
        for (groups, count) in in_groups.iter_mut().zip(&counts) {
            *groups += usize::from(*count > 0.0);
        }
        if let Some(above) = group.frame.and_then(|frame| inherited[frame].as_ref()) {
            counts.iter_mut().zip(above).for_each(|(count, above)| *count += above);
        }
        if counts.iter().any(|count| *count > 0.0) {
            found.push((at, words as f64, counts));
        }
    }
    let groups = outline.groups.len() as f64;
    let mean_words = (words_of_all as f64 / groups).max(1.0);
    let weights: Vec<f64> =
        in_groups.into_iter().map(|with| (1.0 + (groups - with as f64 + 0.5) / (with as f64 + 0.5)).ln()).collect();
    let score = |words: f64, counts: &[f64]| -> f64 {
        let length = K1 * (1.0 - B + B * words / mean_words);
        counts.iter().zip(&weights).map(|(count, weight)| weight * count * (K1 + 1.0) / (count + length)).sum()
    };
    let mut scored: Vec<_> = found.iter().map(|(at, words, counts)| (*at, score(*words, counts))).collect();
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    scored.into_iter().map(|(at, _)| at).collect()
}

/// What each frame and those around it give to what is inside; `None` for nothing.
fn inherited(text: &str, outline: &Outline, terms: &Terms) -> Vec<Option<Box<[f64]>>> {
    let mut inherited: Vec<Option<Box<[f64]>>> = Vec::with_capacity(outline.frames.len());
    for frame in &outline.frames {
        let (mut counts, _) = terms.count(&text[frame.open.clone()]);
        if let Some(above) = frame.parent.and_then(|parent| inherited[parent].as_ref()) {
            counts.iter_mut().zip(above).for_each(|(count, above)| *count += above);
        }
        let any = counts.iter().any(|count| *count > 0.0);
        inherited.push(any.then(|| counts.into_iter().map(|count| count / 2.0).collect()));
    }
    inherited
}

/// The words of a query, each once.
struct Terms(HashMap<String, usize>);

impl Terms {
    fn new(query: &str) -> Self {
        let mut terms = HashMap::new();
        each_term(query, |term| {
            let next = terms.len();
            if next < MAX_TERMS && !terms.contains_key(term) {
                terms.insert(term.to_owned(), next);
            }
        });
        Self(terms)
    }

    /// How often each stands in a text, and how many words that has.
    fn count(&self, text: &str) -> (Box<[f64]>, usize) {
        let mut counts = vec![0.0; self.0.len()].into_boxed_slice();
        let mut words = 0;
        each_term(text, |term| {
            words += 1;
            if let Some(at) = self.0.get(term) {
                counts[*at] += 1.0;
            }
        });
        (counts, words)
    }
}

/// Words in lower case without stop words and plural endings. Scripts without spaces between words
/// give pairs of characters, as in the index of tools.
///
/// No stemmer of the feature `tantivy`: a feature must not change what is kept.
fn each_term(text: &str, mut take: impl FnMut(&str)) {
    let text = normalize(text);
    for word in split(&text) {
        let raw = &text[word.start..word.end];
        if word.unspaced {
            let starts = || raw.char_indices().map(|(at, _)| at);
            for (start, end) in starts().zip(starts().skip(2).chain([raw.len()])) {
                take(&raw[start..end]);
            }
        } else {
            let folded = fold(raw);
            if !is_stop_word(&folded) {
                take(singular(&folded));
            }
        }
    }
}

/// Without the ending of a plural (the S stemmer of Harman 1991, "How effective is suffixing?"), and
/// without a last `e` or `y`, so that the singular need not be written anew.
fn singular(word: &str) -> &str {
    let strip = |word: &'_ str, ending: &str| word.strip_suffix(ending).filter(|stem| stem.len() > 2).map(str::len);
    let to = |len: Option<usize>| len.and_then(|len| word.get(..len));
    if let Some(stem) = to(strip(word, "ies")) {
        return stem;
    }
    let is_plural = !["us", "ss", "is"].iter().any(|ending| word.ends_with(ending));
    let word = to(strip(word, "s")).filter(|_| is_plural).unwrap_or(word);
    to(strip(word, "e").or_else(|| strip(word, "y"))).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::{TextKind, trim::outline::Sizes};

    fn terms(text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        each_term(text, |term| terms.push(term.to_owned()));
        terms
    }

    #[test]
    fn forms_of_a_word_meet() {
        assert_eq!(terms("Releases releases RELEASE"), ["releas"; 3]);
        assert_eq!(terms("policies policy plays play fees fee"), ["polic", "polic", "pla", "pla", "fee", "fee"]);
        assert_eq!(terms("boxes box status class the"), ["box", "box", "status", "class"]);
        assert_eq!(terms("查询天气"), ["查询", "询天", "天气"]);
    }

    #[test]
    fn headings_count_for_what_stands_under_them() {
        let text = "# Fees\n\nA fee.\n\n# Refunds\n\nHow to ask.\n\n# Other\n\nThe fee of a refund is none.\n";
        let outline = Outline::of(text, TextKind::Markdown, Sizes { part: 64, grain: 32 });
        assert_eq!(hits(text, &outline, "refund"), [1, 2]);
        assert_eq!(hits(text, &outline, "a fee, please"), [0, 2]);
        assert!(hits(text, &outline, "the of").is_empty() && hits(text, &outline, "").is_empty());
    }
}
