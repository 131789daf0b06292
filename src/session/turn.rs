use std::time::Instant;

use jiff::Timestamp;

use super::{
    Session,
    composer::attachment,
    context::{Context, Timings},
    instructions::Instructions,
    prompt::RenderedPrompt,
};
use crate::{
    Result,
    id::ResourceId,
    prompts::{Invoked, drift},
    render::{Layout, Message, ToolSpec},
    resources::{Attached, Destination, ReadLimits, ResourceOptions},
    retrieval::{Filter, Query},
    selection::{Selection, SelectionOptions, select},
    tokens::TokenBudget,
};

/// A turn that is being set up.
#[derive(Debug)]
#[must_use = "a turn does nothing until it is built"]
pub struct Turn<'a> {
    session: &'a mut Session,
    query: Query,
    selection: SelectionOptions,
    filter: Filter,
    resources: ResourceOptions,
    instructions: TokenBudget,
    model: Option<String>,
    system: Vec<String>,
    messages: Vec<Message>,
    invoked: Vec<Invoked>,
    /// The query is what prompts say: their messages stand for it.
    asked_by_prompt: bool,
}

impl<'a> Turn<'a> {
    pub(super) fn new(session: &'a mut Session, query: Query) -> Self {
        let resources = ResourceOptions::new(session.now);
        Self {
            session,
            query,
            selection: SelectionOptions::default(),
            filter: Filter::new(),
            resources,
            instructions: TokenBudget::new(2_000),
            model: None,
            system: Vec::new(),
            messages: Vec::new(),
            invoked: Vec::new(),
            asked_by_prompt: false,
        }
    }

    /// Sets what tool definitions may cost. Default: 4,000 tokens.
    pub fn tools(mut self, budget: TokenBudget) -> Self {
        self.selection.budget = budget;
        self
    }

    /// Sets what attached resources may cost. Default: 0, nothing is attached.
    pub fn resources(mut self, budget: TokenBudget) -> Self {
        self.resources.budget = budget;
        self
    }

    /// Sets how tools are selected, budget included.
    pub fn selection(mut self, options: SelectionOptions) -> Self {
        self.selection = options;
        self
    }

    /// Sets which tools may be offered at all.
    pub fn filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Attaches a resource that a person or the host picked, as far as the budget goes.
    pub fn pick(mut self, resource: ResourceId) -> Self {
        self.resources.pins.push(resource);
        self
    }

    /// Sets how resources are selected and read, budget and pins included; `now` stays the session's.
    pub fn resource_options(mut self, options: ResourceOptions) -> Self {
        self.resources = ResourceOptions { now: self.resources.now, ..options };
        self
    }

    /// Says where the request goes, for the host's rules on resources. Default: not known; what a rule
    /// keeps from some providers or tenants is then not attached.
    pub fn destination(mut self, destination: Destination) -> Self {
        self.resources.destination = destination;
        self
    }

    /// Sets what the servers' instructions may cost. Default: 2,000 tokens, which holds the longest that
    /// well-known servers send twice over.
    pub fn instructions(mut self, budget: TokenBudget) -> Self {
        self.instructions = budget;
        self
    }

    /// Sets what reading resources may cost.
    pub fn reading(mut self, limits: ReadLimits) -> Self {
        self.resources.reading = limits;
        self
    }

    /// Sets another `now` for this turn.
    pub fn at(mut self, now: Timestamp) -> Self {
        self.resources.now = now;
        self
    }

