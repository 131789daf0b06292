use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeMap, BinaryHeap},
    num::NonZeroUsize,
    sync::Arc,
    thread,
};

use tantivy::{DocId, Score, query::Weight};

use super::{
    analyzer::Analyzer,
    bm25f::{Bm25, CombinedFieldsQuery, CombinedFieldsWeight, Part},
    document::ToolDocument,
    field::{Field, FieldWeights},
    hints::Hints,
    language::Language,
    roster::{Carried, Roster},
    segment::{Segment, failed},
};
use crate::{Result, catalog::ServerEntry};

/// How tools are indexed and scored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LexicalOptions {
    analyzer: Analyzer,
    weights: FieldWeights,
    bm25: Bm25,
    hints: Arc<Hints>,
}

impl LexicalOptions {
    /// Sets the language whose words are reduced to stems; `None` leaves words as they are.
    /// Default English: nearly all tools are described in it, and stemming gains one to two points of NDCG@10.
    #[must_use]
    pub fn with_language(mut self, language: Option<Language>) -> Self {
        self.analyzer = Analyzer::new(language);
        self
    }

    /// Sets how much each field counts. Default [`FieldWeights::default`].
    #[must_use]
    pub fn with_weights(mut self, weights: FieldWeights) -> Self {
        self.weights = weights;
        self
    }

    /// Sets the constants of BM25. Default [`Bm25::default`].
    #[must_use]
    pub fn with_bm25(mut self, bm25: Bm25) -> Self {
        self.bm25 = bm25;
        self
    }

    /// Sets example requests for tools. Default none.
    #[must_use]
    pub fn with_hints(mut self, hints: Hints) -> Self {
        self.hints = Arc::new(hints);
        self
    }

    /// What turns text into terms.
    pub(crate) fn analyzer(&self) -> Analyzer {
        self.analyzer
    }

    /// Whether documents made with `other` are those made with `self`, hints apart.
    fn same_terms(&self, other: &Self) -> bool {
        self.analyzer == other.analyzer && self.weights == other.weights
    }
}

/// The postings of one catalog snapshot.
///
/// It is made of segments that never change, the newest last. A changed catalog gets a segment
/// with the documents that changed, and shares the others; a segment joins the one before it when
/// it has grown to a quarter of it, so there are few of them and each document is indexed again
/// only a few times. Two snapshots made from the same one do not meet: nothing is written in place.
#[derive(Clone)]
pub(crate) struct LexicalIndex {
    options: LexicalOptions,
    parts: Arc<[Part]>,
    /// By position in the catalog.
    homes: Vec<Home>,
}

/// Where a tool's document is.
#[derive(Clone, Copy)]
struct Home {
    part: u32,
    doc: DocId,
}

impl LexicalIndex {
    /// Indexes a catalog.
    pub(crate) fn new(roster: &Roster, options: &LexicalOptions) -> Result<Self> {
        let builder = Builder { roster, options, parts: Vec::new() };
        builder.build((0..roster.len() as u32).collect())
    }

    /// Indexes a catalog that came after the one of `previous`. Documents that have not changed are not made again.
    pub(crate) fn after(previous: &Self, roster: &Roster, carried: &Carried, options: &LexicalOptions) -> Result<Self> {
        if !previous.options.same_terms(options) {
            return Self::new(roster, options);
        }
        let hinted = previous.newly_hinted(roster, carried, options);
        let mut kept = carried.to.clone();
        let mut missing = carried.added.clone();
        for (before, position) in carried.changed.iter().chain(&hinted) {
            kept[*before as usize] = Carried::GONE;
            missing.push(*position);
        }
        // A tool may be changed and hinted at.
        missing.sort_unstable();
        missing.dedup();
        let moved = |part: &Part| Part {
            segment: Arc::clone(&part.segment),
            slots: part.slots.iter().map(|slot| kept.get(*slot as usize).copied().unwrap_or(Carried::GONE)).collect(),
        };
        let builder = Builder { roster, options, parts: previous.parts.iter().map(moved).collect() };
        builder.build(missing)
    }

