//! Patterns of names: `*` stands for any run of characters.

/// A text in which `*` stands for any run of characters, taken apart once: it is compared with
/// every tool of every filtered search.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Wildcard {
    first: String,
    /// What stands between stars.
    middle: Vec<String>,
    /// What stands after the last star; `None` without a star.
    last: Option<String>,
}

impl Wildcard {
    pub(crate) fn new(pattern: &str) -> Self {
        let mut parts = pattern.split('*').map(str::to_owned);
        let first = parts.next().unwrap_or_default();
        let mut middle: Vec<String> = parts.collect();
        let last = middle.pop();
        Self { first, middle, last }
    }

    /// Whether it matches every text.
    pub(crate) fn is_any(&self) -> bool {
        self.first.is_empty() && self.last.as_ref().is_some_and(String::is_empty) && self.middle.is_empty()
    }

    /// Linear in the text for one star, bounded by pattern × text for more.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let Some(last) = &self.last else { return self.first == text };
        let Some(mut rest) = text.strip_prefix(self.first.as_str()) else { return false };
        for part in &self.middle {
            match rest.find(part.as_str()) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_match_any_run() {
        for (pattern, text, expected) in [
            ("merge", "merge", true),
            ("merge", "merges", false),
            ("*", "", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXcYb", false),
            ("ab*b", "ab", false),
            ("*_*", "get_it", true),
        ] {
            let wildcard = Wildcard::new(pattern);
            assert_eq!(wildcard.matches(text), expected, "{pattern} {text}");
        }
    }
}
