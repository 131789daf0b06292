use super::{
    Provider,
    body::{Body, Json},
    choice::{Choice, choice, not_held_back},
    joining::Joining,
    layout::Layout,
    memo::Memo,
    report::RenderReport,
    request::{Request, SectionKind},
    schema,
    strict::StrictRules,
    tools::{ReadyTool, ToolRules, ready},
    turns::{Part, Turn, result_text, system, turns},
};
use crate::protocol::Role;

const RULES: ToolRules = ToolRules { provider: "OpenAI", max_tools: Some(128), schema: schema::OPENAI, strict: None };

/// OpenAI's guide on structured outputs knows no limit over the tools of a request.
const STRICT_RULES: ToolRules = ToolRules {
    strict: Some(StrictRules { schema: schema::OPENAI_STRICT, max_tools: None, max_freedom: None }),
    ..RULES
};

/// OpenAI Chat Completions, and the many endpoints that speak it.
///
/// The system message and the model's own messages are plain strings, since not every compatible
/// endpoint reads lists there; the user's are lists of parts, so that attachments and what the
/// user says stay apart.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct OpenAiChat {
    prompt_cache_key: Option<String>,
    developer_role: bool,
    legacy_max_tokens: bool,
    breakpoints: bool,
    strict_tools: bool,
    no_allowed_tools: bool,
}

impl OpenAiChat {
    /// With the role `system`, without a cache key and without explicit breakpoints: what every
    /// model and every compatible endpoint takes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `prompt_cache_key`, which sends requests of the same prefix to the same cache: one key
    /// for each conversation, or for each prefix that many share. Default: none, since only the host
    /// knows which requests belong together.
    pub fn with_prompt_cache_key(mut self, key: impl Into<String>) -> Self {
        self.prompt_cache_key = Some(key.into());
        self
    }

    /// Gives the system text the role `developer`. Default: `system`, which OpenAI takes for the
    /// same and compatible endpoints know.
    pub fn with_developer_role(mut self) -> Self {
        self.developer_role = true;
        self
    }

    /// Writes the limit as `max_tokens`, for compatible endpoints. Default: `max_completion_tokens`,
    /// since OpenAI's reasoning models refuse the old name.
    pub fn with_legacy_max_tokens(mut self) -> Self {
        self.legacy_max_tokens = true;
        self
    }

    /// Marks the end of the system text and of the attachments as cache breakpoints, beside the one
    /// that OpenAI sets at the newest message. From GPT-5.6 on, another conversation can use
    /// the prefix only if it ends at one. Default: off, since older models refuse the field. The
    /// system message becomes a list of one part, which can carry the mark.
    pub fn with_breakpoints(mut self) -> Self {
        self.breakpoints = true;
        self
    }

    /// Has the API hold the model to the schemas of those tools of the array that can be said strictly; the report
    /// says why another is not. A property that may be left out is then required and may be `null`, which
    /// [`original_arguments`](super::original_arguments) undoes. Default: off, since many compatible
    /// endpoints do not know it.
    pub fn with_strict_tools(mut self) -> Self {
        self.strict_tools = true;
        self
    }

    /// Does not write [`Layout::allowed`] as `allowed_tools`, for compatible endpoints that do not know
    /// it. Default: written, since only so the model keeps to it while the array of tools stays.
    pub fn without_allowed_tools(mut self) -> Self {
        self.no_allowed_tools = true;
        self
    }

    fn tool<'a>(&self, tool: &'a ReadyTool<'a>) -> Json<'a> {
        let mut function =
            vec![("name", Json::text(&tool.spec.exposed)), ("parameters", Json::Raw(tool.schema.as_str()))];
        function.extend(tool.description().map(|text| ("description", Json::text(text))));
        function.extend(tool.is_strict.then_some(("strict", Json::Bool(true))));
        Json::Object(vec![("type", Json::text("function")), ("function", Json::Object(function))])
    }

    fn part<'a>(&self, part: &'a Part<'a>, mark: bool) -> Json<'a> {
        let fields = match part {
            Part::Text(text) => vec![("type", Json::text("text")), ("text", Json::text(&**text))],
            Part::Image { mime_type, data } => {
                let url = vec![("url", Json::text(format!("data:{mime_type};base64,{data}")))];
                vec![("type", Json::text("image_url")), ("image_url", Json::Object(url))]
            }
            Part::Call { id, name, arguments } => {
                let function = vec![("name", Json::text(&**name)), ("arguments", Json::text(arguments))];
                vec![("type", Json::text("function")), ("id", Json::text(&**id)), ("function", Json::Object(function))]
            }
            Part::Result { call_id, parts, is_error, .. } => vec![
                ("role", Json::text("tool")),
                ("tool_call_id", Json::text(&**call_id)),
                ("content", Json::text(result_text(parts, *is_error))),
            ],
        };
        self.marked(fields, mark)
    }

