//! Released databases beside their originals: the paper's students, what becomes of each claim if one thing is changed, and
//! assignments against brute force on random databases.

use incog_verify::{
    DatabaseClaims, Labels, Report, StringTable, TableClaims, TableSource, check_database, verify_database,
};
use proptest::prelude::*;

use crate::students::{BOOKS, COURSES, STUDENTS, hierarchy, students, table};

/// Its 2-anonymization (table 4): classes {S1, S2} and {S3, S4}; Math~CS keeping Discrete, Physics~Physics keeping Dyn,
/// History~Religion; Calc is gone, and S3's Math with it. Keys and order are new.
const RELEASE: [&str; 3] = [
    "sid,gpa\nx3,4.00\nx1,2.34\nx4,3.72\nx2,2.71\n",
    "scid,sid,course,grade\nt1,x4,Science,93\nt2,x4,Physics,91\nt3,x4,Social,85\nt4,x1,Science,78\nt5,x1,Physics,66\n\
     t6,x1,Social,71\nt7,x2,History,80\nt8,x2,Religion,69\nt9,x3,History,98\nt10,x3,Religion,97\n",
    "bid,scid,book,price\nb1,t1,Discrete,60\nb2,t2,Dyn,80\nb3,t3,Social-Book,40\nb4,t4,Discrete,55\nb5,t5,Dyn,82\n\
     b6,t6,Social-Book,35\nb7,t7,Social-Book,42\nb8,t8,World Rel,33\nb9,t9,Social-Book,45\nb10,t10,World Rel,36\n",
];

const ORIGINS: [&[u32]; 3] =
    [&[3, 1, 0, 2], &[0, 1, 2, 3, 4, 5, 7, 8, 9, 10], &[0, 2, 3, 4, 5, 6, 8, 9, 10, 11]];

/// Checks a release against the students.
fn check(release: &[String; 3], origins: Option<[&[u32]; 3]>, k: u64) -> Report {
    let originals = STUDENTS.map(table);
    let hierarchies = [vec![], vec![hierarchy(COURSES)], vec![hierarchy(BOOKS)]];
    let sources = originals.iter().zip(hierarchies).enumerate().map(|(at, (input, hierarchies))| {
        TableSource { input, hierarchies, origins: origins.map(|origins| origins[at]) }
    });
    let claims = DatabaseClaims { source: Some(sources.collect()), ..students(k) };
    let tables = release.each_ref().map(|text| table(text));
    check_database(&tables.each_ref().map(|table| table as &dyn Labels), &claims)
}

/// The release with changes, each in one table: what stands there, and what shall.
fn changed(changes: &[(usize, &str, &str)]) -> [String; 3] {
    let mut release = RELEASE.map(str::to_owned);
    for &(table, old, new) in changes {
        assert_eq!(release[table].matches(old).count(), 1, "{old}");
        release[table] = release[table].replace(old, new);
    }
    release
}

/// What does not hold, in the words of the claims, without and with origins.
fn failures(changes: &[(usize, &str, &str)]) -> [String; 2] {
    [None, Some(ORIGINS)].map(|origins| {
        let report = check(&changed(changes), origins, 2);
        let failures = report.findings.iter().filter(|finding| !finding.holds);
        failures.map(|finding| format!("{}: {}\n", finding.claim, finding.found)).collect()
    })
}

#[test]
fn the_papers_students_are_two_classes_of_two() {
    for origins in [None, Some(ORIGINS)] {
        let report = check(&RELEASE.map(str::to_owned), origins, 2);
        assert!(report.holds(), "{:#?}", report.findings);
        assert_eq!((report.smallest_group, report.group_sizes.as_slice()), (Some(2), &[(2, 2)][..]));
        let rows: Vec<(u64, Option<u64>, Option<u64>)> =
            report.tables.iter().map(|table| (table.rows, table.removed_rows, table.smallest_set)).collect();
        assert_eq!(rows, [(4, Some(0), Some(2)), (10, Some(1), Some(2)), (10, Some(2), Some(2))]);
        assert!(!check(&RELEASE.map(str::to_owned), origins, 3).holds());
    }
    // The original itself singles everybody out.
    let report = check(&STUDENTS.map(str::to_owned), None, 2);
    assert_eq!(report.smallest_group, Some(1));
    assert!(verify_database(RELEASE.map(table).to_vec(), &students(2)).is_ok());
    assert!(verify_database(STUDENTS.map(table).to_vec(), &students(2)).is_err());
}

