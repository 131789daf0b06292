use super::{
    report::{RenderReport, RepairedTool},
    schema::{self, Freedom},
    tools::ReadyTool,
};

/// What one provider's strict mode asks of tools.
#[derive(Debug)]
pub(super) struct StrictRules {
    /// What is done to a schema, in this order; the error is why it cannot be strict.
    pub(super) schema: &'static schema::Rules,
    /// The most strict tools in one request.
    pub(super) max_tools: Option<usize>,
    /// The most that their schemas together may leave open.
    pub(super) max_freedom: Option<Freedom>,
}

/// Makes the tools strict that can be, in the order of the request; the report says why another is not. What
/// joins later never changes what stands before it.
pub(super) fn strict(tools: &mut [ReadyTool<'_>], rules: &StrictRules, report: &mut RenderReport) {
    let mut count = 0;
    let mut freedom = Freedom::default();
    for tool in tools {
        match within(tool, rules, count, freedom) {
            Ok((repaired, sum)) => {
                count += 1;
                freedom = sum;
                replace_losses(tool, repaired.losses, report);
                tool.schema = repaired.schema;
                tool.is_strict = true;
            }
            Err(reason) => report.notes.push(format!("{} is not strict: {reason}", tool.spec.tool)),
        }
    }
}

/// The strict schema, if there is one and it fits beside those before it.
fn within(
    tool: &ReadyTool<'_>,
    rules: &StrictRules,
    count: usize,
    before: Freedom,
) -> Result<(schema::Repaired, Freedom), String> {
    if let Some(max) = rules.max_tools.filter(|max| count >= *max) {
        return Err(format!("at most {max} tools may be"));
    }
    let repaired = schema::repair(&tool.spec.input_schema, rules.schema)?;
    let own = Freedom::of(&repaired.schema);
    let sum = Freedom { optional: before.optional + own.optional, unions: before.unions + own.unions };
    match rules.max_freedom {
        Some(max) if sum.optional > max.optional => {
            Err(format!("strict tools together may leave out at most {} properties", max.optional))
        }
        Some(max) if sum.unions > max.unions => {
            Err(format!("strict tools together may hold at most {} unions", max.unions))
        }
        _ => Ok((repaired, sum)),
    }
}

/// A tool is reported by the schema that it has in the end.
fn replace_losses(tool: &ReadyTool<'_>, losses: Vec<String>, report: &mut RenderReport) {
    let (id, exposed) = (&tool.spec.tool, &tool.spec.exposed);
    let at = report.repaired.iter().position(|repaired| repaired.exposed == *exposed && repaired.tool == *id);
    match at.and_then(|at| report.repaired.get_mut(at).map(|repaired| (at, repaired))) {
        Some((at, _)) if losses.is_empty() => _ = report.repaired.remove(at),
        Some((_, repaired)) => repaired.losses = losses,
        None if losses.is_empty() => {}
        None => report.repaired.push(RepairedTool { tool: id.clone(), exposed: exposed.clone(), losses }),
    }
}
