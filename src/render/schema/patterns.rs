//! Regular expressions as far as providers look into them.

/// Whether a pattern looks ahead or behind, which OpenAI refuses.
pub(super) fn has_lookaround(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(at) = rest.find(['\\', '(']) {
        let (_, from) = rest.split_at(at);
        if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|opening| from.starts_with(opening)) {
            return true;
        }
        let mut chars = from.chars();
        if chars.next() == Some('\\') {
            chars.next();
        }
        rest = chars.as_str();
    }
    false
}

/// Whether a pattern has the outer form of a regular expression: groups and classes are closed, and
/// nothing is repeated that is not there. A broken one is refused with the whole request.
pub(super) fn is_regex(pattern: &str) -> bool {
    let mut groups = 0_usize;
    let mut can_repeat = false;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                if chars.next().is_none() {
                    return false;
                }
                can_repeat = true;
            }
            '[' => {
                if !close_class(&mut chars) {
                    return false;
                }
                can_repeat = true;
            }
            '(' => {
                groups += 1;
                // `?` here is the kind of the group.
                chars.next_if_eq(&'?');
                can_repeat = false;
            }
            ')' => {
                let Some(open) = groups.checked_sub(1) else { return false };
                groups = open;
                can_repeat = true;
            }
            '|' => can_repeat = false,
            '*' | '+' | '?' => {
                if !can_repeat {
                    return false;
                }
                // Lazy.
                chars.next_if_eq(&'?');
                can_repeat = false;
            }
            _ => can_repeat = true,
        }
    }
    groups == 0
}

/// Reads a class to its end. False if it has none, or holds a range that goes backwards.
fn close_class(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    chars.next_if_eq(&'^');
    let mut last: Option<char> = None;
    while let Some(c) = chars.next() {
        match c {
            ']' => return true,
            '\\' => {
                if chars.next().is_none() {
                    return false;
                }
                last = None;
            }
            '-' => {
                let (Some(start), Some(&end)) = (last.take(), chars.peek()) else { continue };
                if end != ']' && end != '\\' {
                    chars.next();
                    if start > end {
                        return false;
                    }
                }
            }
            _ => last = Some(c),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookaround_is_found_and_nothing_else_is() {
        for pattern in ["^(?!a)b", "(?=.*d)", "(?<=a)b", "\\\\(?<!a)", "[(](?!a)"] {
            assert!(has_lookaround(pattern), "{pattern}");
        }
        for pattern in ["", "^a$", "(?:a)", "\\(?=", "(?<name>a)", "a?=b"] {
            assert!(!has_lookaround(pattern), "{pattern}");
        }
    }

    #[test]
    fn broken_patterns_are_found() {
        for pattern in ["(", ")", "[a", "a\\", "*a", "a|+", "(*a)", "[z-a]", "a**", "[\\"] {
            assert!(!is_regex(pattern), "{pattern}");
        }
        for pattern in ["", "^[a-z0-9_-]{1,64}$", "(?:a|b)*?", "[^]a]]|[\\]-]", "\\(", "a{2,}", "[a-]", "(?!a)b+", "[]"]
        {
            assert!(is_regex(pattern), "{pattern}");
        }
    }
}