    /// Names the model in the request.
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Adds a piece of the host's own text.
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system.push(text.into());
        self
    }

    /// Adds messages before the newest one: the conversation so far.
    pub fn messages(mut self, messages: impl IntoIterator<Item = Message>) -> Self {
        self.messages.extend(messages);
        self
    }

    /// Adds the messages of a prompt that the user invoked, after those that were added before, and
    /// remembers it in the [session](Session::invoked).
    ///
    /// If nothing else was asked (the turn's query is blank), tools are searched with what the prompt
    /// says on the user's behalf, and its messages are the newest ones.
    pub fn prompt(mut self, prompt: &RenderedPrompt) -> Self {
        self.messages.extend(prompt.messages.iter().cloned());
        self.invoked.push(prompt.invoked());
        self.asked_by_prompt |= self.query.text.trim().is_empty();
        if self.asked_by_prompt {
            self.query.text = format!("{}\n{}", self.query.text, prompt.query()).trim().to_owned();
        }
        self
    }

    /// Retrieves and selects tools, reads and attaches resources, and lays out the request, all
    /// against the catalog as the last refresh left it.
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) if the catalog cannot be indexed or searched. A
    /// server that fails to give a resource is no error: the resource is left out with the reason.
    pub async fn build(mut self) -> Result<Context> {
        self.session.memory.complete(&mut self.query);
        let composer = std::sync::Arc::clone(&self.session.composer);
        let catalog = composer.servers.catalog();
        let mut clock = Clock(Instant::now());
        let index = composer.index(&catalog).await?;
        let mut timings = Timings { index: clock.lap(), ..Timings::default() };
        let mut notes = Vec::new();
        composer.hooks.rewrite(&mut self.query, &mut notes).await;
        let ranking = composer.search(&index, &self.query, &self.filter, self.depth()).await?;
        #[cfg(feature = "tantivy")]
        notes.extend(ranking.gates.iter().filter(|gate| gate.dropped.is_some()).map(ToString::to_string));
        let ranking = composer.hooks.rerank(&self.query, &catalog, ranking, &mut notes).await;
        timings.search = clock.lap();
        let selection = select(&catalog, &ranking, &self.filter, &self.selection, composer.counts());
        timings.select = clock.lap();
        let attached = composer.attach(&catalog, &self.query, &self.resources).await;
        notes.extend(attached.notes.iter().cloned());
        timings.attach = clock.lap();
        let instructions = Instructions::select(&catalog, &selection, self.instructions, composer.counts());
        let layout = self.layout(&selection, &instructions, &attached);
        timings.layout = clock.lap();
        let offered = selection.tools.iter().map(|tool| (tool.exposed.to_string(), tool.id.clone()));
        self.session.offered.extend(offered);
        self.session.memory.turn(&self.query, &selection);
        self.session.remember(self.invoked);
        notes.extend(drift(&catalog, &self.session.invoked).iter().map(ToString::to_string));
        Ok(Context { query: self.query, catalog, selection, instructions, attached, layout, timings, composer, notes })
    }

    /// How deep to rank: so far that quotas and forms that do not fit find their replacements.
    fn depth(&self) -> usize {
        self.selection.top.saturating_mul(4).clamp(64, 1_024)
    }

    fn layout(&self, selection: &Selection, instructions: &Instructions, attached: &Attached) -> Layout {
        let mut layout = Layout::new();
        layout.model.clone_from(&self.model);
        layout.system.clone_from(&self.system);
        layout.tools = selection
            .tools
            .iter()
            .map(|tool| {
                let mut spec = ToolSpec::new(tool.id.clone(), tool.exposed.as_str());
                spec.description.clone_from(&tool.definition.description);
                spec.input_schema.clone_from(&tool.definition.input_schema);
                spec
            })
            .collect();
        // They keep to a budget in tokens already.
        layout.max_instruction_chars = usize::MAX;
        layout.instructions = instructions.texts.iter().map(|said| (said.server.clone(), said.text.clone())).collect();
        layout.attachments = attached.resources.iter().map(attachment).collect();
        layout.messages.clone_from(&self.messages);
        if !self.asked_by_prompt && !self.query.text.trim().is_empty() {
            layout.messages.push(Message::user(&self.query.text));
        }
        layout
    }
}

struct Clock(Instant);

impl Clock {
    fn lap(&mut self) -> std::time::Duration {
        let lap = self.0.elapsed();
        self.0 = Instant::now();
        lap
    }
}
