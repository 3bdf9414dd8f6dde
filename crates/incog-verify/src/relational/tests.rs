//! What a released database shows by itself: structure, classes of persons, sets of rows.

use std::borrow::Cow;

use proptest::prelude::*;

use super::*;
use crate::StringTable;

pub(super) fn table(text: &str) -> StringTable {
    StringTable::parse(text.as_bytes(), b',').unwrap()
}

/// Claims as `name(key) < parent(column): quasi, ...; sensitive, ...`, the parts after the key optional.
pub(super) fn claims(k: u64, tables: &[&str]) -> DatabaseClaims<'static> {
    let list = |text: &str| -> Vec<String> {
        text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
    };
    let call = |text: &str| {
        let (name, column) = text.trim().trim_end_matches(')').split_once('(').unwrap();
        (name.to_owned(), column.to_owned())
    };
    let tables = tables.iter().map(|text| {
        let (head, columns) = text.split_once(':').unwrap_or((text, ""));
        let (quasi, sensitive) = columns.split_once(';').unwrap_or((columns, ""));
        let (own, parent) = head.split_once('<').map_or((head, None), |(own, parent)| (own, Some(parent)));
        let (name, key) = call(own);
        TableClaims {
            name,
            columns: None,
            key: Some(key).filter(|key| !key.is_empty()),
            parent: parent.map(call),
            quasi_identifiers: list(quasi),
            sensitive: list(sensitive).into_iter().map(SensitiveClaim::measured).collect(),
        }
    });
    let tables: Vec<TableClaims> = tables.collect();
    DatabaseClaims { person: tables[0].name.clone(), k, suppression: None, tables, source: None }
}

pub(super) fn check(tables: &[&str], claims: &DatabaseClaims<'_>) -> Report {
    let tables: Vec<StringTable> = tables.iter().map(|text| table(text)).collect();
    let tables: Vec<&dyn Labels> = tables.iter().map(|table| table as &dyn Labels).collect();
    check_database(&tables, claims)
}

/// What was found of the claims that do not hold.
pub(super) fn failures(report: &Report) -> Vec<String> {
    report.findings.iter().filter(|finding| !finding.holds).map(ToString::to_string).collect()
}

const PERSONS: &str = "id,q\n1,a\n2,a\n3,b\n4,b\n";
const VISITS: &str = "vid,pid,day,ill\n1,1,x,flu\n2,1,y,flu\n3,2,y,hay\n4,2,x,flu\n5,3,x,flu\n6,4,x,hay\n";

fn visits(k: u64) -> DatabaseClaims<'static> {
    claims(k, &["person(id): q", "visit(vid) < person(pid): day; ill"])
}

#[test]
fn persons_with_equal_trees_are_a_class() {
    let report = check(&[PERSONS, VISITS], &visits(2));
    assert!(report.holds(), "{:?}", failures(&report));
    assert_eq!((report.smallest_group, report.group_sizes.as_slice()), (Some(2), &[(2, 2)][..]));
    let visit = &report.tables[1];
    assert_eq!((visit.rows, visit.removed_rows, visit.smallest_set), (6, None, Some(2)));
    assert_eq!(report.tables[0].smallest_set, Some(2));
    assert_eq!((visit.measured[0].column.as_str(), visit.measured[0].alpha), ("ill", Some((2, 2))));
    assert_eq!(
        failures(&check(&[PERSONS, VISITS], &visits(3))),
        [
            "FAIL  3-anonymity of persons relative to person.q, visit.day (the smallest class of equal trees has 2 persons)"
        ]
    );
    let tables = [table(PERSONS), table(VISITS)];
    let verified = verify_database(tables.to_vec(), &visits(2)).unwrap();
    assert_eq!((verified.tables().len(), verified.report()), (2, &report));
    assert!(verify_database(tables.to_vec(), &visits(3)).is_err());
}

#[test]
fn a_child_too_many_singles_a_person_out() {
    let more = VISITS.to_owned() + "7,4,x,hay\n";
    let report = check(&[PERSONS, &more], &visits(2));
    assert_eq!((report.smallest_group, report.group_sizes), (Some(1), vec![(1, 2), (2, 1)]));
    let other_day = VISITS.replace("6,4,x", "6,4,z");
    assert_eq!(check(&[PERSONS, &other_day], &visits(2)).smallest_group, Some(1));
    // Whose child it is matters, too: without this the days of all visits are the same multiset.
    let moved = VISITS.replace("5,3,x", "5,4,x");
    assert_eq!(check(&[PERSONS, &moved], &visits(2)).smallest_group, Some(1));
}

#[test]
fn nobody_is_exposed_by_empty_tables() {
    let report = check(&["id,q\n", "vid,pid,day,ill\n"], &visits(5));
    assert!(report.holds());
    assert_eq!((report.smallest_group, report.tables[1].smallest_set), (None, None));
    let childless = check(&[PERSONS, "vid,pid,day,ill\n"], &visits(2));
    assert_eq!(childless.group_sizes, [(2, 2)]);
}

