use serde::de::IgnoredAny;

/// What a text consists of, which is where it may be cut: see [`trim`](super::trim).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum TextKind {
    /// Lines and paragraphs.
    #[default]
    Plain,
    /// Sections under headings.
    Markdown,
    /// Elements of arrays and objects.
    Json,
    /// Rows under a header.
    Csv {
        /// What stands between fields: `,`, `;`, a tab or `|`.
        delimiter: u8,
    },
    /// Blocks by indentation: source code, configuration, markup.
    Code,
}

impl TextKind {
    /// What a text is: by its MIME type, else by the extension of its URI, else by a careful look
    /// that takes a text for something only if little else would look like it.
    ///
    /// `mime_type` has no parameters. `text/plain` says nothing: servers give it to every file.
    pub fn of(mime_type: Option<&str>, uri: &str, text: &str) -> Self {
        let named = mime_type.and_then(Self::of_mime).or_else(|| of_extension(uri));
        match named {
            Some(Self::Csv { delimiter: b',' }) => Self::Csv { delimiter: delimiter(text) },
            Some(kind) => kind,
            None => of_look(text),
        }
    }

    /// What a MIME type in lower case says.
    pub(super) fn of_mime(essence: &str) -> Option<Self> {
        let (kind, subtype) = essence.split_once('/')?;
        let name = subtype.strip_prefix("x-").unwrap_or(subtype);
        Some(match name {
            "markdown" if kind == "text" => Self::Markdown,
            "json" => Self::Json,
            "jsonl" | "ndjson" | "json-lines" | "jsonlines" | "json-seq" => Self::Plain,
            "csv" => Self::Csv { delimiter: b',' },
            "tab-separated-values" => Self::Csv { delimiter: b'\t' },
            "javascript" | "ecmascript" | "typescript" | "xml" | "yaml" | "toml" | "sql" | "graphql" | "sh"
            | "shellscript" | "python" | "python-code" | "ruby" | "perl" | "php" | "httpd-php" | "tex" | "latex"
            | "xml-dtd" | "css" | "html" => Self::Code,
            _ if subtype.ends_with("+json") => Self::Json,
            _ if subtype.ends_with("+xml") || subtype.ends_with("+yaml") => Self::Code,
            // `text/x-rust`, `text/x-c`: how source types without a registration are written.
            _ if kind == "text" && name != subtype && name != "log" => Self::Code,
            _ => return None,
        })
    }
}

fn of_extension(uri: &str) -> Option<TextKind> {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit(['/', ':', '\\']).next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or(name, |(_, extension)| extension);
    if extension.len() > LONGEST {
        return None;
    }
    let extension = extension.to_ascii_lowercase();
    Some(match extension.as_str() {
        "md" | "markdown" | "mdx" | "mkd" => TextKind::Markdown,
        "json" | "geojson" | "ipynb" | "webmanifest" => TextKind::Json,
        "csv" => TextKind::Csv { delimiter: b',' },
        "tsv" | "tab" => TextKind::Csv { delimiter: b'\t' },
        "txt" | "text" | "log" | "jsonl" | "ndjson" => TextKind::Plain,
        extension if CODE.binary_search(&extension).is_ok() => TextKind::Code,
        _ => return None,
    })
}

const LONGEST: usize = 12;

/// Sorted, so that a look-up is a search. Some are names of files without an extension.
const CODE: &[&str] = &[
    "astro",
    "bash",
    "bat",
    "c",
    "cc",
    "cfg",
    "clj",
    "cmake",
    "conf",
    "cpp",
    "cs",
    "css",
    "cxx",
    "dart",
    "diff",
    "dockerfile",
    "erl",
    "ex",
    "exs",
    "fs",
    "go",
    "gradle",
    "graphql",
    "groovy",
    "h",
    "hcl",
    "hpp",
    "hs",
    "htm",
    "html",
    "ini",
    "java",
    "jl",
    "js",
    "jsonc",
    "jsx",
    "justfile",
    "kt",
    "kts",
    "less",
    "lua",
    "m",
    "makefile",
    "mjs",
    "ml",
    "nix",
    "patch",
    "php",
    "pl",
    "properties",
    "proto",
    "ps1",
    "py",
    "pyi",
    "r",
    "rb",
    "rs",
    "sass",
    "scala",
    "scss",
    "sh",
    "sql",
    "svelte",
    "svg",
    "swift",
    "tex",
    "tf",
    "toml",
    "ts",
    "tsx",
    "vue",
    "xhtml",
    "xml",
    "xsd",
    "yaml",
    "yml",
    "zig",
    "zsh",
];

