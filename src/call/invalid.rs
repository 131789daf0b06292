use std::fmt;

use crate::{prompts::shown, render::neutral};

/// Why arguments cannot be used, in words by which the model that gave them can correct itself.
///
/// ```
/// use proem::{call::validate, protocol::Schema};
/// use serde_json::json;
///
/// let schema = Schema::from(json!({
///     "type": "object",
///     "properties": {"branch": {"type": "string"}, "depth": {"type": "integer"}},
///     "required": ["branch"],
///     "additionalProperties": false,
/// }));
/// let arguments = json!({"brunch": "release", "depth": "3"});
/// let invalid = validate(&schema, arguments.as_object().unwrap()).unwrap_err();
/// assert_eq!(
///     invalid.to_string(),
///     "the arguments do not fit:
/// - /branch: expected a string, got nothing (it is required)
/// - /brunch: expected no property of this name (did you mean `branch`?), got \"release\"
/// - /depth: expected an integer (itself, not written as text), got \"3\""
/// );
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Invalid {
    /// What does not fit, by where it stands; [`Self::MAX_FAULTS`] at most.
    pub faults: Vec<Fault>,
    /// How many faults more there are.
    pub more: usize,
}

/// One thing that does not fit.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub struct Fault {
    /// Where it stands in the arguments, as a JSON pointer; empty for the arguments as a whole.
    pub path: String,
    /// What should stand there.
    pub expected: String,
    /// What stands there: the beginning of it, on one line.
    pub found: String,
}

impl Invalid {
    /// The most faults that are told: more are not corrected in one go.
    pub const MAX_FAULTS: usize = 8;

    pub(crate) fn new(mut faults: Vec<Fault>) -> Self {
        faults.sort();
        faults.dedup();
        let more = faults.len().saturating_sub(Self::MAX_FAULTS);
        faults.truncate(Self::MAX_FAULTS);
        Self { faults, more }
    }
}

impl Fault {
    /// The most characters of a path: names of properties may be of any length.
    const MAX_PATH: usize = 200;

    /// The most characters of what is expected: a pattern, or a few names.
    const MAX_EXPECTED: usize = 300;

    /// The most characters of what was found: enough to know it again.
    const MAX_FOUND: usize = 100;

    /// Names and values in it may be a server's: on one line, bounded, and unable to open or close a
    /// delimiter.
    pub(crate) fn new(path: &str, expected: impl AsRef<str>, found: impl AsRef<str>) -> Self {
        let harmless = |text: &str, max| neutral(&shown(text, max));
        Self {
            path: harmless(path, Self::MAX_PATH),
            expected: harmless(expected.as_ref(), Self::MAX_EXPECTED),
            found: harmless(found.as_ref(), Self::MAX_FOUND),
        }
    }
}

impl fmt::Display for Invalid {
    /// One line for each fault.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the arguments do not fit:")?;
        self.faults.iter().try_for_each(|fault| write!(f, "\n- {fault}"))?;
        match self.more {
            0 => Ok(()),
            more => write!(f, "\n- and {more} more"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "the arguments" } else { &self.path };
        write!(f, "{path}: expected {}, got {}", self.expected, self.found)
    }
}

impl std::error::Error for Invalid {}
