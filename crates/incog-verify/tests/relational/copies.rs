//! Keys of the original in columns that nobody declared as keys.

use incog_verify::{
    AnatomyTable, DatabaseClaims, Hierarchy, Labels, SensitiveClaim, TableClaims, TableSource, check_anatomy,
    check_database,
};

use crate::students::table;

const N_PATIENTS: usize = 60;

/// What the column `note` is said to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Other,
    Sensitive,
    /// Released as collected, or generalized to one label.
    Quasi {
        is_exact: bool,
    },
}

/// Patients with three visits each. `note` is a column of the visits, or of the patients, who have one each.
struct Case {
    patient: fn(usize) -> String,
    visit: fn(usize) -> String,
    /// Given the patient and the visit.
    note: fn(usize, usize) -> String,
    of_visits: bool,
}

impl Case {
    /// What is found about copies of keys, in a release of the same rows with new keys.
    fn found(&self, role: Role, is_anatomized: bool) -> Result<(), String> {
        let Case { patient, visit, note, of_visits } = *self;
        let rows = |is_release: bool| {
            // Keys are new, and in another order.
            let patient_key =
                |n: usize| if is_release { format!("n{}", n * 7 % N_PATIENTS) } else { patient(n) };
            let visit_key =
                |n: usize| if is_release { format!("m{}", n * 7 % (3 * N_PATIENTS)) } else { visit(n) };
            let is_generalized = is_release && role == Role::Quasi { is_exact: false };
            let note = |n: usize, of: usize| if is_generalized { "*".to_owned() } else { note(n, of) };
            let mut patients = if of_visits { "id,sex\n".to_owned() } else { "id,sex,note\n".to_owned() };
            let mut visits = if of_visits { "vid,id,note\n".to_owned() } else { "vid,id\n".to_owned() };
            for n in 0..N_PATIENTS {
                patients += &format!("{},f", patient_key(n));
                patients += &if of_visits { "\n".to_owned() } else { format!(",{}\n", note(n, n)) };
                for of in 3 * n..3 * n + 3 {
                    visits += &format!("{},{}", visit_key(of), patient_key(n));
                    visits += &if of_visits { format!(",{}\n", note(n, of)) } else { "\n".to_owned() };
                }
            }
            [table(&patients), table(&visits)]
        };
        let (original, release) = (rows(false), rows(true));
        let quasi = |is_here: bool| {
            if is_here && matches!(role, Role::Quasi { .. }) { vec!["note".to_owned()] } else { vec![] }
        };
        let sensitive = |is_here: bool| match role {
            Role::Sensitive if is_here => vec![SensitiveClaim::measured("note")],
            _ => vec![],
        };
        let table_claims =
            |name: &str, key: &str, parent: Option<(String, String)>, is_here: bool| TableClaims {
                name: name.into(),
                columns: None,
                key: Some(key.into()),
                parent,
                quasi_identifiers: [
                    if name == "patient" { vec!["sex".to_owned()] } else { vec![] },
                    quasi(is_here),
                ]
                .concat(),
                sensitive: sensitive(is_here),
            };
        let mut claims = vec![
            table_claims("patient", "id", None, !of_visits),
            table_claims("visit", "vid", Some(("patient".into(), "id".into())), of_visits),
        ];
        for (claims, table) in claims.iter_mut().zip(&original) {
            claims.columns = Some(table.header().iter().map(|&name| name.to_owned()).collect());
        }
        let hierarchy = |table: &dyn Labels, name: &String| {
            let at = table.header().iter().position(|column| column == name).unwrap();
            let path = |value: &&str| ((*value).to_owned(), vec![(*value).to_owned(), "*".to_owned()]);
            Hierarchy { levels: vec![0, 1], paths: table.labels(at).iter().map(path).collect() }
        };
        let sources = original.iter().zip(&claims).map(|(input, claims)| TableSource {
            input,
            hierarchies: claims.quasi_identifiers.iter().map(|name| hierarchy(input, name)).collect(),
            origins: None,
        });
        let claims = DatabaseClaims {
            person: "patient".into(),
            k: 1,
            suppression: None,
            source: Some(sources.collect()),
            tables: claims.clone(),
        };
        let report = if is_anatomized {
            let apart = |at: usize| {
                let rows = &release[at];
                let is_apart = role == Role::Sensitive && (at == 1) == of_visits;
                let header = rows.header();
                let kept: Vec<usize> =
                    (0..header.len()).filter(|&at| !is_apart || header[at] != "note").collect();
                let cell =
                    |at: usize, row: usize| rows.labels(at)[rows.column(at).codes[row] as usize].to_owned();
                let mut text = kept.iter().map(|&at| header[at]).collect::<Vec<_>>().join(",");
                text += if is_apart { ",group\n" } else { "\n" };
                let mut values = "group,note\n".to_owned();
                for row in 0..rows.n_rows() {
                    text += &kept.iter().map(|&at| cell(at, row)).collect::<Vec<_>>().join(",");
                    text += &if is_apart { format!(",{row}\n") } else { "\n".to_owned() };
                    if is_apart {
                        values += &format!("{row},{}\n", cell(header.len() - 1, row));
                    }
                }
                (table(&text), is_apart.then(|| table(&values)))
            };
            let parts = [apart(0), apart(1)];
            let tables = parts.each_ref().map(|(rows, values)| AnatomyTable {
                rows,
                sensitive: values.iter().map(|values| ("note".to_owned(), values as &dyn Labels)).collect(),
            });
            check_anatomy(&tables, &claims)
        } else {
            check_database(&release.each_ref().map(|table| table as &dyn Labels), &claims)
        };
        let failed: Vec<String> =
            report.findings.iter().filter(|finding| !finding.holds).map(ToString::to_string).collect();
        assert!(report.undecided.is_empty());
        if failed.is_empty() { Ok(()) } else { Err(failed.join("\n")) }
    }

