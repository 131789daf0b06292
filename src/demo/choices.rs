use std::collections::BTreeMap;

use serde::Deserialize;

type Values = BTreeMap<String, Vec<String>>;

/// The values that the arguments of a prompt, or the variables of a template, are completed with.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Choices {
    #[serde(default)]
    pub(super) values: Values,
    /// Others where some arguments are settled: the first case that fits and names the argument counts.
    #[serde(default)]
    narrowed: Vec<Narrowed>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Narrowed {
    when: BTreeMap<String, String>,
    values: Values,
}

impl Choices {
    /// The values of one argument, given what is known of the others.
    pub(super) fn of(&self, argument: &str, known: &BTreeMap<String, String>) -> &[String] {
        let fits = |case: &&Narrowed| case.when.iter().all(|(name, value)| known.get(name) == Some(value));
        let narrowed = self.narrowed.iter().filter(fits).find_map(|case| case.values.get(argument));
        narrowed.or_else(|| self.values.get(argument)).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether every one of these values is one that its argument may have beside the others.
    pub(super) fn allow(&self, given: &BTreeMap<String, String>) -> bool {
        given.iter().all(|(name, value)| self.of(name, given).contains(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_narrows_what_is_offered() {
        let text = r#"{"values": {"a": ["1", "2"], "b": ["x", "y"]}, "narrowed": [{"when": {"a": "1"}, "values": {"b": ["x"]}}]}"#;
        let choices: Choices = serde_json::from_str(text).unwrap();
        let known = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        assert_eq!(choices.of("b", &known(&[])), ["x", "y"]);
        assert_eq!(choices.of("b", &known(&[("a", "1")])), ["x"]);
        assert_eq!(choices.of("a", &known(&[("a", "1")])), ["1", "2"]);
        assert!(choices.of("c", &known(&[])).is_empty());
        assert!(choices.allow(&known(&[("a", "2"), ("b", "y")])) && !choices.allow(&known(&[("a", "1"), ("b", "y")])));
    }
}
