//! BM25F over combined fields, as a tantivy query.
//!
//! For each term the frequencies in the fields are weighted and added *before* saturation, as if
//! the tool's text were one text in which a word of the name stood twice. A boosted sum of
//! per-field BM25 scores, which is what tantivy's own queries would give, lets a term that stands
//! in three fields saturate three times: measured on a ToolRet subset it loses 7 points of NDCG@10.
//!
//! Everything that is summed over documents is an integer, and scores are added up in the order
//! of the terms: how documents lie in segments cannot change a bit of a score.

use std::{collections::BTreeMap, fmt, sync::Arc};

use tantivy::{
    DocId, DocSet, Score, SegmentReader, TERMINATED, TantivyError,
    index::SegmentId,
    postings::{Postings, TermInfo},
    query::{EnableScoring, Explanation, Query, Scorer, Weight},
    schema::IndexRecordOption,
};

use super::{
    field::{Field, FieldWeights},
    mask::passes,
    roster::Carried,
    segment::Segment,
};

/// The two constants of BM25.
///
/// The defaults are the field's customary ones: on six benchmark sets nothing between 0.9 and 1.6,
/// 0.6 and 0.9 is better by more than half a point of mean NDCG@10.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Bm25 {
    /// How slowly repetition saturates; 0 ignores it. Default 1.2.
    pub k1: f64,
    /// How much a long text is discounted, 0 to 1. Default 0.75.
    pub b: f64,
}

impl Bm25 {
    /// Both constants; a value that makes no sense becomes the nearest that does.
    pub fn new(k1: f64, b: f64) -> Self {
        let finite = |x: f64, default: f64| if x.is_finite() { x } else { default };
        Self { k1: finite(k1, 1.2).max(0.0), b: finite(b, 0.75).clamp(0.0, 1.0) }
    }
}

impl Default for Bm25 {
    fn default() -> Self {
        Self { k1: 1.2, b: 0.75 }
    }
}

/// A segment as one snapshot sees it.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) segment: Arc<Segment>,
    /// The position in the catalog of each document; [`Carried::GONE`] for one that is no longer there.
    pub(super) slots: Arc<[u32]>,
}

/// Ranks the documents of all parts that hold any of the terms.
#[derive(Clone)]
pub(super) struct CombinedFieldsQuery {
    pub(super) parts: Arc<[Part]>,
    /// How often each term stands in the request.
    pub(super) terms: Arc<BTreeMap<String, u32>>,
    /// By position in the catalog: whether the tool may be seen. `None` for all.
    pub(super) allowed: Option<Arc<[bool]>>,
    pub(super) weights: FieldWeights,
    pub(super) bm25: Bm25,
}

impl CombinedFieldsQuery {
    /// Reads the postings once: a term's rarity among the allowed documents must be known before
    /// its part of any score is, and needs the same pass over the postings as the scores do.
    pub(super) fn weigh(&self) -> tantivy::Result<CombinedFieldsWeight> {
        let collection = self.collection();
        let mut parts: Vec<PartScores> =
            self.parts.iter().map(|part| PartScores::new(part, self, &collection)).collect();
        let mut rarities = Vec::with_capacity(self.terms.len());
        for (term, repeats) in self.terms.iter() {
            for part in &mut parts {
                part.gather(term, rarities.len(), self.weights)?;
            }
            let holders: usize = parts.iter().map(|part| part.holders.len()).sum();
            let rarity = collection.rarity(holders as u64);
            for part in &mut parts {
                part.add(rarity * repeat_weight(*repeats));
            }
            rarities.push(rarity);
        }
        let repeats = self.terms.values().copied().collect();
        Ok(CombinedFieldsWeight {
            parts: parts.into_iter().map(PartScores::finish).collect(),
            rarities,
            rarest: collection.rarity(1),
            repeats,
            weights: self.weights,
        })
    }

    fn collection(&self) -> Collection {
        let (mut documents, mut length) = (0, 0);
        for part in self.parts.iter() {
            for (slot, of_document) in part.slots.iter().zip(&part.segment.lengths) {
                if self.is_allowed(*slot) {
                    documents += 1;
                    length += of_document;
                }
            }
        }
        Collection { documents, length, bm25: self.bm25 }
    }

    fn is_allowed(&self, slot: u32) -> bool {
        slot != Carried::GONE && passes(self.allowed.as_deref(), slot as usize)
    }
}

impl Query for CombinedFieldsQuery {
    /// The statistics are those of the parts that the query was made for, not of the searcher:
    /// what a filter hides must not show in them.
    fn weight(&self, _: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.weigh()?))
    }
}

impl fmt::Debug for CombinedFieldsQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CombinedFieldsQuery").field("terms", &self.terms).finish_non_exhaustive()
    }
}

