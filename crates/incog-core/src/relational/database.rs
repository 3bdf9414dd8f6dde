//! Do the tables hold together?
//!
//! A snowflake: one person table, and further tables that each refer to one other table by one foreign key, so that there
//! is exactly one way from every row to a person. Checked once, when the [`Database`] is made: names, keys (present,
//! unique, no quasi-identifiers), foreign keys (one a table, no orphans, no cycles) and hierarchies (one for each
//! quasi-identifier, with a single label at the top, so that any two values have a common one). Errors name the table,
//! the column and how many rows; never a value.
//!
//! Cost: one look-up a distinct key value, one array access a row.

use crate::error::{Error, ErrorKind, Result};
use crate::hierarchy::Attribute;
use crate::table::label::EMPTY_TEXT;
use crate::table::{Column, Role, Table};

/// No row, in an array of row numbers.
const NO_ROW: u32 = u32::MAX;

/// One table as declared.
#[derive(Debug, Clone)]
pub struct Relation {
    /// Its name in the job.
    pub name: String,
    /// Its rows.
    pub table: Table,
    /// The column that tells its rows apart. Needed by the person table and by tables that others refer to.
    pub key: Option<String>,
    /// The columns that refer to other tables: none in the person table, one in every other.
    pub foreign_keys: Vec<ForeignKey>,
    /// Its quasi-identifiers; there may be none.
    pub attributes: Vec<Attribute>,
}

/// A column that holds the key of another table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// The column.
    pub column: String,
    /// The table whose key it holds.
    pub table: String,
}

/// Tables that hold together.
///
/// # Invariants
/// Table names are distinct. The person table has no link; every other table has one, and following links leads to the
/// person table. `links[t].rows` has one entry per row of `t`, a row of the table it refers to. Every table has fewer than
/// 4,294,967,295 rows. Each column that is a quasi-identifier has exactly one attribute, bound to its values, whose
/// hierarchy has a single label at its top.
#[derive(Debug, Clone)]
pub struct Database {
    relations: Vec<Relation>,
    person: usize,
    links: Vec<Option<Link>>,
    children: Vec<Vec<usize>>,
    /// For each table and attribute, which column it describes.
    columns: Vec<Vec<usize>>,
}

#[derive(Debug, Clone)]
struct Link {
    table: usize,
    rows: Vec<u32>,
}

impl Database {
    /// A database of these tables, of which the one named `person` has a row per person.
    pub fn new(relations: Vec<Relation>, person: &str) -> Result<Self> {
        distinct_names(&relations)?;
        let Some(person) = position(&relations, person) else {
            return Err(Error::input(format!("there is no table `{person}` to be the person table"))
                .with_hint("name one of the declared tables"));
        };
        let mut columns = Vec::with_capacity(relations.len());
        for relation in &relations {
            check_size(relation)?;
            columns.push(bind(relation)?);
        }
        if columns.iter().all(Vec::is_empty) {
            return Err(Error::input("no column of any table is a quasi-identifier")
                .with_hint("declare at least one column with role = \"quasi-identifier\""));
        }
        let parents = parents(&relations, person)?;
        refuse_cycles(&relations, &parents)?;
        let mut key_rows = Vec::with_capacity(relations.len());
        for relation in &relations {
            key_rows.push(relation.key.as_ref().map(|key| rows_by_key(relation, key)).transpose()?);
        }
        if key_rows[person].is_none() {
            return Err(Error::input(format!("table `{}` has no key", relations[person].name))
                .with_hint("the person table needs a column with a distinct value per person"));
        }
        let mut links = Vec::with_capacity(relations.len());
        for (relation, &parent) in relations.iter().zip(&parents) {
            links.push(match parent {
                Some(table) => Some(link(relation, &relations[table], table, key_rows[table].as_deref())?),
                None => None,
            });
        }
        let mut children = vec![Vec::new(); relations.len()];
        for (table, parent) in parents.iter().enumerate() {
            if let Some(parent) = *parent {
                children[parent].push(table);
            }
        }
        Ok(Database { relations, person, links, children, columns })
    }

    /// The tables, in declared order.
    pub fn relations(&self) -> &[Relation] {
        &self.relations
    }

    /// The number of the person table.
    pub fn person(&self) -> usize {
        self.person
    }

    /// How many persons there are.
    pub fn n_persons(&self) -> usize {
        self.relations[self.person].table.n_rows()
    }

    /// The tables that refer to a table, in declared order.
    pub fn children(&self, table: usize) -> &[usize] {
        &self.children[table]
    }

