use serde_json::{Map, Value};

use super::tools::{call_tool, search_tool};
use crate::{
    call::{Fault, Invalid, validate},
    error::beginning,
};

/// What a model searches for.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SearchCall {
    /// What the tool shall do; not blank, [`Self::MAX_QUERY_BYTES`] at most.
    pub query: String,
    /// The most tools to find: 1 to [`Self::MAX_LIMIT`].
    pub limit: usize,
}

impl SearchCall {
    /// How many tools are found if the model does not say: 5, as many as a selection offers however far
    /// their scores fall behind.
    pub const DEFAULT_LIMIT: usize = 5;

    /// The most tools that one search finds: 16, some 5,000 tokens of definitions that stay in the
    /// conversation for good.
    pub const MAX_LIMIT: usize = 16;

    /// The longest query, in bytes: 1,024. More is cut: what a search is for stands at its beginning.
    pub const MAX_QUERY_BYTES: usize = 1_024;

    /// Reads the arguments of a call of [`search_tool`]. A limit out of bounds is brought into them.
    ///
    /// # Errors
    /// [`Invalid`] if there is no query, or it is blank or no text.
    pub fn read(arguments: &Map<String, Value>) -> Result<Self, Invalid> {
        validate(&search_tool().input_schema, arguments)?;
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        if query.trim().is_empty() {
            let fault = Fault::new("/query", "words that say what the tool shall do", "none");
            return Err(Invalid::new(vec![fault]));
        }
        let limit = arguments.get("limit").and_then(Value::as_f64).unwrap_or(Self::DEFAULT_LIMIT as f64);
        let limit = limit.clamp(1.0, Self::MAX_LIMIT as f64) as usize;
        Ok(Self { query: beginning(query.trim(), Self::MAX_QUERY_BYTES).to_owned(), limit })
    }
}

/// A call of a tool that the model was told of in a message.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BridgedCall {
    /// The exposed name that the model used, to be [resolved](super::resolve).
    pub name: String,
    /// The arguments for it, to be validated against its own schema.
    pub arguments: Map<String, Value>,
}

impl BridgedCall {
    /// Reads the arguments of a call of [`call_tool`].
    ///
    /// Two things that models do are taken as they are meant: `arguments` as text that holds a JSON object,
    /// and none at all for a tool without parameters.
    ///
    /// # Errors
    /// [`Invalid`] if there is no name, `arguments` is no object, or parameters of the tool stand beside
    /// them instead of in them.
    pub fn read(arguments: &Map<String, Value>) -> Result<Self, Invalid> {
        const ARGUMENTS: &str = "arguments";
        let mut call = arguments.clone();
        let inner = match call.remove(ARGUMENTS) {
            None | Some(Value::Null) => Value::Object(Map::new()),
            Some(Value::String(text)) => match serde_json::from_str(&text) {
                Ok(object @ Value::Object(_)) => object,
                _ => Value::String(text),
            },
            Some(other) => other,
        };
        call.insert(ARGUMENTS.into(), inner);
        validate(&call_tool().input_schema, &call)?;
        let name = call.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        match call.remove(ARGUMENTS) {
            Some(Value::Object(arguments)) if !name.is_empty() => Ok(Self { name, arguments }),
            _ => Err(Invalid::new(vec![Fault::new("/name", "the name of a tool", "none")])),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_search_is_read_within_its_bounds() {
        let read = |value: Value| SearchCall::read(&object(value)).map(|call| (call.query, call.limit));
        assert_eq!(read(json!({"query": " merge a branch "})), Ok(("merge a branch".into(), 5)));
        for (limit, expected) in [(json!(0), 1), (json!(-7), 1), (json!(3.0), 3), (json!(1e300), 16), (json!(999), 16)]
        {
            assert_eq!(read(json!({"query": "x", "limit": limit})).unwrap().1, expected);
        }
        let long = read(json!({"query": "é".repeat(4_000)})).unwrap().0;
        assert_eq!(long, "é".repeat(512));
        for (arguments, told) in [
            (json!({}), "- /query: expected a string, got nothing (it is required)"),
            (json!({"query": " \n"}), "- /query: expected words that say what the tool shall do, got none"),
            (json!({"query": ["x"]}), "- /query: expected a string, got [\"x\"]"),
            (
                json!({"query": "x", "limit": "5"}),
                "- /limit: expected an integer (itself, not written as text), got \"5\"",
            ),
        ] {
            assert!(read(arguments).unwrap_err().to_string().ends_with(told));
        }
    }

    #[test]
    fn a_bridged_call_is_read_as_models_send_it() {
        let read =
            |value: Value| BridgedCall::read(&object(value)).map(|call| (call.name, Value::Object(call.arguments)));
        let expected = Ok(("merge".to_owned(), json!({"into": "main"})));
        assert_eq!(read(json!({"name": "merge", "arguments": {"into": "main"}})), expected);
        assert_eq!(read(json!({"name": "merge", "arguments": "{\"into\": \"main\"}"})), expected);
        for none in [
            json!({"name": "log"}),
            json!({"name": "log", "arguments": null}),
            json!({"name": "log", "arguments": "{}"}),
        ] {
            assert_eq!(read(none), Ok(("log".to_owned(), json!({}))));
        }
        for (arguments, told) in [
            (json!({}), "- /name: expected a string, got nothing (it is required)"),
            (json!({"name": ""}), "- /name: expected the name of a tool, got none"),
            (json!({"name": "merge", "arguments": "main"}), "- /arguments: expected an object, got \"main\""),
            (json!({"name": "merge", "arguments": "[1]"}), "- /arguments: expected an object, got \"[1]\""),
            (
                json!({"name": "merge", "into": "main"}),
                "- /into: expected no property of this name (there is `arguments`, `name`), got \"main\"",
            ),
        ] {
            let error = read(arguments).unwrap_err().to_string();
            assert!(error.ends_with(told), "{error}");
        }
    }
}
