//! How much a text says on its own.

use crate::index::{fold, is_stop_word, normalize, split};

/// What is left of a text without the words that say nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Weight {
    /// Words that are no stop words, no digits and no words of agreement.
    content: usize,
    /// Whether it points back: "it", "the same".
    refers: bool,
}

impl Weight {
    /// Longer texts say enough, and need not be read.
    const MAX_BYTES: usize = 256;

    pub(super) fn of(text: &str) -> Self {
        let text = text.trim();
        if text.len() > Self::MAX_BYTES {
            return Self { content: usize::MAX, refers: false };
        }
        let text = normalize(text);
        let mut weight = Self { content: 0, refers: false };
        for word in split(&text) {
            let raw = &text[word.start..word.end];
            let folded = fold(raw);
            if word.unspaced {
                weight.refers |= raw.contains(REFERRING_CHARS);
                if !UNSPACED_REPLIES.contains(&raw) {
                    // Words of these scripts have two characters more often than any other number.
                    weight.content += raw.chars().count().div_ceil(2);
                }
                continue;
            }
            weight.refers |= REFERRING.contains(&&*folded);
            let digits = folded.bytes().all(|b| b.is_ascii_digit());
            if !digits && !is_stop_word(&folded) && !REPLIES.contains(&&*folded) {
                weight.content += 1;
            }
        }
        weight
    }

    /// Whether the text needs those before it.
    pub(super) fn leans(self) -> bool {
        self.content <= if self.refers { 2 } else { 1 }
    }

    /// Whether nothing of the text is worth a search.
    pub(super) fn is_nothing(self) -> bool {
        self.content == 0
    }
}

/// Words of agreement, doubt and haste that are no stop words.
const REPLIES: &[&str] = &[
    "absolutely",
    "ah",
    "ahead",
    "alright",
    "course",
    "correct",
    "definitely",
    "exactly",
    "fine",
    "go",
    "good",
    "great",
    "hm",
    "hmm",
    "maybe",
    "nah",
    "nice",
    "nope",
    "now",
    "oh",
    "ok",
    "okay",
    "perfect",
    "pls",
    "plz",
    "proceed",
    "really",
    "right",
    "thx",
    "u",
    "ur",
    "wait",
    "well",
    "yeah",
    "yep",
    "yes",
    "yet",
    "yup",
];

/// Words that stand for something said before.
const REFERRING: &[&str] = &[
    "again", "also", "another", "both", "else", "her", "him", "instead", "it", "its", "more", "one", "ones", "other",
    "same", "that", "thats", "their", "them", "these", "they", "this", "those", "too",
];

/// Whole answers of scripts without spaces.
const UNSPACED_REPLIES: &[&str] = &[
    "好",
    "好的",
    "是",
    "是的",
    "对",
    "行",
    "可以",
    "没问题",
    "不",
    "不是",
    "继续",
    "谢谢",
    "确定吗",
    "真的吗",
    "はい",
    "うん",
    "そう",
    "いいえ",
    "お願いします",
];

/// "This", "that", "it" of Chinese.
const REFERRING_CHARS: [char; 3] = ['这', '那', '它'];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leans_on_the_turns_before() {
        for text in [
            "yes, do it",
            "u sure?",
            "Are you sure about that?",
            "summarize that",
            "ok",
            "go ahead",
            "Yes please!",
            "",
            "👍",
            "no, the other one",
            "what about Berlin?",
            "send it to Anna",
            "and 42?",
            "do the same for Rome",
            "好的",
            "总结这个",
            "why?",
            "thanks, now delete them",
        ] {
            assert!(Weight::of(text).leans(), "{text}: {:?}", Weight::of(text));
        }
        for text in [
            "merge the release branch",
            "create_issue",
            "what is the weather in Berlin?",
            "play some music",
            "send the report to Anna",
            "查询北京的天气",
            "it should list all open issues",
            &"yes ".repeat(100),
        ] {
            assert!(!Weight::of(text).leans(), "{text}: {:?}", Weight::of(text));
        }
    }

    #[test]
    fn what_is_not_worth_a_search() {
        for text in ["yes, do it", "u sure?", "ok 1", "はい"] {
            assert!(Weight::of(text).is_nothing(), "{text}");
        }
        assert!(!Weight::of("summarize that").is_nothing());
    }
}
