use std::sync::Arc;

use super::{
    label::{self, MAX_DESCRIPTION, MAX_LABEL, MAX_URI, shown},
    options::PickerOptions,
    pick::Pick,
};
use crate::{
    catalog::{ResourceEntry, TemplateEntry},
    id::{ResourceId, ServerId},
    protocol::{Annotations, Resource},
    resources::estimated_tokens,
    templates::UriTemplate,
};

/// One item as a picker shows it. Its texts come from a server: they are on one line, bounded and
/// without control characters, and still nobody's but the server's.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Item {
    /// What it is: the value behind the label, with its server, since two servers may have the
    /// same URI and the same label.
    pub pick: Pick,
    /// What a person reads: the title, else the name, else the URI.
    pub label: String,
    /// Its name, where neither the label nor the URI holds it.
    pub name: Option<String>,
    /// Its URI or template, shortened; [`pick`](Self::pick) has it whole.
    pub uri: String,
    /// What it is about.
    pub description: Option<String>,
    /// Its MIME type as the server says.
    pub mime_type: Option<String>,
    /// Its size in bytes as the server says.
    pub size: Option<u64>,
    /// What it is [estimated](estimated_tokens) to cost; `None` for a template.
    pub estimated_tokens: Option<usize>,
    /// 0 (optional) to 1 (required); `None` where the server does not say.
    pub priority: Option<f64>,
    /// When it was last changed, as sent.
    pub last_modified: Option<String>,
    /// Whether the model may see it. Where not, it can be chosen, and is not attached.
    pub for_model: bool,
    /// It comes from a tool's answer and is in no list.
    pub linked: bool,
    /// What is to be filled in a template, in its order, each once. Empty for a resource.
    pub variables: Vec<String>,
}

impl Item {
    /// All that is known of something that no list has.
    pub(super) fn unknown(pick: &Pick) -> Self {
        let uri = shown(pick.uri(), MAX_URI);
        Self {
            pick: pick.clone(),
            label: uri.clone(),
            name: None,
            uri,
            description: None,
            mime_type: None,
            size: None,
            estimated_tokens: None,
            priority: None,
            last_modified: None,
            for_model: true,
            linked: false,
            variables: Vec::new(),
        }
    }
}

/// What an item is made of.
#[derive(Clone, Debug)]
pub(super) enum Of {
    Listed(Arc<ResourceEntry>),
    Linked(Arc<(ResourceId, Resource)>),
    Template(Arc<TemplateEntry>),
}

impl Of {
    pub(super) fn pick(&self) -> Pick {
        match self {
            Self::Listed(entry) => entry.id.clone().into(),
            Self::Linked(link) => link.0.clone().into(),
            Self::Template(entry) => entry.id.clone().into(),
        }
    }

    pub(super) fn server(&self) -> &ServerId {
        match self {
            Self::Listed(entry) => &entry.id.server,
            Self::Linked(link) => &link.0.server,
            Self::Template(entry) => &entry.id.server,
        }
    }

    pub(super) fn uri(&self) -> &str {
        match self {
            Self::Listed(entry) => &entry.id.uri,
            Self::Linked(link) => &link.0.uri,
            Self::Template(entry) => &entry.id.uri_template,
        }
    }

    pub(super) fn is_template(&self) -> bool {
        matches!(self, Self::Template(_))
    }

    pub(super) fn label(&self) -> String {
        let text = match self.resource() {
            Ok(resource) => label::label(resource.title.as_deref(), &resource.name, &resource.uri),
            Err(entry) => label::label(entry.template.title.as_deref(), &entry.template.name, self.uri()),
        };
        let label = shown(text, MAX_LABEL);
        // Nothing of it can be seen.
        if label.is_empty() { shown(self.uri(), MAX_LABEL) } else { label }
    }

    /// The name, where neither label nor URI says it.
    pub(super) fn distinct_name(&self) -> Option<String> {
        let (title, name) = match self.resource() {
            Ok(resource) => (&resource.title, &resource.name),
            Err(entry) => (&entry.template.title, &entry.template.name),
        };
        let title = title.as_deref().filter(|title| !title.trim().is_empty())?;
        (title != name && !self.uri().contains(name.as_str()))
            .then(|| shown(name, MAX_LABEL))
            .filter(|name| !name.is_empty())
    }

    pub(super) fn description(&self) -> Option<String> {
        let text = match self.resource() {
            Ok(resource) => &resource.description,
            Err(entry) => &entry.template.description,
        };
        text.as_deref().map(|text| shown(text, MAX_DESCRIPTION)).filter(|text| !text.is_empty())
    }

    /// A server that says nothing means neither "required" nor "optional": half, as in
    /// [`rank`](crate::resources::rank).
    pub(super) fn priority_in_tenths(&self) -> u8 {
        let priority = self.annotations().priority.filter(|priority| (0.0..=1.0).contains(priority));
        (priority.unwrap_or(0.5) * 10.0).round() as u8
    }

    pub(super) fn is_shown(&self, options: &PickerOptions) -> bool {
        let scheme = self.uri().split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
        let hidden = scheme.is_some_and(|scheme| options.hidden_schemes.contains(&scheme));
        !hidden && (options.user_only || self.annotations().for_model())
    }

    pub(super) fn item(&self) -> Item {
        let (mime_type, size, tokens) = match self.resource() {
            Ok(resource) => (&resource.mime_type, resource.size, Some(estimated_tokens(resource))),
            Err(entry) => (&entry.template.mime_type, None, None),
        };
        let annotations = self.annotations();
        Item {
            pick: self.pick(),
            label: self.label(),
            name: self.distinct_name(),
            uri: shown(self.uri(), MAX_URI),
            description: self.description(),
            mime_type: mime_type.as_deref().map(|text| shown(text, MAX_LABEL)),
            size,
            estimated_tokens: tokens,
            priority: annotations.priority,
            last_modified: annotations.last_modified.as_deref().map(|text| shown(text, MAX_LABEL)),
            for_model: annotations.for_model(),
            linked: matches!(self, Self::Linked(_)),
            variables: if self.is_template() { variables(self.uri()) } else { Vec::new() },
        }
    }

    fn annotations(&self) -> &Annotations {
        match self.resource() {
            Ok(resource) => &resource.annotations,
            Err(entry) => &entry.template.annotations,
        }
    }

    /// The resource, or the template that it is instead.
    fn resource(&self) -> Result<&Resource, &TemplateEntry> {
        match self {
            Self::Listed(entry) => Ok(&entry.resource),
            Self::Linked(link) => Ok(&link.1),
            Self::Template(entry) => Err(entry),
        }
    }
}

/// The names of a template's variables, as they may be shown; none of one that cannot be read.
fn variables(template: &str) -> Vec<String> {
    let template = UriTemplate::parse(template).ok();
    template.iter().flat_map(UriTemplate::variables).map(|name| shown(name, MAX_LABEL)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_named_once_in_their_order() {
        assert_eq!(
            variables("repo://{owner}/{name}{/path*}{?ref,owner,lines:3}"),
            ["owner", "name", "path", "ref", "lines"]
        );
        for template in ["plain://text", "open://{", "empty://{}", "close://}{"] {
            assert_eq!(variables(template), [""; 0], "{template}");
        }
    }
}
