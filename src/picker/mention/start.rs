/// Whether an `@` at `at` may start a mention by what stands before it: not in a word, an address, a path or a
/// URL, nor behind a `\`.
pub(super) fn may_start(text: &str, at: usize) -> bool {
    let Some(before) = text[..at].chars().next_back() else { return true };
    let of_word = before.is_alphanumeric() && !is_unspaced(before);
    !of_word && !matches!(before, '_' | '.' | '+' | '-' | '%' | '/' | '@' | '\\' | '=' | '~' | '&')
}

/// Whether a name can start with what stands behind an `@`. One that starts with punctuation is quoted.
pub(super) fn starts_name(text: &str) -> bool {
    text.chars().next().is_some_and(|c| !c.is_whitespace() && c != '@' && (c == '"' || !is_trailing(c)))
}

/// Where the white space behind a word begins.
pub(super) fn ends_word(text: &str) -> usize {
    text.find(char::is_whitespace).unwrap_or(text.len())
}

/// Punctuation that may end a sentence, a clause, a quotation or a pair of brackets.
pub(super) fn is_trailing(c: char) -> bool {
    matches!(
        c,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '\''
            | '"'
            | ')'
            | ']'
            | '}'
            | '>'
            | '*'
            | '…'
            | '’'
            | '”'
            | '»'
            | '。'
            | '，'
            | '、'
            | '；'
            | '：'
            | '！'
            | '？'
            | '）'
            | '】'
            | '」'
            | '』'
            | '》'
    )
}

/// A letter of a script that is written without spaces between words, or with endings that join them.
pub(super) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}' | '\u{20000}'..='\u{3ffff}')
}
