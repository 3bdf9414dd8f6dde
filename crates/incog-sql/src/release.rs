//! The release, written where the rows are.
//!
//! **Promise.** The target has, for each row of the table whose group is not refused, one row with the label of each quasi-identifier at its
//! level and all other released columns as they are, in an order that the engine draws. Nobody else sees it before
//! [`commit`](crate::Engine::commit).
//!
//! **Essence.** One statement: the table joined with the dimensions that labels or refused groups take, without the rows whose masked
//! key is among the refused ones, sorted by what the engine draws at random. A column at level 0 is released as it is, with its type;
//! any other is text.

use incog_core::Result;
use incog_core::lattice::Grouping;

use crate::Engine;
use crate::Relation;
use crate::star::{Star, analyze, column};

const REFUSED: &str = "incog_refused";

/// A released column.
#[derive(Debug, Clone)]
pub struct ReleasedColumn {
    /// Its name.
    pub name: String,
    /// The quasi-identifier whose labels it has, by its number; nothing where it is released as it is.
    pub labels_of: Option<usize>,
}

/// What is to be released.
pub struct Recoded<'a> {
    /// The released columns, in order.
    pub columns: &'a [ReleasedColumn],
    /// The level of each quasi-identifier, as its hierarchy's levels are counted here.
    pub levels: &'a [u8],
    /// The labels of each group that is left out.
    pub refused: &'a mut dyn Iterator<Item = Vec<u32>>,
}

impl std::fmt::Debug for Recoded<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recoded").field("levels", &self.levels).finish_non_exhaustive()
    }
}

/// Writes the release into a table that is not there yet; `table` is its name as it stands in statements.
pub(crate) fn write(
    engine: &mut dyn Engine,
    star: &Star,
    of: &Relation,
    table: &str,
    recoded: Recoded<'_>,
) -> Result<()> {
    let Recoded { columns, levels, refused } = recoded;
    let grouping = Grouping::of_levels(levels);
    let mut needed: Vec<usize> = Vec::new();
    let condition = refused_rows(engine, star, &grouping, refused, &mut needed)?;
    let mut selected = Vec::new();
    for released in columns {
        let name = engine.dialect().identifier(&released.name);
        selected.push(match released.labels_of {
            None => column(engine, &released.name),
            Some(at) => {
                let (label, takes_dimension) = star.label(engine, at, levels[at]);
                if takes_dimension {
                    needed.push(at);
                }
                format!("{label} AS {name}")
            }
        });
    }
    needed.sort_unstable();
    needed.dedup();
    let joins: String = needed.iter().map(|&at| star.join(engine, at)).collect();
    let random = engine.dialect().random();
    let query =
        format!("SELECT {} FROM {}{joins}{condition} ORDER BY {random}", selected.join(", "), of.from());
    let statement = engine.dialect().create(table, &query);
    engine.run("writing the release", &statement)
}

/// Notes the keys of refused groups in the engine. Returns the condition that leaves their rows out, and adds the dimensions that it takes.
fn refused_rows(
    engine: &mut dyn Engine,
    star: &Star,
    grouping: &Grouping,
    refused: &mut dyn Iterator<Item = Vec<u32>>,
    needed: &mut Vec<usize>,
) -> Result<String> {
    let mut refused = refused.peekable();
    if refused.peek().is_none() {
        return Ok(String::new());
    }
    let masks = star.words.masks(grouping);
    let used: Vec<usize> = (0..masks.len()).filter(|&word| masks[word] != 0).collect();
    let names: Vec<String> = (0..masks.len()).map(|word| format!("k{word}")).collect();
    let dialect = engine.dialect();
    engine.run("making the table of refused groups", &dialect.create_empty(REFUSED, &[], &names))?;
    let mut failed = Ok(());
    let mut rows = refused.map_while(|labels| match star.words.words(&labels, grouping) {
        Ok(words) => Some(words.into_iter().map(|word| Some(word.to_string())).collect()),
        Err(error) => {
            failed = Err(error);
            None
        }
    });
    engine.fill("filling the table of refused groups", &dialect.temporary(REFUSED), &mut rows)?;
    failed?;
    analyze(engine, REFUSED)?;
    let mut equal = Vec::new();
    for word in used {
        let (key, dimensions) = star.words_of_row(word);
        needed.extend(dimensions);
        equal.push(format!("r.k{word} = ({key} & {})", masks[word]));
    }
    let is_equal = if equal.is_empty() { String::new() } else { format!(" WHERE {}", equal.join(" AND ")) };
    Ok(format!(" WHERE NOT EXISTS (SELECT FROM {} AS r{is_equal})", dialect.temporary(REFUSED)))
}
