//! Local recoding from the top down (Top-Down of Wong, Li, Fu, Wang: (α,k)-Anonymity, KDD 2006).
//!
//! *Promise*: every group of the release is one that the policy admits, and no group could be specialized further: for
//! no group of the release and no attribute does the step below specialize a row.
//!
//! 1. Start with every attribute at its top: one group (or one for each combination of top labels).
//! 2. *Step*: specialize a group by one attribute, one level down, into branches. Rows of branches that the policy
//!    refuses go back to the parent. If the rows at the parent are then refused, further rows go back that their branches
//!    can spare, one at a time:
//!    - one whose sensitive values, with it, would have the smallest share of their rows at the parent (D'Hondt's rule;
//!      then the first values in order): the parent comes to look like the whole group, which is admitted. But if one
//!      more row is enough, one of those that are (tried are the 32 combinations of values with the smallest shares);
//!    - among these the one that could be specialized by the fewest other attributes (the look-ahead), then the latest;
//!      a row that its branch cannot spare when its turn comes, or whose person is at the parent already, stays for good.
//!
//!    If no row is left to take, whole branches go back, smallest first, until the parent is admitted, and spare rows
//!    return that are no longer needed. If all branches go back the step is not made.
//! 3. The attribute that specializes most rows wins; then the one with fewest branches; then the first.
//! 4. Go on with the branches and with the rows left at the parent until no step specializes a row.
//! 5. Groups that have come to the same labels on different ways are one in the release: join them and go on with those.
//!
//! With [`LookAhead::Full`] "could be specialized" is found out as in the paper: the branches of the step are specialized to the end
//! (with the look-ahead of a step), and those rows go back first that were specialized the fewest times. Of equal rows that
//! were not specialized alike, the fewest times count.
//!
//! Differs from the paper: (1) any policy that is closed under merging, with any number of sensitive columns, not only
//! (α,k); (2) its look-ahead specializes all branches to the end, ours by default asks for a single step by each other attribute in
//! the group as a whole, since a step that runs the whole algorithm for each of its trials takes long; (3) rows left
//! at a parent are tried again, which is what makes the second half of the promise true; (4) steps into a single branch,
//! which no other step beats, are all done at once.
//!
//! Sound because a step changes groups only into admitted ones, and groups that meet in step 5 are admitted together
//! under every policy with [`Closure::Merge`]. It ends because each step specializes a row, and each joining leaves fewer
//! groups.
//!
//! Suppression: none, except that groups which are refused even at the top are left out if the budget allows.
//!
//! Cost: rows are looked at once, to find the cells ([`Records::cells`]); then every step costs some passes over
//! the cells of its group. Memory: two numbers a record, some numbers a cell and attribute; where memory is limited, records may be on a disk, and
//! what does not fit is refused with the need.
//!
//! [`Records::cells`]: crate::frequency::Records::cells

mod ground;
mod queue;
mod step;

use std::sync::{Mutex, PoisonError};

use rayon::Scope;

use crate::algorithm::contract::Setting;
use crate::algorithm::contract::{Algorithm, Answer, Claimed, ColumnNeeds, Family, Task};
use crate::algorithm::quality::{Found, Quality};
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::cells_for;
use crate::hash;
use crate::judge::Problem;
use crate::privacy::{Closure, Policy};
use crate::progress::Progress;
use crate::recoding::PerGroup;
use crate::registry::{Entry, Status};
use ground::Ground;
use step::{LocalGroup, Part, Step, split};

/// How to search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TopDownOptions {
    /// Breaks ties at random: which of equally good attributes is specialized, and which of equally good rows go back.
    /// The same seed gives the same recoding. Without one, the first attribute and the latest row.
    pub seed: Option<u64>,
    /// How rows are chosen that go back to their parent.
    pub look_ahead: LookAhead,
}

/// How far to look ahead where rows go back to their parent: those go first that would not get far anyway.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LookAhead {
    /// One step by each other attribute, in the group as a whole.
    #[default]
    Step,
    /// To the end: each branch is specialized as far as it goes, and a row's specializations are counted. As the paper has it; every
    /// step that rows go back in then costs a whole run on its branches.
    Full,
}

/// Groups with fewer parts are not worth a task of their own.
const TASK_FROM: usize = 2048;

