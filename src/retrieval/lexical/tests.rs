use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::{
    id::{ServerId, ToolId},
    index::{Field, Hints},
    protocol::{ServerInfo, Tool},
    retrieval::ToolPattern,
};

/// Tools by (server, name) with their descriptions, and the servers' instructions.
#[derive(Clone, Debug, Default)]
struct World {
    tools: BTreeMap<(usize, usize), String>,
    instructions: [String; 3],
}

const SERVERS: [&str; 3] = ["git", "mail box", "web"];
const NAMES: [&str; 6] = ["create_issue", "search", "sendMail", "list-pages", "merge", "search_web_pages"];
const WORDS: [&str; 9] = ["issue", "search", "pages", "mail", "merging", "web", "listed", "天气预报", "zebra"];

impl World {
    fn catalog(&self, reversed: bool) -> Catalog {
        let mut servers: Vec<usize> = (0..3).collect();
        let mut tools: Vec<_> = self.tools.iter().collect();
        if reversed {
            servers.reverse();
            tools.reverse();
        }
        let mut builder = Catalog::builder();
        for server in servers {
            let info = ServerInfo { instructions: Some(self.instructions[server].clone()), ..ServerInfo::default() };
            builder = builder.server(ServerId::new(SERVERS[server]).unwrap(), info);
        }
        for ((server, name), description) in tools {
            builder = builder.tool(ServerId::new(SERVERS[*server]).unwrap(), tool(NAMES[*name], description));
        }
        builder.build()
    }
}

fn tool(name: &str, description: &str) -> Tool {
    let mut tool = Tool::new(name, description).with_input_schema(json!({
        "type": "object",
        "properties": {"pageCount": {"description": description.split(' ').next()}},
    }));
    tool.annotations.read_only_hint = [None, Some(true), Some(false)][description.len() % 3];
    tool
}

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..6).prop_map(|words| words.join(" "))
}

fn worlds() -> impl Strategy<Value = World> {
    let tools = prop::collection::btree_map((0..3_usize, 0..6_usize), texts(), 0..12);
    (tools, [texts(), texts(), texts()]).prop_map(|(tools, instructions)| World { tools, instructions })
}

/// What happens to servers between two snapshots.
#[derive(Clone, Debug)]
enum Event {
    /// A server says something else of itself, and of nothing else.
    Instructions(usize, String),
    /// A tool goes to another server.
    Moved((usize, usize), usize),
    /// A tool goes, and another comes on the same server.
    Replaced((usize, usize), usize, String),
    Described((usize, usize), String),
    /// All tools of a server go.
    Emptied(usize),
    Nothing,
}

impl Event {
    fn happen(&self, world: &mut World) {
        match self {
            Self::Instructions(server, text) => world.instructions[*server].clone_from(text),
            Self::Moved(from, to) => {
                if let Some(text) = world.tools.remove(from) {
                    world.tools.insert((*to, from.1), text);
                }
            }
            Self::Replaced(gone, name, text) => {
                world.tools.remove(gone);
                world.tools.insert((gone.0, *name), text.clone());
            }
            Self::Described(tool, text) => _ = world.tools.insert(*tool, text.clone()),
            Self::Emptied(gone) => world.tools.retain(|(server, _), _| server != gone),
            Self::Nothing => {}
        }
    }
}

fn events() -> impl Strategy<Value = Event> {
    let tool = || (0..3_usize, 0..6_usize);
    prop_oneof![
        (0..3_usize, texts()).prop_map(|(server, text)| Event::Instructions(server, text)),
        (tool(), 0..3_usize).prop_map(|(from, to)| Event::Moved(from, to)),
        (tool(), 0..6_usize, texts()).prop_map(|(gone, name, text)| Event::Replaced(gone, name, text)),
        (tool(), texts()).prop_map(|(tool, text)| Event::Described(tool, text)),
        (0..3_usize).prop_map(Event::Emptied),
        Just(Event::Nothing),
    ]
}

fn patterns() -> impl Strategy<Value = ToolPattern> {
    let server = prop::sample::select(&["*", "git", "mail box", "m*", "*b", "nobody"][..]);
    let name = prop::sample::select(&["", "/*", "/**", "/search*", "/*_*e*", "/merge"][..]);
    (server, name).prop_map(|(server, name)| format!("{server}{name}").parse().unwrap())
}