const K: &str = "2-anonymity of persons relative to takes.course, book.book: the smallest class of equal trees has 1 person\n";

fn assert_fails(changes: &[(usize, &str, &str)], without: &[&str], with: &[&str]) {
    let [without_found, with_found] = failures(changes);
    for (found, parts) in [(without_found, without), (with_found, with)] {
        assert!(!found.is_empty(), "{changes:?} passes");
        for part in parts {
            assert!(found.contains(part), "{changes:?}\nexpected {part}\nfound {found}");
        }
        for secret in ["Math", "Discrete", "Calc", "93", "3.72", "t1", "x4"] {
            assert!(!found.contains(secret), "{secret} is a cell: {found}");
        }
    }
}

#[test]
fn one_label_more_precise_is_noticed_by_its_class() {
    assert_fails(&[(1, "t1,x4,Science", "t1,x4,Math")], &[K], &[K]);
}

#[test]
fn a_label_that_is_no_generalization_is_noticed() {
    // In the whole class, so that only the original tells.
    let changes = [(1, "t3,x4,Social", "t3,x4,Science"), (1, "t6,x1,Social", "t6,x1,Science")];
    let [without, with] = failures(&changes);
    assert_eq!(
        without,
        "every released person can be assigned an original one, with rows removed and labels generalized: 2 of 4 cannot\n"
    );
    assert_eq!(
        with,
        "every quasi-identifier is a generalization of the original value: \
         2 rows of takes have one that is not, the first is row 3\n"
    );
}

#[test]
fn an_extra_child_is_noticed() {
    let changes = [(2, "b10,t10", "b11,t1,Discrete,60\nb10,t10")];
    assert_fails(&changes, &[K, "1 of 4 cannot"], &[K, "11 rows of book, 10 origins"]);
    // Everybody of a class may have one more child, but not from nowhere.
    let both = [(2, "b10,t10", "b11,t1,Discrete,60\nb12,t4,Discrete,55\nb10,t10")];
    let [without, _] = failures(&both);
    assert!(without.contains("2 of 4 cannot") && !without.contains(K), "{without}");
    let report = check(&changed(&both), None, 2);
    assert_eq!(report.tables[2].removed_rows, Some(0), "12 of 12 rows");
    let third = [(2, "b10,t10", "b11,t1,*,1\nb12,t1,*,1\nb13,t1,*,1\nb10,t10")];
    assert_fails(&third, &["book: 13 of 12 released, more than there are"], &["more than there are"]);
}

#[test]
fn a_changed_key_leaves_an_orphan() {
    let orphan = "1 row of book has no parent, the first is row 1";
    assert_fails(&[(1, "t1,x4", "t99,x4")], &[orphan], &[orphan]);
    let orphans = "3 rows of takes have no parent, the first is row 1";
    assert_fails(&[(0, "x4,", "x9,")], &[orphans], &[orphans]);
    // The keys of a table without children may be any, as long as they differ.
    assert_eq!(failures(&[(2, "b1,t1", "b99,t1")]), ["", ""]);
    assert_fails(
        &[(2, "b1,t1", "b2,t1")],
        &["1 row of book is not, the first is row 2"],
        &["every key in released tables"],
    );
}

#[test]
fn a_changed_foreign_key_is_noticed() {
    let moved = "the parent of the original row is the original of the parent row: \
                 1 row of book has another, the first is row 1";
    assert_fails(&[(2, "b1,t1", "b1,t4")], &[K, "1 of 4 cannot"], &[K, moved]);
}

