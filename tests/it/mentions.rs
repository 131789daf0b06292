//! Mentions in text: what is one, what it means, and that it can be written and read again.

use proem::{
    catalog::Catalog,
    id::{ResourceId, ServerId},
    picker::{MAX_MENTIONS, Target, complete_mention, mentions, write_mention},
    protocol::Resource,
};
use proptest::prelude::*;

use crate::fake::id;

fn catalog(resources: &[(&str, &str, &str)]) -> Catalog {
    let builder = resources.iter().fold(Catalog::builder(), |builder, (server, uri, title)| {
        builder.resource(id(server), Resource::new(*uri, *uri).with_title(*title))
    });
    builder.build()
}

fn workplace() -> Catalog {
    catalog(&[
        ("wiki", "wiki://rules", "House rules"),
        ("wiki", "wiki://rules/kitchen", "House rules of the kitchen"),
        ("wiki", "wiki://calendar/2026", "Calendar"),
        ("wiki", "ui://wiki/panel", "Panel"),
        ("people", "people://calendar", "Calendar"),
        ("files", "file:///a%20b.md", "Café menu"),
        ("files", "mailto:mira@example.org", "Mira"),
        ("files", "file:///what?", "Ready?"),
        ("my: notes", "file:///to do.md", "To do"),
        ("git", "hub:readme", "Readme of git"),
        ("git:hub", "readme", "Readme of hub"),
    ])
}

/// Each mention with what it means, in words.
fn read(text: &str) -> Vec<(String, String)> {
    let found = mentions(text, &workplace());
    let meaning = |target: &Target| match target {
        Target::Resource(id) => id.to_string(),
        Target::Several(ids) => ids.iter().map(ResourceId::to_string).collect::<Vec<_>>().join(" or "),
        Target::Unlisted(id) => format!("{id} in no list"),
        _ => "?".to_owned(),
    };
    found.iter().map(|mention| (text[mention.range.clone()].to_owned(), meaning(&mention.target))).collect()
}

fn one(text: &str) -> (String, String) {
    let found = read(text);
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    found[0].clone()
}

fn pair(text: &str, target: &str) -> (String, String) {
    (text.to_owned(), target.to_owned())
}

#[test]
fn a_uri_with_its_server_is_one_resource() {
    for (text, target) in [
        ("@wiki:wiki://rules", "wiki/wiki://rules"),
        ("@files:mailto:mira@example.org", "files/mailto:mira@example.org"),
        ("@my%3A%20notes:file:///to%20do.md", "my: notes/file:///to do.md"),
        ("@\"my: notes\":file:///to%20do.md", "my: notes/file:///to do.md"),
        ("@\"my: notes:file:///to do.md\"", "my: notes/file:///to do.md"),
        ("@wiki:house rules", "wiki/wiki://rules"),
        ("@wiki:\"Calendar\"", "wiki/wiki://calendar/2026"),
    ] {
        assert_eq!(one(&format!("see {text} now")), pair(text, target));
    }
}

#[test]
fn an_escape_is_read_before_it_is_taken_as_it_stands() {
    assert_eq!(one("@files:file:///a%20b.md").1, "files/file:///a%20b.md");
    let both = catalog(&[("s", "x://a b", ""), ("s", "x://a%20b", "")]);
    let found = mentions("@s:x://a%20b @s:x://a%2520b", &both);
    let uris: Vec<_> = found.iter().map(|mention| mention.target.clone()).collect();
    let resource = |uri: &str| Target::Resource(ResourceId::new(id("s"), uri));
    assert_eq!(uris, [resource("x://a b"), resource("x://a%20b")]);
}

#[test]
fn the_first_colon_behind_which_something_is_known_ends_the_server() {
    assert_eq!(one("@git:hub:readme").1, "git/hub:readme");
    assert_eq!(one("@git%3Ahub:readme").1, "git:hub/readme");
    assert_eq!(one("@git:hub:license:mit").1, "git/hub:license:mit in no list");
}

#[test]
fn the_longest_title_counts() {
    assert_eq!(
        one("the @house Rules of the kitchen, please"),
        pair("@house Rules of the kitchen", "wiki/wiki://rules/kitchen")
    );
    assert_eq!(one("the @House rules of the garden"), pair("@House rules", "wiki/wiki://rules"));
    assert_eq!(one("the @\"House rules\" of the kitchen"), pair("@\"House rules\"", "wiki/wiki://rules"));
    assert_eq!(one("a @House rulesets file"), pair("@House", "?"));
    assert_eq!(one("@Ready? Yes"), pair("@Ready?", "files/file:///what?"));
}

