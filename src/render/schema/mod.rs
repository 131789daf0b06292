//! Repair of input schemas: a list of small rules for each provider, applied to a copy.
//!
//! A rule changes the schema where the provider would refuse it, says what the model is no longer
//! told by it, and fails only where nothing sensible is left. A new provider is a new list.
//!
//! What cannot be said in keywords is said in words where that is short: it goes into the description,
//! and is no loss. Whatever a rule puts in is allowed by the original, which arguments are validated against.

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
use self::{losses::Losses, plain::Dialect};
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

/// One repair. Adds a sentence for each thing that is lost; the error is why the tool cannot be rendered.
type Rule = fn(&mut Object, &mut Losses) -> Result<(), String>;

/// Anthropic: JSON Schema 2020-12 by its meta-schema, an object at the root without composition, and
/// property names of one form. It refuses the whole request otherwise.
pub(super) const PLAIN_ROOT: &Rules = &Rules {
    dialect: Some(Dialect::Anthropic),
    list: &[
        root::drop_dialect,
        drafts::modern,
        shape::well_formed,
        references::resolvable,
        root::inline_reference,
        root::fold_composition,
        root::drop_conditions,
        root::object,
        names::safe,
    ],
};

/// OpenAI without strict mode: the same root, arrays that say their items, and no look-around in patterns.
pub(super) const OPENAI: &Rules = &Rules {
    dialect: Some(Dialect::OpenAi),
    list: &[
        root::drop_dialect,
        drafts::modern,
        shape::well_formed,
        references::resolvable,
        shape::no_booleans,
        arrays::tuples,
        arrays::items,
        keywords::no_lookaround,
        root::inline_reference,
        root::fold_composition,
        root::drop_conditions,
        root::object,
    ],
};

/// Gemini's `parameters`: the part of OpenAPI 3.0 that the Developer API and Vertex AI both take. A root
/// without properties comes out as [`NO_PARAMETERS`], for which the key is to be left out.
pub(super) const GEMINI: &Rules = &Rules {
    dialect: Some(Dialect::Gemini),
    list: &[
        root::drop_dialect,
        drafts::modern,
        shape::well_formed,
        root::inline_reference,
        references::inline,
        shape::no_booleans,
        root::fold_composition,
        root::drop_conditions,
        root::object,
        combine::all_of,
        unions::one_of,
        arrays::tuples,
        arrays::items,
        objects::required,
        types::one_each,
        unions::any_of,
        types::no_null,
        objects::some_property,
        keywords::gemini,
        objects::bare_root,
    ],
};

/// What [`GEMINI`] makes of a schema without properties.
pub(super) const NO_PARAMETERS: &str = r#"{"type":"object"}"#;

/// Amazon Bedrock's Converse, whose models differ: what Claude refuses, references inlined and the three
/// keys at the root that Amazon Nova reads.
pub(super) const BEDROCK: &Rules = &Rules {
    dialect: Some(Dialect::Bedrock),
    list: &[
        root::drop_dialect,
        drafts::modern,
        shape::well_formed,
        root::inline_reference,
        references::inline,
        root::fold_composition,
        root::drop_conditions,
        root::object,
        names::safe,
        root::three_keys,
    ],
};

/// OpenAI's strict mode: see [`strict::openai`].
pub(super) const OPENAI_STRICT: &Rules = &Rules {
    dialect: None,
    list: &[
        root::drop_dialect,
        drafts::modern,
        shape::well_formed,
        root::inline_reference,
        strict::no_circles,
        shape::no_booleans,
        keywords::no_lookaround,
        root::fold_composition,
        root::drop_conditions,
        root::object,
        combine::all_of,
        unions::one_of,
        strict::closed_tuples,
        arrays::tuples,
        objects::required,
        strict::openai,
    ],
};

/// Anthropic's strict mode: see [`strict::anthropic`].
pub(super) const ANTHROPIC_STRICT: &Rules = &Rules {
    dialect: None,
    list: &[
        root::drop_dialect,
        drafts::modern,
        shape::well_formed,
        root::inline_reference,
        strict::no_circles,
        shape::no_booleans,
        root::fold_composition,
        root::drop_conditions,
        root::object,
        combine::all_of,
        unions::one_of,
        strict::closed_tuples,
        arrays::tuples,
        objects::required,
        strict::anthropic,
        names::safe,
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
    let mut losses = Losses::default();
    for rule in rules.list {
        rule(&mut repaired, &mut losses)?;
    }
    let schema = Schema::from(repaired);
    within_bytes(&schema)?;
    if schema.depth() > json::MAX_DEPTH {
        return Err(format!("its schema without references is nested deeper than {}", json::MAX_DEPTH));
    }
    Ok(Repaired { schema, losses: losses.into_sentences() })
}

fn within_bytes(schema: &Schema) -> Result<(), String> {
    let fits = schema.as_str().len() <= MAX_BYTES;
    fits.then_some(()).ok_or_else(|| format!("its schema is larger than {MAX_BYTES} bytes"))
}

#[cfg(test)]
mod tests;