    /// The table that a table refers to; `None` for the person table.
    pub fn parent(&self, table: usize) -> Option<usize> {
        self.links[table].as_ref().map(|link| link.table)
    }

    /// For each row of a table, the row that it refers to; empty for the person table.
    pub fn parent_rows(&self, table: usize) -> &[u32] {
        self.links[table].as_ref().map_or(&[], |link| &link.rows)
    }

    /// The quasi-identifiers of a table; there may be none.
    pub fn attributes(&self, table: usize) -> &[Attribute] {
        &self.relations[table].attributes
    }

    /// The column of a table that its quasi-identifier number `at` describes.
    pub fn column(&self, table: usize, at: usize) -> &Column {
        &self.relations[table].table.columns()[self.columns[table][at]]
    }
}

fn position(relations: &[Relation], name: &str) -> Option<usize> {
    relations.iter().position(|relation| relation.name == name)
}

fn distinct_names(relations: &[Relation]) -> Result<()> {
    for (at, relation) in relations.iter().enumerate() {
        if position(&relations[..at], &relation.name).is_some() {
            return Err(Error::input(format!("two tables are named `{}`", relation.name)));
        }
    }
    Ok(())
}

fn check_size(relation: &Relation) -> Result<()> {
    if relation.table.n_rows() < NO_ROW as usize {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Limit,
        format!(
            "table `{}` has {} rows; at most 4,294,967,294 are supported",
            relation.name,
            relation.table.n_rows()
        ),
    ))
}

/// The column of each attribute, once all quasi-identifiers are in order.
fn bind(relation: &Relation) -> Result<Vec<usize>> {
    let name = &relation.name;
    let columns = relation.table.columns();
    for column in columns.iter().filter(|column| column.role() == Role::QuasiIdentifier) {
        if is_key(relation, column.name()) {
            return Err(Error::input(format!(
                "table `{name}`, column `{}`: a key cannot be a quasi-identifier",
                column.name()
            ))
            .with_hint("keys are replaced by new ones; remove the role, or name another column as key"));
        }
        if !relation.attributes.iter().any(|attribute| attribute.name() == column.name()) {
            return Err(Error::input(format!(
                "table `{name}`, column `{}`: a quasi-identifier without a hierarchy",
                column.name()
            ))
            .with_hint("name a hierarchy, or give the column another role"));
        }
    }
    let mut of_attributes: Vec<usize> = Vec::with_capacity(relation.attributes.len());
    for attribute in &relation.attributes {
        let error =
            |problem: &str| Error::input(format!("table `{name}`, column `{}`: {problem}", attribute.name()));
        let Some(at) = columns.iter().position(|column| column.name() == attribute.name()) else {
            return Err(error("has a hierarchy but is not in the table"));
        };
        if of_attributes.contains(&at) {
            return Err(error("has two hierarchies"));
        }
        if columns[at].role() != Role::QuasiIdentifier {
            return Err(error("has a hierarchy but is no quasi-identifier"));
        }
        if attribute.n_values() != columns[at].dictionary().len() {
            return Err(error("the hierarchy was bound to another column"));
        }
        let n_tops = attribute.hierarchy().labels(attribute.height()).len();
        if n_tops > 1 {
            return Err(error(&format!("the highest level of the hierarchy has {n_tops} labels"))
                .with_hint("add a level with one label for all values, such as `*`"));
        }
        of_attributes.push(at);
    }
    Ok(of_attributes)
}

fn is_key(relation: &Relation, column: &str) -> bool {
    relation.key.as_deref() == Some(column) || relation.foreign_keys.iter().any(|key| key.column == column)
}

/// The table that each table refers to.
fn parents(relations: &[Relation], person: usize) -> Result<Vec<Option<usize>>> {
    let parent = |(at, relation): (usize, &Relation)| {
        let name = &relation.name;
        if at == person {
            return match relation.foreign_keys.first() {
                None => Ok(None),
                Some(key) => Err(Error::input(format!(
                    "table `{name}`, column `{}`: the person table cannot refer to another table",
                    key.column
                ))),
            };
        }
        let [key] = relation.foreign_keys.as_slice() else {
            return Err(match relation.foreign_keys.len() {
                0 => Error::input(format!(
                    "table `{name}` is not connected to the person table `{}`",
                    relations[person].name
                ))
                .with_hint("name the table that it refers to and the column that does"),
                n => Error::input(format!("table `{name}` has {n} foreign keys; one is allowed"))
                    .with_hint("keep the one that leads to the person"),
            });
        };
        match position(relations, &key.table) {
            Some(parent) => Ok(Some(parent)),
            None => Err(Error::input(format!(
                "table `{name}`, column `{}` refers to table `{}`, which does not exist",
                key.column, key.table
            ))),
        }
    };
    relations.iter().enumerate().map(parent).collect()
}

