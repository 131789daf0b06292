use std::collections::BTreeMap;

use super::{
    parse::{Expression, Modifier, Operator, Part, UriTemplate, Variable},
    reading::Reading,
    taken::{Taken, agreed},
    variables::Variables,
};

impl UriTemplate {
    /// The longest URI that is matched: what HTTP asks servers to bear (RFC 9110, section 4.1).
    pub const MAX_MATCHED_BYTES: usize = 8_192;

    /// How many places in a URI are looked at before a search is given up, which takes some ten
    /// milliseconds. URIs of real templates take a few hundred.
    pub const MAX_STEPS: usize = 1 << 18;

    /// The values with which it expands to exactly this URI; `None` if there are none, or the search
    /// for them would take more than [`MAX_STEPS`](Self::MAX_STEPS).
    ///
    /// Values are percent-decoded. Several may fit; then earlier variables are taken before later
    /// ones, each as short as the rest allows: `{a}{b}` parts `xyz` into `x` and `yz`. What could be
    /// a text or a list is a text, unless its variable is exploded (`{/path*}`) or holds commas that
    /// a text would have encoded. Of a variable with a prefix length only the prefix is known. A variable
    /// for which nothing stands in the URI is undefined; so is a query parameter that is not there.
    /// Parameters must stand in the template's order. A variable that stands several times is found if
    /// one of its places shows the whole value as it is. Pairs with dots in an exploded label
    /// (`{.pairs*}`) are not found, since dots are what parts them.
    ///
    /// ```
    /// use proem::templates::{UriTemplate, Variables};
    ///
    /// let template = UriTemplate::parse("repo://{owner}{/path*}{?ref,page}")?;
    /// let found = template.matches("repo://ada/src/lib.rs?page=2");
    /// let expected = Variables::new().with("owner", "ada").with("path", vec!["src", "lib.rs"]).with("page", "2");
    /// assert_eq!(found, Some(expected));
    /// assert_eq!(template.matches("repo://ada?page=2&ref=main"), None);
    /// # Ok::<(), proem::Error>(())
    /// ```
    pub fn matches(&self, uri: &str) -> Option<Variables> {
        let mut steps = Self::MAX_STEPS;
        self.matches_within(uri, &mut steps)
    }

    /// As [`matches`](Self::matches), with the steps that are left.
    pub(super) fn matches_within(&self, uri: &str, steps: &mut usize) -> Option<Variables> {
        // What is not ASCII would have been encoded.
        if uri.len() > Self::MAX_MATCHED_BYTES || !uri.is_ascii() {
            return None;
        }
        let failed = if self.repeats() { None } else { Some(Failures::new(self, uri)) };
        Search { template: self, uri, taken: Vec::new(), failed, steps }.part(0, 0)
    }
}

/// A depth-first search, the first variables shortest first. Where it failed it does not look again.
struct Search<'a> {
    template: &'a UriTemplate,
    uri: &'a str,
    taken: Vec<Taken<'a>>,
    /// `None` if a variable stands twice: its value at one place decides about the other, so that
    /// failures depend on more than the place.
    failed: Option<Failures>,
    steps: &'a mut usize,
}

/// A variable that is next, and where in the URI.
#[derive(Clone, Copy)]
struct Place {
    part: usize,
    variable: usize,
    /// Whether another variable of the expression stands before it.
    continued: bool,
    at: usize,
}

impl<'a> Search<'a> {
    fn part(&mut self, part: usize, at: usize) -> Option<Variables> {
        let rest = self.uri.get(at..)?;
        match self.template.parts.get(part) {
            None => rest.is_empty().then(|| self.finish()).flatten(),
            Some(Part::Literal(text)) => rest.starts_with(text).then(|| self.part(part + 1, at + text.len())).flatten(),
            Some(Part::Expression(_)) => self.variable(Place { part, variable: 0, continued: false, at }),
        }
    }

    fn variable(&mut self, place: Place) -> Option<Variables> {
        let Some(Part::Expression(expression)) = self.template.parts.get(place.part) else { return None };
        let Some(variable) = expression.variables.get(place.variable) else {
            return self.part(place.part + 1, place.at);
        };
        *self.steps = self.steps.checked_sub(1)?;
        let number = expression.before + place.variable;
        if self.failed.as_ref().is_some_and(|failed| failed.contains(number, place)) {
            return None;
        }
        let operator = expression.operator;
        let found = self.defined(place, expression, variable);
        let found = found.or_else(|| self.undefined(place, operator, variable));
        if let (None, Some(failed)) = (&found, &mut self.failed) {
            failed.insert(number, place);
        }
        found
    }