#[test]
fn a_changed_sensitive_value_is_noticed() {
    let [without, with] = failures(&[(1, "Science,93", "Science,94")]);
    assert!(without.ends_with("labels generalized: 1 of 4 cannot\n"), "{without}");
    assert_eq!(
        with,
        "columns that are no quasi-identifiers are those of the original row: 1 row of takes differs, the first is row 1\n"
    );
    // Equal values of a matched set, and neither of them true.
    assert_fails(
        &[(1, "Science,93", "Science,78")],
        &["in takes, distinct l of grade is at least 2"],
        &["distinct l"],
    );
}

#[test]
fn a_dropped_row_is_noticed_by_its_class() {
    let [without, _] = failures(&[(2, "b1,t1,Discrete,60\n", "")]);
    assert!(
        without.starts_with(K) && !without.contains("assigned"),
        "rows may be removed, but not of one person"
    );
    let both = [(2, "b1,t1,Discrete,60\n", ""), (2, "b4,t4,Discrete,55\n", "")];
    assert_eq!(failures(&both)[0], "");
}

#[test]
fn swapped_children_are_noticed() {
    let changes = [(1, "t1,x4", "t1,x1"), (1, "t4,x1", "t4,x4")];
    let [without, with] = failures(&changes);
    assert!(without.ends_with("labels generalized: 2 of 4 cannot\n"), "{without}");
    assert_eq!(
        with,
        "the parent of the original row is the original of the parent row: 2 rows of takes have another, the first is row 1\n"
    );
    // A book for the other course of the same person is moved, too.
    let books = [(2, "b1,t1,Discrete", "b1,t2,Discrete"), (2, "b2,t2,Dyn", "b2,t1,Dyn")];
    assert_fails(&books, &["1 of 4 cannot"], &["2 rows of book have another"]);
}

#[test]
fn origins_are_not_trusted() {
    let with = |origins: [&[u32]; 3]| {
        let report = check(&RELEASE.map(str::to_owned), Some(origins), 2);
        let failures = report.findings.iter().filter(|finding| !finding.holds);
        failures.map(|finding| finding.found.clone()).collect::<Vec<_>>().join("; ")
    };
    let [students, takes, books] = ORIGINS;
    assert_eq!(with([students, takes, books]), "");
    assert_eq!(with([&students[1..], takes, books]), "4 rows of student, 3 origins");
    let twice = with([&[3, 1, 0, 0], takes, books]);
    assert!(twice.starts_with("1 row of student does not, the first is row 4"), "{twice}");
    let beyond = with([&[3, 1, 0, u32::MAX], takes, books]);
    assert!(beyond.starts_with("1 row of student does not, the first is row 4"), "{beyond}");
    assert!(beyond.contains("2 rows of takes have another"), "{beyond}");
}

#[test]
fn sources_that_do_not_fit_are_refused() {
    let originals = STUDENTS.map(table);
    let orphans = table(&STUDENTS[2].replace("B12,SC11", "B12,SC99"));
    let release = RELEASE.map(table);
    let found = |change: &dyn Fn(&mut Vec<TableSource<'_>>)| {
        let hierarchies = [vec![], vec![hierarchy(COURSES)], vec![hierarchy(BOOKS)]];
        let sources = originals.iter().zip(hierarchies);
        let mut sources =
            sources.map(|(input, hierarchies)| TableSource { input, hierarchies, origins: None }).collect();
        change(&mut sources);
        let claims = DatabaseClaims { source: Some(sources), ..students(2) };
        let report = check_database(&release.each_ref().map(|table| table as &dyn Labels), &claims);
        let failures = report.findings.iter().filter(|finding| !finding.holds);
        failures.map(|finding| finding.found.clone()).collect::<Vec<_>>()
    };
    assert_eq!(found(&|_| {}), Vec::<String>::new());
    assert_eq!(found(&|sources| sources.truncate(2)), ["3 tables, 2 originals"]);
    assert_eq!(found(&|sources| sources.swap(0, 1)).len(), 1);
    assert_eq!(
        found(&|sources| sources[1].hierarchies.clear()),
        ["1 quasi-identifiers of takes, 0 hierarchies"]
    );
    assert_eq!(found(&|sources| sources[0].origins = Some(ORIGINS[0])), ["it is said of 1 of 3 tables"]);
    let levels = |sources: &mut Vec<TableSource<'_>>| sources[1].hierarchies[0].levels = vec![0, 2];
    assert_eq!(found(&levels), ["2 of 4 cannot"], "level 1 is not allowed");
    let orphan = |sources: &mut Vec<TableSource<'_>>| {
        // The original itself is broken.
        sources[2].input = Box::leak(Box::new(orphans.clone()));
    };
    assert_eq!(found(&orphan), ["1 row of book has no parent, the first is row 12"]);
}

