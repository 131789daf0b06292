use rmcp::{ErrorData, model::PaginatedRequestParams};

use crate::json::Digest;

/// How one list of one server is cut into pages.
#[derive(Debug)]
pub(super) struct Paging<'a> {
    pub(super) server: &'a str,
    /// `tools`, `resources`, `resourceTemplates` or `prompts`.
    pub(super) list: &'a str,
    /// Items per page; `None`: one page.
    pub(super) size: Option<usize>,
    /// The second page's cursor is the empty string.
    pub(super) empty_cursor: bool,
}

impl Paging<'_> {
    /// The asked page and the cursor of the next one.
    pub(super) fn page<T: Clone>(
        &self,
        items: Vec<T>,
        request: Option<PaginatedRequestParams>,
    ) -> Result<(Vec<T>, Option<String>), ErrorData> {
        let size = self.size.unwrap_or(items.len()).max(1);
        let pages = items.len().div_ceil(size).max(1);
        let page = match request.and_then(|request| request.cursor) {
            None => 0,
            Some(cursor) => (1..pages)
                .find(|page| self.cursor(*page) == cursor)
                .ok_or_else(|| ErrorData::invalid_params("invalid cursor", None))?,
        };
        let items = items.into_iter().skip(page * size).take(size).collect();
        let next = page + 1;
        Ok((items, (next < pages).then(|| self.cursor(next))))
    }

    /// Opaque, so that no client learns to count.
    fn cursor(&self, page: usize) -> String {
        if self.empty_cursor && page == 1 {
            return String::new();
        }
        Digest::of_parts([self.server, self.list, &page.to_string()]).short(12)
    }
}
