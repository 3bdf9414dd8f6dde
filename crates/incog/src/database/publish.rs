//! The release of a database: clusters, verified tables, a folder, and what there is to say of it.
//!
//! [`MadeDatabase`] is a release in memory. It holds no cell of its own but new keys: its tables share the data with the plan.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use incog_core::algorithm::Quality;
use incog_core::relational::{Clustering, Release, dmiracle, miracle};
use incog_core::words::counted;
use incog_core::{Error, ErrorKind, Progress, Result, Stage};
use incog_verify::Labels;
use incog_verify::{Verified, verify_anatomy, verify_database};

use crate::claim::labels::Collected;
use crate::claim::not_verified;
use crate::database::hashed;
use crate::database::plan::{DatabasePlan, in_table};
use crate::database::record::{SeenTable, extension, record_of};
use crate::database::release::TableRelease;
use crate::database::score::Scores;
use crate::file::FileFormat;
use crate::file::format::Use;
use crate::job::ReleaseKind;
use crate::plan::hierarchies::warning;
use crate::plan::requirements;
use crate::publish::key_file::RunKey;
use crate::publish::places::{KEY, place_of, signing_key};
use crate::publish::record::{FilePart, Key, PrivateKey, RECORD, Record, Trust};
use crate::publish::sink::{self, Form, Layout, Part, TargetFolder, Types, Unfinished, UnfinishedFolder};
use crate::publish::under_the_key_on_disk;
use crate::report::release::{Published, ReleaseReport, TableSummary};

/// What a reader of an anatomized release must know.
const NOT_K_ANONYMOUS: &str = "quasi-identifiers are exact: whoever knows a person's finds their rows. What is claimed is about \
     sensitive values only; this is not k-anonymity";

/// The tables of a release, without those of sensitive columns.
fn rows(verified: &Verified<TableRelease>) -> Vec<&dyn Labels> {
    verified.tables().iter().map(|table| &table.rows as &dyn Labels).collect()
}

/// A release of a database that the checker has found to keep all its promises.
pub(crate) struct MadeDatabase {
    release: Release,
    pub(crate) verified: Verified<TableRelease>,
    scores: Scores,
}

/// Where a file of a release is written to: it is asked for by its name.
type Files<'a> = dyn Fn(&str) -> Result<Unfinished> + 'a;

impl DatabasePlan {
    /// Clusters the persons, verifies the release and writes it, with its record, where the job says.
    pub(crate) fn publish(&self, progress: &Progress) -> Result<Published> {
        let output = self.job.database.output.as_ref().map(|output| self.job.resolve(output));
        let (path, place) = self.place(output)?;
        self.signing_key()?;
        let made = self.make(progress)?;
        let record = self.write_folder(&made, &path, place, progress)?;
        Ok(Published { path, record, report: self.report(&made) })
    }

    /// Clusters the persons and has the release verified.
    pub(crate) fn make(&self, progress: &Progress) -> Result<MadeDatabase> {
        if self.job.database.release == ReleaseKind::Anatomized {
            self.check_anatomy()?;
        }
        for relation in self.database.relations() {
            let file = self.file_name(&relation.name, None);
            let format = FileFormat::by_name(Path::new(&file)).unwrap_or(FileFormat::Csv);
            Layout::check(format, &relation.table)
                .map_err(|error| error.prefixed(&in_table(&relation.name)))?;
        }
        let clustering = self.cluster(progress)?;
        let release = Release::of_clusters(&self.database, &clustering);
        let verified = self.verified(&release, &clustering, progress)?;
        let Some(scores) = Scores::of(self, &rows(&verified), verified.report()) else {
            return Err(Error::new(ErrorKind::Internal, "a released label is in no hierarchy"));
        };
        Ok(MadeDatabase { release, verified, scores })
    }

    /// Writes a release into a folder of its own, which appears whole; tells where its record is.
    pub(crate) fn write_to(
        &self,
        made: &MadeDatabase,
        path: PathBuf,
        progress: &Progress,
    ) -> Result<Option<PathBuf>> {
        let (path, place) = self.place(Some(path))?;
        self.write_folder(made, &path, place, progress)
    }

    /// The private key of the publisher, if the release is to be signed.
    fn signing_key(&self) -> Result<Option<PrivateKey>> {
        let sign = self.job.database.sign.as_ref().map(|path| self.job.resolve(path));
        signing_key(sign.as_deref(), self.wants_record())
            .map_err(|error| self.job.at(&["database", "sign"], &error))
    }

