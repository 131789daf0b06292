use std::collections::BTreeMap;

/// The values of a template's variables, by name. What is not in it is undefined.
///
/// ```
/// use proem::templates::{VariableValue, Variables};
///
/// let variables = Variables::new().with("day", "friday").with("tags", vec!["red", "blue"]);
/// assert_eq!(variables.text("day"), Some("friday"));
/// assert_eq!(variables.value("tags"), Some(&VariableValue::List(vec!["red".into(), "blue".into()])));
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Variables(BTreeMap<String, VariableValue>);

/// The value of a variable (RFC 6570, section 2.3).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum VariableValue {
    /// A text.
    Text(String),
    /// A list; an empty one is undefined.
    List(Vec<String>),
    /// Keys with their values, in this order; none is undefined.
    Pairs(Vec<(String, String)>),
}

impl Variables {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of a variable.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<VariableValue>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// The value of a variable.
    pub fn value(&self, name: &str) -> Option<&VariableValue> {
        self.0.get(name)
    }

    /// The value of a variable that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            VariableValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// All values, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &VariableValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many variables have a value.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<N: Into<String>, V: Into<VariableValue>> FromIterator<(N, V)> for Variables {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(values: I) -> Self {
        Self(values.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl From<&str> for VariableValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for VariableValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for VariableValue {
    fn from(list: Vec<String>) -> Self {
        Self::List(list)
    }
}

impl From<Vec<&str>> for VariableValue {
    fn from(list: Vec<&str>) -> Self {
        Self::List(list.into_iter().map(str::to_owned).collect())
    }
}

impl From<Vec<(String, String)>> for VariableValue {
    fn from(pairs: Vec<(String, String)>) -> Self {
        Self::Pairs(pairs)
    }
}

impl From<Vec<(&str, &str)>> for VariableValue {
    fn from(pairs: Vec<(&str, &str)>) -> Self {
        Self::Pairs(pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }
}
