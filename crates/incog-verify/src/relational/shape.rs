//! How do the tables hang together, and where do the columns that matter stand?
//!
//! Claims may be wrong or hostile like the files: parents that do not exist or form a cycle, names that stand twice, a
//! column with two roles. What is built here is sound: every table is reached from the person table, once, and every
//! position is one of its header.

use super::{DatabaseClaims, TableClaims};
use crate::hash;
use crate::{ClaimKind, Finding, Labels, SensitiveClaim};

/// Trees of rows are compared by recursion, table below table; deeper ones are refused.
pub(super) const MAX_DEPTH: usize = 64;

/// The tables as a tree.
///
/// # Invariants
/// `order` has every table once, parents before their children.
#[derive(Debug)]
pub(super) struct Shape {
    /// The person table.
    pub(super) root: usize,
    /// For each table the one it hangs below.
    pub(super) parents: Vec<Option<usize>>,
    /// For each table those directly below it.
    pub(super) children: Vec<Vec<usize>>,
    /// Parents before children.
    pub(super) order: Vec<usize>,
}

impl Shape {
    pub(super) fn of(claims: &DatabaseClaims<'_>) -> Result<Shape, Finding> {
        Shape::build(claims).map_err(|found| Finding {
            kind: ClaimKind::Structure,
            claim: format!("the tables form a snowflake below {}", claims.person),
            found,
            holds: false,
        })
    }

    fn build(claims: &DatabaseClaims<'_>) -> Result<Shape, String> {
        let tables = &claims.tables;
        let mut by_name: hash::Map<&str, usize> = hash::Map::default();
        for (table, claim) in tables.iter().enumerate() {
            if by_name.insert(&claim.name, table).is_some() {
                return Err(format!("two tables are named {}", claim.name));
            }
        }
        let root = *by_name.get(claims.person.as_str()).ok_or("that table is not there")?;
        let mut parents = Vec::with_capacity(tables.len());
        let mut children = vec![Vec::new(); tables.len()];
        for (table, claim) in tables.iter().enumerate() {
            match (&claim.parent, table == root) {
                (Some(_), true) => return Err("that table has a parent".into()),
                (None, false) => return Err(format!("{} has no parent", claim.name)),
                (None, true) => parents.push(None),
                (Some((name, _)), false) => {
                    let parent = *by_name
                        .get(name.as_str())
                        .ok_or_else(|| format!("the parent of {} is not there", claim.name))?;
                    if tables[parent].key.is_none() {
                        return Err(format!("{name} has a table below it and no key"));
                    }
                    children[parent].push(table);
                    parents.push(Some(parent));
                }
            }
        }
        let mut order = vec![root];
        let mut depths = vec![1; tables.len()];
        let mut at = 0;
        while let Some(&table) = order.get(at) {
            at += 1;
            for &child in &children[table] {
                depths[child] = depths[table] + 1;
                if depths[child] > MAX_DEPTH {
                    return Err(format!("tables stand more than {MAX_DEPTH} deep"));
                }
                order.push(child);
            }
        }
        // Each has one parent, so what is not reached hangs on a cycle.
        if order.len() < tables.len() {
            return Err(format!("{} tables are not connected with it", tables.len() - order.len()));
        }
        Ok(Shape { root, parents, children, order })
    }
}

/// Where the columns of a table stand.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) key: Option<usize>,
    pub(super) foreign: Option<usize>,
    pub(super) quasi: Vec<usize>,
    /// Sensitive columns; empty where they were not asked for.
    pub(super) sensitive: Vec<usize>,
}

impl Columns {
    /// Keys and foreign keys come in any case.
    fn keys(&self) -> [Option<usize>; 2] {
        [self.key, self.foreign]
    }

    /// Is it a key of its table or of the parent? Those are minted anew for a release.
    pub(super) fn is_key(&self, at: usize) -> bool {
        self.keys().contains(&Some(at))
    }
}

/// Which columns are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sought {
    /// All that have a role.
    All,
    /// All but sensitive ones, which stand elsewhere.
    NotSensitive,
    /// Keys and foreign keys.
    Keys,
}

