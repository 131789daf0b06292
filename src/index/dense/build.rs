use std::{collections::HashMap, sync::Arc};

use super::{
    Channel, DenseIndex, Row, State,
    outcome::{Text, outcomes},
};
use crate::{
    catalog::{Catalog, ToolEntry},
    index::{
        embedder::TextKind,
        passage::passage,
        unaided::UNAIDED,
        vectors::{VectorStorage, Vectors},
    },
    json::Digest,
};

/// Makes the index of a catalog from the one before.
pub(super) struct Builder<'a> {
    catalog: &'a Catalog,
    channel: &'a Arc<Channel>,
    identity: String,
    previous: Option<&'a DenseIndex>,
}

/// Where a tool's vector comes from.
#[derive(Clone, Copy)]
enum Source {
    /// The previous index, this row.
    Kept(usize),
    /// The texts that are embedded now, by position among them.
    New(usize),
}

impl<'a> Builder<'a> {
    pub(super) fn new(catalog: &'a Catalog, channel: &'a Arc<Channel>, previous: Option<&'a DenseIndex>) -> Self {
        let identity = channel.embedder.identity().to_owned();
        let previous = previous.filter(|previous| {
            previous.identity == identity
                && previous.vectors.dimensions() == channel.embedder.dimensions()
                && previous.vectors.storage() == channel.options.storage
        });
        Self { catalog, channel, identity, previous }
    }

    pub(super) fn build(self) -> DenseIndex {
        let (plan, texts) = self.plan();
        let (embedded, failure) = outcomes(self.channel, &self.identity, &texts, TextKind::Document);
        let tools = self.catalog.tools().len();
        let vectors = match self.previous {
            // Nothing moved and nothing is new: most refreshes.
            Some(previous)
                if texts.is_empty()
                    && previous.rows.len() == tools
                    && (0..).zip(&plan).all(|(at, (_, source))| matches!(source, Source::Kept(row) if *row == at)) =>
            {
                Arc::clone(&previous.vectors)
            }
            _ => {
                let dimensions = self.channel.embedder.dimensions();
                let mut vectors = Vectors::with_capacity(self.channel.options.storage, dimensions, tools);
                for (_, source) in &plan {
                    match (source, self.previous) {
                        (Source::Kept(row), Some(previous)) => vectors.push_from(&previous.vectors, *row),
                        (Source::New(at), _) => vectors.push(embedded.get(*at).map_or(&[], |outcome| &outcome.vector)),
                        (Source::Kept(_), None) => vectors.push(&[]),
                    }
                }
                Arc::new(vectors)
            }
        };
        let unaided = self.unaided();
        let state = |source: &Source| match source {
            Source::Kept(row) => self.previous.and_then(|previous| previous.rows.get(*row)).map(|row| row.state),
            Source::New(at) => embedded.get(*at).map(|outcome| outcome.state),
        };
        let rows: Vec<Row> = plan
            .iter()
            .map(|(text, source)| Row { text: *text, state: state(source).unwrap_or(State::Missing) })
            .collect();
        let missing = rows.iter().filter(|row| row.state == State::Missing).count();
        DenseIndex {
            catalog: self.catalog.clone(),
            channel: Arc::clone(self.channel),
            identity: self.identity,
            rows,
            vectors,
            unaided,
            missing,
            failure,
        }
    }

    /// The vectors of the requests that need no tool, which stay those of the embedder.
    fn unaided(&self) -> Option<Arc<Vectors>> {
        if let Some(kept) = self.previous.and_then(|previous| previous.unaided.as_ref()) {
            return Some(Arc::clone(kept));
        }
        // The same words as a document may have another vector.
        let texts = UNAIDED.map(|text| (Digest::of_parts(["query", text]), text.to_owned()));
        let (outcomes, _) = outcomes(self.channel, &self.identity, &texts, TextKind::Query);
        let mut vectors =
            Vectors::with_capacity(VectorStorage::F32, self.channel.embedder.dimensions(), outcomes.len());
        for outcome in &outcomes {
            match outcome.state {
                State::Embedded | State::Blank => vectors.push(&outcome.vector),
                State::Refused | State::Missing => return None,
            }
        }
        Some(Arc::new(vectors))
    }

    /// By position in the catalog: the digest of the tool's text and where its vector comes from;
    /// and the texts that must be embedded, each once.
    fn plan(&self) -> (Vec<(Digest, Source)>, Vec<Text>) {
        let kept = self.kept();
        let mut by_text: Option<HashMap<Digest, usize>> = None;
        let mut new: HashMap<Digest, usize> = HashMap::new();
        let mut texts = Vec::new();
        let mut plan = Vec::with_capacity(kept.len());
        for (entry, kept) in self.catalog.tools().iter().zip(kept) {
            if let Some((row, digest)) = kept {
                plan.push((digest, Source::Kept(row)));
                continue;
            }
            let text = passage(entry, self.channel.options.hints.of(&entry.id));
            let digest = Digest::of_bytes(&text);
            // A tool whose parameters alone are others.
            let known = by_text.get_or_insert_with(|| self.known_texts()).get(&digest);
            let source = match known {
                Some(row) => Source::Kept(*row),
                None => Source::New(*new.entry(digest).or_insert_with(|| {
                    texts.push((digest, text));
                    texts.len() - 1
                })),
            };
            plan.push((digest, source));
        }
        (plan, texts)
    }

    /// By position in the catalog: the row of the same tool with the same text, and the text's digest.
    fn kept(&self) -> Vec<Option<(usize, Digest)>> {
        let mut kept = vec![None; self.catalog.tools().len()];
        let Some(previous) = self.previous else { return kept };
        let before = previous.catalog.tools();
        let (hints_before, hints) = (&previous.channel.options.hints, &self.channel.options.hints);
        let same_hints = Arc::ptr_eq(hints_before, hints) || hints_before == hints;
        let mut at = 0;
        // Both are ordered by id.
        for (entry, kept) in self.catalog.tools().iter().zip(&mut kept) {
            while before.get(at).is_some_and(|other| !same_tool(other, entry) && other.id < entry.id) {
                at += 1;
            }
            let (Some(other), Some(row)) = (before.get(at), previous.rows.get(at)) else { break };
            let same = same_tool(other, entry)
                && other.digest == entry.digest
                && row.state != State::Missing
                && (same_hints || hints_before.of(&entry.id) == hints.of(&entry.id));
            if same {
                *kept = Some((at, row.text));
            }
        }
        kept
    }

    fn known_texts(&self) -> HashMap<Digest, usize> {
        let rows = self.previous.map(|previous| previous.rows.as_slice()).unwrap_or_default();
        let known = rows.iter().enumerate().filter(|(_, row)| row.state != State::Missing);
        known.map(|(at, row)| (row.text, at)).collect()
    }
}

/// A definition holds its name: equal digests decide without a look at the names.
fn same_tool(a: &ToolEntry, b: &ToolEntry) -> bool {
    a.id.server == b.id.server && (a.digest == b.digest || a.id.name == b.id.name)
}
