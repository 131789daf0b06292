use super::{
    field::Field,
    schema::{SchemaText, WalkLimits, string_leaves},
};
use crate::{
    catalog::{ServerEntry, ToolEntry},
    error::beginning,
    json::Digest,
};

/// The text that stands for a tool, by field.
///
/// Server text is untrusted and its size is the server's choice, so each field holds at most
/// [`Self::MAX_FIELD_BYTES`]: what one tool costs to index is bounded whatever its description.
///
/// ```
/// use proem::{catalog::Catalog, id::ServerId, index::{Field, ToolDocument}, protocol::Tool};
/// use serde_json::json;
///
/// let merge = Tool::new("merge", "Merge a branch").with_input_schema(json!({
///     "type": "object",
///     "properties": {"strategy": {"type": "string", "enum": ["ours", "theirs"]}},
/// }));
/// let catalog = Catalog::builder().tool(ServerId::new("git")?, merge).build();
/// let document = ToolDocument::new(&catalog.tools()[0], catalog.servers().first(), &[]);
/// assert_eq!(document.text(Field::Description), "Merge a branch");
/// assert_eq!(document.text(Field::Parameters), "strategy");
/// assert_eq!(document.text(Field::ParameterDetails), "ours\ntheirs");
/// # Ok::<(), proem::Error>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ToolDocument([String; Field::ALL.len()]);

impl ToolDocument {
    /// The most bytes of one field: the beginning of a longer text. Real descriptions stay under
    /// 8 KiB, and the first lines say what a tool is for.
    pub const MAX_FIELD_BYTES: usize = 16 * 1024;

    /// The most values of one schema that are looked at, in the order of the walk: breadth first, keys sorted.
    pub const MAX_SCHEMA_VALUES: usize = 4_096;

    /// The deepest level of a schema that is looked at.
    pub const MAX_SCHEMA_DEPTH: usize = 32;

    /// The text of a tool, of its server, and of hints that the host has for it. Names that
    /// Proem gives (exposed names) play no part, so that renaming changes no document.
    pub fn new(entry: &ToolEntry, server: Option<&ServerEntry>, hints: &[String]) -> Self {
        let tool = &entry.tool;
        let mut document = Self::default();
        document.add(Field::Name, &entry.id.name);
        for title in [&tool.title, &tool.annotations.title].into_iter().flatten() {
            document.add(Field::Title, title);
        }
        document.add(Field::Description, tool.description.as_deref().unwrap_or_default());
        let limits = WalkLimits { values: Self::MAX_SCHEMA_VALUES, depth: Self::MAX_SCHEMA_DEPTH };
        limits.walk(&tool.input_schema.to_map(), |text| match text {
            SchemaText::Property(name) => document.add(Field::Parameters, name),
            SchemaText::Detail(text) => document.add(Field::ParameterDetails, text),
        });
        if let Some(schema) = &tool.output_schema {
            limits.walk(&schema.to_map(), |text| match text {
                SchemaText::Property(text) | SchemaText::Detail(text) => document.add(Field::Other, text),
            });
        }
        for (key, value) in &tool.extra {
            // Pictures and protocol metadata say nothing about what a tool does.
            if key != "icons" && key != "_meta" {
                string_leaves(limits, value, |text| document.add(Field::Other, text));
            }
        }
        document.add(Field::Server, entry.id.server.as_str());
        for text in server.into_iter().flat_map(server_texts) {
            document.add(Field::Instructions, text);
        }
        for hint in hints {
            document.add(Field::Hints, hint);
        }
        document
    }

    /// The text of a field; empty if the tool has none.
    pub fn text(&self, field: Field) -> &str {
        &self.0[field.position()]
    }

    /// Over all fields: equal digests mean equal documents.
    pub fn digest(&self) -> Digest {
        Digest::of_parts(&self.0)
    }

