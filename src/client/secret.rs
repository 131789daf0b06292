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
    const MARK: &str = "[secret]";

    pub(super) fn add(&mut self, value: &str) {
        // Line by line, since a key of several lines is printed so.
        for line in value.lines().map(str::trim) {
            if line.chars().count() >= Self::MIN_CHARS && !self.0.iter().any(|known| known == line) {
                self.0.push(line.to_owned());
            }
        }
        // The longest first: one may hold another.
        self.0.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
    }

    pub(super) fn redact(&self, text: &str) -> String {
        let text = self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), Self::MARK));
        match text.strip_suffix('…') {
            // The text was cut, perhaps within a secret.
            Some(start) => match self.0.iter().filter_map(|secret| overlap(start, secret)).max() {
                Some(len) => format!("{}{}…", start.get(..start.len() - len).unwrap_or_default(), Self::MARK),
                None => text,
            },
            None => text,
        }
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

/// How many bytes at the end of `text` are the beginning of `secret`; a few may be chance.
fn overlap(text: &str, secret: &str) -> Option<usize> {
    let ends = secret.char_indices().map(|(at, _)| at).skip(Secrets::MIN_CHARS - 1);
    ends.filter(|end| secret.get(..*end).is_some_and(|start| text.ends_with(start))).last()
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

    #[test]
    fn cut_and_many_lined_secrets_are_found() {
        let mut secrets = Secrets::default();
        secrets.add("-----BEGIN-----\nMIIEvQIBADANBg\n");
        assert_eq!(secrets.redact("a -----BEGIN----- MIIEvQIBADANBg"), "a [secret] [secret]");
        assert_eq!(secrets.redact("key MIIEvQIB…"), "key [secret]…");
        assert_eq!(secrets.redact("key MII…"), "key MII…");
        let long = ClientError::rpc(-1, &format!("{}MIIEvQIBADANBg", "x".repeat(190)));
        assert!(secrets.redact_error(long).to_string().ends_with("x[secret]…"));
    }
}
