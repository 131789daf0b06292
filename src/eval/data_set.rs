use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use serde_json::Value;

use super::options::QueryForm;
use crate::{
    Error, Result,
    catalog::Catalog,
    error::{BoxError, excerpt},
    id::{ServerId, ToolId},
    json::Digest,
    protocol::Tool,
    retrieval::Query,
};

/// A benchmark: a catalog, and queries of which it is known what tools they need.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DataSet {
    /// The name of its folder.
    pub name: String,
    /// The tools.
    pub catalog: Catalog,
    /// The queries, in the order of the file.
    pub queries: Vec<LabeledQuery>,
    /// Which of the file's queries these are, in words; `None` for all.
    pub sample: Option<String>,
    /// Over both files as they are.
    pub digest: Digest,
}

/// A query and what it needs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LabeledQuery {
    /// As the set names it.
    pub id: String,
    /// The request.
    pub text: String,
    /// What it needs: of each group one tool, any of them. Empty if it needs no tool.
    pub groups: Vec<Vec<ToolId>>,
    /// The part of the set that it belongs to.
    pub split: Option<String>,
    /// The steps that an annotator took, where the set has them.
    pub steps: Vec<String>,
}

impl DataSet {
    /// Opens a set: a folder with `tools.jsonl` (`server`, `name`, `description`, `inputSchema`
    /// and whatever else a tool may have) and `queries.jsonl` (`id`, `query`, `gold` as pairs of
    /// server and name, and optionally `gold_groups`, `split`, `steps`).
    ///
    /// # Errors
    /// [`Error::File`], with the line, if a file cannot be read or a line does not hold what it
    /// must: a set that is only partly understood would give wrong figures.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self> {
        let folder = folder.as_ref();
        let (tools, queries) = (folder.join(TOOLS), folder.join(QUERIES));
        let (tools_text, queries_text) = (read(&tools)?, read(&queries)?);
        let catalog = read_catalog(&tools, &tools_text)?;
        let queries = lines(&queries, &queries_text, |line| read_query(line, &catalog))?;
        let name = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let name = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Ok(Self { name, catalog, queries, sample: None, digest: Digest::of_parts([tools_text, queries_text]) })
    }

    /// Opens a folder that is a set, or all sets in a folder of sets, by name.
    ///
    /// # Errors
    /// As [`Self::open`]; and [`Error::File`] if the folder is no set and holds none.
    pub fn open_all(folder: impl AsRef<Path>) -> Result<Vec<Self>> {
        let folder = folder.as_ref();
        if folder.join(TOOLS).is_file() {
            return Ok(vec![Self::open(folder)?]);
        }
        let entries = fs::read_dir(folder).map_err(|error| file_error(folder, "cannot be read", error))?;
        let mut sets: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.join(TOOLS).is_file()).collect();
        if sets.is_empty() {
            let reason = format!("neither a set (a folder with {TOOLS} and {QUERIES}) nor a folder of sets");
            return Err(Error::File { path: folder.to_owned(), reason, source: None });
        }
        sets.sort();
        sets.into_iter().map(Self::open).collect()
    }

    /// The names of its parts.
    pub fn splits(&self) -> BTreeSet<&str> {
        self.queries.iter().filter_map(|query| query.split.as_deref()).collect()
    }

    /// Whether any of its queries has steps.
    pub fn has_steps(&self) -> bool {
        self.queries.iter().any(|query| !query.steps.is_empty())
    }

    /// The same set with at most `per_split` queries of each split, evenly spaced over the file.
    #[must_use]
    pub fn sampled(&self, per_split: usize) -> Self {
        let mut splits: Vec<&Option<String>> = self.queries.iter().map(|query| &query.split).collect();
        splits.sort_unstable();
        splits.dedup();
        let of_split = |split: &Option<String>| {
            let all: Vec<&LabeledQuery> = self.queries.iter().filter(|query| query.split == *split).collect();
            let count = all.len().min(per_split);
            (0..count).map(|i| all[i * all.len() / count].clone()).collect::<Vec<_>>()
        };
        let sample = Some(format!("at most {per_split} of each split"));
        Self { queries: splits.into_iter().flat_map(of_split).collect(), sample, ..self.clone() }
    }

    /// The same set with its first `count` queries by id, which is how some comparisons cut sets.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        let mut queries = self.queries.clone();
        queries.sort_by(|a, b| a.id.cmp(&b.id));
        queries.truncate(count);
        Self { queries, sample: Some(format!("first {count} by id")), ..self.clone() }
    }
}

impl LabeledQuery {
    /// What is searched with.
    pub fn query(&self, form: QueryForm) -> Query {
        match form {
            QueryForm::Steps if !self.steps.is_empty() => Query::of_parts(self.steps.iter().map(String::as_str)),
            _ => Query::new(self.text.as_str()),
        }
    }
}

const TOOLS: &str = "tools.jsonl";
const QUERIES: &str = "queries.jsonl";

#[derive(Deserialize)]
struct QueryLine {
    id: Value,
    query: String,
    #[serde(default)]
    gold: Vec<(String, String)>,
    gold_groups: Option<Vec<Vec<(String, String)>>>,
    split: Option<String>,
    #[serde(default)]
    steps: Vec<String>,
}