/// A person or a row: its quasi-identifier, another column, and children.
#[derive(Debug, Clone)]
struct Tree {
    label: String,
    other: u8,
    children: Vec<Tree>,
}

/// Values 0 to 3; 0 and 1 may become a, 2 and 3 b, all `*`.
const VALUES: &str = "0;a;*\n1;a;*\n2;b;*\n3;b;*";

/// Other columns are below `n_others`, children fewer than `n_children`.
fn tree(depth: u32, n_others: u8, n_children: usize) -> BoxedStrategy<Tree> {
    let row = (0..4_u8, 0..n_others);
    let n_children = if depth == 0 { 1 } else { n_children };
    let child = if depth == 0 { Just(leaf()).boxed() } else { tree(depth - 1, n_others, n_children) };
    (row, proptest::collection::vec(child, 0..n_children))
        .prop_map(|((value, other), children)| Tree { label: value.to_string(), other, children })
        .boxed()
}

fn leaf() -> Tree {
    Tree { label: "0".into(), other: 0, children: vec![] }
}

/// Few persons with many children that only labels tell apart, or more persons who differ more.
fn persons() -> impl Strategy<Value = Vec<Tree>> {
    prop_oneof![
        proptest::collection::vec(tree(2, 2, 4), 1..6),
        proptest::collection::vec(tree(1, 1, 7), 1..3),
        proptest::collection::vec(tree(0, 1, 1), 1..6),
    ]
}

/// Generalizes labels and removes subtrees, as the numbers say.
fn recode(tree: &Tree, numbers: &mut impl Iterator<Item = u8>) -> Tree {
    let label = match (numbers.next().unwrap() % 4, tree.label.as_str()) {
        (0, label) => label,
        (1, _) => "*",
        (_, "0" | "1") => "a",
        _ => "b",
    };
    let mut children = Vec::new();
    for child in &tree.children {
        if !numbers.next().unwrap().is_multiple_of(4) {
            children.push(recode(child, numbers));
        }
    }
    // Another order: who comes first must not matter.
    children.sort_by_cached_key(|_| numbers.next().unwrap());
    Tree { label: label.into(), other: tree.other, children }
}

/// Changes one row somewhere.
fn spoil(tree: &mut Tree, numbers: &mut impl Iterator<Item = u8>) {
    let number = numbers.next().unwrap();
    if !tree.children.is_empty() && !number.is_multiple_of(3) {
        let at = number as usize / 3 % tree.children.len();
        spoil(&mut tree.children[at], numbers);
        return;
    }
    match number / 3 % 3 {
        0 => tree.other ^= 1,
        1 => tree.label = ["0", "1", "2", "3", "a", "b"][number as usize / 9 % 6].into(),
        _ => tree.children.extend(tree.children.first().cloned()),
    }
}

/// By the definition, all injections of the children tried.
fn embeds(released: &Tree, original: &Tree) -> bool {
    let path: &[&str] = match original.label.as_str() {
        "0" => &["0", "a", "*"],
        "1" => &["1", "a", "*"],
        "2" => &["2", "b", "*"],
        _ => &["3", "b", "*"],
    };
    path.contains(&released.label.as_str())
        && released.other == original.other
        && most(&released.children, &original.children, &mut vec![false; original.children.len()])
            == released.children.len()
}

