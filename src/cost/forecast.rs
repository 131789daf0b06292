use super::{
    price_sheet::{PriceSheet, dollars},
    prompt::Prompt,
    prompt_cache::PromptCache,
    usage::Usage,
};

/// What a conversation is expected to send: how big its parts are and how its tools change.
///
/// A policy of delivery is one such outlook. With a catalog of `all` tokens, `first` of them selected
/// at first, `found` for a later turn, and `bridge` for the search and call tools:
///
/// | policy | array | later turns |
/// |---|---|---|
/// | the whole catalog | `all` | [`Later::Nothing`] |
/// | frozen | `first` | [`Later::Nothing`] |
/// | selected anew in each turn | `first` | [`Later::Replaced`]`(first)` |
/// | appended to the array | `first` | [`Later::Appended`]`(found)` |
/// | deferred, or added to the conversation | `first` | [`Later::Joined`]`(found)` |
/// | through a bridge | `first + bridge` | [`Later::Joined`]`(found)` |
///
/// All sizes are tokens; all begin at 0, since nothing can be guessed for a host.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use]
pub struct Outlook {
    turns: usize,
    requests: usize,
    pause_seconds: u32,
    array: u64,
    later: Later,
    system: u64,
    said: u64,
    output: u64,
}

/// What becomes of the tools in each turn after the first one. Sizes are tokens.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Later {
    /// They stay as they are.
    #[default]
    Nothing,
    /// The array holds other tools, of this size together.
    Replaced(u64),
    /// Tools of this size come after those in the array.
    Appended(u64),
    /// Definitions of this size join the conversation at its end; the array stays.
    Joined(u64),
}

/// What a conversation is expected to be billed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Forecast {
    /// All its requests together.
    pub usage: Usage,
    /// What they cost, in US dollars: the sum of each request's cost, so that long prompts have
    /// their own prices.
    pub cost: f64,
}

impl Outlook {
    /// Seconds between two requests of a turn: a model's answer and a tool's.
    const STEP_SECONDS: u64 = 10;

    /// A conversation of so many turns: one request each, a minute apart, with no tools and no text.
    pub fn new(turns: usize) -> Self {
        let later = Later::Nothing;
        Self { turns, requests: 1, pause_seconds: 60, array: 0, later, system: 0, said: 0, output: 0 }
    }

    /// Sets the tools that the array holds at first.
    pub fn with_array(mut self, tokens: u64) -> Self {
        self.array = tokens;
        self
    }

    /// Sets what becomes of the tools in later turns.
    pub fn with_later(mut self, later: Later) -> Self {
        self.later = later;
        self
    }

    /// Sets what stands between tools and conversation and does not change: system text, the
    /// outline of what can be searched for, attachments.
    pub fn with_system(mut self, tokens: u64) -> Self {
        self.system = tokens;
        self
    }

    /// Sets what joins the conversation in each request: what the user says, or a tool's result.
    pub fn with_said(mut self, tokens: u64) -> Self {
        self.said = tokens;
        self
    }

    /// Sets what the model answers to each request, which is input of the next one.
    pub fn with_output(mut self, tokens: u64) -> Self {
        self.output = tokens;
        self
    }

    /// Sets how many requests a turn makes, at least 1: one more for each call of a tool.
    pub fn with_requests(mut self, per_turn: usize) -> Self {
        self.requests = per_turn.max(1);
        self
    }

    /// Sets the seconds between the end of a turn and the next one.
    pub fn with_pause(mut self, seconds: u32) -> Self {
        self.pause_seconds = seconds;
        self
    }

    /// The tools of a turn, each group marked at its end as a renderer marks the last tool.
    fn tools(&self, turn: usize) -> Prompt {
        let array = match self.later {
            Later::Replaced(tokens) if turn > 0 => Prompt::new().with_block(format!("tools {turn}"), tokens),
            Later::Appended(tokens) => (1..=turn)
                .fold(Prompt::new().with_block("tools", self.array), |prompt, turn| {
                    prompt.with_block(format!("tools {turn}"), tokens)
                }),
            _ => Prompt::new().with_block("tools", self.array),
        };
        array.with_mark(None).with_block("system", self.system).with_mark(None)
    }
}

impl Forecast {
    /// Sends the conversation through a [`PromptCache`] with the rules of `sheet`, starting cold.
    ///
    /// Marks stand where the renderers of this crate put them: after the tools, the system text and
    /// the newest block. Tools that are added together are one block.
    pub fn of(sheet: &PriceSheet, outlook: &Outlook) -> Self {
        let mut cache = PromptCache::new(sheet);
        let (mut usage, mut cost) = (Usage::new(), 0);
        let mut talk: Vec<(String, u64)> = Vec::new();
        let mut at = 0;
        for turn in 0..outlook.turns {
            let tools = outlook.tools(turn);
            if let (Later::Joined(tokens), 1..) = (outlook.later, turn) {
                talk.push((format!("found {turn}"), tokens));
            }
            for request in 0..outlook.requests {
                talk.push((format!("said {turn} {request}"), outlook.said));
                let prompt = talk.iter().fold(tools.clone(), |prompt, (key, tokens)| prompt.with_block(key, *tokens));
                let billed = cache.send(&prompt.with_mark(None), at).with_output(outlook.output);
                usage += billed;
                cost += sheet.picodollars(&billed);
                talk.push((format!("answer {turn} {request}"), outlook.output));
                at += Outlook::STEP_SECONDS;
            }
            at += u64::from(outlook.pause_seconds);
        }
        Self { usage, cost: dollars(cost) }
    }
}