/// The query with its statistics: scores, by part, and what is needed to explain them.
pub(super) struct CombinedFieldsWeight {
    pub(super) parts: Vec<ScoredPart>,
    /// By term: its weight from its rarity.
    rarities: Vec<f64>,
    rarest: f64,
    repeats: Vec<u32>,
    weights: FieldWeights,
}

/// What one document's score is made of.
#[derive(Clone, Debug, Default)]
pub(super) struct Contributions {
    pub(super) fields: [f64; Field::ALL.len()],
    /// The rarities of the terms that it holds, added up.
    pub(super) rarity: f64,
}

impl CombinedFieldsWeight {
    /// The rarities of all terms of the request, added up.
    pub(super) fn rarity(&self) -> f64 {
        self.rarities.iter().sum()
    }

    /// The rarity of a term that one document holds: what scores of catalogs of different sizes are
    /// measured in.
    pub(super) fn rarest(&self) -> f64 {
        self.rarest
    }

    /// What the scores of some documents of a part are made of. `docs` must ascend.
    pub(super) fn explain_all(&self, part: &ScoredPart, docs: &[DocId]) -> tantivy::Result<Vec<Contributions>> {
        let mut explained = vec![Contributions::default(); docs.len()];
        let mut frequencies = vec![[0_u32; Field::ALL.len()]; docs.len()];
        for of_term in part.postings.chunk_by(|a, b| a.term == b.term) {
            let Some(term) = of_term.first().map(|place| place.term) else { continue };
            for place in of_term {
                let Some(inverted) = part.segment.inverted() else { continue };
                let mut postings = inverted.read_postings_from_terminfo(&place.info, IndexRecordOption::WithFreqs)?;
                for (doc, frequencies) in docs.iter().zip(&mut frequencies) {
                    if postings.doc() <= *doc && postings.seek(*doc) == *doc {
                        let weight = self.weights.thousandths(place.field);
                        frequencies[place.field.position()] = postings.term_freq().saturating_mul(weight);
                    }
                }
            }
            let scale = self.rarities[term] * repeat_weight(self.repeats[term]);
            for ((doc, frequencies), explained) in docs.iter().zip(&mut frequencies).zip(&mut explained) {
                let total = frequencies.iter().fold(0_u32, |sum, f| sum.saturating_add(*f));
                if total > 0 {
                    let gain = scale * saturate(total, part.norms[*doc as usize]);
                    for (sum, frequency) in explained.fields.iter_mut().zip(&*frequencies) {
                        *sum += gain * f64::from(*frequency) / f64::from(total);
                    }
                    explained.rarity += self.rarities[term];
                }
                *frequencies = Default::default();
            }
        }
        Ok(explained)
    }

    fn part(&self, reader: &SegmentReader) -> tantivy::Result<&ScoredPart> {
        let id = reader.segment_id();
        self.parts
            .iter()
            .find(|part| part.id == id)
            .ok_or_else(|| TantivyError::InvalidArgument("the query was not made for this segment".into()))
    }
}

impl Weight for CombinedFieldsWeight {
    fn scorer(&self, reader: &SegmentReader, boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(Box::new(CombinedFieldsScorer { docs: Arc::clone(&self.part(reader)?.docs), at: 0, boost }))
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        let part = self.part(reader)?;
        let Some(score) = part.score(doc) else {
            return Err(TantivyError::InvalidArgument(format!("document #({doc}) does not match")));
        };
        let mut explanation = Explanation::new("BM25F over combined fields", score);
        for explained in self.explain_all(part, &[doc])? {
            for (field, gain) in Field::ALL.into_iter().zip(explained.fields) {
                explanation.add_const(field.as_str(), gain as Score);
            }
        }
        Ok(explanation)
    }
}

/// A part's scored documents.
pub(super) struct ScoredPart {
    id: SegmentId,
    segment: Arc<Segment>,
    /// Ascending.
    docs: Arc<[(DocId, Score)]>,
    norms: Vec<f64>,
    postings: Vec<Place>,
}

impl ScoredPart {
    pub(super) fn reader(&self) -> &SegmentReader {
        &self.segment.reader
    }

    /// The score of a document; `None` if it holds no term or is not allowed.
    pub(super) fn score(&self, doc: DocId) -> Option<Score> {
        let at = self.docs.binary_search_by_key(&doc, |(doc, _)| *doc).ok()?;
        Some(self.docs[at].1)
    }
}

/// Where a term stands in a field.
struct Place {
    term: usize,
    field: Field,
    info: TermInfo,
}

/// Goes through a part's scored documents.
struct CombinedFieldsScorer {
    docs: Arc<[(DocId, Score)]>,
    at: usize,
    boost: Score,
}

impl DocSet for CombinedFieldsScorer {
    fn advance(&mut self) -> DocId {
        self.at = (self.at + 1).min(self.docs.len());
        self.doc()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.at += self.docs[self.at..].partition_point(|(doc, _)| *doc < target);
        self.doc()
    }

