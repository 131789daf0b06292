use proptest::prelude::*;

use super::*;
use crate::{catalog::Catalog, id::ServerId, protocol::Tool};

/// Takes a text for its answer: the words are the tools' names, best first, and `!` marks those that
/// it names. Of words that are no tools it knows nothing.
#[derive(Debug)]
struct Spelled(Catalog);

impl Spelled {
    fn new() -> Self {
        let server = ServerId::new("s").unwrap();
        let names = 'a'..='z';
        let tools = names.fold(Catalog::builder(), |builder, name| {
            builder.tool(server.clone(), Tool::new(format!("tool_{name}"), "A tool"))
        });
        Self(tools.build())
    }

    fn id(name: &str) -> ToolId {
        ToolId::new(ServerId::new("s").unwrap(), format!("tool_{name}"))
    }
}

impl ToolIndex for Spelled {
    fn catalog(&self) -> &Catalog {
        &self.0
    }

    fn search_text(&self, text: &str, filter: &Filter, limit: usize) -> Result<Ranking> {
        assert!(text.chars().count() <= Query::MAX_CHARS);
        let mut hits: Vec<Hit> = Vec::new();
        for word in text.split_whitespace() {
            let (name, tier) = match word.strip_prefix('!') {
                Some(name) => (name, Tier::Named),
                None => (word, Tier::Scored),
            };
            let id = Self::id(name);
            let passes = self.0.tool(&id).is_some_and(|entry| filter.passes(entry));
            if passes && hits.iter().all(|hit| hit.tool != id) {
                hits.push(Hit { tier, ..Hit::new(id, 10.0 - hits.len() as f32, 0) });
            }
        }
        hits.sort_by_key(|hit| hit.tier);
        hits.truncate(limit);
        hits.iter_mut().zip(1..).for_each(|(hit, rank)| hit.rank = rank);
        let trouble = text.contains("zz").then(|| "zz is not known".to_owned());
        let channels = vec![Channel::new("letters", hits.len() as f32 / 100.0).with_trouble(trouble)];
        Ok(Ranking { coverage: hits.len() as f32 / 100.0, hits, channels, ..Ranking::default() })
    }
}

fn ranking(query: &Query, limit: usize) -> Ranking {
    Spelled::new().search(query, &Filter::new(), limit).unwrap()
}

/// The hits' letters.
fn order(query: &Query) -> String {
    ranking(query, 100).hits.iter().map(|hit| hit.tool.name.trim_start_matches("tool_")).collect::<Vec<_>>().join(" ")
}

/// Words that carry meaning, so that no part is taken for a follow-up.
const TOPIC: &str = "compare several unrelated topics";

#[test]
fn parts_take_turns_and_duplicates_are_skipped() {
    assert_eq!(order(&Query::of_parts(["a b c d", "b x", "a y z"])), "a b x y c z d");
}

#[test]
fn channels_of_all_parts_are_told_once() {
    let channels = ranking(&Query::of_parts(["a b", "x zz y z", "zz"]), 9).channels;
    assert_eq!(channels, [Channel::new("letters", 0.03).with_trouble(Some("zz is not known".into()))]);
    let whole = ranking(&Query::of_parts(["a b", "x"]), 9);
    assert!(!whole.is_degraded() && whole.channels.len() == 1);
    assert!(ranking(&Query::new("yes").with_turns(["a b zz several unrelated topics"]), 9).is_degraded());
}

#[test]
fn named_tools_of_any_part_come_first() {
    assert_eq!(order(&Query::of_parts(["a b c", "x !c", "y"])), "c a x y b");
    // Even those that only the whole text names; its other hits come after those of the parts.
    let query = Query::new("use !k for several unrelated topics d e").with_sub_query("a b").with_sub_query("x");
    assert_eq!(order(&query), "k a x d b e");
    // A text that says little adds no hits but those that it names.
    assert_eq!(order(&Query::new("yes do it !k z").with_sub_query("a b").with_sub_query("x")), "k a x b");
}

#[test]
fn scores_are_shares_and_origins_are_told() {
    let hits = ranking(&Query::of_parts(["a b", "x"]), 10).hits;
    let told: Vec<_> = hits.iter().map(|hit| (hit.rank, hit.score, hit.origin)).collect();
    let [one, two] = [Origin::SubQuery(0), Origin::SubQuery(1)];
    assert_eq!(told, [(1, 1.0, one), (2, 1.0, two), (3, 0.9, one)]);
    assert_eq!(one.to_string(), "sub-query 1");
}

#[test]
fn a_follow_up_leans_on_what_was_used_and_then_on_the_turns() {
    let before = format!("{TOPIC} t u v");
    let agreed = Query::new("yes, do it").with_turns([format!("{TOPIC} p q"), before.clone(), "u sure?".into()]);
    assert_eq!(order(&agreed), "t u v", "back to the first turn that says enough");
    let used = agreed.with_recent_tools(["r", "u"].map(Spelled::id));
    assert_eq!(order(&used), "u t r v", "the newest use first");
    let hits = ranking(&used, 10).hits;
    assert_eq!([hits[0].origin, hits[1].origin, hits[2].origin], [Origin::Recent, Origin::Turn(2), Origin::Recent]);

    let another = Query::new("b").with_turns([before]).with_recent_tools([Spelled::id("r")]);
    assert_eq!(order(&another), "b r t u v", "one word of its own comes first");
    let scores: Vec<_> = ranking(&another, 10).hits.iter().map(|hit| hit.score).collect();
    assert!(scores[0] == 1.0 && scores[1] == 0.8 && scores[2] == 0.8 && scores[3] < 0.8, "{scores:?}");
}

