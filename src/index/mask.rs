/// Whether what stands at a position may be seen: by position what a filter lets pass, `None` for
/// all. What the mask does not reach may not.
pub(crate) fn passes(mask: Option<&[bool]>, at: usize) -> bool {
    mask.is_none_or(|mask| mask.get(at).copied().unwrap_or(false))
}
