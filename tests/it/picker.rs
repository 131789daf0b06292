//! The picker: what it shows, in which order, what stays where it is, and what is chosen.

#![allow(clippy::unwrap_used, reason = "what is made by hand here is as it should be")]

mod properties;

use std::ops::Range;

use proem::{
    TokenBudget,
    catalog::{Aggregator, AggregatorOptions, Catalog},
    client::ListKind,
    id::{ResourceId, TemplateId},
    picker::{Item, ItemRow, Pick, Picker, PickerOptions, Preferences, Row, Section, ServerState},
    protocol::{Annotations, Resource, ResourceTemplate, Role},
};
use serde_json::json;

use crate::fake::{Fake, Step, id};

fn resource(uri: &str, title: &str) -> Resource {
    Resource::new(uri, uri).with_title(title).with_size(400)
}

fn catalog(resources: &[(&str, &str, &str)]) -> Catalog {
    let builder = resources
        .iter()
        .fold(Catalog::builder(), |builder, (server, uri, title)| builder.resource(id(server), resource(uri, title)));
    builder.build()
}

fn workplace() -> Catalog {
    catalog(&[
        ("files", "file:///budget.csv", "Budget 2026"),
        ("files", "file:///Welcome.txt", "Welcome"),
        ("people", "people://remote", "Remote work"),
        ("people", "people://café", "Café opening hours"),
        ("wiki", "wiki://handbook", "Employee handbook"),
        ("wiki", "wiki://calendar", "Release calendar"),
    ])
}

fn open(catalog: &Catalog) -> Picker {
    Picker::new(catalog, PickerOptions::new(), Preferences::new())
}

fn pick(server: &str, uri: &str) -> Pick {
    ResourceId::new(id(server), uri).into()
}

fn all(picker: &Picker) -> Vec<Row> {
    picker.rows(0..picker.len())
}

/// Each row on a line: headings with a `#`, the cursor's with a `>`, a chosen item with a `*`.
fn shown(picker: &Picker) -> Vec<String> {
    let line = |(at, row): (usize, Row)| {
        let cursor = if picker.cursor() == Some(at) { ">" } else { "" };
        match row {
            Row::Group { section, .. } => format!("# {section}"),
            Row::Item(row) => {
                let marks =
                    [(row.chosen.is_some(), "*"), (row.gone, " (gone)")].map(|(is, mark)| if is { mark } else { "" });
                format!("{cursor}{}{}{}", marks[0], row.item.label, marks[1])
            }
            Row::More { hidden, .. } => format!("{cursor}{hidden} more"),
            other => panic!("{other:?}"),
        }
    };
    all(picker).into_iter().enumerate().map(line).collect()
}

fn labels(picker: &Picker) -> Vec<String> {
    items(picker).into_iter().map(|row| row.item.label).collect()
}

fn items(picker: &Picker) -> Vec<ItemRow> {
    let item = |row| match row {
        Row::Item(row) => Some(*row),
        _ => None,
    };
    all(picker).into_iter().filter_map(item).collect()
}

fn found(query: &str) -> Vec<String> {
    let mut picker = open(&workplace());
    picker.set_query(query);
    labels(&picker)
}

#[test]
fn the_label_is_the_title_else_the_name_else_the_uri_and_the_value_is_the_id() {
    let mut unnamed = Resource::read(json!({"uri": "x://3"})).unwrap().item;
    unnamed.title = Some("  ".to_owned());
    let catalog = Catalog::builder()
        .resource(id("a"), Resource::new("x://1", "name").with_title("Title"))
        .resource(id("a"), Resource::new("x://2", "name"))
        .resource(id("a"), unnamed)
        .resource(id("b"), Resource::new("x://1", "name").with_title("Title"))
        .build();
    let picker = open(&catalog);
    let items: Vec<_> = items(&picker).into_iter().map(|row| (row.item.label, row.item.pick.to_string())).collect();
    let expected = [("name", "a/x://2"), ("Title", "a/x://1"), ("x://3", "a/x://3"), ("Title", "b/x://1")];
    assert_eq!(items, expected.map(|(label, pick)| (label.to_owned(), pick.to_owned())));
}

