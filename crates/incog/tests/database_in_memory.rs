//! A release of a database in memory is what a folder would hold, in the same types, and can be written to one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use incog::{Anonymizer, AnyJob, ErrorKind, Job, Release};

fn example(job: &str) -> Anonymizer {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    Anonymizer::from_job(AnyJob::read(&folder.join(job)).unwrap())
}

/// The rows of each file or table, without keys, which are drawn anew each time.
type Tables = BTreeMap<String, Vec<Vec<String>>>;

const KEYS: [&str; 3] = ["sid", "scid", "bid"];

fn in_memory(release: &Release) -> Tables {
    let rows = |table: &incog::ReleasedTable<'_>| {
        let header = table.header().into_iter().filter(|name| !KEYS.contains(name));
        let columns: Vec<_> = header.map(|name| table.column(name).unwrap()).collect();
        let row = |at: usize| columns.iter().map(|cells| cells[at].unwrap_or_default().to_owned()).collect();
        (0..table.n_rows()).map(row).collect()
    };
    release.tables().iter().map(|table| (table.name().to_owned(), rows(table))).collect()
}

fn in_folder(folder: &Path) -> Tables {
    let mut tables = Tables::new();
    for name in ["student", "takes", "book"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.csv"))).unwrap();
        let mut lines = text.lines().map(|line| line.split(',').map(str::to_owned).collect::<Vec<_>>());
        let header = lines.next().unwrap();
        let is_kept = |at: &usize| !KEYS.contains(&header[*at].as_str());
        let kept: Vec<usize> = (0..header.len()).filter(is_kept).collect();
        let rows = lines.map(|cells| kept.iter().map(|&at| cells[at].clone()).collect()).collect();
        tables.insert(name.to_owned(), rows);
    }
    tables
}

fn sorted(mut tables: Tables) -> Tables {
    tables.values_mut().for_each(|rows| rows.sort_unstable());
    tables
}

#[test]
fn it_is_what_a_folder_would_hold() {
    let scratch = tempfile::tempdir().unwrap();
    let key = |anonymizer: Anonymizer| anonymizer.key_file(scratch.path().join("incog.key"));
    let folder: PathBuf = scratch.path().join("release");
    let kept = key(example("university/incog.toml")).keep_order().anonymize().unwrap();
    assert_eq!(kept.tables()[0].name(), "student");
    assert_eq!((kept.n_rows(), kept.header()), (kept.tables()[0].n_rows(), kept.tables()[0].header()));
    let before = kept.record().unwrap();
    let record = kept.write(&folder).unwrap().unwrap();
    assert!(record.starts_with(&folder));
    assert_eq!(in_memory(&kept), in_folder(&folder));
    // Without its key nothing differs but what takes one.
    assert_eq!(before.tables.len(), 3);
    let written = incog::Record::read(&record, incog::Trust::default()).unwrap();
    assert_eq!(before.tables["takes"].file.sha256, written.tables["takes"].file.sha256);
    let verified = key(example("university/incog.toml")).verify(&folder).unwrap();
    assert!(verified.holds());

    // Shuffled, each table by itself, they are the same rows.
    let shuffled = key(example("university/incog.toml")).anonymize().unwrap();
    assert_ne!(in_memory(&shuffled), in_memory(&kept));
    assert_eq!(sorted(in_memory(&shuffled)), sorted(in_memory(&kept)));
    assert_eq!(shuffled.recoding().unwrap_err().kind(), ErrorKind::Input);
}

#[cfg(feature = "parquet")]
#[test]
fn its_record_batches_have_its_rows() {
    let release = example("university/incog.toml").anonymize().unwrap();
    for table in release.tables() {
        let rows: usize =
            table.to_record_batches().unwrap().iter().map(arrow_array::RecordBatch::num_rows).sum();
        assert_eq!(rows, table.n_rows(), "{}", table.name());
    }
}

#[test]
fn one_table_has_no_name() {
    let job =
        Job::parse("[input]\npath = \"-\"\n[policy]\nk = 1\n[columns.a]\nrole = \"quasi-identifier\"\n")
            .unwrap();
    let release = Anonymizer::from_job(AnyJob::from(job)).data([("a", vec!["1", "2"])]).anonymize().unwrap();
    let tables = release.tables();
    assert_eq!((tables.len(), tables[0].name(), tables[0].n_rows()), (1, "", 2));
}
