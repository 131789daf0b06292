/// Whether a lowercase word says nothing about what is asked for.
///
/// Function words, and the words with which people address an assistant ("could you please help
/// me"): these are rare in descriptions, so that without this list their rarity would outweigh
/// what the request is about.
pub(super) fn is_stop_word(word: &str) -> bool {
    // Sorted, so that a look-up is a search.
    word.len() <= LONGEST && STOP_WORDS.binary_search(&word).is_ok()
}

const LONGEST: usize = 8;

const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
    "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_bounded() {
        assert!(STOP_WORDS.is_sorted());
        assert_eq!(STOP_WORDS.iter().map(|word| word.len()).max(), Some(LONGEST));
        assert!(is_stop_word("the") && !is_stop_word("search"));
    }
}
