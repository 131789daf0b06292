use super::{delivery::Delivery, options::SessionOptions};
use crate::{
    catalog::Catalog,
    cost::{Later, Outlook, PriceSheet, cheapest},
    render::Deferral,
    retrieval::Filter,
    selection::SelectionOptions,
};

/// The most tools that [`Delivery::Auto`] puts before the model at once, whatever they cost: models
/// were seen to choose worse among more than 30 to 50 (Anthropic, tool search tool).
const MOST_AT_ONCE: usize = 40;

/// Bytes of a definition for each token: what JSON Schema takes with the tokenizers in use, near
/// enough to compare policies.
const BYTES_PER_TOKEN: usize = 4;

/// What the two tools of the host's own cost, in tokens.
const OWN_TOOLS: usize = 300;

/// What is said and answered in each request, in tokens: as much as a question and a short result.
const SAID: u64 = 200;

/// The policy of a conversation that begins.
pub(super) fn resolve(
    options: &SessionOptions,
    selection: &SelectionOptions,
    catalog: &Catalog,
    filter: &Filter,
) -> Delivery {
    match options.delivery {
        Delivery::Deferred if options.deferral() == Deferral::None => Delivery::Bridge,
        Delivery::Auto => cheapest_delivery(options, selection, catalog, filter),
        delivery => delivery,
    }
}

/// Which policy is expected to cost the least of those that offer what every turn needs. A frozen
/// array does not.
fn cheapest_delivery(
    options: &SessionOptions,
    selection: &SelectionOptions,
    catalog: &Catalog,
    filter: &Filter,
) -> Delivery {
    let joining = if options.deferral() == Deferral::None { Delivery::Bridge } else { Delivery::Deferred };
    let permitted = catalog.tools().iter().filter(|entry| filter.passes(entry));
    let (count, bytes) = permitted.fold((0, 0_usize), |(count, bytes), entry| {
        let description = entry.tool.description.as_ref().map_or(0, String::len);
        (count + 1, bytes.saturating_add(description + entry.tool.input_schema.as_str().len()))
    });
    let all = bytes / BYTES_PER_TOKEN;
    let of = |tools: usize| (all * tools.min(count) / count.max(1)).min(selection.budget.tokens());
    let (per_turn, first, later) = (of(selection.top), of(options.first), of(options.later));
    let outlook = |array: usize, later: Later, system: usize| {
        Outlook::new(options.turns)
            .with_requests(2)
            .with_array(array as u64)
            .with_later(later)
            .with_system(system as u64)
            .with_said(SAID)
            .with_output(SAID)
    };
    let searching = outlook(
        first + OWN_TOOLS,
        Later::Joined(later as u64),
        options.outline.tokens().min(12 * catalog.servers().len()),
    );
    let mut outlooks = vec![
        (joining, searching),
        (Delivery::PerTurn, outlook(per_turn, Later::Replaced(per_turn as u64), 0)),
        (Delivery::Append, outlook(per_turn, Later::Appended(later as u64), 0)),
    ];
    if count <= MOST_AT_ONCE.min(selection.provider_cap) {
        outlooks.insert(0, (Delivery::All, outlook(all, Later::Nothing, 0)));
    }
    // What matters is how reading, writing and the rest compare, which is alike for the models of one provider.
    let provider = options.provider.as_ref().map_or("", |provider| provider.name());
    let usual = || PriceSheet::first_of(provider).or_else(|| PriceSheet::all().first());
    let Some(sheet) = options.prices.as_ref().or_else(usual) else { return joining };
    cheapest(sheet, outlooks).map_or(joining, |(delivery, _)| delivery)
}
