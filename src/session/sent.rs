use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Session, event::SessionEvent};
use crate::{
    Error, Result,
    cost::{Calibration, LastRequest, PriceSheet, Prompt, PromptCache, Usage, Verdict},
    prefix::{Prefix, PrefixDiff},
    render::Request,
};

/// What a request that was sent should find in the provider's cache.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Sent {
    /// What changed since the request before; `None` for the first of the conversation.
    pub diff: Option<PrefixDiff>,
    /// What the session decided in this turn that changed the prefix, if it did.
    pub decision: Option<String>,
    /// The tokens that the provider is expected to read, to write and to process anew; `None` without
    /// [prices](super::SessionOptions::prices).
    pub predicted: Option<Usage>,
    /// What that costs, in US dollars, the answer apart.
    pub cost: Option<f64>,
}

/// What a provider billed, beside what was expected.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Observed {
    /// What it billed.
    pub usage: Usage,
    /// What that costs, in US dollars; `None` without [prices](super::SessionOptions::prices).
    pub cost: Option<f64>,
    /// Whether the cache gave what was expected, and why not; `None` without prices.
    pub verdict: Option<Verdict>,
    /// By how much counts are multiplied from now on, learnt from this and earlier requests.
    pub factor: f64,
}

/// What the provider has of a conversation, as far as the session knows.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct Wire {
    last: Option<Last>,
    /// By the name of the sheet whose rules it follows.
    cache: Option<(String, PromptCache)>,
    calibration: Calibration,
}

/// The last request.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Last {
    /// Without the conversation's text: digests tell what changed.
    prefix: Prefix,
    at: Timestamp,
    /// Its tokens as they were counted.
    counted: u64,
    predicted: Option<Usage>,
    /// Seconds since the one before it, and the blocks that it has more.
    before: Option<(u64, usize)>,
}

impl Session {
    /// Says that a request of this conversation was sent, and when: every request, those within a turn
    /// too. Gives what the provider's cache should make of it.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a request in a form that no provider of this crate has.
    pub fn sent(&mut self, request: &Request, at: Timestamp) -> Result<Sent> {
        let prefix = Prefix::read(request.as_str())?;
        let prompt = Prompt::of(&prefix, self.composer.counts());
        let counted = prompt.tokens();
        let wire = &mut self.wire;
        let diff = wire.last.as_ref().map(|last| PrefixDiff::between(&last.prefix, &prefix));
        let prices = self.options.prices.as_ref();
        let predicted = prices.map(|sheet| {
            let prompt = prompt.calibrated(wire.calibration.factor(&sheet.name()));
            let kept = wire.cache.take().filter(|(name, _)| *name == sheet.name());
            let (_, cache) = wire.cache.insert(kept.unwrap_or_else(|| (sheet.name(), PromptCache::new(sheet))));
            cache.send(&prompt, u64::try_from(at.as_second()).unwrap_or_default())
        });
        let before = wire.last.as_ref().map(|last| {
            let blocks = prefix.segments.len().saturating_sub(last.prefix.segments.len());
            (seconds_between(last.at, at), blocks)
        });
        let extends = diff.as_ref().is_none_or(|diff| diff.extends);
        wire.last = Some(Last { prefix: prefix.without_conversation(), at, counted, predicted, before });
        let cost = prices.zip(predicted).map(|(sheet, usage)| sheet.cost(&usage));
        Ok(Sent { diff, decision: if extends { None } else { self.decision.clone() }, predicted, cost })
    }

    /// Takes the usage that the provider billed for the last request that was [sent](Self::sent): a
    /// usage object, or the whole response that holds one. Compares it with what was expected, and
    /// learns how far the counter is off.
    ///
    /// # Errors
    /// [`Error::Invalid`] if nothing was sent before, and for a usage object that cannot be read.
    pub fn observe_usage(&mut self, usage: &Value) -> Result<Observed> {
        let usage = Usage::read(usage)?;
        let prices = self.options.prices.as_ref();
        let Some(last) = &self.wire.last else {
            return Err(Error::invalid("usage object", "no request of this session was sent before"));
        };
        let verdict = prices.zip(last.predicted).map(|(sheet, predicted)| {
            let before = last.before.map(|(seconds, blocks)| LastRequest::new(seconds).with_blocks_added(blocks));
            Verdict::of(&predicted, &usage, sheet, before)
        });
        let model = prices.map_or_else(|| last.prefix.dialect.to_string(), PriceSheet::name);
        self.wire.calibration.observe(&model, last.counted, usage.total_input());
        let factor = self.wire.calibration.factor(&model);
        Ok(Observed { usage, cost: prices.map(|sheet| sheet.cost(&usage)), verdict, factor })
    }

    /// Whether the provider has forgotten the prefix by then, as far as its prices say.
    pub(super) fn expired(&self, at: Timestamp) -> Option<SessionEvent> {
        let (last, prices) = (self.wire.last.as_ref()?, self.options.prices.as_ref()?);
        let kept = last.prefix.segments.iter().filter_map(|segment| segment.mark?.ttl_seconds).max();
        let ttl = kept.unwrap_or(prices.cache.ttl_seconds);
        (seconds_between(last.at, at) > ttl.into()).then_some(SessionEvent::Expired)
    }
}

impl Wire {
    /// Another model or provider has none of it.
    pub(super) fn forget(&mut self) {
        self.cache = None;
    }
}

fn seconds_between(earlier: Timestamp, later: Timestamp) -> u64 {
    u64::try_from(later.as_second().saturating_sub(earlier.as_second())).unwrap_or_default()
}
