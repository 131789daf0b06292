use std::{path::Path, time::Duration};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::{class::DataClass, decide::Governance, rule::ResourceRule};
use crate::{Error, Result, catalog::CachePolicy, client::read_text, error::excerpt, protocol::Role};

impl Governance {
    /// The version of the file that is read.
    pub const VERSION: u64 = 1;

    /// The largest file that is read: 1 MiB.
    pub const MAX_FILE_BYTES: u64 = 1 << 20;

    /// Reads a file: see [`parse`](Self::parse).
    ///
    /// # Errors
    /// [`Error::File`] with the place in the file that cannot be used.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = read_text(path, Self::MAX_FILE_BYTES)?;
        read(&text).map_err(|reason| Error::File { path: path.to_owned(), reason, source: None })
    }

    /// Reads the text of a file in JSON. What is not known is refused: a rule that is misspelled
    /// would protect nothing.
    ///
    /// ```
    /// use proem::resources::Governance;
    ///
    /// let governance = Governance::parse(r#"{
    ///     "version": 1,
    ///     "classes": [
    ///         {"name": "personal", "onlyProviders": ["bedrock"], "forbidTenants": ["trial"]},
    ///         {"name": "internal", "forbidProviders": ["openai*"], "onlyTenants": ["acme"]}
    ///     ],
    ///     "rules": [
    ///         {"server": "crm", "owner": "sales", "classes": ["personal", "internal"], "cache": "never"},
    ///         {"uri": "file:///srv/secrets/*", "deny": true},
    ///         {"server": "wiki*", "mimeType": "image/*", "audience": ["user"]},
    ///         {"server": "wiki*", "maxTokens": 4000, "maxBytes": 1000000, "cache": {"seconds": 300}}
    ///     ]
    /// }"#)?;
    /// assert!(!governance.is_empty());
    ///
    /// let error = Governance::parse(r#"{"version": 1, "rules": [{"uri": "a", "denied": true}]}"#).unwrap_err();
    /// assert!(error.to_string().starts_with("invalid governance: `rules[0]`: unknown field `denied`"));
    /// # Ok::<(), proem::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Invalid`] with the place in the text that cannot be used.
    pub fn parse(text: &str) -> Result<Self> {
        read(text).map_err(|reason| Error::invalid("governance", reason))
    }
}