    fn choice<'a>(&self, choice: &Choice<'a>, report: &mut RenderReport) -> Option<Json<'a>> {
        let function = |name| {
            let function = Json::Object(vec![("name", Json::text(name))]);
            Json::Object(vec![("type", Json::text("function")), ("function", function)])
        };
        Some(match choice {
            Choice::Auto => return None,
            Choice::None => Json::text("none"),
            Choice::Required => Json::text("required"),
            Choice::Tool(name) => function(*name),
            Choice::Among { required, .. } if self.no_allowed_tools => {
                not_held_back("this endpoint", report);
                return required.then(|| Json::text("required"));
            }
            Choice::Among { allowed, required } => {
                let tools = vec![
                    ("mode", Json::text(if *required { "required" } else { "auto" })),
                    ("tools", Json::Array(allowed.iter().copied().map(function).collect())),
                ];
                Json::Object(vec![("type", Json::text("allowed_tools")), ("allowed_tools", Json::Object(tools))])
            }
        })
    }

    /// What the model said, and the calls that it made with it.
    fn assistant(&self, body: &mut Body, turn: &Turn<'_>) {
        let texts: Vec<&str> = turn.parts.iter().filter_map(Part::as_text).collect();
        let calls: Vec<_> = turn.parts.iter().filter(|part| matches!(part, Part::Call { .. })).collect();
        body.section(SectionKind::Messages);
        body.open('{');
        if !texts.is_empty() {
            body.field("content", &Json::text(texts.join("\n\n")));
        }
        body.field("role", &Json::text("assistant"));
        if !calls.is_empty() {
            body.field("tool_calls", &Json::Array(calls.into_iter().map(|call| self.part(call, false)).collect()));
        }
        body.close('}');
    }

    /// What the user said; results come before it, each a message of its own.
    fn user(&self, body: &mut Body, turn: &Turn<'_>) {
        let mut in_message = false;
        for (p, part) in turn.parts.iter().enumerate() {
            let attached = p < turn.attachments;
            if !attached {
                body.section(SectionKind::Messages);
            }
            let is_result = matches!(part, Part::Result { .. });
            if in_message && is_result {
                close_message(body);
            } else if !in_message && !is_result {
                body.open('{');
                body.key("content");
                body.open('[');
            }
            in_message = !is_result;
            if attached {
                body.section(SectionKind::Attachments);
            }
            body.value(&self.part(part, p + 1 == turn.attachments));
            if p + 1 == turn.attachments {
                body.end_section();
            }
        }
        if in_message {
            close_message(body);
        }
    }

    fn marked<'a>(&self, mut fields: Vec<(&'static str, Json<'a>)>, mark: bool) -> Json<'a> {
        if mark && self.breakpoints {
            fields.push(("prompt_cache_breakpoint", Json::Object(vec![("mode", Json::text("explicit"))])));
        }
        Json::Object(fields)
    }

    fn write(&self, layout: &Layout, memo: Option<&Memo>) -> Request {
        let mut report = RenderReport::default();
        let rules = if self.strict_tools { &STRICT_RULES } else { &RULES };
        let tools = ready(&layout.tools, rules, memo, &mut report);
        let system = system(layout, &mut report);
        let mut joining = Joining::new(&tools, &RULES, self.deferral());
        let turns = turns(layout, &mut joining, &mut report);
        let choice = self.choice(&choice(layout, &joining, &mut report), &mut report);

        let mut body = Body::new();
        if let Some(model) = &layout.model {
            body.field("model", &Json::text(model));
        }
        if let Some(tokens) = layout.max_tokens {
            let key = if self.legacy_max_tokens { "max_tokens" } else { "max_completion_tokens" };
            body.field(key, &Json::Number(tokens.into()));
        }
        if let Some(key) = &self.prompt_cache_key {
            body.field("prompt_cache_key", &Json::text(key));
        }
        body.tools(&tools, |tool, _| self.tool(tool));
        body.key("messages");
        body.open('[');
        if !system.is_empty() {
            let text = system.join("\n\n");
            body.section(SectionKind::System);
            body.open('{');
            body.key("content");
            if self.breakpoints {
                body.open('[');
                body.value(&self.marked(vec![("type", Json::text("text")), ("text", Json::text(text))], true));
                body.close(']');
            } else {
                body.value(&Json::text(text));
            }
            body.field("role", &Json::text(if self.developer_role { "developer" } else { "system" }));
            body.close('}');
            body.end_section();
        }
        for turn in &turns {
            match turn.role {
                Role::Assistant => self.assistant(&mut body, turn),
                Role::User => self.user(&mut body, turn),
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

impl Provider for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai-chat"
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

fn close_message(body: &mut Body) {
    body.close(']');
    body.field("role", &Json::text("user"));
    body.close('}');
}