fn filters() -> impl Strategy<Value = Filter> {
    let several = || prop::collection::vec(patterns(), 0..3);
    (several(), several(), any::<bool>(), any::<bool>()).prop_map(|(allow, deny, read_only, predicate)| {
        let filter = allow.into_iter().fold(Filter::new(), Filter::allow);
        let filter = deny.into_iter().fold(filter, Filter::deny);
        let filter = if read_only { filter.read_only() } else { filter };
        if predicate { filter.predicate(|entry| entry.id.name.len() % 2 == 0) } else { filter }
    })
}

fn queries() -> impl Strategy<Value = String> {
    let name = prop::sample::select(&NAMES[..]).prop_map(str::to_owned);
    prop_oneof![texts(), name, texts().prop_map(|text| format!("git {text} search_web_pages {text}"))]
}

fn search(index: &Arc<dyn ToolIndex>, query: &str, filter: &Filter) -> Ranking {
    index.search(&query.into(), filter, 20).unwrap()
}

fn fresh(catalog: &Catalog) -> Arc<dyn ToolIndex> {
    Lexical::new().index(catalog, None).unwrap()
}

proptest! {
    #[test]
    fn an_index_made_from_another_answers_as_one_made_from_nothing(
        worlds in prop::collection::vec(worlds(), 1..5),
        query in queries(),
    ) {
        let mut index: Option<Arc<dyn ToolIndex>> = None;
        for world in &worlds {
            let catalog = world.catalog(false);
            let next = Lexical::new().index(&catalog, index.as_ref()).unwrap();
            prop_assert_eq!(search(&next, &query, &Filter::new()), search(&fresh(&catalog), &query, &Filter::new()));
            index = Some(next);
        }
    }

    #[test]
    fn whatever_happens_to_servers_the_answers_are_those_of_a_fresh_index(
        world in worlds(),
        events in prop::collection::vec(events(), 1..6),
        query in queries(),
        filter in filters(),
    ) {
        let mut world = world;
        let mut index = fresh(&world.catalog(false));
        for event in &events {
            event.happen(&mut world);
            let catalog = world.catalog(false);
            index = Lexical::new().index(&catalog, Some(&index)).unwrap();
            prop_assert_eq!(search(&index, &query, &Filter::new()), search(&fresh(&catalog), &query, &Filter::new()));
            prop_assert_eq!(search(&index, &query, &filter), search(&fresh(&catalog), &query, &filter));
        }
    }

    #[test]
    fn a_filter_by_server_passes_what_it_passes_one_by_one(world in worlds(), filter in filters()) {
        let catalog = world.catalog(false);
        let one_by_one: Vec<bool> = catalog.tools().iter().map(|entry| filter.passes(entry)).collect();
        prop_assert_eq!(filter.allowed(&Roster::new(&catalog)), one_by_one);
    }

    #[test]
    fn what_a_filter_hides_leaves_no_trace(world in worlds(), filter in filters(), query in queries()) {
        let catalog = world.catalog(false);
        let mut rest = world.clone();
        let id = |(server, name): &(usize, usize)| ToolId::new(ServerId::new(SERVERS[*server]).unwrap(), NAMES[*name]);
        rest.tools.retain(|tool, _| filter.passes(catalog.tool(&id(tool)).unwrap()));
        let alone = search(&fresh(&rest.catalog(false)), &query, &Filter::new());
        prop_assert_eq!(search(&fresh(&catalog), &query, &filter), alone);
    }

    #[test]
    fn what_is_filtered_out_leaves_no_trace(world in worlds(), hidden in 0..3_usize, query in queries()) {
        let filter = Filter::new().deny(SERVERS[hidden].parse::<ToolPattern>().unwrap());
        let filtered = search(&fresh(&world.catalog(false)), &query, &filter);
        let mut rest = world.clone();
        rest.tools.retain(|(server, _), _| *server != hidden);
        prop_assert_eq!(filtered, search(&fresh(&rest.catalog(false)), &query, &Filter::new()));
    }

    #[test]
    fn the_order_of_servers_and_tools_does_not_matter(world in worlds(), query in queries()) {
        let (a, b) = (fresh(&world.catalog(false)), fresh(&world.catalog(true)));
        prop_assert_eq!(search(&a, &query, &Filter::new()), search(&b, &query, &Filter::new()));
    }

    #[test]
    fn fields_add_up_to_the_score(world in worlds(), query in queries()) {
        for hit in search(&fresh(&world.catalog(false)), &query, &Filter::new()).hits {
            let sum: f32 = hit.fields.values().sum();
            prop_assert!((sum - hit.score).abs() <= 1e-5 * hit.score.max(1.0), "{} {}", sum, hit.score);
        }
    }

    #[test]
    fn any_query_is_answered(query in "\\PC*", limit in 0..3_usize) {
        let world = World { tools: [((0, 0), "search issue".to_owned())].into(), ..World::default() };
        let ranking = fresh(&world.catalog(false)).search(&query.as_str().into(), &Filter::new(), limit).unwrap();
        prop_assert!(ranking.hits.len() <= limit);
        prop_assert!((0.0..=1.0).contains(&ranking.coverage));
    }
}

