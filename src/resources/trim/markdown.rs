use std::ops::Range;

use super::{
    lines::{Numbers, each_line, push_lines, push_paragraphs},
    outline::{Frame, Outline, Piece, Sizes},
};

/// Markdown by sections: what stands under one heading up to the next. Where anything of a section is
/// kept, so are its heading and those above it.
///
/// Only what parts sections is read (CommonMark 0.31.2): headings (4.2, 4.3), and fenced code (4.5),
/// which holds none and stays closed.
pub(super) fn outline(text: &str, sizes: Sizes) -> Outline {
    let mut outline = Outline::new("sections");
    // The frames of the headings above, with their levels.
    let mut above: Vec<(usize, usize)> = Vec::new();
    for (unit, section) in sections(text).into_iter().enumerate() {
        let frame = (section.level > 0).then(|| {
            above.retain(|(level, _)| *level < section.level);
            let parent = above.last().map(|(_, frame)| *frame);
            let end = section.body.end;
            let frame = outline.push_frame(Frame::of_text(section.heading, end..end, parent));
            above.push((section.level, frame));
            frame
        });
        push_body(&mut outline, text, section.body, section.fences, frame, unit, sizes);
        outline.units = unit + 1;
    }
    outline
}

#[derive(Debug)]
struct Section {
    /// 1 to 6; 0 for what stands before the first heading.
    level: usize,
    heading: Range<usize>,
    body: Range<usize>,
    fences: Vec<Fence>,
}

/// Fenced code: its first line, what is inside, its last line.
#[derive(Debug)]
struct Fence {
    open: Range<usize>,
    close: Range<usize>,
}

fn push_body(
    outline: &mut Outline,
    text: &str,
    body: Range<usize>,
    fences: Vec<Fence>,
    frame: Option<usize>,
    unit: usize,
    sizes: Sizes,
) {
    let first = outline.pieces.len();
    let is_small = body.len() <= sizes.part;
    let mut start = body.start;
    for Fence { open, close } in fences {
        if is_small {
            push_lines(outline, text, start..open.start, unit);
            outline.pieces.push(Piece { range: open.start..close.end, unit });
        } else {
            push_paragraphs(outline, text, start..open.start, frame, Numbers::All(unit), sizes);
            if close.end - open.start <= sizes.part {
                outline.push_piece(open.start..close.end, unit, frame);
            } else {
                let inside = open.end..close.start;
                let fence = outline.push_frame(Frame::of_text(open, close.clone(), frame));
                push_paragraphs(outline, text, inside, Some(fence), Numbers::All(unit), sizes);
            }
        }
        start = close.end;
    }
    if !is_small {
        push_paragraphs(outline, text, start..body.end, frame, Numbers::All(unit), sizes);
        return;
    }
    push_lines(outline, text, start..body.end, unit);
    if outline.pieces.len() == first {
        // It is its heading.
        outline.pieces.push(Piece { range: body, unit });
    }
    outline.push_group(first, frame);
}

fn sections(text: &str) -> Vec<Section> {
    let mut sections = vec![Section { level: 0, heading: 0..0, body: 0..0, fences: Vec::new() }];
    let mut open_fence: Option<(Range<usize>, &str)> = None;
    let mut before = 0..0;
    for line in each_line(text, front_matter(text)..text.len()) {
        let content = &text[line.clone()];
        let level = match &open_fence {
            Some((open, marks)) if closes(content, marks) => {
                let fence = Fence { open: open.clone(), close: line.clone() };
                push_fence(&mut sections, fence);
                open_fence = None;
                None
            }
            Some(_) => None,
            None => {
                open_fence = fence_marks(content).map(|marks| (line.clone(), marks));
                atx_level(content)
            }
        };
        if let Some(level) = level {
            push_section(&mut sections, level, line.clone());
        } else if let Some(level) = setext_level(content).filter(|_| open_fence.is_none())
            && before.end == line.start
            && is_paragraph(&text[before.clone()])
        {
            push_section(&mut sections, level, before.start..line.end);
        }
        before = line;
    }
    if let Some((open, _)) = open_fence {
        push_fence(&mut sections, Fence { open, close: text.len()..text.len() });
    }
    if let Some(last) = sections.last_mut() {
        last.body.end = text.len();
    }
    // Nothing before the first heading is no section; its empty lines go with the heading.
    if let [first, second, ..] = sections.as_mut_slice()
        && text[first.body.clone()].trim().is_empty()
    {
        second.heading.start = first.body.start;
        sections.remove(0);
    }
    sections
}