    /// What it is made with.
    pub(crate) fn options(&self) -> &LexicalOptions {
        &self.options
    }

    /// Tools whose hints are others now, in the form of [`Carried::changed`].
    fn newly_hinted(&self, roster: &Roster, carried: &Carried, options: &LexicalOptions) -> Vec<(u32, u32)> {
        if self.options.hints == options.hints {
            return Vec::new();
        }
        let tools = roster.catalog().tools();
        let carried = (0..).zip(&carried.to).filter(|(_, position)| **position != Carried::GONE);
        carried
            .filter(|(_, position)| {
                let id = &tools[**position as usize].id;
                self.options.hints.of(id) != options.hints.of(id)
            })
            .map(|(before, position)| (before, *position))
            .collect()
    }

    /// Scores the tools for a request. `allowed` says by position in the catalog which tools may
    /// be seen: the others leave no trace in any score.
    pub(crate) fn score(&self, text: &str, allowed: Option<Arc<[bool]>>) -> Result<Scored<'_>> {
        let mut terms = BTreeMap::new();
        for term in self.options.analyzer.terms(text) {
            *terms.entry(term).or_insert(0) += 1;
        }
        let query = CombinedFieldsQuery {
            parts: Arc::clone(&self.parts),
            terms: Arc::new(terms),
            allowed,
            weights: self.options.weights,
            bm25: self.options.bm25,
        };
        let weight = query.weigh().map_err(failed("cannot read the postings"))?;
        Ok(Scored { index: self, weight })
    }
}

/// The scores of all tools for one request.
pub(crate) struct Scored<'a> {
    index: &'a LexicalIndex,
    weight: CombinedFieldsWeight,
}

/// Why a tool has its score.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Explained {
    /// What each field gave, by name; fields that gave nothing are left out.
    pub(crate) fields: BTreeMap<&'static str, f32>,
    /// The share of the request's terms, each weighted by its rarity, that the tool's text holds.
    pub(crate) coverage: f32,
}

impl Scored<'_> {
    /// The best tools by position in the catalog, best first; equal scores by position, which is
    /// the order of tool ids. Tools that hold no term of the request are left out.
    pub(crate) fn top(&self, limit: usize) -> Result<Vec<(u32, Score)>> {
        let mut best = BinaryHeap::with_capacity(limit.min(self.index.homes.len()) + 1);
        for (part, scored) in self.index.parts.iter().zip(&self.weight.parts) {
            let mut take = |doc: DocId, score: Score| {
                best.push(Reverse(Candidate { score, position: Reverse(part.slots[doc as usize]) }));
                if best.len() > limit {
                    best.pop();
                }
            };
            self.weight.for_each(scored.reader(), &mut take).map_err(failed("cannot read the scores"))?;
        }
        let sorted = best.into_sorted_vec().into_iter();
        Ok(sorted.map(|Reverse(Candidate { score, position })| (position.0, score)).collect())
    }

    /// The scores of all tools by position in the catalog; 0 for those that hold no term of the request.
    pub(crate) fn all(&self) -> Result<Vec<Score>> {
        let mut scores = vec![0.0; self.index.homes.len()];
        for (part, scored) in self.index.parts.iter().zip(&self.weight.parts) {
            let mut take = |doc: DocId, score: Score| {
                if let Some(held) = part.slots.get(doc as usize).and_then(|slot| scores.get_mut(*slot as usize)) {
                    *held = score;
                }
            };
            self.weight.for_each(scored.reader(), &mut take).map_err(failed("cannot read the scores"))?;
        }
        Ok(scores)
    }

    /// The score of a tool; 0 if it holds no term of the request.
    pub(crate) fn score_of(&self, position: u32) -> Score {
        let home = self.index.homes[position as usize];
        self.weight.parts[home.part as usize].score(home.doc).unwrap_or(0.0)
    }

    /// A score in terms that one tool alone holds: one such term is about 1, in a catalog of any size.
    pub(crate) fn in_rarest(&self, score: Score) -> f32 {
        let rarest = self.weight.rarest();
        if rarest > 0.0 { (f64::from(score) / rarest) as f32 } else { 0.0 }
    }

    /// Explains some tools, in their order.
    pub(crate) fn explain(&self, positions: &[u32]) -> Result<Vec<Explained>> {
        let mut explained = vec![Explained::default(); positions.len()];
        let mut wanted: Vec<(Home, usize)> =
            positions.iter().enumerate().map(|(i, position)| (self.index.homes[*position as usize], i)).collect();
        wanted.sort_unstable_by_key(|(home, i)| (home.part, home.doc, *i));
        let all = self.weight.rarity();
        for of_part in wanted.chunk_by(|(a, _), (b, _)| a.part == b.part) {
            let Some((home, _)) = of_part.first() else { continue };
            let docs: Vec<DocId> = of_part.iter().map(|(home, _)| home.doc).collect();
            let contributions = self
                .weight
                .explain_all(&self.weight.parts[home.part as usize], &docs)
                .map_err(failed("cannot explain the scores"))?;
            for ((_, i), contributions) in of_part.iter().zip(contributions) {
                let gave = Field::ALL.into_iter().zip(contributions.fields).filter(|(_, gain)| *gain > 0.0);
                explained[*i] = Explained {
                    fields: gave.map(|(field, gain)| (field.as_str(), gain as f32)).collect(),
                    coverage: if all > 0.0 { (contributions.rarity / all) as f32 } else { 0.0 },
                };
            }
        }
        Ok(explained)
    }
}

