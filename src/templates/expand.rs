use super::{
    characters::encoded_chars,
    parse::{Expression, Modifier, Operator, Part, UriTemplate, Variable},
    variables::{VariableValue, Variables},
};
use crate::{Error, Result, error::excerpt};

impl UriTemplate {
    /// The longest URI that it expands to, in bytes.
    pub const MAX_URI_BYTES: usize = 64 << 10;

    /// The most items of a list, or pairs.
    pub const MAX_ITEMS: usize = 1_024;

    /// The URI with these values (RFC 6570, section 3); undefined variables leave nothing behind.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the URI would be longer than [`MAX_URI_BYTES`](Self::MAX_URI_BYTES), a
    /// list has more than [`MAX_ITEMS`](Self::MAX_ITEMS), or a variable with a prefix length is no text.
    pub fn expand(&self, variables: &Variables) -> Result<String> {
        let mut uri = Uri(String::new());
        let written = self.parts.iter().try_for_each(|part| match part {
            Part::Literal(text) => uri.push(text),
            Part::Expression(expression) => uri.push_expression(expression, variables),
        });
        match written {
            Ok(()) => Ok(uri.0),
            Err(reason) => Err(Error::invalid(format!("values of URI template `{}`", excerpt(self.as_str())), reason)),
        }
    }
}

/// The URI so far.
struct Uri(String);

impl Uri {
    fn push(&mut self, text: &str) -> Result<(), String> {
        if self.0.len() + text.len() > UriTemplate::MAX_URI_BYTES {
            return Err(format!("the URI would have more than {} bytes", UriTemplate::MAX_URI_BYTES));
        }
        self.0.push_str(text);
        Ok(())
    }

    fn push_expression(&mut self, expression: &Expression, variables: &Variables) -> Result<(), String> {
        let operator = expression.operator;
        let mut before = operator.first();
        for variable in &expression.variables {
            let items = variables.value(&variable.name).map(|value| items(variable, value, operator));
            let Some(items) = items.transpose()?.filter(|items| !items.is_empty()) else { continue };
            self.push(before)?;
            self.push_items(items, operator)?;
            before = operator.separator();
        }
        Ok(())
    }

    fn push_items(&mut self, items: Vec<Item>, operator: Operator) -> Result<(), String> {
        for (at, item) in items.into_iter().enumerate() {
            self.push(if at > 0 { operator.separator() } else { "" })?;
            if let Some(name) = item.name {
                self.push(&name)?;
                // An empty parameter is its name alone.
                let bare = operator == Operator::Parameter && item.value.is_empty();
                self.push(if bare { "" } else { "=" })?;
            }
            self.push(&item.value)?;
        }
        Ok(())
    }
}

/// What a value leaves for one variable, without what stands before it; `None` if it cannot be its value.
pub(super) fn expanded(variable: &Variable, value: &VariableValue, operator: Operator) -> Option<String> {
    let mut uri = Uri(String::new());
    uri.push_items(items(variable, value, operator).ok()?, operator).ok()?;
    Some(uri.0)
}

/// What stands between two separators, encoded.
struct Item {
    name: Option<String>,
    value: String,
}

/// What stands for a variable; nothing for an empty list.
fn items(variable: &Variable, value: &VariableValue, operator: Operator) -> Result<Vec<Item>, String> {
    let Variable { name, modifier } = variable;
    let count = match value {
        VariableValue::Text(_) => 1,
        VariableValue::List(values) => values.len(),
        VariableValue::Pairs(pairs) => pairs.len(),
    };
    if count == 0 {
        return Ok(Vec::new());
    }
    if count > UriTemplate::MAX_ITEMS {
        return Err(format!("`{name}` has {count} items; at most {} are taken", UriTemplate::MAX_ITEMS));
    }
    let most = match modifier {
        Modifier::Prefix(most) if matches!(value, VariableValue::Text(_)) => *most,
        Modifier::Prefix(_) => return Err(format!("`{name}` must be a text, since it has a prefix length")),
        // One more than what is too long in any case.
        _ => UriTemplate::MAX_URI_BYTES + 1,
    };
    let encoded = |text: &String| encoded_chars(text, operator.allows_reserved()).take(most).collect::<String>();
    let item = |value: String| Item { name: operator.is_named().then(|| name.to_string()), value };
    let explode = *modifier == Modifier::Explode;
    Ok(match value {
        VariableValue::Text(text) => vec![item(encoded(text))],
        VariableValue::List(values) if explode => values.iter().map(encoded).map(item).collect(),
        VariableValue::Pairs(pairs) if explode => {
            pairs.iter().map(|(key, value)| Item { name: Some(encoded(key)), value: encoded(value) }).collect()
        }
        VariableValue::List(values) => vec![item(values.iter().map(encoded).collect::<Vec<_>>().join(","))],
        VariableValue::Pairs(pairs) => {
            let texts = pairs.iter().flat_map(|(key, value)| [encoded(key), encoded(value)]);
            vec![item(texts.collect::<Vec<_>>().join(","))]
        }
    })
}
