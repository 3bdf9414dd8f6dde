//! The release beside its input, recoded at some levels.

use super::*;

/// What came of comparing a release with its input, recoded.
pub(super) struct Judged {
    pub(super) best: Mismatch,
    pub(super) levels: Vec<usize>,
    pub(super) outcome: Outcome,
}

/// How a release differs from the input recoded at some levels.
#[derive(Default)]
pub(super) struct Mismatch {
    pub(super) strange_rows: u64,
    pub(super) first_strange_row: Option<usize>,
    pub(super) partial_groups: u64,
    pub(super) needless_groups: u64,
    pub(super) fewest_persons: Option<u64>,
    /// The sizes of all released groups, added up.
    pub(super) size_of_groups: u64,
}

impl Mismatch {
    pub(super) fn severity(&self) -> u64 {
        self.strange_rows + self.partial_groups + self.needless_groups
    }

    /// Has every group enough persons, where they are counted?
    pub(super) fn has_persons(&self, k: u64) -> bool {
        self.fewest_persons.is_none_or(|persons| persons >= k)
    }
}

/// The release beside its input.
pub(super) struct Comparison<'a> {
    pub(super) release: &'a dyn Labels,
    pub(super) source: &'a Source<'a>,
    /// The quasi-identifiers among the released columns.
    pub(super) quasi: &'a [usize],
    /// Where each released column stands in the input.
    pub(super) origins: &'a [usize],
    /// The column of the input that says whom a row is about.
    pub(super) unit: Option<usize>,
    /// The released rows by their quasi-identifiers.
    pub(super) groups: &'a Groups,
    pub(super) k: u64,
    /// Is k claimed of combinations of quasi-identifiers? Then the size of a group does not tell whether it had to go.
    pub(super) by_combinations: bool,
    /// Claims for which groups may have been left out, and where their columns stand in the input.
    pub(super) refusals: &'a [(usize, &'a SensitiveClaim)],
}

/// Input rows and released groups by the labels of the quasi-identifiers.
pub(super) struct Recoded {
    /// All groups are below.
    pub(super) n_groups: usize,
    /// The number of each released group.
    pub(super) of_group: Vec<u32>,
    pub(super) of_input_row: Vec<u32>,
    /// The released rows of each group.
    pub(super) released: Vec<u32>,
}

/// A quasi-identifier, its labels numbered.
pub(super) struct Numbered {
    /// The number of each released group's label.
    pub(super) representatives: Vec<u32>,
    /// The number of the label that an input row's code is recoded to.
    pub(super) of_collected: Vec<u32>,
}

