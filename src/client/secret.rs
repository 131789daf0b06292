use std::fmt;

use crate::error::ClientError;

/// Values that must never be seen: of environment variables, headers and expanded `${…}`.
///
/// A server may print them back, on its stderr or in an error, so every text of a server that
/// enters a message of ours goes through [`Self::redact`].
#[derive(Clone, Default)]
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// A shorter value (`1`, `on`, `en`) is no secret, and would tear words apart.
    const MIN_CHARS: usize = 5;

    pub(super) fn add(&mut self, value: &str) {
        if value.chars().count() >= Self::MIN_CHARS && !self.0.iter().any(|known| known == value) {
            self.0.push(value.to_owned());
            // The longest first: one may hold another.
            self.0.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        }
    }

    pub(super) fn redact(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "[secret]"))
    }

    pub(super) fn redact_error(&self, error: ClientError) -> ClientError {
        match error {
            ClientError::Unreachable { reason, source: None } => ClientError::unreachable(self.redact(&reason)),
            ClientError::Rpc { code, message } => ClientError::Rpc { code, message: self.redact(&message) },
            ClientError::Malformed { reason } => ClientError::Malformed { reason: self.redact(&reason) },
            other => other,
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} secrets", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_cut_out_of_errors_and_debug() {
        let mut secrets = Secrets::default();
        for value in ["hunter22", "hunter22-and-more", "on"] {
            secrets.add(value);
        }
        assert_eq!(secrets.redact("on: hunter22-and-more, hunter22"), "on: [secret], [secret]");
        let error = secrets.redact_error(ClientError::rpc(-1, "bad key hunter22"));
        assert_eq!(error.to_string(), "the server answered error -1: bad key [secret]");
        assert_eq!(format!("{secrets:?}"), "2 secrets");
    }
}
