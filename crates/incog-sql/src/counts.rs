//! Counts of groups, from the table of keys.
//!
//! **Promise.** Every answer is the one that the same rows in memory would give.
//!
//! **Essence.** If all groups at level 0 fit the room, they are fetched once, with what is demanded, and all other answers are merged from
//! them here. Whether they fit is first estimated from a sample of the keys (by how many keys the sample has once, as Haas and Stokes do
//! it), and noticed where the estimate was too low. If they do not fit, each node is a `GROUP BY key & mask`:
//!
//! - [`sizes`](FrequencySource::sizes) tells how many groups have how many rows: a short answer, which is enough to refuse a node for its
//!   small groups. Only nodes that pass are fetched as groups, and those have few.
//! - A node that has much fewer groups than what it was counted from is kept as a temporary table, and nodes above it are counted from the
//!   smallest of those below them: the paper's roll-up and its super-roots.
//!
//! **Cost.** Fetching: a pass over the keys, and as many rows of 16 to 32 bytes as there are groups. Judging in the engine: a pass over the
//! smallest set below each node.

use std::sync::{Arc, Mutex, MutexGuard};

use incog_core::frequency::{CountedGroup, FrequencySet, FrequencySource, KeyLayout, Method, Scratch};
use incog_core::group::Demand;
use incog_core::lattice::Grouping;
use incog_core::{Error, Result};

use crate::engine::{SharedEngine, lock};
use crate::star::{KEYS, Star, analyze, too_many};
use crate::{Cell, Kind};

/// What a group takes while it is fetched and merged, in bytes.
const BYTES_OF_A_GROUP: u64 = 96;

/// Rows of the sample that tells how many groups there are.
const SAMPLE: f64 = 50_000.0;

/// A node is kept as a table where it has at most this part of the rows that it was counted from.
const KEPT_PART: u64 = 4;

/// Counts keys in an engine.
#[derive(Debug)]
pub struct Counts {
    engine: SharedEngine,
    star: Arc<Star>,
    layout: Arc<KeyLayout>,
    /// For each attribute whose lowest level is ruled out, the rows of each value.
    values: Vec<Option<Vec<u64>>>,
    /// How many bytes of groups may be here.
    room: u64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Do all groups fit? Not known at first.
    fits: Option<bool>,
    /// All groups at level 0, with what was demanded.
    bottoms: Vec<(Demand, FrequencySet)>,
    /// Sets of groups in the engine.
    kept: Vec<Kept>,
}

/// A set of groups in a temporary table.
#[derive(Debug, Clone)]
struct Kept {
    table: String,
    grouping: Grouping,
    /// Which sensitive columns, and whether persons, it has.
    columns: Vec<String>,
    n_groups: u64,
}

