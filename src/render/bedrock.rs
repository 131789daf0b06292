use super::{
    CacheTtl, Provider,
    body::{Body, Json},
    breakpoints::Breakpoints,
    choice::{Choice, choice, not_held_back},
    joining::Joining,
    layout::Layout,
    lists::messages,
    memo::Memo,
    report::RenderReport,
    request::{Request, SectionKind},
    schema,
    tools::{ReadyTool, ToolRules, ready},
    turns::{Part, Turn, result_text, system, turns, user_first},
};
use crate::protocol::Role;

const RULES: ToolRules = ToolRules { provider: "Bedrock", max_tools: None, schema: schema::BEDROCK, strict: None };

/// The name of the tool that stands where a conversation holds calls and the request no tools.
const NO_TOOL: &str = "no_tool";

/// Amazon Bedrock `Converse` and `ConverseStream`.
///
/// The model's id is in the URL, so [`Layout::model`] is not in the body.
///
/// Cache points, at most the four that the API allows: after the last tool, the last system block, the
/// last attachment, and the last block of the newest message. Each is absent with its section, and the
/// tools have none where system text and attachments do, as for [`Anthropic`](super::Anthropic): Claude
/// looks back as far here.
///
/// Neither [`Layout::allowed`] nor [`ToolChoice::None`](super::ToolChoice::None) can be said: the report says so,
/// and the host refuses such calls.
///
/// The API refuses calls and results in messages where the request has no tools: then one tool that
/// says that there are none stands in their place, with a note.
#[derive(Clone, Debug)]
#[must_use]
pub struct BedrockConverse {
    breakpoints: bool,
    tool_breakpoint: bool,
    result_status: bool,
    prefix_ttl: CacheTtl,
    tail_ttl: CacheTtl,
}

impl Default for BedrockConverse {
    fn default() -> Self {
        Self {
            breakpoints: true,
            tool_breakpoint: true,
            result_status: true,
            prefix_ttl: CacheTtl::FiveMinutes,
            tail_ttl: CacheTtl::FiveMinutes,
        }
    }
}

impl BedrockConverse {
    /// The most cache points in one request, by the API's rule.
    pub const MAX_BREAKPOINTS: usize = 4;

    /// As Claude takes it: with cache points, each kept for five minutes, which is the cheapest to write.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how long tools, system text and attachments stay cached. An hour only where the model offers
    /// it.
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

    /// Sets no cache points, for models that cache nothing or by themselves: they refuse the field.
    pub fn without_breakpoints(mut self) -> Self {
        self.breakpoints = false;
        self
    }

    /// Sets no cache point after the tools, for Amazon Nova, which takes them in system text and messages
    /// alone.
    pub fn without_tool_breakpoint(mut self) -> Self {
        self.tool_breakpoint = false;
        self
    }

    /// Says in the text of a result that the call failed, for models that refuse the field `status`: only
    /// Claude and Nova take it.
    pub fn without_result_status(mut self) -> Self {
        self.result_status = false;
        self
    }

    fn tool<'a>(&self, tool: &'a ReadyTool<'a>) -> Json<'a> {
        tool_spec(&tool.spec.exposed, tool.description(), tool.schema.as_str())
    }

    fn part<'a>(&self, part: &'a Part<'a>) -> Json<'a> {
        let (kind, value) = match part {
            Part::Text(text) => ("text", Json::text(&**text)),
            Part::Image { mime_type, data } => {
                let source = Json::Object(vec![("bytes", Json::text(*data))]);
                let format = mime_type.trim_start_matches("image/");
                ("image", Json::Object(vec![("format", Json::text(format)), ("source", source)]))
            }
            Part::Call { id, name, arguments } => {
                let fields = vec![
                    ("toolUseId", Json::text(&**id)),
                    ("name", Json::text(&**name)),
                    ("input", Json::Raw(arguments)),
                ];
                ("toolUse", Json::Object(fields))
            }
            Part::Result { call_id, parts, is_error, .. } => {
                let mut fields =
                    vec![("toolUseId", Json::text(&**call_id)), ("content", self.content(parts, *is_error))];
                fields.extend((*is_error && self.result_status).then(|| ("status", Json::text("error"))));
                ("toolResult", Json::Object(fields))
            }
        };
        Json::Object(vec![(kind, value)])
    }

