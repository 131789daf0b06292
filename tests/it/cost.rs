//! Price sheets as files, the table of them in the documentation, and what must hold of forecasts.

use std::{env, fs, path::Path};

use proem::cost::{Forecast, Kept, Later, Outlook, PriceSheet};
use proptest::prelude::*;

fn table() -> String {
    let dollars = |price: Option<f64>| price.map_or_else(|| "-".to_owned(), |price| format!("{price}"));
    let mut table = "\
| sheet | input | read | write | long | output | kept | minimum | time | as of |
|---|--:|--:|--:|--:|--:|---|--:|---|---|
"
    .to_owned();
    for sheet in PriceSheet::all() {
        let (prices, rules) = (&sheet.prices, &sheet.cache);
        let kept = match rules.kept {
            Kept::Marked => "marked",
            Kept::Newest => "newest",
            Kept::All => "all",
            other => panic!("{other:?} has no word here"),
        };
        let time = match rules.long_ttl_seconds {
            Some(long) => format!("{} or {} min", rules.ttl_seconds / 60, long / 60),
            None => format!("{} min", rules.ttl_seconds / 60),
        };
        let long = if sheet.long_prompts.is_some() { " *" } else { "" };
        table += &format!(
            "| `{}`{long} | {} | {} | {} | {} | {} | {kept} | {} | {time} | {} |\n",
            sheet.name(),
            prices.input,
            prices.read,
            dollars(prices.write),
            dollars(prices.write_long),
            prices.output,
            rules.minimum,
            sheet.as_of,
        );
    }
    table
}

#[test]
fn the_documented_sheets_are_those_that_ship() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/costs.md");
    let text = fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once("<!-- sheets -->\n").unwrap();
    let (shown, after) = rest.split_once("<!-- /sheets -->").unwrap();
    if env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, format!("{before}<!-- sheets -->\n{}<!-- /sheets -->{after}", table())).unwrap();
    } else {
        assert_eq!(shown, table(), "UPDATE_GOLDEN=1 writes the table anew");
    }
}

#[test]
fn a_host_brings_its_own_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.json");
    let mut own = PriceSheet::named("openai/gpt-5.4").unwrap().clone();
    own.provider = "gateway".into();
    own.prices.input = 2.0;
    fs::write(&path, serde_json::to_string(&own).unwrap()).unwrap();
    assert_eq!(PriceSheet::open(&path).unwrap(), [own]);

    fs::write(&path, r#"[{"provider": "gateway", "model": "m"}]"#).unwrap();
    let message = PriceSheet::open(&path).unwrap_err().to_string();
    assert!(message.starts_with(&*path.display().to_string()), "{message}");
    assert!(message.ends_with("invalid price sheet 1 (gateway/m): missing field `as_of`"), "{message}");
    let missing = PriceSheet::open(folder.path().join("none.json")).unwrap_err();
    assert!(matches!(missing, proem::Error::File { source: Some(_), .. }));
}

fn outlooks() -> impl Strategy<Value = Outlook> {
    let later = prop_oneof![
        Just(Later::Nothing),
        (0_u64..5_000).prop_map(Later::Replaced),
        (0_u64..5_000).prop_map(Later::Appended),
        (0_u64..5_000).prop_map(Later::Joined),
    ];
    (0_usize..12, 0_u64..80_000, later, 0_u64..4_000, 0_u64..3_000, 0_u64..2_000, 0_usize..4).prop_map(
        |(turns, array, later, system, said, output, requests)| {
            Outlook::new(turns)
                .with_array(array)
                .with_later(later)
                .with_system(system)
                .with_said(said)
                .with_output(output)
                .with_requests(requests)
        },
    )
}

proptest! {
    #[test]
    fn every_provider_is_sent_the_same(outlook in outlooks()) {
        let sent: Vec<_> = PriceSheet::all().iter().map(|sheet| Forecast::of(sheet, &outlook).usage).collect();
        for usage in &sent {
            prop_assert_eq!((usage.total_input(), usage.output), (sent[0].total_input(), sent[0].output));
        }
    }

    #[test]
    fn waiting_never_makes_it_cheaper(outlook in outlooks(), pause in 0_u32..4_000) {
        for sheet in PriceSheet::all() {
            let cost = |pause| Forecast::of(sheet, &outlook.with_pause(pause)).cost;
            prop_assert!(cost(pause) >= cost(0), "{} after {pause} s", sheet.name());
        }
    }

    #[test]
    fn what_joins_at_the_end_leaves_the_prefix(outlook in outlooks(), found in 0_u64..5_000) {
        for sheet in PriceSheet::all() {
            let stays = Forecast::of(sheet, &outlook.with_later(Later::Nothing)).usage;
            let joined = Forecast::of(sheet, &outlook.with_later(Later::Joined(found))).usage;
            prop_assert!(joined.read >= stays.read, "{}: {joined:?} {stays:?}", sheet.name());
        }
    }
}
