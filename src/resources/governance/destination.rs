use super::class::DataClass;

/// Where a request goes: to which provider, on behalf of which tenant. Default: not known.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Destination {
    /// The provider, by the name that [`Provider::name`](crate::render::Provider::name) gives.
    pub provider: Option<String>,
    /// The tenant, by the host's own name.
    pub tenant: Option<String>,
}

impl Destination {
    /// A destination of which nothing is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the provider.
    #[must_use]
    pub fn with_provider(mut self, provider: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self
    }

    /// Sets the tenant.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }
}

/// Why a resource may not go somewhere.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// A rule denies it.
    #[error("denied by the host")]
    Denied,
    /// A class of its data may not go to the provider.
    #[error("data class `{class}` may not go to {}", name("provider", provider.as_deref()))]
    Provider {
        /// The class.
        class: String,
        /// The provider; `None` if the destination names none.
        provider: Option<String>,
    },
    /// A class of its data may not be shown to the tenant.
    #[error("data class `{class}` may not go to {}", name("tenant", tenant.as_deref()))]
    Tenant {
        /// The class.
        class: String,
        /// The tenant; `None` if the destination names none.
        tenant: Option<String>,
    },
}

impl Refusal {
    pub(super) fn provider(class: &DataClass, provider: Option<&str>) -> Self {
        Self::Provider { class: class.name().to_owned(), provider: provider.map(str::to_owned) }
    }

    pub(super) fn tenant(class: &DataClass, tenant: Option<&str>) -> Self {
        Self::Tenant { class: class.name().to_owned(), tenant: tenant.map(str::to_owned) }
    }
}

fn name(what: &str, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{what} `{name}`"),
        None => format!("a {what} that is not named"),
    }
}
