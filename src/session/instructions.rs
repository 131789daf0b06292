use crate::{
    catalog::Catalog,
    id::ServerId,
    render::rendered_instructions,
    resources::{Cut, TextKind, fitted, trim},
    tokens::{CountCache, TokenBudget},
};

/// What servers say of themselves, as a request is given it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Instructions {
    /// The texts, by server.
    pub texts: Vec<ServerInstructions>,
    /// Servers whose instructions do not fit, with what they would cost.
    pub excluded: Vec<(ServerId, usize)>,
    /// What the texts cost together, delimiters included; never above the budget.
    pub tokens: usize,
}

/// What one server says of itself.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerInstructions {
    /// The server.
    pub server: ServerId,
    /// Its text, trimmed if it was too long.
    pub text: String,
    /// What it costs, delimiters included.
    pub tokens: usize,
    /// What of the text was kept, if it was trimmed.
    pub cut: Option<Cut>,
}

impl Instructions {
    /// The least that a text is trimmed to, in tokens: less says nothing.
    const LEAST: usize = 40;

    /// The instructions of the servers whose tools are offered: how to use what is not there helps
    /// nobody. Those of the likelier tools come first where not all fit, and each has half of the
    /// budget at most, trimmed from its end and never by the request: the text of a server is the
    /// same in every turn that has it.
    pub(super) fn select(catalog: &Catalog, servers: &[ServerId], budget: TokenBudget, counts: &CountCache) -> Self {
        let mut selected = Self::default();
        for server in servers {
            let text = catalog.server(server).and_then(|server| server.info.instructions.as_deref());
            let Some(text) = text.filter(|text| !text.trim().is_empty()) else { continue };
            let limit = (budget.tokens() - selected.tokens).min(budget.tokens() / 2);
            match ServerInstructions::fit(server, text, limit, counts) {
                Ok(fitted) => {
                    selected.tokens += fitted.tokens;
                    selected.texts.push(fitted);
                }
                Err(tokens) => selected.excluded.push((server.clone(), tokens)),
            }
        }
        selected.texts.sort_by(|a, b| a.server.cmp(&b.server));
        selected.excluded.sort();
        selected
    }

    /// As a layout takes them.
    pub(super) fn by_server(&self) -> Vec<(ServerId, String)> {
        self.texts.iter().map(|said| (said.server.clone(), said.text.clone())).collect()
    }
}

impl ServerInstructions {
    /// The text within `limit`, or what it would cost.
    fn fit(server: &ServerId, text: &str, limit: usize, counts: &CountCache) -> Result<Self, usize> {
        let tokens = |text: &str| counts.count(&rendered_instructions(server, text));
        let rest = format!("instructions of server {server}");
        // Short texts too: what looks like a notice of ours is made harmless there.
        let trimmed = |room| {
            let trimmed = trim(text, TextKind::Markdown, room, "", counts, &rest)?;
            (trimmed.cut.is_none() || room >= Instructions::LEAST).then_some(trimmed)
        };
        let (trimmed, tokens) = fitted(limit, tokens, trimmed).ok_or_else(|| tokens(text))?;
        Ok(Self { server: server.clone(), text: trimmed.text, tokens, cut: trimmed.cut })
    }
}
