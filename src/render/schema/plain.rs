//! Schemas that need no repair, told from their text: most are, and a tree is what costs.

use std::ops::Range;

use super::{keywords::MAX_WORDS, names};
use crate::{
    json::{self, MAX_DEPTH},
    protocol::Schema,
};

/// Whose rules a schema is held against.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Dialect {
    Anthropic,
    OpenAi,
    Gemini,
    Bedrock,
}

impl Dialect {
    /// The schema as its rules would leave it, if that is known without them: nothing is lost, and what
    /// changes can be changed in the text. `None` says nothing: there may be something to do.
    ///
    /// Only what is known to be plain passes, so that a rule that is added needs no change here unless it
    /// is about a keyword that passes.
    pub(super) fn plain(self, schema: &Schema) -> Option<Schema> {
        let text = schema.as_str();
        let mut scan = Scan { dialect: self, text, at: 0, edits: Vec::new() };
        scan.schema(1)?;
        if scan.edits.is_empty() {
            return Some(schema.clone());
        }
        // What stands around a schema is edited after what is in it.
        scan.edits.sort_by_key(|(range, _)| range.start);
        let mut out = String::with_capacity(text.len() + 64);
        let mut from = 0;
        for (range, new) in scan.edits {
            out.push_str(text.get(from..range.start)?);
            out.push_str(&new);
            from = range.end;
        }
        out.push_str(text.get(from..)?);
        Some(Schema::from_canonical(out))
    }
}

/// What a keyword is to a provider.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Keyword<'a> {
    Plain,
    /// It says nothing, and goes.
    Cut,
    /// Its value is said in words.
    Said(&'a str),
    /// One type beside `null`.
    Nullable(&'static str),
}

/// What was read of one schema.
#[derive(Debug, Default)]
struct Seen<'a> {
    types: u8,
    /// The types that its bounds are about.
    bounds: u8,
    has_items: bool,
    has_enum: bool,
    properties: Option<Vec<&'a str>>,
    required: Option<Vec<&'a str>>,
    /// Where `nullable` would stand.
    nullable_at: Option<usize>,
    /// A default that is to be said, where it stands, and its value.
    default: Option<(Range<usize>, &'a str)>,
}

/// Types by the bit that stands for them.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
const ARRAY: u8 = 1;
const NUMBERS: u8 = 1 << 2 | 1 << 4;
const NULL: u8 = 1 << 3;
const OBJECT: u8 = 1 << 5;
const STRING: u8 = 1 << 6;

/// More names or values than this are not compared with each other here.
const MAX_COMPARED: usize = 32;

struct Scan<'a> {
    dialect: Dialect,
    /// Canonical JSON: keys are sorted, and there is no white space.
    text: &'a str,
    at: usize,
    /// What goes, and what stands there instead.
    edits: Vec<(Range<usize>, String)>,
}