#[test]
fn an_item_has_what_its_server_says_of_it() {
    let hints = Annotations::new().with_audience([Role::User]).with_priority(0.9).with_last_modified("2026-11-01");
    let notes = Resource::new("x://notes", "notes.md").with_title("Notes").with_description("What\nwas said");
    let catalog = Catalog::builder()
        .resource(id("a"), notes.with_mime_type("text/markdown").with_size(4_000).with_annotations(hints))
        .template(id("a"), ResourceTemplate::new("x://{day}/{+path}", "by day"))
        .build();
    let items: Vec<Item> = items(&open(&catalog)).into_iter().map(|row| row.item).collect();
    let notes = &items[0];
    assert_eq!((notes.name.as_deref(), notes.description.as_deref()), (Some("notes.md"), Some("What was said")));
    assert_eq!((notes.mime_type.as_deref(), notes.size), (Some("text/markdown"), Some(4_000)));
    assert_eq!((notes.estimated_tokens, notes.priority, notes.for_model), (Some(1_000), Some(0.9), false));
    assert_eq!(notes.last_modified.as_deref(), Some("2026-11-01"));
    assert_eq!((items[1].estimated_tokens, &*items[1].variables), (None, &["day".to_owned(), "path".to_owned()][..]));
}

#[test]
fn words_are_met_in_any_order_and_in_any_field() {
    assert_eq!(found("calendar release"), ["Release calendar"]);
    assert_eq!(found("wiki hand"), ["Employee handbook"]);
    assert_eq!(found("rlscal"), ["Release calendar"]);
    assert_eq!(found("budget.csv"), ["Budget 2026"]);
    assert_eq!(found("release nothing"), [""; 0]);
    assert_eq!(found("  "), labels(&open(&workplace())));
}

#[test]
fn case_and_accents_count_where_they_are_typed() {
    assert_eq!(found("welcome"), ["Welcome"]);
    assert_eq!(found("Welcome"), ["Welcome"]);
    assert_eq!(found("wElcome"), [""; 0]);
    assert_eq!(found("cafe"), ["Café opening hours"]);
    assert_eq!(found("cafe\u{301}"), ["Café opening hours"]);
    assert_eq!(found("câfe"), [""; 0]);
}

#[test]
fn letters_are_left_out_where_few_items_hold_the_words_whole() {
    let many = (0..300).fold(Catalog::builder(), |builder, number| {
        builder.resource(id("a"), resource(&format!("x://{number}"), &format!("Note {number}")))
    });
    let many = many.resource(id("b"), resource("x://1", "North tower")).build();
    let mut picker = open(&many);
    let mut servers = |query: &str| {
        picker.set_query(query);
        let groups = all(&picker).into_iter().filter_map(|row| match row {
            Row::Group { section, items, .. } => Some(format!("{section} {items}")),
            _ => None,
        });
        let groups: Vec<String> = groups.collect();
        let mut fresh = open(&many);
        fresh.set_query(query);
        assert_eq!(all(&picker), all(&fresh), "{query}");
        groups
    };
    assert_eq!(servers("not"), ["a 300"]);
    assert_eq!(servers("note"), ["a 300"]);
    assert_eq!(servers("note 29"), ["a 13"]);
    assert_eq!(servers("note 2"), ["a 138"]);
    assert_eq!(servers("note"), ["a 300"]);
    assert_eq!(servers("nte"), ["a 300", "b 1"]);
    assert_eq!(servers("nothing"), [""; 0]);
    assert_eq!(servers("nort"), ["b 1"]);
    assert_eq!(servers("n"), ["a 300", "b 1"]);
}

