use std::borrow::Cow;

/// Expands variables, and remembers which values came from the environment.
pub(super) struct Expander<'a> {
    env: &'a dyn Fn(&str) -> Option<String>,
    secrets: Vec<String>,
}

/// Variables whose values are no secrets; cutting them out of an error would only hide the path in it.
const KNOWN: [&str; 8] = ["APPDATA", "HOME", "LOCALAPPDATA", "PWD", "TEMP", "TMPDIR", "USER", "USERPROFILE"];

impl<'a> Expander<'a> {
    pub(super) fn new(env: &'a dyn Fn(&str) -> Option<String>) -> Self {
        Self { env, secrets: Vec::new() }
    }

    /// `text` with its variables replaced. What only looks like one (`${1+x}`) stays as it is.
    ///
    /// # Errors
    /// A sentence that names the variable that is not set.
    pub(super) fn expand(&mut self, text: &str) -> Result<String, String> {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let Some((inside, after)) = after.split_once('}') else {
                return Err("it has a `${` without a `}`".into());
            };
            match self.variable(inside)? {
                Some(value) => out.push_str(&value),
                None => {
                    out.push_str("${");
                    out.push_str(inside);
                    out.push('}');
                }
            }
            rest = after;
        }
        out.push_str(rest);
        Ok(out)
    }

    /// The values that came from the environment.
    pub(super) fn into_secrets(self) -> Vec<String> {
        self.secrets
    }

    fn variable<'t>(&mut self, inside: &'t str) -> Result<Option<Cow<'t, str>>, String> {
        if let Some(id) = inside.strip_prefix("input:") {
            return Err(format!("`${{input:{id}}}` asks the user of an editor: name an environment variable instead"));
        }
        let inside = inside.strip_prefix("env:").unwrap_or(inside);
        let (name, default) = match inside.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inside, None),
        };
        let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !starts_well || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Ok(None);
        }
        // As in a shell, `:-` also stands in for an empty value.
        match (self.env)(name).filter(|value| default.is_none() || !value.is_empty()) {
            Some(value) => {
                if !KNOWN.contains(&name) {
                    self.secrets.push(value.clone());
                }
                Ok(Some(value.into()))
            }
            None => match default {
                Some(default) => Ok(Some(default.into())),
                None => Err(format!("the environment variable `{name}` is not set")),
            },
        }
    }
}