    fn doc(&self) -> DocId {
        self.docs.get(self.at).map_or(TERMINATED, |(doc, _)| *doc)
    }

    fn size_hint(&self) -> u32 {
        (self.docs.len() - self.at) as u32
    }
}

impl Scorer for CombinedFieldsScorer {
    fn score(&mut self) -> Score {
        self.docs.get(self.at).map_or(0.0, |(_, score)| score * self.boost)
    }
}

/// What is known of the allowed documents together.
struct Collection {
    documents: u64,
    /// In thousandths.
    length: u64,
    bm25: Bm25,
}

impl Collection {
    /// Lucene's form of the inverse document frequency, which is never negative.
    fn rarity(&self, holders: u64) -> f64 {
        let (documents, holders) = (self.documents as f64, holders as f64);
        (1.0 + (documents - holders + 0.5) / (holders + 0.5)).ln()
    }

    /// What a frequency is compared with in a text of this length.
    fn norm(&self, length: u64) -> f64 {
        let Bm25 { k1, b } = self.bm25;
        let relative = if self.length == 0 { 1.0 } else { length as f64 * self.documents as f64 / self.length as f64 };
        // In thousandths, as frequencies are.
        1000.0 * k1 * (1.0 - b + b * relative)
    }
}

fn saturate(frequency: u32, norm: f64) -> f64 {
    let frequency = f64::from(frequency);
    frequency / (frequency + norm)
}

/// A word that a request repeats counts more, but soon no more than that: long requests repeat the
/// names of things, and none of them alone should decide. This is BM25's third constant, k3 = 0.6;
/// against counting in proportion it gains 5 points of NDCG@10 on Seal-Tools, 3 on
/// StableToolBench, 1 to 2 elsewhere.
fn repeat_weight(repeats: u32) -> f64 {
    const K3: f64 = 0.6;
    let repeats = f64::from(repeats);
    repeats * (K3 + 1.0) / (repeats + K3)
}

/// The scores of one part while they are added up.
struct PartScores<'a> {
    part: &'a Part,
    /// By document; NaN where it is not allowed.
    norms: Vec<f64>,
    scores: Vec<f64>,
    /// Of the term at hand, weighted, in thousandths.
    frequencies: Vec<u32>,
    /// The documents that hold the term at hand.
    holders: Vec<DocId>,
    postings: Vec<Place>,
}

impl<'a> PartScores<'a> {
    fn new(part: &'a Part, query: &CombinedFieldsQuery, collection: &Collection) -> Self {
        let norms: Vec<f64> = part
            .slots
            .iter()
            .zip(&part.segment.lengths)
            .map(|(slot, length)| if query.is_allowed(*slot) { collection.norm(*length) } else { f64::NAN })
            .collect();
        let documents = norms.len();
        let (scores, frequencies) = (vec![0.0; documents], vec![0; documents]);
        Self { part, norms, scores, frequencies, holders: Vec::new(), postings: Vec::new() }
    }

    /// Adds up the weighted frequencies of a term over the fields.
    fn gather(&mut self, term: &str, number: usize, weights: FieldWeights) -> tantivy::Result<()> {
        self.holders.clear();
        let Some(inverted) = self.part.segment.inverted() else { return Ok(()) };
        for field in Field::ALL {
            let Some(info) = self.part.segment.find(field, term)? else { continue };
            let weight = weights.thousandths(field);
            let mut block = inverted.read_block_postings_from_terminfo(&info, IndexRecordOption::WithFreqs)?;
            while !block.docs().is_empty() {
                for (doc, frequency) in block.docs().iter().zip(block.freqs()) {
                    let at = *doc as usize;
                    if self.norms[at].is_nan() {
                        continue;
                    }
                    if self.frequencies[at] == 0 {
                        self.holders.push(*doc);
                    }
                    self.frequencies[at] = self.frequencies[at].saturating_add(frequency.saturating_mul(weight));
                }
                block.advance();
            }
            self.postings.push(Place { term: number, field, info });
        }
        Ok(())
    }

    /// Turns the frequencies of the term at hand into scores.
    fn add(&mut self, scale: f64) {
        for doc in &self.holders {
            let at = *doc as usize;
            self.scores[at] += scale * saturate(self.frequencies[at], self.norms[at]);
            self.frequencies[at] = 0;
        }
    }

    fn finish(self) -> ScoredPart {
        let scored = (0..).zip(&self.scores).filter(|(_, score)| **score > 0.0);
        ScoredPart {
            id: self.part.segment.reader.segment_id(),
            segment: Arc::clone(&self.part.segment),
            docs: scored.map(|(doc, score)| (doc, *score as Score)).collect(),
            norms: self.norms,
            postings: self.postings,
        }
    }
}
