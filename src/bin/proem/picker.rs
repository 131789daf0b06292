//! The picker on a terminal. It uses the library alone, so that the example `resource_picker` shares it.

use std::{
    io::{self, IsTerminal, Write},
    ops::Range,
    time::Duration,
};

use proem::picker::{Item, ItemRow, Pick, Picker, Row, ServerState};
use ratatui::{
    Frame, Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
        execute,
        terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
    },
    layout::{Constraint, Layout},
    style::{Modifier, Style},
    text::{Line, Span},
    widgets::{Clear, Paragraph},
};

/// Lets a person choose on the terminal: on stderr, so that stdout stays for results. `tick` is called between keys,
/// to hand the picker what has come in meanwhile.
///
/// The choice is in the picker then; `false` if the person left without one. The terminal is as it was before on
/// every way out.
///
/// # Errors
/// If stdin or stderr is no terminal, or it fails.
pub(crate) fn pick(picker: &mut Picker, title: &str, tick: &mut dyn FnMut(&mut Picker)) -> io::Result<bool> {
    if !is_possible() {
        return Err(io::Error::new(io::ErrorKind::Unsupported, "choosing takes a terminal"));
    }
    let _screen = Screen::open()?;
    let mut terminal = Terminal::new(CrosstermBackend::new(io::stderr()))?;
    let mut view = View::new(title);
    loop {
        terminal.draw(|frame| view.draw(picker, frame))?;
        if event::poll(Duration::from_millis(100))? {
            if let Event::Key(key) = event::read()?
                && key.kind != KeyEventKind::Release
            {
                match view.key(picker, key) {
                    Next::Stay => {}
                    Next::Accepted => return Ok(true),
                    Next::Left => return Ok(false),
                }
            }
        } else {
            tick(picker);
        }
    }
}

/// Whether there is a terminal to choose on.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Raw mode and the other screen, until it is dropped: also by an error or a panic.
struct Screen;

impl Screen {
    fn open() -> io::Result<Self> {
        enable_raw_mode()?;
        // From here on it is undone.
        let screen = Self;
        execute!(io::stderr(), EnterAlternateScreen)?;
        Ok(screen)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // Nobody is left to tell of a failure.
        _ = execute!(io::stderr(), LeaveAlternateScreen, Show);
        _ = disable_raw_mode();
        _ = io::stderr().flush();
    }
}

/// What comes after a key.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Next {
    Stay,
    Accepted,
    Left,
}

/// What the screen shows beside what the picker knows.
#[derive(Debug)]
pub(crate) struct View<'a> {
    title: &'a str,
    help: bool,
    /// The first row on the screen, and how many there are.
    top: usize,
    height: usize,
}

const KEYS: &str = "↑↓ move  Tab choose  Enter done  Esc leave  ^E more  ^G groups  ^P pin  ? help";

const HELP: [&str; 14] = [
    "type        search: all words, in any order",
    "server:     in front of it, search there alone",
    "↑ ↓         move          PgUp PgDn   by a screen",
    "Home End    to the first, to the last",
    "Tab         choose, or not any more",
    "Enter       done: with what is chosen, or with this one",
    "Esc         take the query back, then leave",
    "^A          choose all of this group that are shown",
    "^X          choose nothing",
    "^E          show all of this group",
    "^G          groups, or one list",
    "^P          pin this item     ^S  pin its server",
    "^O          switch its server off     ^U  all on",
    "^R          put what came in meanwhile in order",
];

impl<'a> View<'a> {
    pub(crate) fn new(title: &'a str) -> Self {
        Self { title, help: false, top: 0, height: 1 }
    }