/// Finds the columns that have a role. `which` says whose tables they are, in words.
pub(super) fn find_columns(
    tables: &[&dyn Labels],
    claims: &[TableClaims],
    sought: Sought,
    which: &str,
) -> Result<Vec<Columns>, Finding> {
    let (mut missing, mut twice) = (Vec::new(), Vec::new());
    let mut all = Vec::with_capacity(claims.len());
    for (table, claims) in tables.iter().zip(claims) {
        let header = table.header();
        let mut find = |name: &str| {
            let mut places = header.iter().enumerate().filter(|(_, column)| **column == name);
            let first = places.next();
            match (first, places.next()) {
                (None, _) => missing.push(format!("{}.{name}", claims.name)),
                (_, Some(_)) => twice.push(format!("{}.{name}", claims.name)),
                _ => {}
            }
            first.map_or(0, |(at, _)| at)
        };
        let key = claims.key.as_deref().map(&mut find);
        let foreign = claims.parent.as_ref().map(|(_, column)| find(column));
        let quasi = match sought {
            Sought::Keys => Vec::new(),
            _ => claims.quasi_identifiers.iter().map(|name| find(name)).collect(),
        };
        let sensitive = match sought {
            Sought::All => sensitive_columns(claims).iter().map(|(name, _)| find(name)).collect(),
            _ => Vec::new(),
        };
        all.push(Columns { key, foreign, quasi, sensitive });
    }
    if !missing.is_empty() {
        return Err(Finding {
            kind: ClaimKind::Structure,
            claim: format!("every column that has a role is a column of its {which} table"),
            found: format!("there is no {}", missing.join(", ")),
            holds: false,
        });
    }
    if !twice.is_empty() {
        return Err(Finding {
            kind: ClaimKind::Structure,
            claim: format!("no other column of a {which} table has the name of one that has a role"),
            found: format!("{} stand twice", twice.join(", ")),
            holds: false,
        });
    }
    Ok(all)
}

/// Sensitive columns in the order of their first claims, with all claims of each.
pub(super) fn sensitive_columns(claims: &TableClaims) -> Vec<(&str, Vec<&SensitiveClaim>)> {
    let mut columns: Vec<(&str, Vec<&SensitiveClaim>)> = Vec::new();
    for claim in &claims.sensitive {
        match columns.iter_mut().find(|(name, _)| *name == claim.column) {
            Some((_, claims)) => claims.push(claim),
            None => columns.push((&claim.column, vec![claim])),
        }
    }
    columns
}

