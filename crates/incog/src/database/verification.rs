//! What a database job claims of its release, in the checker's terms, and `incog verify` on the folder of a release.

use std::collections::BTreeMap;
use std::path::Path;

use incog_core::relational::Release;
use incog_core::words::counted;
use incog_core::{Error, ErrorKind, Result};
use incog_verify::{
    AnatomyTable, DatabaseClaims, Report, TableClaims, TableSource, check_anatomy, check_database,
};
use incog_verify::{ClaimKind, Counted, Finding, Labels, SensitiveClaim};

use crate::claim::file::as_collected;
use crate::claim::labels::Collected;
use crate::claim::requirement::required;
use crate::claim::{hierarchies, on_columns, on_sensitive};
use crate::database::consistency::against_release;
use crate::database::hashed;
use crate::database::plan::{DatabasePlan, in_table};
use crate::database::record::{SeenTable, extension, record_of};
use crate::database::score::Scores;
use crate::job::{DatabaseJob, ReleaseKind, RoleJob};
use crate::publish::check::{
    IS_WHAT_ALL_SAY, changed_sources, compared, read_with_digest, record_claim, same_file,
};
use crate::publish::record::{FilePart, Key, RECORD, Record};

/// The folder of a release, read: the tables and those of sensitive columns, with what can be seen of their files.
struct Folder {
    tables: Vec<ReadTable>,
    seen: Vec<SeenTable>,
    /// Files in it that belong to no table.
    n_others: u64,
}

struct ReadTable {
    rows: Box<dyn Labels>,
    sensitive: Vec<(String, Box<dyn Labels>)>,
}

impl ReadTable {
    fn as_anatomy(&self) -> AnatomyTable<'_> {
        AnatomyTable {
            rows: &*self.rows,
            sensitive: self.sensitive.iter().map(|(name, labels)| (name.clone(), &**labels)).collect(),
        }
    }
}

impl DatabasePlan {
    /// What the plan's job claims of any release of it. `inputs` are the plan's tables; `release` tells which rows the
    /// released ones come from, where that is known.
    pub(crate) fn claims<'a>(
        &self,
        inputs: &'a [Collected<'a>],
        release: Option<&'a Release>,
    ) -> Result<DatabaseClaims<'a>> {
        let mut tables = Vec::new();
        let mut sources = Vec::new();
        for (at, relation) in self.database.relations().iter().enumerate() {
            let columns = relation.table.columns();
            let released = self.released_columns(at);
            let attributes = self.database.attributes(at);
            tables.push(TableClaims {
                name: relation.name.clone(),
                columns: Some(released.iter().map(|&at| columns[at].name().to_owned()).collect()),
                key: relation.key.clone(),
                parent: relation.foreign_keys.first().map(|key| (key.table.clone(), key.column.clone())),
                quasi_identifiers: attributes.iter().map(|attribute| attribute.name().to_owned()).collect(),
                sensitive: on_sensitive(&self.tables[at].job, &relation.table)?,
            });
            sources.push(TableSource {
                input: &inputs[at],
                hierarchies: hierarchies(attributes.iter(), &relation.table),
                origins: release.map(|release| release.tables[at].records.as_slice()),
            });
        }
        Ok(DatabaseClaims {
            person: self.job.database.person.clone(),
            k: self.job.policy.k.unsigned_abs(),
            suppression: self.budget,
            tables,
            source: Some(sources),
        })
    }

    /// Checks the folder of a release against this plan's job and data, trusting nothing but the input. With a record also that it is
    /// what is found anew: the first difference is told.
    pub(crate) fn check_folder(
        &self,
        release: &Path,
        delimiter: Option<u8>,
        record: Option<(&Record, Option<&Key>)>,
    ) -> Result<Report> {
        let (mut report, folder) = self.verify_folder(release, delimiter)?;
        let tables: Vec<&dyn Labels> = folder.tables.iter().map(|table| &*table.rows).collect();
        report.findings.extend(hashed::findings(self, &tables, record.and_then(|(_, key)| key)));
        let Some((record, key)) = record else {
            return Ok(report);
        };
        let mut found_anew = None;
        let difference = match Scores::of(self, &tables, &report) {
            Some(scores) => {
                let anew = record_of(self, &folder.seen, &report, &scores, key)?;
                self.check_hierarchies()?;
                record.first_difference(found_anew.insert(anew))
            }
            None => Some(
                "a released column is missing or has labels of no level, or there are too many rows".into(),
            ),
        };
        report.findings.push(compared(difference, IS_WHAT_ALL_SAY));
        folder.files_first(&mut report, record, found_anew.as_ref());
        Ok(report)
    }

    fn verify_folder(&self, release: &Path, delimiter: Option<u8>) -> Result<(Report, Folder)> {
        let delimiters = self.tables.iter().map(|table| delimiter.or(table.format.delimiter()));
        let mut folder = Folder::read(&self.job, release, &delimiters.collect::<Vec<_>>())?;
        folder.tables = folder
            .tables
            .into_iter()
            .zip(self.database.relations())
            .map(|(read, relation)| {
                let file = self.file_name(&relation.name, None);
                let as_in = |labels| as_collected(Path::new(&file), labels, &relation.table);
                let sensitive = read.sensitive.into_iter().map(|(name, labels)| (name, as_in(labels)));
                ReadTable { rows: as_in(read.rows), sensitive: sensitive.collect() }
            })
            .collect();
        let inputs = self.inputs();
        let claims = self.claims(&inputs, None)?;
        Ok((folder.check(self.job.database.release, &claims), folder))
    }
}