impl Counts {
    pub(crate) fn new(
        engine: SharedEngine,
        star: Arc<Star>,
        layout: Arc<KeyLayout>,
        values: Vec<Option<Vec<u64>>>,
        room: u64,
    ) -> Self {
        Counts { engine, star, layout, values, room, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// How many groups there is room for.
    fn most_groups(&self) -> u64 {
        self.room / BYTES_OF_A_GROUP
    }

    /// Do all groups at level 0 fit, as far as can be told before they are fetched?
    fn fits(&self, state: &mut State) -> Result<bool> {
        if let Some(fits) = state.fits {
            return Ok(fits);
        }
        let n_rows = self.star.n_rows;
        let fits = n_rows <= self.most_groups() || self.estimate()? <= self.most_groups();
        state.fits = Some(fits);
        Ok(fits)
    }

    /// About how many groups there are at level 0.
    fn estimate(&self) -> Result<u64> {
        let n_rows = self.star.n_rows as f64;
        let percent = (100.0 * SAMPLE / n_rows).clamp(0.000_001, 100.0);
        let mut engine = lock(&self.engine);
        let words: Vec<String> = (0..self.star.words.n_words()).map(|word| format!("k{word}")).collect();
        let words = words.join(", ");
        let query = format!(
            "SELECT coalesce(sum(n), 0)::bigint, count(*), count(*) FILTER (WHERE n = 1) \
             FROM (SELECT count(*) AS n FROM {} GROUP BY {words}) AS g",
            engine.dialect().sample(KEYS, percent)
        );
        let (mut rows, mut groups, mut once) = (0.0, 0.0, 0.0);
        engine.rows("estimating how many groups there are", &query, &[Kind::Number; 3], &mut |cells| {
            (rows, groups, once) =
                (cells[0].count()? as f64, cells[1].count()? as f64, cells[2].count()? as f64);
            Ok(())
        })?;
        let estimate = if rows > 0.0 { rows * groups / (rows - once + once * rows / n_rows) } else { n_rows };
        Ok(estimate.min(n_rows) as u64)
    }

    /// The columns beside the words that a demand is answered from, and how they are asked for.
    fn columns(&self, demand: &Demand) -> Vec<String> {
        let mut columns = Vec::new();
        // Where persons are counted, a value that nobody has is none.
        let of_somebody = self.star.has_persons && !demand.histograms.is_empty();
        if demand.persons || !demand.persons_by_value.is_empty() || of_somebody {
            columns.push("p".to_owned());
        }
        for at in 0..self.star.n_sensitive {
            if demand.histograms.contains(&at) || demand.persons_by_value.contains(&at) {
                columns.push(format!("s{at}"));
            }
        }
        columns
    }

    /// The smallest set that a grouping can be counted from.
    fn smallest<'a>(&self, state: &'a State, grouping: &Grouping, columns: &[String]) -> Option<&'a Kept> {
        let serves = |kept: &&Kept| {
            grouping.generalizes(&kept.grouping) && columns.iter().all(|column| kept.columns.contains(column))
        };
        state.kept.iter().filter(serves).min_by_key(|kept| kept.n_groups)
    }

    /// What a grouping is counted from: the table, and what counts its rows.
    fn counted_from(
        &self,
        state: &State,
        grouping: &Grouping,
        columns: &[String],
    ) -> (String, &'static str, u64) {
        let engine = lock(&self.engine);
        match self.smallest(state, grouping, columns) {
            Some(kept) => (engine.dialect().temporary(&kept.table), "sum(n)::bigint", kept.n_groups),
            None => (engine.dialect().temporary(KEYS), "count(*)", self.star.n_rows),
        }
    }

    /// A query for the groups of a grouping: its masked words, then other columns, then the count of rows.
    fn query(
        &self,
        grouping: &Grouping,
        columns: &[String],
        from: &str,
        count: &str,
    ) -> (String, Vec<usize>) {
        let masks = self.star.words.masks(grouping);
        let used: Vec<usize> = (0..masks.len()).filter(|&word| masks[word] != 0).collect();
        let words = used.iter().map(|&word| format!("k{word} & {} AS k{word}", masks[word]));
        let selected: Vec<String> = words.chain(columns.iter().cloned()).collect();
        let places: Vec<String> = (1..=selected.len()).map(|place| place.to_string()).collect();
        let mut query = format!("SELECT {}", selected.join(", "));
        if !selected.is_empty() {
            query += ", ";
        }
        query += &format!("{count} AS n FROM {from}");
        if !places.is_empty() {
            query += &format!(" GROUP BY {}", places.join(", "));
        }
        (query, used)
    }

