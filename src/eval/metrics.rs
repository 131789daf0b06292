use crate::id::ToolId;

/// How well one ranking answers one query.
///
/// The unit is a *gold group*: a need of the query that any of its tools satisfies. Where a set
/// names plain gold tools, each is a group of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Metrics {
    /// The share of groups satisfied by the first 1, 3, 5 and 10 tools.
    pub recall: [f64; 4],
    /// [`Self::ndcg_10`] over the first 5.
    pub ndcg_5: f64,
    /// Normalized discounted cumulative gain over the first 10: a group gains 1 where its first
    /// tool stands, once; the ideal puts one group at each place.
    pub ndcg_10: f64,
    /// 1 if the first 10 tools satisfy every group, else 0.
    pub completeness_10: f64,
    /// 1 / the rank of the first tool that satisfies any group; 0 if that is beyond 10.
    pub mrr_10: f64,
}

impl Metrics {
    /// The depths of [`Self::recall`].
    pub const RECALL_AT: [usize; 4] = [1, 3, 5, 10];

    /// Measures a ranking, best first. With no group at all every value is 0.
    pub fn of(ranking: &[ToolId], groups: &[Vec<ToolId>]) -> Self {
        if groups.is_empty() {
            return Self::default();
        }
        let top = &ranking[..ranking.len().min(10)];
        // Where each group is first satisfied, counted from 0.
        let found: Vec<Option<usize>> =
            groups.iter().map(|group| top.iter().position(|tool| group.contains(tool))).collect();
        let share = |k: usize| found.iter().flatten().filter(|at| **at < k).count() as f64 / groups.len() as f64;
        let mut places: Vec<usize> = found.iter().copied().flatten().collect();
        places.sort_unstable();
        places.dedup();
        let gain = |at: usize| 1.0 / (at as f64 + 2.0).log2();
        let ndcg = |k: usize| {
            let ideal: f64 = (0..groups.len().min(k)).map(gain).sum();
            places.iter().copied().filter(|at| *at < k).map(gain).sum::<f64>() / ideal
        };
        Self {
            recall: Self::RECALL_AT.map(share),
            ndcg_5: ndcg(5),
            ndcg_10: ndcg(10),
            completeness_10: if found.iter().all(Option::is_some) { 1.0 } else { 0.0 },
            mrr_10: places.first().map_or(0.0, |at| 1.0 / (*at as f64 + 1.0)),
        }
    }
}

impl Metrics {
    /// How the values of [`Self::values`] are called in reports.
    pub(super) const NAMES: [&str; 8] =
        ["recall@1", "recall@3", "recall@5", "recall@10", "ndcg@5", "ndcg@10", "completeness@10", "mrr"];

    /// All values.
    pub(super) fn values(&self) -> [f64; 8] {
        let [one, three, five, ten] = self.recall;
        [one, three, five, ten, self.ndcg_5, self.ndcg_10, self.completeness_10, self.mrr_10]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ServerId;

    fn tools(names: &str) -> Vec<ToolId> {
        let server = ServerId::new("s").unwrap();
        names.split_whitespace().map(|name| ToolId::new(server.clone(), name)).collect()
    }

    #[test]
    fn figures_by_hand() {
        // Group 1 at rank 2 (by its second member, before its first at 4), group 2 at rank 6, group 3 never.
        let ranking = tools("x b y a z c d");
        let groups = [tools("a b"), tools("c"), tools("q")];
        let metrics = Metrics::of(&ranking, &groups);
        assert_eq!(metrics.recall, [0.0, 1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0]);
        // (1/log2(3) + 1/log2(7)) / (1 + 1/log2(3) + 1/2) = 0.98714 / 2.13093
        assert!((metrics.ndcg_10 - 0.463_242).abs() < 1e-6, "{}", metrics.ndcg_10);
        // Group 2 stands beyond 5: (1/log2(3)) / (1 + 1/log2(3) + 1/2) = 0.63093 / 2.13093
        assert!((metrics.ndcg_5 - 0.296_082).abs() < 1e-6, "{}", metrics.ndcg_5);
        assert_eq!(metrics.completeness_10, 0.0);
        assert_eq!(metrics.mrr_10, 0.5);
    }

    #[test]
    fn one_tool_for_two_groups_gains_once() {
        let metrics = Metrics::of(&tools("a b"), &[tools("a"), tools("a b")]);
        assert_eq!(metrics.recall, [1.0; 4]);
        assert_eq!(metrics.completeness_10, 1.0);
        assert!((metrics.ndcg_10 - 1.0 / 1.630_93).abs() < 1e-5);
    }

    #[test]
    fn many_groups_have_the_ideal_of_their_depth() {
        let six = ["a", "b", "c", "d", "e", "f"].map(tools);
        let metrics = Metrics::of(&tools("a b c d e x f"), &six);
        assert_eq!((metrics.ndcg_5, metrics.mrr_10), (1.0, 1.0));
        // The sixth gains 1/log2(8) at place 7 instead of 1/log2(7) at 6: 3.281793 / 3.304666
        assert!((metrics.ndcg_10 - 0.993_079).abs() < 1e-6, "{}", metrics.ndcg_10);
        assert_eq!(metrics.recall, [1.0 / 6.0, 0.5, 5.0 / 6.0, 1.0]);
    }

    #[test]
    fn what_stands_beyond_ten_does_not_count() {
        let metrics = Metrics::of(&tools("1 2 3 4 5 6 7 8 9 10 a"), &[tools("a")]);
        assert_eq!(metrics, Metrics::default());
        assert_eq!(Metrics::of(&tools("a"), &[]), Metrics::default());
    }
}
