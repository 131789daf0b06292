use std::{cmp::Reverse, collections::BTreeMap, fmt::Write};

use super::{Kind, OTHER, Taxonomy};
use crate::tokens::{TokenBudget, TokenCounter};

impl Taxonomy {
    /// What the catalog holds, in at most so many tokens: servers, topics and kinds with how many
    /// tools each has. A few hundred tokens are enough for most catalogs.
    ///
    /// What does not fit goes step by step: the kinds of each server and topic first, then the
    /// smaller servers and topics, of which the number stays. The same tree and budget give the same
    /// bytes. Empty if not even the number of tools fits.
    ///
    /// It holds words that servers wrote, one by one: untrusted as their descriptions are.
    pub fn outline(&self, budget: TokenBudget, counter: &dyn TokenCounter) -> String {
        let outline = Outline::new(self);
        let steps = [Step { most: usize::MAX, kinds: true }];
        let fewer = [usize::MAX, 128, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1, 0];
        let steps = steps.into_iter().chain(fewer.map(|most| Step { most, kinds: false }));
        let texts = steps.map(|step| outline.text(step)).chain([outline.tools.clone(), String::new()]);
        texts.into_iter().find(|text| counter.count(text) <= budget.tokens()).unwrap_or_default()
    }
}

#[derive(Clone, Copy)]
struct Step {
    /// The most servers, and the most topics.
    most: usize,
    /// Whether each one's kinds are told.
    kinds: bool,
}

type Counts = BTreeMap<Kind, usize>;

struct Outline<'a> {
    tools: String,
    kinds: Counts,
    servers: Vec<(&'a str, Counts)>,
    topics: Vec<(&'a str, Counts)>,
}

impl<'a> Outline<'a> {
    fn new(taxonomy: &'a Taxonomy) -> Self {
        let mut servers: BTreeMap<&str, Counts> = BTreeMap::new();
        let mut topics: BTreeMap<&str, Counts> = BTreeMap::new();
        let mut kinds = Counts::new();
        for (at, entry) in taxonomy.catalog().tools().iter().enumerate() {
            let kind = taxonomy.kind_at(at);
            for counts in [
                servers.entry(entry.id.server.as_str()).or_default(),
                topics.entry(taxonomy.label_at(at)).or_default(),
                &mut kinds,
            ] {
                *counts.entry(kind).or_default() += 1;
            }
        }
        let tools = format!("{} tools on {} servers", taxonomy.catalog().tools().len(), servers.len());
        Self { tools, kinds, servers: largest_first(servers), topics: largest_first(topics) }
    }

    fn text(&self, step: Step) -> String {
        let mut out = self.tools.clone();
        if !self.kinds.is_empty() {
            out.push_str(": ");
            write_kinds(&mut out, &self.kinds);
        }
        for (title, groups) in [("Servers", &self.servers), ("Topics", &self.topics)] {
            if groups.is_empty() || step.most == 0 {
                continue;
            }
            _ = write!(out, "\n{title}:");
            for (name, counts) in groups.iter().take(step.most) {
                if step.kinds {
                    _ = write!(out, "\n- {name}: ");
                    write_kinds(&mut out, counts);
                } else {
                    _ = write!(out, "\n- {name}: {}", sum(counts));
                }
            }
            let left: &[_] = groups.get(step.most..).unwrap_or_default();
            if !left.is_empty() {
                let tools: usize = left.iter().map(|(_, counts)| sum(counts)).sum();
                _ = write!(out, "\n- {} more: {tools}", left.len());
            }
        }
        out
    }
}

/// The largest first, equals by name; `other` last.
fn largest_first(groups: BTreeMap<&str, Counts>) -> Vec<(&str, Counts)> {
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(name, counts)| (*name == OTHER, Reverse(sum(counts)), *name));
    groups
}

fn sum(counts: &Counts) -> usize {
    counts.values().sum()
}

fn write_kinds(out: &mut String, counts: &Counts) {
    for (i, (kind, count)) in counts.iter().enumerate() {
        _ = write!(out, "{}{kind} {count}", if i == 0 { "" } else { ", " });
    }
}
