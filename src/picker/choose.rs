use super::{
    item::Item,
    layout::{Layout, What},
    pick::Pick,
    picker::Picker,
    preferences::Preferences,
    row::Section,
};
use crate::id::{ResourceId, ServerId, TemplateId};

/// The cursor.
impl Picker {
    /// The row of the cursor; `None` if no row can be chosen.
    pub fn cursor(&self) -> Option<usize> {
        self.cursor
    }

    /// Moves the cursor by so many rows that can be chosen, down or, below zero, up: 1 for a key, the height of
    /// the list for a page. It stops at the ends.
    pub fn move_by(&mut self, rows: isize) {
        let Some(cursor) = self.cursor else { return };
        let left = rows.unsigned_abs();
        let last = if rows < 0 {
            (0..cursor).rev().filter(|at| self.can_be_chosen(*at)).take(left).last()
        } else {
            (cursor + 1..self.len()).filter(|at| self.can_be_chosen(*at)).take(left).last()
        };
        self.cursor = last.or(self.cursor);
    }

    /// Moves the cursor to the first row that can be chosen.
    pub fn move_to_first(&mut self) {
        self.cursor = (0..self.len()).find(|at| self.can_be_chosen(*at));
    }

    /// Moves the cursor to the last row that can be chosen.
    pub fn move_to_last(&mut self) {
        self.cursor = (0..self.len()).rev().find(|at| self.can_be_chosen(*at));
    }

    /// Moves the cursor to a row, as a click does; one that cannot be chosen is not taken.
    pub fn move_to(&mut self, row: usize) {
        if self.can_be_chosen(row) {
            self.cursor = Some(row);
        }
    }

    /// The section that the cursor stands in.
    pub fn section(&self) -> Option<&Section> {
        Some(&self.layout.rows.get(self.cursor?)?.section)
    }

    /// Puts a cursor that stands on no row that can be chosen on the next one below, or above.
    pub(super) fn settle(&mut self) {
        let at = self.cursor.unwrap_or_default();
        let below = (at..self.len()).find(|at| self.can_be_chosen(*at));
        self.cursor = below.or_else(|| (0..at.min(self.len())).rev().find(|at| self.can_be_chosen(*at)));
    }

    fn can_be_chosen(&self, row: usize) -> bool {
        self.layout.rows.get(row).is_some_and(|place| place.what != What::Group)
    }
}

/// What is chosen.
impl Picker {
    /// Chooses the item under the cursor, or does not choose it any more; on a "N more" shows them.
    pub fn toggle(&mut self) {
        let Some(at) = self.cursor else { return };
        match self.pick_at(at).cloned() {
            Some(pick) => self.choose(&pick, !self.is_chosen(&pick)),
            None => self.expand(),
        }
    }

    /// Chooses an item, or does not choose it any more. What is in no list and no row is not taken.
    pub fn choose(&mut self, pick: &Pick, chosen: bool) {
        match (self.is_chosen(pick), chosen) {
            (false, true) => self.chosen.extend(self.item(pick)),
            (true, false) => self.chosen.retain(|item| item.pick != *pick),
            _ => {}
        }
    }

    /// Chooses the items of the section under the cursor that are in rows, in their order: what can be seen, and not
    /// what is behind "N more".
    pub fn choose_section(&mut self) {
        let Some(section) = self.section().cloned() else { return };
        let of = self.layout.picks().filter(|(of, _)| **of == section);
        let picks: Vec<Pick> = of.map(|(_, pick)| pick.clone()).collect();
        for pick in picks {
            self.choose(&pick, true);
        }
    }

    /// Chooses nothing.
    pub fn clear(&mut self) {
        self.chosen.clear();
    }

    /// Ends the choice: what is chosen, or the item under the cursor if nothing is, moves to the front
    /// of the [recent](Preferences::recent) ones.
    pub fn accept(&mut self) {
        if self.chosen.is_empty() {
            self.chosen.extend(self.current());
        }
        // The first one chosen is the first one of them afterwards.
        for item in self.chosen.iter().rev() {
            self.preferences.used(&item.pick);
        }
    }

    /// What is chosen, in the order of choice.
    pub fn chosen(&self) -> &[Item] {
        &self.chosen
    }

    /// The chosen resources that the model may see, in the order of choice: for
    /// [`Turn::pick`](crate::session::Turn::pick).
    pub fn picks(&self) -> Vec<ResourceId> {
        let resource = |item: &Item| match &item.pick {
            Pick::Resource(id) if item.for_model => Some(id.clone()),
            _ => None,
        };
        self.chosen.iter().filter_map(resource).collect()
    }

    /// The chosen templates, in the order of choice: each gives a resource once its
    /// [variables](Item::variables) are filled.
    pub fn templates(&self) -> Vec<TemplateId> {
        let template = |item: &Item| match &item.pick {
            Pick::Template(id) => Some(id.clone()),
            Pick::Resource(_) => None,
        };
        self.chosen.iter().filter_map(template).collect()
    }

    /// What [`picks`](Self::picks) are estimated to cost together.
    pub fn tokens(&self) -> usize {
        let cost = self.chosen.iter().filter(|item| item.for_model).filter_map(|item| item.estimated_tokens);
        cost.fold(0, usize::saturating_add)
    }

    /// Whether that is more than the [budget](super::PickerOptions::budget).
    pub fn is_over_budget(&self) -> bool {
        self.options.budget.is_some_and(|budget| self.tokens() > budget.tokens())
    }

    fn is_chosen(&self, pick: &Pick) -> bool {
        self.chosen.iter().any(|item| item.pick == *pick)
    }
}

/// What is shown.
impl Picker {
    /// Shows all items of the section under the cursor, until the rows are ordered anew. On a "N more" the cursor
    /// then stands on the first of them.
    pub fn expand(&mut self) {
        let Some(section) = self.section().cloned() else { return };
        self.arrange(|layout, ground| Layout::expand(layout, &section, ground));
        self.settle();
    }

    /// The options that it was made with, and the grouping of now.
    pub fn options(&self) -> &super::PickerOptions {
        &self.options
    }

    /// Shows each server's resources in a group of their own, or all in one list.
    pub fn set_grouped(&mut self, grouped: bool) {
        self.options.grouped = grouped;
        self.rebuild();
    }

    /// What is to be kept for the next picker.
    pub fn preferences(&self) -> &Preferences {
        &self.preferences
    }

    /// Pins the item under the cursor, or takes its pin off.
    pub fn toggle_pin(&mut self) {
        if let Some(pick) = self.cursor.and_then(|at| self.pick_at(at)).cloned() {
            let pinned = self.preferences.pinned().contains(&pick);
            self.preferences.pin(&pick, !pinned);
            self.rebuild();
        }
    }

    /// Pins a server, or takes its pin off.
    pub fn pin_server(&mut self, server: &ServerId, pinned: bool) {
        self.preferences.pin_server(server, pinned);
        self.rebuild();
    }

    /// Switches a server's items on or off. What is chosen of it stays chosen.
    pub fn switch(&mut self, server: &ServerId, on: bool) {
        self.preferences.switch(server, on);
        self.forget_matches();
        self.rebuild();
    }
}
