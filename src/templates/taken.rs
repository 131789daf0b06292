use super::{
    characters::value_text,
    expand::expanded,
    parse::{Modifier, Operator, Variable},
    variables::VariableValue,
};

/// The piece of the URI that stands for a variable, its name included where there is one.
#[derive(Clone, Copy)]
pub(super) struct Taken<'a> {
    pub(super) variable: &'a Variable,
    pub(super) operator: Operator,
    pub(super) text: &'a str,
    /// Whether the variable stands there; else the text is empty.
    pub(super) stands: bool,
}

/// The value of a variable that leaves what was taken for it at each of its places.
pub(super) fn agreed(places: &[&Taken<'_>]) -> Option<VariableValue> {
    let fits = |value: &VariableValue| {
        places.iter().all(|place| expanded(place.variable, value, place.operator).as_deref() == Some(place.text))
    };
    // A list that was exploded may be a text elsewhere.
    let standing = || places.iter().filter(|place| place.stands);
    standing().map(|place| place.value()).chain(standing().map(|place| place.text())).find(fits)
}

impl Taken<'_> {
    /// Whether one value cannot leave both: two texts in the same way, or something here and nothing there.
    pub(super) fn contradicts(&self, other: &Self) -> bool {
        let alike = self.variable == other.variable && self.operator == other.operator;
        let fills = |taken: &Self| !taken.unnamed().is_empty();
        self.variable.name == other.variable.name
            && ((alike && self.text != other.text) || (!self.stands && fills(other)) || (!other.stands && fills(self)))
    }

    fn value(&self) -> VariableValue {
        let Self { variable, operator, text, .. } = self;
        let reserved = operator.allows_reserved();
        let explode = variable.modifier == Modifier::Explode;
        let separator = if explode { operator.separator() } else { "," };
        let text = if explode { text } else { self.unnamed() };
        if !explode && (reserved || !text.contains(separator)) {
            return self.text();
        }
        let decoded = |text: &str| value_text(text, reserved);
        let items = text.split(separator);
        if !explode || reserved || !(operator.is_named() || text.contains('=')) {
            return VariableValue::List(items.map(decoded).collect());
        }
        let pairs = items.map(|item| item.split_once('=').unwrap_or((item, "")));
        if operator.is_named() && pairs.clone().all(|(key, _)| key == &*variable.name) {
            return VariableValue::List(pairs.map(|(_, value)| decoded(value)).collect());
        }
        VariableValue::Pairs(pairs.map(|(key, value)| (decoded(key), decoded(value))).collect())
    }

    fn text(&self) -> VariableValue {
        VariableValue::Text(value_text(self.unnamed(), self.operator.allows_reserved()))
    }

    fn unnamed(&self) -> &str {
        if !self.operator.is_named() {
            return self.text;
        }
        self.text.split_once('=').map_or("", |(_, value)| value)
    }
}
