use std::{fmt, str::FromStr};

use super::characters::{encoded_literal, is_literal};
use crate::{Error, Result, error::excerpt};

/// A URI template by RFC 6570, level 4.
///
/// ```
/// use proem::templates::UriTemplate;
///
/// let error = UriTemplate::parse("notes://{!day}").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "invalid URI template `notes://{!day}`: operator `!` at byte 9 is reserved by RFC 6570"
/// );
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UriTemplate {
    text: String,
    pub(super) parts: Vec<Part>,
    /// How many variables stand in all expressions.
    pub(super) count: usize,
    names: Vec<Box<str>>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Part {
    /// As it is expanded.
    Literal(String),
    Expression(Expression),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Expression {
    /// How many variables stand in the expressions before.
    pub(super) before: usize,
    pub(super) operator: Operator,
    pub(super) variables: Vec<Variable>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Variable {
    pub(super) name: Box<str>,
    pub(super) modifier: Modifier,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Modifier {
    None,
    /// The most characters of the value.
    Prefix(usize),
    Explode,
}

/// The operators of RFC 6570, section 2.2.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Operator {
    Simple,
    Reserved,
    Fragment,
    Label,
    Path,
    Parameter,
    Query,
    Continuation,
}

impl UriTemplate {
    /// The longest template, in bytes: real ones stay under 200.
    pub const MAX_BYTES: usize = 4_096;

    /// The most expressions.
    pub const MAX_EXPRESSIONS: usize = 64;

    /// The most variables of all expressions together, each counted as often as it stands.
    pub const MAX_VARIABLES: usize = 128;

    /// Reads a template.
    ///
    /// # Errors
    /// [`Error::Invalid`] that says where it departs from RFC 6570, or which bound it passes.
    pub fn parse(template: &str) -> Result<Self> {
        read(template).map_err(|reason| Error::invalid(format!("URI template `{}`", excerpt(template)), reason))
    }

    /// The template as it was given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of its variables, each once, in the order in which they stand.
    pub fn variables(&self) -> impl ExactSizeIterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// How many bytes of a URI it sets itself: what makes one template more specific than another.
    pub(super) fn literal_bytes(&self) -> usize {
        let literal = |part: &Part| match part {
            Part::Literal(text) => text.len(),
            Part::Expression(_) => 0,
        };
        self.parts.iter().map(literal).sum()
    }

    /// Whether a variable stands in it more than once.
    pub(super) fn repeats(&self) -> bool {
        self.count > self.names.len()
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for UriTemplate {
    type Err = Error;

    fn from_str(template: &str) -> Result<Self> {
        Self::parse(template)
    }
}

impl Operator {
    fn of(c: char) -> Option<Self> {
        Some(match c {
            '+' => Self::Reserved,
            '#' => Self::Fragment,
            '.' => Self::Label,
            '/' => Self::Path,
            ';' => Self::Parameter,
            '?' => Self::Query,
            '&' => Self::Continuation,
            _ => return None,
        })
    }

    // The table of RFC 6570, appendix A.

    /// What stands before the first value.
    pub(super) fn first(self) -> &'static str {
        match self {
            Self::Simple | Self::Reserved => "",
            Self::Fragment => "#",
            Self::Label => ".",
            Self::Path => "/",
            Self::Parameter => ";",
            Self::Query => "?",
            Self::Continuation => "&",
        }
    }

    /// What stands between values.
    pub(super) fn separator(self) -> &'static str {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => ",",
            Self::Label => ".",
            Self::Path => "/",
            Self::Parameter => ";",
            Self::Query | Self::Continuation => "&",
        }
    }

    /// Whether values come with their names.
    pub(super) fn is_named(self) -> bool {
        matches!(self, Self::Parameter | Self::Query | Self::Continuation)
    }

    /// Whether reserved characters stand for themselves in values.
    pub(super) fn allows_reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Fragment)
    }
}

