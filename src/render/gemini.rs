use std::collections::BTreeMap;

use super::{
    Provider,
    body::{Body, Json},
    choice::{Choice, choice},
    joining::Joining,
    layout::Layout,
    lists::{Placed, messages},
    memo::Memo,
    report::RenderReport,
    request::{Request, SectionKind},
    schema,
    tools::{ReadyTool, ToolRules, ready},
    turns::{Part, Turn, result_text, system, turns, user_first},
};
use crate::protocol::Role;

const RULES: ToolRules = ToolRules { provider: "Gemini", max_tools: Some(128), schema: schema::GEMINI, strict: None };

/// What `parametersJsonSchema` takes.
const JSON_SCHEMA_RULES: ToolRules = ToolRules { schema: schema::PLAIN_ROOT, ..RULES };

/// What stands for a signature that the API did not give (Gemini API, thought signatures, FAQ).
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Gemini `generateContent` and `streamGenerateContent`, of the Gemini API and of Google Cloud.
///
/// The model's name is in the URL, so [`Layout::model`] is not in the body. There are no cache marks:
/// models from 2.5 on cache every prefix by themselves, and what stays first stays cached.
///
/// Models from Gemini 3 on refuse a call of the model that lacks the `thoughtSignature` they gave it:
/// hand it back with [`Block::Signature`](super::Block::Signature) right after the call. The first call
/// of a message that has none, since it comes from another model, gets the value that the API documents
/// for that, in each turn the same.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Gemini {
    json_schema: bool,
    earlier_models: bool,
    cached_content: Option<String>,
}

impl Gemini {
    /// With schemas in the API's own form, calls as Gemini 3 takes them and no explicit cache: what the
    /// current models take at each of Google's endpoints.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes schemas as `parametersJsonSchema`, which takes JSON Schema, references and unions included.
    /// Default: `parameters`, an older form that says less, but that every model and endpoint takes.
    pub fn with_json_schema(mut self) -> Self {
        self.json_schema = true;
        self
    }

    /// Writes calls as models before Gemini 3 take them: without ids and signatures, and with pictures of
    /// results described. Default: off, since later models refuse calls without signatures and match
    /// results to calls by id.
    pub fn with_earlier_models(mut self) -> Self {
        self.earlier_models = true;
        self
    }

    /// Names an explicit cache, such as `cachedContents/abc`. Tools, system text and tool choice are then
    /// left out, since the API refuses them beside a cache: make it from `tools` and
    /// `systemInstruction` of the same layout rendered without this option. [`Request::tool`] still
    /// knows the tools. Default: none, since storage is billed by the hour.
    pub fn with_cached_content(mut self, name: impl Into<String>) -> Self {
        self.cached_content = Some(name.into());
        self
    }

    fn tool<'a>(&self, tool: &'a ReadyTool<'a>) -> Json<'a> {
        // The reference calls the description required, so a name stands where there is none.
        let name = tool.spec.exposed.as_str();
        let mut fields =
            vec![("name", Json::text(name)), ("description", Json::text(tool.description().unwrap_or(name)))];
        let key = if self.json_schema { "parametersJsonSchema" } else { "parameters" };
        fields.extend(tool.parameters().map(|schema| (key, Json::Raw(schema))));
        Json::Object(fields)
    }

    fn part<'a>(&self, placed: Placed<'a>, names: &BTreeMap<&str, &'a str>) -> Json<'a> {
        let mut fields = match placed.part {
            Part::Text(text) => vec![("text", Json::text(&**text))],
            Part::Image { mime_type, data } => vec![("inlineData", inline_data(mime_type, data))],
            Part::Call { id, name, arguments } => {
                let mut call = vec![("name", Json::text(&**name)), ("args", Json::Raw(arguments))];
                call.extend((!self.earlier_models).then(|| ("id", Json::text(&**id))));
                vec![("functionCall", Json::Object(call))]
            }
            Part::Result { call_id, parts, is_error, .. } => {
                let name = names.get(&**call_id).copied().unwrap_or_default();
                let mut result = vec![("name", Json::text(name)), ("response", self.response(parts, *is_error))];
                if !self.earlier_models {
                    result.push(("id", Json::text(&**call_id)));
                    let pictures: Vec<_> = parts.iter().filter_map(picture).collect();
                    result.extend((!pictures.is_empty()).then_some(("parts", Json::Array(pictures))));
                }
                vec![("functionResponse", Json::Object(result))]
            }
        };
        if let Some(signature) = placed.signature.filter(|_| !self.earlier_models) {
            fields.push(("thoughtSignature", Json::text(signature)));
        }
        Json::Object(fields)
    }

