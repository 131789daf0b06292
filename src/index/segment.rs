use std::sync::Arc;

use tantivy::{
    Index, IndexSettings, InvertedIndexReader, SegmentReader, TantivyDocument,
    directory::RamDirectory,
    postings::TermInfo,
    schema::{Field as TantivyField, IndexRecordOption, Schema, TextFieldIndexing, TextOptions},
    store::Compressor,
    tokenizer::{PreTokenizedString, Token},
};

use super::{
    analyzer::Analyzer,
    document::ToolDocument,
    field::{Field, FieldWeights},
};
use crate::{Error, Result};

/// Postings of some tools' documents, never changed once built: a tantivy index of one segment in memory.
///
/// A segment is shared by all snapshots that still hold one of its documents, so indexing a
/// changed catalog disturbs no search that runs on the old one.
pub(super) struct Segment {
    pub(super) reader: SegmentReader,
    /// Of all fields together; `None` if no document has a term.
    inverted: Option<Arc<InvertedIndexReader>>,
    /// The exact weighted length of each document, in thousandths of a term: tantivy's own field
    /// norms keep a length in one byte, and two layouts of the same documents must score alike.
    pub(super) lengths: Vec<u64>,
}

impl Segment {
    /// Indexes documents; document ids follow their order.
    pub(super) fn build(
        documents: impl ExactSizeIterator<Item = ToolDocument>,
        analyzer: Analyzer,
        weights: FieldWeights,
    ) -> Result<Self> {
        let (schema, all_fields) = schema();
        let count = documents.len();
        let memory = if count < SMALL_SEGMENT { SMALL_MEMORY } else { MEMORY };
        let mut writer = Index::builder()
            .schema(schema)
            .settings(settings())
            .single_segment_index_writer::<TantivyDocument>(RamDirectory::create(), memory)
            .map_err(failed("cannot start a segment"))?;
        let mut stems = analyzer.bulk();
        let mut lengths = Vec::with_capacity(count);
        for document in documents {
            let mut added = TantivyDocument::default();
            let (mut length, mut tokens) = (0, Vec::new());
            for field in Field::ALL {
                let (weight, text) = (weights.thousandths(field), document.text(field));
                if weight == 0 || text.is_empty() {
                    continue;
                }
                let before = tokens.len();
                stems.for_each_term(text, |term| {
                    tokens.push(Token { position: tokens.len(), text: key(field, term), ..Token::default() });
                });
                length += u64::from(weight) * (tokens.len() - before) as u64;
            }
            if !tokens.is_empty() {
                added.add_pre_tokenized_text(all_fields, PreTokenizedString { text: String::new(), tokens });
            }
            lengths.push(length);
            writer.add_document(added).map_err(failed("cannot add a document"))?;
        }
        let index = writer.finalize().map_err(failed("cannot finish a segment"))?;
        Self::open(&index, all_fields, lengths)
    }

    /// The postings; `None` if no document has a term.
    pub(super) fn inverted(&self) -> Option<&InvertedIndexReader> {
        self.inverted.as_deref()
    }

    /// Where the postings of a term in a field are; `None` if no document has it there.
    pub(super) fn find(&self, field: Field, term: &str) -> tantivy::Result<Option<TermInfo>> {
        let Some(inverted) = &self.inverted else { return Ok(None) };
        Ok(inverted.terms().get(key(field, term))?)
    }

    fn open(index: &Index, all_fields: TantivyField, lengths: Vec<u64>) -> Result<Self> {
        let failed = failed("cannot open a segment");
        let segments = index.searchable_segments().map_err(&failed)?;
        let [segment] = segments.as_slice() else {
            return Err(Error::Index {
                reason: format!("one segment expected, {} found", segments.len()),
                source: None,
            });
        };
        let reader = SegmentReader::open(segment).map_err(&failed)?;
        let inverted = reader.inverted_index(all_fields).map_err(&failed)?;
        let inverted = (inverted.terms().num_terms() > 0).then_some(inverted);
        Ok(Self { reader, inverted, lengths })
    }
}

/// What tantivy is asked to keep in memory while it writes; it is where hash tables start, not a limit.
const MEMORY: usize = 15_000_000;
const SMALL_MEMORY: usize = 100_000;
const SMALL_SEGMENT: usize = 64;

/// A term of one field. All fields share one term dictionary: tantivy takes a tenth of a
/// millisecond to set one up, which is most of the time that a segment of one document takes.
fn key(field: Field, term: &str) -> String {
    let mut key = String::with_capacity(1 + term.len());
    key.push(char::from(b'a' + field.position() as u8));
    key.push_str(term);
    key
}

fn schema() -> (Schema, TantivyField) {
    let mut builder = Schema::builder();
    // `raw` is never run: terms arrive made.
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(false);
    let options = TextOptions::default().set_indexing_options(indexing);
    let all_fields = builder.add_text_field("text", options);
    (builder.build(), all_fields)
}

/// Nothing is stored, so nothing need be compressed, least of all by a thread of its own.
fn settings() -> IndexSettings {
    IndexSettings {
        docstore_compression: Compressor::None,
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

pub(super) fn failed(what: &'static str) -> impl Fn(tantivy::TantivyError) -> Error {
    move |error| Error::Index { reason: what.into(), source: Some(Box::new(error)) }
}