    /// The groups of a grouping, or nothing if they are more than `most` entries.
    fn fetch(
        &self,
        state: &State,
        grouping: &Grouping,
        demand: &Demand,
        most: Option<u64>,
    ) -> Result<Option<FrequencySet>> {
        let columns = self.columns(demand);
        let (from, count, _) = self.counted_from(state, grouping, &columns);
        let (mut query, used) = self.query(grouping, &columns, &from, count);
        if let Some(most) = most {
            query += &format!(" LIMIT {}", most.saturating_add(1));
        }
        let kinds = vec![Kind::Number; used.len() + columns.len() + 1];
        let mut words = vec![0; self.star.words.n_words()];
        let (mut labels, mut n_entries) = (Vec::new(), 0_u64);
        let mut rows: Vec<u64> = Vec::new();
        let mut flat: Vec<u32> = Vec::new();
        let mut groups: Vec<CountedGroup> = Vec::new();
        let is_plain = demand.counts_rows_only();
        lock(&self.engine).rows("counting groups", &query, &kinds, &mut |cells| {
            n_entries += 1;
            for (&word, cell) in used.iter().zip(cells) {
                words[word] = cell.count()?;
            }
            self.star.words.labels(&words, grouping, &mut labels)?;
            let n = cells[cells.len() - 1].count()?;
            if is_plain {
                flat.extend_from_slice(&labels);
                rows.push(n);
                return Ok(());
            }
            let facts = &cells[used.len()..cells.len() - 1];
            groups.push(counted(labels.clone(), n, &columns, facts, demand, self.star.has_persons)?);
            Ok(())
        })?;
        if most.is_some_and(|most| n_entries > most) {
            return Ok(None);
        }
        if !is_plain {
            return FrequencySet::from_counted(&self.layout, grouping, demand, groups).map(Some);
        }
        let width = grouping.iter().count();
        let groups = rows.iter().enumerate().map(|(at, &n)| (&flat[at * width..(at + 1) * width], n));
        // Without rows there is no group, also of no attributes.
        let groups = groups.filter(|&(_, n)| n > 0);
        FrequencySet::from_groups(&self.layout, grouping, groups).map(Some)
    }

    /// All groups at level 0; nothing if they do not fit.
    fn bottom<'a>(&self, state: &'a mut State, demand: &Demand) -> Result<Option<&'a FrequencySet>> {
        if !self.fits(state)? {
            return Ok(None);
        }
        let is_it = |(other, _): &(Demand, FrequencySet)| counts_alike(other, demand);
        if let Some(at) = state.bottoms.iter().position(is_it) {
            return Ok(Some(&state.bottoms[at].1));
        }
        let bottom = Grouping::of_levels(&vec![0; self.layout.heights().len()]);
        let most = self.most_groups().max(self.star.n_rows.min(1 << 16));
        match self.fetch(state, &bottom, demand, Some(most))? {
            Some(set) => {
                state.bottoms.push((demand.clone(), set));
                Ok(state.bottoms.last().map(|(_, set)| set))
            }
            None => {
                state.fits = Some(false);
                Ok(None)
            }
        }
    }

    /// Keeps the groups of a grouping in the engine where that is worth it.
    fn keep(&self, state: &mut State, grouping: &Grouping, columns: &[String], n_groups: u64) -> Result<()> {
        let (from, count, n_from) = self.counted_from(state, grouping, columns);
        if n_groups > n_from / KEPT_PART {
            return Ok(());
        }
        let table = format!("incog_f{}", state.kept.len());
        let (query, used) = self.query(grouping, columns, &from, count);
        let mut engine = lock(&self.engine);
        // All words are there, so that every grouping above can be asked for.
        let zeros = (0..self.star.words.n_words()).filter(|word| !used.contains(word));
        let zeros: String = zeros.map(|word| format!(", 0::bigint AS k{word}")).collect();
        let query = format!("SELECT f.*{zeros} FROM ({query}) AS f");
        let statement = engine.dialect().create_temporary(&table, &query);
        engine.run("keeping groups", &statement)?;
        analyze(&mut **engine, &table)?;
        drop(engine);
        state.kept.push(Kept { table, grouping: *grouping, columns: columns.to_vec(), n_groups });
        Ok(())
    }
}

