//! A column chunk of text, from the codes of its cells.
//!
//! The `parquet` crate's encoder finds out by hashing, cell by cell, which entry of its dictionary a text is. Here that is known: a
//! cell comes as the number of its label. So the chunk's pages are put together here; the crate frames them and keeps the
//! books.
//!
//! 1. Labels that a row has get numbers in order of first appearance. These labels, and no others, are the dictionary page.
//! 2. A data page says of each of its rows, in a bit, whether it has a text (the definition level; not where no row is null), and then has the numbers of
//!    those that do, each in as many bits as the largest of them needs; of both, one run where all are equal.
//!    (`RLE_DICTIONARY` in data pages of version 1.)
//! 3. Every page is compressed with zstd. The chunk's statistics are its least and its greatest label.
//!
//! For columns whose labels are not too long to be kept as a dictionary ([`fits`]). Cost: two look-ups a cell.

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

/// A longer dictionary would not be one for most readers.
const MAX_DICTIONARY_BYTES: usize = 1 << 20;

/// How many rows a data page has.
const PAGE_ROWS: usize = 1 << 16;

/// No number yet.
const NONE: u32 = u32::MAX;

/// No number ever: null.
const NULL: u32 = u32::MAX - 1;

/// Are these labels few and short enough to be a dictionary?
pub(crate) fn fits(labels: &[&str]) -> bool {
    labels.iter().map(|label| 4 + label.len()).sum::<usize>() <= MAX_DICTIONARY_BYTES
}

/// The texts of a column, by their codes.
#[derive(Debug)]
pub(crate) struct Texts {
    text: String,
    ends: Vec<usize>,
    is_null: Vec<bool>,
    /// May a row have null? Then pages say of each row whether it has a text.
    has_null: bool,
}

impl Texts {
    /// The texts, none where it is null.
    pub(crate) fn new<'a>(of_codes: impl Iterator<Item = Option<&'a str>>, has_null: bool) -> Self {
        let mut texts = Texts { text: String::new(), ends: vec![0], is_null: Vec::new(), has_null };
        for text in of_codes {
            texts.text.push_str(text.unwrap_or_default());
            texts.ends.push(texts.text.len());
            texts.is_null.push(text.is_none());
        }
        texts
    }

    fn get(&self, code: u32) -> &str {
        &self.text[self.ends[code as usize]..self.ends[code as usize + 1]]
    }
}

/// A chunk that is being written.
pub(crate) struct TextChunk {
    /// The number of each code's label, or [`NONE`], or [`NULL`].
    of_code: Vec<u32>,
    /// The code of each number.
    used: Vec<u32>,
    /// The numbers of rows that are in no page yet, or [`NULL`].
    waiting: Vec<u32>,
    pages: Vec<CompressedPage>,
    compressor: zstd::bulk::Compressor<'static>,
    n_rows: usize,
    n_nulls: usize,
    has_null: bool,
    /// Room for a page before it is compressed.
    plain: Vec<u8>,
}

impl TextChunk {
    /// No rows yet, of a column that has these texts.
    pub(crate) fn new(texts: &Texts) -> Result<Self> {
        Ok(TextChunk {
            of_code: texts.is_null.iter().map(|&is_null| if is_null { NULL } else { NONE }).collect(),
            used: Vec::new(),
            waiting: Vec::with_capacity(PAGE_ROWS),
            pages: Vec::new(),
            compressor: zstd::bulk::Compressor::new(level().compression_level())?,
            n_rows: 0,
            n_nulls: 0,
            has_null: texts.has_null,
            plain: Vec::new(),
        })
    }

    /// Appends rows with these codes, each of which must have a label.
    pub(crate) fn push(&mut self, mut codes: &[u32]) -> Result<()> {
        self.n_rows += codes.len();
        while !codes.is_empty() {
            let (now, later) = codes.split_at(codes.len().min(PAGE_ROWS - self.waiting.len()));
            let (of_code, used) = (&mut self.of_code, &mut self.used);
            self.waiting.extend(now.iter().map(|&code| {
                let number = &mut of_code[code as usize];
                if *number == NONE {
                    *number = used.len() as u32;
                    used.push(code);
                }
                *number
            }));
            if self.waiting.len() == PAGE_ROWS {
                self.end_page()?;
            }
            codes = later;
        }
        Ok(())
    }

