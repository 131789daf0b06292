//! Price sheets as files, the table of them in the documentation, and what must hold of forecasts.

use std::{env, fs, path::Path, sync::Arc};

use proem::{
    cost::{Forecast, Kept, Later, Outlook, PriceSheet, Prompt, PromptCache, Usage},
    id::{ServerId, ToolId},
    prefix::Prefix,
    render::{Anthropic, CacheTtl, Layout, Message, OpenAiChat, OpenAiResponses, Provider, ToolSpec},
    tokens::{BytesPerToken, CountCache},
};
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

/// Sends what a provider renders, ten seconds after another.
fn sent(provider: &dyn Provider, sheet: &str, layouts: &[Layout]) -> Vec<Usage> {
    let counts = CountCache::new(Arc::new(BytesPerToken::default()));
    let mut cache = PromptCache::new(PriceSheet::named(sheet).unwrap());
    let send = |(at, layout): (u64, &Layout)| {
        let prefix = Prefix::read(provider.render(layout).as_str()).unwrap();
        cache.send(&Prompt::of(&prefix, &counts), at)
    };
    (0..).step_by(10).zip(layouts).map(send).collect()
}

/// A tool of over 2,000 tokens and a question, then the answer and another question.
fn turns() -> [Layout; 2] {
    let tool = ToolId::new(ServerId::new("git").unwrap(), "merge");
    let first = Layout::new()
        .with_model("some-model")
        .with_tool(ToolSpec::new(tool, "merge").with_description("Merge a branch. ".repeat(600)))
        .with_system("Be brief.")
        .with_message(Message::user("Merge the release branch."));
    let second = first.clone().with_message(Message::assistant("Done.")).with_message(Message::user("Thank you."));
    [first, second]
}

#[test]
fn what_is_rendered_for_the_first_turn_is_read_in_the_second() {
    let marked = sent(&Anthropic::new(), "anthropic/claude-sonnet-4-6", &turns());
    assert_eq!((marked[0].read, marked[0].uncached), (0, 0));
    assert_eq!((marked[1].read, marked[1].uncached), (marked[0].written, 0));
    assert!((1..40).contains(&marked[1].written), "{marked:?}");

    let all = sent(&OpenAiChat::new(), "openai/gpt-5.4", &turns());
    assert_eq!((all[0].read, all[0].written), (0, 0));
    assert_eq!((all[1].read, all[1].written), (all[0].uncached / 128 * 128, 0));

    let newest = sent(&OpenAiResponses::new(), "openai/gpt-5.6-sol", &turns());
    assert_eq!((newest[1].read, newest[1].uncached), (newest[0].written, 0));
}

#[test]
fn what_the_provider_is_told_decides() {
    let [first, second] = turns();
    let long = Anthropic::new().with_prefix_ttl(CacheTtl::OneHour);
    let usages = sent(&long, "anthropic/claude-sonnet-4-6", &[first.clone(), second.clone()]);
    assert!(usages[0].written_long > 2_000 && (1..40).contains(&usages[0].written), "{usages:?}");

    // Another model has none of it.
    let usages = sent(&long, "anthropic/claude-sonnet-4-6", &[first, second.with_model("another-model")]);
    assert_eq!((usages[1].read, usages[1].written_long), (0, usages[0].written_long));
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
    // Each case is a conversation for each sheet.
    #![proptest_config(ProptestConfig::with_cases(24))]

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
