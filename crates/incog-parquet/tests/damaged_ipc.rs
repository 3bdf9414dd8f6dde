//! Whatever is wrong with an Arrow IPC file, reading it ends with rows or with one error: nothing is printed, and no more memory asked for
//! than the file can fill.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, Int64Array, RecordBatch, StringArray};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use incog_core::{Error, ErrorKind};
use incog_parquet::{Released, TextLayout, read_ipc, to_batches};

/// What has been printed of panics.
static PRINTED: AtomicU64 = AtomicU64::new(0);

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

fn batch() -> RecordBatch {
    let some = |n: i64| (n % 5 != 0).then_some(n % 7);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("text", Arc::new(StringArray::from_iter((0..24).map(|n| some(n).map(|n| format!("t{n}")))))),
        ("whole", Arc::new(Int64Array::from_iter((0..24).map(some)))),
        ("is_in", Arc::new(BooleanArray::from_iter((0..24).map(|n| some(n).map(|n| n > 3))))),
        ("code", Arc::new((0..24).map(|n| ["a", "b", "c"][n % 3]).collect::<DictionaryArray<Int32Type>>())),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

/// Files and streams, packed and not; one of them ours.
fn files() -> Vec<Vec<u8>> {
    let batch = batch();
    let mut files = Vec::new();
    for packing in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        let options = || IpcWriteOptions::default().try_with_compression(packing).unwrap();
        let mut file = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options()).unwrap();
        let mut stream = StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options()).unwrap();
        for _ in 0..2 {
            file.write(&batch).unwrap();
            stream.write(&batch).unwrap();
        }
        files.extend([file.into_inner().unwrap(), stream.into_inner().unwrap()]);
    }
    let released = [Released { name: "text", kept: None, labels: vec!["a", "b", ""], has_null: true }];
    let whole =
        to_batches(&released, &[(0..48).map(|n| n % 3).collect()], &[TextLayout::Dictionary]).unwrap();
    let mut file = FileWriter::try_new(Vec::new(), &whole[0].schema()).unwrap();
    file.write(&whole[0]).unwrap();
    files.push(file.into_inner().unwrap());
    files
}

/// How many rows there are. Whatever it is, it must be consistent.
fn read(bytes: Vec<u8>) -> Result<usize, Error> {
    let (columns, _) = read_ipc(bytes)?;
    let n_rows = columns.first().map_or(0, |column| column.codes().len());
    assert!(columns.iter().all(|column| column.codes().len() == n_rows));
    Ok(n_rows)
}

/// The most memory that this process has ever asked for, in bytes, where the system tells.
fn most_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}

/// `INCOG_DAMAGED=100000` tries more.
#[test]
fn damaged_files_are_read_or_refused_in_silence() {
    let others = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PRINTED.fetch_add(1, Relaxed);
        others(panic);
    }));
    let files = files();
    for file in &files {
        assert_eq!(read(file.clone()).unwrap(), 48);
    }
    let before = most_memory();
    let (mut n_read, mut n_refused) = (0, 0);
    let n_runs: u64 = std::env::var("INCOG_DAMAGED").ok().and_then(|n| n.parse().ok()).unwrap_or(6000);
    for run in 0..n_runs {
        let mut random = Random(run);
        let mut bytes = files[random.below(files.len())].clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len());
            match random.below(12) {
                0 => bytes.truncate(at.max(1)),
                1..=5 => bytes[at] ^= 1 << random.below(8),
                6..=8 => bytes[at] = [0, 0x7F, 0x80, 0xFF][random.below(4)],
                _ => bytes[at] = random.below(256) as u8,
            }
        }
        match read(bytes) {
            Ok(_) => n_read += 1,
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::Input | ErrorKind::Limit), "run {run}: {error}");
                assert!(!error.to_string().contains('\n'), "run {run}: {error}");
                n_refused += 1;
            }
        }
    }
    assert!(n_read > n_runs / 20 && n_refused > n_runs / 20, "{n_read} read, {n_refused} refused");
    assert_eq!(PRINTED.load(Relaxed), 0, "the words of a decoder may come from the file");
    if let (Some(before), Some(after)) = (before, most_memory()) {
        assert!(after < before + (1 << 30), "{} MB were asked for", (after - before) >> 20);
    }
}
