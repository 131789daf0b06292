use super::{
    joining::Joining,
    layout::{Layout, ToolChoice},
    report::RenderReport,
};
use crate::error::excerpt;

/// What the model may do with the tools, by names that are in the request.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Choice<'a> {
    /// As it sees fit: every provider's default.
    Auto,
    /// It must call none.
    None,
    /// It must call one, whichever.
    Required,
    /// It must call this one.
    Tool(&'a str),
    /// It may call these, sorted and at least one; if `required`, it must call one of them.
    Among { allowed: Vec<&'a str>, required: bool },
}

/// The layout's choice and its allowed names, made one. Names that are not in the request are left
/// out with a note, since providers refuse them.
pub(super) fn choice<'a>(layout: &'a Layout, joining: &Joining<'_>, report: &mut RenderReport) -> Choice<'a> {
    let offered = joining.offered();
    let notes = &mut report.notes;
    let mut known = |name: &str, what: &str| {
        let known = offered.contains(name);
        if !known {
            notes.push(format!("{what} `{}`: left out, the request holds no such tool", excerpt(name)));
        }
        known
    };
    let allowed: Option<Vec<&str>> = layout
        .allowed
        .as_ref()
        .map(|names| names.iter().map(String::as_str).filter(|name| known(name, "allowed tool")).collect());
    let tool = match &layout.tool_choice {
        ToolChoice::Tool(name) if known(name, "choice of tool") => Some(name.as_str()),
        _ => None,
    };

    // A mask that holds nothing back is none.
    let allowed = allowed.filter(|names| names.len() < offered.len());
    match (&layout.tool_choice, tool, allowed) {
        _ if offered.is_empty() => Choice::Auto,
        (ToolChoice::None, ..) => Choice::None,
        (_, Some(name), Some(allowed)) if !allowed.contains(&name) => {
            report.notes.push(format!("choice of tool `{name}`: left out, it is not among the allowed"));
            among(allowed, false)
        }
        (_, Some(name), _) => Choice::Tool(name),
        (ToolChoice::Required, _, Some(allowed)) => {
            if allowed.is_empty() {
                report.notes.push("choice of any tool: left out, none is allowed".into());
            }
            among(allowed, true)
        }
        (ToolChoice::Required, _, None) => Choice::Required,
        (ToolChoice::Auto | ToolChoice::Tool(_), _, Some(allowed)) => among(allowed, false),
        (ToolChoice::Auto | ToolChoice::Tool(_), _, None) => Choice::Auto,
    }
}

/// For providers that have no field for `allowed`.
pub(super) fn not_held_back(provider: &str, report: &mut RenderReport) {
    report.notes.push(format!(
        "{provider} holds no tool back: calls of tools that are not allowed are to be refused by the host"
    ));
}

fn among(allowed: Vec<&str>, required: bool) -> Choice<'_> {
    match allowed.as_slice() {
        [] => Choice::None,
        [one] if required => Choice::Tool(one),
        _ => Choice::Among { allowed, required },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        id::{ServerId, ToolId},
        render::{
            Deferral,
            layout::ToolSpec,
            schema::PLAIN_ROOT,
            tools::{ToolRules, ready},
        },
    };

    const RULES: ToolRules = ToolRules { provider: "any", max_tools: None, schema: PLAIN_ROOT, strict: None };

    /// What becomes of a choice in a request with these tools, and the notes.
    fn of(choice: ToolChoice, allowed: Option<&[&str]>, tools: &[&str]) -> (String, Vec<String>) {
        let mut layout = Layout::new().with_tool_choice(choice);
        for name in tools {
            let id = ToolId::new(ServerId::new("s").unwrap(), *name);
            layout = layout.with_tool(ToolSpec::new(id, *name));
        }
        if let Some(names) = allowed {
            layout = layout.with_allowed(names.iter().map(ToString::to_string));
        }
        let mut report = RenderReport::default();
        let tools = ready(&layout.tools, &RULES, None, &mut report);
        let joining = Joining::new(&tools, &RULES, Deferral::None);
        let choice = super::choice(&layout, &joining, &mut report);
        (format!("{choice:?}"), report.notes)
    }

    #[test]
    fn choice_and_allowed_names_become_one() {
        use ToolChoice::{Auto, None as Never, Required, Tool};
        let tool = |name: &str| Tool(name.into());
        for (choice, allowed, expected) in [
            (Auto, None, "Auto"),
            (Never, None, "None"),
            (Required, None, "Required"),
            (tool("b"), None, "Tool(\"b\")"),
            (Auto, Some(&["b", "a"][..]), "Among { allowed: [\"a\", \"b\"], required: false }"),
            (Required, Some(&["b", "a"]), "Among { allowed: [\"a\", \"b\"], required: true }"),
            (Required, Some(&["b"]), "Tool(\"b\")"),
            (tool("b"), Some(&["b"]), "Tool(\"b\")"),
            (Never, Some(&["b"]), "None"),
            (Auto, Some(&["a", "b", "c"]), "Auto"),
            (Auto, Some(&[]), "None"),
        ] {
            assert_eq!(of(choice, allowed, &["a", "b", "c"]), (expected.into(), vec![]));
        }
    }

    #[test]
    fn what_cannot_be_is_left_out_with_a_note() {
        let tool = |name: &str| ToolChoice::Tool(name.into());
        let gone = |what: &str| format!("{what} `gone`: left out, the request holds no such tool");
        let ab = ["a", "b"];
        assert_eq!(of(tool("gone"), None, &ab), ("Auto".into(), vec![gone("choice of tool")]));
        let (masked, notes) = of(ToolChoice::Auto, Some(&["a", "gone"]), &ab);
        assert_eq!(
            (masked.as_str(), notes),
            ("Among { allowed: [\"a\"], required: false }", vec![gone("allowed tool")])
        );
        assert_eq!(of(ToolChoice::Auto, Some(&["gone"]), &ab).0, "None");
        let (masked, notes) = of(tool("b"), Some(&["a"]), &ab);
        assert_eq!(masked, "Among { allowed: [\"a\"], required: false }");
        assert_eq!(notes, ["choice of tool `b`: left out, it is not among the allowed"]);
        let (none, notes) = of(ToolChoice::Required, Some(&[]), &ab);
        assert_eq!((none.as_str(), notes.len()), ("None", 1));
        // Without tools there is nothing to choose, and providers refuse the field.
        assert_eq!(of(ToolChoice::None, None, &[]), ("Auto".into(), vec![]));
    }
}
