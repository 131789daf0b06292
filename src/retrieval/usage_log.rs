use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::CoUse;
use crate::{Error, Result, catalog::Authorization, id::ToolId, json::Digest};

/// Which tools were called after which requests: what [`Usage`](super::Usage) learns from.
///
/// Record calls, never retrievals: what was only offered would praise itself.
///
/// It belongs to one [`Authorization`]. A host that acts for another one refuses it, and so does
/// [`Self::from_json`]: what one user asked must not order another one's tools.
///
/// **It holds what users asked**, in [`Self::to_json`] too: keep it as you keep conversations.
/// `Debug` shows numbers only.
///
/// Each call has a sequence number of the host's, greater for later ones: a place in its own log,
/// or a time. What the log holds depends on the calls alone, whatever their order: of each tool the
/// newest calls, and of all tools together the newest.
///
/// ```
/// use proem::{catalog::Authorization, id::{ServerId, ToolId}, retrieval::UsageLog};
///
/// let anna = Authorization::new("anna");
/// let mut log = UsageLog::new(anna.clone());
/// log.record(1, "the usual report", ToolId::new(ServerId::new("sales")?, "export_month"));
/// let kept = log.to_json();
/// assert_eq!(UsageLog::from_json(anna, &kept)?.len(), 1);
/// assert!(UsageLog::from_json(Authorization::new("bert"), &kept).is_err());
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone)]
pub struct UsageLog {
    authorization: Authorization,
    max_calls: usize,
    max_per_tool: usize,
    /// By tool: sequence numbers and requests.
    by_tool: BTreeMap<ToolId, BTreeSet<(u64, Arc<str>)>>,
    by_age: BTreeSet<(u64, ToolId, Arc<str>)>,
}

impl UsageLog {
    /// The most characters of a request that are kept: its beginning.
    pub const MAX_REQUEST_CHARS: usize = 1_024;

    /// The most calls that any log holds.
    pub const MAX_CALLS: usize = 100_000;

    /// The largest text that is read back.
    pub const MAX_BYTES: usize = 64 << 20;

    /// An empty log of one context.
    pub fn new(authorization: Authorization) -> Self {
        Self { authorization, max_calls: 10_000, max_per_tool: 100, by_tool: BTreeMap::new(), by_age: BTreeSet::new() }
    }

    /// Sets how many calls are kept, at most [`Self::MAX_CALLS`]. Default 10,000.
    #[must_use]
    pub fn with_max_calls(mut self, calls: usize) -> Self {
        self.max_calls = calls.min(Self::MAX_CALLS);
        self.cut();
        self
    }

    /// Sets how many calls of one tool are kept. Default 100, so that what is called all the time
    /// does not crowd out the rest.
    #[must_use]
    pub fn with_max_per_tool(mut self, calls: usize) -> Self {
        self.max_per_tool = calls;
        self.by_tool.keys().cloned().collect::<Vec<_>>().iter().for_each(|tool| self.cut_tool(tool));
        self
    }

    /// Adds a call that was made after a request. The same call with the same number counts once.
    pub fn record(&mut self, sequence: u64, request: &str, tool: ToolId) {
        let end = request.char_indices().nth(Self::MAX_REQUEST_CHARS).map_or(request.len(), |(end, _)| end);
        let request: Arc<str> = request.get(..end).unwrap_or_default().into();
        self.by_tool.entry(tool.clone()).or_default().insert((sequence, Arc::clone(&request)));
        self.by_age.insert((sequence, tool.clone(), request));
        self.cut_tool(&tool);
        self.cut();
    }

    /// The context that it belongs to.
    pub fn authorization(&self) -> &Authorization {
        &self.authorization
    }

    /// How many calls it holds.
    pub fn len(&self) -> usize {
        self.by_age.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.by_age.is_empty()
    }

    /// The calls, oldest first: sequence number, request, tool.
    pub fn calls(&self) -> impl DoubleEndedIterator<Item = (u64, &str, &ToolId)> {
        self.by_age.iter().map(|(sequence, tool, request)| (*sequence, &**request, tool))
    }

    /// Which tools were called together: calls of one sequence number are one conversation's.
    pub fn co_use(&self) -> CoUse {
        let mut conversations: BTreeMap<u64, Vec<ToolId>> = BTreeMap::new();
        for (sequence, _, tool) in self.calls() {
            conversations.entry(sequence).or_default().push(tool.clone());
        }
        CoUse::of_calls(conversations.into_values())
    }

    /// The log as JSON, with the requests in it and a digest of its context.
    pub fn to_json(&self) -> String {
        let calls = self.calls().map(|(sequence, request, tool)| Call {
            sequence,
            request: request.into(),
            tool: tool.clone(),
        });
        let file = File {
            version: VERSION,
            authorization: self.authorization.digest(),
            max_calls: self.max_calls,
            max_per_tool: self.max_per_tool,
            calls: calls.collect(),
        };
        // Strings and numbers alone cannot fail to be written.
        serde_json::to_string(&file).unwrap_or_default()
    }

