use super::{files::Prefixes, languages::Languages};

/// What is known of the models whose names begin in the same way.
#[derive(Debug)]
pub(super) struct Family {
    /// How the names begin, in lower case and without the owner.
    start: &'static str,
    /// Who made the models, in lower case: fastembed often takes another's export.
    maker: &'static str,
    languages: Languages,
    query: &'static str,
    document: &'static str,
}

impl Family {
    /// That of a model's name without its owner.
    pub(super) fn of(name: &str) -> Option<&'static Self> {
        let name = name.to_lowercase();
        FAMILIES.iter().find(|family| name.starts_with(family.start))
    }

    pub(super) fn is_by(&self, owner: &str) -> bool {
        self.maker.eq_ignore_ascii_case(owner)
    }

    pub(super) fn languages(&self) -> Languages {
        self.languages
    }

    pub(super) fn prefixes(&self) -> Prefixes {
        Prefixes { query: self.query.into(), document: self.document.into() }
    }
}

const SEARCH: &str = "Represent this sentence for searching relevant passages: ";
const SEARCH_ZH: &str = "为这个句子生成表示以用于检索相关文章：";

const fn family(
    start: &'static str,
    maker: &'static str,
    languages: Languages,
    query: &'static str,
    document: &'static str,
) -> Family {
    Family { start, maker, languages, query, document }
}

/// From the model cards.
static FAMILIES: &[Family] = {
    use Languages::{English, Many};
    &[
        family("all-minilm-", "sentence-transformers", English, "", ""),
        family("all-mpnet-", "sentence-transformers", English, "", ""),
        family("paraphrase-multilingual-", "sentence-transformers", Many, "", ""),
        family("bge-m3", "BAAI", Many, "", ""),
        family("bge-small-en-", "BAAI", English, SEARCH, ""),
        family("bge-base-en-", "BAAI", English, SEARCH, ""),
        family("bge-large-en-", "BAAI", English, SEARCH, ""),
        family("bge-small-zh-", "BAAI", Many, SEARCH_ZH, ""),
        family("bge-large-zh-", "BAAI", Many, SEARCH_ZH, ""),
        family("multilingual-e5-", "intfloat", Many, "query: ", "passage: "),
        family("nomic-embed-text-", "nomic-ai", English, "search_query: ", "search_document: "),
        family("modernbert-embed-", "lightonai", English, "search_query: ", "search_document: "),
        family("mxbai-embed-large-", "mixedbread-ai", English, SEARCH, ""),
        family("gte-", "Alibaba-NLP", English, "", ""),
        family("snowflake-arctic-embed-", "Snowflake", English, SEARCH, ""),
        family("jina-embeddings-v2-base-", "jinaai", English, "", ""),
        family("embeddinggemma-", "google", Many, "task: search result | query: ", "title: none | text: "),
        family("clip-vit-", "Qdrant", English, "", ""),
        family("bge-reranker-", "BAAI", Many, "", ""),
        family("jina-reranker-", "jinaai", Many, "", ""),
    ]
};

#[cfg(test)]
mod tests {
    use fastembed::TextEmbedding;

    use super::*;

    #[test]
    fn every_model_of_fastembed_belongs_to_one() {
        for model in TextEmbedding::list_supported_models() {
            let name = model.model_code.rsplit('/').next().unwrap();
            assert!(Family::of(name).is_some(), "{name}");
        }
    }

    #[test]
    fn prefixes_are_those_of_the_model_cards() {
        let of = |name: &str| Family::of(name).unwrap().prefixes();
        assert_eq!(of("multilingual-e5-large-onnx").query, "query: ");
        assert_eq!(of("nomic-embed-text-v1.5").document, "search_document: ");
        assert_eq!(of("bge-m3"), Prefixes::default());
        assert_eq!(of("BGE-small-en-v1.5-onnx-Q").query, SEARCH);
    }
}