/// One entry of an answer, as far as a demand asks for it.
fn counted(
    labels: Vec<u32>,
    rows: u64,
    columns: &[String],
    facts: &[Cell<'_>],
    demand: &Demand,
    has_persons: bool,
) -> Result<CountedGroup> {
    let fact = |name: &str| match columns.iter().position(|column| column == name) {
        Some(at) => facts[at].number().map(Some),
        None => Ok(None),
    };
    let code = |number: i64| u32::try_from(number).map_err(|_| too_many("persons or values"));
    let person = fact("p")?.filter(|&person| person >= 0).map(code).transpose()?;
    let value = |at: usize| match fact(&format!("s{at}"))? {
        Some(value) => code(value),
        None => Err(Error::new(incog_core::ErrorKind::Internal, "a sensitive column was not asked for")),
    };
    let mut group = CountedGroup { labels, rows, ..CountedGroup::default() };
    if demand.persons {
        group.persons.extend(person);
    }
    // What nobody has counts for nobody.
    let is_about_nobody = has_persons && person.is_none();
    for &at in &demand.histograms {
        group.histograms.push(if is_about_nobody { Vec::new() } else { vec![(value(at)?, rows)] });
    }
    for &at in &demand.persons_by_value {
        let pair = person.map(|person| Ok::<_, Error>((value(at)?, person))).transpose()?;
        group.persons_by_value.push(pair.into_iter().collect());
    }
    Ok(group)
}

/// Do two demands ask for the same counts?
fn counts_alike(a: &Demand, b: &Demand) -> bool {
    (a.persons, &a.histograms, &a.persons_by_value) == (b.persons, &b.histograms, &b.persons_by_value)
}

impl FrequencySource for Counts {
    fn layout(&self) -> &Arc<KeyLayout> {
        &self.layout
    }

    fn n_rows(&self) -> u64 {
        self.star.n_rows
    }

    fn count(&self, grouping: &Grouping, demand: &Demand, _: Method) -> Result<FrequencySet> {
        let mut state = self.state();
        if let Some(bottom) = self.bottom(&mut state, demand)? {
            return Ok(bottom.roll_up(grouping, &mut Scratch::default()));
        }
        let set = self.fetch(&state, grouping, demand, None)?;
        let set = set.ok_or_else(|| too_many("groups"))?;
        if demand.counts_rows_only() {
            let n_groups = set.n_groups() as u64;
            self.keep(&mut state, grouping, &[], n_groups)?;
        }
        Ok(set)
    }

    fn room(&self) -> Option<u64> {
        Some(self.room)
    }

    fn rows_of_values(&self, attribute: usize) -> Option<&[u64]> {
        self.values.get(attribute)?.as_deref()
    }

    fn tells_sizes(&self) -> bool {
        // Whoever cannot say is asked for groups, and tells then what is wrong.
        !self.fits(&mut self.state()).unwrap_or(true)
    }

    fn sizes(&self, grouping: &Grouping, by_persons: bool) -> Result<Option<Vec<(u64, u64)>>> {
        let mut state = self.state();
        if self.fits(&mut state)? {
            return Ok(None);
        }
        let columns = if by_persons { vec!["p".to_owned()] } else { Vec::new() };
        let (from, count, _) = self.counted_from(&state, grouping, &columns);
        let count = if by_persons { "count(DISTINCT p) FILTER (WHERE p >= 0)" } else { count };
        let (groups, _) = self.query(grouping, &[], &from, count);
        let query = format!("SELECT n, count(*) FROM ({groups}) AS g GROUP BY n");
        let mut sizes = Vec::new();
        lock(&self.engine).rows("judging a node", &query, &[Kind::Number; 2], &mut |cells| {
            sizes.push((cells[0].count()?, cells[1].count()?));
            Ok(())
        })?;
        sizes.sort_unstable();
        if !by_persons {
            let n_groups = sizes.iter().map(|(_, groups)| groups).sum();
            self.keep(&mut state, grouping, &[], n_groups)?;
        }
        Ok(Some(sizes))
    }
}
