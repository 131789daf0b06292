use serde_json::{Map, Value};

use super::{
    content::ContentBlock,
    fields::{Fields, Read, Writer},
    schema::Schema,
};

/// A tool's definition (`tools/list`).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Tool {
    /// Unique within its server.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For the model.
    pub description: Option<String>,
    /// JSON Schema of the arguments, as sent; always an object.
    pub input_schema: Schema,
    /// JSON Schema of `structuredContent`, as sent.
    pub output_schema: Option<Schema>,
    /// Hints about what it does.
    pub annotations: ToolAnnotations,
    /// Everything else, as sent (`icons`, `_meta`, vendor fields, fields that could not be used).
    pub extra: Map<String, Value>,
}

impl Tool {
    /// A tool with a description and a schema that takes no arguments, for hosts and tests.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: Some(description.into()), ..Self::default() }
    }

    /// Sets the JSON Schema of the arguments; a value that is no object is ignored.
    #[must_use]
    pub fn with_input_schema(mut self, schema: Value) -> Self {
        if schema.is_object() {
            self.input_schema = schema.into();
        }
        self
    }

    /// Reads one item of a list.
    ///
    /// # Errors
    /// A sentence that says what is missing: `name` must be a string and `inputSchema` an object.
    pub fn read(value: Value) -> Result<Read<Self>, String> {
        let mut fields = Fields::new(value)?;
        let name = fields.required_string("name")?;
        if name.is_empty() {
            return Err("`name` is empty".into());
        }
        let input_schema = fields.required_object("inputSchema")?.into();
        let item = Self {
            name,
            title: fields.string("title"),
            description: fields.string("description"),
            input_schema,
            output_schema: fields.value("outputSchema").map(Schema::from),
            annotations: fields.nested("annotations", ToolAnnotations::take).unwrap_or_default(),
            extra: Map::new(),
        };
        let (extra, notes) = fields.finish();
        Ok(Read { item: Self { extra, ..item }, notes })
    }

    /// The definition as it was sent.
    pub fn to_value(&self) -> Value {
        Value::Object(
            Writer::new(&self.extra)
                .put("name", Some(self.name.as_str()))
                .put("title", self.title.as_deref())
                .put("description", self.description.as_deref())
                .put("inputSchema", Some(self.input_schema.to_value()))
                .put("outputSchema", self.output_schema.as_ref().map(Schema::to_value))
                .put_nested("annotations", self.annotations.to_map())
                .finish(),
        )
    }

    /// What a person should read: `title`, else `annotations.title`, else the name
    /// (MCP 2026-07-28, tools).
    pub fn label(&self) -> &str {
        self.title.as_deref().or(self.annotations.title.as_deref()).unwrap_or(&self.name)
    }
}

/// A server's hints about what a tool does; untrusted unless the server is trusted.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// For people.
    pub title: Option<String>,
    /// It changes nothing. Absent counts as false.
    pub read_only_hint: Option<bool>,
    /// It may destroy. Absent counts as true.
    pub destructive_hint: Option<bool>,
    /// A second call changes nothing more. Absent counts as false.
    pub idempotent_hint: Option<bool>,
    /// It reaches beyond the server's own world. Absent counts as true.
    pub open_world_hint: Option<bool>,
}

impl ToolAnnotations {
    /// Whether it says that it changes nothing; a missing hint counts as "may write".
    pub fn read_only(&self) -> bool {
        self.read_only_hint == Some(true)
    }

    fn take(fields: &mut Fields) -> Self {
        Self {
            title: fields.string("title"),
            read_only_hint: fields.boolean("readOnlyHint"),
            destructive_hint: fields.boolean("destructiveHint"),
            idempotent_hint: fields.boolean("idempotentHint"),
            open_world_hint: fields.boolean("openWorldHint"),
        }
    }

    fn to_map(&self) -> Map<String, Value> {
        Writer::new(&Map::new())
            .put("title", self.title.as_deref())
            .put("readOnlyHint", self.read_only_hint)
            .put("destructiveHint", self.destructive_hint)
            .put("idempotentHint", self.idempotent_hint)
            .put("openWorldHint", self.open_world_hint)
            .finish()
    }
}

/// The answer to `tools/call`.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CallToolResult {
    /// What the model or the person reads.
    pub content: Vec<ContentBlock>,
    /// The result as data, where the tool gives one.
    pub structured_content: Option<Value>,
    /// The call itself failed: the model should see why. Absent counts as false.
    pub is_error: bool,
}

impl CallToolResult {
    /// Reads an answer; blocks of unknown kinds are kept as [`ContentBlock::Other`].
    ///
    /// # Errors
    /// A sentence, if it is no object.
    pub fn read(value: Value) -> Result<Read<Self>, String> {
        let mut fields = Fields::new(value)?;
        let item = Self {
            content: fields.array("content").unwrap_or_default().into_iter().map(ContentBlock::read).collect(),
            structured_content: fields.value("structuredContent"),
            is_error: fields.boolean("isError").unwrap_or(false),
        };
        Ok(Read { item, notes: fields.finish().1 })
    }
}