#[test]
fn a_server_in_front_scopes_the_query() {
    for query in ["wiki:", "@wiki:", "@wi:", "@WI:"] {
        assert_eq!(found(query), ["Employee handbook", "Release calendar"], "{query}");
    }
    assert_eq!(found("@wiki:calendar"), ["Release calendar"]);
    assert_eq!(found("@files:calendar"), [""; 0]);
    assert_eq!(found("@nobody:"), [""; 0]);
    // A scheme is no server.
    assert_eq!(found("people://remote"), ["Remote work"]);
}

#[test]
fn a_label_counts_more_than_a_uri_a_server_and_a_description() {
    let described = Resource::new("x://d", "d").with_description("about the parser");
    let catalog = Catalog::builder()
        .resource(id("b"), described)
        .resource(id("b"), Resource::new("x://parser", "u"))
        .resource(id("b"), Resource::new("x://l", "parser"))
        .resource(id("parser"), Resource::new("x://s", "s"))
        .build();
    let mut picker = Picker::new(&catalog, PickerOptions::new().with_grouped(false), Preferences::new());
    picker.set_query("parser");
    assert_eq!(labels(&picker), ["parser", "u", "s", "d"]);
}

#[test]
fn what_the_query_met_is_given_as_ranges() {
    let mut picker = open(&workplace());
    picker.set_query("caf hou");
    let row = &items(&picker)[0];
    let met = |ranges: &[Range<usize>], text: &str| -> Vec<String> {
        ranges.iter().map(|range| text[range.clone()].to_owned()).collect()
    };
    assert_eq!(met(&row.highlights.label, &row.item.label), ["Caf", "hou"]);
    picker.set_query("wiki");
    let row = &items(&picker)[0];
    assert_eq!(met(&row.highlights.uri, &row.item.uri), ["wiki"]);
}

#[test]
fn a_server_with_hundreds_shows_a_few_and_how_many_more() {
    let many = (0..210).fold(Catalog::builder(), |builder, number| {
        builder.resource(id("big"), resource(&format!("x://{number:03}"), &format!("Page {number:03}")))
    });
    let many = many.resource(id("small"), resource("x://1", "Only one")).build();
    let mut picker = Picker::new(&many, PickerOptions::new().with_cap(2), Preferences::new());
    assert_eq!(shown(&picker), ["# big", ">Page 000", "Page 001", "208 more", "# small", "Only one"]);
    picker.move_by(2);
    picker.toggle();
    assert_eq!(picker.len(), 213);
    assert_eq!(picker.current().unwrap().label, "Page 002");
    assert!(matches!(&picker.rows(0..1)[0], Row::Group { items: 210, state: Some(ServerState::Ready), .. }));
    picker.set_query("page 20");
    assert_eq!(shown(&picker)[1..4], [">Page 200", "Page 201", "10 more"].map(str::to_owned));
    picker.set_query("");
    picker.set_grouped(false);
    assert_eq!(shown(&picker), ["# Resources", "Only one", ">Page 000", "Page 001", "208 more"]);
}

#[test]
fn templates_have_a_section_of_their_own() {
    let catalog = Catalog::builder()
        .resource(id("wiki"), resource("wiki://a", "A page"))
        .template(id("wiki"), ResourceTemplate::new("wiki://{page}", "Any page"))
        .template(id("repo"), ResourceTemplate::new("repo://{owner}/{name}", "Repository"))
        .build();
    let mut picker = open(&catalog);
    assert_eq!(shown(&picker), ["# wiki", ">A page", "# Templates", "Any page", "Repository"]);
    picker.move_to_last();
    picker.toggle();
    assert_eq!(picker.templates(), [TemplateId::new(id("repo"), "repo://{owner}/{name}")]);
    assert_eq!((picker.picks(), picker.tokens()), (Vec::new(), 0));
}

