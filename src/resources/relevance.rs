use std::{collections::HashMap, sync::Arc};

use super::known::KnownTexts;
use crate::{
    catalog::{Catalog, ResourceEntry},
    id::ResourceId,
    json::Digest,
    protocol::Tool,
    retrieval::{Ranking, Tier},
};

/// The resources of a snapshot in the form that a [`Retriever`](crate::retrieval::Retriever)
/// indexes, so that the channels that find tools find resources too: each stands as a tool whose
/// name is the URI, with the title, the description and what is [known](KnownTexts) of the text.
///
/// What `visible` leaves out plays no part in any score.
///
#[cfg_attr(feature = "tantivy", doc = "```")]
#[cfg_attr(not(feature = "tantivy"), doc = "```ignore")]
/// use proem::{
///     catalog::Catalog,
///     id::ServerId,
///     protocol::Resource,
///     resources::{KnownTexts, Relevance, searchable},
///     retrieval::{Filter, Lexical, Retriever},
/// };
///
/// let wiki = ServerId::new("wiki")?;
/// let catalog = Catalog::builder()
///     .resource(wiki.clone(), Resource::new("wiki://leave", "leave").with_title("Days off and sick leave"))
///     .resource(wiki, Resource::new("wiki://kitchen", "kitchen").with_title("Who empties the dishwasher"))
///     .build();
/// let resources = searchable(&catalog, &KnownTexts::new(), |entry| entry.resource.annotations.for_model());
/// let index = Lexical::new().index(&resources, None)?;
/// let relevance = Relevance::of(&index.search(&"how many days off do I have?".into(), &Filter::new(), 10)?);
/// assert!(relevance.value(&catalog.resources()[1].id) > 0.4);
/// assert_eq!(relevance.value(&catalog.resources()[0].id), 0.0);
/// # Ok::<(), proem::Error>(())
/// ```
pub fn searchable(catalog: &Catalog, known: &KnownTexts, visible: impl Fn(&ResourceEntry) -> bool) -> Catalog {
    let mut builder = Catalog::builder();
    for entry in catalog.resources().iter().filter(|entry| visible(entry)) {
        let summary = known.summary(&entry.id);
        let said: &[u8] = summary.as_deref().map_or(&[], str::as_bytes);
        // What it says is as listed and as read: no need to write it out for that.
        let digest = Digest::of_parts([entry.digest.as_bytes(), said]);
        builder = builder.digested_tool(entry.id.server.clone(), document(entry, summary.as_deref()), digest);
    }
    builder.build()
}

fn document(entry: &ResourceEntry, summary: Option<&str>) -> Tool {
    let resource = &entry.resource;
    // Where there is a title, the name says the same in other words, or something of its own.
    let name = resource.title.as_ref().map(|_| resource.name.as_str());
    let texts: Vec<&str> = [name, resource.description.as_deref(), summary].into_iter().flatten().collect();
    Tool { title: Some(resource.label().to_owned()), ..Tool::new(&*entry.id.uri, texts.join("\n")) }
}

/// How much resources have to do with a request, 0 to 1; 0 for all that were not found.
///
/// The best one counts as much as it covers the request ([`Ranking::coverage`]), the others by their
/// share of its score: a request that nothing answers makes no resource relevant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Relevance {
    values: HashMap<ResourceId, f64>,
    best: f64,
    confidence: Option<f64>,
}

impl Relevance {
    /// From a ranking of [`searchable`] resources.
    pub fn of(ranking: &Ranking) -> Self {
        let best = ranking.hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
        let coverage = f64::from(ranking.coverage).clamp(0.0, 1.0);
        let hits = ranking.hits.iter().map(|hit| {
            let share = if best > 0.0 { f64::from(hit.score / best).clamp(0.0, 1.0) } else { 0.0 };
            let value = if hit.tier == Tier::Named { 1.0 } else { share * coverage };
            // The same on every machine, whatever its rounding of sums.
            let value = (value * 10_000.0).round() / 10_000.0;
            (ResourceId::new(hit.tool.server.clone(), Arc::clone(&hit.tool.name)), value)
        });
        let none = Self { confidence: ranking.confidence.map(f64::from), ..Self::default() };
        hits.fold(none, |relevance, (id, value)| relevance.with(id, value))
    }

    /// Sets how much one has to do with the request, for hosts that know better; clamped to 0 to 1.
    #[must_use]
    pub fn with(mut self, id: ResourceId, value: f64) -> Self {
        let value = if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 };
        self.best = self.best.max(value);
        self.values.insert(id, value);
        self
    }

    /// How much a resource has to do with the request.
    pub fn value(&self, id: &ResourceId) -> f64 {
        self.values.get(id).copied().unwrap_or_default()
    }

    /// How much the best one has to do with the request.
    pub fn best(&self) -> f64 {
        self.best
    }

    /// How likely it is that any of them has to do with the request, 0 to 1
    /// ([`Ranking::confidence`]); `None` if the retriever does not tell.
    pub fn confidence(&self) -> Option<f64> {
        self.confidence
    }
}
