//! How likely it is that a tool of the catalog fits a request.
//!
//! A regression over three signals that mean the same in every catalog. It was fitted on half
//! of the 520 requests of MetaTool that need no tool and the 520 that were made to be set against
//! them, and measured on the other half; `docs/retrieval.md` has the figures. So a confidence of
//! 0.5 is that of a request which is as likely to need a tool as not, if as many do as do not.

/// What the channels know of one request, before anything is decided.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Signals {
    /// Whether the request names a tool.
    pub(super) named: bool,
    /// The best score by words, in terms that one tool alone holds.
    pub(super) words: f32,
    /// The share of the request's words that the best tool by words holds, by their rarity.
    pub(super) coverage: f32,
    /// By how much the request is nearer to the best tool than to requests that need none.
    pub(super) lead: Option<f32>,
    /// How much of the request the embedder knows, 0 to 1.
    pub(super) known: f32,
}

/// What one signal more adds to the odds, and where they start.
struct Model {
    start: f32,
    words: f32,
    coverage: f32,
    lead: f32,
}

const WORDS: Model = Model { start: -2.54, words: 4.45, coverage: 3.45, lead: 0.0 };
const LEAD: Model = Model { start: -1.39, words: 0.0, coverage: 0.0, lead: 7.43 };
const BOTH: Model = Model { start: -2.72, words: 3.05, coverage: 1.51, lead: 6.18 };

/// The best score by words that counts half of what the greatest could: one rare word.
const HALF: f32 = 1.0;

impl Signals {
    /// Of words alone.
    pub(super) fn of_words(self) -> f32 {
        if self.named { 1.0 } else { self.by(&WORDS) }
    }

    /// Of vectors alone; nothing without them.
    pub(super) fn of_vectors(self) -> Option<f32> {
        self.lead.map(|_| self.by(&LEAD))
    }

    /// Of both, as far as the embedder knows the request.
    pub(super) fn of_both(self) -> f32 {
        let known = if self.lead.is_some() { self.known } else { 0.0 };
        if self.named { 1.0 } else { known * self.by(&BOTH) + (1.0 - known) * self.by(&WORDS) }
    }

    /// The distribution function of Student's t with two degrees of freedom: like a logistic curve,
    /// but of a square root, which every machine rounds alike.
    fn by(self, model: &Model) -> f32 {
        let words = self.words.max(0.0);
        let odds = model.start
            + model.words * (words / (words + HALF))
            + model.coverage * self.coverage
            + model.lead * self.lead.unwrap_or(0.0);
        0.5 * (1.0 + odds / (1.0 + odds * odds).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_is_certain_and_nothing_is_not() {
        let nothing = Signals::default();
        assert!(nothing.of_words() < 0.1 && nothing.of_both() < 0.1 && nothing.of_vectors().is_none());
        let named = Signals { named: true, ..nothing };
        assert_eq!((named.of_words(), named.of_both()), (1.0, 1.0));
    }

    #[test]
    fn an_embedder_that_does_not_know_the_request_has_no_say() {
        let words = Signals { words: 9.0, coverage: 0.6, ..Signals::default() };
        let foreign = Signals { lead: Some(-1.0), known: 0.0, ..words };
        assert_eq!(foreign.of_both(), words.of_words());
        assert_eq!(words.of_both(), words.of_words());
    }

    proptest! {
        #[test]
        fn more_of_a_signal_is_never_less_sure(
            words in 0.0..100.0_f32, coverage in 0.0..=1.0_f32, lead in -2.0..=2.0_f32, known in 0.0..=1.0_f32, more in 0.0..1.0_f32,
        ) {
            let signals = Signals { named: false, words, coverage, lead: Some(lead), known };
            let all = |signals: Signals| [signals.of_words(), signals.of_vectors().unwrap_or_default(), signals.of_both()];
            for greater in [
                Signals { words: words + more, ..signals },
                Signals { coverage: coverage + more, ..signals },
                Signals { lead: Some(lead + more), ..signals },
            ] {
                for (before, after) in all(signals).into_iter().zip(all(greater)) {
                    prop_assert!((0.0..=1.0).contains(&before) && after >= before - 1e-6);
                }
            }
        }
    }
}
