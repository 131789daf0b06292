//! Reading of JSON that is known to be canonical, so that nothing but what decides is checked. `None` where a
//! schema may need a repair.

use super::{Dialect, Keyword, NULL, Scan, Seen, TYPES};
use crate::{
    json::{self, MAX_DEPTH},
    render::schema::names,
};

/// More names or values than this are not compared with each other here.
const MAX_COMPARED: usize = 32;

impl<'a> Scan<'a> {
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn next_if(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    /// Begins an array or object that lies at this depth.
    pub(super) fn open(&mut self, bracket: u8, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH { None } else { self.next_if(bracket) }
    }

    /// A key without escapes, and its colon.
    pub(super) fn key(&mut self) -> Option<&'a str> {
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
    pub(super) fn string(&mut self) -> Option<&'a str> {
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
    pub(super) fn number(&mut self) -> Option<()> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let length = rest.iter().take_while(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e')).count();
        self.at += length;
        (length > 0).then_some(())
    }

    /// A whole number that is not negative, which bounds values of `kind`.
    pub(super) fn count(&mut self, kind: u8) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        self.at += digits;
        // Eighteen digits fit every provider's integers.
        ((1..=18).contains(&digits) && matches!(self.peek()?, b',' | b'}')).then_some(kind)
    }

    pub(super) fn boolean(&mut self) -> Option<bool> {
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
    pub(super) fn value(&mut self, depth: usize) -> Option<()> {
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
    pub(super) fn types(&mut self, seen: &mut Seen<'a>) -> Option<Keyword<'a>> {
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
    pub(super) fn names(&mut self, depth: usize) -> Option<Vec<&'a str>> {
        let mut names = Vec::new();
        self.each(depth, |scan| {
            let name = scan.plain_string()?;
            (names.len() < MAX_COMPARED && !names.contains(&name)).then(|| names.push(name))
        })?;
        Some(names)
    }

    /// The names of the properties of a schema, whose map lies at this depth.
    pub(super) fn properties(&mut self, depth: usize) -> Option<Vec<&'a str>> {
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
    pub(super) fn schemas(&mut self, depth: usize) -> Option<()> {
        let start = self.at;
        self.each(depth, |scan| scan.schema(depth + 1))?;
        (self.at > start + 2).then_some(())
    }

    /// Different values, at least one; for Gemini, texts that are not empty.
    pub(super) fn values(&mut self, depth: usize) -> Option<()> {
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