fn read_catalog(path: &Path, text: &str) -> Result<Catalog> {
    let mut builder = Catalog::builder();
    let mut seen = std::collections::HashSet::new();
    for (server, tool) in lines(path, text, read_tool)?.into_iter() {
        let id = ToolId::new(server.clone(), tool.name.as_str());
        if !seen.insert(id.clone()) {
            return Err(Error::File {
                path: path.to_owned(),
                reason: format!("tool {id} stands in it twice"),
                source: None,
            });
        }
        builder = builder.tool(server, tool);
    }
    Ok(builder.build())
}

fn read_tool(line: &str) -> Result<(ServerId, Tool), String> {
    let mut value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let server = value.as_object_mut().and_then(|tool| tool.remove("server"));
    let server = server.as_ref().and_then(Value::as_str).ok_or("`server` must be a string")?;
    let server = ServerId::new(server).map_err(|error| error.to_string())?;
    Ok((server, Tool::read(value)?.item))
}

fn read_query(line: &str, catalog: &Catalog) -> Result<LabeledQuery, String> {
    let line: QueryLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let groups = line.gold_groups.unwrap_or_else(|| line.gold.into_iter().map(|gold| vec![gold]).collect());
    let tool = |(server, name): (String, String)| {
        let tool = ToolId::new(ServerId::new(server).map_err(|error| error.to_string())?, name);
        if catalog.tool(&tool).is_none() {
            return Err(format!("gold tool {} is not in {TOOLS}", excerpt(&tool.to_string())));
        }
        Ok(tool)
    };
    let group = |group: Vec<(String, String)>| {
        if group.is_empty() { Err("a gold group is empty".to_owned()) } else { group.into_iter().map(tool).collect() }
    };
    Ok(LabeledQuery {
        id: line.id.as_str().map_or_else(|| line.id.to_string(), str::to_owned),
        text: line.query,
        groups: groups.into_iter().map(group).collect::<Result<_, _>>()?,
        split: line.split,
        steps: line.steps,
    })
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| file_error(path, "cannot be read", error))
}

fn lines<T>(path: &Path, text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>> {
    let numbered = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    numbered
        .map(|(number, line)| {
            read(line).map_err(|reason| Error::File {
                path: path.to_owned(),
                reason: format!("line {number}: {reason}"),
                source: None,
            })
        })
        .collect()
}

fn file_error(path: &Path, reason: &str, source: impl Into<BoxError>) -> Error {
    Error::File { path: path.to_owned(), reason: reason.into(), source: Some(source.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(tools: &str, queries: &str) -> Result<DataSet> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(TOOLS), tools).unwrap();
        fs::write(folder.path().join(QUERIES), queries).unwrap();
        DataSet::open(folder.path())
    }

    const TOOL: &str = r#"{"server": "git", "name": "merge", "description": "Merge", "inputSchema": {}}"#;

    #[test]
    fn a_set_is_read() {
        let query = r#"{"id": 7, "query": "join", "gold": [["git", "merge"]], "split": "a", "steps": ["merge"]}"#;
        let none = r#"{"id": "n", "query": "hello", "gold": []}"#;
        let set = set(TOOL, &format!("{query}\n\n{none}\n")).unwrap();
        assert_eq!(set.catalog.tools().len(), 1);
        assert_eq!(
            (set.queries[0].id.as_str(), set.queries[0].groups[0][0].to_string()),
            ("7", "git/merge".to_owned())
        );
        assert!(set.queries[1].groups.is_empty());
        assert!(set.has_steps() && set.splits().into_iter().eq(["a"]));
        assert_eq!(set.queries[0].query(QueryForm::Steps), Query::new("merge"));
        assert_eq!(set.queries[1].query(QueryForm::Steps), Query::new("hello"));
    }

    #[test]
    fn faults_name_file_and_line() {
        for (tools, queries, expected) in [
            (format!("{TOOL}\n{{}}"), String::new(), "tools.jsonl: line 2: `server` must be a string"),
            (format!("{TOOL}\n{TOOL}"), String::new(), "tools.jsonl: tool git/merge stands in it twice"),
            (
                TOOL.into(),
                r#"{"id": 1, "query": "x", "gold": [["git", "rebase"]]}"#.into(),
                "queries.jsonl: line 1: gold tool git/rebase is not in tools.jsonl",
            ),
            (TOOL.into(), r#"{"id": 1, "gold": []}"#.into(), "queries.jsonl: line 1: missing field `query` at line 1"),
        ] {
            let error = set(&tools, &queries).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn samples_are_evenly_spaced() {
        let queries: Vec<_> = (0..10)
            .map(|i| format!(r#"{{"id": {i}, "query": "x", "split": "{}"}}"#, if i < 7 { "a" } else { "b" }))
            .collect();
        let set = set(TOOL, &queries.join("\n")).unwrap();
        let ids: Vec<_> = set.sampled(3).queries.iter().map(|query| query.id.clone()).collect();
        assert_eq!(ids.join(" "), "0 2 4 7 8 9");
    }
}
