//! What `replace` says of a database: keys that are keyed hashes.
//!
//! Every key of a database gets a new value, the same in all tables that refer to it: numbers, or, where a table's key has
//! `replace = "keyed-hash"`, the first half of HMAC-SHA-256 of the old key under a subkey of the publisher's,
//! another for each table. Then whoever has that
//! key finds a person again in every release under it, and nobody else can. New keys put no rows together that their tables
//! do not put together anyway, and all rows of a person are judged together, so k is what it was.
//!
//! Other identifiers are dropped: a pseudonym that is no key would tell of rows of one person what nothing else tells, or
//! of two persons that they belong together (a household, a physician), which no claim is about.

use std::collections::BTreeSet;

use incog_verify::{ClaimKind, Finding, Labels};

use crate::database::plan::{DatabasePlan, in_table};
use crate::job::{DatabaseJob, Mistakes, RoleJob, TableJob};
use crate::plan::replace::keyed_hash;
use crate::publish::record::Key;

/// Notes what cannot be replaced: all but the keys of tables.
pub(super) fn refuse_others(job: &DatabaseJob, name: &str, table: &TableJob, mistakes: &mut Mistakes) {
    for (column, said) in table.columns.iter().filter(|(_, column)| column.replace.is_some()) {
        let key = ["tables", name, "columns", column.as_str(), "replace"];
        let parent = table.parents().iter().find(|parent| parent.column == *column);
        let (mistake, hint) = if let Some(parent) = parent {
            let mistake = format!("column `{column}` holds keys of table `{}`", parent.table);
            (mistake, "say `replace` at the key of that table: foreign keys follow")
        } else if table.key.as_ref() != Some(column) {
            let mistake = format!("column `{column}` is not the key of its table, and `replace` is for keys");
            (
                mistake,
                "keys of a database get new values, the same for a person in all tables; other identifiers are dropped: leave `replace` out",
            )
        } else if said.role != RoleJob::Identifier {
            (format!("column `{column}` has `replace` and is no identifier"), "write role = \"identifier\"")
        } else {
            continue;
        };
        mistakes.add(job.mistake(&key, in_table(name) + &mistake).with_hint(hint));
    }
}

/// What to tell whoever runs the job.
pub(super) fn notes(plan: &DatabasePlan) -> impl Iterator<Item = String> {
    let hashed = plan.job.tables.keys().filter_map(|table| Some((table, plan.hashed_key(table)?)));
    hashed.map(|(table, key)| {
        format!(
            "{}the key `{key}` has pseudonyms (keyed hashes; whoever has the publisher's key can find a row again): pseudonyms are not anonymity",
            in_table(table)
        )
    })
}

/// What is claimed of keys that are keyed hashes. With the publisher's key they are made anew.
pub(super) fn findings(plan: &DatabasePlan, tables: &[&dyn Labels], key_file: Option<&Key>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (relation, released) in plan.database.relations().iter().zip(tables) {
        let Some(key) = plan.hashed_key(&relation.name) else { continue };
        let header = released.header();
        // That a key is missing is found elsewhere.
        let (Some(at), Some(old)) = (header.iter().position(|name| *name == key), relation.table.column(key))
        else {
            continue;
        };
        let labels: BTreeSet<&str> = released.labels(at).into_iter().collect();
        let (claim, n_wrong) = match key_file {
            Some(key_file) => {
                let subkey = key_file.of_keys(&relation.name);
                let made: BTreeSet<String> =
                    old.dictionary().values().map(|value| keyed_hash(&subkey, value)).collect();
                let claim =
                    format!("{}the key `{key}` has keyed hashes of its values", in_table(&relation.name));
                (claim, labels.iter().filter(|label| !made.contains(**label)).count())
            }
            None => {
                let is_hash =
                    |label: &&&str| label.len() == 32 && label.bytes().all(|byte| byte.is_ascii_hexdigit());
                let claim = format!(
                    "{}the key `{key}` has 32 hexadecimal digits (that they are keyed hashes the key can tell)",
                    in_table(&relation.name)
                );
                (claim, labels.iter().filter(|label| !is_hash(label)).count())
            }
        };
        let found = if n_wrong == 0 { "all are so".to_owned() } else { format!("{n_wrong} are not") };
        findings.push(Finding::new(ClaimKind::Keys, claim, n_wrong == 0, found));
    }
    findings
}
