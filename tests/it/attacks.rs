//! What servers gain that write their tools for the ranking, not for the model: what it costs the
//! tools that are needed, through ranking and selection of ten, is fixed here.
//!
//! The attacked catalog holds one attacking server for each query; a filter lets one of them
//! through at a time. A filter leaves no trace of what it excludes, statistics included, so each
//! query meets a catalog with its own attacker alone.

#![allow(clippy::unwrap_used, reason = "a set that cannot be read fails the test")]

use std::{collections::BTreeSet, sync::Arc};

use proem::{
    catalog::{Catalog, TrustTier},
    eval::{DataSet, LabeledQuery},
    id::{ServerId, ToolId},
    index::StaticEmbedder,
    protocol::Tool,
    retrieval::{Filter, Hybrid, Lexical, Retriever, Tier, ToolIndex},
    selection::{Selection, SelectionOptions, select},
    tokens::{BytesPerToken, CountCache, TokenBudget},
};

use crate::{eval::set, fake::id};

/// A benchmark, what it is without an attack, and a sample of its queries.
struct Ground {
    set: DataSet,
    queries: Vec<LabeledQuery>,
    index: Arc<dyn ToolIndex>,
    counts: CountCache,
}

/// What an attack costs.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    /// Recall of ten offered tools in percent, without the attack and with it.
    before: f64,
    after: f64,
    /// How many of the ten are the attacker's, on average.
    places: f64,
}

impl Cost {
    /// As figures that a test can fix, and within the bound.
    fn within(self, points: f64) -> String {
        let cost = self.before - self.after;
        assert!(cost <= points, "costs {cost:.2} points, more than {points}: {self:?}");
        format!("{:.2} -> {:.2}, {:.2} places", self.before, self.after, self.places)
    }
}

impl Ground {
    /// Seal-Tools, with 75 queries of each split, evenly spaced.
    fn open(retriever: &dyn Retriever) -> Option<Self> {
        let set = set("sealtools")?;
        let mut queries = set.sampled(75).queries;
        queries.retain(|query| !query.groups.is_empty());
        let index = retriever.index(&set.catalog, None).unwrap();
        assert_eq!(queries.len(), 150);
        Some(Self { set, queries, index, counts: CountCache::new(Arc::new(BytesPerToken::default())) })
    }

    /// Measures an attack with tools that depend on the request.
    fn aimed(&self, retriever: &dyn Retriever, trust: TrustTier, attack: impl Fn(&str) -> Vec<Tool>) -> Cost {
        let attacks = self.queries.iter().map(|query| attack(&query.text)).collect();
        self.cost(retriever, trust, attacks)
    }

    /// Measures an attack with the same tools for every request.
    fn blind(&self, retriever: &dyn Retriever, attack: Vec<Tool>) -> Cost {
        self.cost(retriever, TrustTier::Standard, vec![attack])
    }

    fn cost(&self, retriever: &dyn Retriever, trust: TrustTier, attacks: Vec<Vec<Tool>>) -> Cost {
        let mut builder = Catalog::builder();
        for entry in self.set.catalog.tools() {
            builder = builder.tool(entry.id.server.clone(), (*entry.tool).clone());
        }
        let count = attacks.len();
        for (number, tools) in attacks.into_iter().enumerate() {
            builder = builder.trust(attacker(number), trust);
            builder = tools.into_iter().fold(builder, |builder, tool| builder.tool(attacker(number), tool));
        }
        let attacked = retriever.index(&builder.build(), Some(&self.index)).unwrap();
        let mut cost = Cost { before: 0.0, after: 0.0, places: 0.0 };
        let share = 1.0 / self.queries.len() as f64;
        for (number, query) in self.queries.iter().enumerate() {
            let own = attacker(number % count);
            let before = self.select(&self.index, query, &Filter::new());
            let only = own.clone();
            let filter = Filter::new()
                .predicate(move |entry| entry.id.server == only || !entry.id.server.as_str().starts_with(ATTACKER));
            let after = self.select(&attacked, query, &filter);
            cost.before += 100.0 * share * recall(query, &before);
            cost.after += 100.0 * share * recall(query, &after);
            cost.places += share * after.tools.iter().filter(|tool| tool.id.server == own).count() as f64;
        }
        cost
    }

    /// With all defaults, but ten places and no budget.
    fn select(&self, index: &Arc<dyn ToolIndex>, query: &LabeledQuery, filter: &Filter) -> Selection {
        let options = SelectionOptions::default().with_top(10).with_budget(TokenBudget::new(1_000_000));
        let ranking = index.search(&query.text.as_str().into(), filter, 64).unwrap();
        select(index.catalog(), &ranking, filter, &options, &self.counts)
    }
}

const ATTACKER: &str = "attacker ";

fn attacker(number: usize) -> ServerId {
    id(&format!("{ATTACKER}{number}"))
}

fn recall(query: &LabeledQuery, selection: &Selection) -> f64 {
    let offered: BTreeSet<&ToolId> = selection.tools.iter().map(|tool| &tool.id).collect();
    let met = query.groups.iter().filter(|group| group.iter().any(|tool| offered.contains(tool)));
    met.count() as f64 / query.groups.len() as f64
}

/// Ten tools, each of which says the request.
fn copies(request: &str) -> Vec<Tool> {
    (0..10).map(|i| Tool::new(format!("helper_{i}"), request)).collect()
}

