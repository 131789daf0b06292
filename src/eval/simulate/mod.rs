mod needs;
mod options;
mod page;
mod replay;
mod report;
mod stage;
mod tally;
#[cfg(test)]
mod tests;

use std::{
    num::NonZeroUsize,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use tokio::runtime::{Builder, Runtime};

pub use self::{
    options::SimulationOptions,
    page::page,
    report::{PolicyRow, SimulationReport, TokenSums},
};
use self::{replay::Priced, tally::Tally};
use super::{Conversation, Trace};
use crate::{Error, Host, Result, catalog::Catalog};

/// Replays recorded conversations under every policy at every price, and gives a report for each
/// sheet.
///
/// Real sessions select and deliver the tools of `catalog`, real requests are rendered, and each one
/// goes through a model of the provider's prompt cache at the time of its turn. Every conversation
/// begins with an empty cache. After each request the conversation grows by what the trace says: the
/// calls whose results it has, as far as the policy offers their tools, then the answer, or a short
/// one of ours. No resources are attached. What the model would have searched for by itself is not
/// known, so where it can search, more is offered than the report says, and costs more.
///
/// `progress` is called after each conversation with the number done and the number of all. Works
/// with or without a runtime, on threads of its own.
///
/// ```
/// use proem::{
///     catalog::Catalog,
///     eval::{SimulationOptions, Trace, simulate},
///     id::ServerId,
///     protocol::Tool,
///     session::Delivery,
/// };
///
/// let catalog = Catalog::builder().tool(ServerId::new("git")?, Tool::new("merge", "Merge a branch")).build();
/// let trace = Trace::read("log", r#"{"conversation": "c", "text": "merge it", "tools_used": [["git", "merge"]]}"#, &catalog)?;
/// let report = &simulate(&catalog, &trace, &SimulationOptions::new(), |_, _| {})?[0];
/// let auto = report.policy(Delivery::Auto).ok_or("it is among them")?;
/// assert_eq!((auto.tools_offered_ratio, auto.prefix_changed_ratio), (1.0, 0.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::Missing`] without a retriever or a counter where the features that bring the default
/// are off; [`Error::Index`] if the catalog cannot be indexed or searched; [`Error::Invalid`] if
/// it cannot be listed again.
pub fn simulate(
    catalog: &Catalog,
    trace: &Trace,
    options: &SimulationOptions,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<SimulationReport>> {
    let priced: Vec<_> =
        options.sheets.iter().map(|sheet| Priced { provider: stage::provider(sheet), sheet: sheet.clone() }).collect();
    let count = trace.conversations.len();
    let threads = options.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    let next = AtomicUsize::new(0);
    let stage = Stage { catalog, priced: &priced, options };
    let mut tallies: Vec<Option<Result<Vec<Tally>>>> = (0..count).map(|_| None).collect();
    thread::scope(|scope| {
        // A runtime cannot be entered from within another one, so even the host is made on a thread.
        let host = scope.spawn(|| stage.host()).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let (send, done) = mpsc::channel();
        for _ in 0..threads.min(count) {
            let (send, host, next, stage) = (send.clone(), host.clone(), &next, &stage);
            scope.spawn(move || {
                let runtime = runtime();
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(conversation) = trace.conversations.get(at) else { break };
                    let tally = match &runtime {
                        Ok(runtime) => runtime.block_on(stage.replay(&host, conversation)),
                        Err(error) => Err(Error::invalid("runtime", error.to_string())),
                    };
                    // Nobody listens any more only if another thread panicked.
                    if send.send((at, tally)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        for (done, (at, tally)) in done.into_iter().enumerate() {
            if let Some(place) = tallies.get_mut(at) {
                *place = Some(tally);
            }
            progress(done + 1, count);
        }
        Ok::<_, Error>(())
    })?;
    let mut sums = vec![Tally::default(); priced.len() * options.policies.len()];
    for tally in tallies.into_iter().flatten() {
        sums.iter_mut().zip(tally?).for_each(|(sum, tally)| *sum += tally);
    }
    let mut sums = sums.into_iter();
    let reports = priced.iter().map(|priced| {
        let tallies = options.policies.iter().copied().zip(&mut sums).collect();
        SimulationReport::new(trace, priced, tallies)
    });
    Ok(reports.collect())
}

/// What all conversations are replayed with.
struct Stage<'a> {
    catalog: &'a Catalog,
    priced: &'a [Priced],
    options: &'a SimulationOptions,
}

impl Stage<'_> {
    fn host(&self) -> Result<Host> {
        let runtime = runtime().map_err(|error| Error::invalid("runtime", error.to_string()))?;
        runtime.block_on(stage::host(self.catalog, self.options))
    }

    /// One conversation at all prices under all policies: together, since what is searched for is
    /// the same, and remembered.
    async fn replay(&self, host: &Host, conversation: &Conversation) -> Result<Vec<Tally>> {
        let mut tallies = Vec::with_capacity(self.priced.len() * self.options.policies.len());
        for priced in self.priced {
            for policy in &self.options.policies {
                tallies.push(replay::replay(host, priced, *policy, conversation, self.options).await?);
            }
        }
        Ok(tallies)
    }
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_time().build()
}
