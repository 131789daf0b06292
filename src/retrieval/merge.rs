//! One ranking from several texts: sub-queries, or a follow-up with the turns before it.
//!
//! Lists are merged round robin: the best hit of each, then the second of each, and so on. Each
//! sub-query needs a tool of its own, so that what several lists agree on is the wrong rule:
//! fusing the same lists by their reciprocal ranks found 48 % of the needed tools among the first
//! ten where taking turns found 70 %.

use std::collections::HashSet;

use super::{Channel, Filter, Hit, Origin, Query, Ranking, Tier, ToolIndex, follow_up::Weight, trust::order_equals};
use crate::{Result, id::ToolId};

/// How much each turn back weighs against the one after it. A selection keeps by default what has
/// at least 0.4 of the best score: of the turn before, tools are kept down to half of that turn's
/// best, and four turns back (0.41) hardly more than the best one.
const PER_TURN: f32 = 0.8;

/// The most turns that a follow-up is searched with: one further back would weigh less than what a
/// selection keeps.
const MAX_TURNS: usize = 4;

/// The best `limit` tools for a query, within what the filter asks for as far as that leaves enough.
pub(super) fn search<I: ToolIndex + ?Sized>(
    index: &I,
    query: &Query,
    filter: &Filter,
    limit: usize,
) -> Result<Ranking> {
    #[cfg(feature = "tantivy")]
    if let Some(narrowing) = filter.narrowing() {
        let all = |filter: &Filter| search_all(index, query, filter, limit);
        return super::narrowing::search(index, &filter.widest(), &narrowing, all);
    }
    search_all(index, query, filter, limit)
}

/// The best `limit` tools for all parts of a query. A query of one text is searched as it is.
fn search_all<I: ToolIndex + ?Sized>(index: &I, query: &Query, filter: &Filter, limit: usize) -> Result<Ranking> {
    let parts = parts(query);
    let recent = if query.is_follow_up() { recent(index, query, filter) } else { Vec::new() };
    let mut lists = Vec::with_capacity(parts.len() + 1);
    let mut merged = Ranking::default();
    let alone = parts.len() == 1 && recent.is_empty();
    for part in &parts {
        let mut ranking = index.search_text(part.text, filter, limit)?;
        order_equals(&mut ranking.hits, index.catalog());
        if alone {
            ranking.hits.iter_mut().for_each(|hit| hit.origin = part.origin);
            return Ok(ranking);
        }
        if part.names_only {
            ranking.hits.retain(|hit| hit.tier == Tier::Named);
        }
        join(&mut merged.channels, ranking.channels);
        if !ranking.hits.is_empty() {
            merged.coverage = merged.coverage.max(ranking.coverage);
            merged.confidence = merged.confidence.into_iter().chain(ranking.confidence).reduce(f32::max);
        }
        lists.push(part.weighed(ranking.hits));
    }
    // The newest text first, then what is in use, then the turns before.
    lists.insert(lists.len().min(1), recent);
    merged.hits = round_robin(lists, limit);
    Ok(merged)
}

/// Adds what a text says of its channels: of each the greatest share, and the first trouble. One
/// text that was searched worse than it should have been makes the whole ranking so.
fn join(channels: &mut Vec<Channel>, more: Vec<Channel>) {
    for channel in more {
        match channels.iter_mut().find(|known| known.name == channel.name) {
            Some(known) => {
                known.weight = known.weight.max(channel.weight);
                known.trouble = known.trouble.take().or(channel.trouble);
            }
            None => channels.push(channel),
        }
    }
}

/// A text that is searched with.
struct Part<'a> {
    text: &'a str,
    origin: Origin,
    weight: f32,
    /// Whether only the tools that it names count.
    names_only: bool,
}

impl Part<'_> {
    /// Scores of different texts cannot be compared, but their shares of the best one can. A tool
    /// that is named counts as the best, whatever its text is worth.
    fn weighed(&self, mut hits: Vec<Hit>) -> Vec<Hit> {
        let best = hits.iter().map(|hit| hit.score).fold(0.0, f32::max);
        for hit in &mut hits {
            hit.origin = self.origin;
            let whole = if hit.tier == Tier::Named { hit.score } else { best };
            // Nothing is a share of a score that is not positive.
            if whole > 0.0 {
                hit.score = hit.score / whole * self.weight;
                hit.fields.values_mut().for_each(|given| *given = *given / whole * self.weight);
            } else {
                hit.score = self.weight;
            }
        }
        hits
    }
}

