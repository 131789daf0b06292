use std::time::Duration;

/// What reading may cost.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ReadLimits {
    /// Time for one resource. Default: 10 seconds.
    pub time: Duration,
    /// Time for all resources together. Default: 20 seconds: a turn waits for it. Those that were
    /// read by then are attached.
    pub total: Duration,
    /// Bytes of one resource, of all its contents together. Default: 4 MiB, a million tokens.
    pub bytes: usize,
    /// How many are read at once. Default: 8.
    pub concurrency: usize,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), total: Duration::from_secs(20), bytes: 4 << 20, concurrency: 8 }
    }
}
