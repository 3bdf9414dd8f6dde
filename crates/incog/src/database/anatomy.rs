//! An anatomized release: exact quasi-identifiers, and sensitive values linked to groups instead of rows (section 5.1 of the
//! paper; Xiao and Tao: Anatomy, VLDB 2006).
//!
//! *Promise*: of a row nobody learns more than the sensitive values of its whole group, and those satisfy what is required.
//! *No promise*: k. Quasi-identifiers stay exact, so whoever knows a person's can find their rows.
//!
//! 1. A group is what one node of a cluster's tree stands for: one row of each member.
//! 2. A table loses its sensitive columns and gets the number of its group instead.
//! 3. Each sensitive column becomes a table of its own, `<table>.<column>`: the group's number and the value, a row for each
//!    row of the group. One table a column, so that two sensitive values of a person are not linked to each other.
//!
//! Rows that found no partner are left out as in other releases: no group would hide their values. Numbers of groups are
//! drawn like keys.

use incog_core::relational::{Clustering, Node, Release};
use incog_core::table::{Column, Role};
use incog_core::{Error, Result};
use incog_verify::ReleasedTable;

use crate::database::plan::{DatabasePlan, in_table, is_file_name};
use crate::database::release::{Minted, PublishedCells, TableRelease};

/// The column with the number of a row's group.
pub(crate) const GROUP: &str = "group";

impl DatabasePlan {
    /// The sensitive columns of a table.
    pub(crate) fn sensitive_columns(&self, table: usize) -> impl Iterator<Item = &Column> {
        let columns = self.database.relations()[table].table.columns().iter();
        columns.filter(|column| column.role() == Role::Sensitive)
    }

    /// Fails if a table of an anatomized release would have two columns of one name, or two tables one file.
    pub(crate) fn check_anatomy(&self) -> Result<()> {
        let mut files: Vec<String> =
            self.database.relations().iter().map(|relation| self.file_name(&relation.name, None)).collect();
        for (at, relation) in self.database.relations().iter().enumerate() {
            let refused = |column: &str, problem: &str| {
                let table = in_table(&relation.name);
                Error::input(format!("{table}the column `{column}` {problem} in an anatomized release"))
                    .with_hint("rename it in the data")
            };
            let is_sensitive = self.sensitive_columns(at).next().is_some();
            if is_sensitive && relation.table.column(GROUP).is_some() {
                return Err(refused(GROUP, "is in the way of the number of a row's group"));
            }
            for column in self.sensitive_columns(at) {
                if !is_file_name(column.name()) {
                    return Err(refused(column.name(), "cannot be part of a file's name, as it would be"));
                }
                let file = self.file_name(&relation.name, Some(column.name()));
                if files.contains(&file) {
                    return Err(refused(column.name(), "and another table would have the same file"));
                }
                files.push(file);
            }
        }
        Ok(())
    }

    /// The tables of an anatomized release, with new keys; rows as in the data.
    pub(crate) fn anatomy_of(
        &self,
        release: &Release,
        clustering: &Clustering,
    ) -> Result<Vec<ReleasedTable<TableRelease>>> {
        let minted = self.mint(release)?;
        let mut groups: Vec<Vec<&[u32]>> = vec![Vec::new(); release.tables.len()];
        for cluster in &clustering.clusters {
            self.collect(self.database.person(), cluster, &mut groups);
        }
        let of_table = |table: usize| -> Result<ReleasedTable<TableRelease>> {
            let records = &release.tables[table].records;
            let numbers = Minted::numbers(groups[table].len());
            let mut group_of = vec![0; records.len()];
            for (members, &number) in groups[table].iter().zip(&numbers.codes) {
                for record in *members {
                    if let Ok(at) = records.binary_search(record) {
                        group_of[at] = number;
                    }
                }
            }
            let number = || (GROUP.to_owned(), numbers.with_codes(group_of.clone()));
            let of_columns = |columns| TableRelease::new(self, table, columns, records.len());
            let (mut columns, mut sensitive) = (Vec::new(), Vec::new());
            let relation = &self.database.relations()[table];
            for at in self.released_columns(table) {
                let column = &relation.table.columns()[at];
                let name = column.name().to_owned();
                let kept = || PublishedCells::kept(at, column, records);
                if column.role() == Role::Sensitive {
                    sensitive.push((name.clone(), of_columns(vec![number(), (name, kept())])));
                } else if self.job.tables[&relation.name].is_key(&name) {
                    columns.push((name, self.cells(release, table, at, &minted)?));
                } else {
                    columns.push((name, kept()));
                }
            }
            if !sensitive.is_empty() {
                columns.push(number());
            }
            Ok(ReleasedTable { rows: of_columns(columns), sensitive })
        };
        (0..release.tables.len()).map(of_table).collect()
    }

    fn collect<'a>(&self, table: usize, node: &'a Node, groups: &mut [Vec<&'a [u32]>]) {
        groups[table].push(node.records());
        for (&child, nodes) in self.database.children(table).iter().zip(node.children()) {
            nodes.iter().for_each(|node| self.collect(child, node, groups));
        }
    }
}
