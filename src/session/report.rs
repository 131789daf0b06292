use std::{collections::BTreeMap, fmt, time::Instant};

use serde::Serialize;

use super::{
    context::Context,
    delivered::Delivered,
    delivery::Delivery,
    resource_report::{ExcludedResourceReport, InstructionsReport, ResourceReport, ResourcesReport},
};
use crate::{
    evidence::Finding,
    id::{ServerId, ToolId},
    json::Digest,
    render::{Provider, Request},
    retrieval::Origin,
    selection::{Form, catalog_tokens},
    tokens::TokenBudget,
};

/// What a turn decided, why, and what it costs. Its JSON paths are stable.
///
/// [`Display`](fmt::Display) gives a summary of three lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// What was asked for.
    pub query: String,
    /// What did not work as it should, and what was done instead: hooks that failed, conditions of a
    /// narrowing that would have left too little.
    pub notes: Vec<String>,
    /// What all servers offer.
    pub catalog: CatalogReport,
    /// Which tools the model has, those of earlier turns included.
    pub delivery: DeliveryReport,
    /// The tools that this turn needs, and those that do not fit.
    pub selection: SelectionReport,
    /// What servers say of themselves, given to the model or not.
    pub instructions: Vec<InstructionsReport>,
    /// The resources that are attached.
    pub resources: Vec<ResourceReport>,
    /// The resources that are not, and why.
    pub resources_excluded: Vec<ExcludedResourceReport>,
    /// What is saved.
    pub tokens: TokenReport,
    /// What the provider can cache.
    pub prefix: PrefixReport,
    /// Microseconds by part. The only thing here that differs from run to run.
    pub timings_us: BTreeMap<&'static str, u64>,
}

/// What all servers offer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CatalogReport {
    /// [`Catalog::digest`](crate::catalog::Catalog::digest).
    pub digest: Digest,
    /// How many servers, failed ones included.
    pub servers: usize,
    /// How many tools.
    pub tools: usize,
    /// How many resources.
    pub resources: usize,
    /// How many prompts.
    pub prompts: usize,
    /// What all definitions cost together.
    pub tool_tokens: usize,
    /// The servers that failed.
    pub failures: Vec<FailureReport>,
    /// What was wrong with what the servers sent.
    pub findings: Vec<Finding>,
}

/// A server that failed.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FailureReport {
    /// Which.
    pub server: ServerId,
    /// Why, with the server's name.
    pub error: String,
}

/// Which tools the model has.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DeliveryReport {
    /// How tools reach the model.
    pub policy: Delivery,
    /// Which turn of the conversation this is, from 1.
    pub turn: u32,
    /// How many tools the model can call.
    pub offered: usize,
    /// Those of them that are new in this turn, as `server/name`.
    pub joined: Vec<String>,
    /// Tools that the turn needs and the policy leaves out.
    pub withheld: Vec<String>,
    /// Tools that are listed otherwise than the model was told.
    pub changed: Vec<String>,
    /// Tools that the model was told of and must not call any more.
    pub gone: Vec<String>,
}

/// The tools that a turn needs, and those that do not fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SelectionReport {
    /// The tools that are offered.
    pub tools: Vec<ToolReport>,
    /// Ranked or filtered tools that are not.
    pub excluded: Vec<ExcludedReport>,
    /// What the offered definitions cost together.
    pub tokens: usize,
    /// How much of the query the best tool covers, 0 to 1.
    pub confidence: Option<f64>,
}

/// A tool that is offered.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ToolReport {
    /// Its server.
    pub server: String,
    /// What its server calls it.
    pub name: String,
    /// What the model calls it.
    pub exposed: String,
    /// What its definition costs as shown.
    pub tokens: usize,
    /// Its score in the ranking, to four places; 0 if it was not ranked.
    pub score: f64,
    /// Its place in the ranking; null if it was not ranked.
    pub rank: Option<usize>,
    /// How much of its definition is shown: `full`, `short_description`, `minimal_schema`, `name_only`.
    pub form: &'static str,
    /// Why it is offered.
    pub reason: String,
}

/// A tool that is not offered.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ExcludedReport {
    /// Its server.
    pub server: String,
    /// What its server calls it.
    pub name: String,
    /// Why not.
    pub reason: String,
}

/// What is saved.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TokenReport {
    /// What all definitions cost together.
    pub catalog: usize,
    /// What the offered ones cost together.
    pub selected: usize,
    /// 1 − selected / catalog, to four places; 0 for an empty catalog.
    pub saved_ratio: f64,
    /// What counted.
    pub counter: String,
    /// Whether the counts are estimates for this provider.
    pub estimated: bool,
}

/// What the provider can cache.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PrefixReport {
    /// Over everything before the messages.
    pub digest: Digest,
    /// Part by part, least volatile first.
    pub sections: Vec<SectionReport>,
}

/// One part of the request.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SectionReport {
    /// `tools`, `system`, `attachments` or `messages`.
    pub name: &'static str,
    /// Over its bytes.
    pub digest: Digest,
    /// Its bytes.
    pub bytes: usize,
    /// What it costs.
    pub tokens: usize,
}