fn read(template: &str) -> Result<UriTemplate, String> {
    if template.len() > UriTemplate::MAX_BYTES {
        return Err(format!("it has {} bytes; at most {} are read", template.len(), UriTemplate::MAX_BYTES));
    }
    let (mut parts, mut names) = (Vec::new(), Vec::<Box<str>>::new());
    let (mut expressions, mut count) = (0, 0);
    let mut at = 0;
    while let Some(rest) = template.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(inside) = rest.strip_prefix('{') else {
            let literal = &rest[..rest.find('{').unwrap_or(rest.len())];
            parts.push(Part::Literal(read_literal(literal, at)?));
            at += literal.len();
            continue;
        };
        let end = inside.find('}').ok_or_else(|| format!("`{{` at byte {at} is not closed"))?;
        let (operator, variables) = read_expression(&inside[..end], at + 1)?;
        let expression = Expression { before: count, operator, variables };
        expressions += 1;
        count += expression.variables.len();
        if expressions > UriTemplate::MAX_EXPRESSIONS || count > UriTemplate::MAX_VARIABLES {
            let (most, many) = (UriTemplate::MAX_EXPRESSIONS, UriTemplate::MAX_VARIABLES);
            return Err(format!("it has more than {most} expressions or {many} variables"));
        }
        for variable in &expression.variables {
            if !names.contains(&variable.name) {
                names.push(variable.name.clone());
            }
        }
        parts.push(Part::Expression(expression));
        at += end + 2;
    }
    Ok(UriTemplate { text: template.to_owned(), parts, count, names })
}

/// The literal as it is expanded: what is not ASCII percent-encoded (section 3.1).
fn read_literal(literal: &str, start: usize) -> Result<String, String> {
    for (at, c) in literal.char_indices() {
        let is_triplet = || literal[at + 1..].bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
        match c {
            '}' => return Err(format!("`}}` at byte {} closes nothing", start + at)),
            '%' if is_triplet() => {}
            _ if is_literal(c) => {}
            _ => return Err(format!("{} at byte {} must be percent-encoded", shown(c), start + at)),
        }
    }
    Ok(encoded_literal(literal))
}

fn read_expression(inside: &str, start: usize) -> Result<(Operator, Vec<Variable>), String> {
    if let Some(at) = inside.find('{') {
        return Err(format!("`{{` at byte {} stands in another expression", start + at));
    }
    let Some(first) = inside.chars().next() else {
        return Err(format!("the expression at byte {start} is empty"));
    };
    if "=,!@|".contains(first) {
        return Err(format!("operator `{first}` at byte {start} is reserved by RFC 6570"));
    }
    let (operator, list) = match Operator::of(first) {
        Some(operator) => (operator, &inside[1..]),
        None => (Operator::Simple, inside),
    };
    let mut at = start + inside.len() - list.len();
    let mut variables = Vec::new();
    for spec in list.split(',') {
        variables.push(read_variable(spec, at)?);
        at += spec.len() + 1;
    }
    Ok((operator, variables))
}

fn read_variable(spec: &str, at: usize) -> Result<Variable, String> {
    let (name, modifier) = match (spec.strip_suffix('*'), spec.split_once(':')) {
        (Some(name), _) => (name, Modifier::Explode),
        (None, Some((name, length))) => (name, Modifier::Prefix(read_prefix(length, at + name.len() + 1)?)),
        (None, None) => (spec, Modifier::None),
    };
    if !is_name(name) {
        return Err(format!("`{}` at byte {at} is no variable name", excerpt(name)));
    }
    Ok(Variable { name: name.into(), modifier })
}

/// 1 to 9999, without a zero before it (section 2.4.1).
fn read_prefix(length: &str, at: usize) -> Result<usize, String> {
    let digits = (1..=4).contains(&length.len()) && length.bytes().all(|byte| byte.is_ascii_digit());
    let length = (digits && !length.starts_with('0')).then(|| length.parse().ok()).flatten();
    length.ok_or_else(|| format!("the prefix length at byte {at} must be 1 to 9999"))
}

