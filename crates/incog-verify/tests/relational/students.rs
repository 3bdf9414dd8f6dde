//! The paper's students, for tests of releases that were made from them.

use incog_verify::{DatabaseClaims, Hierarchy, SensitiveClaim, StringTable, TableClaims};

pub(crate) fn table(text: &str) -> StringTable {
    StringTable::parse(text.as_bytes(), b',').unwrap()
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Lines `value;level 1;...`, all levels allowed.
pub(crate) fn hierarchy(lines: &str) -> Hierarchy {
    let paths = lines.lines().map(|line| {
        let path: Vec<String> = line.split(';').map(str::to_owned).collect();
        (path[0].clone(), path)
    });
    Hierarchy { levels: (0..8).collect(), paths: paths.collect() }
}

/// The students of the paper (Nergiz et al. 2009, table 3), as `shared/data/students` completes them.
pub(crate) const STUDENTS: [&str; 3] = [
    "sid,gpa\nS1,3.72\nS2,2.34\nS3,2.71\nS4,4.00\n",
    "scid,sid,course,grade\nSC1,S1,Math,93\nSC2,S1,Physics,91\nSC3,S1,History,85\nSC4,S2,CS,78\nSC5,S2,Physics,66\n\
     SC6,S2,Religion,71\nSC7,S3,Math,74\nSC8,S3,History,80\nSC9,S3,Religion,69\nSC10,S4,History,98\nSC11,S4,Religion,97\n",
    "bid,scid,book,price\nB1,SC1,Discrete,60\nB2,SC2,Calc,75\nB3,SC2,Dyn,80\nB4,SC3,Eur.Hist,40\nB5,SC4,Discrete,55\n\
     B6,SC5,Dyn,82\nB7,SC6,World Rel,35\nB8,SC7,Calc,70\nB9,SC8,Eur.Hist,42\nB10,SC9,World Rel,33\nB11,SC10,Am.Hist,45\n\
     B12,SC11,World Rel,36\n",
];

pub(crate) const COURSES: &str =
    "Math;Science;*\nPhysics;Science;*\nCS;Science;*\nHistory;Social;*\nReligion;Social;*";
pub(crate) const BOOKS: &str = "Discrete;Science-Book;*\nCalc;Science-Book;*\nDyn;Science-Book;*\nAm.Hist;Social-Book;*\n\
                     Eur.Hist;Social-Book;*\nWorld Rel;Social-Book;*";

/// Students, the courses they take and their books. Sensitive columns have two values in every set.
pub(crate) fn students(k: u64) -> DatabaseClaims<'static> {
    let table = |columns: &[&str], parent: Option<(&str, &str)>, name: &str| TableClaims {
        name: name.into(),
        columns: Some(strings(columns)),
        key: Some(columns[0].into()),
        parent: parent.map(|(table, column)| (table.into(), column.into())),
        quasi_identifiers: columns.get(2).map(|&column| column.into()).into_iter().collect(),
        sensitive: vec![SensitiveClaim {
            distinct_l: Some(2),
            ..SensitiveClaim::measured(*columns.last().unwrap())
        }],
    };
    DatabaseClaims {
        person: "student".into(),
        k,
        suppression: None,
        tables: vec![
            table(&["sid", "gpa"], None, "student"),
            table(&["scid", "sid", "course", "grade"], Some(("student", "sid")), "takes"),
            table(&["bid", "scid", "book", "price"], Some(("takes", "scid")), "book"),
        ],
        source: None,
    }
}
