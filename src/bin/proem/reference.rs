use proem::{
    catalog::Catalog,
    id::{ResourceId, ServerId},
    templates,
};

use crate::output::Failure;

/// The resource that a person means by `server:uri`, or by its URI alone.
///
/// A URI that no list has is taken where its server is named, or where one server has a template for it.
pub(crate) fn resource(catalog: &Catalog, text: &str) -> Result<ResourceId, Failure> {
    let listed: Vec<&ResourceId> =
        catalog.resources().iter().map(|entry| &entry.id).filter(|id| &*id.uri == text).collect();
    match listed.as_slice() {
        [] => {}
        [one] => return Ok((*one).clone()),
        several => return Err(ambiguous(text, several.iter().map(|id| &id.server))),
    }
    // Ids may hold colons: the longest that fits is meant. What follows is a URI of its own, or else the
    // server's name was a scheme.
    let named = catalog.servers().iter().filter_map(|server| {
        let uri = text.strip_prefix(server.id.as_str())?.strip_prefix(':')?;
        uri.contains(':').then_some((&server.id, uri))
    });
    if let Some((server, uri)) = named.max_by_key(|(server, _)| server.as_str().len()) {
        return Ok(ResourceId::new(server.clone(), uri));
    }
    let has = |server: &&ServerId| !templates::matching(catalog, server, text).is_empty();
    let servers: Vec<&ServerId> = catalog.servers().iter().map(|server| &server.id).filter(has).collect();
    match servers.as_slice() {
        [] => Err(format!("no server lists `{text}`, and none has a template for it: write SERVER:URI").into()),
        [one] => Ok(ResourceId::new((*one).clone(), text)),
        several => Err(ambiguous(text, several.iter().copied())),
    }
}

fn ambiguous<'a>(uri: &str, servers: impl Iterator<Item = &'a ServerId>) -> Failure {
    let ways: Vec<String> = servers.take(8).map(|server| format!("{server}:{uri}")).collect();
    format!("several servers have `{uri}`: write {}", ways.join(" or ")).into()
}
