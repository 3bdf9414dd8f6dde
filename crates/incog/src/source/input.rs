//! Data, wherever they are: in files, or in memory already.
//!
//! An [`Input`] says where rows come from. Opening it tells the names of the columns, so that mistakes can be told before
//! anything else is read; reading it gives a table with a role for each column. Tables in memory are coded when they are handed
//! over, and are not copied again.
//!
//! | made from | missing is | comes out as |
//! |---|---|---|
//! | a path: `"data.csv"` | as in the file | text, or the types of the file |
//! | columns of text: `[("age", vec!["34", "41"])]` | the empty text, as in CSV | text |
//! | Arrow record batches | null; the empty text is a value | the types of the batches |
//! | an [`Engine`] | what it says | nothing here: rows stay where they are |
//! | a table of a database | null; the empty text is a value | the types of the table, where it is written there; text elsewhere |

use std::path::{Path, PathBuf};
use std::sync::Arc;

use incog_core::table::{Column, Role, Table};
use incog_core::{Error, Progress, Result, Stage};

#[cfg(feature = "parquet")]
use crate::file::FileFormat;
use crate::file::{STANDARD, Stamps};
use crate::job::{EngineJob, Job};
#[cfg(feature = "parquet")]
use crate::source::CellType;
use crate::source::options::Readings;
use crate::source::spill::{Memory, Spilled};
use crate::source::sql::{SqlInput, SqlTable};
use crate::source::{Data, Elsewhere, Engine, Format, ReadOptions, checked_header, engine, with_rows};

/// What messages call a table that is in memory.
const IN_MEMORY: &str = "the table";

/// Where the rows of a table come from: files, columns of text, or Arrow record batches.
///
/// ```
/// use incog::Input;
///
/// let file: Input = "patients.csv".into();
/// let columns: Input = [("age", vec!["34", "41"]), ("zip", vec!["53715", ""])].into();
/// ```
#[derive(Debug, Clone)]
pub struct Input(InputKind);

#[derive(Debug, Clone)]
enum InputKind {
    /// Files and folders that together are one table.
    Files(Vec<PathBuf>),
    /// Columns without roles, and how their cells are written; or why they cannot be.
    Columns(Result<(Vec<Column>, Format)>),
    /// Rows that stay where they are.
    Engine(Arc<dyn Engine>),
    /// A table of a database, whose rows may stay there.
    Sql(SqlInput),
}

impl Input {
    /// Do rows stay where they are?
    pub(crate) fn is_elsewhere(&self) -> bool {
        matches!(self.0, InputKind::Engine(_))
    }

    /// Are they in files?
    pub(crate) fn is_of_files(&self) -> bool {
        matches!(self.0, InputKind::Files(_))
    }
}

/// Data whose columns are known by name.
pub(crate) struct Opened(OpenedKind);

enum OpenedKind {
    Files(Box<Data>),
    Columns { header: Vec<String>, columns: Vec<Column>, format: Format, readings: Readings },
    Engine { header: Vec<String>, engine: Arc<dyn Engine>, readings: Readings },
    Sql { header: Vec<String>, table: Arc<SqlTable>, engine: Option<EngineJob>, readings: Readings },
}

/// Data as a plan needs them.
pub(crate) struct Loaded {
    pub(crate) table: Table,
    /// How the input's cells are written.
    pub(crate) format: Format,
    /// The files that were read; none if the table was in memory.
    pub(crate) files: Vec<PathBuf>,
    /// The rows of the table, where they did not fit the memory.
    pub(crate) spilled: Option<Spilled>,
    /// What has the rows of the table, where they stay where they are.
    pub(crate) elsewhere: Option<Elsewhere>,
    /// The table of a database that the rows are in, or were copied from.
    pub(crate) sql: Option<Arc<SqlTable>>,
}

/// What is to be done with the rows of a database, for whoever asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowsOfDatabase {
    /// They may stay there: counts are enough.
    MayStay,
    /// They are needed here.
    Here,
}

/// How many rows a table must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// One at least.
    Some,
    /// It may have none.
    Any,
}

/// A table of columns in memory, each with its role and its way of being read.
fn with_roles(
    columns: Vec<Column>,
    mut format: Format,
    readings: &Readings,
    role: impl Fn(&str) -> Role,
    progress: &Progress,
) -> Result<(Table, Format)> {
    progress.enter(Stage::Reading);
    let with_role = |column: Column| {
        let (role, reading) = (role(column.name()), readings.of(column.name()).clone());
        column.with_role(role).read_as(reading)
    };
    let mut columns: Vec<Column> = columns.into_iter().map(with_role).collect::<Result<_>>()?;
    format.settle(&mut columns, readings);
    let table = Table::new(columns)?;
    progress.count_rows(table.n_rows() as u64);
    Ok((table, format))
}

impl Input {
    /// The files that a job names.
    pub(crate) fn of_job(job: &Job) -> Self {
        Input(match SqlInput::of_job(job) {
            Some(table) => InputKind::Sql(table),
            None => InputKind::Files(job.inputs()),
        })
    }

