//! Anatomized databases: the paper's students with exact quasi-identifiers, and what is noticed if one thing is changed.

use incog_verify::{
    AnatomyTable, DatabaseClaims, Labels, ReleasedTable, Report, StringTable, TableSource, check_anatomy,
    verify_anatomy,
};

use crate::students::{STUDENTS, students, table};

/// The students, their courses and books, in the groups of the 2-anonymization of table 4.
const ROWS: [&str; 3] = [
    "sid,group\nx3,2\nx1,1\nx4,1\nx2,2\n",
    "scid,sid,course,group\nt1,x4,Math,1\nt2,x4,Physics,2\nt3,x4,History,3\nt4,x1,CS,1\nt5,x1,Physics,2\n\
     t6,x1,Religion,3\nt7,x2,History,4\nt8,x2,Religion,5\nt9,x3,History,4\nt10,x3,Religion,5\n",
    "bid,scid,book,group\nb1,t1,Discrete,1\nb2,t2,Dyn,2\nb3,t3,Eur.Hist,3\nb4,t4,Discrete,1\nb5,t5,Dyn,2\n\
     b6,t6,World Rel,3\nb7,t7,Eur.Hist,4\nb8,t8,World Rel,5\nb9,t9,Am.Hist,4\nb10,t10,World Rel,5\n",
];

const VALUES: [&str; 3] = [
    "group,gpa\n1,2.34\n1,3.72\n2,2.71\n2,4.00\n",
    "group,grade\n1,78\n1,93\n2,66\n2,91\n3,71\n3,85\n4,80\n4,98\n5,69\n5,97\n",
    "group,price\n1,55\n1,60\n2,80\n2,82\n3,35\n3,40\n4,42\n4,45\n5,33\n5,36\n",
];

const SENSITIVE: [&str; 3] = ["gpa", "grade", "price"];

const ORIGINS: [&[u32]; 3] =
    [&[3, 1, 0, 2], &[0, 1, 2, 3, 4, 5, 7, 8, 9, 10], &[0, 2, 3, 4, 5, 6, 8, 9, 10, 11]];

/// Which part of the release is changed.
#[derive(Debug, Clone, Copy)]
enum Part {
    Rows(usize),
    Values(usize),
}

/// Checks the release with changes: what stands there, and what shall.
fn check(changes: &[(Part, &str, &str)], origins: Option<[&[u32]; 3]>) -> Report {
    let (mut rows, mut values) = (ROWS.map(str::to_owned), VALUES.map(str::to_owned));
    for &(part, old, new) in changes {
        let text = match part {
            Part::Rows(table) => &mut rows[table],
            Part::Values(table) => &mut values[table],
        };
        assert_eq!(text.matches(old).count(), 1, "{old}");
        *text = text.replace(old, new);
    }
    let originals = STUDENTS.map(table);
    let sources = originals.iter().enumerate().map(|(at, input)| TableSource {
        input,
        hierarchies: vec![],
        origins: origins.map(|origins| origins[at]),
    });
    let claims = DatabaseClaims { source: Some(sources.collect()), ..students(2) };
    let (rows, values) = (rows.each_ref().map(|text| table(text)), values.each_ref().map(|text| table(text)));
    let tables = rows.iter().zip(&values).zip(SENSITIVE).map(|((rows, values), column)| AnatomyTable {
        rows,
        sensitive: vec![(column.to_owned(), values as &dyn Labels)],
    });
    check_anatomy(&tables.collect::<Vec<_>>(), &claims)
}

/// What does not hold, without and with origins.
fn failures(changes: &[(Part, &str, &str)]) -> [String; 2] {
    [None, Some(ORIGINS)].map(|origins| {
        let report = check(changes, origins);
        let failures = report.findings.iter().filter(|finding| !finding.holds);
        failures.map(|finding| format!("{}: {}\n", finding.claim, finding.found)).collect()
    })
}

fn assert_fails(changes: &[(Part, &str, &str)], without: &str, with: &str) {
    let found = failures(changes);
    assert!(found[0].contains(without) && !found[0].is_empty(), "{changes:?}: {}", found[0]);
    assert!(found[1].contains(with) && !found[1].is_empty(), "{changes:?}: {}", found[1]);
    for secret in ["Math", "Discrete", "93", "3.72", "t1", "x4"] {
        assert!(!found.concat().contains(secret), "{secret} is a cell: {found:?}");
    }
}

