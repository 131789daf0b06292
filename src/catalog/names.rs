use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::Serialize;

use crate::{id::ToolId, json::Digest};

/// The name by which a model knows a tool: `[a-zA-Z_][a-zA-Z0-9_-]{0,62}`, which every provider
/// accepts (Anthropic, OpenAI and Bedrock take 64 characters; Gemini 63 in places, and no digit first).
/// Never one of [`Self::RESERVED`].
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct ExposedName(Arc<str>);

impl ExposedName {
    /// The longest name, in characters.
    pub const MAX_CHARS: usize = 63;

    /// The names of the host's own tools, see [`discovery`](crate::discovery). No server's tool has one of
    /// them, whatever it is called: what the model means by it must not depend on who connected.
    pub const RESERVED: [&'static str; 2] = ["search_tools", "call_tool"];

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ExposedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for ExposedName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// When a tool's exposed name carries its server's name. A tool that is called like one of the host's own
/// ([`ExposedName::RESERVED`]) carries it always.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Naming {
    /// Only where two tools would have the same name. The default: prefixes on every name cost
    /// tokens and have been seen to hurt models.
    #[default]
    PrefixOnCollision,
    /// On every name.
    AlwaysPrefix,
    /// On none; equal names are told apart by a digest.
    NeverPrefix,
}

/// Gives each tool its exposed name. Depends on the set of tools alone, not on their order.
///
/// Each tool starts with its cleaned name. Wherever two tools have the same name, or one has a reserved
/// one, each takes the next form, until none do: with the server as prefix, with 8 digits of the digest
/// of the tool's id, with 32. A name that is too long is cut and carries the digest at once.
pub(super) fn expose(tools: &[ToolId], naming: Naming) -> Vec<ExposedName> {
    let mut forms: Vec<Form> = vec![
        match naming {
            Naming::AlwaysPrefix => Form::Prefixed,
            Naming::PrefixOnCollision | Naming::NeverPrefix => Form::Plain,
        };
        tools.len()
    ];
    let mut names: Vec<String> = tools.iter().zip(&forms).map(|(tool, form)| form.name(tool, naming)).collect();
    loop {
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, name) in names.iter().enumerate() {
            by_name.entry(name).or_default().push(i);
        }
        let taken = |(name, same): &(&str, Vec<usize>)| same.len() > 1 || is_reserved(name);
        let collided: Vec<usize> = by_name.into_iter().filter(taken).flat_map(|(_, same)| same).collect();
        let mut moved = false;
        for i in collided {
            if let Some(next) = forms[i].next(naming, is_reserved(&names[i])) {
                forms[i] = next;
                names[i] = next.name(&tools[i], naming);
                moved = true;
            }
        }
        if !moved {
            // Equal names are left only for equal ids, or for a collision of 128 bits of SHA-256; none is
            // reserved, since a digest ends with more digits than those have.
            return names.into_iter().map(|name| ExposedName(name.into())).collect();
        }
    }
}

fn is_reserved(name: &str) -> bool {
    ExposedName::RESERVED.contains(&name)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Plain,
    Prefixed,
    Digest,
    LongDigest,
}

impl Form {
    fn next(self, naming: Naming, reserved: bool) -> Option<Self> {
        match self {
            Self::Plain if naming == Naming::NeverPrefix && !reserved => Some(Self::Digest),
            Self::Plain => Some(Self::Prefixed),
            Self::Prefixed => Some(Self::Digest),
            Self::Digest => Some(Self::LongDigest),
            Self::LongDigest => None,
        }
    }

    fn name(self, tool: &ToolId, naming: Naming) -> String {
        let prefixed = match naming {
            Naming::NeverPrefix => self == Self::Prefixed,
            _ => self != Self::Plain,
        };
        let mut name =
            if prefixed { format!("{}_{}", clean(tool.server.as_str()), clean(&tool.name)) } else { clean(&tool.name) };
        if name.is_empty() || name.starts_with(|c: char| !c.is_ascii_alphabetic() && c != '_') {
            name.insert(0, '_');
        }
        let digits = match self {
            Self::LongDigest => 32,
            Self::Digest => 8,
            _ if name.len() > ExposedName::MAX_CHARS => 8,
            // A name without a letter or digit left of it (`查询`) says nothing: the digest tells it apart.
            _ if !name.contains(|c: char| c.is_ascii_alphanumeric()) => 8,
            _ => return name,
        };
        let digest = Digest::of_parts([tool.server.as_str(), &*tool.name]).short(digits);
        // Cleaned names are ASCII, so bytes are characters.
        name.truncate(ExposedName::MAX_CHARS - 1 - digits);
        format!("{name}_{digest}")
    }
}

