use std::{sync::Arc, time::Instant};

use jiff::Timestamp;

use super::{
    Session,
    composer::Composer,
    context::{Context, Timings},
    deliver::Offer,
    delivered::Delivered,
    delivery::Delivery,
    prompt::RenderedPrompt,
};
use crate::{
    Result,
    catalog::Catalog,
    id::ResourceId,
    prompts::{Invoked, drift},
    render::{Layout, Message},
    resources::{Attached, Destination, ReadLimits, ResourceOptions},
    retrieval::{Filter, Query},
    selection::{SelectionOptions, select},
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
    /// When it is sent.
    sending: Option<Timestamp>,
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
            sending: None,
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

    /// Says when the turn is sent. If the provider's cache has forgotten the prefix by then, by the
    /// session's [prices](super::SessionOptions::prices), the prefix is made anew: see
    /// [`SessionEvent::Expired`](super::SessionEvent::Expired). Default: not known, nothing expires.
    pub fn sending(mut self, at: Timestamp) -> Self {
        self.sending = Some(at);
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
    /// against the catalog as the last refresh left it. What the conversation's prefix holds stays as
    /// its [delivery](super::Delivery) says.
    ///
    /// # Errors
    /// [`Error::Index`](crate::Error::Index) if the catalog cannot be indexed or searched. A
    /// server that fails to give a resource is no error: the resource is left out with the reason.
    pub async fn build(mut self) -> Result<Context> {
        if let Some(at) = self.sending
            && self.session.event.is_none()
        {
            self.session.event = self.session.expired(at);
        }
        self.session.memory.complete(&mut self.query);
        let composer = Arc::clone(&self.session.composer);
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
        let attached = self.attach(&composer, &catalog).await;
        notes.extend(attached.notes.iter().cloned());
        timings.attach = clock.lap();
        // Nothing is waited for from here on: a turn that is given up changes nothing.
        let messages = self.conversation();
        let (delivery, carried) = self.session.open(&messages, &catalog, &self.filter, &self.selection, &mut notes);
        let options = self.session.options.selection(self.selection.clone(), delivery, self.session.record.is_new());
        let selection = select(&catalog, &ranking, &self.filter, &options, composer.counts());
        timings.select = clock.lap();
        let taken = self.session.record.take(
            delivery,
            &Offer {
                catalog: &catalog,
                filter: &self.filter,
                selection: &selection,
                carried: &carried,
                attached: &attached,
                servers: &composer.servers,
                instructions: self.instructions,
                tools: (options.budget, options.provider_cap),
                options: &self.session.options,
                counts: composer.counts(),
                messages: &messages,
                newest: if self.is_asked() { messages.len() - 1 } else { messages.len() },
                query: &self.query.text,
            },
        );
        notes.extend(taken.notes);
        let told = self.session.record.tools(&messages);
        let delivered = Delivered::new(
            delivery,
            self.session.record.turns,
            &told,
            &catalog,
            &self.filter,
            taken.joined,
            taken.withheld,
        );
        notes.extend(delivered.notes());
        if self.session.decision.is_none() {
            self.session.decision = delivered.decision();
        }
        let layout = self.layout(&messages, &delivered);
        timings.layout = clock.lap();
        self.session.offered.extend(delivered.offered.iter().map(|(name, tool)| (name.clone(), tool.clone())));
        self.session.told.clone_from(&delivered.offered);
        self.session.memory.turn(&self.query, &selection);
        self.session.filter = Some((self.filter, options));
        self.session.remember(self.invoked);
        notes.extend(drift(&catalog, &self.session.invoked).iter().map(ToString::to_string));
        Ok(Context {
            query: self.query,
            catalog,
            selection,
            delivered,
            instructions: taken.instructions,
            attached,
            layout,
            timings,
            composer,
            memo: Arc::clone(&self.session.memo),
            notes,
        })
    }

    /// Selects and reads resources: what the model was given and may have changed is read again.
    async fn attach(&self, composer: &Composer, catalog: &Catalog) -> Attached {
        let mut options = self.resources.clone();
        let anew = self.session.event.is_some() || self.session.record.delivery == Some(Delivery::PerTurn);
        let mut again = match anew {
            true => Vec::new(),
            false => self.session.record.outdated(catalog, &composer.servers),
        };
        again.retain(|id| !options.pins.contains(id));
        if options.budget != TokenBudget::ZERO {
            options.pins.extend(again.iter().cloned());
        }
        let mut attached = composer.attach(catalog, &self.query, &options).await;
        for resource in attached.resources.iter_mut().filter(|resource| again.contains(&resource.id)) {
            (resource.pinned, resource.reason) = (false, "the conversation has it, and it may have changed".into());
        }
        attached
    }

    /// How deep to rank: so far that quotas and forms that do not fit find their replacements.
    fn depth(&self) -> usize {
        self.selection.top.saturating_mul(4).clamp(64, 1_024)
    }

    /// Whether the query is a message of the user's, and so the newest one.
    fn is_asked(&self) -> bool {
        !self.asked_by_prompt && !self.query.text.trim().is_empty()
    }

    /// The host's messages, and what is asked now.
    fn conversation(&mut self) -> Vec<Message> {
        let mut messages = std::mem::take(&mut self.messages);
        if self.is_asked() {
            messages.push(Message::user(&self.query.text));
        }
        messages
    }

    fn layout(&self, messages: &[Message], delivered: &Delivered) -> Layout {
        let mut layout = Layout::new();
        layout.model.clone_from(&self.model);
        layout.system.clone_from(&self.system);
        // They keep to a budget in tokens already.
        layout.max_instruction_chars = usize::MAX;
        self.session.record.lay_out(&mut layout, messages);
        layout.allowed = delivered.mask(&layout.tools);
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
