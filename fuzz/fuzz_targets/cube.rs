//! Any bytes are a kept cube or an error, also with the beginning and the seal of a cube of this very table, as a forger would write
//! them. Whatever a cube says, what is released keeps the policy, because the checker counts again; and no error repeats a cell.
//!
//! An even first byte forges the beginning and the seal, an odd one leaves the file as it is; the rest is what is between them, or the file.
#![no_main]

use std::sync::OnceLock;

use incog::{Anonymizer, Job};
use incog_fuzz::{CANARY, Scratch, keeps_quiet};
use libfuzzer_sys::fuzz_target;
use sha2::{Digest, Sha256};

/// How many bytes stand in front of the sets: the name of the format, and a digest of the table.
const HEAD: usize = 13 + 32;
const SEAL: usize = 32;

struct Table {
    data: Scratch,
    cube: Scratch,
    /// What a cube of the table begins with.
    head: Vec<u8>,
}

impl Table {
    fn new() -> Self {
        let (data, cube) = (Scratch::new("data.csv"), Scratch::new("people.cube"));
        let _ = std::fs::remove_file(cube.path());
        let rows: String =
            (0..12).map(|n| format!("{},{CANARY} {},{}\n", 30 + n % 3, n % 2, n % 4)).collect();
        data.write(format!("age,zip,ward\n{rows}").as_bytes());
        let mut table = Table { data, cube, head: Vec::new() };
        table.anonymizer().search().unwrap();
        let kept = std::fs::read(table.cube.path()).unwrap();
        table.head = kept[..HEAD].to_vec();
        // What is kept is read again.
        table.cube.write(&table.sealed(&kept[HEAD..kept.len() - SEAL]));
        table.anonymizer().search().unwrap();
        table
    }

    fn anonymizer(&self) -> Anonymizer {
        let (data, cube) = (self.data.path().display(), self.cube.path().display());
        let job = format!(
            "[input]\npath = '{data}'\n[policy]\nk = 3\n[search]\nalgorithm = 'incognito'\nchecker = 'cube'\ncube_file = '{cube}'\n\
             [columns.age]\nrole = 'quasi-identifier'\nhierarchy = {{ intervals = [2] }}\n\
             [columns.zip]\nrole = 'quasi-identifier'\n[columns.ward]\nrole = 'quasi-identifier'\n"
        );
        Anonymizer::from_job(Job::parse(&job).unwrap())
    }

    fn sealed(&self, sets: &[u8]) -> Vec<u8> {
        let mut cube = [&self.head[..], sets].concat();
        let seal = Sha256::digest(&cube);
        cube.extend(seal);
        cube
    }
}

fuzz_target!(|bytes: &[u8]| {
    static TABLE: OnceLock<Table> = OnceLock::new();
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let table = TABLE.get_or_init(Table::new);
    let cube = if choice % 2 == 0 { table.sealed(bytes) } else { bytes.to_vec() };
    table.cube.write(&cube);
    if let Err(error) = table.anonymizer().search() {
        keeps_quiet(&error);
    }
    match table.anonymizer().anonymize() {
        Ok(release) => assert!(release.report().suppressed_rows <= release.report().budget),
        Err(error) => keeps_quiet(&error),
    }
});
