use std::time::{Duration, Instant};

use super::{Channel, State, reason_of};
use crate::{
    index::{
        embedder::{TextKind, embed},
        vector_cache::Shelf,
    },
    json::Digest,
};

/// A text that is embedded, under its digest.
pub(super) type Text = (Digest, String);

/// When failures are taken to mean that the embedder is down, not that it refuses single texts: so
/// many in a row (halving the largest batch down to one text takes fewer), so many in all, or so
/// much time lost with them (to refuse a text takes none).
const MAX_FAILURES_IN_A_ROW: usize = 16;
const MAX_FAILURES: usize = 256;
const MAX_LOST: Duration = Duration::from_secs(5);

/// How many vectors are written to the cache at once.
const WRITTEN_AT_ONCE: usize = 1_024;

/// What became of a text.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) state: State,
    pub(super) vector: Vec<f32>,
}

impl Outcome {
    fn embedded(vector: Vec<f32>) -> Self {
        let blank = vector.iter().all(|x| *x == 0.0);
        Self { state: if blank { State::Blank } else { State::Embedded }, vector }
    }
}

impl Default for Outcome {
    fn default() -> Self {
        Self { state: State::Missing, vector: Vec::new() }
    }
}

/// The outcome of each text, as the cache has it or the embedder gives it, and the last failure.
pub(super) fn outcomes(
    channel: &Channel,
    identity: &str,
    texts: &[Text],
    kind: TextKind,
) -> (Vec<Outcome>, Option<String>) {
    let Channel { embedder, options, .. } = channel;
    let Some(cache) = options.cache.as_ref().filter(|_| !texts.is_empty()) else {
        let texts: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
        return embed_all(channel, &texts, kind, |_, _| {});
    };
    let shelf = Shelf::new(identity, embedder.dimensions());
    let digests: Vec<Digest> = texts.iter().map(|(digest, _)| *digest).collect();
    let mut kept = cache.read(shelf, &digests);
    let new: Vec<&Text> = texts.iter().filter(|(digest, _)| !kept.contains_key(digest)).collect();
    let new_texts: Vec<&str> = new.iter().map(|(_, text)| text.as_str()).collect();
    // Written as they come: a process that stops loses the last of them, not all.
    let mut unwritten: Vec<(Digest, Vec<f32>)> = Vec::new();
    let write = |unwritten: &mut Vec<(Digest, Vec<f32>)>| {
        let vectors: Vec<_> = unwritten.iter().map(|(text, vector)| (*text, vector.as_slice())).collect();
        // An embedder that became another one meanwhile has given vectors of nobody knows which.
        if !vectors.is_empty() && embedder.identity() == identity {
            cache.write(shelf, &vectors);
        }
        unwritten.clear();
    };
    let (embedded, failure) = embed_all(channel, &new_texts, kind, |at, vector| {
        unwritten.extend(new.get(at).map(|(digest, _)| (*digest, vector.to_vec())));
        if unwritten.len() >= WRITTEN_AT_ONCE {
            write(&mut unwritten);
        }
    });
    write(&mut unwritten);
    let mut embedded = embedded.into_iter();
    let outcomes = digests.iter().map(|digest| match kept.remove(digest) {
        Some(vector) => Outcome::embedded(vector),
        None => embedded.next().unwrap_or_default(),
    });
    (outcomes.collect(), failure)
}

/// Embeds texts in batches; what fails is tried again by halves, so that one bad text costs only
/// itself. Gives the outcome of each text, and the last failure; `keep` is told of each vector as
/// it comes.
fn embed_all(
    channel: &Channel,
    texts: &[&str],
    kind: TextKind,
    mut keep: impl FnMut(usize, &[f32]),
) -> (Vec<Outcome>, Option<String>) {
    let mut outcomes = vec![Outcome::default(); texts.len()];
    if texts.is_empty() {
        return (outcomes, None);
    }
    if let Some(reason) = channel.pause.reason() {
        return (outcomes, Some(reason));
    }
    let batch = channel.embedder.max_batch().max(1);
    let mut open: Vec<std::ops::Range<usize>> =
        (0..texts.len()).step_by(batch).map(|start| start..(start + batch).min(texts.len())).collect();
    open.reverse();
    let (mut refused, mut failure, mut any, mut down) = (Vec::new(), None, false, false);
    let (mut failures, mut in_a_row, mut lost) = (0, 0, Duration::ZERO);
    while let Some(range) = open.pop() {
        let started = Instant::now();
        match embed(&*channel.embedder, &texts[range.clone()], kind) {
            Ok(vectors) => {
                (any, in_a_row) = (true, 0);
                for (at, vector) in range.zip(vectors) {
                    keep(at, &vector);
                    outcomes[at] = Outcome::embedded(vector);
                }
            }
            Err(error) => {
                (failures, in_a_row, lost) = (failures + 1, in_a_row + 1, lost + started.elapsed());
                failure = Some(reason_of(&error));
                down = in_a_row >= MAX_FAILURES_IN_A_ROW || failures >= MAX_FAILURES || lost >= MAX_LOST;
                if down {
                    break;
                }
                if range.len() == 1 {
                    refused.push(range.start);
                } else {
                    let middle = range.start + range.len() / 2;
                    open.push(middle..range.end);
                    open.push(range.start..middle);
                }
            }
        }
    }
    // Where nothing was taken, nothing was refused for its text.
    if any && !down {
        refused.iter().for_each(|at| outcomes[*at].state = State::Refused);
    } else if let Some(reason) = &failure {
        channel.pause.begin(reason.clone());
    }
    (outcomes, failure)
}
