//! Every rule with figures worked out by hand, and the examples of the providers' documentation.

use proptest::prelude::*;

use super::*;

fn cache(sheet: &str) -> PromptCache {
    PromptCache::new(PriceSheet::named(sheet).unwrap())
}

/// Minimum 1,024; 5 minutes, 1 hour; 20 blocks.
fn sonnet() -> PromptCache {
    cache("anthropic/claude-sonnet-4-6")
}

/// Blocks of so many tokens, each called by its number and a name; the last one marked.
fn blocks(name: &str, tokens: &[u64]) -> Prompt {
    tokens
        .iter()
        .enumerate()
        .fold(Prompt::new(), |prompt, (i, tokens)| prompt.with_block(format!("{name}{i}"), *tokens))
        .with_mark(None)
}

/// Read, written for the usual and the longer time, uncached.
fn parts(usage: Usage) -> [u64; 4] {
    [usage.read, usage.written, usage.written_long, usage.uncached]
}

#[test]
fn the_documented_example_of_anthropic() {
    let mut cache = sonnet();
    let book = Prompt::new().with_block("the book", 188_086).with_mark(None);
    let ask = |question: &str| book.clone().with_block(question, 21);
    assert_eq!(parts(cache.send(&ask("What are its themes?"), 0)), [0, 188_086, 0, 21]);
    assert_eq!(parts(cache.send(&ask("What are its themes?"), 5)), [188_086, 0, 0, 21]);
}

#[test]
fn the_documented_example_of_openai() {
    let mut cache = cache("openai/gpt-5.4");
    let prompt = Prompt::new().with_block("all of it", 2_006);
    assert_eq!(parts(cache.send(&prompt, 0)), [0, 0, 0, 2_006]);
    // Hits come in steps of 128 tokens: 15 of them.
    assert_eq!(parts(cache.send(&prompt, 5)), [1_920, 0, 0, 86]);
}

#[test]
fn a_prefix_below_the_minimum_is_not_kept() {
    for (sheet, minimum) in
        [("claude-opus-5", 512), ("claude-sonnet-4-6", 1_024), ("claude-opus-4-7", 2_048), ("claude-haiku-4-5", 4_096)]
    {
        let mut cache = cache(&format!("anthropic/{sheet}"));
        let below = blocks("below", &[minimum - 1]);
        assert_eq!(parts(cache.send(&below, 0)), [0, 0, 0, minimum - 1]);
        assert_eq!(parts(cache.send(&below, 0)), [0, 0, 0, minimum - 1]);
        let at = blocks("at", &[minimum]);
        assert_eq!(parts(cache.send(&at, 0)), [0, minimum, 0, 0]);
        assert_eq!(parts(cache.send(&at, 0)), [minimum, 0, 0, 0]);
    }
}

#[test]
fn a_prefix_above_the_maximum_is_not_kept() {
    let mut cache = cache("bedrock/amazon.nova-pro");
    let prompt = Prompt::new().with_block("system", 20_000).with_mark(None).with_block("more", 1).with_mark(None);
    assert_eq!(parts(cache.send(&prompt, 0)), [0, 20_000, 0, 1]);
    assert_eq!(parts(cache.send(&prompt, 0)), [20_000, 0, 0, 1]);
}

#[test]
fn only_what_is_marked_is_kept() {
    let mut cache = sonnet();
    let prompt = Prompt::new().with_block("tools", 3_000).with_block("question", 100);
    assert_eq!(parts(cache.send(&prompt, 0)), [0, 0, 0, 3_100]);
    assert_eq!(parts(cache.send(&prompt, 1)), [0, 0, 0, 3_100]);
    // An entry ends at the mark, not at a block before it.
    assert_eq!(parts(cache.send(&prompt.clone().with_mark(None), 2)), [0, 3_100, 0, 0]);
    let other = Prompt::new().with_block("tools", 3_000).with_block("another", 100).with_mark(None);
    assert_eq!(parts(cache.send(&other, 3)), [0, 3_100, 0, 0]);
}

#[test]
fn a_growing_conversation_writes_what_is_new() {
    let mut cache = sonnet();
    assert_eq!(parts(cache.send(&blocks("m", &[2_000]), 0)), [0, 2_000, 0, 0]);
    assert_eq!(parts(cache.send(&blocks("m", &[2_000, 300, 50]), 10)), [2_000, 350, 0, 0]);
    assert_eq!(parts(cache.send(&blocks("m", &[2_000, 300, 50, 70]), 20)), [2_350, 70, 0, 0]);
    // What changes at the front is found nowhere.
    assert_eq!(parts(cache.send(&blocks("n", &[2_000, 300, 50, 70]), 30)), [0, 2_420, 0, 0]);
}

#[test]
fn five_minutes_from_the_last_use() {
    let prompt = blocks("m", &[2_000]);
    let mut used = sonnet();
    used.send(&prompt, 0);
    assert_eq!(parts(used.send(&prompt, 300)), [2_000, 0, 0, 0]);
    assert_eq!(parts(used.send(&prompt, 600)), [2_000, 0, 0, 0], "the read at 300 began the time anew");
    assert_eq!(parts(used.send(&prompt, 901)), [0, 2_000, 0, 0]);
}

