use std::{cell::LazyCell, collections::BTreeMap, sync::Arc};

use super::{
    class::DataClass,
    decision::Decision,
    rule::{CheckedRule, ResourceRule},
    spelling::Spellings,
};
use crate::{Error, Result, error::excerpt, id::ResourceId};

/// The host's rules about resources. Without rules, the default, everything is permitted.
///
/// A [`ResourceRule`] says about resources of a server, URI or MIME type whose they are, of which
/// [`DataClass`] their data is, who may see them, how large they may be and how long they may be
/// reused; or denies them. [`decide`](Self::decide) makes one [`Decision`] of all rules that match:
///
/// | | of several rules |
/// |---|---|
/// | deny | one is enough |
/// | audience | who is in all of them |
/// | most tokens, most bytes | the least |
/// | data classes | all |
/// | cache policy | the shortest: never, then the shortest time, then as the server says |
/// | owner | that of the last one |
///
/// So more rules never permit more, and apart from the owner their order does not matter.
///
/// These are decisions; a server's annotations stay hints. An audience of a rule replaces the
/// server's; where no rule names one, the hint decides.
///
/// # How a URI is compared
/// In a pattern `*` stands for any run of characters, and all else for itself. A server may spell a
/// URI as it likes, so a rule **restricts** what its pattern matches in any reading of the URI:
/// - as it is given, the scheme in small letters;
/// - percent-encoding undone never, once, or until nothing is left of it, before and after query
///   and fragment are parted from the path;
/// - `.` and `..` resolved, the authority standing fast or being the first segment; `\` as `/`,
///   several slashes as one, none at the end; control characters left out, the rest in NFC; scheme
///   and authority in small letters; no authority, an empty one and `file`'s `localhost` as one;
/// - without fragment, without query, without user and port.
///
/// What would **loosen** something, an audience in place of the server's or a time in place of the
/// server's, needs a match in all readings that leave nothing out: in doubt the server's audience
/// holds besides the rule's, and nothing is reused. Patterns are read in the same way, and must not
/// hold `.` or `..` as a segment. A URI above 8 KiB is restricted by every rule about URIs.
///
/// Not seen are names that only the server knows to be equal: letter case of paths, links, other
/// URIs of the same data. A MIME type is the server's own word, and one that says none is met by
/// `*` alone, so a rule by MIME type keeps nothing from a server that lies.
///
/// ```
/// use proem::{
///     id::{ResourceId, ServerId},
///     resources::{DataClass, Destination, Governance, ResourceRule},
/// };
///
/// let governance = Governance::new()
///     .with_class(DataClass::new("personal").only_providers(["bedrock"]).forbid_tenant("trial"))?
///     .with_rule(ResourceRule::new().with_server("crm").with_class("personal").with_owner("sales"))?
///     .with_rule(ResourceRule::new().with_uri("crm://salaries/*").deny())?;
///
/// let ada = ResourceId::new(ServerId::new("crm")?, "crm://people/ada");
/// let decision = governance.decide(&ada, None);
/// assert_eq!(decision.owner.as_deref(), Some("sales"));
/// assert!(decision.permits(&Destination::new().with_provider("bedrock").with_tenant("acme")).is_ok());
/// let refusal = decision.permits(&Destination::new().with_provider("openai-chat").with_tenant("acme")).unwrap_err();
/// assert_eq!(refusal.to_string(), "data class `personal` may not go to provider `openai-chat`");
///
/// let hidden = ResourceId::new(ServerId::new("crm")?, "CRM://people/..%2Fsalaries/ada");
/// assert!(governance.decide(&hidden, None).denied);
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Governance {
    classes: BTreeMap<Arc<str>, Arc<DataClass>>,
    rules: Vec<CheckedRule>,
}

impl Governance {
    /// The most rules: each is compared with every resource.
    pub const MAX_RULES: usize = 1_024;

    /// The most data classes: more than anybody tells apart.
    pub const MAX_CLASSES: usize = 256;

    /// No rules: everything is permitted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a data class, which rules after it can name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it has no usable name or another one has it: a second definition could
    /// loosen the first.
    pub fn with_class(mut self, class: DataClass) -> Result<Self> {
        let place = format!("`classes[{}]` of governance", self.classes.len());
        self.add_class(class).map_err(|reason| Error::invalid(place, reason))?;
        Ok(self)
    }

    /// Adds a rule.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it names a class that is not known, has a pattern that can match
    /// nothing, or decides nothing.
    pub fn with_rule(mut self, rule: ResourceRule) -> Result<Self> {
        let place = format!("`rules[{}]` of governance", self.rules.len());
        self.add_rule(rule).map_err(|reason| Error::invalid(place, reason))?;
        Ok(self)
    }

    /// Whether there is no rule.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// What holds for a resource. `mime_type` is what is known of it: as listed, and after reading
    /// as read; parameters and letter case do not count.
    pub fn decide(&self, id: &ResourceId, mime_type: Option<&str>) -> Decision {
        let mut decision = Decision::default();
        if self.rules.is_empty() {
            return decision;
        }
        let mime_type = mime_type.map(essence).filter(|essence| !essence.is_empty());
        let spellings = LazyCell::new(|| Spellings::of(&id.uri));
        for rule in self.rules.iter().filter(|rule| rule.is_about(id.server.as_str(), mime_type.as_deref())) {
            if let Some(certain) = rule.matches(|| &spellings) {
                let classes = rule.rule().classes.iter().filter_map(|class| self.classes.get(class.as_str()));
                decision.restrict(rule.rule(), classes, certain);
            }
        }
        decision
    }

    pub(super) fn add_class(&mut self, class: DataClass) -> Result<(), String> {
        class.check()?;
        if self.classes.len() == Self::MAX_CLASSES {
            return Err(format!("it is one data class too many: at most {} are taken", Self::MAX_CLASSES));
        }
        if self.classes.contains_key(class.name()) {
            return Err(format!("there is another data class `{}`", class.name()));
        }
        self.classes.insert(class.name().into(), Arc::new(class));
        Ok(())
    }

    pub(super) fn add_rule(&mut self, rule: ResourceRule) -> Result<(), String> {
        if self.rules.len() == Self::MAX_RULES {
            return Err(format!("it is one rule too many: at most {} are taken", Self::MAX_RULES));
        }
        if let Some(class) = rule.classes.iter().find(|class| !self.classes.contains_key(class.as_str())) {
            return Err(format!("there is no data class `{}`", excerpt(class)));
        }
        self.rules.push(CheckedRule::new(rule)?);
        Ok(())
    }
}

/// A MIME type without its parameters, in small letters.
pub(super) fn essence(mime_type: &str) -> String {
    mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}
