use crate::{
    json::Digest,
    prefix::{Mark, Prefix, Segment},
    resources::IMAGE_TOKENS,
    tokens::CountCache,
};

/// From this length on, base64 without a break is a picture or a document, not text: its tokens
/// have nothing to do with its characters.
const MIN_BASE64: usize = 1_024;

/// A prompt as a cache sees it: after each block, what stands before, and in how many tokens.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Prompt {
    blocks: Vec<Position>,
    /// What stands before the next block.
    rolling: Option<Digest>,
}

/// The end of a block: where a cached prefix can end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Position {
    /// The digest of everything up to here.
    pub(super) digest: Digest,
    /// The tokens of everything up to here.
    pub(super) tokens: u64,
    /// The cache mark that stands here.
    pub(super) mark: Option<Mark>,
}

impl Prompt {
    /// An empty prompt, for one that is made up: block by block, each with its tokens.
    pub fn new() -> Self {
        Self::default()
    }

    /// The prompt that a request's prefix makes, with each block counted once for all requests, and
    /// its settings before the first section that depends on them.
    ///
    /// What a provider puts around blocks is not counted; [`Calibration`](super::Calibration) learns
    /// it. A picture or document of 1,024 bytes or more counts as [`IMAGE_TOKENS`].
    pub fn of(prefix: &Prefix, counts: &CountCache) -> Self {
        let mut settings: Vec<_> = prefix.settings.iter().collect();
        settings.sort_by_key(|setting| setting.section);
        let mut settings = settings.into_iter().peekable();
        prefix.segments.iter().fold(Self::new(), |mut prompt, segment| {
            while let Some(setting) = settings.next_if(|setting| setting.section <= segment.section) {
                prompt = prompt.with_setting(Digest::of_parts([&setting.name, &setting.value]).as_bytes());
            }
            // Two sections may say the same.
            let key = Digest::of_parts([segment.section.as_str().as_bytes(), segment.digest.as_bytes()]);
            let prompt = prompt.with_block(key.as_bytes(), counted(segment, counts));
            match segment.mark {
                Some(mark) => prompt.with_mark(mark.ttl_seconds),
                None => prompt,
            }
        })
    }

    /// Adds a block. Blocks are equal if their keys are: their bytes, or whatever stands for them.
    #[must_use]
    pub fn with_block(mut self, key: impl AsRef<[u8]>, tokens: u64) -> Self {
        self = self.with_setting(key);
        if let Some(digest) = self.rolling {
            let tokens = self.tokens().saturating_add(tokens);
            self.blocks.push(Position { digest, tokens, mark: None });
        }
        self
    }

    /// Adds something that is no block and has no tokens, but without which nothing after it is
    /// found again: the model, a tool choice.
    #[must_use]
    pub fn with_setting(mut self, key: impl AsRef<[u8]>) -> Self {
        let before = self.rolling.as_ref().map_or(&[][..], |digest| &digest.as_bytes()[..]);
        self.rolling = Some(Digest::of_parts([before, key.as_ref()]));
        self
    }

    /// Marks the last block: the provider is asked to keep the prefix up to here, for so many
    /// seconds or, with `None`, for its usual time. An empty prompt takes no mark.
    #[must_use]
    pub fn with_mark(mut self, ttl_seconds: Option<u32>) -> Self {
        if let Some(last) = self.blocks.last_mut() {
            last.mark = Some(Mark { ttl_seconds });
        }
        self
    }

    /// The same prompt with every count times `factor`: what a
    /// [`Calibration`](super::Calibration) says of the counter.
    #[must_use]
    pub fn calibrated(mut self, factor: f64) -> Self {
        for block in &mut self.blocks {
            block.tokens = (block.tokens as f64 * factor).round() as u64;
        }
        self
    }

    /// Its tokens.
    pub fn tokens(&self) -> u64 {
        self.blocks.last().map_or(0, |last| last.tokens)
    }

    /// The ends of its blocks, from the front.
    pub(super) fn positions(&self) -> &[Position] {
        &self.blocks
    }
}

