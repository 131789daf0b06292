use super::rule::{MAX_NAMES, check_name};
use crate::wildcard::Wildcard;

/// A classification of data, such as `personal`, and where such data may go.
///
/// Providers go by the names that [`Provider::name`](crate::render::Provider::name) gives, tenants
/// by the host's own; `*` stands for any run of characters, as in `openai*`. Default: everywhere.
///
/// Spelling never permits: what is forbidden is compared without regard to letter case (ASCII),
/// what alone is allowed as it is written.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DataClass {
    name: String,
    pub(super) providers: Places,
    pub(super) tenants: Places,
}

/// Where data of a class may go.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Places {
    forbidden: Vec<String>,
    /// Nowhere else; `None` where everywhere is allowed that is not forbidden.
    only: Option<Vec<String>>,
}

impl DataClass {
    /// A class whose data may go everywhere.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), providers: Places::default(), tenants: Places::default() }
    }

    /// Adds a provider that such data may not go to.
    #[must_use]
    pub fn forbid_provider(mut self, provider: impl Into<String>) -> Self {
        self.providers.forbidden.push(provider.into());
        self
    }

    /// Adds a tenant that such data may not be shown to.
    #[must_use]
    pub fn forbid_tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenants.forbidden.push(tenant.into());
        self
    }

    /// Sets the only providers that such data may go to; none forbids all.
    #[must_use]
    pub fn only_providers(mut self, providers: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.providers.only = Some(providers.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the only tenants that such data may be shown to; none forbids all.
    #[must_use]
    pub fn only_tenants(mut self, tenants: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.tenants.only = Some(tenants.into_iter().map(Into::into).collect());
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What makes it useless, in words.
    pub(super) fn check(&self) -> Result<(), String> {
        check_name("the name of a data class", &self.name)?;
        self.providers.check("a provider").and_then(|()| self.tenants.check("a tenant"))
    }
}

impl Places {
    /// A place that is not named is permitted only if nothing is restricted.
    pub(super) fn permit(&self, place: Option<&str>) -> bool {
        let Some(place) = place else { return self.forbidden.is_empty() && self.only.is_none() };
        let folded = place.to_ascii_lowercase();
        let forbidden = self.forbidden.iter().any(|name| Wildcard::new(&name.to_ascii_lowercase()).matches(&folded));
        let among = |only: &Vec<String>| only.iter().any(|name| Wildcard::new(name).matches(place));
        !forbidden && self.only.as_ref().is_none_or(among)
    }

    fn check(&self, what: &str) -> Result<(), String> {
        let names = self.forbidden.len() + self.only.as_ref().map_or(0, Vec::len);
        if names > MAX_NAMES {
            return Err(format!("{names} names are too many: at most {MAX_NAMES} are taken"));
        }
        let names = self.forbidden.iter().chain(self.only.iter().flatten());
        names.into_iter().try_for_each(|name| check_name(what, name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letter_case_forbids_and_never_permits() {
        let forbidden = DataClass::new("a").forbid_provider("OpenAI*").providers;
        let only = DataClass::new("a").only_providers(["Bedrock", "vertex-*"]).providers;
        let open = DataClass::new("a").providers;
        let none = DataClass::new("a").only_providers(Vec::<String>::new()).providers;
        for (places, place, expected) in [
            (&forbidden, Some("openai-chat"), false),
            (&forbidden, Some("anthropic"), true),
            (&forbidden, None, false),
            (&only, Some("Bedrock"), true),
            (&only, Some("vertex-eu"), true),
            (&only, Some("bedrock"), false),
            (&only, None, false),
            (&open, None, true),
            (&none, Some("anthropic"), false),
        ] {
            assert_eq!(places.permit(place), expected, "{places:?} {place:?}");
        }
    }
}