/// Checks the folder of a release against its record alone: what everybody can recompute.
pub(crate) fn check_against_record(
    release: &Path,
    record: &Record,
    job: &DatabaseJob,
    delimiter: Option<u8>,
) -> Result<Report> {
    // A delimiter that makes no sense was forged, which is found below.
    let given = |name: &String| {
        job.of_table(name).and_then(|table| crate::source::options::delimiter(&table)).ok().flatten()
    };
    let delimiters: Vec<Option<u8>> = job.tables.keys().map(|name| delimiter.or(given(name))).collect();
    let folder = Folder::read(job, release, &delimiters)?;
    let mut n_unknown = 0;
    let mut tables = Vec::new();
    for (name, table) in &job.tables {
        let Some(part) = record.tables.get(name) else {
            return Err(Error::input(format!("the record's job has a table `{name}`, the record has none")));
        };
        let mut known: Vec<SensitiveClaim> = Vec::new();
        for part in crate::plan::requirements::parts(&job.of_table(name)?)? {
            match required(&part, None, &Counted::Rows)? {
                Some(claim) => known.push(claim),
                None => n_unknown += 1,
            }
        }
        let sensitive = table.columns.iter().filter(|(_, column)| column.role == RoleJob::Sensitive);
        let mut columns = part.file.columns.clone();
        if job.database.release == ReleaseKind::Anatomized {
            // The claims are about the tables before their sensitive columns were taken out.
            columns.retain(|column| column != super::anatomy::GROUP);
            columns.extend(sensitive.clone().map(|(column, _)| column.clone()));
        }
        tables.push(TableClaims {
            name: name.clone(),
            columns: Some(columns),
            key: table.key.clone(),
            parent: table.parents().first().map(|parent| (parent.table.clone(), parent.column.clone())),
            // Not what the record says of itself: its job is what its digest is of.
            quasi_identifiers: table.quasi_identifiers(),
            sensitive: on_columns(sensitive.map(|(column, _)| column.clone()), known),
        });
    }
    let claims = DatabaseClaims {
        person: job.database.person.clone(),
        k: record.claims.k,
        suppression: None,
        tables,
        source: None,
    };
    let mut report = folder.check(job.database.release, &claims);
    let difference = against_release(record, job, &folder.seen, &report);
    let claim = record_claim(n_unknown, record.claims.requires.len());
    report.findings.push(compared(difference, &claim));
    folder.files_first(&mut report, record, None);
    Ok(report)
}

