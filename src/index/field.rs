use std::fmt;

/// The parts of a tool's text that are weighed apart.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Field {
    /// The tool's name.
    Name,
    /// `title` and `annotations.title`.
    Title,
    /// `description`.
    Description,
    /// The names of parameters, nested ones too.
    Parameters,
    /// What the input schema says of parameters: titles, descriptions, the values of `enum` and `const`.
    ParameterDetails,
    /// The name that the host gave the server.
    Server,
    /// The server's instructions, and the title and description in its `serverInfo`.
    Instructions,
    /// Example requests that the host supplies: see [`Hints`](super::Hints).
    Hints,
    /// Everything else: the output schema, fields that the protocol does not know.
    Other,
}

impl Field {
    /// All fields, in their order in reports.
    pub const ALL: [Self; 9] = [
        Self::Name,
        Self::Title,
        Self::Description,
        Self::Parameters,
        Self::ParameterDetails,
        Self::Server,
        Self::Instructions,
        Self::Hints,
        Self::Other,
    ];

    /// Its name in reports and in [`Hit::fields`](crate::retrieval::Hit::fields).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Title => "title",
            Self::Description => "description",
            Self::Parameters => "parameters",
            Self::ParameterDetails => "parameter_details",
            Self::Server => "server",
            Self::Instructions => "instructions",
            Self::Hints => "hints",
            Self::Other => "other",
        }
    }

    pub(super) fn position(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How much one occurrence of a term counts in each field; 0 leaves a field out.
///
/// The defaults were found on public benchmarks of tool retrieval (see [`Self::default`]).
/// Weights are kept in thousandths, so that sums of them are exact whatever their order.
///
/// ```
/// use proem::index::{Field, FieldWeights};
///
/// let weights = FieldWeights::default().with(Field::Instructions, 0.0);
/// assert_eq!(weights.of(Field::Name), 2.0);
/// assert_eq!(weights.of(Field::Instructions), 0.0);
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FieldWeights([u32; Field::ALL.len()]);

impl FieldWeights {
    /// The largest weight.
    pub const MAX: f32 = 100.0;

    /// Sets a weight: 0 to [`Self::MAX`]; what is outside, or no number, becomes the nearest of these (0 for no number).
    #[must_use]
    pub fn with(mut self, field: Field, weight: f32) -> Self {
        let thousandths = (weight.clamp(0.0, Self::MAX) * 1000.0).round();
        // A cast of NaN gives 0.
        self.0[field.position()] = thousandths as u32;
        self
    }

    /// A field's weight.
    pub fn of(&self, field: Field) -> f32 {
        self.0[field.position()] as f32 / 1000.0
    }

    // Only what searches needs it, and its tests.
    #[cfg(any(test, feature = "tantivy"))]
    pub(super) fn thousandths(&self, field: Field) -> u32 {
        self.0[field.position()]
    }
}

impl Default for FieldWeights {
    /// Name 2; title, description and server 1; parameter names, instructions and hints 0.5;
    /// parameter details and everything else 0.3.
    ///
    /// Measured on LiveMCPBench, StableToolBench, Seal-Tools, BFCL and a ToolRet subset: a name
    /// weight of 3 costs a point against 2; parameters gain most at low weight (two points lost
    /// when everything weighs 1); server text helps at depth, not at the top.
    fn default() -> Self {
        let none = Self([0; Field::ALL.len()]);
        Field::ALL.into_iter().fold(none, |weights, field| {
            weights.with(
                field,
                match field {
                    Field::Name => 2.0,
                    Field::Title | Field::Description | Field::Server => 1.0,
                    Field::Parameters | Field::Instructions | Field::Hints => 0.5,
                    Field::ParameterDetails | Field::Other => 0.3,
                },
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_follow_the_order_of_all() {
        for (i, field) in Field::ALL.into_iter().enumerate() {
            assert_eq!(field.position(), i);
        }
    }

    #[test]
    fn weights_are_bounded() {
        let weights = FieldWeights::default();
        assert_eq!(weights.with(Field::Name, -1.0).of(Field::Name), 0.0);
        assert_eq!(weights.with(Field::Name, f32::NAN).of(Field::Name), 0.0);
        assert_eq!(weights.with(Field::Name, f32::INFINITY).of(Field::Name), FieldWeights::MAX);
        assert_eq!(weights.with(Field::Name, 0.3).thousandths(Field::Name), 300);
    }
}
