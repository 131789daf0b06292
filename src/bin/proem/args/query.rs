use std::io::{self, Read};

use clap::Args;
use proem::retrieval::Query;

/// What stands beside the query's text.
#[derive(Args, Debug)]
pub(crate) struct QueryArgs {
    /// One part of what QUERY comes to, again for each: the tools of each part are searched for
    /// alone, those of QUERY as a whole after them
    #[arg(long, value_name = "QUERY")]
    part: Vec<String>,
    /// What was asked before, again for each turn, oldest first: a QUERY that says little
    /// ("yes, do it") leans on it
    #[arg(long, value_name = "QUERY")]
    after: Vec<String>,
}

impl QueryArgs {
    pub(crate) fn query(&self, text: &str) -> Query {
        let query = Query::new(text).with_turns(self.after.iter().map(String::as_str));
        self.part.iter().fold(query, |query, part| query.with_sub_query(part.as_str()))
    }
}

/// More than any request, and no more than a turn can use.
const MAX_QUERY_BYTES: u64 = 1 << 20;

/// The text of a query, or what stdin holds for `-`.
pub(super) fn query(text: &str) -> Result<String, String> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut read = String::new();
    let bytes = io::stdin().lock().take(MAX_QUERY_BYTES).read_to_string(&mut read);
    bytes.map(|_| read).map_err(|error| format!("stdin: {error}"))
}