#[test]
fn exact_students_in_groups_hold_what_is_claimed_and_say_nothing_of_k() {
    for origins in [None, Some(ORIGINS)] {
        let report = check(&[], origins);
        assert!(report.holds(), "{:#?}", report.findings);
        assert_eq!((report.smallest_group, report.group_sizes.len()), (None, 0));
        assert!(!report.findings.iter().any(|finding| finding.claim.contains("anonymity")));
        let rows: Vec<(u64, Option<u64>, Option<u64>)> =
            report.tables.iter().map(|table| (table.rows, table.removed_rows, table.smallest_set)).collect();
        assert_eq!(rows, [(4, Some(0), Some(2)), (10, Some(1), Some(2)), (10, Some(2), Some(2))]);
        assert_eq!(report.tables[1].measured[0].distinct_l, Some(2));
    }
}

fn owned(values: [&str; 3]) -> Vec<ReleasedTable<StringTable>> {
    let tables = ROWS.iter().zip(values).zip(SENSITIVE);
    tables
        .map(|((rows, values), column)| ReleasedTable {
            rows: table(rows),
            sensitive: vec![(column.into(), table(values))],
        })
        .collect()
}

#[test]
fn only_what_holds_becomes_verified() {
    let verified = verify_anatomy(owned(VALUES), &students(2)).unwrap();
    assert_eq!(verified.tables().len(), 3);
    assert!(verified.report().holds());
    let [gpas, _, prices] = VALUES;
    let uniform = VALUES[1].replace("1,78", "1,93");
    let refused = verify_anatomy(owned([gpas, &uniform, prices]), &students(2)).unwrap_err();
    let failures: Vec<&str> =
        refused.findings.iter().filter(|found| !found.holds).map(|found| found.claim.as_str()).collect();
    assert_eq!(failures, ["in takes, distinct l of grade is at least 2"]);
}

#[test]
fn groups_have_as_many_rows_as_values() {
    let sizes = "every group of takes has a row for each of its rows in the tables of its sensitive columns";
    assert_fails(&[(Part::Values(1), "1,78\n", "")], &format!("{sizes}: 1 group has not"), sizes);
    assert_fails(&[(Part::Values(1), "1,78\n", "2,78\n")], &format!("{sizes}: 2 groups have not"), sizes);
    assert_fails(&[(Part::Rows(1), "CS,1\n", "CS,7\n")], &format!("{sizes}: 2 groups have not"), sizes);
}

#[test]
fn rows_of_one_person_do_not_hide_each_other() {
    let changes =
        [(Part::Rows(1), "Math,1", "Math,2"), (Part::Rows(1), "t5,x1,Physics,2", "t5,x1,Physics,1")];
    let found = "no group has two rows of one person: 2 rows of takes have another one of their person in their group, \
                 the first is row 2";
    assert_fails(&changes, found, found);
}

#[test]
fn persons_are_followed_through_all_tables() {
    // Books of two courses of one student.
    let changes =
        [(Part::Rows(2), "Discrete,1\nb2", "Discrete,2\nb2"), (Part::Rows(2), "b5,t5,Dyn,2", "b5,t5,Dyn,1")];
    let found = "2 rows of book have another one of their person in their group, the first is row 2";
    assert_fails(&changes, found, found);
}

#[test]
fn quasi_identifiers_are_exact() {
    let without = "every released person can be assigned an original one, with rows removed: 1 of 4 cannot";
    let with = "columns are those of the original row: 1 row of takes differs, the first is row 1";
    assert_fails(&[(Part::Rows(1), "t1,x4,Math", "t1,x4,Science")], without, with);
}

#[test]
fn children_are_not_moved() {
    let with = "the parent of the original row is the original of the parent row: 1 row of book has another";
    assert_fails(&[(Part::Rows(2), "b1,t1", "b1,t2")], "1 of 4 cannot", with);
    assert_fails(&[(Part::Rows(2), "b1,t1", "b1,t0")], "1 row of book has no parent", "has no parent");
}