    /// What a call gave, under the key that tells success from failure.
    fn response<'a>(&self, parts: &[Part<'_>], is_error: bool) -> Json<'a> {
        let texts: Vec<_> = parts.iter().filter_map(Part::as_text).collect();
        let text = match self.earlier_models {
            true => result_text(parts, false),
            false => texts.join("\n\n"),
        };
        let text = if is_error && text.is_empty() { result_text(&[], true) } else { text };
        Json::Object(vec![(if is_error { "error" } else { "output" }, Json::text(text))])
    }

    fn choice<'a>(&self, choice: &Choice<'a>, report: &mut RenderReport) -> Option<Json<'a>> {
        let (mode, allowed) = match choice {
            Choice::Auto => return None,
            _ if self.cached_content.is_some() => {
                report.notes.push("tool choice left out: the API refuses it beside a cache".into());
                return None;
            }
            Choice::None => ("NONE", None),
            Choice::Required => ("ANY", None),
            Choice::Tool(name) => ("ANY", Some(vec![*name])),
            // Not `AUTO`, which takes no names.
            Choice::Among { allowed, required } => (if *required { "ANY" } else { "VALIDATED" }, Some(allowed.clone())),
        };
        let mut config = vec![("mode", Json::text(mode))];
        config.extend(
            allowed.map(|names| ("allowedFunctionNames", Json::Array(names.into_iter().map(Json::text).collect()))),
        );
        Some(Json::Object(vec![("functionCallingConfig", Json::Object(config))]))
    }

    fn write(&self, layout: &Layout, memo: Option<&Memo>) -> Request {
        let mut report = RenderReport::default();
        let rules = if self.json_schema { &JSON_SCHEMA_RULES } else { &RULES };
        let tools = ready(&layout.tools, rules, memo, &mut report);
        let system = system(layout, &mut report);
        let mut joining = Joining::new(&tools, rules, self.deferral());
        let mut turns = turns(layout, &mut joining, &mut report);
        user_first(&mut turns, &mut report);
        if !self.earlier_models {
            sign(&mut turns, &mut report);
        }
        let choice = self.choice(&choice(layout, &joining, &mut report), &mut report);

        let mut body = Body::new();
        if let Some(name) = &self.cached_content {
            body.field("cachedContent", &Json::text(name));
        }
        if let Some(tokens) = layout.max_tokens {
            body.field("generationConfig", &Json::Object(vec![("maxOutputTokens", Json::Number(tokens.into()))]));
        }
        if !tools.is_empty() && self.cached_content.is_none() {
            body.key("tools");
            body.open('[');
            body.open('{');
            body.key("functionDeclarations");
            body.list(SectionKind::Tools, tools.iter().map(|tool| self.tool(tool)));
            body.close('}');
            body.close(']');
        }
        if !system.is_empty() && self.cached_content.is_none() {
            body.key("systemInstruction");
            body.open('{');
            body.key("parts");
            let texts = system.iter().map(|text| Json::Object(vec![("text", Json::text(&**text))]));
            body.list(SectionKind::System, texts);
            body.close('}');
        }
        let names = names(&turns);
        body.key("contents");
        messages(&mut body, &turns, "parts", role, |body, placed| body.value(&self.part(placed, &names)));
        if let Some(choice) = choice {
            body.field("toolConfig", &choice);
        }
        body.finish(joining, report)
    }
}

impl Provider for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
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

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "model",
    }
}

/// The functions that were called, by the ids of the calls.
fn names<'a>(turns: &'a [Turn<'a>]) -> BTreeMap<&'a str, &'a str> {
    let parts = turns.iter().flat_map(|turn| &turn.parts);
    parts
        .filter_map(|part| match part {
            Part::Call { id, name, .. } => Some((&**id, &**name)),
            _ => None,
        })
        .collect()
}

/// Gives the first call of each turn a signature: of several calls, the API signs the first alone.
fn sign(turns: &mut [Turn<'_>], report: &mut RenderReport) {
    let mut unsigned = Vec::new();
    for Turn { parts, signatures, .. } in turns {
        let mut calls = parts.iter().enumerate().filter_map(|(at, part)| match part {
            Part::Call { id, .. } => Some((at, id)),
            _ => None,
        });
        if let Some((first, id)) = calls.next().filter(|(call, _)| !signatures.iter().any(|(part, _)| part == call)) {
            signatures.push((first, NO_SIGNATURE));
            unsigned.push(&**id);
        }
    }
    if !unsigned.is_empty() {
        let calls = unsigned.join(", ");
        report.notes.push(format!("calls without a signature carry the one for calls of other models: {calls}"));
    }
}

fn picture<'a>(part: &'a Part<'a>) -> Option<Json<'a>> {
    match part {
        Part::Image { mime_type, data } => Some(Json::Object(vec![("inlineData", inline_data(mime_type, data))])),
        _ => None,
    }
}

fn inline_data<'a>(mime_type: &'static str, data: &'a str) -> Json<'a> {
    Json::Object(vec![("mimeType", Json::text(mime_type)), ("data", Json::text(data))])
}
