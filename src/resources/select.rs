use super::{
    exclusion::ExcludedResource,
    governance::{Decision, Governance},
    options::ResourceOptions,
    plan::Planner,
    relevance::Relevance,
    value::ResourceValue,
};
use crate::{catalog::Catalog, id::ResourceId, tokens::TokenBudget};

/// The resources that are to be read, and those that are not, before anything is read.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ResourceSelection {
    /// Pinned ones in the order given, then required ones, then by value.
    pub resources: Vec<SelectedResource>,
    /// The rest, by server and URI; nothing if there is no budget and nothing was picked.
    pub excluded: Vec<ExcludedResource>,
    /// What the selected ones are estimated to cost; never above the budget.
    pub estimated_tokens: usize,
    /// Of the excluded ones the best that do not fit by the estimates, and may fit after all if the
    /// selected ones cost less: best first, at most four times [`ResourceOptions::top`].
    pub reserve: Vec<SelectedResource>,
}

/// A resource that is to be read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SelectedResource {
    /// The resource.
    pub id: ResourceId,
    /// What a person should read: title, else name, else the URI.
    pub label: String,
    /// The MIME type that its server lists.
    pub mime_type: Option<String>,
    /// What it is estimated to cost, delimiters included; what a longer text is to be trimmed to.
    pub estimated_tokens: usize,
    /// Its server gives a size; else the estimate is a guess.
    pub sized: bool,
    /// What it is worth.
    pub value: ResourceValue,
    /// What the host's rules say.
    pub decision: Decision,
    /// A person or the host picked it.
    pub pinned: bool,
}

impl SelectedResource {
    /// Why it is attached, in words.
    pub fn reason(&self) -> String {
        let ResourceValue { required, relevance, priority, recency } = self.value;
        match relevance {
            _ if self.pinned => "picked".to_owned(),
            _ if required => "required (priority 1)".to_owned(),
            Some(relevance) => format!("relevance {relevance:.2}, priority {priority:.2}, recency {recency:.2}"),
            None => format!("priority {priority:.2}, recency {recency:.2}"),
        }
    }
}

/// Selects what is to be read, on estimates: pinned ones, then required ones, then those whose
/// value together is the greatest that the budgets allow, less 5 % at most.
///
/// `relevance` is how much the resources have to do with the request; `None` where nothing was asked.
pub fn select(
    catalog: &Catalog,
    governance: &Governance,
    relevance: Option<&Relevance>,
    request: &str,
    options: &ResourceOptions,
) -> ResourceSelection {
    // What every turn asks for unless its host attaches.
    if options.budget == TokenBudget::ZERO && options.pins.is_empty() {
        return ResourceSelection::default();
    }
    let mut planner = Planner::new(catalog, governance, options);
    let candidates = planner.candidates(relevance);
    planner.pinned(&candidates);
    planner.required(&candidates);
    planner.outdated(&candidates, request);
    planner.others(&candidates);
    planner.finish()
}
