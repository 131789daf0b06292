use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{SimulationOptions, needs::Needs, tally::Tally};
use crate::{
    Host, Result,
    cost::PriceSheet,
    discovery::CALL_TOOL,
    eval::{Conversation, TraceCall, TraceTurn},
    json::canonical_object,
    prefix::Prefix,
    protocol::Role,
    render::{Block, Message, Provider, Request, SectionKind},
    selection::SelectionOptions,
    session::{Context, Delivery, Session},
    tokens::CountCache,
};

/// What the model says where a trace did not keep it: as long as a short report of what was done.
const ANSWER: &str = "Done. I have looked at what came back, and nothing is missing so far. Tell me how you would like \
                      to go on, or name the next step.";

/// Whom a conversation is held with, and at what prices.
#[derive(Debug)]
pub(super) struct Priced {
    pub(super) sheet: PriceSheet,
    pub(super) provider: Arc<dyn Provider>,
}

/// Holds a conversation once more, under one policy, and measures every request of it.
pub(super) async fn replay(
    host: &Host,
    priced: &Priced,
    policy: Delivery,
    conversation: &Conversation,
    options: &SimulationOptions,
) -> Result<Tally> {
    let session = options.session.clone().with_delivery(policy);
    let session = session.with_shared_provider(Arc::clone(&priced.provider)).with_prices(priced.sheet.clone());
    let mut selection = options.selection.clone();
    // What a provider does not take is left out by its renderer, which says so.
    selection.provider_cap = usize::MAX;
    let mut replay = Replay {
        session: Session::with_options(Arc::clone(host.composer()), Timestamp::UNIX_EPOCH, session),
        priced,
        selection,
        counts: host.counts(),
        needs: Needs::of(conversation),
        history: Vec::new(),
        calls: 0,
        tally: Tally::default(),
    };
    let mut at = 0_u64;
    for (number, turn) in conversation.turns.iter().enumerate() {
        let pause = match turn.time {
            Some(time) => time.saturating_sub(at),
            None if number == 0 => 0,
            None => options.pause_seconds,
        };
        at = at.saturating_add(pause);
        let moment = Moment {
            // Times of a trace lie before the year 5138, and pauses add little.
            at: i64::try_from(at).ok().and_then(|at| Timestamp::from_second(at).ok()).unwrap_or(Timestamp::MAX),
            number,
            follows_up: number > 0 && pause <= priced.sheet.cache.ttl_seconds.into(),
        };
        replay.turn(moment, turn, conversation.system.as_deref()).await?;
    }
    Ok(replay.finish())
}

struct Replay<'a> {
    session: Session,
    priced: &'a Priced,
    selection: SelectionOptions,
    counts: &'a CountCache,
    needs: Needs<'a>,
    /// What was said, as the host keeps it.
    history: Vec<Message>,
    /// How many calls were made, for their ids.
    calls: usize,
    tally: Tally,
}

/// When a turn is.
#[derive(Clone, Copy)]
struct Moment {
    at: Timestamp,
    number: usize,
    /// The cache can have kept what the turn before sent.
    follows_up: bool,
}