    /// The variable stands there, and takes more and more of the URI.
    fn defined(&mut self, place: Place, expression: &'a Expression, variable: &'a Variable) -> Option<Variables> {
        let operator = expression.operator;
        let before = if place.continued { operator.separator() } else { operator.first() };
        let rest = self.uri.get(place.at..)?.strip_prefix(before)?;
        let mut length = 0;
        if operator.is_named() && variable.modifier != Modifier::Explode {
            length = variable.name.len();
            let value = rest.strip_prefix(&*variable.name)?;
            if operator == Operator::Parameter {
                // An empty one has no `=`.
                let found = self.take(place, operator, variable, rest, length);
                if found.is_some() {
                    return found;
                }
            }
            value.strip_prefix('=')?;
            length += 1;
        }
        let mut reading = Reading::new(operator, variable.modifier);
        loop {
            *self.steps = self.steps.checked_sub(1)?;
            let left = &rest[length..];
            // Nothing at all is as good as undefined, unless something comes after it.
            let is_nothing = before.is_empty() && length == 0;
            let continues = left.starts_with(operator.separator()) && place.variable + 1 < expression.variables.len();
            if reading.may_end() && (!is_nothing || continues) {
                let found = self.take(place, operator, variable, rest, length);
                if found.is_some() {
                    return found;
                }
            }
            length += reading.advance(left)?;
        }
    }

    fn take(
        &mut self,
        place: Place,
        operator: Operator,
        variable: &'a Variable,
        rest: &'a str,
        length: usize,
    ) -> Option<Variables> {
        let at = self.uri.len() - rest.len() + length;
        let next = Place { variable: place.variable + 1, continued: true, at, ..place };
        self.go_on(Taken { variable, operator, text: &rest[..length], stands: true }, next)
    }

    /// Nothing stands there for the variable.
    fn undefined(&mut self, place: Place, operator: Operator, variable: &'a Variable) -> Option<Variables> {
        let next = Place { variable: place.variable + 1, ..place };
        self.go_on(Taken { variable, operator, text: "", stands: false }, next)
    }

    fn go_on(&mut self, taken: Taken<'a>, next: Place) -> Option<Variables> {
        if self.failed.is_none() && self.taken.iter().any(|other| other.contradicts(&taken)) {
            return None;
        }
        self.taken.push(taken);
        let found = self.variable(next);
        self.taken.pop();
        found
    }

    /// The values of all that was taken, if they expand to the URI.
    fn finish(&mut self) -> Option<Variables> {
        // Reading and expanding is worth as much as some steps for each byte.
        *self.steps = self.steps.checked_sub(4 * (self.uri.len() + self.template.count))?;
        let mut places: BTreeMap<&str, Vec<&Taken<'_>>> = BTreeMap::new();
        for taken in &self.taken {
            places.entry(&taken.variable.name).or_default().push(taken);
        }
        let standing = places.into_iter().filter(|(_, places)| places.iter().any(|place| place.stands));
        let values = standing.map(|(name, places)| Some((name, agreed(&places)?)));
        let variables: Variables = values.collect::<Option<_>>()?;
        self.template.expand(&variables).is_ok_and(|uri| uri == self.uri).then_some(variables)
    }
}

/// Where a search failed: a bit for each variable and place in the URI.
struct Failures {
    bits: Vec<u64>,
    places: usize,
}

impl Failures {
    fn new(template: &UriTemplate, uri: &str) -> Self {
        let places = uri.len() + 1;
        Self { bits: vec![0; (template.count * 2 * places).div_ceil(64)], places }
    }

    fn contains(&self, number: usize, place: Place) -> bool {
        let (word, bit) = self.bit(number, place);
        self.bits.get(word).is_some_and(|word| word & bit > 0)
    }

    fn insert(&mut self, number: usize, place: Place) {
        let (word, bit) = self.bit(number, place);
        if let Some(word) = self.bits.get_mut(word) {
            *word |= bit;
        }
    }

    fn bit(&self, number: usize, place: Place) -> (usize, u64) {
        let bit = (number * 2 + usize::from(place.continued)) * self.places + place.at;
        (bit / 64, 1 << (bit % 64))
    }
}
