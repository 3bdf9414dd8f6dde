//! Whatever is wrong with a file, reading it ends with rows or with one error: no panic, no hang, no absurd amount of memory.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::*;
use arrow_array::*;
use arrow_schema::{Field, Schema};
use incog_core::table::{Column, Role};
use incog_core::{ErrorKind, Progress, Result};
use incog_parquet::{Parquet, Released, Writer};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterVersion};
use tempfile::TempDir;

/// The same numbers on every run (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ z >> 31) % n as u64) as usize
    }
}

/// Reads all there is. Whatever it is, it must be consistent.
fn read(path: &Path) -> Result<usize> {
    let parquet = Parquet::open(path)?;
    let n_rows = parquet.n_rows() as usize;
    let mut columns: Vec<Column> =
        parquet.header().iter().map(|name| Column::new(name.clone(), Role::Other)).collect();
    parquet.read_into(&mut columns, &Progress::new())?;
    assert!(columns.iter().all(|column| column.codes().len() == n_rows));
    Ok(n_rows)
}

/// Columns of all kinds, 24 rows.
fn arrays() -> Vec<(&'static str, ArrayRef)> {
    let some = |n: i64| (n % 5 != 0).then_some(n % 7);
    vec![
        ("text", Arc::new(StringArray::from_iter((0..24).map(|n| some(n).map(|n| format!("t{n}")))))),
        (
            "long",
            Arc::new(LargeStringArray::from_iter((0..24).map(|n| some(n).map(|n| "x".repeat(n as usize))))),
        ),
        ("whole", Arc::new(Int64Array::from_iter((0..24).map(some)))),
        ("small", Arc::new(UInt8Array::from_iter_values(0..24))),
        ("share", Arc::new(Float64Array::from_iter((0..24).map(|n| some(n).map(|n| n as f64 / 3.0))))),
        ("is_in", Arc::new(BooleanArray::from_iter((0..24).map(|n| some(n).map(|n| n > 3))))),
        ("price", Arc::new(Decimal128Array::from_iter((0..24).map(|n| some(n).map(i128::from))))),
        ("day", Arc::new(Date32Array::from_iter((0..24).map(|n| some(n).map(|n| n as i32))))),
        ("day64", Arc::new(Date64Array::from_iter((0..24).map(|n| some(n).map(|n| n * 86_400_000))))),
        ("when", Arc::new(TimestampSecondArray::from_iter((0..24).map(some)).with_timezone("Europe/Berlin"))),
        ("at", Arc::new(Time64MicrosecondArray::from_iter((0..24).map(some)))),
        ("code", Arc::new((0..24).map(|n| ["a", "b", "c"][n % 3]).collect::<DictionaryArray<Int32Type>>())),
    ]
}

/// Small files as several programs would write them.
fn files() -> Vec<Vec<u8>> {
    let arrays = arrays();
    let write = |arrays: &[(&str, ArrayRef)], properties: WriterProperties| {
        let field = |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
        let schema = Arc::new(Schema::new(arrays.iter().map(field).collect::<Vec<_>>()));
        let values = arrays.iter().map(|(_, array)| array.clone()).collect();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, Arc::clone(&schema), Some(properties)).unwrap();
        writer.write(&RecordBatch::try_new(schema, values).unwrap()).unwrap();
        writer.close().unwrap();
        bytes
    };
    let mut files = Vec::new();
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(Default::default())]
    {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for has_dictionaries in [true, false] {
                let properties = WriterProperties::builder()
                    .set_compression(compression)
                    .set_writer_version(version)
                    .set_dictionary_enabled(has_dictionaries)
                    .build();
                files.push(write(&arrays, properties.clone()));
                files.push(write(&arrays[..1], properties));
            }
        }
    }
    let delta = WriterProperties::builder().set_dictionary_enabled(false);
    let delta = delta.set_column_encoding("text".into(), Encoding::DELTA_BYTE_ARRAY);
    files.push(write(&arrays[..1], delta.build()));
    // And as we do.
    let released = [Released { name: "text", kept: None, labels: vec!["a", "b", ""], has_null: true }];
    let mut writer = Writer::new(Vec::new(), &released).unwrap();
    writer.write(vec![(0..24).map(|n| n % 3).collect()]).unwrap();
    files.push(writer.finish().unwrap());
    files
}