/// Greater is better.
struct Candidate {
    score: Score,
    position: Reverse<u32>,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(self.position.cmp(&other.position))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Eq for Candidate {}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

struct Builder<'a> {
    roster: &'a Roster,
    options: &'a LexicalOptions,
    parts: Vec<Part>,
}

impl Builder<'_> {
    fn build(mut self, positions: Vec<u32>) -> Result<LexicalIndex> {
        self.add(positions)?;
        let mut homes = vec![Home { part: 0, doc: 0 }; self.roster.len()];
        for (number, part) in (0..).zip(&self.parts) {
            for (doc, slot) in (0..).zip(part.slots.iter()) {
                if *slot != Carried::GONE {
                    homes[*slot as usize] = Home { part: number, doc };
                }
            }
        }
        Ok(LexicalIndex { options: self.options.clone(), parts: self.parts.into(), homes })
    }

    /// Indexes the tools at these positions, and with them those of parts that are too small or too empty to stand alone.
    fn add(&mut self, mut positions: Vec<u32>) -> Result<()> {
        let mut parts = Vec::with_capacity(self.parts.len() + 1);
        for part in self.parts.drain(..) {
            let live = live(&part);
            // A third of the documents gone: their postings cost time on every search.
            if live * 3 < part.slots.len() * 2 {
                positions.extend(part.slots.iter().filter(|slot| **slot != Carried::GONE));
            } else {
                parts.push(part);
            }
        }
        if !positions.is_empty() {
            while let Some(part) = parts.pop_if(|last| live(last) < positions.len() * GROWTH) {
                positions.extend(part.slots.iter().filter(|slot| **slot != Carried::GONE));
            }
            positions.sort_unstable();
            parts.extend(self.segments(&positions)?);
        }
        self.parts = parts;
        Ok(())
    }

    /// Many documents go into several segments, built side by side: no score depends on how
    /// documents are divided.
    fn segments(&self, positions: &[u32]) -> Result<Vec<Part>> {
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MAX_THREADS);
        let size = positions.len().div_ceil(threads).max(LEAST_PER_THREAD);
        thread::scope(|scope| {
            let mut chunks = positions.chunks(size);
            // The first one is built here.
            let first = chunks.next().unwrap_or_default();
            let building: Vec<_> = chunks.map(|chunk| scope.spawn(|| self.part(chunk.to_vec()))).collect();
            let mut parts = vec![self.part(first.to_vec())?];
            for thread in building {
                parts.push(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            }
            Ok(parts)
        })
    }

    fn part(&self, positions: Vec<u32>) -> Result<Part> {
        let mut server: Option<&ServerEntry> = None;
        let documents = positions.iter().map(|position| {
            let catalog = self.roster.catalog();
            let entry = &catalog.tools()[*position as usize];
            if server.is_none_or(|server| server.id != entry.id.server) {
                server = catalog.server(&entry.id.server);
            }
            ToolDocument::new(entry, server, self.options.hints.of(&entry.id))
        });
        let segment = Segment::build(documents, self.options.analyzer, self.options.weights)?;
        Ok(Part { segment: Arc::new(segment), slots: positions.into() })
    }
}