    /// Several files or folders, which together are one table.
    pub fn files<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Self {
        Input(InputKind::Files(paths.into_iter().map(Into::into).collect()))
    }

    /// Columns of text, each with its name; an empty text is the missing value, as in CSV. Columns that are not equally long or not
    /// differently named are an error when the table is used.
    pub fn columns<N, C>(columns: impl IntoIterator<Item = (N, C)>) -> Self
    where
        N: Into<String>,
        C: IntoIterator,
        C::Item: AsRef<str>,
    {
        let column = |(name, cells): (N, C)| {
            let mut column = Column::new(name, Role::Other);
            for cell in cells {
                column.push(cell.as_ref())?;
            }
            column.shrink();
            Ok(column)
        };
        let columns: Result<Vec<Column>> = columns.into_iter().map(column).collect();
        Input(InputKind::Columns(columns.map(|columns| (columns, Format::text(b',')))))
    }

    /// A table whose rows stay where they are: an engine counts them. What it must answer is [unstable](crate::unstable::source::engine).
    pub fn engine(engine: impl Engine + 'static) -> Self {
        Input(InputKind::Engine(Arc::new(engine)))
    }

    /// The paths that a job would name: standard input, if the table is in memory.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        match &self.0 {
            InputKind::Files(files) => files.clone(),
            InputKind::Columns(_) | InputKind::Engine(_) | InputKind::Sql(_) => vec![STANDARD.into()],
        }
    }

    /// A table that is in memory, which may have no rows, and how its cells are written; the input itself where it is elsewhere.
    pub(crate) fn into_table(self) -> std::result::Result<Result<(Table, Format)>, Self> {
        match self.0 {
            InputKind::Columns(columns) => Ok(columns.and_then(|(columns, format)| {
                let header: Vec<String> = columns.iter().map(|column| column.name().to_owned()).collect();
                checked_header(IN_MEMORY, &header)?;
                Ok((Table::new(columns)?, format))
            })),
            InputKind::Files(_) | InputKind::Engine(_) | InputKind::Sql(_) => Err(self),
        }
    }

    /// Finds out the columns' names. Without a delimiter, text has its header's most frequent one.
    pub(crate) fn open(self, options: ReadOptions) -> Result<Opened> {
        match self.0 {
            InputKind::Files(files) => Ok(Opened(OpenedKind::Files(Box::new(Data::open(&files, options)?)))),
            InputKind::Columns(columns) => {
                let (columns, format) = columns?;
                let header: Vec<String> = columns.iter().map(|column| column.name().to_owned()).collect();
                if header.is_empty() {
                    return Err(Error::input("the table has no columns"));
                }
                checked_header(IN_MEMORY, &header)?;
                Ok(Opened(OpenedKind::Columns { header, columns, format, readings: options.readings }))
            }
            InputKind::Engine(engine) => {
                let header = engine.header()?;
                checked_header(IN_MEMORY, &header)?;
                Ok(Opened(OpenedKind::Engine { header, engine, readings: options.readings }))
            }
            InputKind::Sql(input) => {
                let table = Arc::new(SqlTable::open(&input)?);
                let header = table.header()?;
                checked_header(IN_MEMORY, &header)?;
                let readings = options.readings;
                Ok(Opened(OpenedKind::Sql { header, table, engine: input.engine, readings }))
            }
        }
    }
}

#[cfg(feature = "parquet")]
impl Input {
    /// Arrow record batches of one schema, which together are one table. Null is the missing value, and the empty text is a value.
    pub fn record_batches<'a>(batches: impl IntoIterator<Item = &'a incog_parquet::RecordBatch>) -> Self {
        let read = incog_parquet::read_batches(batches);
        let typed = |(columns, types): (Vec<Column>, Vec<incog_parquet::ColumnType>)| {
            let types = types.into_iter().map(CellType::Kept).collect();
            (columns, Format::typed(FileFormat::Parquet, types))
        };
        Input(InputKind::Columns(read.map(typed)))
    }
}

#[cfg(feature = "parquet")]
impl From<Vec<incog_parquet::RecordBatch>> for Input {
    fn from(batches: Vec<incog_parquet::RecordBatch>) -> Self {
        Input::record_batches(&batches)
    }
}

#[cfg(feature = "parquet")]
impl From<incog_parquet::RecordBatch> for Input {
    fn from(batch: incog_parquet::RecordBatch) -> Self {
        Input::record_batches([&batch])
    }
}

impl From<&str> for Input {
    fn from(path: &str) -> Self {
        Input::files([path])
    }
}

impl From<&Path> for Input {
    fn from(path: &Path) -> Self {
        Input::files([path])
    }
}

impl From<PathBuf> for Input {
    fn from(path: PathBuf) -> Self {
        Input::files([path])
    }
}

impl<N: Into<String>, S: AsRef<str>> From<Vec<(N, Vec<S>)>> for Input {
    fn from(columns: Vec<(N, Vec<S>)>) -> Self {
        Input::columns(columns)
    }
}

