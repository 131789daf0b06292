//! Schemas that need no repair, told from their text: most are, and a tree is what costs.

mod read;

use std::ops::Range;

use super::keywords::MAX_WORDS;
use crate::{json, protocol::Schema};

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

/// A canonical value, as it is written within a string.
fn escaped(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 8);
    json::write_string(&mut out, value);
    out.get(1..out.len() - 1).map(String::from).unwrap_or_default()
}
