use std::{collections::BTreeMap, ops::Range};

/// Where a text is code by CommonMark: fenced blocks (4.5), to the end of the text if they do not
/// end, and spans between runs of as many backticks (6.1) in one paragraph. In order, in linear time.
pub(super) fn spans(text: &str) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    if !text.contains(['`', '~']) {
        return spans;
    }
    let mut fence: Option<(Fence, usize)> = None;
    let (mut paragraph, mut start) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let mark = Fence::read(line);
        match (&fence, &mark) {
            (Some((open, from)), Some(mark)) if mark.closes(open) => {
                spans.push(*from..end);
                (fence, paragraph) = (None, end);
            }
            (Some(_), _) => {}
            (None, Some(mark)) if mark.opens() => {
                inline(text, paragraph..start, &mut spans);
                fence = Some((mark.clone(), start));
            }
            (None, _) if line.trim().is_empty() => {
                inline(text, paragraph..start, &mut spans);
                paragraph = end;
            }
            (None, _) => {}
        }
        start = end;
    }
    match fence {
        Some((_, from)) => spans.push(from..text.len()),
        None => inline(text, paragraph..text.len(), &mut spans),
    }
    spans
}

/// Three or more backticks or tildes at the beginning of a line.
#[derive(Clone)]
struct Fence {
    of: char,
    length: usize,
    /// Nothing stands behind it.
    bare: bool,
    /// A backtick stands behind it.
    ticked: bool,
}

impl Fence {
    fn read(line: &str) -> Option<Self> {
        let body = line.trim_start_matches(' ');
        let of = body.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let behind = body.trim_start_matches(of);
        let length = body.len() - behind.len();
        (line.len() - body.len() < 4 && length >= 3).then(|| Self {
            of,
            length,
            bare: behind.trim().is_empty(),
            ticked: behind.contains('`'),
        })
    }

    fn opens(&self) -> bool {
        self.of == '~' || !self.ticked
    }

    fn closes(&self, open: &Self) -> bool {
        self.of == open.of && self.length >= open.length && self.bare
    }
}

fn inline(text: &str, range: Range<usize>, spans: &mut Vec<Range<usize>>) {
    let mut runs: Vec<Range<usize>> = Vec::new();
    let paragraph = &text[range.clone()];
    for (i, _) in paragraph.match_indices('`') {
        let at = range.start + i;
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ if paragraph[..i].ends_with('\\') => {}
            _ => runs.push(at..at + 1),
        }
    }
    // For each run the next one of its length.
    let mut later: BTreeMap<usize, usize> = BTreeMap::new();
    let mut closing = vec![None; runs.len()];
    for (i, run) in runs.iter().enumerate().rev() {
        closing[i] = later.insert(run.len(), i);
    }
    let mut i = 0;
    while i < runs.len() {
        match closing[i] {
            Some(end) => {
                spans.push(runs[i].start..runs[end].end);
                i = end + 1;
            }
            None => i += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> Vec<&str> {
        spans(text).into_iter().map(|span| &text[span]).collect()
    }

    #[test]
    fn spans_end_with_as_many_backticks_in_the_same_paragraph() {
        assert_eq!(code("a `b` c ``d ` e`` f"), ["`b`", "``d ` e``"]);
        assert_eq!(code("a ` b\n\nc ` d"), [""; 0]);
        assert_eq!(code("a `b\nc` d"), ["`b\nc`"]);
        assert_eq!(code("not \\`this` but `this`"), ["` but `"]);
        assert_eq!(code("a ``` b"), [""; 0]);
    }

    #[test]
    fn fences_end_with_a_fence_or_the_text() {
        assert_eq!(code("a\n```rust\nb `\n```\nc `d`"), ["```rust\nb `\n```\n", "`d`"]);
        assert_eq!(code("~~~~\na\n~~~\nb\n~~~~"), ["~~~~\na\n~~~\nb\n~~~~"]);
        assert_eq!(code("   ```\na"), ["   ```\na"]);
        // Backticks behind the first ones make it a span.
        assert_eq!(code("```a`b```\nc"), ["```a`b```"]);
        assert_eq!(code("~~not a fence~~"), [""; 0]);
    }
}