/// What is searched with: never nothing.
fn parts(query: &Query) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut room = Query::MAX_CHARS;
    let whole = |text| Part { text, origin: Origin::Query, weight: 1.0, names_only: false };
    let filled = |text: &str| !text.trim().is_empty();
    if query.sub_queries.iter().any(|text| filled(text)) {
        let mut seen = HashSet::new();
        let texts = query.sub_queries.iter().enumerate().filter(|(_, text)| filled(text)).take(Query::MAX_PARTS);
        for (at, text) in texts.filter(|(_, text)| seen.insert(*text)) {
            push(&mut parts, &mut room, Part { origin: Origin::SubQuery(at), ..whole(text) });
        }
        // The whole text catches what its parts leave out. Where it is no more than its parts, or
        // says nothing on its own, it adds nothing.
        if filled(&query.text) && query.text != query.sub_queries.join("\n") {
            let names_only = Weight::of(&query.text).leans();
            push(&mut parts, &mut room, Part { names_only, ..whole(&query.text) });
        }
        return parts;
    }
    let newest = Weight::of(&query.text);
    let before = if newest.leans() { turns(query) } else { Vec::new() };
    let context = !before.is_empty() || !query.recent_tools.is_empty();
    push(&mut parts, &mut room, Part { names_only: context && newest.is_nothing(), ..whole(&query.text) });
    for part in before {
        push(&mut parts, &mut room, part);
    }
    parts
}

/// The turns that a follow-up leans on: back to the first that says enough on its own. Those that
/// say nothing are passed over.
fn turns(query: &Query) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut weight = PER_TURN;
    for (back, text) in (1..).zip(query.turns.iter().rev()).take(Query::MAX_PARTS) {
        let says = Weight::of(text);
        if says.is_nothing() {
            continue;
        }
        parts.push(Part { text, origin: Origin::Turn(back), weight, names_only: false });
        weight *= PER_TURN;
        if !says.leans() || parts.len() == MAX_TURNS {
            break;
        }
    }
    parts
}

/// Adds a part as far as there is room.
fn push<'a>(parts: &mut Vec<Part<'a>>, room: &mut usize, part: Part<'a>) {
    let (text, chars) = match part.text.char_indices().nth(*room) {
        Some((end, _)) => (&part.text[..end], *room),
        None => (part.text, part.text.chars().count()),
    };
    *room -= chars;
    if chars > 0 || parts.is_empty() {
        parts.push(Part { text, ..part });
    }
}

/// The tools used last, newest first, that are still there and that the filter lets pass.
fn recent<I: ToolIndex + ?Sized>(index: &I, query: &Query, filter: &Filter) -> Vec<Hit> {
    let known = query.recent_tools.iter().rev().take(Query::MAX_PARTS);
    let known = known.filter(|tool| index.catalog().tool(tool).is_some_and(|entry| filter.passes(entry)));
    (1..)
        .zip(known)
        .map(|(rank, tool)| Hit { origin: Origin::Recent, ..Hit::new(tool.clone(), PER_TURN, rank) })
        .collect()
}

/// Named tools first, then the best of each list, then the second of each. A tool that several
/// lists hold stands where it comes first.
fn round_robin(lists: Vec<Vec<Hit>>, limit: usize) -> Vec<Hit> {
    let mut candidates = Vec::new();
    for (list, hits) in lists.into_iter().enumerate() {
        let (mut named, mut scored) = (0, 0);
        for hit in hits {
            let round = if hit.tier == Tier::Named { &mut named } else { &mut scored };
            *round += 1;
            candidates.push((hit.tier, *round, list, hit));
        }
    }
    candidates.sort_by_key(|(tier, round, list, _)| (*tier, *round, *list));
    let mut seen: HashSet<ToolId> = HashSet::with_capacity(candidates.len());
    let hits = candidates.into_iter().map(|(.., hit)| hit).filter(|hit| seen.insert(hit.tool.clone()));
    hits.take(limit).zip(1..).map(|(hit, rank)| Hit { rank, ..hit }).collect()
}

#[cfg(test)]
mod tests;