#[test]
fn internal_and_user_only_resources_are_shown_as_the_host_says() {
    let catalog = Catalog::builder()
        .resource(id("a"), resource("UI://panel", "Panel"))
        .resource(
            id("a"),
            resource("x://mine", "Mine").with_annotations(Annotations::new().with_audience([Role::User])),
        )
        .resource(id("a"), resource("x://open", "Open"))
        .build();
    let labels = |options| labels(&Picker::new(&catalog, options, Preferences::new()));
    assert_eq!(labels(PickerOptions::new()), ["Mine", "Open"]);
    assert_eq!(labels(PickerOptions::new().with_user_only(false)), ["Open"]);
    assert_eq!(labels(PickerOptions::new().with_hidden_schemes(["X"])), ["Panel"]);

    let mut picker = open(&catalog);
    picker.choose_section();
    assert_eq!(picker.chosen().iter().map(|item| item.for_model).collect::<Vec<_>>(), [false, true]);
    assert_eq!(picker.picks(), [ResourceId::new(id("a"), "x://open")]);
    assert_eq!(picker.tokens(), 100);
    assert_eq!(picker.status(&id("a")).hidden, 1);
}

#[test]
fn priority_orders_what_nothing_else_does() {
    let hint = |priority| Annotations::new().with_priority(priority);
    let catalog = Catalog::builder()
        .resource(id("a"), resource("x://1", "Low").with_annotations(hint(0.1)))
        .resource(id("a"), resource("x://2", "Middle"))
        .resource(id("a"), resource("x://3", "High b").with_annotations(hint(0.82)))
        .resource(id("a"), resource("x://4", "High a").with_annotations(hint(0.79)))
        .build();
    assert_eq!(labels(&open(&catalog)), ["High a", "High b", "Middle", "Low"]);
}

#[test]
fn links_of_answers_can_be_picked_where_no_list_has_them() {
    let link = |uri: &str| Resource::new(uri, format!("linked {uri}"));
    let picker = open(&workplace()).with_links(&id("wiki"), [link("wiki://handbook"), link("wiki://draft")]);
    let linked: Vec<_> = items(&picker).into_iter().filter(|row| row.item.linked).collect();
    assert_eq!(linked.iter().map(|row| row.item.pick.to_string()).collect::<Vec<_>>(), ["wiki/wiki://draft"]);

    // While it is open they come behind what is there.
    let mut picker = open(&workplace());
    picker.add_links(&id("tracker"), [link("bug://7"), link("bug://7")]);
    assert_eq!(shown(&picker).split_off(9), ["# tracker", "linked bug://7"]);
    assert_eq!(picker.status(&id("tracker")).state, ServerState::Ready);
    picker.add_links(&id("tracker"), (0..5_000).map(|number| link(&format!("bug://{number}"))));
    assert_eq!(picker.status(&id("tracker")).resources, Picker::MAX_LINKS - 2);
}

#[tokio::test]
async fn servers_are_loading_failed_unsupported_empty_or_ready() {
    let item = json!({"uri": "x://1", "name": "one"});
    let list = |step: Step| Fake::new().with(ListKind::Resources, [step]);
    let servers = [
        ("ready", list(Step::items([item.clone()]))),
        ("empty", list(Step::items([])).offering(&["resources"])),
        ("unsupported", Fake::new().offering(&["tools"])),
        ("failed", list(Step::error(-32603))),
        ("no tools", list(Step::items([item])).with(ListKind::Tools, [Step::error(-32603)])),
    ];
    let servers = servers.map(|(name, server)| (id(name), server.boxed()));
    let catalog = Aggregator::new(servers, AggregatorOptions::default()).refresh().await;
    let mut picker = open(&catalog);
    picker.set_loading(&id("slow"), true);
    let states: Vec<_> =
        picker.servers().into_iter().map(|status| (status.server.to_string(), status.state.to_string())).collect();
    assert_eq!(
        states.iter().map(|(server, _)| &**server).collect::<Vec<_>>(),
        ["empty", "failed", "no tools", "ready", "slow", "unsupported"]
    );
    assert!(states[1].1.starts_with("failed: server `failed`: resources/list: "), "{}", states[1].1);
    let others: Vec<_> =
        states.iter().map(|(_, state)| &**state).filter(|state| !state.starts_with("failed")).collect();
    assert_eq!(others, ["has no resources", "ready", "ready", "loading", "offers no resources"]);
    picker.set_loading(&id("slow"), false);
    assert_eq!(picker.servers().len(), 5);
}

