//! Repair of input schemas: a list of small rules for each provider, applied to a copy.
//!
//! A rule changes the schema where the provider would refuse it, says what the model is no longer
//! told by it, and fails only where nothing sensible is left. A new provider is a new list.
//!
//! What cannot be said in keywords is said in words where that is short: it goes into the description,
//! and is no loss. What a rule puts in is allowed by the original, which arguments are validated against: the
//! one exception is a property of an object that takes none, for Gemini, which is told to be left out.

mod arguments;
mod arrays;
mod combine;
mod drafts;
mod keywords;
mod losses;
mod names;
mod objects;
mod patterns;
mod plain;
mod references;
mod root;
mod shape;
mod strict;
mod types;
mod unions;
mod walk;

use serde_json::{Map, Value};

pub use self::arguments::original_arguments;
pub(super) use self::strict::Freedom;
use self::{
    losses::{Losses, Told},
    plain::Dialect,
};
use crate::{json, protocol::Schema};

type Object = Map<String, Value>;

/// What is done to schemas for one provider.
#[derive(Debug)]
pub(super) struct Rules {
    /// Whose schemas can be told to be plain without a tree.
    dialect: Option<Dialect>,
    /// In the order in which they are applied.
    list: &'static [Rule],
}

/// One repair, for all schemas whose text holds one of these. A rule that always applies names none.
#[derive(Debug)]
struct Rule {
    texts: &'static [&'static str],
    repair: Repair,
}

/// Adds a sentence for each thing that is lost; the error is why the tool cannot be rendered.
type Repair = fn(&mut Object, &mut Losses<'_>) -> Result<(), String>;

const fn always(repair: Repair) -> Rule {
    Rule { texts: &[], repair }
}

const fn on(texts: &'static [&'static str], repair: Repair) -> Rule {
    Rule { texts, repair }
}

const DIALECT: Rule = on(&["\"$schema\""], root::drop_dialect);
const MODERN: Rule = on(
    &[
        "\"additionalItems\"",
        "\"dependencies\"",
        "\"exclusiveM",
        "\"items\":[",
        "\"nullable\"",
        "\"required\":false",
        "\"required\":true",
    ],
    drafts::modern,
);
const RESOLVABLE: Rule = on(&["\"$ref\""], references::resolvable);
const INLINE: Rule = on(&["\"$defs\"", "\"$recursiveRef\"", "\"$ref\"", "\"definitions\""], references::inline);
const NO_BOOLEANS: Rule = on(&["true", "false"], shape::no_booleans);
const NO_LOOKAROUND: Rule = on(&["(?"], keywords::no_lookaround);
const ALL_OF: Rule = on(&["\"$ref\"", "\"$recursiveRef\"", "\"allOf\""], combine::all_of);
const ONE_OF: Rule = on(&["\"oneOf\""], unions::one_of);
const TUPLES: Rule = on(&["\"items\":[", "\"items\":false", "\"prefixItems\"", "\"additionalItems\""], arrays::tuples);
const ITEMS: Rule = on(&["\"array\""], arrays::items);
const NO_NULL: Rule = on(&["null"], types::no_null);

/// Anthropic: JSON Schema 2020-12 by its meta-schema, an object at the root without composition, and
/// property names of one form. It refuses the whole request otherwise.
pub(super) const PLAIN_ROOT: &Rules = &Rules {
    dialect: Some(Dialect::Anthropic),
    list: &[
        DIALECT,
        MODERN,
        always(shape::well_formed),
        RESOLVABLE,
        always(root::inline_reference),
        always(root::fold_composition),
        always(root::drop_conditions),
        always(root::object),
        always(names::safe),
    ],
};

/// OpenAI without strict mode: the same root, arrays that say their items, and no look-around in patterns.
pub(super) const OPENAI: &Rules = &Rules {
    dialect: Some(Dialect::OpenAi),
    list: &[
        DIALECT,
        MODERN,
        always(shape::well_formed),
        RESOLVABLE,
        NO_BOOLEANS,
        TUPLES,
        ITEMS,
        NO_LOOKAROUND,
        always(root::inline_reference),
        always(root::fold_composition),
        always(root::drop_conditions),
        always(root::object),
    ],
};

