use std::collections::BTreeMap;

use super::{
    Deferral, Provider,
    body::{Body, Json},
    choice::{Choice, choice},
    delimit,
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
use crate::{id::ServerId, protocol::Role};

const RULES: ToolRules = ToolRules { provider: "OpenAI", max_tools: Some(128), schema: schema::OPENAI, strict: None };

/// OpenAI's guide on structured outputs knows no limit over the tools of a request.
const STRICT_RULES: ToolRules = ToolRules {
    strict: Some(StrictRules { schema: schema::OPENAI_STRICT, max_tools: None, max_freedom: None }),
    ..RULES
};

/// OpenAI Responses.
///
/// System text is the first input item, with the role `developer`, not the field `instructions`:
/// it is the same to the model, and only a content block can carry a cache breakpoint. Tools have
/// `strict: false` unless [`Self::with_strict_tools`] says otherwise, since the API would rewrite their schemas
/// or refuse them.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct OpenAiResponses {
    prompt_cache_key: Option<String>,
    breakpoints: bool,
    strict_tools: bool,
    tool_search: bool,
}

/// What the form of a call depends on.
#[derive(Debug)]
struct Calls<'a> {
    /// The name of the tool that searches, where the API knows it as one.
    search: Option<&'a str>,
    /// The namespaces of the tools that searches found, by their names.
    namespaces: BTreeMap<&'a str, String>,
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

    /// Has the API hold the model to the schemas of those tools of the array that can be said strictly; the report
    /// says why another is not. A property that may be left out is then required and may be `null`, which
    /// [`original_arguments`](super::original_arguments) undoes. Default: off, since the first request with new
    /// schemas takes longer, and a model writes a `null` for each property that it does not use.
    pub fn with_strict_tools(mut self) -> Self {
        self.strict_tools = true;
        self
    }

    /// Says that the model knows `tool_search` and `additional_tools`: GPT-5.4 and later (OpenAI, tool
    /// search). Default: off, since older models refuse them; what joins the conversation is text then.
    ///
    /// The [search tool](super::ToolKind::Search) is then the API's own kind of tool, executed by the client. Its
    /// calls are `tool_search_call` items, and what it finds stands in `tool_search_output` items, grouped
    /// in one namespace for each server: calls of a tool that a search loaded are refused without their
    /// namespace, and so it is known without keeping what the API said. The call's name stays the one that
    /// the tool has in [`Request::tool`]. What the host adds to a message is an `additional_tools` item
    /// after it.
    pub fn with_tool_search(mut self) -> Self {
        self.tool_search = true;
        self
    }

    fn tool<'a>(tool: &'a ReadyTool<'a>, calls: &Calls<'a>) -> Json<'a> {
        if calls.search == Some(&tool.spec.exposed) {
            let mut fields = vec![
                ("type", Json::text("tool_search")),
                ("execution", Json::text("client")),
                ("parameters", Json::Raw(tool.schema.as_str())),
            ];
            fields.extend(tool.description().map(|text| ("description", Json::text(text))));
            return Json::Object(fields);
        }
        Json::Object(function(tool))
    }

    fn part<'a>(&self, part: &'a Part<'a>, role: Role, calls: &'a Calls<'a>, mark: bool) -> Json<'a> {
        let fields = match part {
            Part::Text(text) => {
                let kind = if role == Role::Assistant { "output_text" } else { "input_text" };
                vec![("type", Json::text(kind)), ("text", Json::text(&**text))]
            }
            Part::Image { mime_type, data } => vec![
                ("type", Json::text("input_image")),
                ("image_url", Json::text(format!("data:{mime_type};base64,{data}"))),
            ],
            Part::Call { id, name, arguments } if calls.search == Some(&**name) => vec![
                ("type", Json::text("tool_search_call")),
                ("call_id", Json::text(&**id)),
                ("execution", Json::text("client")),
                ("status", Json::text("completed")),
                ("arguments", Json::Raw(arguments)),
            ],
            Part::Call { id, name, arguments } => {
                let mut fields = vec![
                    ("type", Json::text("function_call")),
                    ("call_id", Json::text(&**id)),
                    ("name", Json::text(&**name)),
                    ("arguments", Json::text(arguments)),
                ];
                fields.extend(calls.namespaces.get(&**name).map(|namespace| ("namespace", Json::text(namespace))));
                fields
            }
            Part::Result { call_id, found: Some(found), .. } => vec![
                ("type", Json::text("tool_search_output")),
                ("call_id", Json::text(&**call_id)),
                ("execution", Json::text("client")),
                ("status", Json::text("completed")),
                ("tools", namespaces(found)),
            ],
            Part::Result { call_id, parts, is_error, .. } => vec![
                ("type", Json::text("function_call_output")),
                ("call_id", Json::text(&**call_id)),
                ("output", self.output(parts, calls, *is_error)),
            ],
        };
        self.marked(fields, mark)
    }

    /// A string, or a list where there is a picture to show.
    fn output<'a>(&self, parts: &'a [Part<'a>], calls: &'a Calls<'a>, is_error: bool) -> Json<'a> {
        if !parts.iter().any(|part| matches!(part, Part::Image { .. })) {
            return Json::text(result_text(parts, is_error));
        }
        let failed = is_error.then(|| {
            let fields = vec![("type", Json::text("input_text")), ("text", Json::text(result_text(&[], true)))];
            Json::Object(fields)
        });
        let parts = parts.iter().map(|part| self.part(part, Role::User, calls, false));
        Json::Array(failed.into_iter().chain(parts).collect())
    }

    fn choice<'a>(&self, choice: &Choice<'a>, calls: &Calls<'_>) -> Option<Json<'a>> {
        let function = |name: &'a str| match calls.search {
            Some(search) if search == name => Json::Object(vec![("type", Json::text("tool_search"))]),
            _ => Json::Object(vec![("type", Json::text("function")), ("name", Json::text(name))]),
        };
        Some(match choice {
            Choice::Auto => return None,
            Choice::None => Json::text("none"),
            Choice::Required => Json::text("required"),
            Choice::Tool(name) => function(name),
            Choice::Among { allowed, required } => Json::Object(vec![
                ("type", Json::text("allowed_tools")),
                ("mode", Json::text(if *required { "required" } else { "auto" })),
                ("tools", Json::Array(allowed.iter().copied().map(function).collect())),
            ]),
        })
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
        let mut joining = Joining::new(&tools, &RULES, self.deferral()).with_bare_searches();
        let turns = turns(layout, &mut joining, &mut report);
        let calls = Calls { search: joining.search(), namespaces: namespaces_of(&turns) };
        let choice = self.choice(&choice(layout, &joining, &mut report), &calls);

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
        body.tools(&tools, |tool, _| Self::tool(tool, &calls));
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
                body.value(&self.part(part, turn.role, &calls, p + 1 == turn.attachments));
                if p + 1 == turn.attachments {
                    body.end_section();
                }
            }
            if in_message {
                close_message(&mut body, turn.role);
            }
            if !turn.added.is_empty() {
                body.section(SectionKind::Messages);
                body.value(&Json::Object(vec![
                    ("type", Json::text("additional_tools")),
                    ("role", Json::text("developer")),
                    ("tools", Json::Array(turn.added.iter().map(|tool| Json::Object(function(tool))).collect())),
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

impl Provider for OpenAiResponses {
    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn max_tools(&self) -> Option<usize> {
        RULES.max_tools
    }

    fn deferral(&self) -> Deferral {
        if self.tool_search { Deferral::Anywhere } else { Deferral::None }
    }

    fn render(&self, layout: &Layout) -> Request {
        self.write(layout, None)
    }

    fn render_with(&self, layout: &Layout, memo: &Memo) -> Request {
        self.write(layout, Some(memo))
    }
}

fn close_message(body: &mut Body, role: Role) {
    body.close(']');
    body.field("role", &Json::text(role.as_str()));
    body.close('}');
}

fn function<'a>(tool: &'a ReadyTool<'a>) -> Vec<(&'static str, Json<'a>)> {
    let mut fields = vec![
        ("type", Json::text("function")),
        ("name", Json::text(&tool.spec.exposed)),
        ("parameters", Json::Raw(tool.schema.as_str())),
        ("strict", Json::Bool(tool.is_strict)),
    ];
    fields.extend(tool.description().map(|text| ("description", Json::text(text))));
    fields
}

/// What a search found: the tools of each server in a namespace of their own, in the order of their first.
fn namespaces<'a>(found: &'a [ReadyTool<'a>]) -> Json<'a> {
    let mut groups: Vec<(String, &ServerId, Vec<Json<'a>>)> = Vec::new();
    for tool in found {
        let name = namespace(&tool.spec.tool.server);
        let mut fields = function(tool);
        fields.push(("defer_loading", Json::Bool(true)));
        match groups.iter_mut().find(|(known, ..)| *known == name) {
            Some((.., tools)) => tools.push(Json::Object(fields)),
            None => groups.push((name, &tool.spec.tool.server, vec![Json::Object(fields)])),
        }
    }
    let namespaces = groups.into_iter().map(|(name, server, tools)| {
        Json::Object(vec![
            ("type", Json::text("namespace")),
            ("name", Json::text(name)),
            ("description", Json::text(format!("Tools of the server {}", delimit::attribute(server.as_str())))),
            ("tools", Json::Array(tools)),
        ])
    });
    Json::Array(namespaces.collect())
}

fn namespaces_of<'a>(turns: &'a [Turn<'a>]) -> BTreeMap<&'a str, String> {
    let found = turns.iter().flat_map(|turn| &turn.parts).filter_map(|part| match part {
        Part::Result { found, .. } => found.as_ref(),
        _ => None,
    });
    found.flatten().map(|tool| (tool.spec.exposed.as_str(), namespace(&tool.spec.tool.server))).collect()
}

/// A name for a server's namespace in the form that the API takes. Two servers may share one: the names
/// of their tools differ.
fn namespace(server: &ServerId) -> String {
    let chars = server.as_str().chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' });
    "mcp__".chars().chain(chars).take(MAX_NAMESPACE).collect()
}

const MAX_NAMESPACE: usize = 64;
