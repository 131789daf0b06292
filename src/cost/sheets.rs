use std::{fs, path::Path, sync::LazyLock};

use serde_json::Value;

use super::price_sheet::{Kept, PriceSheet, Prices};
use crate::{Error, Result};

/// The files that ship, in the order in which their sheets are listed.
const FILES: [&str; 4] = [
    include_str!("../../assets/prices/anthropic.json"),
    include_str!("../../assets/prices/openai.json"),
    include_str!("../../assets/prices/gemini.json"),
    include_str!("../../assets/prices/bedrock.json"),
];

// That every file can be read is a test's business; a file that cannot would only be missing here.
static SHEETS: LazyLock<Vec<PriceSheet>> =
    LazyLock::new(|| FILES.iter().flat_map(|text| PriceSheet::read(text).unwrap_or_default()).collect());

impl PriceSheet {
    /// Every sheet that ships, by provider, the newest models first.
    pub fn all() -> &'static [Self] {
        &SHEETS
    }

    /// The first of a provider's sheets that ship, by the name of its [renderer](crate::render::Provider::name)
    /// such as `openai-chat`: for comparisons where no model is named. `None` for a provider without one.
    pub fn first_of(provider: &str) -> Option<&'static Self> {
        Self::all().iter().find(|sheet| provider.starts_with(sheet.provider.as_str()))
    }

    /// The sheet that ships under a [name](Self::name), such as `anthropic/claude-sonnet-4-6`.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) with the names that there are, if it is none of them.
    pub fn named(name: &str) -> Result<&'static Self> {
        Self::all().iter().find(|sheet| sheet.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::all().iter().map(Self::name).collect();
            Error::invalid(
                "price sheet",
                format!(
                    "none that ships is called `{}`; there are {}",
                    name.chars().take(80).collect::<String>(),
                    names.join(", ")
                ),
            )
        })
    }

    /// Reads sheets from JSON: one, or a list of them. Strict: a field that is not known is an
    /// error, since a price that is misspelled would be no price.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) with the sheet and the field that is wrong.
    pub fn read(json: &str) -> Result<Vec<Self>> {
        let value: Value =
            serde_json::from_str(json).map_err(|error| Error::invalid("price sheets", error.to_string()))?;
        let values = match value {
            Value::Array(values) => values,
            one => vec![one],
        };
        let mut sheets = Vec::<Self>::new();
        for (i, value) in values.into_iter().enumerate() {
            let named =
                ["provider", "model"].map(|key| value.get(key).and_then(Value::as_str).unwrap_or("?").to_owned());
            let what = format!("price sheet {} ({})", i + 1, named.join("/"));
            let sheet: Self =
                serde_json::from_value(value).map_err(|error| Error::invalid(&what, error.to_string()))?;
            let fault = sheet.fault().or_else(|| {
                sheets.iter().any(|other| other.name() == sheet.name()).then(|| "it stands there twice".to_owned())
            });
            if let Some(fault) = fault {
                return Err(Error::invalid(what, fault));
            }
            sheets.push(sheet);
        }
        Ok(sheets)
    }

    /// Reads sheets from a file, as [`read`](Self::read) does.
    ///
    /// # Errors
    /// [`Error::File`](crate::Error::File) if it cannot be read or does not hold price sheets.
    pub fn open(path: impl AsRef<Path>) -> Result<Vec<Self>> {
        let path = path.as_ref();
        let file = |reason: String, source| Error::File { path: path.to_owned(), reason, source };
        let text = fs::read_to_string(path).map_err(|error| file(error.to_string(), Some(error.into())))?;
        Self::read(&text).map_err(|error| file(error.to_string(), None))
    }

    /// What is wrong with it, if something is.
    fn fault(&self) -> Option<String> {
        let rules = &self.cache;
        let long = self.long_prompts.iter().flat_map(|long| priced("long_prompts.prices", &long.prices));
        if let Some((field, price)) =
            priced("prices", &self.prices).chain(long).find(|(_, price)| !(0.0..=1e6).contains(price))
        {
            return Some(format!("`{field}` is {price}: it must be dollars for a million tokens, 0 to 1,000,000"));
        }
        let faults = [
            (self.provider.is_empty() || self.provider.contains('/'), "`provider` must be a name without `/`"),
            (self.model.is_empty(), "`model` must name a model"),
            (self.as_of.parse::<jiff::civil::Date>().is_err(), "`as_of` must be a day such as 2026-10-24"),
            (self.sources.is_empty(), "`sources` must say where the figures are from"),
            (rules.step == 0, "`cache.step` must be at least 1"),
            (rules.look_back == Some(0), "`cache.look_back` counts the marked block: it must be at least 1"),
            (rules.ttl_seconds == 0, "`cache.ttl_seconds` must be at least 1"),
            (
                rules.long_ttl_seconds.is_some_and(|long| long <= rules.ttl_seconds),
                "`cache.long_ttl_seconds` must be more than `cache.ttl_seconds`",
            ),
            (
                rules.maximum.is_some_and(|maximum| maximum < rules.minimum),
                "`cache.maximum` must not be less than `cache.minimum`",
            ),
            (
                rules.kept != Kept::All && rules.breakpoints == 0,
                "`cache.breakpoints` must be at least 1 where marks say what is kept",
            ),
        ];
        faults.into_iter().find(|(wrong, _)| *wrong).map(|(_, fault)| fault.to_owned())
    }
}