/// Changes some bytes, cuts or doubles a part; most often near the end, where the footer is.
fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(3) {
        let n = bytes.len();
        let at = if random.below(3) == 0 { random.below(n) } else { n - 1 - random.below(n.min(2000)) };
        match random.below(20) {
            0 => bytes.truncate(at.max(1)),
            1 => {
                let end = (at + 1 + random.below(16)).min(n);
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            2 => _ = bytes.splice(at..(at + 1 + random.below(8)).min(n), []),
            3..=7 => bytes[at] ^= 1 << random.below(8),
            8..=10 => bytes[at] = [0, 0x7F, 0x80, 0xFF][random.below(4)],
            _ => bytes[at] = random.below(256) as u8,
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
}

/// The most memory that this process has ever asked for, in bytes, where the system tells.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// `INCOG_DAMAGED=100000` tries more, and `INCOG_KEEP_DAMAGED=folder` keeps what made the decoder panic.
#[test]
fn damaged_files_are_read_or_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("damaged.parquet");
    let before = most_memory();
    let (mut n_read, mut n_refused, mut n_caught) = (0, 0, 0);
    let files = files();
    for file in &files {
        std::fs::write(&path, file).unwrap();
        assert_eq!(read(&path).unwrap(), 24);
    }
    let n_runs: u64 = std::env::var("INCOG_DAMAGED").ok().and_then(|n| n.parse().ok()).unwrap_or(4000);
    for run in 0..n_runs {
        let mut random = Random(run);
        let mut bytes = files[random.below(files.len())].clone();
        damage(&mut bytes, &mut random);
        std::fs::write(&path, &bytes).unwrap();
        match read(&path) {
            Ok(_) => n_read += 1,
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::Input | ErrorKind::Limit), "run {run}: {error}");
                assert!(!error.to_string().contains('\n'), "run {run}: {error}");
                n_refused += 1;
                if error.to_string().contains("it cannot be decoded") {
                    n_caught += 1;
                    if let Some(folder) = std::env::var_os("INCOG_KEEP_DAMAGED") {
                        std::fs::write(Path::new(&folder).join(format!("panic-{run}.parquet")), &bytes)
                            .unwrap();
                    }
                }
            }
        }
    }
    assert!(n_read > n_runs / 20 && n_refused > n_runs / 2, "{n_read} read, {n_refused} refused");
    assert!(n_caught > 0, "no file makes the decoder panic any more: is there still something to guard?");
    if let (Some(before), Some(after)) = (before, most_memory()) {
        assert!(after < before + (6 << 30), "{} MB were asked for", (after - before) >> 20);
    }
}

/// Files that made the decoder panic, kept.
#[test]
fn files_that_made_the_decoder_panic_are_refused() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/hostile/parquet");
    let mut n_files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let error = read(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input, "{}", path.display());
        n_files += 1;
    }
    assert!(n_files >= 4);
}

/// A schema of groups within groups, each with one child: the decoder would call itself for each, until the stack overflows.
#[test]
fn columns_nested_a_million_times_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("nested.parquet");
    for (depth, part) in [(1_000_000_usize, "nested in more than 64"), (3, "")] {
        // Version 1; then the schema: groups (required, a name, one child) and a column.
        let mut bytes = vec![0x15, 0x02, 0x19, 0xFC];
        let mut n_entries = depth + 1;
        while n_entries >= 0x80 {
            bytes.push(n_entries as u8 | 0x80);
            n_entries >>= 7;
        }
        bytes.push(n_entries as u8);
        bytes.extend([0x35, 0x00, 0x18, 1, b'g', 0x15, 0x02, 0x00].repeat(depth));
        bytes.extend([0x15, 0x04, 0x25, 0x00, 0x18, 1, b'c', 0x00]);
        bytes.extend([0x16, 0x00, 0x19, 0x0C, 0x00]);
        let length = (bytes.len() as u32).to_le_bytes();
        let file = [b"PAR1", &bytes[..], &length, b"PAR1"].concat();
        std::fs::write(&path, file).unwrap();
        let error = read(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        assert!(error.to_string().contains(part), "{error}");
    }
}

/// More columns than have a reader each: some share one.
#[test]
fn thousands_of_columns_come_back_cell_by_cell() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("wide.parquet");
    let n_columns = 3000;
    let array = |at: usize| -> ArrayRef {
        let cell = |row: usize| (!(at + row).is_multiple_of(3)).then(|| format!("{at}-{row}"));
        match at % 2 {
            0 => Arc::new(StringArray::from_iter((0..5).map(cell))),
            _ => Arc::new(Int64Array::from_iter((0..5).map(|row| cell(row).map(|_| (at * row) as i64)))),
        }
    };
    let names: Vec<String> = (0..n_columns).map(|at| format!("c{at}")).collect();
    let arrays: Vec<ArrayRef> = (0..n_columns).map(array).collect();
    let fields =
        names.iter().zip(&arrays).map(|(name, array)| Field::new(name, array.data_type().clone(), true));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let mut writer = ArrowWriter::try_new(File::create(&path).unwrap(), Arc::clone(&schema), None).unwrap();
    writer.write(&RecordBatch::try_new(schema, arrays).unwrap()).unwrap();
    writer.close().unwrap();
    for rows_at_a_time in [2, usize::MAX] {
        let parquet = Parquet::open(&path).unwrap();
        let mut columns: Vec<Column> =
            names.iter().map(|name| Column::new(name.clone(), Role::Other)).collect();
        let mut n_parts = 0;
        let types = parquet
            .read_parts(&mut columns, rows_at_a_time, &Progress::new(), &mut |_| {
                n_parts += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(n_parts, if rows_at_a_time == 2 { 3 } else { 1 });
        assert_eq!(types.len(), n_columns);
        for (at, column) in columns.iter().enumerate() {
            for row in 0..5 {
                let expected = match ((at + row) % 3 != 0, at % 2) {
                    (false, _) => String::new(),
                    (true, 0) => format!("{at}-{row}"),
                    (true, _) => (at * row).to_string(),
                };
                assert_eq!(column.cell(row), expected, "column {at}, row {row}");
            }
        }
    }
}