/// Recodes every group of records as little as the policy allows, greedily.
///
/// `None` if the policy refuses the table with every attribute at its top, that is, if more rows than the budget are in
/// refused groups there. Fails when the policy is not closed under merging, when the source has counts only, or when it is
/// cancelled.
pub fn top_down(
    problem: Problem<'_>,
    options: TopDownOptions,
    progress: &Progress,
) -> Result<Option<PerGroup>> {
    let Problem { source, policy } = problem;
    if policy.closure() == Closure::None {
        return Err(Error::new(
            ErrorKind::Policy,
            format!(
                "top-down cannot promise {}: groups that satisfy it may violate it together",
                policy.describe()
            ),
        )
        .with_hint("choose a full-domain algorithm such as incognito"));
    }
    policy.check_without_labels("top-down")?;
    let instead = "choose a full-domain algorithm such as incognito";
    let mut cells = cells_for(source, &policy.demand(), "top-down", instead)?;
    let chance = options.seed.map(Chance);
    let lateness = |cell: u32| chance.map_or(u64::from(cell), |chance| chance.number([1, u64::from(cell)]));
    let ground = Ground::new(&cells, source.layout(), lateness);
    let of_record = std::mem::take(&mut cells.of_record);
    drop(cells);
    let search = TopDown { ground: &ground, policy, chance, look_ahead: options.look_ahead, progress };

    let mut pending = search.top_groups();
    let suppressed = search.refused(&mut pending)?;
    if suppressed.iter().map(LocalGroup::rows).sum::<u64>() > policy.budget() {
        return Ok(None);
    }
    let mut finished: hash::Map<Box<[u32]>, LocalGroup> = hash::Map::default();
    while !pending.is_empty() {
        let mut joined: hash::Map<Box<[u32]>, LocalGroup> = hash::Map::default();
        for mut group in search.descend(pending)? {
            let name = group.name(&ground);
            let other = finished.remove(&name).or_else(|| joined.remove(&name));
            match other {
                None => finished.insert(name, group),
                Some(other) => {
                    group.parts.extend(other.parts);
                    joined.insert(name, group)
                }
            };
        }
        pending = joined.into_values().collect();
        for group in &mut pending {
            group.parts.sort_unstable();
        }
    }
    let groups: Vec<LocalGroup> = finished.into_values().collect();
    assign(&groups, &ground, &of_record, chance).map(Some)
}

struct TopDown<'a> {
    ground: &'a Ground,
    policy: &'a Policy,
    chance: Option<Chance>,
    look_ahead: LookAhead,
    progress: &'a Progress,
}

impl TopDown<'_> {
    /// All rows with every attribute at its top.
    fn top_groups(&self) -> Vec<LocalGroup> {
        let levels: Box<[u8]> = self.ground.trees.iter().map(|tree| tree.height).collect();
        let n_cells = self.ground.rows.len() as u32;
        let label = |cell: u32, attribute: usize| self.ground.label(cell, attribute, levels[attribute]);
        let has_several =
            |&attribute: &usize| (1..n_cells).any(|cell| label(cell, attribute) != label(0, attribute));
        let several: Vec<usize> = (0..levels.len()).filter(has_several).collect();
        let mut groups: hash::Map<Vec<u32>, Vec<Part>> = hash::Map::default();
        for (&rows, cell) in self.ground.rows.iter().zip(0..) {
            let labels = several.iter().map(|&attribute| label(cell, attribute)).collect();
            groups.entry(labels).or_default().push(Part { cell, first: 0, end: rows });
        }
        groups.into_values().map(|parts| LocalGroup { levels: levels.clone(), parts }).collect()
    }

    /// Removes the groups that the policy refuses.
    fn refused(&self, groups: &mut Vec<LocalGroup>) -> Result<Vec<LocalGroup>> {
        let (mut admitted, mut refused) = (Vec::new(), Vec::new());
        let mut measured = crate::group::ChangingGroup::new(&self.policy.demand());
        for group in groups.drain(..) {
            measured.clear();
            for part in &group.parts {
                measured.push(self.ground.facts(part.cell), u64::from(part.rows()));
            }
            measured.settle();
            if self.policy.admits(measured.group())? { &mut admitted } else { &mut refused }.push(group);
        }
        *groups = admitted;
        Ok(refused)
    }

    /// Specializes the groups until nothing more can be.
    fn descend(&self, groups: Vec<LocalGroup>) -> Result<Vec<LocalGroup>> {
        let finished = Mutex::new(Ok(Vec::new()));
        rayon::scope(|scope| {
            for group in groups {
                scope.spawn(|scope| self.work(scope, group, &finished));
            }
        });
        finished.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// One task: a group and all that comes from it, except what is large enough for tasks of its own.
    fn work<'scope>(
        &'scope self,
        scope: &Scope<'scope>,
        group: LocalGroup,
        finished: &'scope Mutex<Result<Vec<LocalGroup>>>,
    ) {
        let mut done = Vec::new();
        let result = self.specialize(group, &mut done, |group| {
            scope.spawn(|scope| self.work(scope, group, finished));
        });
        let mut finished = finished.lock().unwrap_or_else(PoisonError::into_inner);
        match (result, &mut *finished) {
            (Ok(()), Ok(groups)) => groups.extend(done),
            (Err(error), all @ Ok(_)) => *all = Err(error),
            (_, Err(_)) => {}
        }
    }

    fn specialize(
        &self,
        group: LocalGroup,
        done: &mut Vec<LocalGroup>,
        spawn: impl Fn(LocalGroup),
    ) -> Result<()> {
        let mut step = Step::new(self.ground, self.policy, self.look_ahead, self.progress);
        let mut waiting = vec![group];
        while let Some(mut group) = waiting.pop() {
            self.progress.check()?;
            group.lower(self.ground);
            let hash = self.chance.map(|chance| chance.of_group(&group, self.ground));
            let tie = |attribute: usize| hash.map_or(0, |hash| hash.number([attribute as u64]));
            let Some(outcome) = step.best(&group, tie)? else {
                done.push(group);
                continue;
            };
            for part in split(&group, &outcome, self.ground) {
                if part.parts.len() >= TASK_FROM {
                    spawn(part);
                } else {
                    waiting.push(part);
                }
            }
        }
        Ok(())
    }
}

