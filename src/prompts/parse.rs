use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

use super::{
    argument::invalid,
    command::{Command, Commands},
    invocation::Invocation,
    line::word,
    search::near,
    shown::{folded, shown},
};
use crate::{Error, Result, error::excerpt, protocol::Prompt};

impl Commands {
    /// What a person typed: a command, then its arguments. Whether all that are required are there is
    /// checked by [`get`](super::get), so that a host can ask for the rest with a
    /// [`Form`](super::Form).
    ///
    /// - Words are parted by white space and quoted as in a shell: `'…'`, `"…"`, `\` before one
    ///   character, `$'…'` with `\n`, `\t` and `\u202e`. Nothing is expanded.
    /// - `name=value` gives an argument by its name. A word that begins like one but names no argument
    ///   is refused, since it may be a slip; as `name=a=b` it is a value.
    /// - Other words fill the arguments that are left, in the prompt's order. The last of them takes
    ///   the rest of the line as it was typed: apostrophes, quotes and line breaks included. Only a
    ///   rest of one word is unquoted.
    ///
    /// ```
    /// # use proem::{catalog::Catalog, id::ServerId, prompts::Commands, protocol::Prompt};
    /// # let prompt = Prompt::new("reply", "").with_argument("ticket", true).with_argument("tone", false);
    /// # let catalog = Catalog::builder().prompt(ServerId::new("desk")?, prompt).build();
    /// # let commands = Commands::new(&catalog);
    /// for line in ["/reply T-1 'very kind'", "/reply T-1 very kind", "/desk:reply tone=\"very kind\" T-1"] {
    ///     let invocation = commands.parse(line)?;
    ///     assert_eq!((&*invocation.arguments()["ticket"], &*invocation.arguments()["tone"]), ("T-1", "very kind"));
    /// }
    /// # Ok::<(), proem::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`find`](Self::find) for the command; [`Error::Invalid`] for a line that does not begin
    /// with `/`, a quote that is not closed, an argument that the prompt does not have or that is
    /// given twice, and more values than it takes.
    pub fn parse(&self, line: &str) -> Result<Invocation> {
        let line = line.trim();
        let invalid_line =
            |reason: &str| Error::invalid(format!("command `{}`", shown(line, Command::MAX_LABEL_CHARS)), reason);
        let body = line.strip_prefix('/').ok_or_else(|| invalid_line("it does not begin with `/`"))?;
        let name = match body.starts_with(char::is_whitespace) {
            true => None,
            false => word(body, 0).map_err(invalid_line)?,
        };
        let name = name.ok_or_else(|| invalid_line("no name follows the `/`"))?;
        let command = self.named(&name.text)?;
        let mut given = Given::new(&command.entry.prompt);
        let mut at = name.end;
        loop {
            let rest = body.get(at..).unwrap_or_default().trim_start();
            match word(body, at) {
                Ok(None) => break,
                Ok(Some(word)) => {
                    at = word.end;
                    if given.take(&word.text, word.equals, || (at < body.len()).then(|| rest.to_owned()))? {
                        break;
                    }
                }
                // An apostrophe of plain text, as far as that is what is expected here.
                Err(reason) => match given.take(rest, rest.find('='), || Some(rest.to_owned()))? {
                    true => break,
                    false => return Err(invalid(&command.entry.prompt, reason)),
                },
            }
        }
        Ok(Invocation::by_user(command.entry.id.clone()).with_arguments(given.values))
    }

    /// As [`parse`](Self::parse), of words that are apart already, such as those that a shell gives a
    /// program. The name is taken as [`find`](Self::find) takes it.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn invoke<T: AsRef<str>>(&self, name: &str, words: &[T]) -> Result<Invocation> {
        let command = self.find(name)?;
        let mut given = Given::new(&command.entry.prompt);
        for (i, word) in words.iter().enumerate() {
            let rest = || {
                let rest: Vec<&str> = words.iter().skip(i).map(AsRef::as_ref).collect();
                (rest.len() > 1).then(|| rest.join(" "))
            };
            if given.take(word.as_ref(), word.as_ref().find('='), rest)? {
                break;
            }
        }
        Ok(Invocation::by_user(command.entry.id.clone()).with_arguments(given.values))
    }
}

/// The arguments of a prompt that were given so far.
struct Given<'a> {
    prompt: &'a Prompt,
    values: BTreeMap<String, String>,
}

impl<'a> Given<'a> {
    fn new(prompt: &'a Prompt) -> Self {
        Self { prompt, values: BTreeMap::new() }
    }

    /// Takes a word whose first unquoted `=` stands at `equals`. `rest` is it with all that follows
    /// it, if anything does. True if that was taken whole.
    fn take(&mut self, word: &str, equals: Option<usize>, rest: impl FnOnce() -> Option<String>) -> Result<bool> {
        if let Some((name, value)) = equals.and_then(|at| Some((word.get(..at)?, word.get(at + 1..)?))) {
            if let Some(argument) = self.argument(name) {
                if self.values.contains_key(argument) {
                    return Err(invalid(self.prompt, format!("`{}` is given twice", excerpt(argument))));
                }
                self.values.insert(argument.to_owned(), value.to_owned());
                return Ok(false);
            }
            if is_identifier(name) {
                return Err(self.unknown(name));
            }
        }
        let mut free = self.prompt.arguments.iter().filter(|argument| !self.values.contains_key(&argument.name));
        let Some(argument) = free.next() else { return Err(self.too_many(word)) };
        let rest = if free.next().is_none() { rest() } else { None };
        let (name, taken_whole) = (argument.name.clone(), rest.is_some());
        self.values.insert(name, rest.unwrap_or_else(|| word.to_owned()));
        Ok(taken_whole)
    }

    /// The argument of a name, however its accents are composed.
    fn argument(&self, name: &str) -> Option<&'a str> {
        let names = || self.prompt.arguments.iter().map(|argument| argument.name.as_str());
        names().find(|known| *known == name).or_else(|| names().find(|known| known.nfc().eq(name.nfc())))
    }

    fn unknown(&self, name: &str) -> Error {
        const MAX_LISTED: usize = 5;
        let arguments = &self.prompt.arguments;
        let names: Vec<String> = arguments.iter().map(|argument| folded(&argument.name)).collect();
        let mut listed = near(names.iter().map(String::as_str), &folded(name), MAX_LISTED);
        if listed.is_empty() {
            listed = (0..arguments.len().min(MAX_LISTED)).collect();
        }
        let listed: Vec<String> =
            listed.into_iter().filter_map(|i| arguments.get(i)).map(|argument| shown(&argument.name, 40)).collect();
        let name = shown(name, 40);
        invalid(
            self.prompt,
            match (listed.first(), listed.join(", ")) {
                (None, _) => format!("`{name}` is not one: it has none"),
                (Some(first), listed) => format!(
                    "`{name}` is not one of its arguments; there is {listed}. A value that holds `=` is given by name: {first}={name}=…"
                ),
            },
        )
    }

    fn too_many(&self, word: &str) -> Error {
        let word = shown(word, 40);
        invalid(
            self.prompt,
            match self.prompt.arguments.len() {
                0 => format!("it has none that could take `{word}`"),
                _ => format!("none is left that could take `{word}`"),
            },
        )
    }
}

/// What a person would write as a name before `=`; an address or a sentence is none.
fn is_identifier(text: &str) -> bool {
    text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}
