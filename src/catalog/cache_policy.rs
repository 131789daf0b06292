use std::time::Duration;

/// How long the content of a resource may be reused: the host's decision.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum CachePolicy {
    /// As long as its server says (`ttlMs`), for whom it says (`cacheScope`). The default.
    #[default]
    Server,
    /// Never: it is read again each time, and not kept.
    Never,
    /// For as long as this after it was read, whatever its server says, within the same
    /// authorization context; less if the server says that it changed.
    For(Duration),
}