impl Replay<'_> {
    async fn turn(&mut self, moment: Moment, turn: &TraceTurn, system: Option<&str>) -> Result<()> {
        let builder = self.session.turn(turn.text.as_str()).selection(self.selection.clone()).sending(moment.at);
        let builder = builder.model(&self.priced.sheet.model).messages(self.history.iter().cloned());
        let mut context = match system {
            Some(system) => builder.system(system),
            None => builder,
        }
        .build()
        .await?;
        self.history.push(Message::user(&turn.text));

        let answer = turn.answer.as_deref().unwrap_or(ANSWER);
        let mut rounds = turn.rounds.iter();
        let mut opens = true;
        loop {
            let request = context.render(&*self.priced.provider);
            self.needs.offered(moment.number, &request.tools().map(|(_, tool)| tool).collect());
            let round = rounds.by_ref().find_map(|calls| self.round(calls, &request, &context));
            let output = match &round {
                Some([asked, _]) => self.tokens_of(asked),
                None => self.counts.count(answer),
            };
            self.send(&request, moment, opens, output)?;
            opens = false;
            let Some(round) = round else { break };
            for message in round {
                context.add(message.clone());
                self.history.push(message);
            }
        }
        self.history.push(Message::assistant(answer));
        self.tally.answered &= turn.answer.is_some();
        Ok(())
    }

    /// Sends a request, and notes what it does.
    fn send(&mut self, request: &Request, moment: Moment, opens_turn: bool, output: usize) -> Result<()> {
        let sent = self.session.sent(request, moment.at)?;
        let input = sent.predicted.unwrap_or_default();
        let usage = input.with_output(output as u64);
        let tally = &mut self.tally;
        tally.requests += 1;
        tally.rejected += u64::from(!request.report().quarantined.is_empty());
        tally.usage += usage;
        tally.input_cost += self.priced.sheet.picodollars(&input);
        tally.cost += self.priced.sheet.picodollars(&usage);
        if !opens_turn {
            return Ok(());
        }
        tally.turns += 1;
        tally.tool_tokens += tool_tokens(request, self.counts)?;
        if let Some(diff) = sent.diff.filter(|_| moment.follows_up) {
            tally.follow_ups += 1;
            tally.changed += u64::from(!diff.extends);
        }
        Ok(())
    }

    /// The calls of a round whose tools the request offers, and what they gave. `None` if there are
    /// none, or no results were kept.
    fn round(&mut self, calls: &[TraceCall], request: &Request, context: &Context) -> Option<[Message; 2]> {
        let (mut asked, mut given) = (Message::new(Role::Assistant), Message::new(Role::User));
        for call in calls {
            let Some((exposed, _)) = request.tools().find(|(_, tool)| **tool == call.tool) else { continue };
            self.session.used(&call.tool);
            let Some(result) = &call.result else { continue };
            self.calls += 1;
            let id = format!("call_{}", self.calls);
            let (name, arguments) = as_called(exposed, &call.arguments, context);
            asked = asked.with_block(Block::ToolCall { id: id.clone(), name, arguments });
            let content = vec![Block::Text(result.clone())];
            given = given.with_block(Block::ToolResult { call_id: id, content, is_error: false });
        }
        (!asked.content.is_empty()).then_some([asked, given])
    }

    fn tokens_of(&self, calls: &Message) -> usize {
        let calls = calls.content.iter().map(|block| match block {
            Block::ToolCall { name, arguments, .. } => {
                self.counts.count(name) + self.counts.count(&canonical_object(arguments))
            }
            _ => 0,
        });
        calls.sum()
    }

    fn finish(self) -> Tally {
        let mut tally = self.tally;
        if let Some(delivery) = self.session.delivery() {
            tally.became(delivery);
        }
        self.needs.count(&mut tally);
        tally
    }
}

/// The name and arguments that the model writes: a tool that it was only told of in a message is called
/// through the one that calls others, if there is one.
fn as_called(exposed: &str, arguments: &Map<String, Value>, context: &Context) -> (String, Map<String, Value>) {
    let array = &context.layout().tools;
    let is_there = |name: &str| array.iter().any(|tool| tool.exposed == name);
    if is_there(exposed) || !is_there(CALL_TOOL) {
        return (exposed.to_owned(), arguments.clone());
    }
    let mut through = Map::new();
    through.insert("name".into(), exposed.into());
    through.insert("arguments".into(), Value::Object(arguments.clone()));
    (CALL_TOOL.to_owned(), through)
}

/// What the array of tools takes.
fn tool_tokens(request: &Request, counts: &CountCache) -> Result<u64> {
    let prefix = Prefix::read(request.as_str())?;
    let array = prefix.segments.iter().filter(|segment| segment.section == SectionKind::Tools);
    Ok(array.map(|tool| counts.count_as(tool.digest, || tool.text.to_string()) as u64).sum())
}