#[test]
fn keys_and_foreign_keys_are_counted_without_a_cell() {
    let findings = |persons: &str, visits_text: &str| failures(&check(&[persons, visits_text], &visits(2)));
    assert_eq!(
        findings(&PERSONS.replace("4,b", "3,b"), VISITS),
        [
            "FAIL  every key in released tables is unique and not empty (1 row of person is not, the first is row 4)",
            "FAIL  every foreign key in released tables is the key of a parent row (1 row of visit has no parent, \
             the first is row 6)",
        ]
    );
    assert_eq!(
        findings(&PERSONS.replace("4,b", ",b"), &VISITS.replace("6,4", "6,")).len(),
        2,
        "an empty key"
    );
    assert_eq!(
        findings(PERSONS, &VISITS.replace("6,4", "5,4")).len(),
        1,
        "a key of a table without children"
    );
    assert_eq!(findings(PERSONS, &VISITS.replace("6,4", "6,9").replace("5,3", "5,8"))[0], {
        "FAIL  every foreign key in released tables is the key of a parent row (2 rows of visit have no parent, \
         the first is row 5)"
    });
    assert!(!findings("id,q\n", VISITS).is_empty(), "no parents at all");
}

#[test]
fn columns_are_as_declared_and_stand_once() {
    let mut declared = visits(2);
    declared.tables[1].columns = Some(["vid", "pid", "day", "ill"].map(str::to_owned).to_vec());
    assert!(check(&[PERSONS, VISITS], &declared).holds());
    let found = |visits_text: &str| failures(&check(&[PERSONS, visits_text], &declared));
    let wider = "vid,pid,day,ill,name\n1,1,x,flu,A\n2,2,x,flu,B\n3,3,y,flu,C\n4,4,y,flu,D\n";
    assert_eq!(found(wider), ["FAIL  the columns of visit are vid, pid, day, ill (5 columns)"]);
    assert_eq!(found("vid,pid\n1,1\n").len(), 2, "there is no day");
    let twice = "vid,pid,day,ill,day\n1,1,x,flu,x\n2,2,x,flu,y\n";
    assert!(failures(&check(&[PERSONS, twice], &visits(1)))[0].contains("visit.day stand twice"));
    assert!(!check(&[PERSONS], &visits(2)).holds(), "a table is missing");
    assert!(!check(&[PERSONS, VISITS, VISITS], &visits(2)).holds(), "a table too many");
    assert!(!check(&[], &visits(2)).holds());
}

#[test]
fn claims_on_sensitive_columns_are_checked_on_rows_with_equal_places() {
    let with = |claim: SensitiveClaim| {
        let mut claims = visits(2);
        claims.tables[1].sensitive = vec![SensitiveClaim::measured("ill"), claim];
        let report = check(&[PERSONS, VISITS], &claims);
        assert_eq!(report.tables[1].measured.len(), 1, "once a column");
        failures(&report)
    };
    let ill = || SensitiveClaim::measured("ill");
    assert_eq!(with(ill()), Vec::<String>::new());
    // Persons 1 and 2 have flu on day x, both: places, not persons, make the sets.
    assert_eq!(
        with(SensitiveClaim { distinct_l: Some(2), ..ill() }),
        ["FAIL  in visit, distinct l of ill is at least 2 (the fewest values of a group are 1)"]
    );
    let by_persons = with(SensitiveClaim { distinct_l: Some(1), counted: Counted::Persons, ..ill() });
    assert!(by_persons[0].contains("only rows are counted"));
    let whole = SensitiveClaim { t: "1/3".parse().ok(), ..ill() };
    assert_eq!(with(whole), Vec::<String>::new(), "flu has 2/3 of the table, 1/2 or all of a set");
    assert_eq!(with(SensitiveClaim { t: "33/100".parse().ok(), ..ill() }).len(), 1);
}

/// Codes that belong to no label, and too few of them.
struct Ragged(Vec<u32>);

impl Labels for Ragged {
    fn header(&self) -> Vec<&str> {
        vec!["id"]
    }
    fn n_rows(&self) -> usize {
        2
    }
    fn column(&self, _: usize) -> LabelColumn<'_> {
        LabelColumn { labels: vec!["a", "b"], codes: Cow::Borrowed(&self.0) }
    }
}

#[test]
fn ragged_columns_are_refused() {
    let check = |codes: &[u32]| check_database(&[&Ragged(codes.to_vec())], &claims(1, &["p(id)"])).holds();
    assert!(check(&[0, 1]));
    assert!(!check(&[0]));
    assert!(!check(&[0, 1, 1]));
    assert!(!check(&[0, 2]));
}

