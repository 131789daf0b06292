use std::{cmp::Ordering, collections::BTreeSet, sync::Arc, time::Duration};

use super::{
    class::DataClass,
    destination::{Destination, Refusal},
    rule::ResourceRule,
};
use crate::{
    catalog::CachePolicy,
    protocol::{Annotations, Role},
};

/// What holds for one resource, by all rules that match it. Default: everything is permitted.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Decision {
    /// Whose it is, by the last rule that says so.
    pub owner: Option<Arc<str>>,
    /// The classes of its data, by name.
    pub classes: Vec<Arc<DataClass>>,
    /// Who may see it, by the rules; `None` if none says so.
    pub audience: Option<BTreeSet<Role>>,
    /// The most tokens that it may have; `None` if no rule says so.
    pub max_tokens: Option<usize>,
    /// The most bytes that it may have; `None` if no rule says so.
    pub max_bytes: Option<usize>,
    /// How long what was read of it may be reused.
    pub cache: CachePolicy,
    /// It goes nowhere.
    pub denied: bool,
    /// The audience stands in place of the server's, not beside it.
    replaces_hint: bool,
}

impl Decision {
    /// Whether it may go there.
    ///
    /// # Errors
    /// Why not. A class that restricts providers or tenants refuses a destination that names none.
    pub fn permits(&self, destination: &Destination) -> Result<(), Refusal> {
        self.permits_tenant(destination.tenant.as_deref())?;
        self.permits_provider(destination.provider.as_deref())
    }

    /// Whether it may go to a provider, whatever the tenant: for when a request is rendered. `None`
    /// is one that is not known.
    ///
    /// # Errors
    /// Why not.
    pub fn permits_provider<'a>(&self, provider: impl Into<Option<&'a str>>) -> Result<(), Refusal> {
        let provider = provider.into();
        self.refuse(|class| !class.providers.permit(provider), |class| Refusal::provider(class, provider))
    }

    /// Whether it may be shown to a tenant, whatever the provider: for when a turn is made, before
    /// anybody knows where it goes. `None` is one that is not known.
    ///
    /// # Errors
    /// Why not.
    pub fn permits_tenant<'a>(&self, tenant: impl Into<Option<&'a str>>) -> Result<(), Refusal> {
        let tenant = tenant.into();
        self.refuse(|class| !class.tenants.permit(tenant), |class| Refusal::tenant(class, tenant))
    }

    /// Whether the model may see it: by the rules' audience, else by the server's hint.
    pub fn for_model(&self, hints: &Annotations) -> bool {
        let by_rules = self.audience.as_ref().is_none_or(|audience| audience.contains(&Role::Assistant));
        !self.denied && by_rules && (self.replaces_hint || hints.for_model())
    }

    fn refuse(&self, refused: impl Fn(&DataClass) -> bool, why: impl Fn(&DataClass) -> Refusal) -> Result<(), Refusal> {
        if self.denied {
            return Err(Refusal::Denied);
        }
        self.classes.iter().find(|class| refused(class)).map_or(Ok(()), |class| Err(why(class)))
    }

    /// Adds what a rule says. Where it is not `certain` that it is about this resource, it loosens nothing.
    pub(super) fn restrict<'a>(
        &mut self,
        rule: &ResourceRule,
        classes: impl Iterator<Item = &'a Arc<DataClass>>,
        certain: bool,
    ) {
        if let Some(owner) = &rule.owner {
            self.owner = Some(owner.as_str().into());
        }
        for class in classes {
            if let Err(at) = self.classes.binary_search_by(|other| other.name().cmp(class.name())) {
                self.classes.insert(at, Arc::clone(class));
            }
        }
        if let Some(audience) = &rule.audience {
            let both = |other: &BTreeSet<Role>| other & audience;
            self.audience = Some(self.audience.as_ref().map_or_else(|| audience.clone(), both));
            self.replaces_hint |= certain;
        }
        let least = |a: Option<usize>, b: Option<usize>| a.into_iter().chain(b).min();
        self.max_tokens = least(self.max_tokens, rule.max_tokens);
        self.max_bytes = least(self.max_bytes, rule.max_bytes);
        let cache = match rule.cache.unwrap_or_default() {
            // It could be longer than the server's.
            CachePolicy::For(_) if !certain => CachePolicy::Never,
            policy => policy,
        };
        if shorter(&cache, &self.cache).is_lt() {
            self.cache = cache;
        }
        self.denied |= rule.denied;
    }
}

/// A server's own time comes last: it is what holds where no rule says anything.
fn shorter(a: &CachePolicy, b: &CachePolicy) -> Ordering {
    let rank = |policy: &CachePolicy| match policy {
        CachePolicy::Never => (0, Duration::ZERO),
        CachePolicy::For(time) => (1, *time),
        CachePolicy::Server => (2, Duration::ZERO),
    };
    rank(a).cmp(&rank(b))
}
