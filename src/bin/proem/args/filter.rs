use std::{path::PathBuf, sync::Arc};

use clap::Args;
use proem::{
    catalog::Catalog,
    retrieval::{Filter, Kind, Narrowing, Taxonomy, ToolPattern, TopicFile},
};

use crate::output::Failure;

#[derive(Args, Debug)]
pub(crate) struct FilterArgs {
    /// Never offer these tools: `server`, `server/tool`, `*` for any run of characters
    #[arg(long, value_name = "PATTERN")]
    deny: Vec<ToolPattern>,
    /// Offer only these tools
    #[arg(long, value_name = "PATTERN")]
    allow: Vec<ToolPattern>,
    /// Offer only tools whose server says that they change nothing
    #[arg(long)]
    read_only: bool,
    /// Search only tools of this kind, as long as that leaves enough: read, create, update, delete,
    /// analyse, generate, monitor, send, run or other; again for each
    #[arg(long, value_name = "KIND")]
    kind: Vec<Kind>,
    /// Search only tools of this topic, as long as that leaves enough: a label of `proem catalog
    /// --outline`, or a word of one; again for each
    #[arg(long, value_name = "TOPIC")]
    topic: Vec<String>,
    #[command(flatten)]
    topics: TopicsArg,
}

impl FilterArgs {
    pub(crate) fn filter(&self, catalog: &Catalog) -> Result<Filter, Failure> {
        let filter = self.rules();
        if self.kind.is_empty() && self.topic.is_empty() {
            return Ok(filter);
        }
        let taxonomy = Arc::new(self.topics.taxonomy(catalog)?);
        for asked in &self.topic {
            if !taxonomy.topics().iter().any(|topic| topic.is(asked)) {
                let labels: Vec<&str> = taxonomy.topics().iter().map(|topic| &*topic.label).collect();
                return Err(format!("no topic `{asked}` in this catalog: {}", labels.join("; ")).into());
            }
        }
        let narrowing = self.kind.iter().fold(Narrowing::new(taxonomy), |narrowing, kind| narrowing.with_kind(*kind));
        Ok(filter.narrow(self.topic.iter().fold(narrowing, |narrowing, topic| narrowing.with_topic(topic))))
    }

    fn rules(&self) -> Filter {
        let mut filter = Filter::new();
        for pattern in &self.deny {
            filter = filter.deny(pattern.clone());
        }
        for pattern in &self.allow {
            filter = filter.allow(pattern.clone());
        }
        if self.read_only { filter.read_only() } else { filter }
    }
}

/// Where topics come from.
#[derive(Args, Debug)]
pub(crate) struct TopicsArg {
    /// Your own topics: a JSON file of labels and tool patterns [default: the words of the tools]
    #[arg(long, value_name = "FILE")]
    topics: Option<PathBuf>,
}

impl TopicsArg {
    pub(crate) fn taxonomy(&self, catalog: &Catalog) -> Result<Taxonomy, Failure> {
        Ok(match &self.topics {
            Some(file) => Taxonomy::with_topics(catalog, &TopicFile::open(file)?),
            None => Taxonomy::new(catalog),
        })
    }
}