/// Says for every record which group it is in.
fn assign(
    groups: &[LocalGroup],
    ground: &Ground,
    of_record: &[u32],
    chance: Option<Chance>,
) -> Result<PerGroup> {
    // The parts of each cell of the source, in the order of their rows.
    let mut parts: Vec<(u32, Part, u32)> = Vec::new();
    for (group, number) in groups.iter().zip(0..) {
        parts.extend(group.parts.iter().map(|part| (ground.origins[part.cell as usize], *part, number)));
    }
    parts.sort_unstable();
    let n_cells = ground.rows.len();
    let mut starts = vec![0_usize; n_cells + 1];
    for &(origin, _, _) in &parts {
        starts[origin as usize + 1] += 1;
    }
    for cell in 0..n_cells {
        starts[cell + 1] += starts[cell];
    }
    let group_at = |cell: u32, row: u32| {
        let parts = &parts[starts[cell as usize]..starts[cell as usize + 1]];
        let at = parts.partition_point(|(_, part, _)| part.end <= row);
        parts.get(at).map(|&(_, _, group)| group)
    };
    let levels: Vec<&[u8]> = groups.iter().map(|group| &*group.levels).collect();
    let Some(chance) = chance else {
        let mut next = vec![0_u32; n_cells];
        let of_record = of_record.iter().map(|&cell| {
            next[cell as usize] += 1;
            group_at(cell, next[cell as usize] - 1)
        });
        return PerGroup::new(ground.trees.len(), &levels, of_record);
    };
    let ranks = ranks(of_record, n_cells, chance);
    let of_record = of_record.iter().zip(ranks).map(|(&cell, row)| group_at(cell, row));
    PerGroup::new(ground.trees.len(), &levels, of_record)
}

/// The position of each record among those of its cell, at random.
fn ranks(of_record: &[u32], n_cells: usize, chance: Chance) -> Vec<u32> {
    let mut next = vec![0_u32; n_cells];
    let mut rank = |&cell: &u32| {
        next[cell as usize] += 1;
        next[cell as usize] - 1
    };
    let mut order: Vec<u32> = (0..of_record.len() as u32).collect();
    order.sort_unstable_by_key(|&record| (chance.number([2, u64::from(record)]), record));
    let mut ranks = vec![0; of_record.len()];
    for record in order {
        ranks[record as usize] = rank(&of_record[record as usize]);
    }
    ranks
}

/// Numbers that look random and depend on nothing but the seed and what they are asked for (SplitMix64: Steele, Lea,
/// Flood, OOPSLA 2014).
#[derive(Debug, Clone, Copy)]
struct Chance(u64);

impl Chance {
    fn number<const N: usize>(self, words: [u64; N]) -> u64 {
        words.into_iter().fold(mix(self.0), |number, word| mix(number ^ mix(word)))
    }

    /// Other numbers for every group.
    fn of_group(self, group: &LocalGroup, ground: &Ground) -> Chance {
        let words = group.name(ground).into_iter().map(u64::from).chain([group.rows()]);
        Chance(words.fold(self.0, |number, word| Chance(number).number([3, word])))
    }
}

fn mix(word: u64) -> u64 {
    let mut z = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// How it is listed and run.
pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "top-down",
    summary: "local recoding: specializes groups of rows, each as far as the policy allows",
    reference: "Wong, Li, Fu, Wang: (α,k)-Anonymity, KDD 2006",
    doc: include_str!("top_down.md"),
    status: Status::Preview,
    item: Algorithm {
        family: Family::Local,
        columns: ColumnNeeds::Nothing,
        settings: &[Setting::Seed, Setting::LookAhead],
        claim: |_| Claimed::Local,
        traversal: None,
        run,
    },
};

fn run(task: &Task<'_>) -> Result<Option<Answer>> {
    let options = TopDownOptions { seed: task.settings.seed, look_ahead: task.settings.look_ahead };
    let found = top_down(task.problem, options, task.progress)?;
    Ok(found.map(|recoding| Answer::of_groups(Found { recoding, quality: Quality::Heuristic })))
}