/// A column cannot be a key, a quasi-identifier and sensitive at once.
pub(super) fn roles_differ(claims: &[TableClaims]) -> Result<(), Finding> {
    for table in claims {
        let is_key = |name: &String| {
            table.key.as_ref() == Some(name)
                || table.parent.as_ref().is_some_and(|(_, column)| column == name)
        };
        let quasi = &table.quasi_identifiers;
        let mut sensitive = table.sensitive.iter().map(|claim| &claim.column);
        let second_role = quasi
            .iter()
            .find(|name| is_key(name))
            .or(sensitive.find(|name| is_key(name) || quasi.contains(name)));
        if let Some(name) = second_role {
            return Err(Finding {
                kind: ClaimKind::Structure,
                claim: "a column is a key, a quasi-identifier or sensitive, not two of these".into(),
                found: format!("{}.{name} has two roles", table.name),
                holds: false,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StringTable;

    fn table(name: &str, key: &str, parent: Option<(&str, &str)>) -> TableClaims {
        TableClaims {
            name: name.into(),
            columns: None,
            key: (!key.is_empty()).then(|| key.into()),
            parent: parent.map(|(table, column)| (table.into(), column.into())),
            quasi_identifiers: vec![],
            sensitive: vec![],
        }
    }

    fn shape(tables: Vec<TableClaims>) -> Result<Shape, String> {
        let claims = DatabaseClaims { person: "p".into(), k: 1, suppression: None, tables, source: None };
        Shape::of(&claims).map_err(|finding| finding.found)
    }

    #[test]
    fn parents_come_before_children_in_whatever_order_they_are_claimed() {
        let tables = vec![
            table("c", "", Some(("b", "bid"))),
            table("b", "bid", Some(("p", "pid"))),
            table("p", "pid", None),
            table("d", "", Some(("p", "pid"))),
        ];
        let shape = shape(tables).unwrap();
        assert_eq!((shape.root, shape.order), (2, vec![2, 1, 3, 0]));
        assert_eq!(shape.parents, [Some(1), Some(2), None, Some(2)]);
        assert_eq!(shape.children, [vec![], vec![0], vec![1, 3], vec![]]);
    }

    #[test]
    fn tables_that_are_no_snowflake_are_refused() {
        let p = || table("p", "pid", None);
        let below = |name: &str, parent: &str| table(name, "id", Some((parent, "x")));
        assert_eq!(shape(vec![]).unwrap_err(), "that table is not there");
        assert_eq!(shape(vec![p(), p()]).unwrap_err(), "two tables are named p");
        assert_eq!(shape(vec![below("p", "p")]).unwrap_err(), "that table has a parent");
        assert_eq!(shape(vec![p(), table("b", "", None)]).unwrap_err(), "b has no parent");
        assert_eq!(shape(vec![p(), below("b", "x")]).unwrap_err(), "the parent of b is not there");
        assert_eq!(
            shape(vec![p(), below("b", "c"), below("c", "b"), below("d", "d")]).unwrap_err(),
            "3 tables are not connected with it"
        );
        assert_eq!(
            shape(vec![table("p", "", None), below("b", "p")]).unwrap_err(),
            "p has a table below it and no key"
        );
        let mut deep = vec![p()];
        for depth in 1..=MAX_DEPTH {
            let parent = deep[depth - 1].name.clone();
            deep.push(below(&format!("t{depth}"), &parent));
        }
        assert_eq!(shape(deep).unwrap_err(), "tables stand more than 64 deep");
    }

    #[test]
    fn columns_with_a_role_stand_once() {
        let claims = TableClaims {
            quasi_identifiers: vec!["q".into()],
            sensitive: vec![SensitiveClaim::measured("s"), SensitiveClaim::measured("s")],
            ..table("p", "id", None)
        };
        let find = |header: &str, sought: Sought| {
            let table = StringTable::parse(header.as_bytes(), b',').unwrap();
            find_columns(&[&table], std::slice::from_ref(&claims), sought, "released")
                .map(|columns| (columns[0].key, columns[0].quasi.clone(), columns[0].sensitive.clone()))
                .map_err(|finding| finding.found)
        };
        assert_eq!(find("o,s,id,q,o\n", Sought::All), Ok((Some(2), vec![3], vec![1])));
        assert_eq!(find("s,q\n", Sought::All), Err("there is no p.id".into()));
        assert_eq!(find("id\n", Sought::All), Err("there is no p.q, p.s".into()));
        assert_eq!(find("id,q\n", Sought::NotSensitive), Ok((Some(0), vec![1], vec![])));
        assert_eq!(find("id\n", Sought::Keys), Ok((Some(0), vec![], vec![])));
        assert_eq!(find("id,q,s,q\n", Sought::All), Err("p.q stand twice".into()));
    }

    #[test]
    fn a_column_has_one_role() {
        let roles = |key: &str, quasi: &str, sensitive: &str| {
            let claims = TableClaims {
                quasi_identifiers: vec![quasi.into()],
                sensitive: vec![SensitiveClaim::measured(sensitive)],
                ..table("t", key, Some(("p", "pid")))
            };
            roles_differ(&[claims]).is_ok()
        };
        assert!(roles("id", "q", "s"));
        assert!(roles("pid", "q", "s"), "a table with at most one row a parent may share its key");
        assert!(!roles("q", "q", "s"));
        assert!(!roles("id", "pid", "s"));
        assert!(!roles("id", "q", "q"));
        assert!(!roles("id", "q", "id"));
    }
}