    fn wants_record(&self) -> bool {
        self.job.database.record != Some(false)
    }

    /// What everybody can recompute, of files that would be written, unsigned. Without a key, digests that take one are empty.
    pub(crate) fn record(&self, made: &MadeDatabase, progress: &Progress) -> Result<Record> {
        let key = self.key_path();
        let key = if key.is_file() { Some(Key::read(&key)?) } else { None };
        let seen = self.write(made, &|_| Ok(Unfinished::nowhere()), progress)?;
        record_of(self, &seen, made.verified.report(), &made.scores, key.as_ref())
    }

    fn write_folder(
        &self,
        made: &MadeDatabase,
        path: &Path,
        place: TargetFolder,
        progress: &Progress,
    ) -> Result<Option<PathBuf>> {
        let (wants_record, sign) = (self.wants_record(), self.signing_key()?);
        let folder = UnfinishedFolder::create(place)?;
        let key = wants_record.then(|| RunKey::read_or_draw(&self.key_path())).transpose()?;
        let seen = self.write(made, &|name| folder.file(name), progress)?;
        if let Some(key) = key {
            let put = |key: &Key| -> Result<()> {
                let record = record_of(self, &seen, made.verified.report(), &made.scores, Some(key))?;
                let mut file = folder.file(RECORD)?;
                file.put(record.signed(key, sign.as_ref()).as_bytes())?;
                file.finish()?.appear()
            };
            let check = || self.check_hierarchies().and_then(|()| progress.check());
            under_the_key_on_disk(key, put, check)?;
        }
        progress.check()?;
        folder.appear()?;
        Ok(wants_record.then(|| path.join(RECORD)))
    }

    /// Who shares a tree with whom? Fails where nothing can be released.
    fn cluster(&self, progress: &Progress) -> Result<Clustering> {
        let (n_persons, k) = (self.database.n_persons(), self.options.k);
        if n_persons < k {
            let person = &self.job.database.person;
            return Err(
                self.impossible(format!("table `{person}` has {n_persons} persons, fewer than k = {k}"))
            );
        }
        let clustering = if self.kind.enforces_diversity() {
            dmiracle(&self.database, &self.options, &self.requirements, self.enforcement, progress)
        } else {
            miracle(&self.database, &self.options, progress)
        }?;
        self.obstacle(&clustering).map_or(Ok(clustering), |obstacle| Err(self.impossible(obstacle)))
    }

    /// What the release satisfies, in words.
    fn promise(&self) -> String {
        let k = self.options.k;
        let others = match self.job.policy.require.len() as u64 {
            0 => String::new(),
            n => format!(" and {}", counted(n, "requirement", "requirements")),
        };
        match self.job.database.release {
            ReleaseKind::Generalized => format!("{k}-anonymity of persons{others}"),
            ReleaseKind::Anatomized => format!("sensitive values apart from persons{others}"),
        }
    }

    /// The error of a policy that no release satisfies; it comes from what stands in the way.
    fn impossible(&self, obstacle: String) -> Error {
        let k = self.options.k;
        let others = match self.job.policy.require.len() {
            0 => "",
            _ => " and what else is required",
        };
        Error::new(ErrorKind::Impossible, format!("nothing satisfies {k}-anonymity of persons{others}"))
            .with_source(Error::new(ErrorKind::Policy, obstacle))
    }

    /// Why nothing can be released of a clustering, if so.
    fn obstacle(&self, clustering: &Clustering) -> Option<String> {
        let suppressed = clustering.suppressed.len() as u64;
        let persons = self.database.n_persons() as u64;
        if clustering.clusters.is_empty() {
            return Some(format!(
                "no cluster of {persons} persons satisfies the policy: all would be left out"
            ));
        }
        let budget = self.budget.filter(|&budget| suppressed > budget)?;
        Some(format!("{suppressed} of {persons} persons would be left out, and the job allows {budget}"))
    }

    fn verified(
        &self,
        release: &Release,
        clustering: &Clustering,
        progress: &Progress,
    ) -> Result<Verified<TableRelease>> {
        progress.enter(Stage::Verifying);
        let inputs = self.inputs();
        let claims = self.claims(&inputs, Some(release))?;
        let verified = match self.job.database.release {
            ReleaseKind::Generalized => verify_database(self.tables_of(release)?, &claims),
            ReleaseKind::Anatomized => verify_anatomy(self.anatomy_of(release, clustering)?, &claims),
        };
        verified.map_err(|report| not_verified(&report.findings, &report.undecided))
    }

