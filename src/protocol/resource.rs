use serde_json::{Map, Value};

use super::{
    annotations::Annotations,
    fields::{Fields, Read, Writer},
};

/// A resource's description (`resources/list`), without its content.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Resource {
    /// Identifies it on its server.
    pub uri: String,
    /// Its name; the URI where a server gives none.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For people and the model.
    pub description: Option<String>,
    /// Its MIME type as the server says; checked again when it is read.
    pub mime_type: Option<String>,
    /// Its raw size in bytes, before base64 or tokenization.
    pub size: Option<u64>,
    /// Hints about whom it is for and how much it matters.
    pub annotations: Annotations,
    /// Everything else, as sent.
    pub extra: Map<String, Value>,
    /// The server gave no name that could be used: the one here is not written back.
    unnamed: bool,
}

impl Resource {
    /// A resource for hosts and tests.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri: uri.into(), name: name.into(), ..Self::default() }
    }

    /// Sets the title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the raw size in bytes.
    #[must_use]
    pub fn with_size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// Sets the hints.
    #[must_use]
    pub fn with_annotations(mut self, annotations: Annotations) -> Self {
        self.annotations = annotations;
        self
    }

    /// Reads one item of a list. A missing `name` is taken from the URI and noted: nothing is lost by it.
    ///
    /// # Errors
    /// A sentence, if there is no `uri`.
    pub fn read(value: Value) -> Result<Read<Self>, String> {
        let mut fields = Fields::new(value)?;
        let uri = fields.required_string("uri")?;
        if uri.is_empty() {
            return Err("`uri` is empty".into());
        }
        let name = fields.string("name");
        let unnamed = name.is_none();
        let item = Self {
            name: name.unwrap_or_else(|| uri.clone()),
            unnamed,
            uri,
            title: fields.string("title"),
            description: fields.string("description"),
            mime_type: fields.string("mimeType"),
            size: fields.size("size"),
            annotations: fields.nested("annotations", Annotations::take).unwrap_or_default(),
            extra: Map::new(),
        };
        let (extra, mut notes) = fields.finish();
        if unnamed {
            notes.push("name is missing: the URI stands for it".into());
        }
        Ok(Read { item: Self { extra, ..item }, notes })
    }

    /// The description as it was sent.
    pub fn to_value(&self) -> Value {
        Value::Object(
            Writer::new(&self.extra)
                .put("uri", Some(self.uri.as_str()))
                .put("name", (!self.unnamed || self.name != self.uri).then_some(self.name.as_str()))
                .put("title", self.title.as_deref())
                .put("description", self.description.as_deref())
                .put("mimeType", self.mime_type.as_deref())
                .put("size", self.size)
                .put_nested("annotations", self.annotations.to_map(self.extra.get("annotations")))
                .finish(),
        )
    }

    /// What a person should read: `title`, else the name.
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// A family of resources under an RFC 6570 URI template (`resources/templates/list`).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceTemplate {
    /// The RFC 6570 template; identifies it on its server.
    pub uri_template: String,
    /// Its name; the template where a server gives none.
    pub name: String,
    /// For people.
    pub title: Option<String>,
    /// For people and the model.
    pub description: Option<String>,
    /// The MIME type that all matching resources share.
    pub mime_type: Option<String>,
    /// Hints about whom it is for and how much it matters.
    pub annotations: Annotations,
    /// Everything else, as sent.
    pub extra: Map<String, Value>,
    /// The server gave no name that could be used: the one here is not written back.
    unnamed: bool,
}

impl ResourceTemplate {
    /// A template for hosts and tests.
    pub fn new(uri_template: impl Into<String>, name: impl Into<String>) -> Self {
        Self { uri_template: uri_template.into(), name: name.into(), ..Self::default() }
    }

    /// Reads one item of a list. A missing `name` is taken from the template and noted.
    ///
    /// # Errors
    /// A sentence, if there is no `uriTemplate`.
    pub fn read(value: Value) -> Result<Read<Self>, String> {
        let mut fields = Fields::new(value)?;
        let uri_template = fields.required_string("uriTemplate")?;
        if uri_template.is_empty() {
            return Err("`uriTemplate` is empty".into());
        }
        let name = fields.string("name");
        let unnamed = name.is_none();
        let item = Self {
            name: name.unwrap_or_else(|| uri_template.clone()),
            unnamed,
            uri_template,
            title: fields.string("title"),
            description: fields.string("description"),
            mime_type: fields.string("mimeType"),
            annotations: fields.nested("annotations", Annotations::take).unwrap_or_default(),
            extra: Map::new(),
        };
        let (extra, mut notes) = fields.finish();
        if unnamed {
            notes.push("name is missing: the template stands for it".into());
        }
        Ok(Read { item: Self { extra, ..item }, notes })
    }

    /// The description as it was sent.
    pub fn to_value(&self) -> Value {
        Value::Object(
            Writer::new(&self.extra)
                .put("uriTemplate", Some(self.uri_template.as_str()))
                .put("name", (!self.unnamed || self.name != self.uri_template).then_some(self.name.as_str()))
                .put("title", self.title.as_deref())
                .put("description", self.description.as_deref())
                .put("mimeType", self.mime_type.as_deref())
                .put_nested("annotations", self.annotations.to_map(self.extra.get("annotations")))
                .finish(),
        )
    }
}
