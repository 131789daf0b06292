use std::{
    error::Error,
    io::{self, IsTerminal, Write},
    time::Duration,
};

use comfy_table::{ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};

/// Any failure of a command: shown on stderr, exit code 1.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Writes a result to stdout, with a line feed at its end.
pub(crate) fn print(text: impl AsRef<str>) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_ref().trim_end_matches('\n').as_bytes())?;
    out.write_all(b"\n")?;
    Ok(())
}

/// Whether the reader of stdout went away (`proem … | head`): no failure of ours.
pub(crate) fn is_closed_pipe(error: &(dyn Error + Send + Sync + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// A table without lines, as wide as the terminal, or as its content where there is none.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    if io::stdout().is_terminal() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    table
}

/// A table as text, without the white space that fills its last column.
pub(crate) fn text(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// A line on stderr that shows what goes on; nothing where stderr is no terminal.
pub(crate) fn spinner(message: String) -> ProgressBar {
    let bar = ProgressBar::new_spinner().with_message(message);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// A bar on stderr over `length` steps; nothing where stderr is no terminal.
#[cfg_attr(not(feature = "eval"), expect(dead_code, reason = "only long evaluations have steps"))]
pub(crate) fn bar(length: u64) -> ProgressBar {
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template("{msg:16} {bar:40} {pos}/{len} {eta}") {
        bar.set_style(style);
    }
    bar
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