    /// Does what a key asks for.
    pub(crate) fn key(&mut self, picker: &mut Picker, key: KeyEvent) -> Next {
        if std::mem::take(&mut self.help) {
            return Next::Stay;
        }
        let page = isize::try_from(self.height).unwrap_or(isize::MAX);
        let mut query = picker.query().to_owned();
        match key.code {
            KeyCode::Char(c) if key.modifiers.contains(KeyModifiers::CONTROL) => return self.command(picker, c),
            KeyCode::Char('?') if query.is_empty() => self.help = true,
            KeyCode::Char(c) => {
                query.push(c);
                picker.set_query(&query);
            }
            KeyCode::Backspace => {
                query.pop();
                picker.set_query(&query);
            }
            KeyCode::F(1) => self.help = true,
            KeyCode::Up => picker.move_by(-1),
            KeyCode::Down => picker.move_by(1),
            KeyCode::PageUp => picker.move_by(-page),
            KeyCode::PageDown => picker.move_by(page),
            KeyCode::Home => picker.move_to_first(),
            KeyCode::End => picker.move_to_last(),
            KeyCode::Tab => picker.toggle(),
            KeyCode::Enter => return Self::enter(picker),
            KeyCode::Esc if query.is_empty() => return Next::Left,
            KeyCode::Esc => picker.set_query(""),
            _ => {}
        }
        Next::Stay
    }

    fn command(&mut self, picker: &mut Picker, c: char) -> Next {
        let server = picker.current().map(|item| item.pick.server().clone());
        match (c, server) {
            ('c', _) => return Next::Left,
            ('a', _) => picker.choose_section(),
            ('x', _) => picker.clear(),
            ('e', _) => picker.expand(),
            ('g', _) => picker.set_grouped(!picker.options().grouped),
            ('p', _) => picker.toggle_pin(),
            ('r', _) => picker.refresh_order(),
            ('s', Some(server)) => picker.pin_server(&server, !picker.status(&server).pinned),
            ('o', Some(server)) => picker.switch(&server, false),
            ('u', _) => {
                for status in picker.servers().iter().filter(|status| !status.on) {
                    picker.switch(&status.server, true);
                }
            }
            _ => {}
        }
        Next::Stay
    }

    /// On a "N more" it shows them.
    fn enter(picker: &mut Picker) -> Next {
        if picker.cursor().is_some() && picker.current().is_none() && picker.chosen().is_empty() {
            picker.toggle();
            return Next::Stay;
        }
        picker.accept();
        if picker.chosen().is_empty() { Next::Stay } else { Next::Accepted }
    }

    /// Draws everything; the row of the cursor is always on the screen.
    pub(crate) fn draw(&mut self, picker: &Picker, frame: &mut Frame<'_>) {
        let states = states(picker);
        let lines = u16::try_from(states.len()).unwrap_or(u16::MAX);
        let [head, query, list, below, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Fill(1),
            Constraint::Length(lines),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        self.height = usize::from(list.height).max(1);
        let cursor = picker.cursor().unwrap_or_default();
        // With the heading of the first item.
        let lowest = (cursor + 1).saturating_sub(self.height);
        self.top = self.top.clamp(lowest, cursor.saturating_sub(1).max(lowest));
        let rows = picker.rows(self.top..self.top + self.height);
        let width = usize::from(list.width);
        let rows = (self.top..).zip(&rows).map(|(at, row)| line(row, Some(at) == picker.cursor(), width));
        let rows: Vec<Line<'_>> = rows.collect();
        let dim = Style::new().add_modifier(Modifier::DIM);

        frame.render_widget(Line::styled(self.title, Modifier::BOLD), head);
        frame.render_widget(Line::raw(cost(picker)).right_aligned(), head);
        frame.render_widget(Line::raw(format!("> {}█", picker.query())), query);
        let empty = if picker.query().is_empty() { "  nothing to choose from" } else { "  nothing found" };
        frame.render_widget(if rows.is_empty() { Paragraph::new(empty) } else { Paragraph::new(rows) }, list);
        frame.render_widget(Paragraph::new(states.join("\n")).style(dim), below);
        frame.render_widget(Line::styled(KEYS, dim), foot);
        if self.help {
            frame.render_widget(Clear, list);
            frame.render_widget(Paragraph::new(HELP.join("\n")), list);
        }
    }
}

/// What is chosen and what it is estimated to cost.
fn cost(picker: &Picker) -> String {
    let budget = match picker.options().budget {
        Some(budget) if picker.is_over_budget() => format!(" of {budget}: too much"),
        Some(budget) => format!(" of {budget}"),
        None => String::new(),
    };
    format!("{} chosen, about {} tokens{budget}", picker.chosen().len(), picker.tokens())
}

/// The servers that are not as they should be, on three lines at most.
fn states(picker: &Picker) -> Vec<String> {
    const MOST: usize = 3;
    let states = picker.servers().into_iter().filter_map(|status| match status.state {
        ServerState::Loading | ServerState::Failed { .. } => Some(format!("! {} {}", status.server, status.state)),
        _ if !status.on => Some(format!("! {} is switched off (^U)", status.server)),
        _ => None,
    });
    let mut states: Vec<String> = states.collect();
    if states.len() > MOST {
        let more = states.len() - (MOST - 1);
        states.truncate(MOST - 1);
        states.push(format!("! and {more} more servers"));
    }
    states
}

fn line(row: &Row, current: bool, width: usize) -> Line<'static> {
    let mark = if current { "› " } else { "  " };
    let dim = Style::new().add_modifier(Modifier::DIM);
    let line = match row {
        Row::Group { section, items, state } => {
            let state = match state {
                None | Some(ServerState::Ready) => String::new(),
                Some(ServerState::Failed { .. }) => ", failed: as of before".to_owned(),
                Some(state) => format!(", {state}"),
            };
            Line::styled(format!("{section} ({items}{state})"), Modifier::BOLD)
        }
        Row::More { hidden, .. } => Line::styled(format!("{mark}    {hidden} more"), dim),
        Row::Item(row) => item(row, mark, width),
        _ => Line::default(),
    };
    if current { line.patch_style(Modifier::REVERSED) } else { line }
}

