use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use super::{
    OTHER,
    terms::{NAME_WEIGHT, Terms},
};

/// The most words of a label.
const MAX_WORDS: usize = 3;

/// A later word must count at least so much of the first one: less says little of the topic.
const WORTH: f64 = 0.35;

/// A label for each topic from the words of its tools, no two the same. A topic without words is
/// `topic` with a number.
///
/// A word counts by the share of the topic's tools that have it, times its rarity over all topics
/// (class-based TF-IDF, Grootendorst 2022). In a tool's name it counts four times as
/// much as in its description, however often either says it.
pub(super) fn labels(terms: &Terms, of: &[Option<u32>], topics: usize) -> Vec<String> {
    let mut tools = vec![0_u32; topics];
    let mut counts: Vec<BTreeMap<u32, (u32, u32)>> = vec![BTreeMap::new(); topics];
    let mut all = vec![0_u32; terms.len()];
    for (has, topic) in terms.tools().iter().zip(of) {
        let Some(topic) = topic else { continue };
        tools[*topic as usize] += 1;
        for (term, count) in has {
            let count = if *count >= NAME_WEIGHT { NAME_WEIGHT } else { 1 };
            let of_topic: &mut (u32, u32) = counts[*topic as usize].entry(*term).or_default();
            *of_topic = (of_topic.0 + 1, of_topic.1 + count);
            all[*term as usize] += count;
        }
    }
    let mean = all.iter().map(|count| f64::from(*count)).sum::<f64>() / topics.max(1) as f64;
    // No topic is called what tools without one have.
    let mut taken = BTreeSet::from([OTHER.to_owned()]);
    let mut labels = vec![String::new(); topics];
    // The largest topics choose first.
    let mut order: Vec<usize> = (0..topics).collect();
    order.sort_by_key(|topic| Reverse(tools[*topic]));
    for topic in order {
        let weight = |(term, (_, count)): (&u32, &(u32, u32))| {
            let share = f64::from(*count) / f64::from(tools[topic].max(1));
            let weight = share * (1.0 + mean / f64::from(all[*term as usize].max(1))).ln();
            // In millionths, so that what is equal is so whatever its last digits.
            ((weight * 1e6) as u64, *term)
        };
        // A word of one tool among several says nothing of the others.
        let common = counts[topic].iter().filter(|(_, (with, _))| tools[topic] == 1 || *with > 1);
        let mut words: Vec<(u64, &str)> = common
            .map(weight)
            .map(|(weight, term)| (weight, terms.surface(term)))
            .filter(|(_, word)| shown(word))
            .collect();
        words.sort_by_key(|(weight, word)| (Reverse(*weight), *word));
        let least = words.first().map_or(0.0, |(weight, _)| *weight as f64 * WORTH);
        let worth = words.iter().take_while(|(weight, _)| *weight as f64 >= least).count().clamp(0, MAX_WORDS);
        // If another topic has the same words, one more tells them apart.
        let longer = (worth.max(1)..=words.len()).map(|count| joined(&words[..count]));
        let label = longer.take(MAX_WORDS + 2).find(|label| !taken.contains(label));
        let label = label.unwrap_or_else(|| {
            let base = if worth == 0 { "topic".to_owned() } else { joined(&words[..worth]) };
            let mut label = base.clone();
            for number in 2.. {
                if !taken.contains(&label) {
                    break;
                }
                label = format!("{base} {number}");
            }
            label
        });
        taken.insert(label.clone());
        labels[topic] = label;
    }
    labels
}

fn joined(words: &[(u64, &str)]) -> String {
    words.iter().map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
}

/// Whether a word can stand in a label: neither a scrap nor data.
fn shown(word: &str) -> bool {
    let chars = word.chars().count();
    chars <= MAX_WORD_CHARS && (chars >= 3 || !word.is_ascii())
}

const MAX_WORD_CHARS: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_others_have_not_are_the_label() {
        let texts = [
            ("red_boat", "a boat at sea, large"),
            ("blue_boat", "another boat at sea"),
            ("big_cake", "a cake with sugar, large"),
            ("small_cake", "a cake without sugar"),
        ];
        let terms = Terms::new(texts.iter().map(|(name, rest)| (*name, (*rest).to_owned())));
        let of = [Some(0), Some(0), Some(1), Some(1)];
        assert_eq!(labels(&terms, &of, 2), ["boat, sea", "cake, sugar"]);
    }

    #[test]
    fn no_two_labels_are_the_same() {
        let terms = Terms::new(["boat", "boat", "x", "other"].into_iter().map(|name| (name, String::new())));
        let of = [Some(0), Some(1), Some(2), Some(3)];
        assert_eq!(labels(&terms, &of, 4), ["boat", "boat 2", "topic", "other 2"]);
    }
}
