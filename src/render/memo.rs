use std::sync::{Arc, Mutex, PoisonError};

use super::{
    layout::ToolSpec,
    report::RenderReport,
    tools::{ReadyTool, ToolRules},
};
use crate::protocol::Schema;

/// What was made of the latest arrays of tools, so that the same array is not made again.
///
/// A conversation sends the same tools with each turn. A memo holds them as they were given, with their
/// schemas as they were repaired and what was reported, for the latest [`Self::CAPACITY`] arrays; it is
/// asked by equality of all that goes in, so that it never changes a byte. One memo may serve any providers.
///
/// ```
/// use proem::id::{ServerId, ToolId};
/// use proem::render::{Anthropic, Layout, Memo, Provider, ToolSpec};
///
/// let tool = ToolSpec::new(ToolId::new(ServerId::new("git")?, "merge"), "merge");
/// let (layout, memo) = (Layout::new().with_tool(tool), Memo::new());
/// let provider = Anthropic::new();
/// assert_eq!(provider.render_with(&layout, &memo), provider.render(&layout));
/// assert_eq!(provider.render_with(&layout, &memo), provider.render(&layout));
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Memo {
    /// Latest used first.
    made: Mutex<Vec<Arc<Made>>>,
}

impl Memo {
    /// How many arrays are held: that of each provider and model that a session moves between, and those of
    /// two sessions that share a memo.
    pub const CAPACITY: usize = 4;

    /// Holds nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was made of the same array by the same rules before, or what `make` makes of it.
    pub(super) fn ready<'a>(
        &self,
        tools: &'a [ToolSpec],
        rules: &'static ToolRules,
        make: impl FnOnce() -> (Vec<ReadyTool<'a>>, RenderReport),
    ) -> (Vec<ReadyTool<'a>>, RenderReport) {
        if let Some(made) = self.found(tools, rules) {
            return (made.ready(tools), made.report.clone());
        }
        let (ready, report) = make();
        self.hold(Made::new(tools, rules, &ready, &report));
        (ready, report)
    }

    fn found(&self, tools: &[ToolSpec], rules: &'static ToolRules) -> Option<Arc<Made>> {
        let mut all = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|made| std::ptr::eq(made.rules, rules) && made.of == tools)?;
        let made = all.remove(at);
        all.insert(0, Arc::clone(&made));
        Some(made)
    }

    fn hold(&self, made: Made) {
        let mut all = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(0, Arc::new(made));
        all.truncate(Self::CAPACITY);
    }
}

/// One array, and what was made of it.
#[derive(Debug)]
struct Made {
    of: Vec<ToolSpec>,
    rules: &'static ToolRules,
    /// Each tool by its place in the array.
    ready: Vec<(usize, Schema, bool)>,
    report: RenderReport,
}

impl Made {
    fn new(of: &[ToolSpec], rules: &'static ToolRules, ready: &[ReadyTool<'_>], report: &RenderReport) -> Self {
        let place = |tool: &ReadyTool<'_>| of.iter().position(|spec| std::ptr::eq(spec, tool.spec));
        let ready = ready.iter().filter_map(|tool| Some((place(tool)?, tool.schema.clone(), tool.is_strict)));
        Self { of: of.to_vec(), rules, ready: ready.collect(), report: report.clone() }
    }

    /// The same for an array that is equal.
    fn ready<'a>(&self, tools: &'a [ToolSpec]) -> Vec<ReadyTool<'a>> {
        let ready = self.ready.iter().filter_map(|(at, schema, is_strict)| {
            Some(ReadyTool { spec: tools.get(*at)?, schema: schema.clone(), is_strict: *is_strict })
        });
        ready.collect()
    }
}