impl Report {
    pub(super) fn new(context: &Context, provider: &dyn Provider) -> Self {
        let counts = context.counts();
        let started = Instant::now();
        let request = context.render(provider);
        let rendered = started.elapsed();
        let (catalog, selection) = (context.catalog(), context.selection());
        let tool_tokens = catalog_tokens(catalog, counts);
        let saved = if tool_tokens == 0 { 0.0 } else { 1.0 - selection.tokens as f64 / tool_tokens as f64 };
        let resources = ResourcesReport::new(context.attached(), TokenBudget::ZERO);
        let timings = context.timings();
        let parts = [
            ("index", timings.index),
            ("search", timings.search),
            ("select", timings.select),
            ("attach", timings.attach),
            ("layout", timings.layout),
            ("render", rendered),
            ("total", timings.total() + rendered),
        ];
        Self {
            query: context.query().text.clone(),
            notes: context.notes().to_vec(),
            catalog: CatalogReport {
                digest: catalog.digest(),
                servers: catalog.servers().len(),
                tools: catalog.tools().len(),
                resources: catalog.resources().len(),
                prompts: catalog.prompts().len(),
                tool_tokens,
                failures: catalog
                    .failures()
                    .map(|(server, error)| FailureReport { server: server.clone(), error: error.to_string() })
                    .collect(),
                findings: catalog.findings().to_vec(),
            },
            delivery: DeliveryReport::new(context.delivered()),
            selection: SelectionReport::new(context),
            instructions: InstructionsReport::of(context.instructions()),
            resources: resources.selected,
            resources_excluded: resources.excluded,
            tokens: TokenReport {
                catalog: tool_tokens,
                selected: selection.tokens,
                saved_ratio: rounded(saved),
                counter: counts.counter().name(),
                estimated: !counts.counter().exact_for(provider.name()),
            },
            prefix: PrefixReport::new(context, &request),
            timings_us: parts
                .into_iter()
                .map(|(name, time)| (name, u64::try_from(time.as_micros()).unwrap_or(u64::MAX)))
                .collect(),
        }
    }
}

impl DeliveryReport {
    fn new(delivered: &Delivered) -> Self {
        let named = |tools: &[ToolId]| tools.iter().map(ToString::to_string).collect();
        Self {
            policy: delivered.policy,
            turn: delivered.turn,
            offered: delivered.offered.len(),
            joined: named(&delivered.joined),
            withheld: named(&delivered.withheld),
            changed: named(&delivered.changed),
            gone: named(&delivered.gone),
        }
    }
}

impl SelectionReport {
    fn new(context: &Context) -> Self {
        let selection = context.selection();
        let tools = selection.tools.iter().map(|tool| ToolReport {
            server: tool.id.server.to_string(),
            name: tool.id.name.to_string(),
            exposed: tool.exposed.to_string(),
            tokens: tool.tokens,
            score: rounded(tool.score.into()),
            rank: tool.rank,
            form: Form::as_str(tool.form),
            reason: match tool.origin {
                Origin::SubQuery(_) | Origin::Turn(_) => format!("{} ({})", tool.reason, tool.origin),
                _ => tool.reason.to_string(),
            },
        });
        let excluded = selection.excluded.iter().map(|tool| ExcludedReport {
            server: tool.server.to_string(),
            name: tool.name.to_string(),
            reason: tool.reason.to_string(),
        });
        Self {
            tools: tools.collect(),
            excluded: excluded.collect(),
            tokens: selection.tokens,
            confidence: selection.confidence.map(|confidence| rounded(confidence.into())),
        }
    }
}

impl PrefixReport {
    fn new(context: &Context, request: &Request) -> Self {
        let sections = request.sections().iter().map(|section| SectionReport {
            name: section.kind.as_str(),
            digest: request.section_digest(section),
            bytes: section.bytes(),
            tokens: context.counts().count(request.section_str(section.kind).unwrap_or_default()),
        });
        Self { digest: request.prefix_digest(), sections: sections.collect() }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { catalog, selection, tokens, prefix, .. } = self;
        let about = if tokens.estimated { "about " } else { "" };
        writeln!(
            f,
            "{} of {} tools from {} servers, {about}{} of {} tokens ({:.1} % saved)",
            selection.tools.len(),
            catalog.tools,
            catalog.servers,
            tokens.selected,
            tokens.catalog,
            100.0 * tokens.saved_ratio,
        )?;
        let attached: usize = self.resources.iter().map(|resource| resource.tokens).sum();
        writeln!(f, "{} of {} resources, {about}{attached} tokens", self.resources.len(), catalog.resources)?;
        write!(f, "prefix {}", prefix.digest.short(12))?;
        for section in &prefix.sections {
            write!(f, ", {} {} bytes", section.name, section.bytes)?;
        }
        Ok(())
    }
}

/// To four places: enough to compare, and the same on every machine.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}