#[test]
fn a_title_is_met_however_its_accents_are_composed() {
    assert_eq!(one("the @CAFE\u{301} menu"), pair("@CAFE\u{301} menu", "files/file:///a%20b.md"));
    let cafe = catalog(&[("s", "x://1", "Cafe")]);
    assert_eq!(mentions("@Cafe\u{301}", &cafe)[0].target, Target::Unknown);
    let rooms = catalog(&[("s", "x://1", "会议室")]);
    assert_eq!(mentions("请看@会议室的安排", &rooms)[0].range, 6..16);
}

#[test]
fn a_title_of_several_resources_is_never_guessed() {
    assert_eq!(one("@calendar"), pair("@calendar", "people/people://calendar or wiki/wiki://calendar/2026"));
    let cases = catalog(&[("a", "x://1", "Notes"), ("a", "x://2", "notes"), ("b", "x://3", "NOTES")]);
    let target = |text: &str| mentions(text, &cases)[0].target.clone();
    assert_eq!(target("@notes"), Target::Resource(ResourceId::new(id("a"), "x://2")));
    assert!(matches!(target("@noteS"), Target::Several(ids) if ids.len() == 3));
}

#[test]
fn a_uri_alone_means_every_server_that_has_it() {
    let twice = catalog(&[("a", "file:///x", "One"), ("b", "file:///x", "Two")]);
    assert!(matches!(&mentions("@file:///x", &twice)[0].target, Target::Several(ids) if ids.len() == 2));
}

#[test]
fn addresses_paths_escapes_and_code_hold_no_mention() {
    for text in [
        "mira@wiki:wiki://rules",
        "a.b@Calendar",
        "node_modules/@Calendar",
        "https://x.org/@Calendar",
        "\\@Calendar",
        "`@Calendar`",
        "``a ` @Calendar``",
        "```\n@Calendar\n```",
        "~~~\n@Calendar",
        "@ Calendar",
        "@",
        "@@Calendar",
        "@.",
        "@\"Calendar",
    ] {
        assert_eq!(read(text), [], "{text}");
    }
    assert_eq!(read("`a` @Calendar `@b`").len(), 1);
    assert_eq!(read("(@Calendar)").len(), 1);
}

#[test]
fn punctuation_behind_a_mention_is_not_part_of_it() {
    for (text, mention) in [
        ("(see @wiki:wiki://rules).", "@wiki:wiki://rules"),
        ("**@wiki:wiki://rules**!", "@wiki:wiki://rules"),
        ("@files:file:///what??", "@files:file:///what?"),
        ("@nobody, hello", "@nobody"),
        ("ask @someone.", "@someone"),
    ] {
        assert_eq!(one(text).0, mention, "{text}");
    }
}

#[test]
fn what_no_list_has_says_so() {
    assert_eq!(one("@wiki:wiki://page/42."), pair("@wiki:wiki://page/42", "wiki/wiki://page/42 in no list"));
    assert_eq!(one("@wiki:nothing"), pair("@wiki:nothing", "?"));
    assert_eq!(one("@nobody:wiki://rules"), pair("@nobody:wiki://rules", "?"));
}

#[test]
fn internal_resources_have_no_titles_in_text() {
    assert_eq!(one("@panel").1, "?");
    assert_eq!(one("@wiki:ui://wiki/panel").1, "wiki/ui://wiki/panel");
}

#[test]
fn hostile_text_is_read_in_bounded_steps() {
    let catalog = workplace();
    assert_eq!(mentions(&"@".repeat(1 << 20), &catalog), []);
    for unit in ["@a ", "(@a", "@wiki:", "@\"", "`@", "@House rules of the kitche ", "```\n@\n", "@%", "@wiki:x:"] {
        let found = mentions(&unit.repeat((1 << 20) / unit.len()), &catalog);
        assert!(found.len() <= MAX_MENTIONS, "{unit}");
    }
    let long = format!("@wiki:{}", "a:".repeat(1 << 19));
    assert_eq!(mentions(&long, &catalog)[0].target, Target::Unknown);
}