    /// Reads a log of this context.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is larger than [`Self::MAX_BYTES`], is no log, is of a version that
    /// is not known, or belongs to another context.
    pub fn from_json(authorization: Authorization, json: &str) -> Result<Self> {
        let invalid = |reason: String| Error::invalid("usage log", reason);
        if json.len() > Self::MAX_BYTES {
            return Err(invalid(format!("it has {} bytes; at most {} are read", json.len(), Self::MAX_BYTES)));
        }
        // Of an error only where it is: its text may hold a request.
        let no_log = |error: serde_json::Error| invalid(format!("line {}, column {}", error.line(), error.column()));
        let Version { version } = serde_json::from_str(json).map_err(no_log)?;
        if version != VERSION {
            return Err(invalid(format!("version {version} is not known, only {VERSION}")));
        }
        let file: File = serde_json::from_str(json).map_err(no_log)?;
        if file.authorization != authorization.digest() {
            return Err(invalid("it belongs to another authorization context".into()));
        }
        let mut log = Self::new(authorization).with_max_calls(file.max_calls).with_max_per_tool(file.max_per_tool);
        for call in file.calls {
            log.record(call.sequence, &call.request, call.tool);
        }
        Ok(log)
    }

    fn cut_tool(&mut self, tool: &ToolId) {
        let Some(calls) = self.by_tool.get_mut(tool) else { return };
        while calls.len() > self.max_per_tool {
            let Some((sequence, request)) = calls.pop_first() else { break };
            self.by_age.remove(&(sequence, tool.clone(), request));
        }
        if calls.is_empty() {
            self.by_tool.remove(tool);
        }
    }

    fn cut(&mut self) {
        while self.by_age.len() > self.max_calls {
            let Some((sequence, tool, request)) = self.by_age.pop_first() else { break };
            let Some(calls) = self.by_tool.get_mut(&tool) else { continue };
            calls.remove(&(sequence, request));
            if calls.is_empty() {
                self.by_tool.remove(&tool);
            }
        }
    }
}

/// Without a request.
impl fmt::Debug for UsageLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UsageLog")
            .field("calls", &self.by_age.len())
            .field("tools", &self.by_tool.len())
            .finish_non_exhaustive()
    }
}

const VERSION: u32 = 1;

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Deserialize, Serialize)]
struct File {
    version: u32,
    authorization: Digest,
    max_calls: usize,
    max_per_tool: usize,
    calls: Vec<Call>,
}

#[derive(Deserialize, Serialize)]
struct Call {
    sequence: u64,
    request: String,
    tool: ToolId,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::ServerId;

    fn tool(at: u8) -> ToolId {
        ToolId::new(ServerId::new("s").unwrap(), format!("t{at}"))
    }

    fn log(calls: &[(u64, u8, u8)]) -> UsageLog {
        let mut log = UsageLog::new(Authorization::new("anna")).with_max_calls(6).with_max_per_tool(3);
        calls.iter().for_each(|(sequence, request, of)| log.record(*sequence, &format!("secret{request}"), tool(*of)));
        log
    }

    proptest! {
        #[test]
        fn what_is_kept_depends_on_the_calls_not_on_their_order(
            calls in prop::collection::vec((0..8_u64, 0..3_u8, 0..4_u8), 0..30).prop_flat_map(|calls| (Just(calls.clone()), Just(calls).prop_shuffle())),
        ) {
            let (a, b) = (log(&calls.0), log(&calls.1));
            prop_assert_eq!(a.to_json(), b.to_json());
            prop_assert!(a.len() <= 6 && a.by_tool.values().all(|calls| (1..=3).contains(&calls.len())));
            prop_assert_eq!(a.by_tool.values().map(BTreeSet::len).sum::<usize>(), a.len());
            let again = UsageLog::from_json(Authorization::new("anna"), &a.to_json()).unwrap();
            prop_assert_eq!(again.to_json(), a.to_json());
        }
    }

    #[test]
    fn the_newest_calls_stay() {
        let log = log(&[(9, 0, 0), (1, 0, 0), (5, 0, 0), (3, 0, 0), (2, 0, 1), (4, 0, 2), (6, 0, 3), (7, 0, 3)]);
        let kept: Vec<_> = log.calls().map(|(sequence, _, tool)| (sequence, &*tool.name)).collect();
        assert_eq!(kept, [(3, "t0"), (4, "t2"), (5, "t0"), (6, "t3"), (7, "t3"), (9, "t0")]);
    }

    #[test]
    fn no_request_is_shown_by_debug_or_an_error() {
        let log = log(&[(1, 7, 0)]);
        assert_eq!(format!("{log:?}"), "UsageLog { calls: 1, tools: 1, .. }");
        let json = log.to_json();
        let anna = || Authorization::new("anna");
        for (text, expected) in [
            (json.replace("\"secret7\"", "[\"secret7\"]"), "invalid usage log: line 1, column"),
            (json.replace("\"version\":1", "\"version\":2"), "invalid usage log: version 2 is not known, only 1"),
            (String::new(), "invalid usage log: line 1, column 0"),
            (
                " ".repeat(UsageLog::MAX_BYTES + 1),
                "invalid usage log: it has 67108865 bytes; at most 67108864 are read",
            ),
        ] {
            let error = UsageLog::from_json(anna(), &text).unwrap_err().to_string();
            assert!(error.starts_with(expected) && !error.contains("secret"), "{error}");
        }
        let error = UsageLog::from_json(Authorization::new("bert"), &json).unwrap_err().to_string();
        assert_eq!(error, "invalid usage log: it belongs to another authorization context");
        assert!(!json.contains("anna"));
    }

    #[test]
    fn long_requests_are_cut() {
        let mut log = UsageLog::new(Authorization::default());
        log.record(1, &"é".repeat(5_000), tool(0));
        assert_eq!(log.calls().next().unwrap().1.chars().count(), UsageLog::MAX_REQUEST_CHARS);
    }
}
