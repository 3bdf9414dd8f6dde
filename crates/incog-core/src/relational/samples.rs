//! The paper's students, filled in where its text is silent, for the tests beside the code.

use crate::hierarchy::{Attribute, ExplicitHierarchy, Hierarchy};
use crate::relational::{ForeignKey, Relation};
use crate::table::{Column, Role, Table};

/// A table from words: a header and rows, cells separated by commas.
pub(super) fn relation(
    name: &str,
    words: &str,
    key: Option<&str>,
    refers_to: Option<(&str, &str)>,
    quasi_identifiers: &[&str],
) -> Relation {
    let rows: Vec<Vec<&str>> = words.split(' ').map(|row| row.split(',').collect()).collect();
    let column = |(at, &header): (usize, &&str)| {
        let role = if quasi_identifiers.contains(&header) { Role::QuasiIdentifier } else { Role::Other };
        Column::from_cells(header, role, rows[1..].iter().map(|row| row[at])).unwrap()
    };
    let columns: Vec<Column> = rows[0].iter().enumerate().map(column).collect();
    let attribute = |header: &&str| {
        let column = columns.iter().find(|column| column.name() == *header).unwrap();
        Attribute::bind(column, hierarchy(header, column), "dgh").unwrap()
    };
    Relation {
        name: name.to_owned(),
        attributes: quasi_identifiers.iter().map(attribute).collect(),
        key: key.map(str::to_owned),
        foreign_keys: refers_to
            .map(|(column, table)| ForeignKey { column: column.to_owned(), table: table.to_owned() })
            .into_iter()
            .collect(),
        table: Table::new(columns).unwrap(),
    }
}

fn hierarchy(name: &str, column: &Column) -> Hierarchy {
    let branches: &[(&str, &[&str])] = match name {
        "course" => &[("Science", &["Math", "Physics", "CS"]), ("Social", &["History", "Religion"])],
        "book" => &[
            ("Science-Book", &["Discrete", "Calc", "Dyn"]),
            ("Social-Book", &["Am.Hist", "Eur.Hist", "WorldRel"]),
        ],
        _ => return Hierarchy::suppression(column.dictionary().values()),
    };
    let mut rows = ExplicitHierarchy::new(name, "dgh");
    let leaves = branches.iter().flat_map(|&(branch, leaves)| leaves.iter().map(move |&leaf| (leaf, branch)));
    for (at, (leaf, branch)) in leaves.enumerate() {
        rows.push(at as u64 + 1, [leaf, branch, "*"]).unwrap();
    }
    rows.finish().unwrap()
}

/// student → takes → book.
pub(super) fn students() -> Vec<Relation> {
    let takes = "scid,sid,course,grade SC1,S1,Math,93 SC2,S1,Physics,91 SC3,S1,History,85 SC4,S2,CS,78 \
                 SC5,S2,Physics,66 SC6,S2,Religion,71 SC7,S3,Math,74 SC8,S3,History,80 SC9,S3,Religion,69 \
                 SC10,S4,History,98 SC11,S4,Religion,97";
    let book = "bid,scid,book B1,SC1,Discrete B2,SC2,Calc B3,SC2,Dyn B4,SC3,Eur.Hist B5,SC4,Discrete B6,SC5,Dyn \
                B7,SC6,WorldRel B8,SC7,Calc B9,SC8,Eur.Hist B10,SC9,WorldRel B11,SC10,Am.Hist B12,SC11,WorldRel";
    vec![
        relation("student", "sid,gpa S1,3.72 S2,2.34 S3,2.71 S4,4.00", Some("sid"), None, &[]),
        relation("takes", takes, Some("scid"), Some(("sid", "student")), &["course"]),
        relation("book", book, Some("bid"), Some(("scid", "takes")), &["book"]),
    ]
}