/// Label and where it is from, then what it costs and what is to be known of it, as far as there is room.
fn item(row: &ItemRow, mark: &str, width: usize) -> Line<'static> {
    let ItemRow { item, highlights, .. } = row;
    let chosen = row.chosen.map_or("[ ]".to_owned(), |at| format!("[{}]", at + 1));
    let mut spans = vec![Span::raw(format!("{mark}{chosen} "))];
    spans.extend(marked(&item.label, &highlights.label, Style::new()));
    spans.push(Span::raw("  "));
    let dim = Style::new().add_modifier(Modifier::DIM);
    spans.extend(marked(item.pick.server().as_str(), &highlights.server, dim));
    // The label says it already.
    if item.label != item.uri {
        spans.push(Span::styled(" ", dim));
        spans.extend(marked(&item.uri, &highlights.uri, dim));
    }
    let notes = notes(row);
    let room = width.saturating_sub(Span::raw(&notes).width() + 1);
    let mut line = Line::from(cut(spans, room));
    let gap = width.saturating_sub(line.width() + Span::raw(&notes).width());
    line.push_span(Span::styled(format!("{}{notes}", " ".repeat(gap)), dim));
    line
}

fn notes(row: &ItemRow) -> String {
    let Item { mime_type, estimated_tokens, for_model, linked, .. } = &row.item;
    let fill = match &row.item.pick {
        Pick::Template(_) => Some(format!("to fill: {}", row.item.variables.join(", "))),
        _ => None,
    };
    let flags = [
        row.gone.then(|| "gone".to_owned()),
        (!for_model).then(|| "for you only".to_owned()),
        linked.then(|| "from an answer".to_owned()),
        row.pinned.then(|| "pinned".to_owned()),
        mime_type.clone(),
        fill,
        estimated_tokens.map(|tokens| format!("~{tokens}")),
    ];
    flags.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// A text with some of its parts set off.
fn marked(text: &str, parts: &[Range<usize>], style: Style) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut at = 0;
    for part in parts {
        let (Some(before), Some(inside)) = (text.get(at..part.start), text.get(part.clone())) else { break };
        spans.push(Span::styled(before.to_owned(), style));
        spans.push(Span::styled(inside.to_owned(), style.add_modifier(Modifier::BOLD | Modifier::UNDERLINED)));
        at = part.end;
    }
    spans.push(Span::styled(text.get(at..).unwrap_or_default().to_owned(), style));
    spans
}

