use super::{
    Deferral, Provider,
    body::{Body, Json},
    breakpoints::Breakpoints,
    choice::{Choice, choice, not_held_back},
    joining::Joining,
    layout::Layout,
    memo::Memo,
    report::RenderReport,
    request::{Request, SectionKind},
    schema,
    strict::StrictRules,
    tools::{ReadyTool, ToolRules, ready},
    turns::{Part, joined, system, turns, user_first},
};

const RULES: ToolRules = ToolRules { provider: "Anthropic", max_tools: None, schema: schema::PLAIN_ROOT, strict: None };

/// Anthropic's page on structured outputs, complexity limits.
const STRICT_RULES: ToolRules = ToolRules {
    strict: Some(StrictRules {
        schema: schema::ANTHROPIC_STRICT,
        max_tools: Some(20),
        max_freedom: Some(schema::Freedom { optional: 24, unions: 16 }),
    }),
    ..RULES
};

/// Anthropic Messages.
///
/// Cache breakpoints, at most the four that the API allows: the last tool, the last system block,
/// the last attachment, and the last block of the newest message. Each is absent with its section.
/// The tools have none where system text and attachments do: the system text's covers them. The one
/// that is left stands at the end of the user's turn before the newest, where the request before this
/// one ended, if the API would not look back as far.
///
/// Tools that a [search](super::ToolKind::Search) found stand after the others with `defer_loading`, which keeps
/// them out of the prompt and of the cached prefix, and the search's result refers to them: so an
/// array that grows by them changes nothing that is cached. Text beside them in that result follows it,
/// since the API takes references alone. Claude Opus 4.5 and Sonnet 4.5, and later models, know this
/// (Anthropic, tool search); no header is needed on Anthropic's own API.
///
/// `tool_choice` is no part of the prefix, but a change of it makes the cached messages useless; tools and
/// system text stay (Anthropic, prompt caching). With thinking the API takes no choice but
/// [`Auto`](super::ToolChoice::Auto) and [`None`](super::ToolChoice::None). [`Layout::allowed`] cannot be
/// said: the report says so, and the host refuses such calls.
///
/// Attachments are text blocks between delimiters at the start of the first user message, not
/// `document` blocks: so the text, its token count and the rule that keeps a server from forging
/// a delimiter are the same for every provider, and the server is named beside the title.
#[derive(Clone, Debug)]
#[must_use]
pub struct Anthropic {
    breakpoints: bool,
    additions: bool,
    prefix_ttl: CacheTtl,
    tail_ttl: CacheTtl,
    strict_tools: bool,
}

/// How long a cached prefix of Claude is kept after its last use, by Anthropic and by Bedrock.
#[derive(Clone, Copy, Debug, Default, Eq, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum CacheTtl {
    /// Five minutes; writing costs 1.25 times the input price.
    #[default]
    FiveMinutes,
    /// One hour; writing costs twice the input price.
    OneHour,
}

impl Default for Anthropic {
    fn default() -> Self {
        Self {
            breakpoints: true,
            additions: false,
            prefix_ttl: CacheTtl::FiveMinutes,
            tail_ttl: CacheTtl::FiveMinutes,
            strict_tools: false,
        }
    }
}

impl Anthropic {
    /// What `max_tokens` is if the layout does not say: the API requires it, and every model takes
    /// this much.
    pub const DEFAULT_MAX_TOKENS: u32 = 4_096;

    /// The most breakpoints in one request, by the API's rule.
    pub const MAX_BREAKPOINTS: usize = 4;

    /// With breakpoints, each kept for five minutes: the cheapest to write, and a turn of a
    /// conversation refreshes it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long tools, system text and attachments stay cached.
    pub fn with_prefix_ttl(mut self, ttl: CacheTtl) -> Self {
        self.prefix_ttl = ttl;
        self
    }

    /// Sets how long the conversation stays cached. Never longer than the prefix: the API refuses
    /// a longer time after a shorter one, so the prefix's time is taken then.
    pub fn with_tail_ttl(mut self, ttl: CacheTtl) -> Self {
        self.tail_ttl = ttl;
        self
    }

    /// Sets no breakpoints, for hosts that place their own or use the API's automatic caching.
    pub fn without_breakpoints(mut self) -> Self {
        self.breakpoints = false;
        self
    }

    /// Has the API hold the model to the schemas of those tools of the array that can be said strictly, the first
    /// twenty in their order. What the API does not enforce is said in descriptions, and the report says why
    /// a tool is not strict. Default: off, since the API compiles all strict schemas of a request together and
    /// refuses what becomes too large by a measure that it does not publish.
    pub fn with_strict_tools(mut self) -> Self {
        self.strict_tools = true;
        self
    }