/// A tree of one person: a label, and children by table. Persons have `a` and `c` below them, `a` has `b`.
#[derive(Debug, Clone, PartialEq)]
struct Tree {
    label: u8,
    children: Vec<Vec<Tree>>,
}

fn leaf() -> impl Strategy<Value = Tree> {
    (0..2_u8).prop_map(|label| Tree { label, children: vec![] })
}

fn person() -> impl Strategy<Value = Tree> {
    let some = |tree: BoxedStrategy<Tree>| proptest::collection::vec(tree, 0..3);
    let a = (0..2_u8, some(leaf().boxed())).prop_map(|(label, b)| Tree { label, children: vec![b] });
    (0..2_u8, some(a.boxed()), some(leaf().boxed()))
        .prop_map(|(label, a, c)| Tree { label, children: vec![a, c] })
}

/// By the definition: is there a bijection of the children, table by table? What was paired may stay so, since being
/// isomorphic is an equivalence.
fn is_isomorphic(one: &Tree, other: &Tree) -> bool {
    one.label == other.label
        && one.children.iter().zip(&other.children).all(|(mine, theirs)| {
            let mut left: Vec<&Tree> = theirs.iter().collect();
            mine.len() == theirs.len()
                && mine.iter().all(|child| {
                    let place = left.iter().position(|other| is_isomorphic(child, other));
                    place.map(|at| left.remove(at)).is_some()
                })
        })
}

/// The tables p, a, b, c, rows in the order of `order` wherever that is given; and for each row of p, a, b its
/// person's tree with that row marked.
fn write(persons: &[Tree]) -> ([String; 4], [Vec<Tree>; 3]) {
    let mut texts = ["id,q\n", "id,up,q\n", "id,up,q\n", "id,up,q\n"].map(str::to_owned);
    let mut marked = [const { Vec::new() }; 3];
    let (mut n_a, mut n_b) = (0, 0);
    for (id, person) in persons.iter().enumerate() {
        texts[0] += &format!("p{id},{}\n", person.label);
        let mut copy = person.clone();
        copy.label += 100;
        marked[0].push(copy);
        for (at, a) in person.children[0].iter().enumerate() {
            texts[1] += &format!("a{n_a},p{id},{}\n", a.label);
            let mut copy = person.clone();
            copy.children[0][at].label += 100;
            marked[1].push(copy);
            for (below, b) in a.children[0].iter().enumerate() {
                texts[2] += &format!("b{n_b},a{n_a},{}\n", b.label);
                let mut copy = person.clone();
                copy.children[0][at].children[0][below].label += 100;
                marked[2].push(copy);
                n_b += 1;
            }
            n_a += 1;
        }
        for c in &person.children[1] {
            texts[3] += &format!("c{},p{id},{}\n", texts[3].len(), c.label);
        }
    }
    (texts, marked)
}

proptest! {
    #[test]
    fn rows_are_in_one_set_iff_an_isomorphism_of_their_persons_takes_one_to_the_other(
        persons in proptest::collection::vec(person(), 0..7),
    ) {
        let (texts, marked) = write(&persons);
        let claims = claims(1, &["p(id): q", "a(id) < p(up): q", "b(id) < a(up): q", "c() < p(up): q"]);
        let tables: Vec<StringTable> = texts.iter().map(|text| table(text)).collect();
        let tables: Vec<&dyn Labels> = tables.iter().map(|table| table as &dyn Labels).collect();
        let shape = Shape::of(&claims).unwrap();
        let columns = find_columns(&tables, &claims.tables, Sought::All, "").unwrap();
        let forest = Forest::plant(&tables, &columns, &shape, &names(&claims.tables), "", &mut vec![]).unwrap();
        let own = tables.iter().zip(&columns).map(|(table, columns)| crate::group(*table, &columns.quasi));
        let classes = Classes::new(&forest, &shape, own.collect(), |_, _| 0);
        let trees: Vec<(&[u32], usize)> =
            classes.of_rows.iter().map(|rows| (rows.of_row.as_slice(), rows.len())).collect();
        let sets = paths(&shape, &forest.parent_rows, &trees);
        for (sets, marked) in sets.iter().zip(&marked) {
            prop_assert_eq!(sets.of_row.len(), marked.len());
            for (row, tree) in marked.iter().enumerate() {
                for (other_row, other) in marked.iter().enumerate() {
                    let is_same = sets.of_row[row] == sets.of_row[other_row];
                    prop_assert_eq!(is_same, is_isomorphic(tree, other), "rows {} and {}", row, other_row);
                }
            }
        }
        let report = check_database(&tables, &claims);
        let class = |person: &Tree| persons.iter().filter(|other| is_isomorphic(person, other)).count() as u64;
        prop_assert_eq!(report.smallest_group, persons.iter().map(class).min());
    }
}