/// Gemini's `parameters`: the part of OpenAPI 3.0 that the Developer API and Vertex AI both take. A root
/// without properties comes out as [`NO_PARAMETERS`], for which the key is to be left out.
pub(super) const GEMINI: &Rules = &Rules {
    dialect: Some(Dialect::Gemini),
    list: &[
        DIALECT,
        MODERN,
        always(shape::well_formed),
        always(root::inline_reference),
        INLINE,
        NO_BOOLEANS,
        always(root::fold_composition),
        always(root::drop_conditions),
        always(root::object),
        ALL_OF,
        ONE_OF,
        TUPLES,
        ITEMS,
        always(objects::required),
        always(types::one_each),
        always(unions::any_of),
        NO_NULL,
        always(objects::some_property),
        always(keywords::gemini),
        always(objects::bare_root),
    ],
};

/// What [`GEMINI`] makes of a schema without properties.
pub(super) const NO_PARAMETERS: &str = r#"{"type":"object"}"#;

/// Amazon Bedrock's Converse, whose models differ: what Claude refuses, references inlined and the three
/// keys at the root that Amazon Nova reads.
pub(super) const BEDROCK: &Rules = &Rules {
    dialect: Some(Dialect::Bedrock),
    list: &[
        DIALECT,
        MODERN,
        always(shape::well_formed),
        always(root::inline_reference),
        INLINE,
        always(root::fold_composition),
        always(root::drop_conditions),
        always(root::object),
        always(names::safe),
        always(root::three_keys),
    ],
};

/// OpenAI's strict mode: see [`strict::openai`].
pub(super) const OPENAI_STRICT: &Rules = &Rules {
    dialect: None,
    list: &[
        DIALECT,
        MODERN,
        always(shape::well_formed),
        always(root::inline_reference),
        always(strict::no_circles),
        NO_BOOLEANS,
        NO_LOOKAROUND,
        always(root::fold_composition),
        always(root::drop_conditions),
        always(root::object),
        ALL_OF,
        ONE_OF,
        always(strict::closed_tuples),
        TUPLES,
        always(objects::required),
        always(strict::openai),
    ],
};

/// Anthropic's strict mode: see [`strict::anthropic`].
pub(super) const ANTHROPIC_STRICT: &Rules = &Rules {
    dialect: None,
    list: &[
        DIALECT,
        MODERN,
        always(shape::well_formed),
        always(root::inline_reference),
        always(strict::no_circles),
        NO_BOOLEANS,
        always(root::fold_composition),
        always(root::drop_conditions),
        always(root::object),
        ALL_OF,
        ONE_OF,
        always(strict::closed_tuples),
        TUPLES,
        always(objects::required),
        always(strict::anthropic),
        always(names::safe),
    ],
};

/// The largest schema, in bytes of canonical JSON: some 60,000 tokens, which no one tool is worth.
const MAX_BYTES: usize = 256 * 1024;

/// A schema as one provider takes it.
#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Repaired {
    pub(super) schema: Schema,
    /// What the model is no longer told, one sentence each.
    pub(super) losses: Vec<String>,
}

/// Applies `rules` to a copy of `schema`. The error is why the tool cannot be rendered.
pub(super) fn repair(schema: &Schema, rules: &Rules) -> Result<Repaired, String> {
    if let Some(schema) = rules.dialect.and_then(|dialect| dialect.plain(schema)) {
        within_bytes(&schema)?;
        return Ok(Repaired { schema, losses: Vec::new() });
    }
    // First of all: everything after it may recurse.
    if schema.depth() > json::MAX_DEPTH {
        return Err(format!("its schema is nested deeper than {}", json::MAX_DEPTH));
    }
    within_bytes(schema)?;
    let mut repaired = schema.to_map();
    let mut told = Told::default();
    for rule in rules.list {
        if rule.texts.is_empty() || rule.texts.iter().any(|text| schema.as_str().contains(text)) {
            (rule.repair)(&mut repaired, &mut told.root())?;
        }
    }
    let schema = Schema::from(repaired);
    within_bytes(&schema)?;
    if schema.depth() > json::MAX_DEPTH {
        return Err(format!("its schema without references is nested deeper than {}", json::MAX_DEPTH));
    }
    Ok(Repaired { schema, losses: told.into_sentences() })
}

fn within_bytes(schema: &Schema) -> Result<(), String> {
    let fits = schema.as_str().len() <= MAX_BYTES;
    fits.then_some(()).ok_or_else(|| format!("its schema is larger than {MAX_BYTES} bytes"))
}

#[cfg(test)]
mod tests;