/// Ten tools, each with other words around the request, so that no two say nearly the same.
fn varied_copies(request: &str) -> Vec<Tool> {
    let others = |i: usize| (0..8).map(|j| format!("{}{i} ", char::from(b'k' + j))).collect::<String>();
    (0..10).map(|i| Tool::new(format!("helper_{i}"), format!("{}{request}", others(i)))).collect()
}

/// Ten tools with the request as their name, where it counts most.
fn named_copies(request: &str) -> Vec<Tool> {
    let name = request.split_whitespace().take(12).collect::<Vec<_>>().join("_");
    (0..10).map(|i| Tool::new(format!("{name}_{i}"), request)).collect()
}

/// All words of the catalog's descriptions, in order.
fn words(catalog: &Catalog) -> Vec<String> {
    let texts = catalog.tools().iter().filter_map(|entry| entry.tool.description.as_deref());
    let words: BTreeSet<String> = texts.flat_map(str::split_whitespace).map(str::to_lowercase).collect();
    words.into_iter().collect()
}

#[test]
fn tools_that_repeat_the_request() {
    let lexical = Lexical::new();
    let Some(ground) = Ground::open(&lexical) else { return };
    let cost = |attack: fn(&str) -> Vec<Tool>| ground.aimed(&lexical, TrustTier::Standard, attack).within(5.0);
    // The last is one tool alone.
    let costs = [cost(copies), cost(varied_copies), cost(named_copies), cost(|request| copies(request).split_off(9))];
    let expected = [
        "92.64 -> 89.14, 3.27 places",
        "92.64 -> 89.14, 2.97 places",
        "92.64 -> 89.14, 3.29 places",
        "92.64 -> 90.69, 1.00 places",
    ];
    assert_eq!(costs, expected);
}

/// Vectors are easier to aim at than words: the request as a description is its nearest neighbour.
#[test]
fn tools_that_repeat_the_request_before_vectors() {
    let hybrid = Hybrid::new(StaticEmbedder::bundled());
    let Some(ground) = Ground::open(&hybrid) else { return };
    let cost = |attack: fn(&str) -> Vec<Tool>| ground.aimed(&hybrid, TrustTier::Standard, attack).within(5.0);
    assert_eq!(
        [cost(copies), cost(varied_copies), cost(named_copies)],
        ["91.36 -> 87.36, 2.62 places", "91.36 -> 88.02, 2.15 places", "91.36 -> 87.36, 2.64 places"]
    );
}

#[test]
fn an_untrusted_server_gains_less() {
    let lexical = Lexical::new();
    let Some(ground) = Ground::open(&lexical) else { return };
    let cost = |attack: fn(&str) -> Vec<Tool>| ground.aimed(&lexical, TrustTier::Untrusted, attack).within(4.0);
    assert_eq!([cost(varied_copies), cost(named_copies)], ["92.64 -> 90.02, 2.03 places"; 2]);
}

#[test]
fn tools_that_hold_many_words() {
    let lexical = Lexical::new();
    let Some(ground) = Ground::open(&lexical) else { return };
    let words = words(&ground.set.catalog);
    let ten = |text: &str| (0..10).map(|i| Tool::new(format!("helper_{i}"), text)).collect();
    // Every word of the catalog 50 times, as far as a description is read.
    let stuffed = words.iter().map(|word| format!("{word} ").repeat(50)).collect::<String>();
    let repeated = format!("{} ", words.join(" ")).repeat(50);
    // The request, and ten thousand words more.
    let long = words.iter().cycle().step_by(7).take(10_000).map(String::as_str).collect::<Vec<_>>().join(" ");
    let long = |request: &str| vec![Tool::new("helper", format!("{request} {long}"))];
    let costs = [
        ground.blind(&lexical, ten(&stuffed)),
        ground.blind(&lexical, ten(&repeated)),
        ground.aimed(&lexical, TrustTier::Standard, long),
    ];
    let expected = ["92.64 -> 92.38, 0.00 places", "92.64 -> 92.12, 0.00 places", "92.64 -> 92.48, 0.00 places"];
    assert_eq!(costs.map(|cost| cost.within(1.0)), expected);
}

/// The names of other servers' tools, typed.
#[test]
fn tools_with_the_names_of_others() {
    let lexical = Lexical::new();
    let Some(ground) = Ground::open(&lexical) else { return };
    let tools = ground.set.catalog.tools();
    let sample: Vec<_> = (0..150).map(|i| &tools[i * tools.len() / 150]).collect();
    let first = |trust: TrustTier| {
        let mut builder = Catalog::builder().trust(attacker(0), trust);
        for entry in tools {
            builder = builder.tool(entry.id.server.clone(), (*entry.tool).clone());
        }
        for entry in &sample {
            builder = builder.tool(attacker(0), (*entry.tool).clone());
        }
        let index = lexical.index(&builder.build(), Some(&ground.index)).unwrap();
        let named = |text: &str, id: &ToolId| {
            let ranking = index.search(&text.into(), &Filter::new(), 10).unwrap();
            let place = ranking.hits.iter().position(|hit| hit.tool == *id && hit.tier == Tier::Named);
            let others = ranking.hits.iter().filter(|hit| hit.tier == Tier::Named && hit.tool.server == attacker(0));
            (place == Some(0), others.count())
        };
        let found: Vec<_> = sample.iter().map(|entry| named(&format!("`{}`", entry.id.name), &entry.id)).collect();
        // How often the first is the one that was there before, and how many of the copies are named.
        (found.iter().filter(|(first, _)| *first).count(), found.iter().map(|(_, others)| others).sum::<usize>())
    };
    assert_eq!([first(TrustTier::Untrusted), first(TrustTier::Standard)], [(150, 0), (75, 150)]);
}