/// Letters, digits, `_` and percent-encoded octets, with single dots between them (section 2.3).
fn is_name(name: &str) -> bool {
    name.split('.').all(is_name_part)
}

fn is_name_part(part: &str) -> bool {
    let mut bytes = part.bytes();
    while let Some(byte) = bytes.next() {
        let hex = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_hexdigit());
        let good =
            byte.is_ascii_alphanumeric() || byte == b'_' || (byte == b'%' && hex(bytes.next()) && hex(bytes.next()));
        if !good {
            return false;
        }
    }
    !part.is_empty()
}

fn shown(c: char) -> String {
    if c.is_control() { format!("U+{:04X}", u32::from(c)) } else { format!("`{c}`") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_departs_from_the_standard_is_refused_with_its_place() {
        for (template, expected) in [
            ("a{b", "`{` at byte 1 is not closed"),
            ("a}b", "`}` at byte 1 closes nothing"),
            ("{a{b}}", "`{` at byte 2 stands in another expression"),
            ("{a}}", "`}` at byte 3 closes nothing"),
            ("x{}", "the expression at byte 2 is empty"),
            ("{?}", "`` at byte 2 is no variable name"),
            ("{=a}", "operator `=` at byte 1 is reserved by RFC 6570"),
            ("{|a}", "operator `|` at byte 1 is reserved by RFC 6570"),
            ("{$a}", "`$a` at byte 1 is no variable name"),
            ("{a,}", "`` at byte 3 is no variable name"),
            ("{a, b}", "` b` at byte 3 is no variable name"),
            ("{a..b}", "`a..b` at byte 1 is no variable name"),
            ("{a.}", "`a.` at byte 1 is no variable name"),
            ("{a%4}", "`a%4` at byte 1 is no variable name"),
            ("{größe}", "`größe` at byte 1 is no variable name"),
            ("{a:0}", "the prefix length at byte 3 must be 1 to 9999"),
            ("{a:01}", "the prefix length at byte 3 must be 1 to 9999"),
            ("{a:10000}", "the prefix length at byte 3 must be 1 to 9999"),
            ("{a:+1}", "the prefix length at byte 3 must be 1 to 9999"),
            ("{a:3*}", "`a:3` at byte 1 is no variable name"),
            ("{a**}", "`a*` at byte 1 is no variable name"),
            ("a b", "` ` at byte 1 must be percent-encoded"),
            ("a%2", "`%` at byte 1 must be percent-encoded"),
            ("é<", "`<` at byte 2 must be percent-encoded"),
            ("a\nb", "U+000A at byte 1 must be percent-encoded"),
        ] {
            let error = read(template).unwrap_err();
            assert_eq!(error, expected, "{template}");
        }
    }

    #[test]
    fn bounds_hold() {
        assert!(read(&"a".repeat(UriTemplate::MAX_BYTES)).is_ok());
        assert!(read(&"a".repeat(UriTemplate::MAX_BYTES + 1)).unwrap_err().starts_with("it has 4097 bytes"));
        assert!(read(&"{a}".repeat(UriTemplate::MAX_EXPRESSIONS)).is_ok());
        for many in ["{a}".repeat(UriTemplate::MAX_EXPRESSIONS + 1), format!("{{a{}}}", ",a".repeat(128))] {
            assert_eq!(read(&many).unwrap_err(), "it has more than 64 expressions or 128 variables");
        }
    }

    #[test]
    fn variables_come_once_in_their_order() {
        let template = UriTemplate::parse("x://größe/{b,a}{?b*,c.d,%41:3}").unwrap();
        assert_eq!(template.variables().collect::<Vec<_>>(), ["b", "a", "c.d", "%41"]);
        assert_eq!(template.to_string(), "x://größe/{b,a}{?b*,c.d,%41:3}");
        assert_eq!(template.literal_bytes(), "x://gr%C3%B6%C3%9Fe/".len());
        assert!(template.repeats());
    }
}