#[test]
fn a_read_refreshes_the_shorter_prefixes_too() {
    let mut cache = sonnet();
    let tools = Prompt::new().with_block("tools", 2_000).with_mark(None);
    let talk = tools.clone().with_block("hello", 500).with_mark(None);
    cache.send(&talk, 0);
    cache.send(&talk, 250);
    let other = tools.with_block("another conversation", 600).with_mark(None);
    assert_eq!(parts(cache.send(&other, 500)), [2_000, 600, 0, 0]);
}

#[test]
fn a_read_that_refreshes_nothing() {
    let mut cache = cache("openai/gpt-5.6-sol");
    let prompt = Prompt::new().with_block("m", 2_000);
    cache.send(&prompt, 0);
    assert_eq!(parts(cache.send(&prompt, 1_800)), [2_000, 0, 0, 0]);
    assert_eq!(parts(cache.send(&prompt, 1_801)), [0, 2_000, 0, 0]);
}

#[test]
fn twenty_blocks_are_looked_back_over() {
    let many = |n: usize| {
        let mut tokens = vec![2_000];
        tokens.resize(n, 10);
        blocks("m", &tokens)
    };
    let mut near = sonnet();
    near.send(&many(1), 0);
    // The mark is on the 20th block and counts as the first that is looked at: the 1st is the last.
    assert_eq!(parts(near.send(&many(20), 1)), [2_000, 190, 0, 0]);
    let mut far = sonnet();
    far.send(&many(1), 0);
    assert_eq!(parts(far.send(&many(21), 1)), [0, 2_200, 0, 0]);
    // A second mark on the way finds it.
    let tools = Prompt::new().with_block("m0", 2_000).with_mark(None);
    let marked = (1..21).fold(tools, |prompt, i| prompt.with_block(format!("m{i}"), 10)).with_mark(None);
    let mut helped = sonnet();
    helped.send(&many(1), 0);
    assert_eq!(parts(helped.send(&marked, 1)), [2_000, 200, 0, 0]);
}

#[test]
fn one_block_of_looking_back_is_the_mark_alone() {
    let mut cache = cache("bedrock/amazon.nova-pro");
    cache.send(&blocks("m", &[2_000]), 0);
    assert_eq!(parts(cache.send(&blocks("m", &[2_000, 10]), 1)), [0, 2_010, 0, 0]);
    assert_eq!(parts(cache.send(&blocks("m", &[2_000]), 2)), [2_000, 0, 0, 0]);
}

#[test]
fn an_hour_before_five_minutes() {
    let tools = Prompt::new().with_block("tools", 3_000).with_mark(Some(3_600));
    let say = |text: &str| tools.clone().with_block(text, 1_000).with_mark(Some(300)).with_block("tail", 7);
    let mut cache = sonnet();
    assert_eq!(parts(cache.send(&say("a"), 0)), [0, 1_000, 3_000, 7]);
    assert_eq!(parts(cache.send(&say("b"), 1)), [3_000, 1_000, 0, 7]);
    assert_eq!(parts(cache.send(&say("b"), 2)), [4_000, 0, 0, 7]);
    // Ten minutes later the tail is gone, the tools are not.
    assert_eq!(parts(cache.send(&say("b"), 602)), [3_000, 1_000, 0, 7]);
    assert_eq!(parts(cache.send(&say("b"), 602 + 3_601)), [0, 1_000, 3_000, 7]);
    // Where there is no longer time, none is written.
    let mut nova = super::tests::cache("bedrock/amazon.nova-pro");
    assert_eq!(parts(nova.send(&tools, 0)), [0, 3_000, 0, 0]);
}

#[test]
fn the_last_marks_count() {
    let five = (0..5).fold(Prompt::new(), |prompt, i| prompt.with_block(format!("m{i}"), 2_000).with_mark(None));
    let first = Prompt::new().with_block("m0", 2_000).with_mark(None);
    let second = first.clone().with_block("m1", 2_000).with_mark(None);
    let mut cache = sonnet();
    cache.send(&five, 0);
    assert_eq!(parts(cache.clone().send(&second, 1)), [4_000, 0, 0, 0]);
    assert_eq!(parts(cache.send(&first, 1)), [0, 2_000, 0, 0]);
}

#[test]
fn the_newest_message_is_kept_by_itself() {
    let mut cache = cache("openai/gpt-5.6-sol");
    let talk =
        |n: usize| (0..n).fold(Prompt::new().with_block("tools", 3_000), |p, i| p.with_block(format!("m{i}"), 100));
    assert_eq!(parts(cache.send(&talk(1), 0)), [0, 3_100, 0, 0]);
    assert_eq!(parts(cache.send(&talk(60), 1)), [3_100, 5_900, 0, 0], "no limit of blocks");
    // Another conversation shares the tools, but no entry ends there.
    let other = |mark: bool| {
        let tools = Prompt::new().with_block("tools", 3_000);
        (if mark { tools.with_mark(None) } else { tools }).with_block("other", 50)
    };
    assert_eq!(parts(cache.send(&other(false), 2)), [0, 3_050, 0, 0]);
    // With a mark there, one does from now on.
    assert_eq!(parts(cache.send(&other(true).with_block("x", 1), 3)), [3_050, 1, 0, 0]);
    let third = Prompt::new().with_block("tools", 3_000).with_mark(None).with_block("third", 40);
    assert_eq!(parts(cache.send(&third, 4)), [3_000, 40, 0, 0]);
}