    /// What a call gave. The API refuses a failure that says nothing.
    fn content<'a>(&self, parts: &'a [Part<'a>], is_error: bool) -> Json<'a> {
        let say = is_error && (parts.is_empty() || !self.result_status);
        let failed = say.then(|| Json::Object(vec![("text", Json::text(result_text(&[], true)))]));
        Json::Array(failed.into_iter().chain(parts.iter().map(|part| self.part(part))).collect())
    }

    fn choice<'a>(&self, choice: &Choice<'a>, report: &mut RenderReport) -> Option<Json<'a>> {
        if matches!(choice, Choice::None | Choice::Among { .. }) {
            not_held_back(RULES.provider, report);
        }
        let (kind, fields) = match choice {
            Choice::Auto | Choice::None | Choice::Among { required: false, .. } => return None,
            Choice::Required | Choice::Among { required: true, .. } => ("any", vec![]),
            Choice::Tool(name) => ("tool", vec![("name", Json::text(*name))]),
        };
        Some(Json::Object(vec![(kind, Json::Object(fields))]))
    }

    fn mark<'a>(&self, ttl: CacheTtl) -> Option<Json<'a>> {
        self.breakpoints.then(|| {
            let mut fields = vec![("type", Json::text("default"))];
            if ttl == CacheTtl::OneHour {
                fields.push(("ttl", Json::text("1h")));
            }
            Json::Object(vec![("cachePoint", Json::Object(fields))])
        })
    }

    fn write(&self, layout: &Layout, memo: Option<&Memo>) -> Request {
        let mut report = RenderReport::default();
        let tools = ready(&layout.tools, &RULES, memo, &mut report);
        let system = system(layout, &mut report);
        let mut joining = Joining::new(&tools, &RULES, self.deferral());
        let mut turns = turns(layout, &mut joining, &mut report);
        user_first(&mut turns, &mut report);
        let choice = self.choice(&choice(layout, &joining, &mut report), &mut report);
        let mut specs: Vec<_> = tools.iter().map(|tool| self.tool(tool)).collect();
        if specs.is_empty() && turns.iter().any(calls) {
            report.notes.push(format!("the messages hold calls and the request no tools: `{NO_TOOL}` stands for them"));
            specs.push(tool_spec(NO_TOOL, Some("Not to be called: there are no tools."), NO_ARGUMENTS));
        }

        let tool_point = self.tool_breakpoint && !specs.is_empty();
        let breakpoints = Breakpoints::new(Self::MAX_BREAKPOINTS, tool_point, !system.is_empty(), &turns);

        let mut body = Body::new();
        if let Some(tokens) = layout.max_tokens {
            body.field("inferenceConfig", &Json::Object(vec![("maxTokens", Json::Number(tokens.into()))]));
        }
        if !specs.is_empty() {
            body.key("toolConfig");
            body.open('{');
            body.key("tools");
            let mark = self.mark(self.prefix_ttl).filter(|_| breakpoints.tools);
            body.list(SectionKind::Tools, specs.into_iter().chain(mark));
            if let Some(choice) = choice {
                body.field("toolChoice", &choice);
            }
            body.close('}');
        }
        if !system.is_empty() {
            body.key("system");
            let texts = system.iter().map(|text| Json::Object(vec![("text", Json::text(&**text))]));
            body.list(SectionKind::System, texts.chain(self.mark(self.prefix_ttl)));
        }
        body.key("messages");
        messages(&mut body, &turns, "content", Role::as_str, |body, placed| {
            body.value(&self.part(placed.part));
            let ttl = match placed.ends_attachments {
                true => Some(self.prefix_ttl),
                false => breakpoints.blocks.contains(&placed.at).then_some(self.tail_ttl.min(self.prefix_ttl)),
            };
            if let Some(mark) = ttl.and_then(|ttl| self.mark(ttl)) {
                body.value(&mark);
            }
        });
        body.finish(joining, report)
    }
}

impl Provider for BedrockConverse {
    fn name(&self) -> &'static str {
        "bedrock"
    }

    fn max_tools(&self) -> Option<usize> {
        RULES.max_tools
    }

    fn render(&self, layout: &Layout) -> Request {
        self.write(layout, None)
    }

    fn render_with(&self, layout: &Layout, memo: &Memo) -> Request {
        self.write(layout, Some(memo))
    }
}

const NO_ARGUMENTS: &str = r#"{"properties":{},"type":"object"}"#;

fn tool_spec<'a>(name: &'a str, description: Option<&'a str>, schema: &'a str) -> Json<'a> {
    let mut fields = vec![("name", Json::text(name)), ("inputSchema", Json::Object(vec![("json", Json::Raw(schema))]))];
    fields.extend(description.map(|text| ("description", Json::text(text))));
    Json::Object(vec![("toolSpec", Json::Object(fields))])
}

fn calls(turn: &Turn<'_>) -> bool {
    turn.parts.iter().any(|part| matches!(part, Part::Call { .. } | Part::Result { .. }))
}