    /// Every table as strings.
    pub(crate) fn inputs(&self) -> Vec<Collected<'_>> {
        let relations = self.database.relations().iter();
        relations.map(|relation| Collected(Cow::Borrowed(&relation.table))).collect()
    }

    /// Writes all tables.
    fn write(&self, made: &MadeDatabase, files: &Files<'_>, progress: &Progress) -> Result<Vec<SeenTable>> {
        let order = self.job.database.order;
        let mut seen = Vec::new();
        for (table, relation) in self.database.relations().iter().enumerate() {
            let write = |sensitive: Option<(usize, &str)>| -> Result<FilePart> {
                let column = sensitive.map(|(_, column)| column);
                let name = self.file_name(&relation.name, column);
                let form = Form {
                    format: FileFormat::of(Path::new(&name), None, Use::Write)?,
                    types: Types::AsCollected,
                };
                let released = self.released(&made.release, table, column);
                let layout = Layout::new(form, &self.tables[table].format, &relation.table, &released);
                let part = Part { table, sensitive: sensitive.map(|(number, _)| number) };
                let file = files(&name)?;
                let finished =
                    sink::write(&made.verified, part, file, &layout, order, None, progress)?.finish()?;
                let sha256 = finished.sha256();
                finished.appear()?;
                let labels: &TableRelease = part.of(&made.verified);
                Ok(FilePart::of(Some(name), &sha256, labels))
            };
            let columns = made.verified.tables()[table].sensitive.iter().enumerate();
            seen.push(SeenTable {
                rows: write(None)?,
                sensitive: columns
                    .map(|(number, (column, _))| Ok((column.clone(), write(Some((number, column)))?)))
                    .collect::<Result<_>>()?,
            });
        }
        Ok(seen)
    }

    /// A part of a release as Arrow record batches, its rows in this order.
    #[cfg(feature = "parquet")]
    pub(crate) fn to_record_batches(
        &self,
        made: &MadeDatabase,
        part: Part,
        order: &[u32],
    ) -> Result<Vec<incog_parquet::RecordBatch>> {
        let Part { table, sensitive } = part;
        let column = sensitive.map(|at| made.verified.tables()[table].sensitive[at].0.as_str());
        let released = self.released(&made.release, table, column);
        let relation = &self.database.relations()[table];
        let format = &self.tables[table].format;
        sink::to_record_batches(&made.verified, part, Some(order), format, &relation.table, &released)
    }

    /// The name of a table's file, or of that of one of its sensitive columns.
    pub(crate) fn file_name(&self, table: &str, sensitive: Option<&str>) -> String {
        let column = sensitive.map_or(String::new(), |column| format!(".{column}"));
        format!("{table}{column}{}", extension(self.job.database.format))
    }

    /// Where each column of a released table stands in that of the data, and whether it is as collected there.
    fn released(&self, release: &Release, table: usize, sensitive: Option<&str>) -> Vec<(usize, bool)> {
        let relation = &self.database.relations()[table];
        let columns = relation.table.columns();
        // What stands in no column of the data has no type.
        let nowhere = (columns.len(), false);
        match (self.job.database.release, sensitive) {
            (ReleaseKind::Generalized, _) => self.as_collected(release, table),
            (ReleaseKind::Anatomized, Some(name)) => {
                let at = columns.iter().position(|column| column.name() == name);
                vec![nowhere, at.map_or(nowhere, |at| (at, true))]
            }
            (ReleaseKind::Anatomized, None) => {
                let is_sensitive =
                    |name: &str| self.sensitive_columns(table).any(|column| column.name() == name);
                let kept =
                    self.released_columns(table).into_iter().filter(|&at| !is_sensitive(columns[at].name()));
                let is_key = |at: usize| self.job.tables[&relation.name].is_key(columns[at].name());
                let group = self.sensitive_columns(table).next().map(|_| nowhere);
                kept.map(|at| (at, !is_key(at))).chain(group).collect()
            }
        }
    }

    /// Where the folder goes. It must neither replace nor hold anything that the job reads.
    fn place(&self, output: Option<PathBuf>) -> Result<(PathBuf, TargetFolder)> {
        let key = ["database", "output"];
        let Some(path) = output else {
            return Err(self
                .job
                .mistake(&key, "the job does not say where to write the release")
                .with_hint("give [database] output = \"release/\", or --output"));
        };
        // What its own record lists; there may be none.
        let released = |folder: &Path| {
            Record::read(&folder.join(RECORD), Trust::default())
                .map(|record| record.files())
                .unwrap_or_default()
        };
        let place = TargetFolder::look(&path, released).map_err(|error| self.job.at(&key, &error))?;
        let target = place_of(&path);
        let mut taken: Vec<(String, PathBuf)> = vec![("the key".into(), self.key_path())];
        taken.extend(
            self.job.database.sign.iter().map(|key| ("the private key".into(), self.job.resolve(key))),
        );
        if !self.job.path.as_os_str().is_empty() {
            taken.push(("the job".into(), self.job.path.clone()));
        }
        for (table, relation) in self.tables.iter().zip(self.database.relations()) {
            let name = &relation.name;
            taken
                .extend(table.files.iter().map(|file| (format!("the data of table `{name}`"), file.clone())));
            let of_columns = table.job.columns.values().filter_map(|column| column.hierarchy.as_ref());
            let required: Vec<_> = requirements::hierarchies_of(&table.job).collect();
            let files = of_columns.chain(required.iter().map(|(_, hierarchy)| *hierarchy));
            let files = files.filter_map(|hierarchy| hierarchy.file());
            taken
                .extend(files.map(|file| (format!("a hierarchy of table `{name}`"), self.job.resolve(file))));
        }
        if let Some((what, _)) = taken.iter().find(|(_, path)| place_of(path).starts_with(&target)) {
            let mistake = format!("the release would replace {what}");
            return Err(self.job.mistake(&key, mistake).with_hint("choose another folder"));
        }
        Ok((path, place))
    }

    pub(super) fn key_path(&self) -> PathBuf {
        self.job.resolve(self.job.database.key.as_deref().unwrap_or(Path::new(KEY)))
    }

    /// What there is to say of a release.
    pub(crate) fn report(&self, made: &MadeDatabase) -> ReleaseReport {
        let MadeDatabase { verified, scores, .. } = made;
        let tables = rows(verified);
        let of_table = |at: usize| {
            let relation = &self.database.relations()[at];
            let rows = relation.table.n_rows() as u64;
            TableSummary {
                name: relation.name.clone(),
                rows,
                removed_rows: rows - tables[at].n_rows() as u64,
                loss: (!self.database.attributes(at).is_empty()).then_some(scores.tables[at]),
            }
        };
        let tables: Vec<TableSummary> = (0..tables.len()).map(of_table).collect();
        let n_removed: u64 = tables.iter().map(|table| table.removed_rows).sum();
        let mut notes = Vec::new();
        if self.job.database.complete && n_removed > 0 {
            notes.push(format!(
                "the data are complete, the release is not: {n_removed} rows are removed, so who has no row may have had one"
            ));
        }
        let model = match self.job.database.release {
            ReleaseKind::Generalized => "generalized",
            ReleaseKind::Anatomized => {
                notes.push(NOT_K_ANONYMOUS.to_owned());
                "anatomized"
            }
        };
        notes.extend(self.warnings());
        notes.extend(hashed::notes(self));
        let persons = self.database.n_persons() as u64;
        ReleaseReport {
            levels: Vec::new(),
            level_names: Vec::new(),
            local: None,
            tables,
            rows: persons,
            suppressed_rows: scores.suppressed_persons,
            budget: self.budget.unwrap_or(persons),
            metric: "loss",
            score: scores.loss,
            loss: scores.loss,
            discernibility: scores.discernibility,
            quality: Quality::Heuristic,
            judged: None,
            algorithm: self.algorithm,
            model,
            notes,
            policy: self.promise(),
            quasi_identifiers: Vec::new(),
            unit: None,
            suppression: Vec::new(),
            is_replayed: false,
            checked: verified.report().clone(),
            better: Vec::new(),
        }
    }

    /// What there is to say of the hierarchies, where they are used.
    fn warnings(&self) -> Vec<String> {
        if self.job.database.release == ReleaseKind::Anatomized {
            return Vec::new();
        }
        let tables = 0..self.database.relations().len();
        let of_labels = tables.flat_map(|at| {
            self.database.attributes(at).iter().filter_map(|attribute| warning(attribute, None))
        });
        self.notes.iter().cloned().chain(of_labels).collect()
    }
}
