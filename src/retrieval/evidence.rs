//! What may be known of tools beside their words and vectors: where they stand, how they were used.
//!
//! Words and vectors come first, fused to one score. Then each piece of evidence looks at the
//! scores as those before it left them and adds to them by its weight. It may bring tools that no
//! word and no vector found, never one that the filter keeps out.

use std::fmt;

use super::Channel;
use crate::index::passes;

/// One kind of evidence about the tools of one catalog snapshot.
pub(super) trait Evidence: fmt::Debug + Send + Sync {
    /// The name of its channel.
    fn name(&self) -> &'static str;

    /// What it counts against 1 for all that came before it; [bounded].
    fn weight(&self) -> f32;

    /// What it says of tools for one text. `scores` are by position in the catalog, ascending,
    /// each 0 to 1.
    fn weigh(&self, request: &Request<'_>, scores: &[(u32, f32)]) -> Vec<Gain>;
}

/// What evidence is asked about.
pub(super) struct Request<'a> {
    pub(super) text: &'a str,
    /// The positions of the tools that the text names, ascending.
    pub(super) named: &'a [u32],
    /// By position in the catalog: whether the tool may be seen. `None` for all.
    pub(super) allowed: Option<&'a [bool]>,
}

impl Request<'_> {
    pub(super) fn passes(&self, at: u32) -> bool {
        passes(self.allowed, at as usize)
    }
}

/// What a piece of evidence says of one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gain {
    /// Its position in the catalog.
    pub(super) at: u32,
    /// 0 to 1.
    pub(super) score: f32,
    /// How much of the request this shows the tool to answer, 0 to 1; see [`super::Ranking::coverage`].
    pub(super) coverage: f32,
    /// The position of the tool that this comes from, where it comes from one.
    pub(super) with: Option<u32>,
}

/// The largest weight: a hundredth of the scores is left to all the rest.
const MAX_WEIGHT: f32 = 99.0;

/// A weight between 0 and [`MAX_WEIGHT`]; 0 for no number.
pub(super) fn bounded(weight: f32) -> f32 {
    if weight.is_nan() { 0.0 } else { weight.clamp(0.0, MAX_WEIGHT) }
}

/// What all evidence came to for one request.
pub(super) struct Weighed {
    parts: Vec<Part>,
    /// The share of the scores that is left to words and vectors.
    pub(super) left: f32,
}

struct Part {
    name: &'static str,
    share: f32,
    /// By position, ascending.
    gains: Vec<Gain>,
}

/// Adds all evidence to the scores. Evidence that says nothing of this request changes nothing.
pub(super) fn weigh(evidence: &[Box<dyn Evidence>], request: &Request<'_>, scores: &mut Vec<(u32, f32)>) -> Weighed {
    let mut weighed = Weighed { parts: Vec::with_capacity(evidence.len()), left: 1.0 };
    for piece in evidence {
        let mut gains = piece.weigh(request, scores);
        gains.retain(|gain| gain.score > 0.0 && request.passes(gain.at));
        gains.sort_unstable_by_key(|gain| gain.at);
        let mut share = 0.0;
        if !gains.is_empty() {
            let weight = piece.weight();
            add(scores, &gains, weight);
            share = weight / (1.0 + weight);
            weighed.left *= 1.0 - share;
            weighed.parts.iter_mut().for_each(|part| part.share *= 1.0 - share);
        }
        weighed.parts.push(Part { name: piece.name(), share, gains });
    }
    weighed
}

/// Both are in the order of positions, and so is the result.
fn add(scores: &mut Vec<(u32, f32)>, gains: &[Gain], weight: f32) {
    let mut added = Vec::with_capacity(scores.len() + gains.len());
    let whole = |score: f32, gain: f32| (score + weight * gain.min(1.0)) / (1.0 + weight);
    let mut rest = gains.iter().peekable();
    for (at, score) in scores.drain(..) {
        while let Some(gain) = rest.next_if(|gain| gain.at < at) {
            added.push((gain.at, whole(0.0, gain.score)));
        }
        let gain = rest.next_if(|gain| gain.at == at).map_or(0.0, |gain| gain.score);
        added.push((at, whole(score, gain)));
    }
    added.extend(rest.map(|gain| (gain.at, whole(0.0, gain.score))));
    *scores = added;
}

impl Weighed {
    /// Each kind with its share of the scores; 0 where it said nothing.
    pub(super) fn channels(&self) -> impl Iterator<Item = Channel> {
        self.parts.iter().map(|part| Channel::new(part.name, part.share))
    }

    /// What each kind says of a tool.
    pub(super) fn of(&self, at: u32) -> impl Iterator<Item = (&'static str, &Gain)> {
        self.parts.iter().filter_map(move |part| {
            let found = part.gains.binary_search_by_key(&at, |gain| gain.at).ok()?;
            Some((part.name, part.gains.get(found)?))
        })
    }
}

#[cfg(test)]
mod tests;