// Each class and rule is read alone, so that messages say which it is; never by way of a `Value`,
// which takes the last of two equal keys without a word.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    version: u64,
    #[serde(borrow, default)]
    classes: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    rules: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Class {
    name: String,
    #[serde(default)]
    forbid_providers: Vec<String>,
    #[serde(default)]
    forbid_tenants: Vec<String>,
    only_providers: Option<Vec<String>>,
    only_tenants: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Rule {
    server: Option<String>,
    uri: Option<String>,
    mime_type: Option<String>,
    owner: Option<String>,
    #[serde(default)]
    classes: Vec<String>,
    audience: Option<Vec<Reader>>,
    max_tokens: Option<usize>,
    max_bytes: Option<usize>,
    cache: Option<Cache>,
    #[serde(default)]
    deny: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Reader {
    User,
    Assistant,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Cache {
    Server,
    Never,
    Seconds(u64),
}

fn read(text: &str) -> Result<Governance, String> {
    if text.len() as u64 > Governance::MAX_FILE_BYTES {
        return Err(format!("it has {} bytes; at most {} are read", text.len(), Governance::MAX_FILE_BYTES));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let file: File<'_> = serde_json::from_str(text).map_err(|error| excerpt(&error.to_string()))?;
    if file.version != Governance::VERSION {
        return Err(format!("`version` is {}; {} is read", file.version, Governance::VERSION));
    }
    let mut governance = Governance::new();
    for (at, row) in file.classes.into_iter().enumerate() {
        let class = read_row::<Class>(row).and_then(|class| governance.add_class(class.into()));
        class.map_err(|reason| format!("`classes[{at}]`: {reason}"))?;
    }
    for (at, row) in file.rules.into_iter().enumerate() {
        let rule = read_row::<Rule>(row).and_then(|rule| governance.add_rule(rule.into()));
        rule.map_err(|reason| format!("`rules[{at}]`: {reason}"))?;
    }
    Ok(governance)
}

fn read_row<T: DeserializeOwned>(row: &RawValue) -> Result<T, String> {
    serde_json::from_str(row.get()).map_err(|error| {
        let message = error.to_string();
        // Its line and column are those in the row.
        excerpt(message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message))
    })
}

impl From<Class> for DataClass {
    fn from(row: Class) -> Self {
        let class = row.forbid_providers.into_iter().fold(Self::new(row.name), Self::forbid_provider);
        let class = row.forbid_tenants.into_iter().fold(class, Self::forbid_tenant);
        let class = row.only_providers.into_iter().fold(class, Self::only_providers);
        row.only_tenants.into_iter().fold(class, Self::only_tenants)
    }
}

impl From<Rule> for ResourceRule {
    fn from(row: Rule) -> Self {
        let rule = row.server.into_iter().fold(Self::new(), Self::with_server);
        let rule = row.uri.into_iter().fold(rule, Self::with_uri);
        let rule = row.mime_type.into_iter().fold(rule, Self::with_mime_type);
        let rule = row.owner.into_iter().fold(rule, Self::with_owner);
        let rule = row.classes.into_iter().fold(rule, Self::with_class);
        let roles = row.audience.map(|roles| roles.into_iter().map(Role::from));
        let rule = roles.into_iter().fold(rule, Self::with_audience);
        let rule = row.max_tokens.into_iter().fold(rule, Self::with_max_tokens);
        let rule = row.max_bytes.into_iter().fold(rule, Self::with_max_bytes);
        let rule = row.cache.map(CachePolicy::from).into_iter().fold(rule, Self::with_cache);
        if row.deny { rule.deny() } else { rule }
    }
}

impl From<Reader> for Role {
    fn from(row: Reader) -> Self {
        match row {
            Reader::User => Self::User,
            Reader::Assistant => Self::Assistant,
        }
    }
}

impl From<Cache> for CachePolicy {
    fn from(row: Cache) -> Self {
        match row {
            Cache::Server => Self::Server,
            Cache::Never => Self::Never,
            Cache::Seconds(seconds) => Self::For(Duration::from_secs(seconds)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn faults_are_named_with_their_place() {
        for (text, expected) in [
            ("{", "EOF while parsing"),
            ("{}", "missing field `version`"),
            (r#"{"version": 2}"#, "`version` is 2; 1 is read"),
            (r#"{"version": 1, "rule": []}"#, "unknown field `rule`"),
            (r#"{"version": 1, "classes": [{"name": " "}]}"#, "`classes[0]`: the name of a data class is empty"),
            (
                r#"{"version": 1, "classes": [{"name": "a"}, {"name": "a"}]}"#,
                "`classes[1]`: there is another data class `a`",
            ),
            (
                r#"{"version": 1, "classes": [{"name": "a", "onlyProviders": [""]}]}"#,
                "`classes[0]`: a provider is empty",
            ),
            (r#"{"version": 1, "rules": [{"deny": true}, 7]}"#, "`rules[1]`: invalid type: integer `7`"),
            (r#"{"version": 1, "rules": [{"server": "a"}]}"#, "`rules[0]`: it decides nothing"),
            (r#"{"version": 1, "rules": [{"deny": true, "deny": false}]}"#, "`rules[0]`: duplicate field `deny`"),
            (r#"{"version": 1, "rules": [{"classes": ["b"]}]}"#, "`rules[0]`: there is no data class `b`"),
            (r#"{"version": 1, "rules": [{"audience": ["model"]}]}"#, "`rules[0]`: unknown variant `model`"),
            (r#"{"version": 1, "rules": [{"cache": {"seconds": -1}}]}"#, "`rules[0]`: invalid value: integer `-1`"),
            (
                r#"{"version": 1, "rules": [{"uri": "file:///a/%2e%2e/b", "deny": true}]}"#,
                "`rules[0]`: the pattern of URIs has `.` or `..` as a segment",
            ),
        ] {
            let error = Governance::parse(text).unwrap_err().to_string();
            assert!(error.starts_with(&format!("invalid governance: {expected}")), "{error}");
        }
        let many = vec![json!({"deny": true}); Governance::MAX_RULES + 1];
        let error = Governance::parse(&json!({"version": 1, "rules": many}).to_string()).unwrap_err().to_string();
        assert_eq!(error, "invalid governance: `rules[1024]`: it is one rule too many: at most 1024 are taken");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[\\[\\]{}\":,a-z0-9]{0,60}") {
            _ = Governance::parse(&text);
        }
    }
}