/// The tokens of a block's text, and of the pictures in it.
fn counted(segment: &Segment, counts: &CountCache) -> u64 {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_');
    let is_picture = |part: &&str| part.len() >= MIN_BASE64;
    let parts = || segment.text.split_inclusive(|c| !is_base64(c));
    let text = counts.count_as(segment.digest, || parts().filter(|part| !is_picture(part)).collect());
    let pictures = parts().filter(is_picture).count();
    u64::try_from(text.saturating_add(pictures * IMAGE_TOKENS)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::tokens::BytesPerToken;

    #[test]
    fn a_prefix_is_counted_block_by_block() {
        let counts = CountCache::new(Arc::new(BytesPerToken::new(1)));
        let mark = Mark { ttl_seconds: Some(3_600) };
        let body = r#"{"system": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
            "messages": [{"role": "user", "content": "defgh"}]}"#;
        let prefix = Prefix::read(body).unwrap();
        let prompt = Prompt::of(&prefix, &counts);
        let blocks: Vec<_> = prompt.positions().iter().map(|block| (block.tokens, block.mark)).collect();
        assert_eq!(blocks, [(3, Some(mark)), (10, None)]);
    }

    #[test]
    fn a_setting_stands_before_the_section_that_depends_on_it() {
        let counts = CountCache::new(Arc::new(BytesPerToken::new(1)));
        let prompt = |model: &str, choice: &str| {
            let body = format!(
                r#"{{"model": "{model}", "tools": [{{"name": "merge", "input_schema": {{}}}}], "system": "Hi",
                    "tool_choice": {{"type": "{choice}"}}, "messages": [{{"role": "user", "content": "Hi"}}]}}"#
            );
            let prompt = Prompt::of(&Prefix::read(&body).unwrap(), &counts);
            prompt.positions().iter().map(|position| position.digest).collect::<Vec<_>>()
        };
        let base = prompt("claude-opus-5", "auto");
        let (other_model, other_choice) = (prompt("claude-opus-4-8", "auto"), prompt("claude-opus-5", "any"));
        assert_eq!(base.len(), 3);
        assert!(base.iter().zip(&other_model).all(|(a, b)| a != b));
        assert_eq!(base[..2], other_choice[..2]);
        assert_ne!(base[2], other_choice[2]);
    }

    #[test]
    fn a_picture_is_no_text() {
        let counts = CountCache::new(Arc::new(BytesPerToken::new(1)));
        let tokens = |data: &str| {
            let body = format!(
                r#"{{"max_tokens": 1, "messages": [{{"role": "user", "content": [{{"type": "image",
                    "source": {{"type": "base64", "media_type": "image/png", "data": "{data}"}}}}]}}]}}"#
            );
            Prompt::of(&Prefix::read(&body).unwrap(), &counts).tokens()
        };
        let around = tokens("");
        // The quotation mark after it goes with it.
        assert_eq!(tokens(&"iVBO".repeat(50_000)), around - 1 + IMAGE_TOKENS as u64);
        assert_eq!(tokens(&"iVBO".repeat(255)), around + 1_020);
    }

    #[test]
    fn a_position_depends_on_everything_before_it() {
        let end = |prompt: &Prompt| prompt.positions().last().unwrap().digest;
        let base = Prompt::new().with_block("a", 1);
        let same = Prompt::new().with_block("a", 1);
        assert_eq!(end(&base), end(&same));
        assert_eq!(end(&base), end(&same.with_mark(None)), "a mark changes nothing");
        let next = base.with_block("b", 1);
        for other in [
            Prompt::new().with_block("b", 1),
            Prompt::new().with_block("ab", 1),
            Prompt::new().with_block("a", 1).with_setting("choice").with_block("b", 1),
        ] {
            assert_ne!(end(&next), end(&other));
        }
    }

    #[test]
    fn a_calibrated_prompt_is_the_same_prompt() {
        let prompt = Prompt::new().with_block("a", 101).with_block("b", 100);
        let scaled = prompt.clone().calibrated(1.25);
        assert_eq!((scaled.positions()[0].tokens, scaled.tokens()), (126, 251));
        assert_eq!(scaled.positions()[1].digest, prompt.positions()[1].digest);
    }
}