/// The most trees that can be assigned to different ones.
fn most(released: &[Tree], originals: &[Tree], is_used: &mut Vec<bool>) -> usize {
    let Some((first, rest)) = released.split_first() else {
        return 0;
    };
    let mut best = most(rest, originals, is_used);
    for at in 0..originals.len() {
        if !is_used[at] && embeds(first, &originals[at]) {
            is_used[at] = true;
            best = best.max(1 + most(rest, originals, is_used));
            is_used[at] = false;
        }
    }
    best
}

/// Tables p, a, b of trees of depth 2; keys start with `new`.
fn write(persons: &[Tree], new: &str) -> [StringTable; 3] {
    let mut texts = ["id,q,o\n", "id,up,q,o\n", "id,up,q,o\n"].map(str::to_owned);
    for (p, person) in persons.iter().enumerate() {
        let p = format!("{new}{p}");
        texts[0] += &format!("{p},{},{}\n", person.label, person.other);
        for (a, row) in person.children.iter().enumerate() {
            texts[1] += &format!("{p}-{a},{p},{},{}\n", row.label, row.other);
            for (b, below) in row.children.iter().enumerate() {
                texts[2] += &format!("{p}-{a}-{b},{p}-{a},{},{}\n", below.label, below.other);
            }
        }
    }
    texts.each_ref().map(|text| table(text))
}

/// What is found of the assignment.
fn assigned(released: &[Tree], persons: &[Tree]) -> (bool, String) {
    let (tables, originals) = (write(released, "r"), write(persons, ""));
    let claim = |name: &str, parent: Option<&str>| TableClaims {
        name: name.into(),
        columns: None,
        key: Some("id".into()),
        parent: parent.map(|parent| (parent.into(), "up".into())),
        quasi_identifiers: vec!["q".into()],
        sensitive: vec![],
    };
    let source = |input| TableSource { input, hierarchies: vec![hierarchy(VALUES)], origins: None };
    let claims = DatabaseClaims {
        person: "p".into(),
        k: 1,
        suppression: None,
        tables: vec![claim("p", None), claim("a", Some("p")), claim("b", Some("a"))],
        source: Some(originals.iter().map(|table| source(table as &dyn Labels)).collect()),
    };
    let report = check_database(&tables.each_ref().map(|table| table as &dyn Labels), &claims);
    (report.holds(), report.findings.last().unwrap().found.clone())
}

#[test]
fn a_child_gives_way_to_another_that_fits_nowhere_else() {
    let row = |label: &str| Tree { label: label.into(), ..leaf() };
    let person =
        |labels: &[&str]| Tree { children: labels.iter().map(|label| row(label)).collect(), ..leaf() };
    // In turn a takes 0, the place of 0, and * takes 1, where a has to go.
    let (_, found) = assigned(&[person(&["a", "0", "*"])], &[person(&["0", "1", "2"])]);
    assert_eq!(found, "all can");
    let (_, found) = assigned(&[person(&["a", "0", "*"])], &[person(&["0", "2", "3"])]);
    assert_eq!(found, "1 of 1 cannot");
    // The same of persons.
    let all = |labels: &[&str]| -> Vec<Tree> { labels.iter().map(|label| row(label)).collect() };
    assert_eq!(assigned(&all(&["a", "0", "*"]), &all(&["0", "1", "2"])).1, "all can");
    assert_eq!(assigned(&all(&["a", "0", "*", "a"]), &all(&["0", "1", "2", "3"])).1, "1 of 4 cannot");
}