impl Folder {
    /// Reads the tables of a release. Where the delimiter of a table is not known, its
    /// header's most frequent one is taken.
    fn read(job: &DatabaseJob, folder: &Path, delimiters: &[Option<u8>]) -> Result<Self> {
        if !folder.is_dir() {
            return Err(Error::input(format!(
                "the release `{}` is no folder, and the job is about a database",
                folder.display()
            ))
            .with_hint("give the folder that the release was written to"));
        }
        let read = |table: &str, column: Option<&str>, delimiter| -> Result<(Box<dyn Labels>, FilePart)> {
            let stem = column.map_or(table.to_owned(), |column| format!("{table}.{column}"));
            let name = format!("{stem}{}", extension(job.database.format));
            let path = folder.join(&name);
            if !path.is_file() {
                return Err(Error::input(format!(
                    "{}the release `{}` has no file `{name}`",
                    in_table(table),
                    folder.display()
                )));
            }
            let (released, sha256) = read_with_digest(&path, None, delimiter)?;
            let labels = released.labels;
            let seen = FilePart::of(Some(name), &sha256, &*labels);
            Ok((labels, seen))
        };
        let (mut tables, mut seen) = (Vec::new(), Vec::new());
        for ((name, table), &delimiter) in job.tables.iter().zip(delimiters) {
            let (rows, file) = read(name, None, delimiter)?;
            let (mut sensitive, mut files) = (Vec::new(), BTreeMap::new());
            if job.database.release == ReleaseKind::Anatomized {
                let columns = table.columns.iter().filter(|(_, column)| column.role == RoleJob::Sensitive);
                for (column, _) in columns {
                    let (labels, file) = read(name, Some(column), delimiter)?;
                    sensitive.push((column.clone(), labels));
                    files.insert(column.clone(), file);
                }
            }
            tables.push(ReadTable { rows, sensitive });
            seen.push(SeenTable { rows: file, sensitive: files });
        }
        let files = seen
            .iter()
            .flat_map(|table: &SeenTable| std::iter::once(&table.rows).chain(table.sensitive.values()));
        let known: Vec<&str> = files.filter_map(|file| file.name.as_deref()).chain([RECORD]).collect();
        let failed = |error: std::io::Error| {
            Error::new(ErrorKind::Io, format!("cannot read the folder `{}`: {error}", folder.display()))
        };
        let mut n_others = 0;
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            n_others += u64::from(!known.iter().any(|known| name == *known));
        }
        Ok(Folder { tables, seen, n_others })
    }

    /// Puts what was found of files in front of what was found in them: each that was changed.
    fn files_first(&self, report: &mut Report, record: &Record, anew: Option<&Record>) {
        let recorded = |name: &str| {
            let files = record
                .tables
                .values()
                .flat_map(|table| std::iter::once(&table.file).chain(table.sensitive_files.values()));
            files.into_iter().find(|file| file.name.as_deref() == Some(name)).map(|file| file.sha256.clone())
        };
        let files = self
            .seen
            .iter()
            .flat_map(|table: &SeenTable| std::iter::once(&table.rows).chain(table.sensitive.values()));
        let changed = files.filter_map(|file| {
            let name = file.name.as_deref()?;
            Some(same_file(name, &file.sha256, &recorded(name)?))
        });
        let sources = anew.map_or(Vec::new(), |anew| changed_sources(record, anew));
        let changed: Vec<Finding> = changed.filter(|finding| !finding.holds).chain(sources).collect();
        report.findings.splice(0..0, changed);
    }

    fn check(&self, kind: ReleaseKind, claims: &DatabaseClaims<'_>) -> Report {
        let mut report = self.check_tables(kind, claims);
        report.findings.push(Finding::new(
            ClaimKind::Files,
            "the folder holds the files of the release and its record, and nothing else",
            self.n_others == 0,
            match self.n_others {
                0 => "it does".to_owned(),
                n => {
                    format!("it holds {}, which nobody has checked", counted(n, "other file", "other files"))
                }
            },
        ));
        report
    }

    fn check_tables(&self, kind: ReleaseKind, claims: &DatabaseClaims<'_>) -> Report {
        match kind {
            ReleaseKind::Generalized => {
                let tables: Vec<&dyn Labels> = self.tables.iter().map(|table| &*table.rows).collect();
                check_database(&tables, claims)
            }
            ReleaseKind::Anatomized => {
                let tables: Vec<AnatomyTable<'_>> = self.tables.iter().map(ReadTable::as_anatomy).collect();
                check_anatomy(&tables, claims)
            }
        }
    }
}
