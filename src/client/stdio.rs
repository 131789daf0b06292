use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    fmt,
    io::ErrorKind,
    path::PathBuf,
    process::Stdio,
    sync::OnceLock,
    time::Duration,
};

use tokio::{
    process::{Child, Command},
    sync::broadcast,
};

use super::{
    BoxFuture, Change, Limits,
    connection::Connection,
    forward::client_over_connection,
    link::{Connect, Link, Start},
    process::Process,
    secret::Secrets,
    stream::PROBE,
    tap::{Tap, TapNotes},
};
use crate::error::{ClientError, excerpt};

/// A server that Proem starts as a child process and speaks to over its standard streams.
///
/// It is started on first use, in whichever era it is of, and killed when the client is dropped.
/// When it dies, requests under way fail with its exit status and the last lines of its stderr,
/// and the next request starts it again: at once the first time, then after 0.5 s, doubling up to
/// 30 s, until it has lived for a minute. Within such a wait requests fail at once. A restart is
/// told as [`Change::Reconnected`].
///
/// Its stderr is read and goes to `tracing` at level debug. Environment values never appear in an
/// error, in `Debug` or there, even if the server prints them. Of the environment of this process
/// it is given the harmless part, see [`Self::with_inherited_env`].
///
/// ```
/// use proem::client::StdioClient;
///
/// let git = StdioClient::new("uvx").with_args(["mcp-server-git"]).with_env("GIT_AUTHOR_NAME", "Ada Lovelace");
/// assert_eq!(format!("{git:?}"), r#"StdioClient { command: "uvx", args: 1, env: ["GIT_AUTHOR_NAME"], .. }"#);
/// ```
pub struct StdioClient {
    program: Program,
    limits: Limits,
    probe: Duration,
    changes: broadcast::Sender<Change>,
    /// Made on first use, so that it sees every setting.
    connection: OnceLock<Connection>,
}

#[derive(Clone, Default)]
struct Program {
    command: OsString,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    cwd: Option<PathBuf>,
    inherits: bool,
    secrets: Secrets,
}

/// What a child is given of this process's environment: what programs need to find their way, and no key.
const BASIC_ENV: [&str; 27] = [
    "APPDATA",
    "COMSPEC",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOCALAPPDATA",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "SHELL",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

impl StdioClient {
    /// A server with this command, looked up in `PATH` unless it is a path.
    pub fn new(command: impl Into<OsString>) -> Self {
        Self {
            program: Program { command: command.into(), ..Program::default() },
            limits: Limits::default(),
            probe: PROBE,
            changes: Connection::changes(),
            connection: OnceLock::new(),
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn with_args<A: Into<OsString>>(self, args: impl IntoIterator<Item = A>) -> Self {
        self.set(|client| client.program.args.extend(args.into_iter().map(Into::into)))
    }

    /// Sets an environment variable. Its value is treated as a secret.
    #[must_use]
    pub fn with_env(self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let value = value.into();
        let secret = value.to_string_lossy().into_owned();
        let client = self.set(|client| _ = client.program.env.insert(name.into(), value));
        client.with_secret(&secret)
    }

    /// Gives the server the whole environment of this process.
    ///
    /// By default it gets only what programs need to find their way (`PATH`, `HOME`, the locale,
    /// temporary folders and the like), as with the protocol's TypeScript and Python SDKs: the keys
    /// that a host holds are no business of every server that it starts.
    #[must_use]
    pub fn with_inherited_env(self) -> Self {
        self.set(|client| client.program.inherits = true)
    }

    /// Sets the working directory; that of this process is the default.
    #[must_use]
    pub fn with_cwd(self, cwd: impl Into<PathBuf>) -> Self {
        self.set(|client| client.program.cwd = Some(cwd.into()))
    }

    /// Sets the limits; [`Limits::request`] and [`Limits::call`] are what counts here. A start may take twice that, and
    /// goes on when a request that waits for it has timed out.
    #[must_use]
    pub fn with_limits(self, limits: &Limits) -> Self {
        self.set(|client| client.limits = *limits)
    }

    /// Sets how long the server may take to answer `server/discover` before it counts as one of the
    /// `initialize` era: 10 seconds, since some need that long to start; rmcp waits no longer. At
    /// most a third of [`Limits::request`], so that time is left for the handshake. A restarted
    /// server of that era is not asked again. Zero takes the server for one of that era.
    #[must_use]
    pub fn with_probe(self, probe: Duration) -> Self {
        self.set(|client| client.probe = probe)
    }

    /// Names a value that must not appear in errors and logs, such as a token among the arguments.
    #[must_use]
    pub fn with_secret(self, value: &str) -> Self {
        self.set(|client| client.program.secrets.add(value))
    }

    fn set(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self.connection = OnceLock::new();
        self
    }

    fn connection(&self) -> &Connection {
        self.connection.get_or_init(|| {
            let secrets = self.program.secrets.clone();
            Connection::new(self.program.clone(), &self.limits, self.probe, secrets, self.changes.clone())
        })
    }
}

client_over_connection!(StdioClient);

impl fmt::Debug for StdioClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.program.fmt_as("StdioClient", f)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_as("Program", f)
    }
}

impl Connect for Program {
    fn connect<'a>(&'a self, start: &'a Start) -> BoxFuture<'a, Result<Link, ClientError>> {
        Box::pin(async move {
            let mut child = self.spawn()?;
            let (Some(stdin), Some(stdout), Some(stderr)) =
                (child.stdin.take(), child.stdout.take(), child.stderr.take())
            else {
                return Err(ClientError::unreachable("the process has no standard streams"));
            };
            let notes = TapNotes::new(self.secrets.clone());
            let tap = Tap::new(stdout, stdin, start.probe, notes.clone());
            let process = Process::watch(child, stderr, self.secrets.clone());
            start.handshake(tap, Some(notes), Box::new(process)).await
        })
    }
}

impl Program {
    /// Without what may be a secret: values of variables, and arguments.
    fn fmt_as(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct(name)
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .finish_non_exhaustive()
    }

    fn spawn(&self) -> Result<Child, ClientError> {
        let mut command = Command::new(&self.command);
        if !self.inherits {
            command.env_clear();
            command.envs(BASIC_ENV.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        }
        command.args(&self.args).envs(&self.env).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        command.spawn().map_err(|error| ClientError::unreachable(self.why_not_started(&error)))
    }

    fn why_not_started(&self, error: &std::io::Error) -> String {
        let command = excerpt(&self.command.to_string_lossy());
        let missing_cwd = self.cwd.as_ref().filter(|cwd| !cwd.is_dir());
        match (error.kind(), missing_cwd) {
            (_, Some(cwd)) => format!(
                "cannot start `{command}`: its working directory `{}` does not exist",
                excerpt(&cwd.to_string_lossy())
            ),
            (ErrorKind::NotFound, None) if OsStr::new("") == self.command => {
                "cannot start the server: its command is empty".into()
            }
            (ErrorKind::NotFound, None) => format!(
                "cannot start `{command}`: there is no such command; check that it is installed, and that it is on \
                 the PATH of this process or given by its full path"
            ),
            (ErrorKind::PermissionDenied, None) => {
                format!("cannot start `{command}`: permission denied; check that it is executable")
            }
            (_, None) => format!("cannot start `{command}`: {error}"),
        }
    }
}