    /// Gives tools that the host adds to a message in a message of the role `system` after it, with a
    /// `tool_addition` for each, so that the model can call them by name. Default: as text, to be called
    /// through a tool of [kind `Call`](super::ToolKind::Call), since the form is in beta and Claude Opus 4.8,
    /// Opus 5, Sonnet 5.5 and Haiku 5.5, Fable 5, Mythos 5 and later models know it, Sonnet 5 does not
    /// (Anthropic, mid-conversation system messages). The host sends [`Self::beta_headers`] along.
    ///
    /// The definitions stand in the array of tools, deferred, and the message refers to them: what a
    /// server says of its tools has no place in a message that the model reads as the operator's.
    pub fn with_tool_additions(mut self) -> Self {
        self.additions = true;
        self
    }

    /// What the header `anthropic-beta` of a request has to name. Empty unless an option needs it.
    #[must_use]
    pub fn beta_headers(&self) -> Vec<&'static str> {
        self.additions.then_some("mid-conversation-tool-changes-2026-07-01").into_iter().collect()
    }

    fn tool<'a>(&self, tool: &'a ReadyTool<'a>, mark: bool) -> Json<'a> {
        self.marked(definition(tool), mark.then_some(self.prefix_ttl))
    }

    fn part<'a>(&self, part: &'a Part<'a>, mark: Option<CacheTtl>) -> Json<'a> {
        let fields = match part {
            Part::Text(text) => vec![("type", Json::text("text")), ("text", Json::text(&**text))],
            Part::Image { mime_type, data } => {
                let source = vec![
                    ("type", Json::text("base64")),
                    ("media_type", Json::text(*mime_type)),
                    ("data", Json::text(*data)),
                ];
                vec![("type", Json::text("image")), ("source", Json::Object(source))]
            }
            Part::Call { id, name, arguments } => vec![
                ("type", Json::text("tool_use")),
                ("id", Json::text(&**id)),
                ("name", Json::text(&**name)),
                ("input", Json::Raw(arguments)),
            ],
            Part::Result { call_id, parts, found, is_error } => {
                let mut fields = vec![("type", Json::text("tool_result")), ("tool_use_id", Json::text(&**call_id))];
                let content: Vec<_> = parts
                    .iter()
                    .map(|part| self.part(part, None))
                    .chain(found.iter().flatten().map(reference))
                    .collect();
                if !content.is_empty() {
                    fields.push(("content", Json::Array(content)));
                }
                fields.extend(is_error.then_some(("is_error", Json::Bool(true))));
                fields
            }
        };
        self.marked(fields, mark)
    }

    /// Offers a tool of the array from here on.
    fn addition<'a>(&self, tool: &'a ReadyTool<'a>, mark: Option<CacheTtl>) -> Json<'a> {
        let reference = vec![("type", Json::text("tool_reference")), ("name", Json::text(&tool.spec.exposed))];
        self.marked(vec![("type", Json::text("tool_addition")), ("tool", Json::Object(reference))], mark)
    }

    fn choice<'a>(&self, choice: &Choice<'a>, report: &mut RenderReport) -> Option<Json<'a>> {
        if matches!(choice, Choice::Among { .. }) {
            not_held_back(RULES.provider, report);
        }
        let (kind, name) = match choice {
            Choice::Auto | Choice::Among { required: false, .. } => return None,
            Choice::None => ("none", None),
            Choice::Required | Choice::Among { required: true, .. } => ("any", None),
            Choice::Tool(name) => ("tool", Some(*name)),
        };
        let mut fields = vec![("type", Json::text(kind))];
        fields.extend(name.map(|name| ("name", Json::text(name))));
        Some(Json::Object(fields))
    }

    fn marked<'a>(&self, mut fields: Vec<(&'static str, Json<'a>)>, mark: Option<CacheTtl>) -> Json<'a> {
        if let Some(ttl) = mark.filter(|_| self.breakpoints) {
            let mut control = vec![("type", Json::text("ephemeral"))];
            if ttl == CacheTtl::OneHour {
                control.push(("ttl", Json::text("1h")));
            }
            fields.push(("cache_control", Json::Object(control)));
        }
        Json::Object(fields)
    }

    fn write(&self, layout: &Layout, memo: Option<&Memo>) -> Request {
        let mut report = RenderReport::default();
        let rules = if self.strict_tools { &STRICT_RULES } else { &RULES };
        let tools = ready(&layout.tools, rules, memo, &mut report);
        let system = system(layout, &mut report);
        // The API refuses an array in which every tool is deferred.
        let deferral = if tools.is_empty() { Deferral::None } else { self.deferral() };
        let mut joining = Joining::new(&tools, &RULES, deferral);
        let mut turns = turns(layout, &mut joining, &mut report);
        user_first(&mut turns, &mut report);
        let choice = self.choice(&choice(layout, &joining, &mut report), &mut report);

        let breakpoints = Breakpoints::new(Self::MAX_BREAKPOINTS, !tools.is_empty(), !system.is_empty(), &turns);
        let tail_ttl =
            |turn, block| breakpoints.blocks.contains(&(turn, block)).then_some(self.tail_ttl.min(self.prefix_ttl));

        let mut body = Body::new();
        if let Some(model) = &layout.model {
            body.field("model", &Json::text(model));
        }
        body.field("max_tokens", &Json::Number(layout.max_tokens.unwrap_or(Self::DEFAULT_MAX_TOKENS).into()));
        body.tools_and(&tools, joined(&turns).map(deferred), |tool, last| self.tool(tool, last && breakpoints.tools));
        if !system.is_empty() {
            body.key("system");
            body.section(SectionKind::System);
            body.open('[');
            for (i, text) in system.iter().enumerate() {
                let fields = vec![("type", Json::text("text")), ("text", Json::text(&**text))];
                body.value(&self.marked(fields, (i + 1 == system.len()).then_some(self.prefix_ttl)));
            }
            body.close(']');
            body.end_section();
        }
        body.key("messages");
        body.open('[');
        for (t, turn) in turns.iter().enumerate() {
            if turn.attachments == 0 {
                body.section(SectionKind::Messages);
            }
            body.open('{');
            body.key("content");
            body.open('[');
            for (p, part) in turn.parts.iter().enumerate() {
                let attached = p < turn.attachments;
                body.section(if attached { SectionKind::Attachments } else { SectionKind::Messages });
                let mark = match attached {
                    true => (p + 1 == turn.attachments).then_some(self.prefix_ttl),
                    false => tail_ttl(t, p),
                };
                body.value(&self.part(part, mark));
                if p + 1 == turn.attachments {
                    body.end_section();
                }
            }
            body.close(']');
            body.field("role", &Json::text(turn.role.as_str()));
            body.close('}');
            if !turn.added.is_empty() {
                let additions = turn.added.iter().enumerate();
                let additions = additions.map(|(i, tool)| self.addition(tool, tail_ttl(t, turn.parts.len() + i)));
                body.section(SectionKind::Messages);
                body.value(&Json::Object(vec![
                    ("content", Json::Array(additions.collect())),
                    ("role", Json::text("system")),
                ]));
            }
        }
        body.end_section();
        body.close(']');
        if let Some(choice) = choice {
            body.field("tool_choice", &choice);
        }
        body.finish(joining, report)
    }
}

