use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use super::{
    argument::{check_arguments, invalid},
    command::{description, label},
    invocation::Invocation,
    shown::shown,
};
use crate::{
    Result,
    catalog::PromptEntry,
    protocol::{CompletionRequest, CompletionTarget, PromptArgument},
};

/// A prompt's arguments as a person fills them in, one field for each, in the prompt's order.
///
/// ```
/// use proem::{catalog::Catalog, id::ServerId, prompts::Commands, protocol::Prompt};
///
/// let prompt = Prompt::new("deploy", "").with_argument("environment", true).with_argument("service", true);
/// let catalog = Catalog::builder().prompt(ServerId::new("ops")?, prompt).build();
/// let mut form = Commands::new(&catalog).find("deploy")?.form();
///
/// form.fill("environment", "staging")?;
/// assert_eq!(form.missing().map(|field| &*field.label).collect::<Vec<_>>(), ["service"]);
/// let request = form.completion_request("service", "w")?; // for the server, or a debounced completer
/// assert_eq!((&*request.value, &*request.known["environment"]), ("w", "staging"));
/// form.fill("service", "web")?;
/// assert_eq!(form.submit()?.arguments()["service"], "web");
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    entry: Arc<PromptEntry>,
    fields: Vec<Field>,
}

/// One argument of a prompt. Its value is not shown by `Debug`.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Field {
    /// The argument's name, as the server knows it.
    pub name: String,
    /// What a person should read: the title, or else the name; [harmless](super::shown).
    pub label: String,
    /// What its server says about it, [harmless](super::shown).
    pub description: Option<String>,
    /// The prompt cannot be got without it.
    pub required: bool,
    /// What was filled in; empty text counts as an answer only where none is required.
    pub value: Option<String>,
}

impl Form {
    /// The empty form of a prompt. Of arguments with one name, which a server should not give, the
    /// first stands.
    pub fn new(entry: &Arc<PromptEntry>) -> Self {
        let mut fields: Vec<Field> = Vec::with_capacity(entry.prompt.arguments.len());
        let mut known = BTreeSet::new();
        for argument in &entry.prompt.arguments {
            if known.insert(&argument.name) {
                fields.push(Field::new(argument));
            }
        }
        Self { entry: Arc::clone(entry), fields }
    }

    /// Fills in what an invocation of the same prompt gives already, such as the half of a typed
    /// line. What the prompt does not know stays out.
    pub fn with_invocation(mut self, invocation: &Invocation) -> Self {
        for field in &mut self.fields {
            field.value = invocation.arguments().get(&field.name).cloned().or(field.value.take());
        }
        self
    }

    /// The prompt that is filled in.
    pub fn entry(&self) -> &Arc<PromptEntry> {
        &self.entry
    }

    /// The fields in the prompt's order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The required fields that are still empty, in order.
    pub fn missing(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|field| field.required && field.value.as_deref().is_none_or(str::is_empty))
    }

    /// Fills in a field, or replaces what it holds.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if the prompt has no such argument.
    pub fn fill(&mut self, name: &str, value: impl Into<String>) -> Result<()> {
        self.set(name, Some(value.into()))
    }

    /// Empties a field.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if the prompt has no such argument.
    pub fn clear(&mut self, name: &str) -> Result<()> {
        self.set(name, None)
    }

    /// What to ask the server for, to complete an argument of which `typed` was typed so far. The
    /// values of the fields before it go along, as the protocol has it: what is suggested for a
    /// service depends on the environment.
    ///
    /// # Errors
    /// [`Error::Invalid`](crate::Error::Invalid) if the prompt has no such argument.
    pub fn completion_request(&self, name: &str, typed: impl Into<String>) -> Result<CompletionRequest> {
        let at = self.position(name)?;
        let target = CompletionTarget::prompt(&*self.entry.id.name);
        let mut request = CompletionRequest::new(target, name).with_value(typed);
        request.known = values(self.fields.iter().take(at));
        Ok(request)
    }

    /// The person is done: what they filled in, as an invocation.
    ///
    /// # Errors
    /// As [`check_arguments`]; the form stays, to be filled in further.
    pub fn submit(&self) -> Result<Invocation> {
        let arguments = values(self.fields.iter());
        check_arguments(&self.entry.prompt, &arguments)?;
        Ok(Invocation::by_user(self.entry.id.clone()).with_arguments(arguments))
    }

    fn set(&mut self, name: &str, value: Option<String>) -> Result<()> {
        let at = self.position(name)?;
        if let Some(field) = self.fields.get_mut(at) {
            field.value = value;
        }
        Ok(())
    }

    fn position(&self, name: &str) -> Result<usize> {
        let position = self.fields.iter().position(|field| field.name == name);
        let unknown = || invalid(&self.entry.prompt, format!("`{}` is not one of its arguments", shown(name, 40)));
        position.ok_or_else(unknown)
    }
}

fn values<'a>(fields: impl Iterator<Item = &'a Field>) -> BTreeMap<String, String> {
    fields.filter_map(|field| Some((field.name.clone(), field.value.clone()?))).collect()
}

impl Field {
    fn new(argument: &PromptArgument) -> Self {
        Self {
            name: argument.name.clone(),
            label: label(argument.title.as_deref(), &argument.name),
            description: description(argument.description.as_deref()),
            required: argument.required,
            value: None,
        }
    }
}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Field")
            .field("name", &self.name)
            .field("required", &self.required)
            .field("filled", &self.value.is_some())
            .finish_non_exhaustive()
    }
}