impl<N: Into<String>, S: AsRef<str>, const COLUMNS: usize> From<[(N, Vec<S>); COLUMNS]> for Input {
    fn from(columns: [(N, Vec<S>); COLUMNS]) -> Self {
        Input::columns(columns)
    }
}

impl Opened {
    /// The columns' names.
    pub(crate) fn header(&self) -> &[String] {
        match &self.0 {
            OpenedKind::Files(data) => data.header(),
            OpenedKind::Columns { header, .. }
            | OpenedKind::Engine { header, .. }
            | OpenedKind::Sql { header, .. } => header,
        }
    }

    /// How the files were before they were read; there are none of a table in memory.
    pub(crate) fn stamps(&self) -> Stamps {
        match &self.0 {
            OpenedKind::Files(data) => data.stamps(),
            OpenedKind::Columns { .. } | OpenedKind::Engine { .. } | OpenedKind::Sql { .. } => {
                Stamps::default()
            }
        }
    }

    /// All rows in memory, with a role for each column, and the files that they come from. There may be none if it is said so.
    pub(crate) fn read_whole(
        self,
        rows: Rows,
        role: impl Fn(&str) -> Role,
        progress: &Progress,
    ) -> Result<(Table, Format, Vec<PathBuf>)> {
        match self.0 {
            OpenedKind::Files(data) => {
                let files = data.files().to_vec();
                let (table, format) = match rows {
                    Rows::Some => data.read(role, progress)?,
                    Rows::Any => data.read_even_empty(role, progress)?,
                };
                Ok((table, format, files))
            }
            OpenedKind::Columns { columns, format, readings, .. } => {
                let (table, format) = with_roles(columns, format, &readings, role, progress)?;
                if rows == Rows::Some && table.n_rows() == 0 {
                    return Err(Error::input("the table has no rows"));
                }
                Ok((table, format, Vec::new()))
            }
            OpenedKind::Engine { .. } | OpenedKind::Sql { .. } => Err(engine::refuse("this")),
        }
    }

    /// All rows, with a role for each column; of an engine, the values of columns that `is_asked` names. A table without rows is refused; of files, what does not fit the memory is spilled.
    /// Stops when it is cancelled.
    pub(crate) fn read(
        self,
        memory: Option<Memory>,
        rows_of_database: RowsOfDatabase,
        role: impl Fn(&str) -> Role,
        is_asked: impl Fn(&str) -> bool,
        progress: &Progress,
    ) -> Result<Loaded> {
        match self.0 {
            OpenedKind::Files(data) => {
                let files = data.files().to_vec();
                let (table, format, spilled) = match memory {
                    Some(memory) => data.read_within(memory, role, progress)?,
                    None => {
                        let (table, format) = data.read(role, progress)?;
                        (table, format, None)
                    }
                };
                Ok(Loaded { table, format, files, spilled, elsewhere: None, sql: None })
            }
            OpenedKind::Columns { columns, format, readings, .. } => {
                let (table, format) = with_roles(columns, format, &readings, role, progress)?;
                if table.n_rows() == 0 {
                    return Err(Error::input("the table has no rows"));
                }
                Ok(Loaded { table, format, files: Vec::new(), spilled: None, elsewhere: None, sql: None })
            }
            OpenedKind::Engine { header, engine, readings } => {
                let (table, elsewhere) =
                    Elsewhere::read(engine, &header, &readings, role, is_asked, progress)?;
                let (format, files) = (Format::text(b','), Vec::new());
                Ok(Loaded { table, format, files, spilled: None, elsewhere: Some(elsewhere), sql: None })
            }
            OpenedKind::Sql { header, table: sql, engine, readings } => {
                sql.check_columns(|name| role(name) == Role::QuasiIdentifier)?;
                let mut format = Format { types: sql.types(), ..Format::text(b',') };
                let stay = match engine {
                    Some(engine) => engine == EngineJob::Database,
                    None => rows_of_database == RowsOfDatabase::MayStay && sql.may_count(),
                };
                let (table, elsewhere) = if stay {
                    let engine: Arc<dyn Engine> = Arc::clone(&sql) as Arc<dyn Engine>;
                    let (mut table, elsewhere) =
                        Elsewhere::read(engine, &header, &readings, role, is_asked, progress)?;
                    format.settle_table(&mut table, &readings);
                    (table, Some(elsewhere))
                } else {
                    progress.enter(Stage::Reading);
                    let column =
                        |name: &String| Column::new(name, role(name)).with_reading(readings.of(name).clone());
                    let mut columns: Vec<Column> = header.iter().map(column).collect();
                    sql.fetch(&mut columns, progress)?;
                    format.settle(&mut columns, &readings);
                    (with_rows(Table::new(columns)?, sql.name())?, None)
                };
                Ok(Loaded { table, format, files: Vec::new(), spilled: None, elsewhere, sql: Some(sql) })
            }
        }
    }
}
