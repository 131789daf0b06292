//! What the host decides about resources: whose they are, who may see them, where they may go.

mod class;
mod decide;
mod decision;
mod destination;
mod file;
mod rule;
mod spelling;

pub use self::{
    class::DataClass,
    decide::Governance,
    decision::Decision,
    destination::{Destination, Refusal},
    rule::ResourceRule,
};