    fn end_page(&mut self) -> Result<()> {
        let n_rows = self.waiting.len();
        self.plain.clear();
        if self.has_null {
            // How long the levels are is known when they are there.
            self.plain.extend_from_slice(&[0; 4]);
            encode_levels(&self.waiting, &mut self.plain);
            let n_bytes = self.plain.len() as u32 - 4;
            self.plain[..4].copy_from_slice(&n_bytes.to_le_bytes());
        }
        self.waiting.retain(|&number| number != NULL);
        self.n_nulls += n_rows - self.waiting.len();
        if !self.has_null && self.n_nulls > 0 {
            return Err(ParquetError::General("a row has null in a column without nulls".into()));
        }
        encode(&self.waiting, &mut self.plain);
        let buf = Bytes::from(self.compressor.compress(&self.plain)?);
        let page = Page::DataPage {
            buf,
            num_values: n_rows as u32,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.pages.push(CompressedPage::new(page, self.plain.len()));
        self.waiting.clear();
        Ok(())
    }

    /// The whole chunk, and what is to be said of it. There must be rows.
    pub(crate) fn close(
        mut self,
        texts: &Texts,
        column: ColumnDescPtr,
    ) -> Result<(Bytes, ColumnCloseResult)> {
        if !self.waiting.is_empty() {
            self.end_page()?;
        }
        self.plain.clear();
        for &code in &self.used {
            let text = texts.get(code).as_bytes();
            self.plain.extend_from_slice(&(text.len() as u32).to_le_bytes());
            self.plain.extend_from_slice(text);
        }
        let dictionary = Page::DictionaryPage {
            buf: Bytes::from(self.compressor.compress(&self.plain)?),
            num_values: self.used.len() as u32,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };

        let mut bytes = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut bytes);
        let (mut n_plain, mut n_compressed) = (0, 0);
        let mut first_data_page = None;
        let n_data_pages = self.pages.len();
        let dictionary = CompressedPage::new(dictionary, self.plain.len());
        for page in std::iter::once(dictionary).chain(self.pages) {
            let written = writer.write_page(page)?;
            n_plain += written.uncompressed_size as i64;
            n_compressed += written.compressed_size as i64;
            if written.page_type == PageType::DATA_PAGE {
                first_data_page.get_or_insert(written.offset as i64);
            }
        }
        let stats =
            |page_type, encoding, n: usize| PageEncodingStats { page_type, encoding, count: n as i32 };
        let labels = || self.used.iter().map(|&code| texts.get(code));
        let end = |label: Option<&str>| label.map(ByteArray::from);
        let metadata = ColumnChunkMetaData::builder(column)
            .set_compression(Compression::ZSTD(level()))
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_page_encoding_stats(vec![
                stats(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1),
                stats(PageType::DATA_PAGE, Encoding::RLE_DICTIONARY, n_data_pages),
            ])
            .set_total_compressed_size(n_compressed)
            .set_total_uncompressed_size(n_plain)
            .set_num_values(self.n_rows as i64)
            .set_dictionary_page_offset(Some(0))
            .set_data_page_offset(first_data_page.ok_or(ParquetError::General("a chunk has no rows".into()))?)
            // Text is ordered by its bytes, here as in the format.
            .set_statistics(Statistics::byte_array(
                end(labels().min()),
                end(labels().max()),
                None,
                Some(self.n_nulls as u64),
                false,
            ))
            .build()?;
        let bytes = Bytes::from(bytes.into_inner()?);
        let closed = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.n_rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: None,
        };
        Ok((bytes, closed))
    }
}

/// How hard is compressed.
pub(crate) fn level() -> parquet::basic::ZstdLevel {
    parquet::basic::ZstdLevel::default()
}