#[test]
fn a_query_that_says_enough_is_not_dragged_back() {
    let query = Query::new(format!("{TOPIC} a b"));
    let later = query.clone().with_turns(["t u v"]).with_recent_tools([Spelled::id("r")]);
    assert_eq!(ranking(&later, 10), ranking(&query, 10));
    let parts = Query::of_parts(["a b", "c"]);
    let later = parts.clone().with_turns(["t u v"]).with_recent_tools([Spelled::id("r")]);
    assert_eq!(ranking(&later, 10), ranking(&parts, 10));
}

#[test]
fn tools_that_are_gone_or_filtered_do_not_come_back() {
    let query = Query::new("yes").with_turns(["r s"]).with_recent_tools(["gone", "r", "q"].map(Spelled::id));
    let filter = Filter::new().deny("s/tool_r".parse().unwrap());
    let hits = Spelled::new().search(&query, &filter, 10).unwrap().hits;
    assert_eq!(hits.iter().map(|hit| &*hit.tool.name).collect::<Vec<_>>(), ["tool_q", "tool_s"]);
}

#[test]
fn a_first_turn_that_is_terse_is_searched_as_it_is() {
    for text in ["a", "yes", "", "a it"] {
        let plain = Spelled::new().search_text(text, &Filter::new(), 10).unwrap();
        assert_eq!(ranking(&text.into(), 10), plain, "{text}");
    }
}

#[test]
fn all_parts_together_are_bounded() {
    let long = format!("{} a", "xx ".repeat(Query::MAX_CHARS));
    let query = Query::new(long.clone()).with_sub_query("x").with_sub_query(long).with_sub_query("y");
    assert_eq!(order(&query), "x", "a long part leaves no room for later ones");
    let many = ('a'..='z').fold(Query::new(""), |query, part| query.with_sub_query(part));
    assert_eq!(ranking(&many, 100).hits.len(), Query::MAX_PARTS);
}

fn lists() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![8 => "[a-z]", 1 => "![a-z]", 1 => "[a-z]{2}"];
    let text = prop::collection::vec(word, 0..8).prop_map(|words| words.join(" "));
    prop::collection::vec(text, 0..6)
}

proptest! {
    #[test]
    fn one_part_is_a_query_of_one_text(text in "[a-z !]{1,40}", limit in 0..10_usize) {
        let plain = ranking(&Query::new(&text), limit);
        prop_assert_eq!(&ranking(&Query::of_parts([&text, " "]), limit), &plain);
        let mut single = ranking(&Query::new("").with_sub_query(&text), limit);
        for hit in &mut single.hits {
            prop_assert!(hit.origin == Origin::SubQuery(0) || text.trim().is_empty());
            hit.origin = Origin::Query;
        }
        prop_assert_eq!(single, plain);
    }

    #[test]
    fn merging_is_sound(parts in lists(), limit in 0..30_usize) {
        let query = Query::of_parts(parts.clone());
        let merged = ranking(&query, limit);
        let whole = ranking(&query, 1_000);
        prop_assert!(merged.hits.len() <= limit);
        prop_assert_eq!(&merged.hits[..], &whole.hits[..merged.hits.len()], "the beginning of what more would give");
        let ids: HashSet<_> = whole.hits.iter().map(|hit| &hit.tool).collect();
        prop_assert_eq!(ids.len(), whole.hits.len(), "each tool once");
        let all: HashSet<_> = parts.iter().flat_map(|part| ranking(&part.as_str().into(), 1_000).hits).map(|hit| hit.tool).collect();
        prop_assert_eq!(ids.len(), all.len(), "no tool is lost");
        prop_assert!(whole.hits.iter().zip(1..).all(|(hit, rank)| hit.rank == rank));
        prop_assert!(whole.hits.is_sorted_by_key(|hit| hit.tier));
    }

    #[test]
    fn the_order_of_parts_matters_only_among_equally_high_hits(parts in lists()) {
        // By tool: the tier and the best round that any part gives, which no order changes.
        let rounds = |parts: &[String]| {
            let query = parts.iter().fold(Query::new(""), |query, part| query.with_sub_query(part));
            let place = |tool: &ToolId| {
                let places = parts.iter().filter_map(|part| {
                    let hits = ranking(&part.as_str().into(), 1_000).hits;
                    let hit = hits.iter().find(|hit| hit.tool == *tool)?;
                    Some((hit.tier, hits.iter().filter(|other| other.tier == hit.tier && other.rank <= hit.rank).count()))
                });
                places.min()
            };
            ranking(&query, 1_000).hits.iter().map(|hit| place(&hit.tool)).collect::<Vec<_>>()
        };
        let there = rounds(&parts);
        prop_assert!(there.is_sorted());
        let reversed: Vec<_> = parts.into_iter().rev().collect();
        prop_assert_eq!(there, rounds(&reversed));
    }

    #[test]
    fn any_query_is_searched(
        text in "\\PC{0,40}",
        parts in prop::collection::vec("\\PC{0,20}", 0..20),
        turns in prop::collection::vec("(yes|it|[a-z] ){0,6}|\\PC{0,20}", 0..20),
        recent in prop::collection::vec("[a-z]|gone", 0..20),
        limit in 0..30_usize,
    ) {
        let query = Query::new(text).with_turns(turns).with_recent_tools(recent.iter().map(|name| Spelled::id(name)));
        for query in [parts.iter().fold(query.clone(), |query, part| query.with_sub_query(part)), query] {
            let found = ranking(&query, limit);
            prop_assert!(found.hits.len() <= limit);
            prop_assert!(found.hits.iter().all(|hit| hit.score.is_finite()));
            prop_assert_eq!(found, ranking(&query, limit));
        }
    }
}
