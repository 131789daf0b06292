//! Aggregation: partial failure, late answers, news, time to live, authorization, order.

#![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

use std::{sync::Arc, time::Duration};

use proem::{
    catalog::{Aggregator, AggregatorOptions, Authorization, Catalog, ListCache, Progress},
    client::{Change, Client, Limits, ListKind, MemoryClient},
    evidence::FindingKind,
    protocol::{CacheScope, Prompt, Resource, Tool},
};
use proptest::prelude::*;
use serde_json::json;
use tokio::time::{advance, sleep, timeout};

use crate::fake::{Fake, Step, id, tool, tools};

const MINUTE: Duration = Duration::from_secs(60);

fn aggregator<'a>(servers: impl IntoIterator<Item = (&'a str, &'a Fake)>) -> Aggregator {
    with_options(servers, AggregatorOptions::default())
}

fn with_options<'a>(servers: impl IntoIterator<Item = (&'a str, &'a Fake)>, options: AggregatorOptions) -> Aggregator {
    Aggregator::new(servers.into_iter().map(|(name, fake)| (id(name), fake.boxed())), options)
}

fn names(catalog: &Catalog) -> Vec<String> {
    catalog.tools().iter().map(|entry| entry.id.to_string()).collect()
}

fn failures(catalog: &Catalog) -> Vec<String> {
    catalog.failures().map(|(_, error)| error.to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_failing_server_keeps_its_last_good_lists_with_their_age() {
    let bad = Fake::new().with(ListKind::Tools, [tools(["merge"]), Step::error(-32_603), tools(["rebase"])]);
    let good = Fake::new().with_tools(["send"]);
    let servers = aggregator([("git", &bad), ("mail", &good)]);
    let first = servers.refresh().await;
    assert_eq!((names(&first), failures(&first).len()), (vec!["git/merge".into(), "mail/send".into()], 0));
    advance(MINUTE).await;
    let second = servers.refresh().await;
    assert_eq!(names(&second), names(&first));
    assert_eq!(second.digest(), first.digest());
    assert_eq!(failures(&second), ["server `git`: tools/list: the server answered error -32603: by script"]);
    let age = second.server(&id("git")).unwrap().age;
    assert!(age >= MINUTE && age < 2 * MINUTE, "{age:?}");
    assert_eq!(second.server(&id("mail")).unwrap().age, Duration::ZERO);
    let third = servers.refresh().await;
    assert_eq!((names(&third), failures(&third).len()), (vec!["git/rebase".into(), "mail/send".into()], 0));
    assert_eq!(third.server(&id("git")).unwrap().age, Duration::ZERO);
    assert_eq!(names(&first), ["git/merge", "mail/send"], "a snapshot that somebody holds changes");
}

#[tokio::test(start_paused = true)]
async fn a_failing_list_keeps_the_other_lists_and_is_named() {
    let fake = Fake::new()
        .with_tools(["merge"])
        .with(ListKind::Resources, [Step::items([json!({"uri": "a:1", "name": "one"})]), Step::silence()])
        .with(ListKind::Prompts, [Step::items([json!({"name": "draft"})])]);
    let servers = aggregator([("git", &fake)]);
    servers.refresh().await;
    advance(MINUTE).await;
    let catalog = servers.refresh().await;
    assert_eq!((catalog.tools().len(), catalog.resources().len(), catalog.prompts().len()), (1, 1, 1));
    assert_eq!(failures(&catalog), ["server `git`: resources/list: no answer within 30s"]);
    // The tools were just read; it is the resources that are old.
    assert!(catalog.server(&id("git")).unwrap().age >= MINUTE);
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_never_overwrites_a_newer_one() {
    for ttl in [Duration::ZERO, 60 * MINUTE] {
        let slow = tools(["old"]).ttl(ttl).after(Duration::from_secs(10));
        let fake = Fake::new().with(ListKind::Tools, [slow, tools(["new"]).ttl(ttl)]);
        let servers = Arc::new(aggregator([("git", &fake)]));
        let first = tokio::spawn({
            let servers = Arc::clone(&servers);
            async move { servers.refresh().await }
        });
        sleep(Duration::from_secs(1)).await;
        assert_eq!(names(&servers.refresh().await), ["git/new"]);
        assert_eq!(names(&first.await.unwrap()), ["git/new"], "ttl {ttl:?}");
        // Nor does it come back out of the cache of lists.
        assert_eq!(names(&servers.refresh().await), ["git/new"], "ttl {ttl:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_good_answer_stands_beside_a_later_failure() {
    let slow = tools(["merge"]).after(Duration::from_secs(10));
    let fake = Fake::new().with(ListKind::Tools, [slow, Step::error(-32_603)]);
    let servers = Arc::new(aggregator([("git", &fake)]));
    let first = tokio::spawn({
        let servers = Arc::clone(&servers);
        async move { servers.refresh().await }
    });
    sleep(Duration::from_secs(1)).await;
    assert_eq!(names(&servers.refresh().await), Vec::<String>::new());
    let catalog = first.await.unwrap();
    assert_eq!((names(&catalog), failures(&catalog).len()), (vec!["git/merge".into()], 1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_from_before_a_change_does_not_stay_in_the_cache() {
    let lists = Arc::new(ListCache::new());
    let mut options = AggregatorOptions::default();
    options.lists = Arc::clone(&lists);
    let slow = tools(["old"]).ttl(60 * MINUTE).after(Duration::from_secs(10));
    let fake = Fake::new().with(ListKind::Tools, [slow, tools(["new"]), tools(["new"])]);
    let servers = Arc::new(with_options([("git", &fake)], options));
    let first = tokio::spawn({
        let servers = Arc::clone(&servers);
        async move { servers.refresh().await }
    });
    sleep(Duration::from_secs(1)).await;
    fake.say(Change::List(ListKind::Tools));
    sleep(Duration::from_secs(1)).await;
    // This answer may not be kept, and the old one may be kept for an hour.
    assert_eq!(names(&servers.refresh().await), ["git/new"]);
    first.await.unwrap();
    assert_eq!(names(&servers.refresh().await), ["git/new"]);
    assert_eq!(fake.asked(ListKind::Tools), 3);
}

#[tokio::test(start_paused = true)]
async fn a_list_is_asked_for_again_when_it_is_no_longer_fresh_and_no_sooner() {
    let fake = Fake::new()
        .with(ListKind::Tools, [tools(["merge"]).ttl(MINUTE)])
        .with(ListKind::Prompts, [Step::items([json!({"name": "draft"})])]);
    let servers = aggregator([("git", &fake)]);
    servers.refresh().await;
    advance(MINUTE / 2).await;
    let catalog = servers.refresh().await;
    assert_eq!((names(&catalog).len(), catalog.prompts().len()), (1, 1));
    assert_eq!((fake.asked(ListKind::Tools), fake.asked(ListKind::Prompts)), (1, 2));
    advance(MINUTE).await;
    // Nothing polls because a list ran out.
    sleep(10 * MINUTE).await;
    assert_eq!(fake.asked(ListKind::Tools), 1);
    servers.refresh().await;
    assert_eq!((fake.asked(ListKind::Tools), fake.asked(ListKind::Prompts)), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn the_page_that_runs_out_first_decides() {
    let fake = Fake::new().with(ListKind::Tools, [tools(["a", "b", "c"]).ttl(MINUTE).paged(1)]);
    let servers = aggregator([("git", &fake)]);
    assert_eq!(servers.refresh().await.tools().len(), 3);
    servers.refresh().await;
    assert_eq!(fake.asked(ListKind::Tools), 1);
}

#[tokio::test(start_paused = true)]
async fn news_of_a_change_beats_time_to_live() {
    let fake = Fake::new().with(ListKind::Tools, [tools(["old"]).ttl(60 * MINUTE), tools(["new"]).ttl(60 * MINUTE)]);
    let servers = aggregator([("git", &fake)]);
    servers.refresh().await;
    fake.say(Change::List(ListKind::Tools));
    let (catalog, changes) = servers.changed().await;
    assert_eq!(names(&catalog), ["git/new"]);
    assert_eq!(changes.lists.into_iter().collect::<Vec<_>>(), [(id("git"), ListKind::Tools)]);
    assert_eq!(names(&servers.catalog()), ["git/new"]);
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_news_is_one_refresh_of_the_server_that_told() {
    let fake = Fake::new().with_tools(["merge"]);
    let other = Fake::new().with_tools(["send"]);
    let servers = aggregator([("git", &fake), ("mail", &other)]);
    servers.refresh().await;
    let news = async {
        for _ in 0..7 {
            fake.say(Change::List(ListKind::Tools));
            sleep(Duration::from_millis(30)).await;
        }
    };
    let ((_, changes), ()) = tokio::join!(servers.changed(), news);
    assert_eq!(changes.lists.len(), 1);
    assert_eq!((fake.asked(ListKind::Tools), other.asked(ListKind::Tools)), (2, 1));
    assert_eq!(fake.asked(ListKind::Resources), 1, "lists that did not change are read again");
    assert!(timeout(MINUTE, servers.changed()).await.is_err(), "the burst is told twice");
}

#[tokio::test(start_paused = true)]
async fn a_burst_that_does_not_end_is_acted_on_all_the_same() {
    let fake = Fake::new().with_tools(["merge"]);
    let servers = aggregator([("git", &fake)]);
    servers.refresh().await;
    let started = tokio::time::Instant::now();
    let news = async {
        loop {
            fake.say(Change::List(ListKind::Tools));
            sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        _ = servers.changed() => {}
        () = news => {}
    }
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(900) && took <= Duration::from_millis(1_100), "{took:?}");
    assert_eq!(fake.asked(ListKind::Tools), 2);
}

#[tokio::test(start_paused = true)]
async fn dropping_changed_loses_nothing() {
    let slow = tools(["new"]).after(Duration::from_secs(5));
    let fake = Fake::new().with(ListKind::Tools, [tools(["old"]), slow]);
    let servers = aggregator([("git", &fake)]);
    servers.refresh().await;
    fake.say(Change::List(ListKind::Tools));
    fake.say(Change::Resource("a:1".into()));
    // Before the burst is over, and while the server is asked.
    for patience in [1, 50, 101, 1_000, 3_000] {
        assert!(timeout(Duration::from_millis(patience), servers.changed()).await.is_err());
    }
    let (catalog, changes) = timeout(MINUTE, servers.changed()).await.unwrap();
    assert_eq!(names(&catalog), ["git/new"]);
    assert_eq!((changes.lists.len(), changes.resources.len()), (1, 1));
    assert!(timeout(MINUTE, servers.changed()).await.is_err(), "told twice");
}

#[tokio::test(start_paused = true)]
async fn a_change_that_comes_while_its_list_is_read_is_told_afterwards() {
    let slow = tools(["new"]).after(Duration::from_secs(5));
    let fake = Fake::new().with(ListKind::Tools, [tools(["old"]), slow, tools(["newest"])]);
    let servers = aggregator([("git", &fake)]);
    servers.refresh().await;
    fake.say(Change::List(ListKind::Tools));
    let again = async {
        sleep(Duration::from_secs(2)).await;
        fake.say(Change::List(ListKind::Tools));
    };
    let ((catalog, _), ()) = tokio::join!(servers.changed(), again);
    assert_eq!(names(&catalog), ["git/new"]);
    let (catalog, _) = timeout(MINUTE, servers.changed()).await.unwrap();
    assert_eq!(names(&catalog), ["git/newest"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_after_news_is_not_asked_without_end() {
    let fake = Fake::new().with(ListKind::Tools, [tools(["old"]), Step::error(-32_603)]);
    let servers = aggregator([("git", &fake)]);
    servers.refresh().await;
    fake.say(Change::Reconnected);
    let (catalog, changes) = servers.changed().await;
    assert_eq!((names(&catalog), changes.lists.len()), (vec!["git/old".into()], 4));
    assert!(timeout(MINUTE, servers.changed()).await.is_err());
    assert_eq!(fake.asked(ListKind::Tools), 2);
}

#[tokio::test]
async fn public_lists_are_shared_and_private_ones_never_leave_their_context() {
    let lists = Arc::new(ListCache::new());
    let host = |fake: &Fake, user: &str| {
        let mut options = AggregatorOptions::default();
        options.lists = Arc::clone(&lists);
        options.authorization = Authorization::new(user);
        with_options([("git", fake)], options)
    };
    let private = Fake::new().with(ListKind::Tools, [tools(["hers"]).ttl(MINUTE), tools(["his"]).ttl(MINUTE)]);
    assert_eq!(names(&host(&private, "ann").refresh().await), ["git/hers"]);
    assert_eq!(names(&host(&private, "bob").refresh().await), ["git/his"]);
    assert_eq!(names(&host(&private, "ann").refresh().await), ["git/hers"]);
    assert_eq!(private.asked(ListKind::Tools), 2);

    let lists = Arc::new(ListCache::new());
    let host = |fake: &Fake, user: &str| {
        let mut options = AggregatorOptions::default();
        options.lists = Arc::clone(&lists);
        options.authorization = Authorization::new(user);
        with_options([("git", fake)], options)
    };
    let public = Fake::new().with(ListKind::Tools, [tools(["all"]).ttl(MINUTE).public(), tools(["other"])]);
    let catalog = host(&public, "ann").refresh().await;
    assert_eq!(catalog.server(&id("git")).unwrap().scope, CacheScope::Public);
    assert_eq!(names(&host(&public, "bob").refresh().await), ["git/all"]);
    assert_eq!(public.asked(ListKind::Tools), 1);
}

#[tokio::test]
async fn lists_that_a_server_does_not_have_are_no_failure() {
    let fake = Fake::new()
        .with(ListKind::Tools, [Step::error(-32_601)])
        .with(ListKind::Resources, [Step::items([json!({"uri": "a:1", "name": "one"})])])
        .offering(&["tools", "resources"]);
    let catalog = aggregator([("wiki", &fake)]).refresh().await;
    assert_eq!((failures(&catalog).len(), catalog.resources().len()), (0, 1));
    assert_eq!((fake.asked(ListKind::ResourceTemplates), fake.asked(ListKind::Prompts)), (1, 0));

    let resources_only = Fake::new()
        .with_tools(["hidden"])
        .with(ListKind::Resources, [Step::items([json!({"uri": "a:1", "name": "one"})])])
        .offering(&["resources"]);
    let catalog = aggregator([("wiki", &resources_only)]).refresh().await;
    assert_eq!((catalog.tools().len(), catalog.resources().len(), failures(&catalog).len()), (0, 1, 0));
}

#[tokio::test]
async fn the_digest_sees_unknown_fields_instructions_and_what_is_searched_with() {
    let with = |item| Fake::new().with(ListKind::Tools, [Step::items([item])]);
    let mut vendor = tool("merge");
    vendor["x-vendor"] = json!(1);
    let (one, two) = (with(tool("merge")), with(vendor));
    let (one, two) = (aggregator([("git", &one)]).refresh().await, aggregator([("git", &two)]).refresh().await);
    assert_ne!(one.digest(), two.digest());
    assert_eq!(two.diff(&one).changed[0].1, ["x-vendor"]);
    let told = with(tool("merge"));
    told.set_info(|info| info.instructions = Some("Merge with care.".into()));
    let named = with(tool("merge"));
    named.set_info(|info| info.implementation = Some(json!({"title": "Git"})));
    let told = aggregator([("git", &told)]).refresh().await;
    let named = aggregator([("git", &named)]).refresh().await;
    assert!(told.digest() != one.digest() && named.digest() != one.digest());
    assert!(told.diff(&one).is_empty());
}

#[tokio::test]
async fn the_first_of_two_items_of_one_name_stands_and_the_other_is_told() {
    let mut second = tool("merge");
    second["description"] = json!("Something else");
    let fake = Fake::new().with(ListKind::Tools, [Step::items([tool("merge"), second, tool("log")])]);
    let catalog = aggregator([("git", &fake)]).refresh().await;
    assert_eq!(names(&catalog), ["git/log", "git/merge"]);
    assert_eq!(catalog.exposed("merge").unwrap().tool.description.as_deref(), Some("Does merge"));
    assert_eq!(catalog.findings()[0].kind, FindingKind::Duplicate);
    assert_eq!(catalog.findings()[0].item, "merge");
}

#[tokio::test]
async fn names_that_lose_something_are_told_and_others_are_not() {
    let git = Fake::new().with_tools(["log", "2fa", "x.y", "検索", "a.b", "a_b"]);
    let svn = Fake::new().with_tools(["log"]);
    let catalog = aggregator([("git", &git), ("svn", &svn)]).refresh().await;
    let renamed: Vec<_> = catalog.findings().iter().map(|finding| (finding.kind, finding.item.as_str())).collect();
    assert_eq!(renamed, ["a.b", "a_b", "検索"].map(|name| (FindingKind::Renamed, name)));
}

#[test]
fn a_difference_names_what_was_added_removed_and_changed() {
    let old = Catalog::builder()
        .tool(id("git"), Tool::new("merge", "Merge"))
        .tool(id("git"), Tool::new("log", "Show"))
        .resource(id("git"), Resource::new("a:1", "one"))
        .prompt(id("git"), Prompt::new("draft", "Draft"))
        .build();
    let mut resource = Resource::new("a:1", "one");
    resource.size = Some(7);
    resource.title = Some("One".into());
    let new = Catalog::builder()
        .tool(id("git"), Tool::new("merge", "Merge"))
        .tool(id("git"), Tool::new("rebase", "Rebase"))
        .resource(id("git"), resource)
        .prompt(id("git"), Prompt::new("draft", "Draft"))
        .build();
    let diff = new.diff(&old);
    assert_eq!(diff.added.iter().map(ToString::to_string).collect::<Vec<_>>(), ["tool git/rebase"]);
    assert_eq!(diff.removed.iter().map(ToString::to_string).collect::<Vec<_>>(), ["tool git/log"]);
    assert_eq!(diff.changed.len(), 1);
    assert_eq!(
        (diff.changed[0].0.to_string().as_str(), diff.changed[0].1.as_slice()),
        ("resource git/a:1", ["size".to_owned(), "title".to_owned()].as_slice())
    );
    assert!(new.diff(&new).is_empty());
}

#[tokio::test]
async fn progress_tells_of_each_server() {
    let good = Fake::new().with_tools(["a", "b"]);
    let bad = Fake::new().with(ListKind::Tools, [Step::error(-32_603)]);
    let servers = aggregator([("good", &good), ("bad", &bad)]);
    let told = std::sync::Mutex::new(Vec::new());
    let progress = |progress: Progress<'_>| {
        told.lock().unwrap().push(match progress {
            Progress::Asking(id) => format!("asking {id}"),
            Progress::Answered(id, tools) => format!("{id}: {tools}"),
            Progress::Failed(id, error) => format!("{id}: {error}"),
            _ => unreachable!(),
        });
    };
    servers.refresh_with(&progress).await;
    let mut told = told.into_inner().unwrap();
    told.sort();
    let failed = "bad: server `bad`: tools/list: the server answered error -32603: by script";
    assert_eq!(told, ["asking bad", "asking good", failed, "good: 2"]);
}

#[tokio::test(start_paused = true)]
async fn all_servers_are_asked_at_once_and_silence_ends() {
    let servers: Vec<Fake> = (0..20).map(|_| Fake::new().with(ListKind::Tools, [Step::silence()])).collect();
    let named: Vec<_> = (0..20).map(|i| format!("server{i}")).collect();
    let mut options = AggregatorOptions::default();
    options.limits = Limits::default().with_request(Duration::from_secs(3));
    let good = Fake::new().with_tools(["merge"]);
    let all = named.iter().map(String::as_str).zip(&servers).chain([("git", &good)]);
    let servers = with_options(all, options);
    let started = tokio::time::Instant::now();
    let catalog = servers.refresh().await;
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert_eq!((names(&catalog), catalog.failures().count()), (vec!["git/merge".into()], 20));
    assert!(catalog.failures().all(|(_, error)| error.is_timeout()));
}

/// What was asked for last, and answered well, stands: however late it and the others are
/// answered, whatever may be kept of them, and whatever news come between.
#[test]
fn however_late_answers_come_the_one_asked_for_last_stands() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
    let answer = (0..60_u64, prop_oneof![Just(0), Just(1), Just(3_600)], prop::bool::weighted(0.2));
    let steps = prop::collection::vec(answer, 1..10);
    let rounds = prop::collection::vec((0..30_u64, any::<bool>()), 1..10);
    let mut runner = proptest::test_runner::TestRunner::default();
    let result = runner.run(&(steps, rounds), |(answers, rounds)| {
        let steps = answers.iter().enumerate().map(|(i, (delay, ttl, fails))| {
            let name = format!("t{i}");
            let step =
                if *fails { Step::error(-32_603) } else { tools([name.as_str()]).ttl(Duration::from_secs(*ttl)) };
            step.after(Duration::from_secs(*delay))
        });
        // The last step stays: it must be told from the ones before.
        let last = answers.len() - 1;
        let fake = Fake::new().with(ListKind::Tools, steps);
        let catalog = runtime.block_on(async {
            let mut options = AggregatorOptions::default();
            options.limits = Limits::default().with_request(3 * MINUTE);
            let servers = Arc::new(with_options([("git", &fake)], options));
            let mut refreshes = Vec::new();
            for (pause, news) in rounds {
                let servers = Arc::clone(&servers);
                refreshes.push(tokio::spawn(async move { servers.refresh().await }));
                sleep(Duration::from_secs(pause) + Duration::from_millis(1)).await;
                if news {
                    fake.say(Change::List(ListKind::Tools));
                    sleep(Duration::from_millis(1)).await;
                }
            }
            for refresh in refreshes {
                refresh.await.unwrap();
            }
            servers.catalog()
        });
        let asked = fake.asked(ListKind::Tools);
        let stands = (0..asked).map(|i| i.min(last)).rev().find(|i| !answers[*i].2);
        let expected: Vec<String> = stands.map(|i| format!("git/t{i}")).into_iter().collect();
        prop_assert_eq!(names(&catalog), expected);
        Ok(())
    });
    result.unwrap();
}

/// Whatever a server says, and in whatever order it and the others say it.
#[test]
fn order_leaves_no_trace() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let server = prop::collection::btree_set("[ab_.]{1,3}|\\PC{1,12}", 0..8);
    let servers = prop::collection::btree_map("[a-c.]{1,2}", server, 1..5);
    let shuffled = servers.prop_flat_map(|servers| {
        let order: Vec<usize> = (0..servers.len()).collect();
        let items: Vec<_> =
            servers.values().map(|names| Just(names.iter().cloned().collect::<Vec<_>>()).prop_shuffle()).collect();
        (Just(servers), Just(order).prop_shuffle(), items, 1..4_usize)
    });
    let mut runner = proptest::test_runner::TestRunner::default();
    let result = runner.run(&shuffled, |(servers, order, items, size)| {
        let straight: Vec<_> = servers
            .iter()
            .map(|(name, tools)| {
                let client = tools.iter().fold(MemoryClient::new(), |client, name| client.with_tool(name, "x"));
                (id(name), Arc::new(client) as Arc<dyn Client>)
            })
            .collect();
        let names: Vec<_> = servers.keys().collect();
        let mixed: Vec<_> = order
            .iter()
            .map(|i| {
                let client = items[*i].iter().fold(MemoryClient::new(), |client, name| client.with_tool(name, "x"));
                (id(names[*i]), Arc::new(client.with_page_size(size)) as Arc<dyn Client>)
            })
            .collect();
        let (one, two) = runtime.block_on(async {
            let one = Aggregator::new(straight, AggregatorOptions::default()).refresh().await;
            let two = Aggregator::new(mixed, AggregatorOptions::default()).refresh().await;
            (one, two)
        });
        prop_assert_eq!(one.digest(), two.digest());
        prop_assert_eq!(one.tools(), two.tools());
        for entry in one.tools() {
            prop_assert_eq!(&one.exposed(entry.exposed.as_str()).unwrap().id, &entry.id);
            prop_assert_eq!(&one.tool(&entry.id).unwrap().id, &entry.id);
        }
        Ok(())
    });
    result.unwrap();
}