fn catalog(tools: &[(&str, &str, &str)]) -> Catalog {
    tools
        .iter()
        .fold(Catalog::builder(), |builder, (server, name, description)| {
            builder.tool(ServerId::new(server).unwrap(), Tool::new(*name, *description))
        })
        .build()
}

fn order(ranking: &Ranking) -> Vec<String> {
    ranking.hits.iter().map(|hit| hit.tool.to_string()).collect()
}

#[test]
fn a_long_chain_of_small_changes_answers_like_a_fresh_index() {
    let mut tools: Vec<(String, String)> =
        (0..200).map(|i| (format!("tool_{i}"), format!("does thing{} with word{}", i % 7, i % 31))).collect();
    let build = |tools: &[(String, String)]| {
        let tools: Vec<_> =
            tools.iter().map(|(name, description)| ("s", name.as_str(), description.as_str())).collect();
        catalog(&tools)
    };
    let mut index = fresh(&build(&tools));
    for step in 0..60 {
        match step % 3 {
            0 => tools[step * 37 % 150].1 = format!("changed thing{} in step{step}", step % 5),
            1 => tools.push((format!("added_{step}"), format!("new thing{} word{}", step % 7, step % 11))),
            _ => drop(tools.remove(step)),
        }
        let catalog = build(&tools);
        index = Lexical::new().index(&catalog, Some(&index)).unwrap();
        for query in ["thing3 word5", "changed step3 thing0", "new word4"] {
            assert_eq!(search(&index, query, &Filter::new()), search(&fresh(&catalog), query, &Filter::new()));
        }
    }
}

#[test]
fn changed_options_and_hints_are_honoured() {
    let catalog = catalog(&[("git", "merge", "Joins two branches"), ("web", "fetch", "Gets a page")]);
    let plain = fresh(&catalog);
    assert!(search(&plain, "download", &Filter::new()).hits.is_empty());
    let hints = Hints::new().with(ToolId::new(ServerId::new("web").unwrap(), "fetch"), "download this site");
    let options = LexicalOptions::default().with_hints(hints);
    let hinted = Lexical::with_options(options.clone()).index(&catalog, Some(&plain)).unwrap();
    let ranking = search(&hinted, "download", &Filter::new());
    assert_eq!(order(&ranking), ["web/fetch"]);
    assert_eq!(ranking.hits[0].fields.keys().collect::<Vec<_>>(), [&Field::Hints.as_str()]);
    let again = Lexical::with_options(options.with_language(None)).index(&catalog, Some(&hinted)).unwrap();
    assert!(search(&again, "downloads", &Filter::new()).hits.is_empty());
}

#[test]
fn equal_scores_are_ordered_by_tool_id() {
    let catalog = catalog(&[("b", "y", "zebra"), ("a", "z", "zebra"), ("b", "x", "zebra")]);
    let ranking = search(&fresh(&catalog), "zebra", &Filter::new());
    assert_eq!(order(&ranking), ["a/z", "b/x", "b/y"]);
    assert_eq!(ranking.hits.iter().map(|hit| hit.rank).collect::<Vec<_>>(), [1, 2, 3]);
    let best = fresh(&catalog).search(&"zebra".into(), &Filter::new(), 2).unwrap();
    assert_eq!(order(&best), ["a/z", "b/x"]);
}

