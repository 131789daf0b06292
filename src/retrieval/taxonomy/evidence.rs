use super::{Kind, Taxonomy, units::Units};
use crate::catalog::Catalog;

impl Taxonomy {
    /// How much each tool of `catalog` stands where the request points, 0 to 1, by position in the
    /// catalog: half for being of a kind that the request [wants](Kind::wanted), and up to half
    /// for a topic that is as near to its words as the nearest one.
    ///
    /// Soft: to be added to scores with a small weight, never to exclude.
    pub fn evidence(&self, request: &str, catalog: &Catalog) -> Vec<f32> {
        let wanted = Kind::wanted(request);
        let near = self.nearness(request);
        let of = |(kind, topic): (Kind, Option<usize>)| {
            let kind = if wanted.contains(&kind) { 0.5 } else { 0.0 };
            kind + topic.and_then(|topic| near.get(topic)).map_or(0.0, |near| 0.5 * near)
        };
        self.of_tools(catalog).map(of).collect()
    }

    /// The place of the topic that is nearest to the words of a request; none if it shares no word
    /// with any.
    pub fn nearest_topic(&self, request: &str) -> Option<usize> {
        let near = self.nearness(request);
        near.iter().position(|near| *near == 1.0)
    }

    /// By topic: how near it is, against the nearest one.
    fn nearness(&self, request: &str) -> Vec<f32> {
        let Some(text) = self.terms.project_text(request) else { return Vec::new() };
        let mut unit = Units::with_capacity(text.len(), 1);
        unit.push(&text);
        let cosine = |at: usize| Units::cosine(self.middles.get(at), unit.get(0)).max(0.0);
        let near: Vec<f32> = (0..self.middles.len()).map(cosine).collect();
        let best = near.iter().copied().fold(0.0, f32::max);
        if best > 0.0 { near.into_iter().map(|near| near / best).collect() } else { Vec::new() }
    }
}