    /// Adds a line to a field, cut where the field is full.
    fn add(&mut self, field: Field, text: &str) {
        let held = &mut self.0[field.position()];
        let text = beginning(text, Self::MAX_FIELD_BYTES.saturating_sub(held.len() + 1));
        if text.is_empty() {
            return;
        }
        if !held.is_empty() {
            held.push('\n');
        }
        held.push_str(text);
    }
}

/// What a server says of itself, as far as it is part of its tools' text.
pub(super) fn server_texts(server: &ServerEntry) -> impl Iterator<Item = &str> {
    let implementation = |key: &str| server.info.implementation.as_ref().and_then(|value| value.get(key)?.as_str());
    [server.info.instructions.as_deref(), implementation("title"), implementation("description")].into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        catalog::Catalog,
        id::ServerId,
        protocol::{ServerInfo, Tool},
    };

    fn document(tool: serde_json::Value, info: ServerInfo, hints: &[String]) -> ToolDocument {
        let server = ServerId::new("git").unwrap();
        let tool = Tool::read(tool).unwrap().item;
        let catalog = Catalog::builder().server(server.clone(), info).tool(server, tool).build();
        ToolDocument::new(&catalog.tools()[0], catalog.servers().first(), hints)
    }

    #[test]
    fn every_part_has_its_field() {
        let info = ServerInfo {
            instructions: Some("Ask before a push.".into()),
            implementation: Some(json!({"name": "x", "title": "Git"})),
            ..ServerInfo::default()
        };
        let document = document(
            json!({
                "name": "merge",
                "title": "Merge",
                "description": "Joins histories",
                "inputSchema": {
                    "type": "object",
                    "description": "What to join",
                    "properties": {
                        "branch": {"type": "string", "description": "The other branch", "default": "main"},
                        "options": {"type": "object", "properties": {"squash": {"title": "One commit"}}},
                        "paths": {"type": "array", "items": {"anyOf": [{"const": "src"}, {"$ref": "#/$defs/glob"}]}},
                    },
                    "$defs": {"glob": {"description": "With stars"}},
                },
                "outputSchema": {"type": "object", "properties": {"conflicts": {"type": "array"}}},
                "annotations": {"title": "Merge it", "readOnlyHint": false},
                "category": ["version control"],
                "_meta": {"x": "hidden"},
                "icons": [{"src": "data:"}],
            }),
            info,
            &["bring main in".into()],
        );
        let shown: Vec<_> =
            Field::ALL.iter().map(|f| format!("{f}: {}", document.text(*f).replace('\n', " | "))).collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        name: merge
        title: Merge | Merge it
        description: Joins histories
        parameters: branch | options | paths | squash
        parameter_details: What to join | With stars | The other branch | One commit | src
        server: git
        instructions: Ask before a push. | Git
        hints: bring main in
        other: conflicts | version control
        ");
    }

    #[test]
    fn size_is_bounded() {
        let mut schema = json!({"description": "x"});
        for i in 0..60 {
            schema = json!({"properties": {format!("p{i}"): schema}});
        }
        let wide: serde_json::Map<_, _> = (0..20_000).map(|i| (format!("wide{i}"), json!({}))).collect();
        schema["properties"]["wide"] = json!({"properties": wide});
        let document = document(
            json!({"name": "a", "description": "é".repeat(1 << 20), "inputSchema": schema}),
            ServerInfo::default(),
            &[],
        );
        assert!(Field::ALL.iter().all(|field| document.text(*field).len() <= ToolDocument::MAX_FIELD_BYTES));
        assert!(document.text(Field::Description).len() > ToolDocument::MAX_FIELD_BYTES - 4);
        assert!(!document.text(Field::Parameters).contains("p0\n"));
    }

    #[test]
    fn the_digest_covers_every_field() {
        let tool = json!({"name": "a", "description": "b", "inputSchema": {}});
        let plain = document(tool.clone(), ServerInfo::default(), &[]);
        let hinted = document(tool, ServerInfo::default(), &["c".into()]);
        assert_ne!(plain.digest(), hinted.digest());
        assert_eq!(plain.digest(), plain.clone().digest());
    }
}
