use super::words::{fold, normalize, split};
use crate::{catalog::ToolEntry, error::beginning};

/// The most bytes of a tool's text that are embedded. Models read 256 to 512 tokens, and most of
/// them more slowly the longer the text is.
pub(crate) const MAX_PASSAGE_BYTES: usize = 2_048;

/// The text of a tool that is embedded: the words of its server's name, what it says of itself, and
/// the host's hints.
///
/// With the server's name, 56 of 100 requests of LiveMCPBench, asked by steps, have all their tools
/// among the first ten, without it 54; StableToolBench gains a point of NDCG@10, Seal-Tools loses
/// one. What a server says of itself is left out, for it would stand in each of its vectors.
pub(crate) fn passage(entry: &ToolEntry, hints: &[String]) -> String {
    let mut passage = words(entry.id.server.as_str());
    passage.push(' ');
    says(passage, entry, hints)
}

/// What a tool says of itself: the words of its name, its title and its description.
pub(super) fn own_text(entry: &ToolEntry) -> String {
    says(String::new(), entry, &[])
}

/// Parameters are left out: they help where words are matched, and in a vector they thin out what
/// the tool does.
fn says(mut passage: String, entry: &ToolEntry, hints: &[String]) -> String {
    let mut name = words(&entry.id.name);
    if name.is_empty() {
        name.push_str(&entry.id.name);
    }
    passage.push_str(&name);
    let tool = &entry.tool;
    let title = tool.title.as_deref().or(tool.annotations.title.as_deref());
    let title = title.filter(|title| words(title) != name);
    let parts = title.into_iter().chain(tool.description.as_deref()).chain(hints.iter().map(String::as_str));
    for (i, part) in parts.map(str::trim).filter(|part| !part.is_empty()).enumerate() {
        passage.push_str(if i == 0 { ": " } else { "\n" });
        passage.push_str(part);
        if passage.len() > MAX_PASSAGE_BYTES {
            break;
        }
    }
    passage.truncate(beginning(&passage, MAX_PASSAGE_BYTES).len());
    passage
}

/// The words of a name, with a space between them.
fn words(name: &str) -> String {
    let name = normalize(name);
    let words: Vec<_> = split(&name).iter().map(|word| fold(&name[word.start..word.end])).collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{catalog::Catalog, id::ServerId, protocol::Tool};

    fn passage_of(mut tool: serde_json::Value, hints: &[&str]) -> String {
        tool["inputSchema"] = json!({});
        let tool = Tool::read(tool).unwrap().item;
        let catalog = Catalog::builder().tool(ServerId::new("git").unwrap(), tool).build();
        let hints: Vec<String> = hints.iter().map(|hint| (*hint).to_owned()).collect();
        passage(&catalog.tools()[0], &hints)
    }

    #[test]
    fn it_says_what_the_tool_does() {
        for (tool, hints, expected) in [
            (
                json!({"name": "createIssue", "description": " Open a ticket. "}),
                &[][..],
                "git create issue: Open a ticket.",
            ),
            (json!({"name": "create_issue", "title": "Create Issue"}), &[], "git create issue"),
            (json!({"name": "ls", "title": "List files"}), &["what is here?"], "git ls: List files\nwhat is here?"),
            (json!({"name": "🎉", "description": ""}), &[], "git 🎉"),
            (json!({"name": "查询_天气", "annotations": {"title": "天气"}}), &[], "git 查询 天气: 天气"),
            (json!({"name": "git_merge", "description": "Merge"}), &[], "git git merge: Merge"),
        ] {
            assert_eq!(passage_of(tool, hints), expected);
        }
    }

    #[test]
    fn it_is_bounded() {
        let text = passage_of(json!({"name": "x".repeat(5_000), "description": "é".repeat(5_000)}), &["a"]);
        assert_eq!(text.len(), MAX_PASSAGE_BYTES);
        let text = passage_of(json!({"name": "x", "description": "é".repeat(5_000)}), &["a"]);
        assert!(text.len() >= MAX_PASSAGE_BYTES - 1 && text.len() <= MAX_PASSAGE_BYTES);
    }
}
