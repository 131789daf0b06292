//! The same rankings give the same figures as the independent evaluator that stands beside the sets.

#![allow(clippy::unwrap_used, reason = "an evaluator that cannot be run fails the test")]

use std::{
    io::Write,
    process::{Command, Stdio},
};

use proem::{eval::Metrics, id::ToolId};
use serde_json::json;

use crate::{eval::set, outside};

/// Loads the evaluator's `score`, not its program nor what that ranks with, and scores each line of stdin.
const SCORE: &str = "
import json, sys, types
for name in ('numpy', 'bm25s', 'Stemmer'):
    sys.modules[name] = types.ModuleType(name)
sys.modules['Stemmer'].Stemmer = lambda language: None
source = open(sys.argv[1], encoding='utf-8').read()
exec(source.split('\\ndef main(')[0])
for line in sys.stdin:
    ranking, groups = json.loads(line)
    of = score(ranking, groups)
    print(json.dumps([of[k] for k in ('R@1', 'R@3', 'R@5', 'R@10', 'N@5', 'N@10', 'C@10', 'M@10')]))
";

#[test]
fn figures_are_those_of_the_independent_evaluator() {
    let Some(set) = set("livemcpbench") else { return };
    let tools: Vec<&ToolId> = set.catalog.tools().iter().map(|entry| &entry.id).collect();
    let at = |tool: &ToolId| tools.iter().position(|other| *other == tool).unwrap();
    let mut lines = String::new();
    let mut ours = Vec::new();
    for (i, query) in set.queries.iter().enumerate() {
        // A fixed ranking: tools from anywhere, and the gold ones at places that the query's number gives.
        let mut ranking: Vec<usize> = (0..12).map(|k| (i * 31 + k * 97) % tools.len()).collect();
        for (j, group) in query.groups.iter().enumerate() {
            let place = (i * 7 + j * 5) % 14;
            if place < ranking.len() {
                ranking[place] = at(&group[(i + j) % group.len()]);
            }
        }
        let groups: Vec<Vec<usize>> = query.groups.iter().map(|group| group.iter().map(&at).collect()).collect();
        lines += &format!("{}\n", json!([ranking, groups]));
        let ranking: Vec<ToolId> = ranking.iter().map(|at| tools[*at].clone()).collect();
        let Metrics { recall: [r1, r3, r5, r10], ndcg_5, ndcg_10, completeness_10, mrr_10, .. } =
            Metrics::of(&ranking, &query.groups);
        ours.push([r1, r3, r5, r10, ndcg_5, ndcg_10, completeness_10, mrr_10]);
    }
    let script = outside::shared("../tools/eval_baselines.py").unwrap();
    let mut python = Command::new("python3")
        .args(["-c", SCORE])
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = python.stdin.take().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    drop(stdin);
    let output = python.wait_with_output().unwrap();
    assert!(output.status.success());
    let theirs: Vec<Vec<f64>> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(theirs.len(), ours.len());
    for ((theirs, ours), query) in theirs.iter().zip(&ours).zip(&set.queries) {
        let same = theirs.iter().zip(ours).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(same, "{}: {theirs:?} {ours:?}", query.id);
    }
    // The rankings are neither all right nor all wrong.
    let mean: f64 = ours.iter().map(|of| of[5]).sum::<f64>() / ours.len() as f64;
    assert!((0.2..0.8).contains(&mean), "{mean}");
}