/// The cheapest of several outlooks, with its forecast; of equals the first. The caller leaves out
/// what does not offer what it needs. `None` if there is none.
pub fn cheapest<T>(sheet: &PriceSheet, outlooks: impl IntoIterator<Item = (T, Outlook)>) -> Option<(T, Forecast)> {
    outlooks
        .into_iter()
        .map(|(policy, outlook)| (policy, Forecast::of(sheet, &outlook)))
        .min_by(|(_, a), (_, b)| a.cost.total_cmp(&b.cost))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u64 = 60_000;
    const FIRST: u64 = 2_000;
    const FOUND: u64 = 800;
    const BRIDGE: u64 = 300;

    fn sheet(name: &str) -> &'static PriceSheet {
        PriceSheet::named(name).unwrap()
    }

    fn outlook(array: u64, later: Later) -> Outlook {
        Outlook::new(5).with_array(array).with_later(later).with_system(500).with_said(200).with_output(100)
    }

    fn policies() -> [(&'static str, Outlook); 6] {
        [
            ("all", outlook(ALL, Later::Nothing)),
            ("frozen", outlook(FIRST, Later::Nothing)),
            ("per turn", outlook(FIRST, Later::Replaced(FIRST))),
            ("append", outlook(FIRST, Later::Appended(FOUND))),
            ("deferred", outlook(FIRST, Later::Joined(FOUND))),
            ("bridge", outlook(FIRST + BRIDGE, Later::Joined(FOUND))),
        ]
    }

    #[test]
    fn worked_out_by_hand() {
        let sheet = sheet("anthropic/claude-sonnet-4-6");
        // Written: 2,700, then in each of four turns what joined: the answer of 100 and 200 said.
        // Read: 2,700, 3,000, 3,300, 3,600.
        let frozen = Forecast::of(sheet, &outlook(FIRST, Later::Nothing));
        assert_eq!(frozen.usage, Usage::new().with_written(3_900).with_read(12_600).with_output(500));
        assert_eq!(frozen.cost, (3_900.0 * 3.75 + 12_600.0 * 0.3 + 500.0 * 15.0) / 1e6);
        // Nothing is ever read: 2,700 + 3,000 + 3,300 + 3,600 + 3,900 are written.
        let per_turn = Forecast::of(sheet, &outlook(FIRST, Later::Replaced(FIRST)));
        assert_eq!(per_turn.usage, Usage::new().with_written(16_500).with_output(500));
        // The first tools are found from the end of the longer array, and what follows is written:
        // 2,700, 1,800, 2,100 + 800 ... In turn t: read 2,000 + 800 (t - 1), written 800 + 500 + 200 + 300 t.
        let append = Forecast::of(sheet, &outlook(FIRST, Later::Appended(FOUND)));
        let read = 2_000 + 2_800 + 3_600 + 4_400;
        assert_eq!(append.usage.read, read);
        assert_eq!(append.usage.written, 2_700 + 1_800 + 2_100 + 2_400 + 2_700);
        // What is found joins at the end: read is all of the turn before.
        let deferred = Forecast::of(sheet, &outlook(FIRST, Later::Joined(FOUND)));
        assert_eq!(deferred.usage.written, 3_900 + 4 * 800);
        assert_eq!(deferred.usage.read, 2_700 + 3_800 + 4_900 + 6_000);
    }

    #[test]
    fn a_pause_beyond_the_time_makes_every_turn_cold() {
        let sheet = sheet("anthropic/claude-sonnet-4-6");
        let slow = Forecast::of(sheet, &outlook(FIRST, Later::Nothing).with_pause(300));
        assert_eq!(slow.usage.read, 0, "{:?}", slow.usage);
        let within = Forecast::of(sheet, &outlook(FIRST, Later::Nothing).with_pause(290));
        assert_eq!(within.usage.read, 12_600);
    }

    #[test]
    fn calls_of_tools_are_requests_too() {
        let sheet = sheet("anthropic/claude-sonnet-4-6");
        let turn = Outlook::new(1).with_array(FIRST).with_said(200).with_output(100).with_requests(3);
        let usage = Forecast::of(sheet, &turn).usage;
        assert_eq!((usage.read, usage.written, usage.output), (2_200 + 2_500, 2_200 + 600, 300));
    }

    #[test]
    fn a_stable_prefix_is_cheapest_with_every_provider() {
        for sheet in PriceSheet::all() {
            let cost = |policy: &str| {
                let (_, outlook) = policies().into_iter().find(|(name, _)| *name == policy).unwrap();
                Forecast::of(sheet, &outlook).cost
            };
            for fixed in ["deferred", "bridge"] {
                assert!(cost(fixed) < cost("all"), "{}: {fixed}", sheet.name());
            }
            assert!(cost("frozen") <= cost("per turn"), "{}", sheet.name());
        }
    }

    #[test]
    fn the_cheapest_is_the_first_of_equals() {
        let sheet = sheet("anthropic/claude-sonnet-4-6");
        let offers = policies().into_iter().filter(|(name, _)| !matches!(*name, "frozen" | "per turn"));
        let (policy, forecast) = cheapest(sheet, offers).unwrap();
        assert_eq!(policy, "deferred");
        assert_eq!(forecast, Forecast::of(sheet, &outlook(FIRST, Later::Joined(FOUND))));
        let same = outlook(FIRST, Later::Nothing);
        assert_eq!(cheapest(sheet, [("a", same), ("b", same)]).unwrap().0, "a");
        assert_eq!(cheapest(sheet, Vec::<((), Outlook)>::new()), None);
    }

    #[test]
    fn nothing_costs_nothing() {
        for sheet in PriceSheet::all() {
            assert_eq!(Forecast::of(sheet, &Outlook::new(0)), Forecast { usage: Usage::new(), cost: 0.0 });
            assert_eq!(Forecast::of(sheet, &Outlook::new(3)).cost, 0.0);
        }
    }
}