#[test]
fn sensitive_values_are_those_of_the_original() {
    let with = "the values of takes.grade in a group are those of its rows' originals: \
                2 values of a group do not stand there as often";
    let without = "no value of takes.grade stands more often than in the original: 1 row is too many";
    assert_fails(&[(Part::Values(1), "1,93", "1,94")], without, with);
    assert_fails(&[(Part::Values(1), "1,93", "1,66")], without, with);
    // Values may not change their groups either: nobody has that grade in a course of the other group.
    let swapped = [(Part::Values(1), "1,93", "1,91"), (Part::Values(1), "2,91", "2,93")];
    let without = "the values of takes.grade in a group can be those of its rows' originals: \
                   2 values are those of no row of their group";
    assert_fails(&swapped, without, "4 values of a group do not stand there as often");
}

#[test]
fn tables_of_sensitive_columns_are_there_once_with_their_columns() {
    let (rows, values) = (ROWS.map(table), VALUES.map(table));
    let found = |change: &dyn Fn(&mut Vec<AnatomyTable<'_>>)| {
        let tables = rows.iter().zip(&values).zip(SENSITIVE);
        let mut tables = tables
            .map(|((rows, values), column)| AnatomyTable {
                rows,
                sensitive: vec![(column.to_owned(), values as &dyn Labels)],
            })
            .collect();
        change(&mut tables);
        let report = check_anatomy(&tables, &students(2));
        report.findings.into_iter().find(|finding| !finding.holds).map(|finding| finding.found)
    };
    let sentence = |text: &str| Some(text.to_owned());
    assert_eq!(found(&|_| {}), None);
    assert_eq!(found(&|tables| tables[1].sensitive.clear()), sentence("it is not there"));
    assert_eq!(found(&|tables| tables[1].sensitive[0].0 = "other".into()), sentence("it is not there"));
    assert_eq!(
        found(&|tables| {
            let again = (tables[1].sensitive[0].0.clone(), tables[1].sensitive[0].1);
            tables[1].sensitive.push(again);
        }),
        sentence("it stands twice")
    );
    assert_eq!(
        found(&|tables| {
            let another = ("other".to_owned(), tables[1].sensitive[0].1);
            tables[1].sensitive.push(another);
        }),
        sentence("2 are")
    );
    assert_eq!(found(&|tables| tables[1].sensitive[0].1 = tables[1].rows), sentence("4 columns"));
    assert_eq!(found(&|tables| tables.truncate(2)), sentence("2 are"));
}

#[test]
fn the_table_itself_has_a_group_last_and_no_sensitive_column() {
    let found = |rows: &str, hide: bool| {
        let mut claims = students(2);
        claims.tables.truncate(1);
        claims.tables[0].columns = None;
        if !hide {
            claims.tables[0].sensitive.clear();
        }
        let (rows, values) = (table(rows), table(VALUES[0]));
        let sensitive = if hide { vec![("gpa".to_owned(), &values as &dyn Labels)] } else { vec![] };
        let report = check_anatomy(&[AnatomyTable { rows: &rows, sensitive }], &claims);
        report.findings.into_iter().find(|finding| !finding.holds).map(|finding| finding.claim)
    };
    let last = Some("the last column of student, and no other, is group".to_owned());
    assert_eq!(found(ROWS[0], true), None);
    assert_eq!(found("group,sid\n1,a\n", true), last);
    assert_eq!(found("sid\na\n", true), last);
    assert_eq!(found("sid,group,group\na,1,1\n", true), last);
    assert_eq!(
        found("sid,gpa,group\na,3.72,1\n", true),
        Some("no sensitive column stands in student itself".into())
    );
    assert_eq!(found("sid\na\nb\n", false), None, "nothing to hide, no groups");
    assert_eq!(
        found("sid,group\na,1\n", false),
        Some("student, without sensitive columns, has no groups".into())
    );
}

#[test]
fn declared_columns_are_those_without_sensitive_ones() {
    let found = failures(&[(Part::Rows(1), "scid,sid,course,group", "scid,sid,lesson,group")]);
    assert!(
        found[0].starts_with("the columns of takes are scid, sid, course, group: 4 columns"),
        "{}",
        found[0]
    );
}
