use std::fmt;

use crate::error::excerpt;

/// What the model is no longer told, and where in the schema.
///
/// Where is a chain of steps on the stack, written out only for what is lost: schemas are visited far more often.
#[derive(Debug)]
pub(super) struct Losses<'a> {
    at: Option<Step<'a>>,
    told: &'a mut Told,
}

/// All losses of one schema, each with its place.
#[derive(Debug, Default)]
pub(super) struct Told(Vec<(String, String)>);

#[derive(Clone, Copy, Debug)]
struct Step<'a> {
    name: &'a str,
    index: Option<usize>,
    outer: Option<&'a Self>,
}

impl Told {
    /// Who reads a report needs the kind of the losses, not each of a hundred.
    const MAX_SENTENCES: usize = 8;

    /// The losses at the root.
    pub(super) fn root(&mut self) -> Losses<'_> {
        Losses { at: None, told: self }
    }

    /// One sentence for each loss, by place; the last one counts those beyond a few.
    pub(super) fn into_sentences(mut self) -> Vec<String> {
        self.0.sort_by(|(a, _), (b, _)| a.cmp(b));
        let more = self.0.len().saturating_sub(Self::MAX_SENTENCES);
        let named = |place: &str| if place.is_empty() { "root".to_owned() } else { excerpt(place) };
        let all = self.0.iter().take(Self::MAX_SENTENCES);
        let mut sentences: Vec<String> = all.map(|(place, what)| format!("{} {what}", named(place))).collect();
        sentences.extend((more > 0).then(|| format!("and {more} more")));
        sentences
    }
}

impl<'a> Losses<'a> {
    /// Adds a sentence about the schema that is looked at.
    pub(super) fn add(&mut self, what: impl fmt::Display) {
        let place = self.pointer();
        self.told.0.push((place, what.to_string()));
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.told.0.len()
    }

    /// Whether it is the root that is looked at.
    pub(super) fn is_at_root(&self) -> bool {
        self.at.is_none()
    }

    /// What is looked at, for a sentence.
    pub(super) fn place(&self) -> String {
        if self.is_at_root() { "root".into() } else { excerpt(&self.pointer()) }
    }

    /// Looks at the schema that a keyword holds.
    pub(super) fn at<T>(&mut self, keyword: &str, look: impl FnOnce(&mut Losses<'_>) -> T) -> T {
        look(&mut Losses { at: Some(Step { name: keyword, index: None, outer: self.at.as_ref() }), told: self.told })
    }

    /// Looks at one of the schemas that a keyword holds by name.
    pub(super) fn named<T>(&mut self, keyword: &str, name: &str, look: impl FnOnce(&mut Losses<'_>) -> T) -> T {
        let outer = Step { name: keyword, index: None, outer: self.at.as_ref() };
        look(&mut Losses { at: Some(Step { name, index: None, outer: Some(&outer) }), told: self.told })
    }

    /// Looks at one of the schemas that a keyword holds in a list.
    pub(super) fn listed<T>(&mut self, keyword: &str, index: usize, look: impl FnOnce(&mut Losses<'_>) -> T) -> T {
        look(&mut Losses {
            at: Some(Step { name: keyword, index: Some(index), outer: self.at.as_ref() }),
            told: self.told,
        })
    }

    /// JSON pointer of the schema that is looked at.
    fn pointer(&self) -> String {
        let mut steps = Vec::new();
        let mut next = self.at.as_ref();
        while let Some(step) = next {
            steps.push(step);
            next = step.outer;
        }
        let mut pointer = String::new();
        for step in steps.into_iter().rev() {
            pointer.push('/');
            pointer.push_str(&step.name.replace('~', "~0").replace('/', "~1"));
            pointer.extend(step.index.map(|index| format!("/{index}")));
        }
        pointer
    }
}