/// As much as fits into so many columns.
fn cut(spans: Vec<Span<'static>>, columns: usize) -> Vec<Span<'static>> {
    let mut left = columns;
    let mut out = Vec::new();
    for span in spans {
        let width = span.width();
        if width <= left {
            left -= width;
            out.push(span);
            continue;
        }
        let mut text = String::new();
        for c in span.content.chars() {
            text.push(c);
            if Span::raw(&text).width() >= left {
                text.pop();
                break;
            }
        }
        if left > 0 {
            text.push('…');
        }
        out.push(Span::styled(text, span.style));
        break;
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

    use proem::{
        TokenBudget,
        catalog::Catalog,
        id::ServerId,
        picker::{PickerOptions, Preferences},
        protocol::Resource,
    };
    use ratatui::backend::TestBackend;

    use super::*;

    fn picker(resources: usize) -> Picker {
        let builder = (0..resources).fold(Catalog::builder(), |builder, number| {
            let resource = Resource::new(format!("x://{number:02}"), "page").with_title(format!("Page {number:02}"));
            builder.resource(ServerId::new("wiki").unwrap(), resource.with_size(400))
        });
        let options = PickerOptions::new().with_cap(50).with_budget(TokenBudget::new(150));
        Picker::new(&builder.build(), options, Preferences::new())
    }

    fn press(view: &mut View<'_>, picker: &mut Picker, keys: &[KeyCode]) -> Vec<Next> {
        keys.iter().map(|code| view.key(picker, KeyEvent::new(*code, KeyModifiers::NONE))).collect()
    }

    fn screen(view: &mut View<'_>, picker: &Picker, (width, height): (u16, u16)) -> Vec<String> {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| view.draw(picker, frame)).unwrap();
        terminal.backend().to_string().lines().map(|line| line.trim_matches('"').trim_end().to_owned()).collect()
    }

    #[test]
    fn the_row_of_the_cursor_is_on_every_screen() {
        let (mut picker, mut view) = (picker(30), View::new("Choose"));
        for key in [KeyCode::Down, KeyCode::PageDown, KeyCode::End, KeyCode::Up, KeyCode::PageUp, KeyCode::Home] {
            press(&mut view, &mut picker, &[key]);
            for size in [(60, 10), (20, 7), (60, 5)] {
                let shown = screen(&mut view, &picker, size);
                assert!(shown.iter().any(|line| line.starts_with("› [ ] Page")), "{key:?} {shown:?}");
            }
        }
        // Too small for anything, and no harm done.
        for size in [(1, 1), (3, 2)] {
            screen(&mut view, &picker, size);
        }
    }

    #[test]
    fn what_is_chosen_and_what_it_costs_is_shown() {
        let (mut picker, mut view) = (picker(3), View::new("Choose"));
        press(&mut view, &mut picker, &[KeyCode::Tab, KeyCode::Down, KeyCode::Tab]);
        let shown = screen(&mut view, &picker, (70, 8));
        assert!(shown[0].ends_with("2 chosen, about 200 tokens of 150: too much"), "{shown:?}");
        assert_eq!(shown[4], "› [2] Page 01  wiki x://01                                        ~100");
    }

    #[test]
    fn a_choice_is_accepted_or_left() {
        let (mut picker, mut view) = (picker(3), View::new("Choose"));
        let keys = [KeyCode::Char('0'), KeyCode::Char('2'), KeyCode::Esc, KeyCode::Esc];
        assert_eq!(press(&mut view, &mut picker, &keys), [Next::Stay, Next::Stay, Next::Stay, Next::Left]);
        let keys = [KeyCode::Char('0'), KeyCode::Char('2'), KeyCode::Enter];
        assert_eq!(press(&mut view, &mut picker, &keys)[2], Next::Accepted);
        assert_eq!(picker.picks()[0].to_string(), "wiki/x://02");
    }

    #[test]
    fn nothing_is_accepted_where_nothing_is() {
        let (mut picker, mut view) = (picker(0), View::new("Choose"));
        assert_eq!(press(&mut view, &mut picker, &[KeyCode::Enter]), [Next::Stay]);
        assert_eq!(screen(&mut view, &picker, (40, 6))[2], "  nothing to choose from");
        picker.set_loading(&ServerId::new("wiki").unwrap(), true);
        assert_eq!(screen(&mut view, &picker, (40, 6))[4], "! wiki loading");
    }

    #[test]
    fn help_goes_with_the_next_key() {
        let (mut picker, mut view) = (picker(3), View::new("Choose"));
        press(&mut view, &mut picker, &[KeyCode::Char('?')]);
        assert!(screen(&mut view, &picker, (60, 20))[2].starts_with("type"));
        press(&mut view, &mut picker, &[KeyCode::Esc]);
        assert!(screen(&mut view, &picker, (60, 20))[2].starts_with("wiki (3)"));
    }
}