#[test]
fn a_server_can_be_switched_off_or_pinned() {
    let mut picker = open(&workplace());
    picker.pin_server(&id("wiki"), true);
    assert_eq!(shown(&picker)[0], "# wiki");
    // The cursor stays on its item.
    assert_eq!(picker.current().unwrap().label, "Budget 2026");
    picker.switch(&id("files"), false);
    assert!(!shown(&picker).contains(&"# files".to_owned()));
    assert!(!picker.status(&id("files")).on);
    picker.set_query("budget");
    assert!(picker.is_empty() && picker.cursor().is_none());
    picker.switch(&id("files"), true);
    assert_eq!(shown(&picker), ["# files", ">Budget 2026"]);
}

#[test]
fn pinned_then_recent_items_come_first_and_are_remembered() {
    let mut preferences = Preferences::new();
    for uri in ["wiki://calendar", "wiki://handbook"] {
        preferences.used(&pick("wiki", uri));
    }
    preferences.pin(&pick("people", "people://remote"), true);
    let mut picker = Picker::new(&workplace(), PickerOptions::new(), preferences);
    let first = ["# Pinned and recent", ">Remote work", "Employee handbook", "Release calendar", "# files"];
    assert_eq!(shown(&picker)[..5], first);
    assert_eq!(shown(&picker).len(), 9, "nothing twice: {:?}", shown(&picker));
    picker.toggle_pin();
    assert_eq!(shown(&picker)[..2], ["# Pinned and recent", "Employee handbook"]);

    picker.set_query("welcome");
    picker.accept();
    let kept = serde_json::to_string(picker.preferences()).unwrap();
    let kept: Preferences = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept.recent()[0], pick("files", "file:///Welcome.txt"));
    let picker = Picker::new(&workplace(), PickerOptions::new(), kept);
    assert_eq!(labels(&picker)[..2], ["Welcome", "Employee handbook"]);
}

#[test]
fn a_recent_item_comes_before_one_that_scores_as_much() {
    let catalog = catalog(&[("a", "x://1", "Notes a"), ("a", "x://2", "Notes b")]);
    let mut preferences = Preferences::new();
    preferences.used(&pick("a", "x://2"));
    let mut picker = Picker::new(&catalog, PickerOptions::new(), preferences);
    picker.set_query("notes");
    assert_eq!(labels(&picker), ["Notes b", "Notes a"]);
}

#[test]
fn preferences_are_bounded_wherever_they_come_from() {
    let picks: Vec<Pick> = (0..400).map(|number| pick("a", &format!("x://{}", number % 300))).collect();
    let kept: Preferences = serde_json::from_value(json!({"recent": picks, "pinned": picks, "new": 1})).unwrap();
    assert_eq!((kept.recent().len(), kept.pinned().len()), (Preferences::MAX_RECENT, Preferences::MAX_PINNED));
    let mut preferences = Preferences::new();
    for pick in &picks {
        preferences.used(pick);
        preferences.pin(pick, true);
    }
    assert_eq!(preferences.recent()[0], picks[399]);
    assert_eq!((preferences.recent().len(), preferences.pinned().len()), (50, 200));
    let template: Pick = TemplateId::new(id("a"), "x://{y}").into();
    assert_eq!(serde_json::to_value(&template).unwrap(), json!({"server": "a", "uri_template": "x://{y}"}));
}