    fn check(&self, what: &str, expected: Result<(), &str>) {
        for role in
            [Role::Other, Role::Sensitive, Role::Quasi { is_exact: true }, Role::Quasi { is_exact: false }]
        {
            for is_anatomized in [false, true] {
                if is_anatomized && role == (Role::Quasi { is_exact: false }) {
                    continue;
                }
                let found = self.found(role, is_anatomized);
                match expected {
                    // What is generalized holds no key any more.
                    Err(part) if role != (Role::Quasi { is_exact: false }) => {
                        let found = found.expect_err(what);
                        assert!(
                            found.contains(part) && found.lines().count() == 1,
                            "{what}, {role:?}: {found}"
                        );
                        assert!(found.contains("no other column repeats the keys of its rows, of rows above them, or of a table row by row"), "{found}");
                    }
                    _ => assert_eq!(found, Ok(()), "{what}, {role:?}, {is_anatomized}"),
                }
            }
        }
    }
}

const BY_NAME: Case = Case {
    patient: |n| format!("P-{n}"),
    visit: |n| format!("V-{n}"),
    note: |n, _| format!("P-{n}"),
    of_visits: true,
};

const BY_NUMBER: Case = Case { patient: |n| (n + 1).to_string(), visit: |n| (n + 1).to_string(), ..BY_NAME };

#[test]
fn copies_of_the_key_of_a_row_or_of_one_above_are_noticed() {
    let of_patients = Err("column note of visit holds keys of patient in 180 of 180 rows");
    BY_NAME.check("the person's key", of_patients);
    let note = |n: usize, of: usize| if of % 5 < 2 { "?".to_owned() } else { format!("P-{n}") };
    Case { note, ..BY_NAME }.check("in most rows", Err("in 108 of 180 rows"));
    let note = |n: usize, of: usize| if of % 5 < 2 { String::new() } else { format!("P-{n}") };
    Case { note, ..BY_NAME }.check("where there is any", Err("in 108 of 180 rows"));
    Case { note: |n, _| (n + 1).to_string(), ..BY_NUMBER }.check("numbers", of_patients);
    Case { note: |n, _| format!("{:04}", n + 1), ..BY_NUMBER }.check("zeros before numbers", of_patients);
    Case { note: |n, _| format!("{}.0", n + 1), ..BY_NUMBER }.check("numbers with a point", of_patients);
    Case { note: |_, of| format!("V-{of}"), ..BY_NAME }
        .check("its own key", Err("holds keys of visit in 180"));
    let note = |n: usize, _| format!("P-{n}");
    Case { note, of_visits: false, ..BY_NAME }
        .check("of patients", Err("column note of patient holds keys of patient in 60 of 60 rows"));
}

#[test]
fn keys_of_other_rows_are_noticed_if_they_are_nearly_all_different() {
    let next = |_: usize, of: usize| format!("V-{}", (of + 1) % 180);
    Case { note: next, ..BY_NAME }.check("the next visit", Err("holds keys of visit in 180 of 180 rows"));
    let first = |n: usize, _: usize| format!("V-{}", 3 * n);
    Case { note: first, of_visits: false, ..BY_NAME }
        .check("a row below", Err("column note of patient holds keys of visit in 60 of 60 rows"));
    let next = |_: usize, of: usize| ((of + 1) % 180 + 1).to_string();
    Case { note: next, ..BY_NUMBER }.check("numbers, all of them", Err("holds keys of visit in 180"));
    let sparse = Case {
        patient: |n| (100_000 + 997 * n).to_string(),
        note: |_, of| (100_000 + 997 * ((of + 7) % 60)).to_string(),
        of_visits: false,
        ..BY_NAME
    };
    sparse.check("numbers among few", Err("column note of patient holds keys of patient in 60 of 60 rows"));
}

#[test]
fn numbers_that_are_keys_by_coincidence_are_released() {
    let quantity = |_: usize, of: usize| (of * 7 % 10 + 1).to_string();
    Case { note: quantity, ..BY_NUMBER }.check("a quantity of 1 to 10", Ok(()));
    Case { note: quantity, of_visits: false, ..BY_NUMBER }.check("a patient's", Ok(()));
    // Different for each patient, and each is the key of some visit.
    let amount = |n: usize, _: usize| (n * 7 % 60 + 20).to_string();
    Case { note: amount, of_visits: false, patient: |n| format!("P-{n}"), ..BY_NUMBER }
        .check("an amount of 20 to 79", Ok(()));
    Case { note: |_, _| "P-7".to_owned(), ..BY_NAME }.check("one value", Ok(()));
    Case { note: |_, of| format!("P-{}", of % 4), ..BY_NAME }.check("some keys, many times", Ok(()));
}
