use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;
use proem::{
    TokenBudget,
    catalog::Catalog,
    resources::{Destination, Governance, ResourceOptions},
};

use super::{ProviderArg, QueryArgs, RetrieverArgs, SourceArgs, query::query, retriever::share};
use crate::{output::Failure, reference};

/// How resources are chosen.
#[derive(Args, Debug)]
pub(crate) struct ResourceArgs {
    /// What attached resources may cost together, in tokens
    #[arg(long, visible_alias = "budget", value_name = "TOKENS", default_value = "1000")]
    resources_budget: TokenBudget,
    /// The most resources besides picked and required ones
    #[arg(long, value_name = "K", default_value_t = 8)]
    resources_top: usize,
    /// How much a resource must have to do with QUERY, 0 to 1, unless it is picked or required
    #[arg(long, value_name = "SHARE", default_value_t = 0.15, value_parser = share)]
    min_relevance: f32,
    /// Attach this resource first, whatever it is worth; again for each
    #[arg(long, value_name = "[SERVER:]URI")]
    resource: Vec<String>,
    /// Attach older versions of a document beside the newest
    #[arg(long)]
    older_versions: bool,
    /// The host's rules for resources, a JSON file: owners, classes of data, audiences, sizes
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// On whose behalf the request is made, for rules that keep data from some
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// The time that a resource's age is measured against, such as 2026-11-30T00:00:00Z [default: now]
    #[arg(long, value_name = "TIME")]
    now: Option<Timestamp>,
}

impl ResourceArgs {
    pub(crate) fn now(&self) -> Timestamp {
        self.now.unwrap_or_else(Timestamp::now)
    }

    pub(crate) fn rules(&self) -> Result<Governance, Failure> {
        Ok(self.rules.as_ref().map(Governance::open).transpose()?.unwrap_or_default())
    }

    pub(crate) fn options(&self, catalog: &Catalog, provider: ProviderArg) -> Result<ResourceOptions, Failure> {
        let mut destination = Destination::new().with_provider(provider.provider().name());
        destination.tenant.clone_from(&self.tenant);
        let options = ResourceOptions::new(self.now())
            .with_budget(self.resources_budget)
            .with_top(self.resources_top)
            // By its digits, so that 0.3 is no 0.30000001.
            .with_min_relevance((f64::from(self.min_relevance) * 1e6).round() / 1e6)
            .with_older_versions(self.older_versions)
            .with_destination(destination);
        self.resource
            .iter()
            .try_fold(options, |options, text| Ok(options.with_pin(reference::resource(catalog, text)?)))
    }
}

#[derive(Args, Debug)]
pub(crate) struct ResourcesArgs {
    /// What is asked for; `-` reads it from stdin; without it, resources are ranked by priority and age
    #[arg(value_parser = query, default_value = "", hide_default_value = true)]
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) context: QueryArgs,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    #[command(flatten)]
    pub(crate) retriever: RetrieverArgs,
    #[command(flatten)]
    pub(crate) resources: ResourceArgs,
    /// Pick resources by hand first, in the terminal; QUERY starts the search
    #[arg(long)]
    pub(crate) pick: bool,
    /// Whose request they are for
    #[arg(long, value_enum, default_value_t = ProviderArg::Anthropic)]
    pub(crate) provider: ProviderArg,
    /// Print as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args, Debug)]
pub(crate) struct ReadArgs {
    /// The resources, listed or not: `server:uri`, or the URI alone where one server has it
    #[arg(value_name = "[SERVER:]URI", required = true)]
    pub(crate) uris: Vec<String>,
    #[command(flatten)]
    pub(crate) sources: SourceArgs,
    /// Print as JSON, blobs as base64
    #[arg(long)]
    pub(crate) json: bool,
}