#[test]
fn new_results_come_below_and_the_cursor_stays_on_its_item() {
    let mut picker = open(&Catalog::default());
    for server in ["wiki", "files"] {
        picker.set_loading(&id(server), true);
    }
    assert!(picker.is_empty());
    picker.update(&catalog(&[("wiki", "wiki://b", "B page")]));
    picker.toggle();
    let more =
        catalog(&[("wiki", "wiki://b", "B page"), ("wiki", "wiki://a", "A page"), ("files", "file:///c", "C file")]);
    picker.update(&more);
    assert_eq!(shown(&picker), ["# wiki", ">*B page", "# files", "C file", "# wiki", "A page"]);
    picker.update(&catalog(&[("wiki", "wiki://a", "A page"), ("files", "file:///c", "C file, renamed")]));
    assert_eq!(shown(&picker), ["# wiki", ">*B page (gone)", "# files", "C file, renamed", "# wiki", "A page"]);
    picker.refresh_order();
    assert_eq!(shown(&picker), ["# files", ">C file, renamed", "# wiki", "A page"]);
    assert_eq!(picker.chosen()[0].label, "B page");
}

#[test]
fn items_are_chosen_in_order_and_cost_what_they_cost() {
    let mut picker =
        Picker::new(&workplace(), PickerOptions::new().with_budget(TokenBudget::new(250)), Preferences::new());
    picker.move_to_last();
    picker.toggle();
    picker.move_to_first();
    picker.toggle();
    assert_eq!(
        picker.picks(),
        [ResourceId::new(id("wiki"), "wiki://calendar"), ResourceId::new(id("files"), "file:///budget.csv")]
    );
    assert_eq!((picker.tokens(), picker.is_over_budget()), (200, false));
    picker.choose_section();
    assert_eq!((picker.tokens(), picker.is_over_budget()), (300, true));
    assert_eq!(items(&picker).iter().filter_map(|row| row.chosen).collect::<Vec<_>>(), [1, 2, 0]);
    picker.toggle();
    assert_eq!(picker.chosen().len(), 2);
    picker.clear();
    picker.accept();
    assert_eq!(picker.picks(), [ResourceId::new(id("files"), "file:///budget.csv")]);
    picker.choose(&pick("nobody", "x://1"), true);
    assert_eq!(picker.chosen().len(), 1);
}

#[test]
fn the_cursor_moves_over_headings_and_stops_at_the_ends() {
    let mut picker = open(&workplace());
    let at = |picker: &mut Picker, rows| {
        picker.move_by(rows);
        picker.current().unwrap().label
    };
    assert_eq!(at(&mut picker, 0), "Budget 2026");
    assert_eq!(at(&mut picker, -1), "Budget 2026");
    assert_eq!(at(&mut picker, 2), "Café opening hours");
    assert_eq!(at(&mut picker, isize::MAX), "Release calendar");
    assert_eq!(at(&mut picker, isize::MIN), "Budget 2026");
    picker.move_to(0);
    assert_eq!(picker.cursor(), Some(1));
    picker.move_to(5);
    assert_eq!(picker.section(), Some(&Section::Server(id("people"))));
    let mut nothing = open(&Catalog::default());
    nothing.move_by(1);
    nothing.toggle();
    nothing.choose_section();
    nothing.expand();
    nothing.accept();
    assert_eq!((nothing.cursor(), nothing.chosen().len()), (None, 0));
}

#[test]
fn hostile_texts_are_bounded_and_harmless() {
    let long = "x\u{202e}\u{7}".repeat(50_000);
    let hostile = Resource::new(format!("x://{long}"), &long).with_title(&long).with_description(&long);
    let catalog = Catalog::builder().resource(id("a"), hostile).build();
    let mut picker = open(&catalog);
    for query in [&*long, "x x x x x x x x x x x x", "\u{0}", "@", "@:", ":", "a:b:c", "@a:", "%", "\\"] {
        picker.set_query(query);
    }
    picker.set_query("x");
    let row = &items(&picker)[0];
    let texts = [&row.item.label, &row.item.uri, row.item.description.as_ref().unwrap()];
    for text in texts {
        assert!(text.chars().count() <= 400 && !text.contains(['\u{202e}', '\u{7}']), "{text}");
    }
}