fn refuse_cycles(relations: &[Relation], parents: &[Option<usize>]) -> Result<()> {
    for (at, relation) in relations.iter().enumerate() {
        // A way without a cycle visits no table twice. Only the person table has no parent, so it ends there.
        let end = (0..relations.len()).try_fold(at, |table, _| parents[table].ok_or(()));
        if end.is_ok() {
            return Err(Error::input(format!(
                "table `{}` does not lead to the person table: its foreign keys run in a cycle",
                relation.name
            ))
            .with_hint("each table must refer to one that is nearer to the person table"));
        }
    }
    Ok(())
}

fn column_of<'a>(relation: &'a Relation, column: &str) -> Result<&'a Column> {
    relation
        .table
        .column(column)
        .ok_or_else(|| Error::input(format!("table `{}` has no column `{column}`", relation.name)))
}

/// The row of each value code of the key.
fn rows_by_key(relation: &Relation, key: &str) -> Result<Vec<u32>> {
    let column = column_of(relation, key)?;
    // An empty text is nobody's key either.
    let missing = ["", EMPTY_TEXT].map(|label| column.dictionary().code(label));
    let n_missing = column.codes().iter().filter(|&&code| missing.contains(&Some(code))).count();
    let error =
        |problem: String| Error::input(format!("table `{}`, column `{key}`: {problem}", relation.name));
    if n_missing > 0 {
        return Err(
            error(format!("the key is missing in {n_missing} rows")).with_hint("every row needs a key")
        );
    }
    let mut rows = vec![NO_ROW; column.dictionary().len()];
    let mut n_repeated = 0_usize;
    for (row_idx, &code) in column.codes().iter().enumerate() {
        let row = &mut rows[code as usize];
        if *row == NO_ROW {
            *row = row_idx as u32;
        } else {
            n_repeated += 1;
        }
    }
    if n_repeated > 0 {
        return Err(error(format!("{n_repeated} rows repeat the key of an earlier row"))
            .with_hint("a key must tell all rows apart"));
    }
    Ok(rows)
}

