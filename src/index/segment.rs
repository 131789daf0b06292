use std::sync::Arc;

use tantivy::{
    Index, IndexSettings, InvertedIndexReader, SegmentReader, TantivyDocument,
    directory::RamDirectory,
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
    /// By field; `None` where no document has a term.
    inverted: [Option<Arc<InvertedIndexReader>>; Field::ALL.len()],
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
        let (schema, fields) = schema();
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
            let mut length = 0;
            for field in Field::ALL {
                let (weight, text) = (weights.thousandths(field), document.text(field));
                if weight == 0 || text.is_empty() {
                    continue;
                }
                let mut tokens = Vec::new();
                stems.for_each_term(text, |term| {
                    tokens.push(Token { position: tokens.len(), text: term.to_owned(), ..Token::default() });
                });
                length += u64::from(weight) * tokens.len() as u64;
                if !tokens.is_empty() {
                    let text = PreTokenizedString { text: String::new(), tokens };
                    added.add_pre_tokenized_text(fields[field.position()], text);
                }
            }
            lengths.push(length);
            writer.add_document(added).map_err(failed("cannot add a document"))?;
        }
        let index = writer.finalize().map_err(failed("cannot finish a segment"))?;
        Self::open(&index, &fields, lengths)
    }

    /// The index of one field.
    pub(super) fn inverted(&self, field: Field) -> Option<&InvertedIndexReader> {
        self.inverted[field.position()].as_deref()
    }

    fn open(index: &Index, fields: &[TantivyField; Field::ALL.len()], lengths: Vec<u64>) -> Result<Self> {
        let failed = failed("cannot open a segment");
        let segments = index.searchable_segments().map_err(&failed)?;
        let [segment] = segments.as_slice() else {
            return Err(Error::Index {
                reason: format!("one segment expected, {} found", segments.len()),
                source: None,
            });
        };
        let reader = SegmentReader::open(segment).map_err(&failed)?;
        let mut inverted = [const { None }; Field::ALL.len()];
        for (of_field, field) in inverted.iter_mut().zip(fields) {
            let opened = reader.inverted_index(*field).map_err(&failed)?;
            *of_field = (opened.terms().num_terms() > 0).then_some(opened);
        }
        Ok(Self { reader, inverted, lengths })
    }
}

/// What tantivy is asked to keep in memory while it writes; it is where hash tables start, not a limit.
const MEMORY: usize = 15_000_000;
const SMALL_MEMORY: usize = 100_000;
const SMALL_SEGMENT: usize = 64;

fn schema() -> (Schema, [TantivyField; Field::ALL.len()]) {
    let mut builder = Schema::builder();
    // `raw` is never run: terms arrive made.
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("raw")
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(false);
    let options = TextOptions::default().set_indexing_options(indexing);
    let fields = Field::ALL.map(|field| builder.add_text_field(field.as_str(), options.clone()));
    (builder.build(), fields)
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