/// The prices with the names of their fields.
fn priced(of: &'static str, prices: &Prices) -> impl Iterator<Item = (String, f64)> {
    [
        ("input", Some(prices.input)),
        ("read", Some(prices.read)),
        ("write", prices.write),
        ("write_long", prices.write_long),
        ("output", Some(prices.output)),
    ]
    .into_iter()
    .filter_map(move |(name, price)| price.map(|price| (format!("{of}.{name}"), price)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sheet() -> Value {
        json!({
            "provider": "own", "model": "m", "as_of": "2026-10-24", "sources": ["a bill"],
            "prices": {"input": 1, "read": 0.1, "output": 4},
            "cache": {"minimum": 1024, "kept": "all", "ttl_seconds": 300, "refreshed": true},
        })
    }

    #[test]
    fn every_file_that_ships_is_read() {
        for text in FILES {
            assert!(!PriceSheet::read(text).unwrap().is_empty());
        }
        let mut names: Vec<_> = PriceSheet::all().iter().map(PriceSheet::name).collect();
        let shipped = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), shipped);
        for sheet in PriceSheet::all() {
            assert!(sheet.prices.read <= sheet.prices.input / 4.0 + 1e-9, "{}", sheet.name());
            assert!(sheet.prices.write.is_none_or(|write| write >= sheet.prices.input), "{}", sheet.name());
            assert!(sheet.sources.iter().all(|source| source.starts_with("https://")), "{}", sheet.name());
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let text = serde_json::to_string(PriceSheet::all()).unwrap();
        assert_eq!(PriceSheet::read(&text).unwrap(), PriceSheet::all());
        let one = PriceSheet::read(&sheet().to_string()).unwrap();
        assert_eq!((one.len(), one[0].cache.step, one[0].cache.look_back), (1, 1, None));
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let message = PriceSheet::named("anthropic/claude-1").unwrap_err().to_string();
        assert!(message.starts_with("invalid price sheet: none that ships is called `anthropic/claude-1`; there are "));
        assert!(message.contains("openai/gpt-5.4") && message.contains("bedrock/amazon.nova-pro"), "{message}");
    }

    #[test]
    fn errors_name_the_sheet_and_the_field() {
        let change = |pointer: &str, to: Value| {
            let mut sheet = sheet();
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            sheet.pointer_mut(parent).unwrap()[key] = to;
            PriceSheet::read(&json!([sheet]).to_string()).unwrap_err().to_string()
        };
        for (pointer, to, expected) in [
            ("/prices/input", json!(-1), "`prices.input` is -1"),
            ("/prices/writes", json!(2), "unknown field `writes`"),
            ("/prices/output", Value::Null, "invalid type: null"),
            ("/as_of", json!("October"), "`as_of` must be a day"),
            ("/sources", json!([]), "`sources` must say"),
            ("/provider", json!("a/b"), "`provider` must be"),
            ("/cache/step", json!(0), "`cache.step`"),
            ("/cache/kept", json!("marked"), "`cache.breakpoints`"),
            ("/cache/kept", json!("some"), "unknown variant `some`"),
            ("/cache/look_back", json!(0), "`cache.look_back`"),
            ("/cache/maximum", json!(10), "`cache.maximum`"),
            ("/cache/long_ttl_seconds", json!(300), "`cache.long_ttl_seconds`"),
            (
                "/long_prompts",
                json!({"above": 1, "prices": {"input": 1, "read": 2e9, "output": 1}}),
                "`long_prompts.prices.read`",
            ),
        ] {
            let message = change(pointer, to);
            assert!(
                message.starts_with("invalid price sheet 1 (") && message.contains(expected),
                "{pointer}: {message}"
            );
        }
        let twice = PriceSheet::read(&json!([sheet(), sheet()]).to_string()).unwrap_err().to_string();
        assert_eq!(twice, "invalid price sheet 2 (own/m): it stands there twice");
        assert!(PriceSheet::read("[").unwrap_err().to_string().starts_with("invalid price sheets: "));
    }
}