/// Whether the exposed name tells less than the server's own: cut, told apart by a digest, or
/// nothing left of it. A dot that became `_`, or a prefix, loses nobody anything.
pub(super) fn renamed(exposed: &ExposedName, tool: &ToolId) -> bool {
    let name = clean(&tool.name);
    !exposed.as_str().ends_with(&name) || !name.contains(|c: char| c.is_ascii_alphanumeric())
}

/// Every character that a provider would refuse becomes `_`.
fn clean(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::id::ServerId;

    fn ids(pairs: &[(&str, &str)]) -> Vec<ToolId> {
        pairs.iter().map(|(server, name)| ToolId::new(ServerId::new(server).unwrap(), *name)).collect()
    }

    fn exposed(pairs: &[(&str, &str)], naming: Naming) -> Vec<String> {
        expose(&ids(pairs), naming).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_prefix_comes_only_on_a_collision() {
        let names = exposed(&[("git", "merge"), ("git", "log"), ("svn", "log")], Naming::PrefixOnCollision);
        assert_eq!(names, ["merge", "git_log", "svn_log"]);
        assert_eq!(exposed(&[("git", "merge")], Naming::AlwaysPrefix), ["git_merge"]);
        let names = exposed(&[("git", "log"), ("svn", "log")], Naming::NeverPrefix);
        assert!(names.iter().all(|name| name.starts_with("log_") && name.len() == 12), "{names:?}");
    }

    #[test]
    fn the_host_s_own_names_are_no_server_s() {
        let tools = [("git", "search_tools"), ("git", "search.tools"), ("mail", "call_tool"), ("search", "tools")];
        for naming in [Naming::PrefixOnCollision, Naming::NeverPrefix] {
            let names = exposed(&[tools[0], tools[2], tools[3]], naming);
            assert_eq!(names, ["git_search_tools", "mail_call_tool", "tools"]);
        }
        let names = exposed(&tools, Naming::AlwaysPrefix);
        assert!(names[0].starts_with("git_search_tools_") && names[3].starts_with("search_tools_"), "{names:?}");
        assert_eq!(exposed(&[("call", "tool"), ("x", "tool")], Naming::PrefixOnCollision)[1], "x_tool");
        let names = exposed(&[("a", "search_tools"), ("b", "search_tools")], Naming::PrefixOnCollision);
        assert_eq!(names, ["a_search_tools", "b_search_tools"]);
    }

    #[test]
    fn names_that_cleaning_makes_equal_stay_apart() {
        let names = exposed(&[("a", "x.y"), ("a", "x_y"), ("a", "x y")], Naming::PrefixOnCollision);
        assert!(names.iter().all(|name| name.starts_with("a_x_y_")), "{names:?}");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 3);
        // A tool that is named like another's prefixed name.
        let names = exposed(&[("a", "b_c"), ("a_b", "c"), ("z", "c"), ("z", "b_c")], Naming::PrefixOnCollision);
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 4, "{names:?}");
    }

    #[test]
    fn names_in_other_scripts_get_a_digest() {
        let names = exposed(&[("a", "查询"), ("a", "搜索"), ("a", "2fa")], Naming::PrefixOnCollision);
        assert!(names[0].starts_with("___") && names[1].starts_with("___") && names[0] != names[1], "{names:?}");
        assert_eq!(names[2], "_2fa");
    }

    proptest! {
        #[test]
        fn names_fit_every_provider_differ_and_do_not_depend_on_order(
            pairs in prop::collection::btree_set(
                ("[ab.]{1,3}|search|call|\\PC{1,80}", "[ab._-]{0,4}|(search|call)[._]tools?|tools?|\\PC{1,90}"), 1..24,
            ),
            naming in prop_oneof![
                Just(Naming::PrefixOnCollision), Just(Naming::AlwaysPrefix), Just(Naming::NeverPrefix)
            ],
        ) {
            let mut tools: Vec<ToolId> = pairs
                .iter()
                .filter_map(|(server, name)| Some(ToolId::new(ServerId::new(server).ok()?, name.as_str())))
                .collect();
            let names = expose(&tools, naming);
            for name in &names {
                let text = name.as_str();
                prop_assert!(!text.is_empty() && text.len() <= ExposedName::MAX_CHARS && !is_reserved(text));
                prop_assert!(text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
                prop_assert!(text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'));
            }
            prop_assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), tools.len());
            let by_tool: BTreeMap<_, _> = tools.iter().cloned().zip(names).collect();
            tools.reverse();
            let reversed: BTreeMap<_, _> = tools.iter().cloned().zip(expose(&tools, naming)).collect();
            prop_assert_eq!(by_tool, reversed);
        }
    }
}