#[test]
fn one_title_of_many_resources_ends_the_search_rather_than_the_patience() {
    let builder = (0..500).fold(Catalog::builder(), |builder, number| {
        let title = format!("{}{number}", "a ".repeat(500));
        builder.resource(id("s"), Resource::new(format!("x://{number}"), "x").with_title(title))
    });
    let found = mentions(&format!("@{}", "a ".repeat(499)).repeat(MAX_MENTIONS), &builder.build());
    assert!(found.len() < MAX_MENTIONS);
}

#[test]
fn what_is_being_typed_is_found() {
    let typed = |text: &str| complete_mention(text, text.len()).map(|typing| (typing.range, typing.query.to_owned()));
    assert_eq!(typed("see @"), Some((4..5, String::new())));
    assert_eq!(typed("see @wiki:hand"), Some((4..14, "wiki:hand".to_owned())));
    assert_eq!(typed("see @\"House ru"), Some((4..14, "House ru".to_owned())));
    assert_eq!(typed("@files:mailto:mira@ex"), Some((0..21, "files:mailto:mira@ex".to_owned())));
    for text in ["", "see", "see @wiki ", "mira@example", "see @\"House rules\"", "`a @b`", "@\"a\nb"] {
        assert_eq!(typed(text), None, "{text}");
    }
    // Inside a character, and behind the end.
    assert_eq!(complete_mention("@é", 2).map(|typing| typing.range), Some(0..1));
    assert_eq!(complete_mention("@é", 99).map(|typing| typing.range), Some(0..3));
}

/// Texts that are made of what mentions are made of.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("@".to_owned()),
        Just("\"".to_owned()),
        Just("`".to_owned()),
        Just("~~~\n".to_owned()),
        Just("wiki:".to_owned()),
        Just("wiki://rules".to_owned()),
        Just("House rules".to_owned()),
        Just("calendar".to_owned()),
        Just("%20".to_owned()),
        Just("\\".to_owned()),
        Just(" ".to_owned()),
        Just("\n".to_owned()),
        Just(".".to_owned()),
        ".{0,3}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Names with everything in them that could end a mention.
fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c:@%\"`. 2\\\\/éä]{1,8}", "\\PC{1,12}", "[a-z]{1,4}://[a-c/%@ .?2-4]{1,8}"]
}

proptest! {
    #[test]
    fn mentions_are_in_order_apart_and_on_boundaries(text in text()) {
        let mut end = 0;
        for mention in mentions(&text, &workplace()) {
            prop_assert!(mention.range.start >= end && mention.range.end <= text.len());
            prop_assert!(text[mention.range.clone()].starts_with('@') && mention.range.len() > 1);
            end = mention.range.end;
        }
    }

    #[test]
    fn what_is_written_is_read_as_the_same_resource(
        items in prop::collection::vec((name(), name(), name()), 1..6),
        before in "([^`~\\\\]{0,6}[ \n])?",
        after in "([ \n][^`~]{0,6})?",
    ) {
        let builder = items.iter().fold(Catalog::builder(), |builder, (server, uri, title)| {
            match ServerId::new(server) {
                Ok(server) => builder.resource(server, Resource::new(uri, uri).with_title(title)),
                Err(_) => builder,
            }
        });
        let catalog = builder.build();
        for entry in catalog.resources() {
            let mention = write_mention(&entry.id, &catalog);
            let found = mentions(&mention, &catalog);
            prop_assert_eq!(found.len(), 1, "{}", &mention);
            prop_assert_eq!(&found[0].range, &(0..mention.len()));
            prop_assert_eq!(&found[0].target, &Target::Resource(entry.id.clone()));
            // A longer title that begins like it would count, and what stands before may be a mention that goes on.
            if !before.contains('@') && catalog.resources().iter().all(|other| {
                let title = other.resource.title.as_deref().unwrap_or_default();
                !title.contains(char::is_whitespace)
            }) {
                let text = format!("{before}{mention}{after}");
                let found = mentions(&text, &catalog);
                let range = before.len()..before.len() + mention.len();
                prop_assert!(found.iter().any(|found| {
                    found.range == range && found.target == Target::Resource(entry.id.clone())
                }), "{text:?} {found:?}");
            }
        }
    }

    #[test]
    fn what_is_being_typed_ends_at_the_cursor(text in text(), cursor in 0..40_usize) {
        if let Some(typing) = complete_mention(&text, cursor) {
            prop_assert!(text[typing.range.clone()].starts_with('@') && typing.range.end <= cursor);
            prop_assert!(text[typing.range.clone()].ends_with(typing.query));
        }
    }
}
