use std::io::{self, Write};

use proem::{
    Host,
    catalog::Catalog,
    id::{ResourceId, TemplateId},
    picker::{Picker, PickerOptions, Preferences},
    protocol::{CompletionRequest, CompletionTarget},
    resources::ResourceOptions,
    templates::{UriTemplate, Variables},
};

use crate::{output::Failure, picker};

/// How many suggestions a person is shown for a variable.
const SHOWN: usize = 8;

/// Lets a person pick resources in the terminal, and asks for the variables of picked templates.
/// Without a choice, `None`.
pub(crate) async fn choose(
    host: &Host,
    catalog: &Catalog,
    query: &str,
    options: &ResourceOptions,
) -> Result<Option<Vec<ResourceId>>, Failure> {
    let shown = PickerOptions::new().with_budget(options.budget);
    let mut model = Picker::new(catalog, shown, Preferences::new());
    model.set_query(query);
    if !picker::pick(&mut model, "Attach to your question", &mut |_| {})? {
        return Ok(None);
    }
    let mut picks = model.picks();
    for template in model.templates() {
        picks.push(fill(host, &template).await?);
    }
    Ok(Some(picks))
}

/// Asks for each variable of a template, with what its server suggests.
async fn fill(host: &Host, id: &TemplateId) -> Result<ResourceId, Failure> {
    let template = UriTemplate::parse(&id.uri_template)?;
    let completer = host.completer();
    let target = CompletionTarget::template(&*id.uri_template);
    let mut variables = Variables::new();
    let mut request = CompletionRequest::new(target, "");
    eprintln!("{id}");
    for name in template.variables() {
        request.argument = name.to_owned();
        // Suggestions only: a server that fails here may still know what is typed.
        let suggested = completer.complete(&id.server, request.clone()).await.ok().flatten().unwrap_or_default();
        let some: Vec<&str> = suggested.values.iter().take(SHOWN).map(String::as_str).collect();
        let more = if suggested.has_more || suggested.values.len() > SHOWN { ", …" } else { "" };
        let hint = if some.is_empty() { String::new() } else { format!(" ({}{more})", some.join(", ")) };
        eprint!("  {name}{hint}: ");
        io::stderr().flush()?;
        let mut line = String::new();
        io::stdin().read_line(&mut line)?;
        let value = line.trim();
        if !value.is_empty() {
            request.known.insert(name.to_owned(), value.to_owned());
            variables = variables.with(name, value);
        }
    }
    Ok(ResourceId::new(id.server.clone(), template.expand(&variables)?))
}
