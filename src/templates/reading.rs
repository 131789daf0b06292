use super::{
    characters::value_char,
    parse::{Modifier, Operator},
};

/// What may stand for a variable, character by character.
pub(super) struct Reading {
    operator: Operator,
    /// Between the items of an exploded variable, which may be pairs.
    separator: Option<&'static str>,
    /// How many characters may follow, with a prefix length.
    left: Option<usize>,
    /// Whether the items before were pairs; all are, or none is.
    pairs: Option<bool>,
    /// Whether this item is one.
    pair: bool,
    /// Whether a `=` was read last.
    open: bool,
}

impl Reading {
    pub(super) fn new(operator: Operator, modifier: Modifier) -> Self {
        let items = modifier == Modifier::Explode && !operator.allows_reserved();
        let left = if let Modifier::Prefix(most) = modifier { Some(most) } else { None };
        Self {
            operator,
            separator: items.then(|| operator.separator()),
            left,
            pairs: None,
            pair: false,
            open: !items && operator.is_named(),
        }
    }

    /// Whether what was read so far is a value.
    pub(super) fn may_end(&self) -> bool {
        match self.operator {
            // Where an empty value has no `=`.
            Operator::Parameter => !self.open,
            _ if self.separator.is_none() => true,
            Operator::Query | Operator::Continuation => self.pair,
            _ => self.pairs.is_none_or(|pairs| pairs == self.pair),
        }
    }

    /// How many bytes the next character takes; `None` if it can be none of this value.
    pub(super) fn advance(&mut self, rest: &str) -> Option<usize> {
        self.open = false;
        if let Some(separator) = self.separator {
            if rest.starts_with(separator) {
                self.may_end().then_some(())?;
                self.pairs = Some(self.pair);
                self.pair = false;
                return Some(separator.len());
            }
            if rest.starts_with('=') {
                self.open = true;
                return (!std::mem::replace(&mut self.pair, true)).then_some(1);
            }
        } else if self.left.is_none() && rest.starts_with(',') {
            return Some(1);
        }
        let (length, _) = value_char(rest, self.operator.allows_reserved())?;
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1)?;
        }
        Some(length)
    }
}
