use std::collections::BTreeSet;

use crate::tokens::TokenBudget;

/// How a picker shows what there is.
///
/// ```
/// use proem::{TokenBudget, picker::PickerOptions};
///
/// let options = PickerOptions::new().with_cap(5).with_budget(TokenBudget::new(4_000));
/// assert!(options.grouped && options.hidden_schemes.contains("ui"));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PickerOptions {
    /// The most items of one server, and of the templates, before "N more". Default 8: a few
    /// groups then fit on a screen, and one server's hundreds do not flood it. At least 1.
    pub cap: usize,
    /// Whether each server has a group of its own. Default true; otherwise all resources are one
    /// list by score.
    pub grouped: bool,
    /// URI schemes that are not shown, in lower case. Default `ui`: MCP Apps keep the pages of
    /// their user interfaces under it, which are for hosts.
    pub hidden_schemes: BTreeSet<String>,
    /// Whether resources whose audience leaves out the assistant are shown, marked. Default true:
    /// a person may look at them, and [`picks`](super::Picker::picks) leaves them out.
    pub user_only: bool,
    /// What the chosen resources may cost together. Default none: the total is shown alone.
    pub budget: Option<TokenBudget>,
}

impl Default for PickerOptions {
    fn default() -> Self {
        Self { cap: 8, grouped: true, hidden_schemes: ["ui".to_owned()].into(), user_only: true, budget: None }
    }
}

impl PickerOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the most items of one group before "N more"; 0 counts as 1.
    #[must_use]
    pub fn with_cap(mut self, cap: usize) -> Self {
        self.cap = cap.max(1);
        self
    }

    /// Sets whether each server has a group of its own.
    #[must_use]
    pub fn with_grouped(mut self, grouped: bool) -> Self {
        self.grouped = grouped;
        self
    }

    /// Sets the URI schemes that are not shown.
    #[must_use]
    pub fn with_hidden_schemes<T: Into<String>>(mut self, schemes: impl IntoIterator<Item = T>) -> Self {
        self.hidden_schemes = schemes.into_iter().map(|scheme| scheme.into().to_ascii_lowercase()).collect();
        self
    }

    /// Sets whether resources for the user only are shown.
    #[must_use]
    pub fn with_user_only(mut self, user_only: bool) -> Self {
        self.user_only = user_only;
        self
    }

    /// Sets what the chosen resources may cost together.
    #[must_use]
    pub fn with_budget(mut self, budget: TokenBudget) -> Self {
        self.budget = Some(budget);
        self
    }
}
