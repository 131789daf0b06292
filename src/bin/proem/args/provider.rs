use clap::ValueEnum;
use proem::render::{Anthropic, BedrockConverse, Gemini, OpenAiChat, OpenAiResponses, Provider};

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ProviderArg {
    /// Anthropic Messages
    Anthropic,
    /// OpenAI Responses
    OpenaiResponses,
    /// OpenAI Chat Completions
    OpenaiChat,
    /// Gemini generateContent
    Gemini,
    /// Amazon Bedrock Converse
    Bedrock,
}

impl ProviderArg {
    pub(crate) fn provider(self) -> Box<dyn Provider> {
        match self {
            Self::Anthropic => Box::new(Anthropic::new()),
            Self::OpenaiResponses => Box::new(OpenAiResponses::new()),
            Self::OpenaiChat => Box::new(OpenAiChat::new()),
            Self::Gemini => Box::new(Gemini::new()),
            Self::Bedrock => Box::new(BedrockConverse::new()),
        }
    }
}
