use std::{fmt, time::Duration};

use crate::{Error, catalog::ServerEntry, client::ListKind, error::excerpt, id::ServerId};

/// How a server stands, as far as resources go.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ServerState {
    /// It is being asked, as the host says. Items of an earlier answer are shown meanwhile.
    Loading,
    /// It could not be asked, or a list of it not be read. Items of an earlier answer are shown.
    Failed {
        /// Why, on one line.
        reason: String,
    },
    /// It does not offer resources.
    Unsupported,
    /// It offers resources, and has none.
    Empty,
    /// It has resources or templates.
    Ready,
}

impl fmt::Display for ServerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loading => f.write_str("loading"),
            Self::Failed { reason } => write!(f, "failed: {reason}"),
            Self::Unsupported => f.write_str("offers no resources"),
            Self::Empty => f.write_str("has no resources"),
            Self::Ready => f.write_str("ready"),
        }
    }
}

/// One server in a picker: every one has a status, whether or not it has rows.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ServerStatus {
    /// The server.
    pub server: ServerId,
    /// How it stands.
    pub state: ServerState,
    /// Resources that can be shown.
    pub resources: usize,
    /// Templates that can be shown.
    pub templates: usize,
    /// Items that the options leave out: internal ones, and those for the user only.
    pub hidden: usize,
    /// How old the items are if they could not be read again; zero if they could.
    pub age: Duration,
    /// Its items are shown.
    pub on: bool,
    /// Its group comes first.
    pub pinned: bool,
}

/// The state of a server of the catalog that has so many items.
pub(super) fn state(entry: &ServerEntry, items: usize) -> ServerState {
    match &entry.failure {
        // What failed may be a list that a picker does not show.
        Some(error) if items == 0 || concerns_resources(error) => {
            ServerState::Failed { reason: excerpt(&error.to_string()) }
        }
        _ if !entry.info.offers(ListKind::Resources.capability()) => ServerState::Unsupported,
        _ if items == 0 => ServerState::Empty,
        _ => ServerState::Ready,
    }
}

fn concerns_resources(error: &Error) -> bool {
    let others = [ListKind::Tools.method(), ListKind::Prompts.method()];
    !matches!(error, Error::Server { operation, .. } if others.contains(operation))
}