impl Provider for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn max_tools(&self) -> Option<usize> {
        RULES.max_tools
    }

    fn deferral(&self) -> Deferral {
        if self.additions { Deferral::Anywhere } else { Deferral::Results }
    }

    fn render(&self, layout: &Layout) -> Request {
        self.write(layout, None)
    }

    fn render_with(&self, layout: &Layout, memo: &Memo) -> Request {
        self.write(layout, Some(memo))
    }
}

fn definition<'a>(tool: &'a ReadyTool<'a>) -> Vec<(&'static str, Json<'a>)> {
    let mut fields = vec![("name", Json::text(&tool.spec.exposed)), ("input_schema", Json::Raw(tool.schema.as_str()))];
    fields.extend(tool.description().map(|text| ("description", Json::text(text))));
    fields.extend(tool.is_strict.then_some(("strict", Json::Bool(true))));
    fields
}

/// A tool that is in no prompt until something refers to it. Never with a breakpoint: the API refuses both.
fn deferred<'a>(tool: &'a ReadyTool<'a>) -> Json<'a> {
    let mut fields = definition(tool);
    fields.push(("defer_loading", Json::Bool(true)));
    Json::Object(fields)
}

/// In the result of a search: the tool of the array that it found.
fn reference<'a>(tool: &'a ReadyTool<'a>) -> Json<'a> {
    Json::Object(vec![("type", Json::text("tool_reference")), ("tool_name", Json::text(&tool.spec.exposed))])
}