impl<'a> Scan<'a> {
    /// Reads a schema at this depth. `None` if something may have to be done.
    fn schema(&mut self, depth: usize) -> Option<()> {
        self.open(b'{', depth)?;
        let mut seen = Seen::default();
        while self.peek()? != b'}' {
            let start = self.at;
            let keyword = self.key()?;
            if keyword > "nullable" {
                seen.nullable_at.get_or_insert(start);
            }
            let what = self.keyword(keyword, &mut seen, depth)?;
            let end = self.at;
            let is_last = self.next_if(b',').is_none();
            match what {
                Keyword::Plain => {}
                // `type` comes after all that is cut.
                Keyword::Cut | Keyword::Said(_) if is_last => return None,
                Keyword::Cut => self.edits.push((start..self.at, String::new())),
                Keyword::Said(value) => seen.default = Some((start..end, value)),
                Keyword::Nullable(kind) => {
                    let at = seen.nullable_at?;
                    self.edits.push((at..at, r#""nullable":true,"#.into()));
                    self.edits.push((start..end, format!(r#""type":"{kind}""#)));
                }
            }
            if is_last {
                break;
            }
        }
        self.next_if(b'}')?;
        if let Some((range, value)) = seen.default.take() {
            // Nothing that is plain stands between `default` and `description`.
            self.edits.push((range, format!(r#""description":"default: {}""#, escaped(value))));
        }
        self.is_whole(&seen, depth == 1).then_some(())
    }

    /// Reads the value of a keyword.
    fn keyword(&mut self, keyword: &str, seen: &mut Seen<'a>, depth: usize) -> Option<Keyword<'a>> {
        let is_root = depth == 1;
        let is_gemini = self.dialect == Dialect::Gemini;
        let is_bare = is_root && self.dialect == Dialect::Bedrock;
        match keyword {
            "type" if self.peek()? == b'[' && is_root => return None,
            "type" => return self.types(seen),
            "properties" => seen.properties = Some(self.properties(depth + 1)?),
            "required" => seen.required = Some(self.names(depth + 1)?),
            "$schema" => {
                self.string()?;
                return Some(Keyword::Cut);
            }
            "additionalProperties" if self.peek()? != b'{' => {
                self.boolean()?;
                return Some(if is_gemini || is_bare { Keyword::Cut } else { Keyword::Plain });
            }
            "description" => {
                let text = self.string()?;
                // Gemini's rules take away what is blank.
                (!is_gemini || text.starts_with(|c: char| c.is_ascii_alphanumeric())).then_some(())?;
                if let Some((range, value)) = seen.default.take() {
                    // Inside the closing quote.
                    let end = self.at - 1;
                    self.edits.push((range.start..range.end + 1, String::new()));
                    self.edits.push((end..end, format!(" (default: {})", escaped(value))));
                }
                return Some(if is_bare { Keyword::Cut } else { Keyword::Plain });
            }
            _ if is_bare => return None,
            "items" => {
                self.schema(depth + 1)?;
                seen.has_items = true;
            }
            "enum" if !is_root => {
                self.values(depth + 1)?;
                seen.has_enum = true;
            }
            "minimum" | "maximum" => {
                self.number()?;
                seen.bounds |= NUMBERS;
            }
            "minLength" | "maxLength" => seen.bounds |= self.count(STRING)?,
            "minItems" | "maxItems" => seen.bounds |= self.count(ARRAY)?,
            "default" if is_gemini => {
                let start = self.at;
                self.value(depth)?;
                let value = self.text.get(start..self.at)?;
                return match value {
                    "null" => Some(Keyword::Cut),
                    _ => (value.len() <= MAX_WORDS).then_some(Keyword::Said(value)),
                };
            }
            _ if is_gemini => return None,
            "additionalProperties" => self.schema(depth + 1)?,
            "anyOf" | "allOf" | "oneOf" if !is_root => self.schemas(depth + 1)?,
            "title" | "format" => _ = self.string()?,
            "default" => self.value(depth)?,
            "const" if !is_root => self.value(depth)?,
            "exclusiveMinimum" | "exclusiveMaximum" => self.number()?,
            "uniqueItems" => _ = self.boolean()?,
            _ => return None,
        }
        Some(Keyword::Plain)
    }

    /// Whether a schema whose keywords are plain is so together.
    fn is_whole(&self, seen: &Seen<'_>, is_root: bool) -> bool {
        let is_named = !is_root || seen.types == OBJECT && seen.properties.is_some();
        is_named
            && match self.dialect {
                Dialect::Anthropic | Dialect::Bedrock => true,
                Dialect::OpenAi => seen.types & ARRAY == 0 || seen.has_items,
                Dialect::Gemini => {
                    let properties = seen.properties.as_deref().unwrap_or_default();
                    let required = seen.required.as_deref().unwrap_or_default();
                    let bounded = if seen.types & NUMBERS == 0 { seen.types } else { NUMBERS };
                    let fits = match seen.types {
                        OBJECT => !properties.is_empty() && required.iter().all(|name| properties.contains(name)),
                        _ => seen.properties.is_none() && seen.required.is_none(),
                    };
                    fits && seen.types.is_power_of_two()
                        && seen.types != NULL
                        && (seen.types == ARRAY) == seen.has_items
                        && seen.bounds & !bounded == 0
                        && (!seen.has_enum || seen.types == STRING && seen.bounds == 0)
                }
            }
    }
}

/// Reading of JSON that is known to be canonical, so that nothing but its structure is checked.
impl<'a> Scan<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next_if(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Begins an array or object that lies at this depth.
    fn open(&mut self, bracket: u8, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH { None } else { self.next_if(bracket) }
    }

    /// A key without escapes, and its colon.
    fn key(&mut self) -> Option<&'a str> {
        let key = self.plain_string()?;
        self.next_if(b':')?;
        Some(key)
    }

    /// A string without escapes.
    fn plain_string(&mut self) -> Option<&'a str> {
        self.next_if(b'"')?;
        let start = self.at;
        self.at += json::plain_bytes(self.text.as_bytes().get(start..)?);
        let text = self.text.get(start..self.at)?;
        self.next_if(b'"')?;
        Some(text)
    }

    /// The inside of a string, as it is written.
    fn string(&mut self) -> Option<&'a str> {
        self.next_if(b'"')?;
        let start = self.at;
        loop {
            self.at += json::plain_bytes(self.text.as_bytes().get(self.at..)?);
            match self.peek()? {
                b'"' => break,
                // What is escaped; the digits of a number of a character are plain.
                b'\\' => self.at += 2,
                _ => return None,
            }
        }
        let text = self.text.get(start..self.at)?;
        self.at += 1;
        Some(text)
    }

    /// A number.
    fn number(&mut self) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let length = rest.iter().take_while(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e')).count();
        self.at += length;
        (length > 0).then_some(())
    }

    /// A whole number that is not negative, which bounds values of `kind`.
    fn count(&mut self, kind: u8) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += digits;
        // Eighteen digits fit every provider's integers.
        ((1..=18).contains(&digits) && matches!(self.peek()?, b',' | b'}')).then_some(kind)
    }

    fn boolean(&mut self) -> Option<bool> {
        let rest = self.text.get(self.at..)?;
        let value = rest.starts_with("true");
        if !value && !rest.starts_with("false") {
            return None;
        }
        self.at += if value { 4 } else { 5 };
        Some(value)
    }

    /// `each` for each element of an array at this depth.
    fn each(&mut self, depth: usize, mut each: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.open(b'[', depth)?;
        if self.next_if(b']').is_some() {
            return Some(());
        }
        loop {
            each(self)?;
            if self.next_if(b',').is_none() {
                return self.next_if(b']');
            }
        }
    }

    /// Any value within one at this depth.
    fn value(&mut self, depth: usize) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(|_| ()),
            b'[' => self.each(depth + 1, |scan| scan.value(depth + 1)),
            b'{' => {
                self.open(b'{', depth + 1)?;
                while self.next_if(b'}').is_none() {
                    self.string()?;
                    self.next_if(b':')?;
                    self.value(depth + 1)?;
                    self.next_if(b',');
                }
                Some(())
            }
            b't' | b'f' => self.boolean().map(|_| ()),
            b'n' => {
                self.at += 4;
                Some(())
            }
            _ => self.number(),
        }
    }

    /// One type, or a list of different ones.
    fn types(&mut self, seen: &mut Seen<'a>) -> Option<Keyword<'a>> {
        let types = &mut seen.types;
        let mut add = |name: &str| {
            let bit = 1 << TYPES.iter().position(|known| *known == name)?;
            (*types & bit == 0).then(|| *types |= bit)
        };
        if self.peek()? == b'"' {
            add(self.plain_string()?)?;
            return Some(Keyword::Plain);
        }
        self.each(1, |scan| add(scan.plain_string()?))?;
        if self.dialect != Dialect::Gemini {
            return (*types != 0).then_some(Keyword::Plain);
        }
        // The type beside `null` is the type, and there are no values that could leave `null` out.
        let other = *types & !NULL;
        let is_one = *types & NULL != 0 && other.is_power_of_two() && !seen.has_enum;
        seen.types = other;
        is_one.then(|| TYPES.get(other.trailing_zeros() as usize).map(|kind| Keyword::Nullable(kind)))?
    }

    /// Different names.
    fn names(&mut self, depth: usize) -> Option<Vec<&'a str>> {
        let mut names = Vec::new();
        self.each(depth, |scan| {
            let name = scan.plain_string()?;
            (names.len() < MAX_COMPARED && !names.contains(&name)).then(|| names.push(name))
        })?;
        Some(names)
    }

    /// The names of the properties of a schema, whose map lies at this depth.
    fn properties(&mut self, depth: usize) -> Option<Vec<&'a str>> {
        let is_asked = matches!(self.dialect, Dialect::Anthropic | Dialect::Bedrock) && depth == 2;
        let mut names = Vec::new();
        self.open(b'{', depth)?;
        while self.next_if(b'}').is_none() {
            let name = self.key()?;
            (!is_asked || names::is_safe(name)).then_some(())?;
            if self.dialect == Dialect::Gemini {
                names.push(name);
            }
            self.schema(depth + 1)?;
            self.next_if(b',');
        }
        Some(names)
    }

    /// At least one schema.
    fn schemas(&mut self, depth: usize) -> Option<()> {
        let start = self.at;
        self.each(depth, |scan| scan.schema(depth + 1))?;
        (self.at > start + 2).then_some(())
    }

    /// Different values, at least one; for Gemini, texts that are not empty.
    fn values(&mut self, depth: usize) -> Option<()> {
        let is_gemini = self.dialect == Dialect::Gemini;
        let mut values = Vec::new();
        self.each(depth, |scan| {
            let start = scan.at;
            match is_gemini {
                true => scan.string().filter(|text| !text.is_empty()).map(|_| ()),
                false => scan.value(depth),
            }?;
            let value = scan.text.get(start..scan.at)?;
            (values.len() < MAX_COMPARED && !values.contains(&value)).then(|| values.push(value))
        })?;
        (!values.is_empty()).then_some(())
    }
}

/// A canonical value, as it is written within a string.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 8);
    json::write_string(&mut out, value);
    out.get(1..out.len() - 1).map(String::from).unwrap_or_default()
}