#[test]
fn coverage_is_the_share_of_the_request_that_the_best_hit_holds() {
    let catalog = catalog(&[("a", "x", "zebra lion"), ("a", "y", "zebra"), ("a", "z", "tiger")]);
    let coverage = |query: &str| search(&fresh(&catalog), query, &Filter::new()).coverage;
    assert_eq!(coverage("zebra lion"), 1.0);
    assert_eq!(coverage("unheard of"), 0.0);
    // The unknown word is rarer than the known one.
    let half = coverage("lion unheard");
    assert!((0.1..0.5).contains(&half), "{half}");
}

#[test]
fn stuffed_descriptions_do_not_win() {
    let stuffing = "refund payment invoice order search weather mail calendar ".repeat(40);
    let mut tools = vec![("shop", "refund", "Refund a payment to the customer")];
    let names: Vec<String> = (0..10).map(|i| format!("stuffed{i}")).collect();
    tools.extend(names.iter().map(|name| ("evil", name.as_str(), stuffing.as_str())));
    let ranking = search(&fresh(&catalog(&tools)), "refund the payment of a customer", &Filter::new());
    assert_eq!(order(&ranking)[0], "shop/refund");
}

#[test]
fn a_named_tool_comes_first_whatever_the_scores() {
    let catalog = catalog(&[
        ("git", "create_issue", "x"),
        ("web", "report", "create issue create issue issue tracker"),
        ("web", "search", "x"),
        ("git", "search", "pages and more pages"),
    ]);
    let index = fresh(&catalog);
    let ranking = search(&index, "please use create_issue now, for the tracker", &Filter::new());
    assert_eq!(order(&ranking)[0], "git/create_issue");
    assert_eq!((ranking.hits[0].tier, ranking.hits[1].tier), (Tier::Named, Tier::Scored));
    // Two servers have it: both are named, by score, then by id.
    assert_eq!(order(&search(&index, "`search` for pages", &Filter::new())), ["git/search", "web/search"]);
    // A server in the request decides.
    let ranking = search(&index, "`search` for pages in the web", &Filter::new());
    assert_eq!((order(&ranking)[0].as_str(), ranking.hits[1].tier), ("web/search", Tier::Scored));
    // What may not be seen is not named either.
    let filter = Filter::new().deny("git/create_issue".parse().unwrap());
    assert_eq!(order(&search(&index, "create_issue", &filter)), ["web/report"]);
}

#[test]
fn a_filter_is_asked_again_only_if_its_answer_may_change() {
    let index = fresh(&catalog(&[("a", "x", "zebra"), ("b", "y", "zebra")]));
    let deny = |pattern: &str| Filter::new().deny(pattern.parse().unwrap());
    for _ in 0..2 {
        assert_eq!(order(&search(&index, "zebra", &deny("a"))), ["b/y"]);
        assert_eq!(order(&search(&index, "zebra", &deny("b"))), ["a/x"]);
        assert!(search(&index, "zebra", &deny("b").read_only()).hits.is_empty());
    }
    let open = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = Arc::clone(&open);
    let filter = deny("b").predicate(move |_| seen.load(std::sync::atomic::Ordering::Relaxed));
    assert!(search(&index, "zebra", &filter).hits.is_empty());
    open.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(order(&search(&index, "zebra", &filter)), ["a/x"]);
}

#[test]
fn an_unchanged_catalog_keeps_its_index() {
    let build = |text: &str| catalog(&[("a", "x", text), ("b", "y", "zebra")]);
    let first = fresh(&build("zebra"));
    let same = Lexical::new().index(&build("zebra"), Some(&first)).unwrap();
    assert!(Arc::ptr_eq(&first, &same));
    assert!(!Arc::ptr_eq(&first, &Lexical::new().index(&build("lion"), Some(&first)).unwrap()));
    let plain = Lexical::with_options(LexicalOptions::default().with_language(None));
    assert!(!Arc::ptr_eq(&first, &plain.index(&build("zebra"), Some(&first)).unwrap()));
}
