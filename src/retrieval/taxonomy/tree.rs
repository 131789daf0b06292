use std::{fmt, sync::Arc};

use super::{
    OTHER, TopicFile,
    clusters::{cluster, middles},
    kind::Kind,
    labels::labels,
    terms::Terms,
    units::Units,
};
use crate::{
    Error, Result,
    catalog::{Catalog, ToolEntry},
    error::beginning,
    id::ToolId,
    index::{Embedder, MAX_DIMENSIONS, TextKind, embed, passage},
};

/// Where each tool of a catalog stands: on its server, in a topic, with a [`Kind`].
///
/// Topics are groups of tools whose texts are near each other, labeled by their own words, or those
/// of a host's own [`TopicFile`]. No model is asked, and the same catalog gives the same tree,
/// whatever the order of its servers.
///
/// ```
/// use std::sync::Arc;
/// use proem::{
///     TokenBudget,
///     catalog::Catalog,
///     id::{ServerId, ToolId},
///     protocol::Tool,
///     retrieval::{Filter, Kind, Lexical, Narrowing, Retriever, Taxonomy},
///     tokens::BytesPerToken,
/// };
///
/// let git = ServerId::new("git")?;
/// let catalog = Catalog::builder()
///     .tool(git.clone(), Tool::new("create_branch", "Create a branch of a repository"))
///     .tool(git.clone(), Tool::new("delete_branch", "Delete a branch of a repository"))
///     .tool(ServerId::new("mail")?, Tool::new("send_mail", "Send an e-mail to a person"))
///     .tool(ServerId::new("mail")?, Tool::new("list_mail", "List the e-mail of a person"))
///     .build();
/// let taxonomy = Arc::new(Taxonomy::new(&catalog));
///
/// // The explanation of a pick.
/// let place = taxonomy.place(&ToolId::new(git, "delete_branch")).unwrap();
/// assert_eq!(place.to_string(), "git / branch, repository / delete");
///
/// // What there is, for a model or a person.
/// let outline = taxonomy.outline(TokenBudget::new(60), &BytesPerToken::default());
/// assert!(outline.starts_with("4 tools on 2 servers"), "{outline}");
///
/// // Only some of it, unless that is too little.
/// let index = Lexical::new().index(&catalog, None)?;
/// let only = Narrowing::new(taxonomy).with_kind(Kind::Delete).with_min(1);
/// let ranking = index.search(&"branch".into(), &Filter::new().narrow(only), 5)?;
/// assert_eq!(ranking.hits.len(), 1);
/// assert_eq!(ranking.gates[0].to_string(), "kind delete: 1 of 4 tools");
/// # Ok::<(), proem::Error>(())
/// ```
pub struct Taxonomy {
    catalog: Catalog,
    /// By position in the catalog.
    kinds: Vec<Kind>,
    /// By position in the catalog: the place of its topic; none is `other`.
    of: Vec<Option<u32>>,
    topics: Vec<Topic>,
    pub(super) terms: Terms,
    /// By topic: the middle of its tools' texts.
    pub(super) middles: Units,
}

/// One topic.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Topic {
    /// Its words, most telling first and at most three unless another topic has the same, or what a
    /// host's file calls it. No two topics have the same. Words come from what servers write:
    /// untrusted, but single words and no sentences.
    pub label: Arc<str>,
    /// How many tools it has.
    pub tools: usize,
}

impl Topic {
    /// Whether it is meant: by its label, by one of its words, or by a node of a host's file that it is part of.
    pub fn is(&self, meant: &str) -> bool {
        let meant = meant.trim().to_lowercase();
        let label = self.label.to_lowercase();
        let inner = label.strip_prefix(&meant).is_some_and(|rest| rest.starts_with('/'));
        !meant.is_empty() && (label == meant || inner || label.split(", ").any(|word| word == meant))
    }
}

