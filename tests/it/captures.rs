//! Captures of 22 real servers: what they cost, what is saved, and that the order never matters.

#![allow(clippy::unwrap_used, reason = "the captures are known to be readable")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use proem::{
    Host, TokenBudget,
    client::CaptureClient,
    render::{Anthropic, OpenAiResponses},
};
use serde_json::Value;

use crate::{outside, render::providers};

const QUERY: &str = "open a merge request in gitlab from my branch";

fn host(clients: impl IntoIterator<Item = (proem::id::ServerId, CaptureClient)>) -> Host {
    clients.into_iter().fold(Host::builder(), |host, (id, client)| host.server(id.to_string(), client)).build().unwrap()
}

#[tokio::test]
async fn all_of_them_load_and_nearly_all_of_their_tokens_are_saved() {
    let Some(folder) = outside::shared("real-servers") else { return };
    let captures = CaptureClient::open(&folder).unwrap();
    assert!(captures.failures.is_empty(), "{:?}", captures.failures);

    let host = host(captures.servers);
    let catalog = host.refresh().await;
    assert_eq!(catalog.failures().count(), 0);
    assert_eq!(catalog.findings(), []);
    assert_eq!(catalog.servers().len(), 22);
    assert_eq!(catalog.tools().len(), 989);
    assert_eq!((catalog.resources().len(), catalog.templates().len(), catalog.prompts().len()), (10, 3, 8));
    let exposed: BTreeSet<_> = catalog.tools().iter().map(|tool| tool.exposed.as_str()).collect();
    assert_eq!(exposed.len(), 989, "exposed names are unique");

    let mut session = host.session_at("2026-11-30T00:00:00Z".parse().unwrap());
    let context = session.turn(QUERY).tools(TokenBudget::new(4_000)).build().await.unwrap();
    let report = context.report(&OpenAiResponses::new());
    let first = &report.selection.tools[0];
    assert_eq!((&*first.server, &*first.name), ("gitlab-zereight", "create_merge_request"));
    assert_eq!(first.exposed, "gitlab-zereight_create_merge_request", "another server has a tool of this name");
    assert!(report.selection.tools.iter().any(|tool| tool.exposed == "gitlab-legacy_create_merge_request"));
    assert_eq!(report.tokens.counter, "tiktoken/o200k_base");
    assert_eq!(report.tokens.catalog, 333_162);
    assert_eq!(report.tokens.selected, 3_969);
    assert!(report.tokens.saved_ratio >= 0.97, "{}", report.tokens.saved_ratio);
    for tool in &report.selection.tools {
        let id = context.route(&tool.exposed).unwrap();
        assert_eq!((id.server.as_str(), &*id.name), (&*tool.server, &*tool.name));
    }
}

#[tokio::test]
async fn the_order_of_servers_and_of_their_lists_changes_no_byte() {
    let Some(folder) = outside::shared("real-servers") else { return };
    let texts = texts(&folder);
    let mut expected: Option<(Vec<String>, Value)> = None;
    for seed in 0..4 {
        let mut captures: Vec<Value> = texts.values().map(|text| serde_json::from_str(text).unwrap()).collect();
        if seed > 0 {
            let mut order = Order(seed);
            order.shuffle(&mut captures);
            for list in captures.iter_mut().flat_map(|capture| capture.as_object_mut().unwrap().values_mut()) {
                list.as_array_mut().into_iter().for_each(|items| order.shuffle(items));
            }
        }
        let host = host(captures.iter().map(|capture| CaptureClient::parse(&capture.to_string()).unwrap()));
        host.refresh().await;
        let mut session = host.session_at("2026-11-30T00:00:00Z".parse().unwrap());
        let context = session.turn(QUERY).tools(TokenBudget::new(4_000)).build().await.unwrap();
        let requests = providers().iter().map(|provider| context.render(&**provider).as_str().to_owned()).collect();
        let mut report = serde_json::to_value(context.report(&Anthropic::new())).unwrap();
        report.as_object_mut().unwrap().remove("timings_us");
        match &expected {
            None => expected = Some((requests, report)),
            Some((first_requests, first_report)) => {
                // Not `assert_eq`: two requests of 20 kB would be printed.
                assert!(*first_requests == requests, "requests of order {seed} differ");
                assert!(*first_report == report, "the report of order {seed} differs");
            }
        }
    }
}

/// The captures by file name.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let captures = files.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    captures.map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap())).collect()
}

/// Another order for each seed, the same on every run: splitmix64.
struct Order(u64);

impl Order {
    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let other = self.next() % (i as u64 + 1);
            items.swap(i, usize::try_from(other).unwrap());
        }
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
