//! Do rows that can be put together still look like those of others?
//!
//! A column of pseudonyms that repeat says which rows belong to one person. Then it is not enough that each row looks like k - 1 others: whoever
//! knows two rows of somebody looks for a pseudonym that has both. So all rows of a pseudonym are taken together: the combinations of
//! quasi-identifier labels that they have, with how often they have each. Of every such set there must be k pseudonyms.
//!
//! Rows without a pseudonym cannot be put together, and are left to the claim on single rows. Cost: a sort of the rows.

use std::collections::BTreeMap;

use crate::{ClaimKind, Finding, Labels};

/// The claim that all rows of a pseudonym together look like those of k - 1 other pseudonyms.
pub fn linked(released: &dyn Labels, quasi_identifiers: &[String], column: &str, k: u64) -> Finding {
    let claim =
        format!("all rows of a pseudonym of `{column}` together look like those of at least {k} pseudonyms");
    let header = released.header();
    let place = |name: &str| header.iter().position(|other| *other == name);
    let places: Option<Vec<usize>> = quasi_identifiers.iter().map(|name| place(name)).collect();
    let (Some(places), Some(pseudonyms)) = (places, place(column)) else {
        return Finding::new(ClaimKind::Persons, claim, false, "a column is missing");
    };
    // Codes are not trusted: two may stand for one label. Groups are numbered by labels, column by column.
    let mut groups = vec![0_u64; released.n_rows()];
    for place in places {
        let column = released.column(place);
        let mut numbers: BTreeMap<&str, u64> = BTreeMap::new();
        let mut of_pairs: BTreeMap<(u64, u64), u64> = BTreeMap::new();
        for (group, &code) in groups.iter_mut().zip(column.codes.iter()) {
            let next = numbers.len() as u64;
            let label = *numbers.entry(column.labels[code as usize]).or_insert(next);
            let next = of_pairs.len() as u64;
            *group = *of_pairs.entry((*group, label)).or_insert(next);
        }
    }
    let column = released.column(pseudonyms);
    let mut of_pseudonyms: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for (&group, &code) in groups.iter().zip(column.codes.iter()) {
        let pseudonym = column.labels[code as usize];
        if !pseudonym.is_empty() {
            of_pseudonyms.entry(pseudonym).or_default().push(group);
        }
    }
    let mut alike: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
    for mut groups in of_pseudonyms.into_values() {
        groups.sort_unstable();
        *alike.entry(groups).or_default() += 1;
    }
    let least = alike.values().min().copied();
    let few = alike.values().filter(|&&n| n < k).sum::<u64>();
    let found = match least {
        None => "there are no pseudonyms".to_owned(),
        Some(least) if least >= k => format!("the fewest alike are {least}"),
        Some(least) => {
            format!("the fewest alike are {least}; {few} pseudonyms have fewer than {k} like them")
        }
    };
    Finding::new(ClaimKind::Persons, claim, least.is_none_or(|least| least >= k), found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StringTable;

    fn holds(csv: &str, k: u64) -> bool {
        let table = StringTable::parse(csv.as_bytes(), b',').unwrap();
        linked(&table, &["age".to_owned()], "who", k).holds
    }

    #[test]
    fn rows_of_a_pseudonym_are_looked_at_together() {
        // Each row has a twin, but nobody else was 20 and 30.
        assert!(!holds("who,age\n1,20\n1,30\n2,20\n3,30\n", 2));
        assert!(holds("who,age\n1,20\n1,30\n2,30\n2,20\n", 2));
        assert!(!holds("who,age\n1,20\n1,20\n2,20\n", 2), "how often counts");
        assert!(holds("who,age\n,20\n,30\n", 2), "nobody's rows");
        assert!(!holds("who,years\n1,20\n1,20\n", 1), "a column is missing");
    }
}
