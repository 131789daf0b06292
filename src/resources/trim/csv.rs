use std::ops::Range;

use super::outline::{Frame, Joint, Outline};

/// The longest row with a line end inside of quotes: a longer one is a quote that nobody closed.
const MAX_QUOTED: usize = 64 << 10;

/// So many quotes that nobody closed, and no quote counts any more: what each costs is bounded.
const MAX_UNCLOSED: usize = 16;

/// A table by rows (RFC 4180), the first of which is its header. Line ends inside of quotes part none.
/// `None` if there are no rows under it.
pub(super) fn outline(text: &str, delimiter: u8) -> Option<Outline> {
    let mut outline = Outline::new("rows");
    let mut rows = rows(text, delimiter);
    let end = text.len();
    let header = rows.next().map(|open| {
        let frame = Frame { joint: Joint::Nothing, ..Frame::of_text(open, end..end, None) };
        outline.push_frame(frame)
    });
    for (unit, row) in rows.enumerate() {
        outline.push_piece(row, unit, header);
        outline.units = unit + 1;
    }
    (outline.units > 0).then_some(outline)
}

fn rows(text: &str, delimiter: u8) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let (mut start, mut unclosed) = (0, 0);
    std::iter::from_fn(move || {
        let row = start;
        start = match end_of_row(&bytes[row..], delimiter, unclosed < MAX_UNCLOSED) {
            Ok(len) => row + len,
            Err(len) => {
                unclosed += 1;
                row + len
            }
        };
        (start > row).then_some(row..start)
    })
}

/// The length of the first row, or of its first line if a quote stays open.
fn end_of_row(bytes: &[u8], delimiter: u8, with_quotes: bool) -> Result<usize, usize> {
    let (mut quoted, mut at_start, mut first_line) = (false, true, None);
    for (at, byte) in bytes.iter().enumerate() {
        // Only where a field begins does a quote open, or after one that closed: then it is one of the text.
        let is_quote = *byte == b'"' && with_quotes && (quoted || at_start);
        at_start = if is_quote { quoted } else { !quoted && *byte == delimiter };
        quoted ^= is_quote;
        match byte {
            b'\n' if !quoted => return Ok(at + 1),
            b'\n' => first_line = first_line.or(Some(at + 1)),
            _ => {}
        }
        if let Some(line) = first_line.filter(|_| at > MAX_QUOTED) {
            return Err(line);
        }
    }
    match first_line.filter(|_| quoted) {
        Some(line) => Err(line),
        None => Ok(bytes.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<&str> {
        rows(text, b',').map(|row| &text[row]).collect()
    }

    #[test]
    fn line_ends_inside_of_quotes_part_no_rows() {
        assert_eq!(
            all("a,b\r\n1,\"x\ny \"\"z\"\"\n\"\n2,5\" pipe\n3"),
            ["a,b\r\n", "1,\"x\ny \"\"z\"\"\n\"\n", "2,5\" pipe\n", "3"]
        );
    }

    #[test]
    fn a_quote_that_is_never_closed_costs_its_own_row_only() {
        assert_eq!(all("a\n\"b\nc\nd"), ["a\n", "\"b\n", "c\n", "d"]);
        let many = "5\" x,\"abc\n".repeat(30_000);
        assert_eq!(all(&many).concat(), many);
        assert!(all(&many).len() > 29_000);
    }
}
