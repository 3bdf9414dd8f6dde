//! What is released of each table?
//!
//! A [`Release`] says for each table which rows appear and what each of their quasi-identifiers becomes. It comes of a
//! [`Clustering`], and then holds the rows that found a partner in every member of their person's cluster; or of one level
//! an attribute for all rows, as the paper's approaches for single tables have it. It is plain data: whoever writes it
//! mints new keys, and a verifier that has never heard of clusters decides whether it may be written.
//!
//! Cost: one sort of the released rows of each table.

use crate::relational::{Clustering, Database, Label, Node};

/// What is released, table by table, in the order of [`Database::relations`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// The tables.
    pub tables: Vec<ReleasedTable>,
}

/// What is released of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleasedTable {
    /// The original rows that are released, ascending.
    pub records: Vec<u32>,
    /// For each quasi-identifier, in the order of [`Database::attributes`], the label of each released row.
    pub labels: Vec<Vec<Label>>,
}

impl Release {
    /// Every record of every node of every cluster, with the node's labels.
    pub fn of_clusters(database: &Database, clustering: &Clustering) -> Release {
        let mut rows = vec![Vec::new(); database.relations().len()];
        for cluster in &clustering.clusters {
            collect(database, database.person(), cluster, &mut rows);
        }
        let table = |(table, mut rows): (usize, Vec<(u32, &[Label])>)| {
            rows.sort_unstable_by_key(|&(record, _)| record);
            debug_assert!(rows.windows(2).all(|pair| pair[0].0 < pair[1].0), "a record is in two nodes");
            let of_attribute = |at: usize| rows.iter().map(|(_, labels)| labels[at]).collect();
            ReleasedTable {
                records: rows.iter().map(|&(record, _)| record).collect(),
                labels: (0..database.attributes(table).len()).map(of_attribute).collect(),
            }
        };
        Release { tables: rows.into_iter().enumerate().map(table).collect() }
    }

    /// Every row of every table, with the label of one level for each attribute: `levels[table][attribute]`.
    ///
    /// # Panics
    /// If there is no level for an attribute, or it is above the hierarchy.
    pub fn of_levels(database: &Database, levels: &[Vec<u8>]) -> Release {
        let of_table = |table: usize| {
            let of_attribute = |at: usize| {
                let level = levels[table][at];
                let codes = database.attributes(table)[at].labels_at(level);
                let label = |&value: &u32| Label { level, code: codes[value as usize] };
                database.column(table, at).codes().iter().map(label).collect()
            };
            ReleasedTable {
                records: (0..database.relations()[table].table.n_rows() as u32).collect(),
                labels: (0..database.attributes(table).len()).map(of_attribute).collect(),
            }
        };
        Release { tables: (0..database.relations().len()).map(of_table).collect() }
    }
}

fn collect<'a>(database: &Database, table: usize, node: &'a Node, rows: &mut [Vec<(u32, &'a [Label])>]) {
    rows[table].extend(node.records().iter().map(|&record| (record, node.labels())));
    for (&child, nodes) in database.children(table).iter().zip(node.children()) {
        for node in nodes {
            collect(database, child, node, rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;
    use crate::relational::samples::students;
    use crate::relational::{Options, Pairing, miracle};

    /// The released rows of a table: the original row and its labels.
    fn text(database: &Database, release: &Release, table: usize) -> Vec<String> {
        let ReleasedTable { records, labels } = &release.tables[table];
        let row = |(at, record): (usize, &u32)| {
            let of_attribute = labels.iter().zip(database.attributes(table)).map(|(labels, attribute)| {
                attribute.hierarchy().labels(labels[at].level).value(labels[at].code)
            });
            format!("{record} {}", of_attribute.collect::<Vec<_>>().join(","))
        };
        records.iter().enumerate().map(row).collect()
    }

    #[test]
    fn rows_of_clusters_stand_in_row_order_and_those_without_a_partner_are_gone() {
        let database = Database::new(students(), "student").unwrap();
        let options = Options { pairing: Pairing::Subtree, ..Options::new(2) };
        let clustering = miracle(&database, &options, &Progress::new()).unwrap();
        let release = Release::of_clusters(&database, &clustering);
        assert_eq!(text(&database, &release, 0), ["0 ", "1 ", "2 ", "3 "]);
        // The paper's Table 4: SC7, the course Math of S3, has no partner.
        assert_eq!(
            text(&database, &release, 1),
            [
                "0 Science",
                "1 Physics",
                "2 Social",
                "3 Science",
                "4 Physics",
                "5 Social",
                "7 History",
                "8 Religion",
                "9 History",
                "10 Religion"
            ]
        );
        // Neither B2, the book Calc of S1, nor B8, that of the removed course.
        assert_eq!(
            text(&database, &release, 2),
            [
                "0 Discrete",
                "2 Dyn",
                "3 Social-Book",
                "4 Discrete",
                "5 Dyn",
                "6 Social-Book",
                "8 Social-Book",
                "9 WorldRel",
                "10 Social-Book",
                "11 WorldRel"
            ]
        );
    }

    #[test]
    fn of_levels_keeps_every_row_and_generalizes_all_alike() {
        let database = Database::new(students(), "student").unwrap();
        let release = Release::of_levels(&database, &[vec![], vec![1], vec![2]]);
        let sizes: Vec<usize> = release.tables.iter().map(|table| table.records.len()).collect();
        assert_eq!(sizes, [4, 11, 12]);
        assert_eq!(text(&database, &release, 1)[..4], ["0 Science", "1 Science", "2 Social", "3 Science"]);
        assert!(text(&database, &release, 2).iter().all(|row| row.ends_with(" *")));
    }
}
