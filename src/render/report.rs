use std::fmt;

use crate::id::ToolId;

/// What rendering changed or left out. Empty if everything went in as it was.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct RenderReport {
    /// Tools whose schema says less than the original, in the order of the request.
    pub repaired: Vec<RepairedTool>,
    /// Tools that are not in the request, in the order in which they would stand.
    pub quarantined: Vec<QuarantinedTool>,
    /// Everything else, one sentence each.
    pub notes: Vec<String>,
}

impl RenderReport {
    /// Whether everything went in as it was.
    pub fn is_empty(&self) -> bool {
        self.repaired.is_empty() && self.quarantined.is_empty() && self.notes.is_empty()
    }

    /// Adds what another says.
    pub(super) fn append(&mut self, other: Self) {
        self.repaired.extend(other.repaired);
        self.quarantined.extend(other.quarantined);
        self.notes.extend(other.notes);
    }
}

impl fmt::Display for RenderReport {
    /// One line for each tool and note.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for RepairedTool { tool, losses, .. } in &self.repaired {
            writeln!(f, "{tool}: {}", losses.join("; "))?;
        }
        for QuarantinedTool { tool, reason, .. } in &self.quarantined {
            writeln!(f, "{tool}: left out: {reason}")?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

/// A tool whose schema had to change for this provider.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct RepairedTool {
    /// The tool.
    pub tool: ToolId,
    /// The name that it has in the request.
    pub exposed: String,
    /// What the model is no longer told, one sentence each. Arguments are still to be validated
    /// against the original schema.
    pub losses: Vec<String>,
}

/// A tool that this provider cannot be given.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct QuarantinedTool {
    /// The tool.
    pub tool: ToolId,
    /// The name that it would have had.
    pub exposed: String,
    /// Why.
    pub reason: String,
}