fn of_look(text: &str) -> TextKind {
    let start = text.trim_start();
    let begins = |with: &str| start.get(..with.len()).is_some_and(|start| start.eq_ignore_ascii_case(with));
    if start.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(start).is_ok() {
        return TextKind::Json;
    }
    if ["#!", "<?xml", "<!doctype", "<html", "<svg"].into_iter().any(begins) {
        return TextKind::Code;
    }
    // One line that begins with `#` may be a comment; a title and a heading below it are not.
    if start.starts_with("# ") && start.lines().any(|line| line.starts_with("## ")) {
        return TextKind::Markdown;
    }
    table_delimiter(start).map_or(TextKind::Plain, |delimiter| TextKind::Csv { delimiter })
}

/// What stands most often in the first line outside of quotes; a comma if nothing does.
fn delimiter(text: &str) -> u8 {
    let line = text.lines().next().unwrap_or_default();
    let count = |of| (fields(line, of), of);
    // The last of equals is the greatest: the comma.
    [b'|', b'\t', b';', b','].into_iter().map(count).max_by_key(|(fields, _)| *fields).map_or(b',', |(_, of)| of)
}

/// What parts every one of the first lines into the same number of fields. Prose has commas too, so
/// of these there must be more.
fn table_delimiter(text: &str) -> Option<u8> {
    const LINES: usize = 10;
    let lines: Vec<&str> = text.lines().take(LINES).collect();
    let same = |of: u8, least: usize| {
        let expected = lines.first().map_or(0, |line| fields(line, of));
        expected >= least && lines.len() >= 4 && lines.iter().all(|line| fields(line, of) == expected)
    };
    [(b'\t', 2), (b',', 3), (b';', 3)].into_iter().find(|(of, least)| same(*of, *least)).map(|(of, _)| of)
}

fn fields(line: &str, delimiter: u8) -> usize {
    let mut quoted = false;
    let mut fields = 1;
    for byte in line.bytes() {
        quoted ^= byte == b'"';
        fields += usize::from(byte == delimiter && !quoted);
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMAS: TextKind = TextKind::Csv { delimiter: b',' };

    #[test]
    fn names_of_code_are_found() {
        assert!(CODE.is_sorted() && CODE.iter().all(|name| name.len() <= LONGEST));
    }

    #[test]
    fn a_type_counts_before_an_extension_and_both_before_the_text() {
        let of = TextKind::of;
        assert_eq!(of(Some("application/vnd.api+json"), "x:a.md", "# a"), TextKind::Json);
        assert_eq!(of(Some("text/plain"), "file:///a/README.md?ref=main#top", "{}"), TextKind::Markdown);
        assert_eq!(of(Some("text/x-rust"), "x:", ""), TextKind::Code);
        assert_eq!(of(Some("image/svg+xml"), "x:", ""), TextKind::Code);
        assert_eq!(of(None, "file:///Makefile", ""), TextKind::Code);
        assert_eq!(of(None, "x:notes.txt", "{}"), TextKind::Plain);
        assert_eq!(of(Some("text/csv"), "x:", "a;b;c\n1,5;2;3"), TextKind::Csv { delimiter: b';' });
        assert_eq!(of(Some("text/tab-separated-values"), "x:", "a,b"), TextKind::Csv { delimiter: b'\t' });
    }

    #[test]
    fn a_look_is_careful() {
        for (text, expected) in [
            ("{\"a\": [1]}", TextKind::Json),
            ("[draft] see below", TextKind::Plain),
            ("# Plan\n\nText\n\n## Steps\n", TextKind::Markdown),
            ("# a comment\nx = 1\n", TextKind::Plain),
            ("#!/bin/sh\necho", TextKind::Code),
            ("<!DOCTYPE html><p>", TextKind::Code),
            ("a,b,c\n1,2,3\n4,\"5,5\",6\n7,8,9\n", COMMAS),
            ("Well, yes.\nNo, not.\nSo, what?\nAh, that.\n", TextKind::Plain),
            ("", TextKind::Plain),
        ] {
            assert_eq!(TextKind::of(None, "x:", text), expected, "{text}");
        }
    }
}
