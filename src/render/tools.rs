use std::collections::BTreeSet;

use super::{
    layout::ToolSpec,
    memo::Memo,
    report::{QuarantinedTool, RenderReport, RepairedTool},
    schema,
    strict::{StrictRules, strict},
};
use crate::{catalog::ExposedName, protocol::Schema};

/// What one provider asks of tools.
#[derive(Debug)]
pub(super) struct ToolRules {
    /// The provider's name, for reasons.
    pub(super) provider: &'static str,
    /// The most tools in one request.
    pub(super) max_tools: Option<usize>,
    /// What is done to a schema, in this order.
    pub(super) schema: &'static schema::Rules,
    /// What its strict mode asks, if that is asked for.
    pub(super) strict: Option<StrictRules>,
}

/// A tool that goes into the request.
#[derive(Debug)]
pub(super) struct ReadyTool<'a> {
    pub(super) spec: &'a ToolSpec,
    /// The repaired schema.
    pub(super) schema: Schema,
    /// Whether the provider shall hold the model to it.
    pub(super) is_strict: bool,
}

impl<'a> ReadyTool<'a> {
    /// The description, unless it is blank: no provider needs one that says nothing.
    pub(super) fn description(&self) -> Option<&'a str> {
        self.spec.description.as_deref().filter(|text| !text.trim().is_empty())
    }

    /// The repaired schema, unless the tool takes no arguments: for Gemini, which refuses an object
    /// without properties.
    pub(super) fn parameters(&self) -> Option<&str> {
        Some(self.schema.as_str()).filter(|schema| *schema != schema::NO_PARAMETERS)
    }
}

/// The tools of the array, in its order; the report says what became of the others.
pub(super) fn ready<'a>(
    tools: &'a [ToolSpec],
    rules: &'static ToolRules,
    memo: Option<&Memo>,
    report: &mut RenderReport,
) -> Vec<ReadyTool<'a>> {
    let (ready, of_tools) = match memo {
        Some(memo) => memo.ready(tools, rules, || make(tools, rules)),
        None => make(tools, rules),
    };
    report.append(of_tools);
    ready
}

fn make<'a>(tools: &'a [ToolSpec], rules: &ToolRules) -> (Vec<ReadyTool<'a>>, RenderReport) {
    let mut report = RenderReport::default();
    let mut candidates: Vec<_> =
        tools.iter().map(|spec| (spec, schema::repair(&spec.input_schema, rules.schema))).collect();
    // The schema decides only between tools that are the same in all else.
    let key = |spec: &'a ToolSpec| (spec.generation, spec.kind, &spec.tool, &spec.exposed, &spec.description);
    candidates.sort_by(|(a, schema_a), (b, schema_b)| key(a).cmp(&key(b)).then_with(|| schema_a.cmp(schema_b)));

    let mut ready = Vec::with_capacity(candidates.len());
    let mut names = BTreeSet::new();
    for (spec, repaired) in candidates {
        let place = if names.contains(spec.exposed.as_str()) {
            Err(NAME_IS_TAKEN.into())
        } else if let Some(max) = rules.max_tools.filter(|max| ready.len() >= *max) {
            Err(format!("{} takes at most {max} tools", rules.provider))
        } else {
            Ok(())
        };
        if let Some(tool) = admit(spec, repaired, place, &mut report) {
            names.insert(spec.exposed.as_str());
            ready.push(tool);
        }
    }
    if let Some(rules) = &rules.strict {
        strict(&mut ready, rules, &mut report);
    }
    (ready, report)
}

pub(super) const NAME_IS_TAKEN: &str = "another tool of this request has the same name";

/// The tool, if its schema, its name and its `place` in the request are good; reports what it lost,
/// or why it is left out.
pub(super) fn admit<'a>(
    spec: &'a ToolSpec,
    repaired: Result<schema::Repaired, String>,
    place: Result<(), String>,
    report: &mut RenderReport,
) -> Option<ReadyTool<'a>> {
    let (tool, exposed) = (spec.tool.clone(), spec.exposed.clone());
    let named = || if is_name(&exposed) { Ok(()) } else { Err(NAME_IS_OF_ANOTHER_FORM.to_string()) };
    match repaired.and_then(|repaired| named().and(place).map(|()| repaired)) {
        Ok(schema::Repaired { schema, losses }) => {
            if !losses.is_empty() {
                report.repaired.push(RepairedTool { tool, exposed, losses });
            }
            Some(ReadyTool { spec, schema, is_strict: false })
        }
        Err(reason) => {
            report.quarantined.push(QuarantinedTool { tool, exposed, reason });
            None
        }
    }
}

const NAME_IS_OF_ANOTHER_FORM: &str = "its name is not of the form [a-zA-Z_][a-zA-Z0-9_-]{0,62}";

/// The form that every provider accepts, see [`ExposedName`].
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= ExposedName::MAX_CHARS
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}
