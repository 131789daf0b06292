use std::collections::BTreeMap;

use crate::{Error, Result, error::excerpt, protocol::Prompt};

/// The most bytes of one argument's value: a long document, and more than a person types.
pub const MAX_VALUE_BYTES: usize = 64 << 10;

/// Checks that all required arguments are there and not empty, that no other is, and that no value
/// is larger than [`MAX_VALUE_BYTES`].
///
/// ```
/// use proem::{prompts::check_arguments, protocol::Prompt};
///
/// let prompt = Prompt::new("draft_reply", "Draft a reply").with_argument("ticket", true);
/// let error = check_arguments(&prompt, &Default::default()).unwrap_err();
/// assert_eq!(error.to_string(), "invalid arguments of prompt draft_reply: `ticket` is required");
/// ```
///
/// # Errors
/// [`Error::Invalid`] that names the prompt and each argument that is missing, not known or too large.
pub fn check_arguments(prompt: &Prompt, arguments: &BTreeMap<String, String>) -> Result<()> {
    let missing = prompt
        .arguments
        .iter()
        .filter(|argument| argument.required && arguments.get(&argument.name).is_none_or(String::is_empty))
        .map(|argument| format!("`{}` is required", excerpt(&argument.name)));
    let unknown = arguments
        .keys()
        .filter(|name| prompt.arguments.iter().all(|argument| argument.name != **name))
        .map(|name| format!("`{}` is not one of its arguments", excerpt(name)));
    let large = arguments
        .iter()
        .filter(|(_, value)| value.len() > MAX_VALUE_BYTES)
        .map(|(name, value)| format!("`{}` has {} bytes, more than {MAX_VALUE_BYTES}", excerpt(name), value.len()));
    let faults: Vec<String> = missing.chain(unknown).chain(large).collect();
    if faults.is_empty() { Ok(()) } else { Err(invalid(prompt, faults.join(", "))) }
}

/// An error about the arguments of a prompt.
pub(super) fn invalid(prompt: &Prompt, reason: impl Into<String>) -> Error {
    Error::invalid(format!("arguments of prompt {}", excerpt(&prompt.name)), reason)
}