impl Taxonomy {
    /// The fewest and the most topics of a catalog of more than a few tools: more than one, and no
    /// more than a person or a prompt can read through.
    pub const TOPICS: std::ops::RangeInclusive<usize> = 2..=64;

    /// With topics by the words of the tools' names, titles and descriptions.
    pub fn new(catalog: &Catalog) -> Self {
        let terms = terms(catalog);
        let units = terms.units();
        let of = cluster(&units, &terms, topic_count(units.len()));
        Self::grouped(catalog, terms, units, of)
    }

    /// With topics by vectors, one for each tool in the order of the catalog, of any length but
    /// all of one. Labels and [`evidence`](Self::evidence) are by words all the same.
    ///
    /// # Errors
    /// [`Error::Invalid`] unless there is one finite vector a tool and all have the same dimensions.
    pub fn with_vectors(catalog: &Catalog, vectors: &[Vec<f32>]) -> Result<Self> {
        let invalid = |reason: String| Error::invalid("vectors of a taxonomy", reason);
        let tools = catalog.tools().len();
        if vectors.len() != tools {
            return Err(invalid(format!("there are {} for {tools} tools", vectors.len())));
        }
        let dimensions = vectors.first().map_or(1, Vec::len);
        if !(1..=MAX_DIMENSIONS).contains(&dimensions) {
            return Err(invalid(format!("{dimensions} dimensions are not between 1 and {MAX_DIMENSIONS}")));
        }
        let mut units = Units::with_capacity(dimensions, tools);
        for (vector, entry) in vectors.iter().zip(catalog.tools()) {
            if vector.len() != dimensions || !vector.iter().all(|x| x.is_finite()) {
                return Err(invalid(format!("that of {} is not of {dimensions} finite numbers", entry.id)));
            }
            units.push_floats(vector);
        }
        let terms = terms(catalog);
        let of = cluster(&units, &terms, topic_count(tools));
        let texts = terms.units();
        Ok(Self::grouped(catalog, terms, texts, of))
    }

    /// With topics by the vectors of an embedder. It blocks as the embedder does.
    ///
    /// # Errors
    /// [`Error::Embedder`] if it fails for any tool: half of the tools in no topic would be no tree.
    pub fn with_embedder(catalog: &Catalog, embedder: &dyn Embedder) -> Result<Self> {
        let passages: Vec<String> = catalog.tools().iter().map(|entry| passage(entry, &[])).collect();
        let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
        let mut vectors = Vec::with_capacity(passages.len());
        for batch in passages.chunks(embedder.max_batch().max(1)) {
            vectors.extend(embed(embedder, batch, TextKind::Document)?);
        }
        Self::with_vectors(catalog, &vectors)
    }

    /// With the topics of a host's file.
    pub fn with_topics(catalog: &Catalog, file: &TopicFile) -> Self {
        let of = catalog.tools().iter().map(|entry| Some(file.topic(&entry.id)? as u32)).collect();
        let terms = terms(catalog);
        let texts = terms.units();
        Self::labeled(catalog, terms, texts, of, file.labels().map(str::to_owned).collect())
    }

    fn grouped(catalog: &Catalog, terms: Terms, texts: Units, of: Vec<Option<u32>>) -> Self {
        let topics = of.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        let labels = labels(&terms, &of, topics);
        Self::labeled(catalog, terms, texts, of, labels)
    }

    /// Orders topics by their labels, and leaves out those without tools.
    fn labeled(catalog: &Catalog, terms: Terms, texts: Units, of: Vec<Option<u32>>, labels: Vec<String>) -> Self {
        let mut groups = vec![Vec::new(); labels.len()];
        for (row, topic) in of.iter().enumerate() {
            if let Some(topic) = topic {
                groups[*topic as usize].push(row);
            }
        }
        let mut groups: Vec<_> = labels.into_iter().zip(groups).filter(|(_, rows)| !rows.is_empty()).collect();
        groups.sort();
        let mut of = vec![None; of.len()];
        let mut topics = Vec::with_capacity(groups.len());
        for (topic, (label, rows)) in (0..).zip(&groups) {
            rows.iter().for_each(|row| of[*row] = Some(topic));
            topics.push(Topic { label: label.as_str().into(), tools: rows.len() });
        }
        let groups: Vec<_> = groups.into_iter().map(|(_, rows)| rows).collect();
        let kinds = catalog.tools().iter().map(|entry| Kind::of(&entry.tool)).collect();
        Self { catalog: catalog.clone(), kinds, of, topics, middles: middles(&texts, &groups), terms }
    }

