//! The tools of real servers, by the captures that lie beside the repository.

use std::{collections::BTreeMap, fs};

use proem::{
    catalog::Catalog,
    id::ServerId,
    protocol::{ServerInfo, Tool},
    render::{Anthropic, Layout, OpenAiChat, OpenAiResponses, Provider, ToolSpec},
};
use serde_json::Value;

use super::{check_tools, count_tools};
use crate::{outside, render::providers};

/// Below every provider's limit, so that counts are no reason.
const TOOLS_PER_REQUEST: usize = 64;

fn tools() -> Option<Vec<ToolSpec>> {
    let folder = outside::shared("real-servers")?;
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut catalog = Catalog::builder();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let capture: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
        let server = ServerId::new(file.file_stem().unwrap().to_str().unwrap()).unwrap();
        catalog = catalog.server(server.clone(), ServerInfo::default());
        for tool in capture["tools"].as_array().into_iter().flatten() {
            catalog = catalog.tool(server.clone(), Tool::read(tool.clone()).unwrap().item);
        }
    }
    Some(catalog.build().tools().iter().map(|entry| ToolSpec::from_entry(entry)).collect())
}

/// What became of all tools.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    without_losses: usize,
    with_losses: usize,
    quarantined: usize,
    strict: usize,
}

fn outcome(provider: &dyn Provider, tools: &[ToolSpec]) -> Outcome {
    let mut outcome = Outcome::default();
    let mut losses: BTreeMap<String, usize> = BTreeMap::new();
    for chunk in tools.chunks(TOOLS_PER_REQUEST) {
        let mut layout = Layout::new();
        layout.tools = chunk.to_vec();
        let request = provider.render(&layout);
        let body = request.to_value();
        assert_eq!(check_tools(provider.name(), &body), Vec::<String>::new(), "{}", provider.name());
        let report = request.report();
        let rendered = count_tools(provider.name(), &body);
        assert_eq!(rendered + report.quarantined.len(), chunk.len());
        assert!(report.quarantined.iter().all(|tool| !tool.reason.is_empty()));
        outcome.quarantined += report.quarantined.len();
        outcome.with_losses += report.repaired.len();
        outcome.without_losses += rendered - report.repaired.len();
        outcome.strict += request.as_str().matches("\"strict\":true").count();
        for note in &report.notes {
            *losses.entry(note.split_once(": ").unwrap().1.to_owned()).or_default() += 1;
        }
        for loss in report.repaired.iter().flat_map(|tool| &tool.losses) {
            *losses.entry(loss.split_once(' ').unwrap().1.to_owned()).or_default() += 1;
        }
    }
    println!("{}: {outcome:?}", provider.name());
    for (loss, count) in losses {
        println!("    {count:4} {loss}");
    }
    outcome
}

/// The figures are for the documentation too: what a provider cannot be told is told to the host.
#[test]
fn all_tools_of_real_servers_are_taken_by_every_provider() {
    let Some(tools) = tools() else { return };
    assert_eq!(tools.len(), 989);
    let mut outcomes: Vec<(&str, Outcome)> =
        providers().iter().map(|provider| (provider.name(), outcome(&**provider, &tools))).collect();
    outcomes.sort_by_key(|(name, _)| *name);
    let figures = |without_losses, with_losses| Outcome { without_losses, with_losses, ..Outcome::default() };
    assert_eq!(
        outcomes,
        [
            ("anthropic", figures(989, 0)),
            ("bedrock", figures(989, 0)),
            // Objects that take any names, and values that may be anything: OpenAPI 3.0 has no word for them.
            ("gemini", figures(938, 51)),
            ("openai-chat", figures(989, 0)),
            ("openai-responses", figures(989, 0)),
        ]
    );
}

#[test]
fn tools_of_real_servers_are_strict_where_they_can_be() {
    let Some(tools) = tools() else { return };
    let strict: [&dyn Provider; 3] = [
        &Anthropic::new().with_strict_tools(),
        &OpenAiResponses::new().with_strict_tools(),
        &OpenAiChat::new().with_strict_tools(),
    ];
    let counts: Vec<usize> = strict.iter().map(|provider| outcome(*provider, &tools).strict).collect();
    assert_eq!(counts, [250, 935, 935]);
}