/// Finds the row that each row of `relation` refers to.
fn link(relation: &Relation, parent: &Relation, table: usize, key_rows: Option<&[u32]>) -> Result<Link> {
    let name = &relation.foreign_keys[0].column;
    let column = column_of(relation, name)?;
    let (Some(key), Some(key_rows)) = (&parent.key, key_rows) else {
        return Err(Error::input(format!(
            "table `{}`, column `{name}` refers to table `{}`, which has no key",
            relation.name, parent.name
        ))
        .with_hint("name the column that tells the rows of that table apart"));
    };
    let keys = column_of(parent, key)?.dictionary();
    let by_value: Vec<u32> = column
        .dictionary()
        .values()
        .map(|value| keys.code(value).map_or(NO_ROW, |code| key_rows[code as usize]))
        .collect();
    let rows: Vec<u32> = column.codes().iter().map(|&code| by_value[code as usize]).collect();
    let n_orphans = rows.iter().filter(|&&row| row == NO_ROW).count();
    if n_orphans > 0 {
        return Err(Error::input(format!(
            "table `{}`, column `{name}`: {n_orphans} rows refer to no row of table `{}`",
            relation.name, parent.name
        ))
        .with_hint("remove these rows, or add the rows that they refer to"));
    }
    Ok(Link { table, rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Hierarchy;
    use crate::relational::samples::{relation, students};

    fn refused(change: impl Fn(&mut Vec<Relation>)) -> String {
        let mut relations = students();
        change(&mut relations);
        Database::new(relations, "student").unwrap_err().to_string()
    }

    #[test]
    fn every_row_knows_the_row_that_it_refers_to() {
        let database = Database::new(students(), "student").unwrap();
        assert_eq!((database.person(), database.n_persons()), (0, 4));
        assert_eq!(database.parent_rows(1), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]);
        assert_eq!(database.parent_rows(2), [0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        assert_eq!([database.children(0), database.children(1), database.children(2)], [&[1][..], &[2], &[]]);
        assert_eq!([database.parent(0), database.parent(2)], [None, Some(1)]);
        assert_eq!(database.column(2, 0).name(), "book");
    }

    #[test]
    fn repeated_and_missing_keys_are_counted() {
        let student = |cells: &str| relation("student", cells, Some("sid"), None, &[]);
        assert_eq!(
            refused(|relations| relations[0] = student("sid,gpa S1,3 S2,2 S1,4 S1,1")),
            "table `student`, column `sid`: 2 rows repeat the key of an earlier row"
        );
        assert_eq!(
            refused(|relations| relations[0] = student("sid,gpa S1,3 ,2 ,4")),
            "table `student`, column `sid`: the key is missing in 2 rows"
        );
    }

    #[test]
    fn orphans_are_counted() {
        let student = relation("student", "sid,gpa S1,3 S3,4", Some("sid"), None, &[]);
        assert_eq!(
            refused(|relations| relations[0] = student.clone()),
            "table `takes`, column `sid`: 5 rows refer to no row of table `student`"
        );
    }

    #[test]
    fn a_second_foreign_key_is_refused() {
        let error = refused(|relations| {
            let second = ForeignKey { column: "book".into(), table: "student".into() };
            relations[2].foreign_keys.push(second);
            relations[2].attributes.clear();
            let table = &relations[2].table;
            let as_other = |column: &Column| {
                Column::from_cells(
                    column.name(),
                    Role::Other,
                    (0..table.n_rows()).map(|row| column.cell(row)),
                )
            };
            let columns: Result<Vec<Column>> = table.columns().iter().map(as_other).collect();
            relations[2].table = Table::new(columns.unwrap()).unwrap();
        });
        assert_eq!(error, "table `book` has 2 foreign keys; one is allowed");
    }

    #[test]
    fn a_table_that_does_not_lead_to_the_person_table_is_refused() {
        assert_eq!(
            refused(|relations| relations[2].foreign_keys.clear()),
            "table `book` is not connected to the person table `student`"
        );
        assert_eq!(
            refused(|relations| relations[1].foreign_keys[0].table = "book".into()),
            "table `takes` does not lead to the person table: its foreign keys run in a cycle"
        );
        assert_eq!(
            refused(|relations| relations[2].foreign_keys[0].table = "book".into()),
            "table `book` does not lead to the person table: its foreign keys run in a cycle"
        );
        let upwards = ForeignKey { column: "gpa".into(), table: "takes".into() };
        assert_eq!(
            refused(|relations| relations[0].foreign_keys.push(upwards.clone())),
            "table `student`, column `gpa`: the person table cannot refer to another table"
        );
    }

    #[test]
    fn unknown_names_and_tables_without_the_key_they_need_are_refused() {
        assert_eq!(
            refused(|relations| relations[0].key = Some("id".into())),
            "table `student` has no column `id`"
        );
        assert_eq!(refused(|relations| relations[0].key = None), "table `student` has no key");
        assert_eq!(
            refused(|relations| relations[1].key = None),
            "table `book`, column `scid` refers to table `takes`, which has no key"
        );
        assert_eq!(
            refused(|relations| relations[2].foreign_keys[0].table = "courses".into()),
            "table `book`, column `scid` refers to table `courses`, which does not exist"
        );
        assert_eq!(refused(|relations| relations[2].name = "takes".into()), "two tables are named `takes`");
        let error = Database::new(students(), "person").unwrap_err();
        assert_eq!(error.to_string(), "there is no table `person` to be the person table");
    }

    #[test]
    fn a_key_is_no_quasi_identifier() {
        for column in ["course", "sid"] {
            let error = refused(|relations| {
                let cells = "scid,sid,course SC1,S1,Math";
                relations[1] = relation("takes", cells, Some("course"), Some(("sid", "student")), &[column]);
            });
            assert_eq!(
                error,
                format!("table `takes`, column `{column}`: a key cannot be a quasi-identifier")
            );
        }
    }

    #[test]
    fn every_quasi_identifier_has_a_hierarchy_with_one_top() {
        assert_eq!(
            refused(|relations| relations[1].attributes.clear()),
            "table `takes`, column `course`: a quasi-identifier without a hierarchy"
        );
        let error = refused(|relations| {
            let course = relations[1].attributes.remove(0);
            relations[1].attributes.push(course.with_levels(&[0, 1]).unwrap());
        });
        assert_eq!(error, "table `takes`, column `course`: the highest level of the hierarchy has 2 labels");
        let error = refused(|relations| {
            let grade = relations[1].table.column("grade").unwrap();
            let hierarchy = Hierarchy::suppression(grade.dictionary().values());
            let attribute = Attribute::bind(grade, hierarchy, "grade.csv").unwrap();
            relations[1].attributes.push(attribute);
        });
        assert_eq!(error, "table `takes`, column `grade`: has a hierarchy but is no quasi-identifier");
        let only_persons = vec![students().remove(0)];
        let error = Database::new(only_persons, "student").unwrap_err();
        assert_eq!(error.to_string(), "no column of any table is a quasi-identifier");
    }
}