fn push_section(sections: &mut Vec<Section>, level: usize, heading: Range<usize>) {
    if let Some(last) = sections.last_mut() {
        last.body.end = heading.start;
    }
    let body = heading.end..heading.end;
    sections.push(Section { level, heading, body, fences: Vec::new() });
}

fn push_fence(sections: &mut [Section], fence: Fence) {
    if let Some(last) = sections.last_mut() {
        last.fences.push(fence);
    }
}

/// Where the metadata ends that many tools write between two `---` at the beginning.
fn front_matter(text: &str) -> usize {
    let mut lines = each_line(text, 0..text.len());
    let is = |line: Range<usize>, marks: &str| text[line].trim_end() == marks;
    if !lines.next().is_some_and(|first| is(first, "---")) {
        return 0;
    }
    lines.find(|line| is(line.clone(), "---") || is(line.clone(), "...")).map_or(0, |line| line.end)
}

/// A line without its indentation, which is of three spaces at most: more is code.
fn unindented(line: &str) -> Option<&str> {
    let content = line.trim_start_matches(' ');
    (line.len() - content.len() <= 3).then_some(content)
}

fn atx_level(line: &str) -> Option<usize> {
    let content = unindented(line)?;
    let after = content.trim_start_matches('#');
    let level = content.len() - after.len();
    ((1..=6).contains(&level) && (after.is_empty() || after.starts_with([' ', '\t', '\r', '\n']))).then_some(level)
}

fn setext_level(line: &str) -> Option<usize> {
    let content = unindented(line)?.trim_end();
    let is_all = |mark: char| !content.is_empty() && content.chars().all(|c| c == mark);
    if is_all('=') { Some(1) } else { is_all('-').then_some(2) }
}

/// Whether a line of marks below makes a heading of it: not of items, quotes, tables and headings.
fn is_paragraph(line: &str) -> bool {
    unindented(line).is_some_and(|content| {
        !content.trim().is_empty() && !content.starts_with(['#', '-', '*', '+', '>', '|', '`', '~', '<', '='])
    })
}

/// The marks that open fenced code.
fn fence_marks(line: &str) -> Option<&str> {
    let content = unindented(line)?;
    let mark = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = content.trim_start_matches(mark);
    let marks = &content[..content.len() - info.len()];
    (marks.len() >= 3 && !(mark == '`' && info.contains('`'))).then_some(marks)
}

fn closes(line: &str, marks: &str) -> bool {
    unindented(line).is_some_and(|content| {
        let after = content.trim_start_matches(|c| marks.starts_with(c));
        content.len() - after.len() >= marks.len() && after.trim().is_empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings(text: &str) -> Vec<(usize, &str)> {
        sections(text).iter().map(|section| (section.level, text[section.heading.clone()].trim())).collect()
    }

    #[test]
    fn headings_are_found_outside_of_code_only() {
        let text = "# One\n```sh\n# no\n~~~\n````\n## Two ##\n    # no\n#no\nThree\n-----\n- item\n---\n~~~\n# no\n";
        assert_eq!(headings(text), [(1, "# One"), (2, "## Two ##"), (2, "Three\n-----")]);
    }

    #[test]
    fn metadata_and_text_before_the_first_heading_are_a_section() {
        let text = "---\ntitle: a\n---\n\n# One\n";
        assert_eq!(headings(text), [(0, ""), (1, "# One")]);
        assert_eq!(headings("\n\n# One\n"), [(1, "# One")]);
        assert_eq!(headings("text"), [(0, "")]);
    }

    #[test]
    fn sections_hold_the_text_without_a_gap() {
        let text = "a\n# b\nc\n```\nd\n```\n## e\n# f\ng";
        let mut end = 0;
        for section in sections(text) {
            assert_eq!((section.heading.start, section.heading.end), (end, section.body.start));
            end = section.body.end;
        }
        assert_eq!(end, text.len());
    }
}