/// Appends for each row whether it has a text: one run of ones, of zeros, or of both.
fn encode_levels(numbers: &[u32], to: &mut Vec<u8>) {
    let n_nulls = numbers.iter().filter(|&&number| number == NULL).count();
    if n_nulls == 0 || n_nulls == numbers.len() {
        put_varint((numbers.len() as u64) << 1, to);
        to.push(u8::from(n_nulls == 0));
        return;
    }
    put_varint((numbers.len().div_ceil(8) as u64) << 1 | 1, to);
    let bits = |eight: &[u32]| {
        eight.iter().enumerate().fold(0, |bits, (at, &number)| bits | u8::from(number != NULL) << at)
    };
    to.extend(numbers.chunks(8).map(bits));
}

/// Appends the numbers of a page's rows: their width in bits, and one run of them, if there are any.
fn encode(numbers: &[u32], to: &mut Vec<u8>) {
    let largest = numbers.iter().copied().max().unwrap_or(0);
    // Some readers know no numbers without bits.
    let n_bits = (u32::BITS - largest.leading_zeros()).max(1);
    to.push(n_bits as u8);
    if let Some((first, rest)) = numbers.split_first()
        && rest.iter().all(|number| number == first)
    {
        put_varint((numbers.len() as u64) << 1, to);
        to.extend_from_slice(&first.to_le_bytes()[..n_bits.div_ceil(8) as usize]);
        return;
    }
    if numbers.is_empty() {
        return;
    }
    // Eight at a time; what is missing from the last eight is zeros, which nobody reads.
    let n_eights = numbers.len().div_ceil(8);
    put_varint((n_eights as u64) << 1 | 1, to);
    let end = to.len() + n_eights * n_bits as usize;
    to.reserve(n_eights * n_bits as usize + 4);
    let (mut word, mut n_filled) = (0_u64, 0);
    for &number in numbers {
        word |= u64::from(number) << n_filled;
        n_filled += n_bits;
        if n_filled >= u32::BITS {
            to.extend_from_slice(&(word as u32).to_le_bytes());
            word >>= u32::BITS;
            n_filled -= u32::BITS;
        }
    }
    to.extend_from_slice(&(word as u32).to_le_bytes());
    to.resize(end, 0);
}

/// Appends a number, seven bits a byte, the lowest first.
fn put_varint(mut number: u64, to: &mut Vec<u8>) {
    while number >= 1 << 7 {
        to.push(number as u8 | 1 << 7);
        number >>= 7;
    }
    to.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of a page, by the format's definition: bit after bit.
    fn decode(page: &[u8], n: usize) -> Vec<u32> {
        let n_bits = usize::from(page[0]);
        let (mut header, mut at) = (0_u64, 1);
        loop {
            header |= u64::from(page[at] & 0x7F) << (7 * (at - 1));
            at += 1;
            if page[at - 1] < 0x80 {
                break;
            }
        }
        let bit = |at: usize| u32::from(page[at / 8] >> (at % 8) & 1);
        let number = |start: usize| (0..n_bits).map(|place| bit(start + place) << place).sum();
        if header & 1 == 0 {
            assert_eq!((header >> 1) as usize, n);
            assert_eq!(page.len(), at + n_bits.div_ceil(8));
            return vec![number(8 * at); n];
        }
        assert_eq!((header >> 1) as usize, n.div_ceil(8));
        assert_eq!(page.len(), at + n.div_ceil(8) * n_bits);
        (0..n).map(|row| number(8 * at + row * n_bits)).collect()
    }

    #[test]
    fn numbers_of_any_width_are_read_back_by_the_formats_definition() {
        for n_bits in 0..=32 {
            let largest = ((1_u64 << n_bits) - 1) as u32;
            for n in [1, 2, 7, 8, 9, 64, 1001] {
                let mut state = 12345_u32;
                let mut numbers: Vec<u32> = (0..n)
                    .map(|_| {
                        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        state & largest
                    })
                    .collect();
                numbers[n / 2] = largest;
                let mut page = Vec::new();
                encode(&numbers, &mut page);
                assert_eq!(decode(&page, n), numbers, "{n} numbers of {n_bits} bits");
                let mut page = Vec::new();
                encode(&vec![largest; n], &mut page);
                assert_eq!(decode(&page, n), vec![largest; n], "{n} times the same, of {n_bits} bits");
            }
        }
    }
}
