use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    Deferral,
    body::Json,
    delimit,
    layout::{ToolKind, ToolSpec},
    report::RenderReport,
    schema,
    tools::{NAME_IS_TAKEN, ReadyTool, ToolRules, admit},
};
use crate::id::ToolId;

/// Lets tools join a conversation while its turns are read from first to last.
///
/// Each tool is defined once, where the model first meets it, and only named where it is found again:
/// so what stands in one place depends on nothing that comes after it.
#[derive(Debug)]
pub(super) struct Joining<'a> {
    rules: &'static ToolRules,
    deferral: Deferral,
    /// Whether the result of a search holds definitions and nothing else, even if none are found.
    bare_searches: bool,
    /// The name of the tool that searches, if the array has one.
    search: Option<&'a str>,
    /// The name of the tool that calls others, if the array has one.
    call: Option<&'a str>,
    /// What the model can call by name: the array, and what joined in the provider's own form.
    offered: BTreeMap<&'a str, &'a ToolId>,
    /// What it was told of as text.
    told: BTreeMap<&'a str, &'a ToolId>,
    /// Servers' tools, by the names that the model may use.
    routes: BTreeMap<String, ToolId>,
}

/// What became of tools at one place of the conversation.
#[derive(Debug, Default)]
pub(super) struct Joined<'a> {
    /// Those that join in the provider's own form.
    pub(super) tools: Vec<ReadyTool<'a>>,
    /// Those that join as text, and the names of those that the model has already.
    pub(super) texts: Vec<Cow<'a, str>>,
}

/// Where in the conversation tools join.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// In the result of a search.
    Search,
    /// In the result of another call.
    OtherResult,
    /// In a message of the user.
    Message,
}

impl<'a> Joining<'a> {
    /// `tools` is the array.
    pub(super) fn new(tools: &[ReadyTool<'a>], rules: &'static ToolRules, deferral: Deferral) -> Self {
        let own = |kind| tools.iter().find(|tool| tool.spec.kind == kind).map(|tool| tool.spec.exposed.as_str());
        let offered = tools.iter().map(|tool| (tool.spec.exposed.as_str(), &tool.spec.tool)).collect();
        let servers = tools.iter().filter(|tool| tool.spec.kind == ToolKind::Server);
        let routes = servers.map(|tool| (tool.spec.exposed.clone(), tool.spec.tool.clone())).collect();
        let (search, call) = (own(ToolKind::Search), own(ToolKind::Call));
        Self { rules, deferral, bare_searches: false, search, call, offered, told: BTreeMap::new(), routes }
    }

    /// The result of a search holds definitions and nothing else, even if none are found.
    pub(super) fn with_bare_searches(mut self, bare: bool) -> Self {
        self.bare_searches = bare;
        self
    }

    /// The names by which the model can call tools directly.
    pub(super) fn offered(&self) -> BTreeSet<&'a str> {
        self.offered.keys().copied().collect()
    }

    /// Whether a result at `place` has no room for texts.
    pub(super) fn is_bare(&self, place: Place) -> bool {
        self.bare_searches && place == Place::Search
    }

    /// Whether a call by this name is a search.
    pub(super) fn is_search(&self, name: &str) -> bool {
        self.search == Some(name)
    }

    /// Whether tools keep the provider's own form at `place`.
    pub(super) fn is_native(&self, place: Place) -> bool {
        match self.deferral {
            Deferral::None => false,
            Deferral::Results => place == Place::Search,
            Deferral::Anywhere => true,
        }
    }

    /// Lets `tools` join at `place`, in the message of this number.
    pub(super) fn join(
        &mut self,
        tools: &'a [ToolSpec],
        place: Place,
        message: usize,
        report: &mut RenderReport,
    ) -> Joined<'a> {
        let native = self.is_native(place);
        let mut joined = Vec::with_capacity(tools.len());
        let mut again = Vec::new();
        for spec in tools {
            let name = spec.exposed.as_str();
            let known = self.offered.get(name).or_else(|| self.told.get(name).filter(|_| !native));
            if known == Some(&&spec.tool) {
                if !again.contains(&name) {
                    again.push(name);
                }
                continue;
            }
            let taken = self.offered.get(name).or(self.told.get(name)).is_some_and(|tool| **tool != spec.tool);
            let free = if taken { Err(NAME_IS_TAKEN.into()) } else { Ok(()) };
            // Text is the same for every provider.
            let rules = if native { self.rules.schema } else { schema::PLAIN_ROOT };
            if let Some(tool) = admit(spec, schema::repair(&spec.input_schema, rules), free, report) {
                let names = if native { &mut self.offered } else { &mut self.told };
                names.insert(name, &spec.tool);
                self.routes.insert(name.into(), spec.tool.clone());
                joined.push(tool);
            }
        }
        let mut texts = Vec::new();
        if !native && !joined.is_empty() {
            if self.call.is_none() {
                let (count, provider) = (joined.len(), self.rules.provider);
                report.notes.push(format!(
                    "messages[{message}]: {count} tools are given to {provider} as text, and no tool is there to call them through"
                ));
            }
            texts.push(self.text(&joined).into());
            joined.clear();
        }
        if !again.is_empty() {
            report.notes.push(format!("messages[{message}]: named again, not defined again: {}", again.join(", ")));
            texts.push(format!("[you already have: {}]", again.join(", ")).into());
        }
        Joined { tools: joined, texts }
    }

    /// The tools as every model can read them.
    fn text(&self, tools: &[ReadyTool<'_>]) -> String {
        let lines: Vec<String> = tools
            .iter()
            .map(|tool| {
                let mut fields =
                    vec![("name", Json::text(&tool.spec.exposed)), ("input_schema", Json::Raw(tool.schema.as_str()))];
                fields.extend(tool.description().map(|text| ("description", Json::text(text))));
                Json::Object(fields).to_string()
            })
            .collect();
        let mut text = delimit::tool_definitions(&lines);
        if let Some(call) = self.call {
            text.push_str(&format!("\nCall these through `{call}`, with the tool's `name` and its `arguments`."));
        }
        text
    }

    /// Which tool each name stands for that the model may use.
    pub(super) fn into_routes(self) -> BTreeMap<String, ToolId> {
        self.routes
    }
}
