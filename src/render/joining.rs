use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
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
    /// The name of the tool that searches, if the array has one and the provider knows such tools.
    search: Option<&'a str>,
    /// The name of the tool that calls others, if the array has one.
    call: Option<&'a str>,
    /// Where the results of the model's latest calls stand.
    calls: BTreeMap<&'a str, Place>,
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
    pub(super) texts: Vec<String>,
}

/// Where in the conversation tools join.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Place {
    /// In the result of a search, for a provider that has a form for what it finds.
    Search,
    /// In another result.
    OtherResult,
    /// In a message of the user.
    Message,
}

impl<'a> Joining<'a> {
    /// `tools` is the array. Whoever has a tool there that calls others wants the same text from every
    /// provider, whatever it could do otherwise.
    pub(super) fn new(tools: &[ReadyTool<'a>], rules: &'static ToolRules, deferral: Deferral) -> Self {
        let own = |kind| tools.iter().find(|tool| tool.spec.kind == kind).map(|tool| tool.spec.exposed.as_str());
        let offered = tools.iter().map(|tool| (tool.spec.exposed.as_str(), &tool.spec.tool)).collect();
        let servers = tools.iter().filter(|tool| tool.spec.kind == ToolKind::Server);
        let routes = servers.map(|tool| (tool.spec.exposed.clone(), tool.spec.tool.clone())).collect();
        let call = own(ToolKind::Call);
        let deferral = if call.is_some() { Deferral::None } else { deferral };
        let search = own(ToolKind::Search).filter(|_| deferral != Deferral::None);
        Self {
            rules,
            deferral,
            bare_searches: false,
            search,
            call,
            calls: BTreeMap::new(),
            offered,
            told: BTreeMap::new(),
            routes,
        }
    }

    /// The result of a search holds definitions and nothing else, even if none are found.
    pub(super) fn with_bare_searches(mut self) -> Self {
        self.bare_searches = true;
        self
    }

    /// The names by which the model can call tools directly.
    pub(super) fn offered(&self) -> BTreeSet<&'a str> {
        self.offered.keys().copied().collect()
    }

    /// Whether a result there has no room for texts.
    pub(super) fn is_bare(&self, place: Option<Place>) -> bool {
        self.bare_searches && place == Some(Place::Search)
    }

    /// The model begins a turn: its calls before are no longer answered.
    pub(super) fn turn(&mut self) {
        self.calls.clear();
    }

    /// Notes a call that the model made.
    pub(super) fn called(&mut self, id: &'a str, name: &str) {
        self.calls.insert(id, if self.search == Some(name) { Place::Search } else { Place::OtherResult });
    }

    /// Where the result of this call stands; `None` if it answers none, and nothing can join in it.
    pub(super) fn answered(&mut self, call_id: &str) -> Option<Place> {
        self.calls.remove(call_id)
    }

    /// The name of the tool that searches, if the provider has a form for what it finds.
    pub(super) fn search(&self) -> Option<&'a str> {
        self.search
    }

    /// Whether tools keep the provider's own form at `place`.
    fn is_native(&self, place: Place) -> bool {
        place == Place::Search || self.deferral == Deferral::Anywhere
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
        let mut joined = Joined::default();
        let mut again = Vec::new();
        for spec in tools {
            let name = spec.exposed.as_str();
            // What was text so far can still become a tool that is called by its name.
            let known = self.offered.get(name).or_else(|| self.told.get(name).filter(|_| !native));
            if known == Some(&&spec.tool) {
                if !again.contains(&name) {
                    again.push(name);
                }
            } else {
                joined.tools.extend(self.admit(spec, native, report));
            }
        }
        if !native && !joined.tools.is_empty() {
            joined.texts.push(self.text(&mem::take(&mut joined.tools), message, report));
        }
        if !again.is_empty() {
            let names = again.join(", ");
            report.notes.push(format!("messages[{message}]: named again, not defined again: {names}"));
            joined.texts.push(format!("[you already have: {names}]"));
        }
        joined
    }

    fn admit(&mut self, spec: &'a ToolSpec, native: bool, report: &mut RenderReport) -> Option<ReadyTool<'a>> {
        let name = spec.exposed.as_str();
        let holder = self.offered.get(name).or(self.told.get(name));
        let place = if holder.is_some_and(|tool| **tool != spec.tool) { Err(NAME_IS_TAKEN.into()) } else { Ok(()) };
        // Text is the same for every provider.
        let rules = if native { self.rules.schema } else { schema::PLAIN_ROOT };
        let tool = admit(spec, schema::repair(&spec.input_schema, rules), place, report)?;
        let names = if native { &mut self.offered } else { &mut self.told };
        names.insert(name, &spec.tool);
        self.routes.insert(name.into(), spec.tool.clone());
        Some(tool)
    }

    /// The tools as every model can read them.
    fn text(&self, tools: &[ReadyTool<'_>], message: usize, report: &mut RenderReport) -> String {
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
        match self.call {
            Some(call) => {
                text.push_str(&format!("\nCall these through `{call}`, with the tool's `name` and its `arguments`."));
            }
            None => report.notes.push(format!(
                "messages[{message}]: {} tools are given to {} as text, and no tool is there to call them through",
                tools.len(),
                self.rules.provider
            )),
        }
        text
    }

    /// Which tool each name stands for that the model may use.
    pub(super) fn into_routes(self) -> BTreeMap<String, ToolId> {
        self.routes
    }
}
