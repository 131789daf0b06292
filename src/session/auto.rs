use super::{delivery::Delivery, options::SessionOptions};
use crate::{catalog::Catalog, render::Deferral, retrieval::Filter};

/// The policy of a conversation that begins.
pub(super) fn resolve(options: &SessionOptions, _catalog: &Catalog, _filter: &Filter) -> Delivery {
    match options.delivery {
        Delivery::Deferred | Delivery::Auto if options.deferral() == Deferral::None => Delivery::Bridge,
        Delivery::Auto => Delivery::Deferred,
        delivery => delivery,
    }
}
