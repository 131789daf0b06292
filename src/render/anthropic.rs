use super::{
    Provider,
    body::{Body, Json},
    layout::Layout,
    report::RenderReport,
    request::{Request, SectionKind},
    schema,
    strict::{StrictRules, strict},
    tools::{ReadyTool, ToolRules, ready},
    turns::{Part, system, turns},
};
use crate::protocol::Role;

const RULES: ToolRules = ToolRules { provider: "Anthropic", max_tools: None, schema: schema::PLAIN_ROOT };

/// Anthropic's page on structured outputs, complexity limits.
const STRICT: StrictRules = StrictRules {
    schema: schema::ANTHROPIC_STRICT,
    max_tools: Some(20),
    max_freedom: Some(schema::Freedom { optional: 24, unions: 16 }),
};

/// Anthropic Messages.
///
/// Cache breakpoints, at most the four that the API allows: the last tool, the last system block,
/// the last attachment, and the last block of the newest message. Each is absent with its section.
///
/// Attachments are text blocks between delimiters at the start of the first user message, not
/// `document` blocks: so the text, its token count and the rule that keeps a server from forging
/// a delimiter are the same for every provider, and the server is named beside the title.
#[derive(Clone, Debug)]
#[must_use]
pub struct Anthropic {
    breakpoints: bool,
    prefix_ttl: CacheTtl,
    tail_ttl: CacheTtl,
    strict_tools: bool,
}

/// How long Anthropic keeps a cached prefix after its last use.
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

    /// Has the API hold the model to the schemas of tools that can be said strictly, the first twenty in the
    /// order of the request. What the API does not enforce is said in descriptions, and the report says why
    /// a tool is not strict. Default: off, since the API compiles all strict schemas of a request together and
    /// refuses what becomes too large by a measure that it does not publish.
    pub fn with_strict_tools(mut self) -> Self {
        self.strict_tools = true;
        self
    }

    fn tool<'a>(&self, tool: &'a ReadyTool<'a>, last: bool) -> Json<'a> {
        let mut fields =
            vec![("name", Json::text(&tool.spec.exposed)), ("input_schema", Json::Raw(tool.schema.as_str()))];
        fields.extend(tool.description().map(|text| ("description", Json::text(text))));
        fields.extend(tool.is_strict.then_some(("strict", Json::Bool(true))));
        self.marked(fields, last.then_some(self.prefix_ttl))
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
                ("id", Json::text(*id)),
                ("name", Json::text(*name)),
                ("input", Json::Raw(arguments)),
            ],
            Part::Result { call_id, parts, is_error } => {
                let mut fields = vec![("type", Json::text("tool_result")), ("tool_use_id", Json::text(*call_id))];
                if !parts.is_empty() {
                    fields.push(("content", Json::Array(parts.iter().map(|part| self.part(part, None)).collect())));
                }
                fields.extend(is_error.then_some(("is_error", Json::Bool(true))));
                fields
            }
        };
        self.marked(fields, mark)
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
}

impl Provider for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn max_tools(&self) -> Option<usize> {
        RULES.max_tools
    }

    fn render(&self, layout: &Layout) -> Request {
        let mut report = RenderReport::default();
        let mut tools = ready(&layout.tools, &RULES, &mut report);
        if self.strict_tools {
            strict(&mut tools, &STRICT, &mut report);
        }
        let system = system(layout, &mut report);
        let turns = turns(layout, &mut report);
        if turns.first().is_some_and(|turn| turn.role != Role::User) {
            report.notes.push("the first message is not the user's: the API may refuse it".into());
        }

        let mut body = Body::new();
        if let Some(model) = &layout.model {
            body.field("model", &Json::text(model));
        }
        body.field("max_tokens", &Json::Number(layout.max_tokens.unwrap_or(Self::DEFAULT_MAX_TOKENS).into()));
        body.tools(&tools, |tool, last| self.tool(tool, last));
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
                let newest = t + 1 == turns.len() && p + 1 == turn.parts.len();
                let mark = match attached {
                    true => (p + 1 == turn.attachments).then_some(self.prefix_ttl),
                    false => newest.then_some(self.tail_ttl.min(self.prefix_ttl)),
                };
                body.value(&self.part(part, mark));
                if p + 1 == turn.attachments {
                    body.end_section();
                }
            }
            body.close(']');
            body.field("role", &Json::text(turn.role.as_str()));
            body.close('}');
        }
        body.end_section();
        body.close(']');
        body.finish(&tools, report)
    }
}