#[test]
fn everything_is_kept_where_no_marks_are_needed() {
    let mut cache = cache("gemini/gemini-2.5-flash");
    let talk = |text: &str| Prompt::new().with_block("tools", 2_048).with_block(text, 500);
    assert_eq!(parts(cache.send(&talk("a"), 0)), [0, 0, 0, 2_548]);
    assert_eq!(parts(cache.send(&talk("b"), 1)), [2_048, 0, 0, 500]);
    assert_eq!(parts(cache.send(&talk("b"), 2)), [2_548, 0, 0, 0]);
}

#[test]
fn a_setting_loses_what_stands_after_it() {
    let mut cache = sonnet();
    let say = |choice: &str| {
        let tools = Prompt::new().with_setting("model").with_block("tools", 3_000).with_mark(None);
        tools.with_setting(choice).with_block("question", 500).with_mark(None)
    };
    cache.send(&say("auto"), 0);
    assert_eq!(parts(cache.send(&say("auto"), 1)), [3_500, 0, 0, 0]);
    assert_eq!(parts(cache.send(&say("any"), 2)), [3_000, 500, 0, 0]);
    let other_model = Prompt::new().with_setting("another").with_block("tools", 3_000).with_mark(None);
    assert_eq!(parts(cache.send(&other_model, 3)), [0, 3_000, 0, 0]);
}

#[test]
fn an_empty_prompt_is_nothing() {
    for sheet in PriceSheet::all() {
        assert_eq!(PromptCache::new(sheet).send(&Prompt::new().with_mark(None), 0), Usage::new());
    }
}

#[test]
fn entries_are_bounded_and_the_newest_stay() {
    let mut cache = cache("gemini/gemini-2.5-flash");
    let long = (0..PromptCache::MAX_ENTRIES + 500).fold(Prompt::new(), |p, i| p.with_block(i.to_le_bytes(), 3_000));
    cache.send(&long, 0);
    assert!(cache.entries.len() <= PromptCache::MAX_ENTRIES);
    assert_eq!(cache.send(&long, 1).uncached, 0);
}

#[test]
fn a_saved_cache_goes_on() {
    for sheet in PriceSheet::all() {
        let mut cache = PromptCache::new(sheet);
        cache.send(&blocks("m", &[5_000, 10]), 7);
        let text = serde_json::to_string(&cache).unwrap();
        let mut again: PromptCache = serde_json::from_str(&text).unwrap();
        assert_eq!(again, cache);
        let next = blocks("m", &[5_000, 10, 20]);
        assert_eq!(again.send(&next, 8), cache.send(&next, 8));
    }
}

/// Blocks by number, so that prompts share beginnings often; marks, and times that pass.
fn requests() -> impl Strategy<Value = Vec<(Prompt, u64)>> {
    let block = (
        0_u8..3,
        prop_oneof![1_u64..50, 500_u64..3_000],
        prop::option::of(prop::option::of(prop_oneof![Just(300_u32), Just(3_600)])),
    );
    let prompt = prop::collection::vec(block, 0..30).prop_map(|blocks| {
        blocks.into_iter().fold(Prompt::new(), |prompt, (key, tokens, mark)| {
            let prompt = prompt.with_block([key, tokens.to_le_bytes()[0], tokens.to_le_bytes()[1]], tokens);
            match mark {
                Some(ttl) => prompt.with_mark(ttl),
                None => prompt,
            }
        })
    });
    prop::collection::vec((prompt, 0_u64..700), 1..8)
}

proptest! {
    #[test]
    fn every_token_is_billed_once_and_reads_are_shared_prefixes(requests in requests()) {
        for sheet in PriceSheet::all() {
            let mut cache = PromptCache::new(sheet);
            let mut sent: Vec<Prompt> = Vec::new();
            let mut at = 0;
            for (prompt, pause) in &requests {
                at += pause;
                let usage = cache.send(prompt, at);
                prop_assert_eq!(usage.total_input(), prompt.tokens());
                prop_assert_eq!(usage.output, 0);
                // What is read stood at the front of an earlier prompt.
                let shared = sent.iter().flat_map(|earlier| {
                    let pairs = earlier.positions().iter().zip(prompt.positions());
                    pairs.take_while(|(a, b)| a.digest == b.digest).map(|(_, b)| b.tokens)
                }).max().unwrap_or(0);
                prop_assert!(usage.read <= shared, "{} read {} of {shared}", sheet.name(), usage.read);
                prop_assert!(usage.read == 0 || usage.read >= sheet.cache.minimum);
                prop_assert!(sheet.cache.kept != Kept::All || usage.total_written() == 0);
                sent.push(prompt.clone());
            }
        }
    }
}