/// A search looks into every segment, so there should not be many.
const MAX_THREADS: usize = 4;

/// Fewer documents are not worth a thread.
const LEAST_PER_THREAD: usize = 1_024;

/// A segment joins the one before it when that one is less than so many times as large.
const GROWTH: usize = 4;

fn live(part: &Part) -> usize {
    part.slots.iter().filter(|slot| **slot != Carried::GONE).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalog::Catalog, id::ServerId, protocol::Tool};

    fn catalog(count: usize, changed: usize) -> Catalog {
        let server = ServerId::new("s").unwrap();
        let tool = |i| Tool::new(format!("tool{i}"), if i < changed { "changed" } else { "as it was" });
        (0..count).fold(Catalog::builder(), |builder, i| builder.tool(server.clone(), tool(i))).build()
    }

    fn fresh(catalog: &Catalog) -> (Roster, LexicalIndex) {
        let roster = Roster::new(catalog);
        let index = LexicalIndex::new(&roster, &LexicalOptions::default()).unwrap();
        (roster, index)
    }

    fn after(
        (roster, index): &(Roster, LexicalIndex),
        catalog: &Catalog,
        options: &LexicalOptions,
    ) -> (Roster, LexicalIndex) {
        let (roster, carried) = Roster::after(roster, catalog);
        let index = LexicalIndex::after(index, &roster, &carried, options).unwrap();
        (roster, index)
    }

    fn sizes((_, index): &(Roster, LexicalIndex)) -> Vec<usize> {
        index.parts.iter().map(live).collect()
    }

    #[test]
    fn only_what_changed_is_indexed_again() {
        let options = LexicalOptions::default();
        let first = fresh(&catalog(300, 0));
        let second = after(&first, &catalog(300, 3), &options);
        assert_eq!(sizes(&second), [297, 3]);
        assert!(Arc::ptr_eq(&first.1.parts[0].segment, &second.1.parts[0].segment));
        // The first is as it was.
        assert_eq!(sizes(&first), [300]);
        // Parts that are no longer small against the one before are joined.
        let third = after(&second, &catalog(300, 80), &options);
        assert_eq!(sizes(&third), [300]);
        // Other weights make other postings.
        let other = options.with_weights(FieldWeights::default().with(Field::Name, 1.0));
        let fourth = after(&second, &catalog(300, 3), &other);
        assert_eq!(sizes(&fourth), [300]);
    }

    #[test]
    fn the_query_is_a_tantivy_query() {
        let (_, index) = fresh(&catalog(5, 2));
        let scored = index.score("changed tool0", None).unwrap();
        let reader = scored.weight.parts[0].reader();
        let mut scorer = scored.weight.scorer(reader, 1.0).unwrap();
        assert_eq!((scorer.doc(), scorer.size_hint()), (0, 5));
        let explanation = scored.weight.explain(reader, 0).unwrap();
        assert_eq!(explanation.value(), scorer.score());
        assert_eq!(scorer.seek(3), 3);
        assert_eq!(scorer.seek(tantivy::TERMINATED), tantivy::TERMINATED);
        assert_eq!(scorer.advance(), tantivy::TERMINATED);
        assert_eq!(scored.score_of(0), explanation.value());
        assert_eq!(scored.top(2).unwrap().iter().map(|(position, _)| *position).collect::<Vec<_>>(), [0, 1]);
    }
}