/// Persons whom no label allows to be assigned, but who have everything else: lists of candidates get long by them.
fn fillers() -> Vec<Tree> {
    let row = |other: u8, children: Vec<Tree>| Tree { label: "9".into(), other, children };
    let both = || vec![row(0, vec![]), row(1, vec![])];
    (0..80_u8).map(|n| row(n % 2, vec![row(0, both()), row(1, both()), row(10 + n, vec![])])).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5000))]
    #[test]
    fn as_many_persons_are_assigned_as_by_trying_all_ways(
        persons in persons(),
        numbers in proptest::collection::vec(any::<u8>(), 64),
        n_removed in 0..2_usize,
        n_spoilt in 0..3_usize,
        among_others in any::<bool>(),
    ) {
        let mut numbers = numbers.into_iter().cycle();
        let mut released: Vec<Tree> = persons.iter().map(|person| recode(person, &mut numbers)).collect();
        released.rotate_left(persons.len() / 2);
        released.truncate(persons.len() - n_removed.min(persons.len() - 1));
        for _ in 0..n_spoilt {
            let at = numbers.next().unwrap() as usize % released.len();
            spoil(&mut released[at], &mut numbers);
        }
        let others = if among_others { fillers() } else { vec![] };
        let (holds, all_found) = assigned(&released, &[persons.as_slice(), &others].concat());
        let most = most(&released, &persons, &mut vec![false; persons.len()]);
        let found = match released.len() - most {
            0 => "all can".to_owned(),
            n => format!("{n} of {} cannot", released.len()),
        };
        prop_assert_eq!(&all_found, &found, "{:?} of {:?}", released, persons);
        prop_assert!(n_spoilt > 0 || holds);
    }
}

#[test]
fn keys_of_the_original_are_noticed() {
    let keys = |key: &dyn Fn(usize) -> String| {
        let rows: String = (0..20).map(|row| format!("{},0,0\n", key(row))).collect();
        table(&format!("id,q,o\n{rows}"))
    };
    let found = |released: &StringTable, original: &StringTable, origins: Option<&[u32]>| {
        let claims = DatabaseClaims {
            person: "p".into(),
            k: 1,
            suppression: None,
            tables: vec![TableClaims {
                name: "p".into(),
                columns: None,
                key: Some("id".into()),
                parent: None,
                quasi_identifiers: vec!["q".into()],
                sensitive: vec![],
            }],
            source: Some(vec![TableSource {
                input: original,
                hierarchies: vec![hierarchy(VALUES)],
                origins,
            }]),
        };
        let report = check_database(&[released], &claims);
        report.findings.iter().find(|finding| finding.claim == "keys are new ones").unwrap().clone()
    };
    let (letters, numbers) = (keys(&|row| format!("S{row}")), keys(&|row| (row + 1).to_string()));
    let (shuffled, mixed) = (
        keys(&|row| (20 - row).to_string()),
        keys(&|row| if row == 3 { "S7".into() } else { (row + 1).to_string() }),
    );
    let origins: Vec<u32> = (0..20).collect();
    for origins in [None, Some(origins.as_slice())] {
        assert!(found(&shuffled, &letters, origins).holds);
        assert!(found(&shuffled, &numbers, origins).holds, "any number may be anybody's");
        assert!(!found(&letters, &letters, origins).holds);
        assert_eq!(
            found(&mixed, &letters, origins).found,
            "1 row of p has a key of the original, the first is row 4"
        );
    }
    assert!(!found(&numbers, &numbers, Some(&origins)).holds, "everybody kept theirs");
    assert!(found(&numbers, &numbers, None).holds, "whose they are is not known");
}

#[test]
fn more_persons_than_declared_may_not_be_left_out() {
    let (released, original) = (table("id,q\n1,0\n"), table("id,q\na,0\nb,0\nc,0\n"));
    let holds = |suppression: Option<u64>| {
        let claims = DatabaseClaims {
            person: "p".into(),
            k: 1,
            suppression,
            tables: vec![TableClaims {
                name: "p".into(),
                columns: None,
                key: Some("id".into()),
                parent: None,
                quasi_identifiers: vec!["q".into()],
                sensitive: vec![],
            }],
            source: Some(vec![TableSource {
                input: &original,
                hierarchies: vec![hierarchy(VALUES)],
                origins: None,
            }]),
        };
        check_database(&[&released], &claims).holds()
    };
    assert_eq!([None, Some(2), Some(1)].map(holds), [true, true, false]);
}
