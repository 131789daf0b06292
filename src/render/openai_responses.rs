use super::{
    Provider,
    body::{Body, Json},
    layout::Layout,
    report::RenderReport,
    request::{Request, SectionKind},
    schema,
    strict::{StrictRules, strict},
    tools::{ReadyTool, ToolRules, ready},
    turns::{Part, result_text, system, turns},
};
use crate::protocol::Role;

const RULES: ToolRules = ToolRules { provider: "OpenAI", max_tools: Some(128), schema: schema::OPENAI };

/// OpenAI's guide on structured outputs knows no limit over the tools of a request.
const STRICT: StrictRules = StrictRules { schema: schema::OPENAI_STRICT, max_tools: None, max_freedom: None };

/// OpenAI Responses.
///
/// System text is the first input item, with the role `developer`, not the field `instructions`:
/// it is the same to the model, and only a content block can carry a cache breakpoint. Tools have
/// `strict: false`, since the API would otherwise rewrite their schemas or refuse them.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct OpenAiResponses {
    prompt_cache_key: Option<String>,
    breakpoints: bool,
    strict_tools: bool,
}

impl OpenAiResponses {
    /// Without a cache key and without explicit breakpoints: what every model takes.
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

    /// Marks the end of the system text and of the attachments as cache breakpoints, beside the one
    /// that OpenAI sets at the newest message. From GPT-5.6 on, another conversation can use
    /// the prefix only if it ends at one. Default: off, since older models refuse the field.
    pub fn with_breakpoints(mut self) -> Self {
        self.breakpoints = true;
        self
    }

    /// Has the API hold the model to the schemas of tools that can be said strictly; the report says why
    /// another is not. A property that may be left out is then required and may be `null`, which
    /// [`original_arguments`](super::original_arguments) undoes. Default: off, since the first request with new
    /// schemas takes longer, and a model writes a `null` for each property that it does not use.
    pub fn with_strict_tools(mut self) -> Self {
        self.strict_tools = true;
        self
    }

    fn tool<'a>(&self, tool: &'a ReadyTool<'a>) -> Json<'a> {
        let mut fields = vec![
            ("type", Json::text("function")),
            ("name", Json::text(&tool.spec.exposed)),
            ("parameters", Json::Raw(tool.schema.as_str())),
            ("strict", Json::Bool(tool.is_strict)),
        ];
        fields.extend(tool.description().map(|text| ("description", Json::text(text))));
        Json::Object(fields)
    }

    fn part<'a>(&self, part: &'a Part<'a>, role: Role, mark: bool) -> Json<'a> {
        let fields = match part {
            Part::Text(text) => {
                let kind = if role == Role::Assistant { "output_text" } else { "input_text" };
                vec![("type", Json::text(kind)), ("text", Json::text(&**text))]
            }
            Part::Image { mime_type, data } => vec![
                ("type", Json::text("input_image")),
                ("image_url", Json::text(format!("data:{mime_type};base64,{data}"))),
            ],
            Part::Call { id, name, arguments } => vec![
                ("type", Json::text("function_call")),
                ("call_id", Json::text(*id)),
                ("name", Json::text(*name)),
                ("arguments", Json::text(arguments)),
            ],
            Part::Result { call_id, parts, is_error } => vec![
                ("type", Json::text("function_call_output")),
                ("call_id", Json::text(*call_id)),
                ("output", self.output(parts, *is_error)),
            ],
        };
        self.marked(fields, mark)
    }

    /// A string, or a list where there is a picture to show.
    fn output<'a>(&self, parts: &'a [Part<'a>], is_error: bool) -> Json<'a> {
        if !parts.iter().any(|part| matches!(part, Part::Image { .. })) {
            return Json::text(result_text(parts, is_error));
        }
        let failed = is_error.then(|| {
            let fields = vec![("type", Json::text("input_text")), ("text", Json::text(result_text(&[], true)))];
            Json::Object(fields)
        });
        Json::Array(failed.into_iter().chain(parts.iter().map(|part| self.part(part, Role::User, false))).collect())
    }

    fn marked<'a>(&self, mut fields: Vec<(&'static str, Json<'a>)>, mark: bool) -> Json<'a> {
        if mark && self.breakpoints {
            fields.push(("prompt_cache_breakpoint", Json::Object(vec![("mode", Json::text("explicit"))])));
        }
        Json::Object(fields)
    }
}

impl Provider for OpenAiResponses {
    fn name(&self) -> &'static str {
        "openai-responses"
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

        let mut body = Body::new();
        if let Some(model) = &layout.model {
            body.field("model", &Json::text(model));
        }
        if let Some(tokens) = layout.max_tokens {
            body.field("max_output_tokens", &Json::Number(tokens.into()));
        }
        if let Some(key) = &self.prompt_cache_key {
            body.field("prompt_cache_key", &Json::text(key));
        }
        body.tools(&tools, |tool, _| self.tool(tool));
        body.key("input");
        body.open('[');
        if !system.is_empty() {
            body.section(SectionKind::System);
            body.open('{');
            body.key("content");
            body.open('[');
            for (i, text) in system.iter().enumerate() {
                let fields = vec![("type", Json::text("input_text")), ("text", Json::text(&**text))];
                body.value(&self.marked(fields, i + 1 == system.len()));
            }
            body.close(']');
            body.field("role", &Json::text("developer"));
            body.close('}');
            body.end_section();
        }
        for turn in &turns {
            // Calls and results are items of their own, between the messages.
            let mut in_message = false;
            for (p, part) in turn.parts.iter().enumerate() {
                let attached = p < turn.attachments;
                if !attached {
                    body.section(SectionKind::Messages);
                }
                let is_item = matches!(part, Part::Call { .. } | Part::Result { .. });
                if in_message && is_item {
                    close_message(&mut body, turn.role);
                } else if !in_message && !is_item {
                    body.open('{');
                    body.key("content");
                    body.open('[');
                }
                in_message = !is_item;
                if attached {
                    body.section(SectionKind::Attachments);
                }
                body.value(&self.part(part, turn.role, p + 1 == turn.attachments));
                if p + 1 == turn.attachments {
                    body.end_section();
                }
            }
            if in_message {
                close_message(&mut body, turn.role);
            }
        }
        body.end_section();
        body.close(']');
        body.finish(&tools, report)
    }
}

fn close_message(body: &mut Body, role: Role) {
    body.close(']');
    body.field("role", &Json::text(role.as_str()));
    body.close('}');
}