impl Comparison<'_> {
    /// Compares at the levels that are claimed, then at those that fit, until everything holds. `collected` is how often each
    /// value of a quasi-identifier occurs. Where nothing holds, what comes closest is told.
    pub(super) fn judge(
        &self,
        possible: &[Vec<usize>],
        collected: &[hash::Map<&str, u64>],
        claims: &Claims<'_>,
    ) -> Judged {
        let closest: RefCell<Option<(u64, Mismatch, Vec<usize>)>> = RefCell::default();
        let compare = |levels: &[usize], is_only: bool| {
            let mismatch = self.at(levels);
            let mut severity = mismatch.severity() + u64::from(!mismatch.has_persons(self.k));
            if severity == 0 && !is_only {
                severity += u64::from(!self.persons_hold(levels, claims));
            }
            let mut closest = closest.borrow_mut();
            if closest.as_ref().is_none_or(|(least, ..)| severity < *least) {
                *closest = Some((severity, mismatch, levels.to_vec()));
            }
            severity == 0
        };
        let is_possible = |levels: &Vec<usize>| {
            levels.len() == possible.len()
                && levels.iter().zip(possible).all(|(level, possible)| possible.contains(level))
        };
        let first: Vec<usize> = possible.iter().map(|levels| levels[0]).collect();
        let outcome = if possible.iter().all(|levels| levels.len() == 1) {
            compare(&first, true);
            Outcome::None
        } else if let RecodingClaim::Levels(levels) = &self.source.recoding
            && is_possible(levels)
            && compare(levels, false)
        {
            Outcome::Accepted
        } else {
            self.search(possible, collected, |levels| compare(levels, false))
        };
        if outcome == Outcome::None && closest.borrow().is_none() {
            for levels in combinations(possible, MAX_COMPARED) {
                compare(&levels, true);
            }
        }
        let (_, best, levels) = closest.into_inner().unwrap_or((0, Mismatch::default(), first));
        Judged { best, levels, outcome }
    }

    /// Looks for levels that `accepts` accepts.
    fn search(
        &self,
        possible: &[Vec<usize>],
        collected: &[hash::Map<&str, u64>],
        accepts: impl FnMut(&[usize]) -> bool,
    ) -> Outcome {
        let Comparison { release, source, quasi, origins, .. } = *self;
        let columns: Vec<levels::LevelColumn> = (0..quasi.len())
            .map(|column| {
                let (at, hierarchy) = (quasi[column], &source.hierarchies[column]);
                levels::LevelColumn::new(
                    &possible[column],
                    &release.labels(at),
                    &source.input.labels(origins[at]),
                    |value| collected[column].contains_key(value),
                    |value, level| recoded(hierarchy, value, level),
                )
            })
            .collect();
        let n_rows = (release.n_rows() + source.input.n_rows()) as u64;
        let cost = n_rows.saturating_mul(origins.len() as u64);
        // Groups that were left out are judged by their size alone, unless somebody else has a say.
        let by_size = self.unit.is_none() && self.refusals.is_empty() && !self.by_combinations;
        let most_left_out = self.k.checked_sub(1).filter(|_| by_size);
        let tables = Tables { release, input: source.input, quasi, origins };
        levels::search(tables, &columns, most_left_out, levels::MAX_WORK, cost, accepts)
    }

    /// Does everything hold that is claimed of persons with sensitive values, at these levels?
    fn persons_hold(&self, levels: &[usize], claims: &Claims<'_>) -> bool {
        let is_meant = |claim: &&SensitiveClaim| claim.counted == Counted::Persons && claim.has_threshold();
        let mut meant = claims.sensitive.iter().filter(is_meant).peekable();
        if meant.peek().is_none() {
            return true;
        }
        let Some(people) = self.people(levels) else {
            return false;
        };
        let header = self.source.input.header();
        meant.all(|claim| {
            header.iter().position(|name| *name == claim.column).is_some_and(|at| {
                let column = self.source.input.column(at);
                let mut found = Vec::new();
                sensitive::check(&Histograms::new(&column, &people.released()), &[claim], &mut found);
                found.iter().all(|finding| finding.holds)
            })
        })
    }

    pub(super) fn recoded(&self, levels: &[usize]) -> Recoded {
        let input = self.source.input;
        let with_levels = self.quasi.par_iter().zip(&self.source.hierarchies).zip(levels);
        let (numbered, radices): (Vec<Numbered>, Vec<usize>) = with_levels
            .map(|((&at, hierarchy), &level)| {
                let (released, collected) = (self.release.labels(at), input.labels(self.origins[at]));
                let recoded = collected.iter().map(|&value| recoded(hierarchy, value, level));
                let mut numbers = Numbers::default();
                let of_released = numbers.all(released.iter().copied());
                let of_collected = numbers.all(recoded);
                let mut representatives = codes_of(self.release, at, &self.groups.first_rows);
                renumber(&mut representatives, &of_released);
                (Numbered { representatives, of_collected }, numbers.len())
            })
            .unzip();
        // One representative of each released group, then all input rows, recoded.
        let n_first = self.groups.len();
        let mut keys = Keys::new(n_first + input.n_rows());
        keys.fold_rows(&radices, |column, first, to| {
            let Numbered { representatives, of_collected } = &numbered[column];
            let of_groups = &representatives[first.min(n_first)..(first + to.len()).min(n_first)];
            let (to_groups, to_rows) = to.split_at_mut(of_groups.len());
            to_groups.copy_from_slice(of_groups);
            input.codes_from(
                self.origins[self.quasi[column]],
                (first + of_groups.len()).saturating_sub(n_first),
                to_rows,
            );
            renumber(to_rows, of_collected);
        });
        let both = keys.into_groups();
        let n_groups = both.len();
        let mut of_group = both.of_row;
        let of_input_row = of_group.split_off(self.groups.len());
        let mut released = vec![0_u32; n_groups];
        for (&group, rows) in of_group.iter().zip(self.groups.sizes()) {
            released[group as usize] = rows;
        }
        Recoded { n_groups, of_group, of_input_row, released }
    }

    /// Who is in which group, at these levels.
    pub(super) fn people(&self, levels: &[usize]) -> Option<People> {
        let persons = Persons::of_column(&self.source.input.column(self.unit?));
        let Recoded { n_groups, of_input_row, released, .. } = self.recoded(levels);
        Some(People {
            groups: of_input_row,
            n_groups,
            is_released: released.iter().map(|&rows| rows > 0).collect(),
            persons,
        })
    }

    /// Is a suppressed group enough to tell whether it had to be? Not if others matter, or persons who are not known.
    pub(super) fn judges_groups(&self) -> bool {
        let is_judged = |claim: &SensitiveClaim| {
            !claim.compares_with_release() && (claim.counted == Counted::Rows || self.unit.is_some())
        };
        !self.by_combinations && self.refusals.iter().all(|(_, claim)| is_judged(claim))
    }

    /// What is claimed of suppressed rows, and what was found.
    pub(super) fn suppression(&self, mismatch: &Mismatch) -> (&'static str, String) {
        let Mismatch { partial_groups, needless_groups, .. } = mismatch;
        if !self.judges_groups() {
            let found = format!("{} released in part", counted(*partial_groups, "group is", "groups are"));
            return ("suppressed rows are whole groups", found);
        }
        if self.refusals.is_empty() {
            let found = format!(
                "{} released in part, {} large enough",
                counted(*partial_groups, "group is", "groups are"),
                counted(*needless_groups, "was", "were")
            );
            return ("suppressed rows are whole groups, each too small to be published", found);
        }
        let found = format!(
            "{} released in part, {needless_groups} might have been published",
            counted(*partial_groups, "group is", "groups are")
        );
        ("suppressed rows are whole groups, each too small or refused by a claim", found)
    }

    /// How many of some groups, which are large enough, need not have been left out.
    pub(super) fn needless(&self, recoded: &Recoded, mut is_open: Vec<bool>) -> u64 {
        let is_any = |is_open: &[bool]| is_open.iter().any(|&is_open| is_open);
        if !is_any(&is_open) || !self.judges_groups() {
            return 0;
        }
        let persons = self.unit.map(|unit| Persons::of_column(&self.source.input.column(unit)));
        for (at, claim) in self.refusals {
            if !is_any(&is_open) {
                break;
            }
            let column = self.source.input.column(*at);
            let histograms = Histograms::new(
                &column,
                &Grouped {
                    of_row: &recoded.of_input_row,
                    n_groups: recoded.n_groups,
                    kept: Some(&is_open),
                    persons: persons.as_ref().filter(|_| claim.counted != Counted::Rows),
                },
            );
            let mut refused = Vec::new();
            histograms.each_group(|group| {
                if claim.explains_suppression(group, &histograms.labels) {
                    refused.push(group.group_idx);
                }
            });
            for group_idx in refused {
                is_open[group_idx] = false;
            }
        }
        is_open.iter().filter(|&&is_open| is_open).count() as u64
    }

    pub(super) fn at(&self, levels: &[usize]) -> Mismatch {
        let input = self.source.input;
        let mut mismatch = Mismatch::default();
        let recoded = self.recoded(levels);
        let Recoded { n_groups, of_group, of_input_row, released } = &recoded;
        let n_groups = *n_groups;
        let collected = count(of_input_row, n_groups);

        let others: Vec<usize> = (0..self.origins.len()).filter(|at| !self.quasi.contains(at)).collect();
        let of_released_row = self.groups.of_row.iter().map(|&group| of_group[group as usize]);
        if others.is_empty() {
            let mut left = collected.clone();
            mismatch.use_up(&mut left, of_released_row);
        } else {
            let numbers = of_released_row.chain(of_input_row.iter().copied());
            let mut keys = Keys::from_numbers(numbers, n_groups);
            for at in others {
                let (released, collected) = (self.release.column(at), input.column(self.origins[at]));
                let mut numbers = Numbers::default();
                let of_released = numbers.all(released.labels.iter().copied());
                let of_collected = numbers.all(collected.labels.iter().copied());
                keys.fold(
                    &[(&released.codes, &of_released), (&collected.codes, &of_collected)],
                    numbers.len(),
                );
            }
            let rows = keys.into_groups();
            let (of_released_row, of_input_row) = rows.of_row.split_at(self.release.n_rows());
            let mut left = count(of_input_row, rows.len());
            mismatch.use_up(&mut left, of_released_row.iter().copied());
        }

        let persons =
            self.unit.map(|unit| Persons::of_column(&input.column(unit)).of_groups(of_input_row, n_groups));
        let mut is_large_enough = vec![false; n_groups];
        for (group, (&rows, &released)) in collected.iter().zip(released).enumerate() {
            // A group that the input does not have: its rows are strange, and counted as such.
            if rows == 0 {
                continue;
            }
            let size = u64::from(persons.as_ref().map_or(rows, |persons| persons[group]));
            if released == 0 {
                is_large_enough[group] = size >= self.k;
                continue;
            }
            mismatch.partial_groups += u64::from(released != rows);
            mismatch.size_of_groups += size;
            mismatch.fewest_persons = Some(mismatch.fewest_persons.map_or(size, |least| least.min(size)));
        }
        mismatch.needless_groups = self.needless(&recoded, is_large_enough);
        mismatch
    }
}

impl Mismatch {
    /// Takes a row from what is left for each released one.
    fn use_up(&mut self, left: &mut [u32], released: impl Iterator<Item = u32>) {
        for (row_idx, row) in released.enumerate() {
            match &mut left[row as usize] {
                0 => {
                    self.strange_rows += 1;
                    self.first_strange_row.get_or_insert(row_idx);
                }
                n => *n -= 1,
            }
        }
    }
}
