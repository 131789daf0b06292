//! What always holds of a picker, whatever is typed and whatever comes in.

use std::collections::BTreeSet;

use proem::{
    catalog::Catalog,
    picker::{Picker, PickerOptions, Preferences, Row},
    protocol::{Annotations, ResourceTemplate},
};
use proptest::prelude::*;

use super::{all, items, open, resource};
use crate::fake::id;

/// A catalog of a few servers whose items share words.
fn some_catalog() -> impl Strategy<Value = Catalog> {
    let word = || prop_oneof!["[abcé]{1,3}", Just("Notes".to_owned()), Just("plan".to_owned())];
    let item = (0..4_usize, 0..12_u8, prop::collection::vec(word(), 1..3), prop::option::of(0..3_u8));
    prop::collection::vec(item, 0..30).prop_map(|items| {
        let builder = items.into_iter().fold(Catalog::builder(), |builder, (server, uri, words, priority)| {
            let server = id(["a", "b", "notes", "plan b"][server]);
            let uri = format!("x://{uri}/{}", words[0]);
            if priority == Some(0) {
                return builder.template(server, ResourceTemplate::new(uri + "/{y}", words.join(" ")));
            }
            let hints =
                priority.map_or(Annotations::new(), |tenths| Annotations::new().with_priority(f64::from(tenths) / 2.0));
            builder.resource(server, resource(&uri, &words.join(" ")).with_annotations(hints))
        });
        builder.build()
    })
}

/// Keys of which each makes the query before it longer, shorter or another one.
fn some_query() -> impl Strategy<Value = String> {
    let word = prop_oneof!["[abceé]{1,2}", Just("no".to_owned()), Just("note".to_owned()), Just("Plan".to_owned())];
    let scope = prop_oneof![Just(""), Just(""), Just("@a:"), Just("notes:"), Just("@no:"), Just("plan b:"), Just("@a")];
    (scope, prop::collection::vec(word, 0..3)).prop_map(|(scope, words)| format!("{scope}{}", words.join(" ")))
}

/// What a row is, without what is said of it.
fn key(row: &Row) -> String {
    match row {
        Row::Group { section, .. } => format!("group {section:?}"),
        Row::Item(row) => row.item.pick.to_string(),
        Row::More { section, .. } => format!("more {section:?}"),
        other => panic!("{other:?}"),
    }
}

fn keys(picker: &Picker) -> Vec<String> {
    all(picker).iter().map(key).collect()
}

#[derive(Clone, Debug)]
enum Act {
    Query(String),
    Update(Catalog),
    Expand,
    Move(isize),
    Group(bool),
}

fn step() -> impl Strategy<Value = Act> {
    prop_oneof![
        some_query().prop_map(Act::Query),
        some_catalog().prop_map(Act::Update),
        Just(Act::Expand),
        (-9..9_isize).prop_map(Act::Move),
        any::<bool>().prop_map(Act::Group),
    ]
}

proptest! {
    #[test]
    fn typing_and_deleting_meet_what_a_new_search_meets(
        catalog in some_catalog(),
        queries in prop::collection::vec(some_query(), 1..4),
    ) {
        let mut picker = open(&catalog);
        for query in queries {
            let ends: Vec<usize> = query.char_indices().map(|(start, c)| start + c.len_utf8()).collect();
            for end in ends.iter().chain(ends.iter().rev()) {
                picker.set_query(&query[..*end]);
                let mut fresh = open(&catalog);
                fresh.set_query(&query[..*end]);
                prop_assert_eq!(all(&picker), all(&fresh), "{}", &query[..*end]);
            }
        }
    }

    #[test]
    fn rows_and_cursor_stay_where_they_are_while_results_stream_in(
        first in some_catalog(),
        steps in prop::collection::vec(step(), 1..10),
        cap in 1..4_usize,
    ) {
        let mut picker = Picker::new(&first, PickerOptions::new().with_cap(cap), Preferences::new());
        for step in steps {
            match step {
                Act::Query(query) => picker.set_query(&query),
                Act::Expand => picker.expand(),
                Act::Move(rows) => picker.move_by(rows),
                Act::Group(grouped) => picker.set_grouped(grouped),
                Act::Update(catalog) => {
                    let (before, cursor) = (keys(&picker), picker.cursor());
                    let current = picker.current();
                    picker.update(&catalog);
                    prop_assert_eq!(&keys(&picker)[..before.len()], &before[..]);
                    if cursor.is_some() {
                        prop_assert_eq!(picker.cursor(), cursor);
                        prop_assert_eq!(picker.current().map(|item| item.pick), current.map(|item| item.pick));
                    }
                }
            }
            // It stands on something that can be chosen, where there is such a thing.
            let rows = all(&picker);
            let can_be_chosen = |row: &Row| !matches!(row, Row::Group { .. });
            match picker.cursor() {
                Some(at) => prop_assert!(can_be_chosen(&rows[at])),
                None => prop_assert!(!rows.iter().any(can_be_chosen)),
            }
            // Each item has one row at most.
            let mut seen = BTreeSet::new();
            prop_assert!(items(&picker).into_iter().all(|row| seen.insert(row.item.pick)));
        }
    }

    #[test]
    fn the_order_depends_on_the_catalog_and_the_query_alone(
        catalogs in prop::collection::vec(some_catalog(), 1..4),
        query in some_query(),
    ) {
        let mut picker = open(&Catalog::default());
        for catalog in &catalogs {
            picker.update(catalog);
        }
        picker.set_query(&query);
        picker.refresh_order();
        picker.move_to_first();
        let mut fresh = open(&catalogs[catalogs.len() - 1]);
        fresh.set_query(&query);
        prop_assert_eq!(all(&picker), all(&fresh));
    }

    #[test]
    fn every_item_that_is_met_is_in_a_row_or_counted(catalog in some_catalog(), query in some_query(), cap in 1..4_usize) {
        let options = PickerOptions::new().with_cap(cap);
        let mut picker = Picker::new(&catalog, options, Preferences::new());
        picker.set_query(&query);
        let mut everything = Picker::new(&catalog, PickerOptions::new().with_cap(1_000), Preferences::new());
        everything.set_query(&query);
        let hidden: usize = all(&picker).iter().map(|row| if let Row::More { hidden, .. } = row { *hidden } else { 0 }).sum();
        prop_assert_eq!(items(&picker).len() + hidden, items(&everything).len());
        while let Some(at) = all(&picker).iter().position(|row| matches!(row, Row::More { .. })) {
            picker.move_to(at);
            picker.toggle();
        }
        prop_assert_eq!(keys(&picker), keys(&everything));
    }

    #[test]
    fn what_is_met_is_in_order_and_on_boundaries(catalog in some_catalog(), query in some_query()) {
        let mut picker = open(&catalog);
        picker.set_query(&query);
        for row in items(&picker) {
            let (item, met) = (&row.item, &row.highlights);
            for (text, ranges) in [(&*item.label, &met.label), (&*item.uri, &met.uri), (item.pick.server().as_str(), &met.server)] {
                let mut end = 0;
                for range in ranges {
                    prop_assert!(range.start >= end && text.get(range.clone()).is_some_and(|met| !met.is_empty()));
                    end = range.end;
                }
            }
        }
    }
}