    /// The snapshot that it is of.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The topics, by label; without `other`.
    pub fn topics(&self) -> &[Topic] {
        &self.topics
    }

    /// The kind of a tool of the catalog.
    pub fn kind(&self, tool: &ToolId) -> Option<Kind> {
        self.position(tool).map(|at| self.kind_at(at))
    }

    /// The label of the topic of a tool of the catalog; `other` if it has none.
    pub fn topic(&self, tool: &ToolId) -> Option<&str> {
        self.position(tool).map(|at| self.label_at(at))
    }

    /// By position in the catalog.
    pub(super) fn kind_at(&self, at: usize) -> Kind {
        self.kinds.get(at).copied().unwrap_or(Kind::Other)
    }

    /// By position in the catalog: the place of its topic among [`Self::topics`].
    pub(super) fn topic_at(&self, at: usize) -> Option<usize> {
        self.of.get(at).copied().flatten().map(|topic| topic as usize)
    }

    /// By position in the catalog.
    pub(super) fn label_at(&self, at: usize) -> &str {
        self.topic_at(at).and_then(|topic| self.topics.get(topic)).map_or(OTHER, |topic| &topic.label)
    }

    pub(super) fn position(&self, tool: &ToolId) -> Option<usize> {
        self.catalog.position(tool)
    }

    /// By position in a catalog: the kind of its tool, and the place of its topic among
    /// [`Self::topics`].
    pub(in crate::retrieval) fn of_tools(&self, catalog: &Catalog) -> impl Iterator<Item = (Kind, Option<usize>)> {
        let own = catalog.digest() == self.catalog.digest();
        let tools = catalog.tools().iter().enumerate();
        tools.map(move |(at, entry)| if own { (self.kind_at(at), self.topic_at(at)) } else { self.of_entry(entry) })
    }

    /// What is known of a tool of another snapshot: a tool that is new has a kind and no topic.
    pub(in crate::retrieval) fn of_entry(&self, entry: &ToolEntry) -> (Kind, Option<usize>) {
        match self.position(&entry.id) {
            Some(at) => (self.kind_at(at), self.topic_at(at)),
            None => (Kind::of(&entry.tool), None),
        }
    }
}

impl fmt::Debug for Taxonomy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Taxonomy").field("catalog", &self.catalog).field("topics", &self.topics).finish_non_exhaustive()
    }
}

fn terms(catalog: &Catalog) -> Terms {
    Terms::new(catalog.tools().iter().map(|entry| {
        let tool = &entry.tool;
        let title = tool.title.as_deref().or(tool.annotations.title.as_deref()).unwrap_or_default();
        let mut text =
            format!("{title}\n{}", beginning(tool.description.as_deref().unwrap_or_default(), MAX_TEXT_BYTES));
        text.truncate(beginning(&text, MAX_TEXT_BYTES).len());
        (beginning(&entry.id.name, MAX_TEXT_BYTES), text)
    }))
}

/// The bytes of a text that say what it is about: further on are its rules and examples.
const MAX_TEXT_BYTES: usize = 256;

/// How many topics so many tools have: the square root of half of them. Those that begin first do so
/// whatever the number, so that one topic more leaves most of the others as they are.
fn topic_count(tools: usize) -> usize {
    let root = ((tools / 2) as f64).sqrt() as usize;
    root.clamp(*Taxonomy::TOPICS.start(), *Taxonomy::TOPICS.end())
}
