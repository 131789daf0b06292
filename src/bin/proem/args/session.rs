use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use proem::{
    cost::PriceSheet,
    session::{Delivery, SessionOptions},
};

use super::ProviderArg;
use crate::output::Failure;

/// How a conversation is carried on.
#[derive(Args, Debug)]
pub(crate) struct SessionArgs {
    /// Go on with the conversation in this file and write it back; begins one if it is not there
    #[arg(long, value_name = "FILE")]
    pub(crate) session: Option<PathBuf>,
    /// How tools reach the model, turn after turn [default: auto with --session, else per-turn]
    #[arg(long, value_enum)]
    delivery: Option<DeliveryArg>,
    /// What the model costs: a sheet that ships, such as anthropic/claude-sonnet-4-6, or a JSON file
    /// with one [default: the first of the provider with --session]
    #[arg(long, value_name = "NAME|FILE")]
    prices: Option<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DeliveryArg {
    /// Each turn has the tools that it needs and no others
    PerTurn,
    /// Every tool, in an array that never changes
    All,
    /// The tools of the first turn, for good
    Frozen,
    /// Tools of later turns at the end of the array
    Append,
    /// Tools of later turns at the tail of the conversation, in the provider's own form
    Deferred,
    /// The same as text, called through a fixed tool
    Bridge,
    /// Whatever is expected to cost the least
    Auto,
}

impl SessionArgs {
    pub(crate) fn options(&self, provider: ProviderArg) -> Result<SessionOptions, Failure> {
        let delivery = match self.delivery {
            None if self.session.is_none() => Delivery::PerTurn,
            None | Some(DeliveryArg::Auto) => Delivery::Auto,
            Some(DeliveryArg::PerTurn) => Delivery::PerTurn,
            Some(DeliveryArg::All) => Delivery::All,
            Some(DeliveryArg::Frozen) => Delivery::Frozen,
            Some(DeliveryArg::Append) => Delivery::Append,
            Some(DeliveryArg::Deferred) => Delivery::Deferred,
            Some(DeliveryArg::Bridge) => Delivery::Bridge,
        };
        let mut options =
            SessionOptions::new().with_delivery(delivery).with_shared_provider(provider.provider().into());
        options.prices = match &self.prices {
            Some(prices) => Some(sheet(prices)?),
            None if self.session.is_some() => PriceSheet::first_of(provider.provider().name()).cloned(),
            None => None,
        };
        Ok(options)
    }
}

/// A sheet that ships, by its name, or the first of a file.
fn sheet(prices: &str) -> Result<PriceSheet, Failure> {
    if !Path::new(prices).is_file() {
        return Ok(PriceSheet::named(prices)?.clone());
    }
    let sheets = PriceSheet::open(prices)?;
    sheets.into_iter().next().ok_or_else(|| format!("{prices} holds no price sheet").into())
}
