//! `incog anonymize`: the best release, verified and written.

use std::borrow::Cow;

use incog_core::algorithm::{
    Algorithm, Coverage, Quality, best_first, has_best_first_search, has_optimum_search,
    is_quicker_best_first, optimum,
};
use incog_core::check::{Problem, refused_rows};
use incog_core::frequency::{FrequencySet, Method};
use incog_core::hierarchy::Attribute;
use incog_core::lattice::{Grouping, Lattice};
use incog_core::metric::{self, Costs, Statistics};
use incog_core::privacy::Pruning;
use incog_core::recoding::{PerLevel, Recoding, Side};
use incog_core::registry::find;
use incog_core::table::Role;
use incog_core::{Error, ErrorKind, Result, Stage, Watch};
use incog_verify::{Labels, RecodingClaim, Report, Verified, verify, verify_in_order};

use crate::compare::FULL_DOMAIN;
use crate::decide::Settled;
use crate::hierarchies;
use crate::key_file::{KeyOnDisk, RunKey};
use crate::local::{LocalRelease, LocalSearch, NodeSearch, Recoded};
use crate::plan::Plan;
use crate::published::{Better, Judged, Published};
use crate::record::{Cost, Record, Seen};
use crate::settings::LimitSettings;
use crate::sink::{self, Finished, Layout, NewFolder, Unfinished};
use crate::spill::{Spilled, SpilledInput, SpilledRelease};
use crate::verification::{Collected, Released, claims, not_verified};

/// What came of a job.
#[derive(Debug)]
pub enum Anonymized {
    /// A release was written.
    Published(Box<Published>),
    /// No generalization satisfies the policy; nothing was written.
    Impossible(String),
}

/// The best node, and nodes with the rows that would be suppressed there, as far as they are known.
struct Choice {
    statistics: Statistics,
    known: Vec<(Vec<u8>, u64)>,
    /// Nodes that were judged one by one because pruning is unsound.
    left_open: Option<u64>,
    /// Whether it is the best node.
    quality: Quality,
    /// How many nodes were judged, of how many.
    judged: Option<Judged>,
    /// Its groups, as far as they are known.
    groups: Option<FrequencySet>,
}

/// How a release is to be found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum How {
    /// By the plan's traversal of the lattice.
    Lattice,
    /// As one node.
    Node(NodeSearch),
    /// Not by whole columns.
    Local(LocalSearch),
}

/// What came of trying to find a release.
pub(crate) enum Attempt<'a> {
    /// One that may be written.
    Made(Box<Made<'a>>),
    /// Nothing satisfies the policy.
    Impossible(String),
}

/// A release that may be written.
pub(crate) struct Made<'a> {
    verified: Verified<Box<dyn Labels + Send + 'a>>,
    /// What the checker found, persons included.
    report: Report,
    pub(crate) statistics: Statistics,
    /// Whether there is no better one of its kind, by the plan's metric.
    pub(crate) quality: Quality,
    /// How many nodes were judged, of how many.
    judged: Option<Judged>,
    /// Whether each attribute is as collected.
    as_collected: Vec<bool>,
    better: Vec<Better>,
    /// What else there is to say.
    notes: Vec<String>,
    /// What is known of a local recoding.
    local: Option<LocalRelease>,
    /// What it is scored by.
    pub(crate) costs: Costs,
}

/// Rows in are rows released and rows suppressed.
fn check_accounts(n_released: usize, suppressed_rows: u64, costs: &Costs) -> Result<()> {
    if n_released as u64 + suppressed_rows == costs.n_rows {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Internal, "released and suppressed rows do not add up"))
}

impl Plan {
    /// Finds the best generalization, or a local recoding, verifies the release and writes it, with its record, where the job says.
    pub fn anonymize(&self, watch: &Watch) -> Result<Anonymized> {
        let output = self.job.output.clone().unwrap_or_default();
        let (path, missing_folder) = self.output_path()?;
        let record = self.record_path(&path);
        self.check_places(&path, record.as_deref())?;
        let sign = self.signing_key(record.is_some())?;
        Layout::check(&path, &self.table)?;
        let costs = self.costs()?;
        let input = self.input();
        let made = match self.made(self.how(), &costs, &*input, watch)? {
            Attempt::Made(made) => *made,
            Attempt::Impossible(obstacle) => return Ok(Anonymized::Impossible(obstacle)),
        };
        let Made {
            verified,
            report,
            statistics,
            as_collected,
            better,
            mut notes,
            local,
            costs,
            quality,
            judged,
        } = made;
        notes.extend(hierarchies::longer_values(self)?);
        notes.extend(self.attributes.iter().enumerate().filter_map(|(at, attribute)| {
            let level = statistics.levels.get(at).copied().filter(|_| local.is_none());
            hierarchies::warning(attribute, level)
        }));

        let layout = Layout::new(&path, &self.format, &self.released(&as_collected))?;
        let folder = missing_folder.map(NewFolder::look).transpose()?;
        // All have a place before anything is written: what is on standard output cannot be taken back.
        let file = Unfinished::create_in(&path, folder.as_ref())?;
        let sealed = match &record {
            Some(record) => Some((
                RunKey::read_or_draw(&self.key_path())?,
                Unfinished::create_in(record, folder.as_ref())?,
            )),
            None => None,
        };
        let spilled = self.spilled.as_ref();
        let memory = spilled.map(|spilled| &spilled.memory);
        let file = sink::write(&verified, file, &layout, output.order, memory, watch)?;
        // While the disk has its time, nobody else has anything to do.
        let digest_of = |key: &RunKey| key.key().digest_of(&self.table, spilled);
        let (finished, input) =
            rayon::join(|| file.finish(), || sealed.as_ref().map(|(key, _)| digest_of(key)).transpose());
        let (finished, input) = (finished?, input?);
        // What was released was read again while it was written.
        spilled.map_or(Ok(()), Spilled::check)?;
        // Everything is on disk before the first of the files appears. The release is the last: there is none without its record.
        let mut all = Vec::new();
        if let (Some((mut key, file)), Some(path)) = (sealed, &record) {
            let finish = |key: &RunKey, input: Option<[u8; 32]>, mut file: Unfinished| -> Result<Finished> {
                let seen = Seen {
                    report: &report,
                    columns: verified.release().header().iter().map(|&name| name.to_owned()).collect(),
                    sha256: finished.sha256(),
                    input,
                };
                let key = key.key();
                let cost = Cost { costs: &costs, statistics: &statistics, local: local.as_ref() };
                let record = Record::new(self, &seen, &cost, Some(key))?.by(sign.as_ref());
                file.put(record.to_json(key, sign.as_ref()).as_bytes())?;
                file.finish()
            };
            let mut sealed = finish(&key, input, file)?;
            self.check_hierarchies()?;
            watch.check()?;
            if key.settle()? == KeyOnDisk::Another {
                sealed = finish(&key, Some(digest_of(&key)?), Unfinished::create_in(path, folder.as_ref())?)?;
            }
            all.push(sealed);
        }
        all.push(finished);
        watch.check()?;
        sink::appear(all, folder.as_ref())?;

        let loss = find(metric::ALL, "loss").expect("loss is registered").item;
        Ok(Anonymized::Published(Box::new(Published {
            levels: self
                .attributes
                .iter()
                .zip(&statistics.levels)
                .map(|(attribute, &level)| {
                    (attribute.name().to_owned(), attribute.level_number(level), attribute.full_height())
                })
                .collect(),
            rows: costs.n_rows,
            suppressed_rows: statistics.suppressed_rows,
            budget: self.policy.budget(),
            metric: self.names.metric,
            score: self.metric.score(&costs, &statistics),
            loss: loss.score(&costs, &statistics),
            quality,
            judged,
            model: self.local.map_or(FULL_DOMAIN, |search| search.name),
            notes,
            report,
            better,
            local: local.map(|local| (local.columns, local.distortion)),
            record,
            path,
        })))
    }

    /// The table as the checker sees it.
    pub(crate) fn input(&self) -> Box<dyn Labels + '_> {
        match &self.spilled {
            None => Box::new(Collected(Cow::Borrowed(&self.table))),
            Some(spilled) => Box::new(SpilledInput::new(&self.table, spilled)),
        }
    }

    /// How the job wants its release to be found.
    fn how(&self) -> How {
        match (self.node, self.local) {
            (_, Some(search)) => How::Local(search),
            (Some(search), None) => How::Node(search),
            (None, None) => How::Lattice,
        }
    }

    /// A release that is found in a certain way, verified.
    pub(crate) fn made<'a>(
        &'a self,
        how: How,
        costs: &Costs,
        input: &dyn Labels,
        watch: &Watch,
    ) -> Result<Attempt<'a>> {
        let choice = match how {
            How::Local(search) => {
                let Some(recoded) = self.recode_locally(search, watch)? else {
                    return Ok(Attempt::Impossible(self.local_obstacle()?));
                };
                return Ok(Attempt::Made(Box::new(self.make_local(search, recoded, costs, input, watch)?)));
            }
            How::Lattice => self.choose(costs, watch)?,
            How::Node(search) => self.find_node(search, watch)?.map(|(statistics, quality)| Choice {
                statistics,
                known: Vec::new(),
                left_open: None,
                quality,
                judged: None,
                groups: None,
            }),
        };
        let Some(choice) = choice else {
            return Ok(Attempt::Impossible(self.obstacle(watch)?));
        };
        // Only the traversals can be told to decide by k alone.
        let settled = match how {
            How::Lattice => self.settle(&choice.statistics)?,
            How::Node(_) | How::Local(_) => Settled::Holds(choice.statistics.clone()),
        };
        Ok(match settled {
            Settled::Holds(settled) => {
                Attempt::Made(Box::new(self.make_full_domain(&choice, settled, costs, input, watch)?))
            }
            Settled::Fails(obstacle) => Attempt::Impossible(obstacle),
        })
    }

    /// A full-domain release, verified.
    fn make_full_domain<'a>(
        &'a self,
        chosen: &Choice,
        statistics: Statistics,
        costs: &Costs,
        input: &dyn Labels,
        watch: &Watch,
    ) -> Result<Made<'a>> {
        let recoding = match &chosen.groups {
            // What was decided by and what is published are the same.
            Some(groups) if self.decided_by.is_none() => {
                PerLevel::of_groups(&self.policy, &statistics.levels, groups)
            }
            _ => PerLevel::new(self.problem(), &statistics.levels),
        };
        let recoding = recoding?;
        let apply = || -> Result<Box<dyn Labels + Send + 'a>> {
            Ok(match &self.spilled {
                None => {
                    Box::new(Released(Recoding::PerLevel(recoding).apply(&self.table, &self.attributes)?))
                }
                Some(spilled) => {
                    Box::new(SpilledRelease::new(&self.table, spilled, &self.attributes, &recoding)?)
                }
            })
        };
        let levels = statistics.levels.iter().map(|&level| level.into()).collect();
        let (release, claims) = rayon::join(apply, || claims(self, input, RecodingClaim::Levels(levels)));
        let (release, claims) = (release?, claims?);
        check_accounts(release.n_rows(), statistics.suppressed_rows, costs)?;
        watch.enter(Stage::Verifying);
        let check = || match &self.spilled {
            None => verify(release, &claims),
            Some(_) => verify_in_order(release, &claims),
        };
        let (verified, better) = rayon::join(check, || self.better(&statistics, &chosen.known));
        // What could not be read looks like a wrong release.
        self.spilled.as_ref().map_or(Ok(()), Spilled::check)?;
        let verified = verified.map_err(|report| not_verified(&report.findings, &report.undecided))?;
        let with_levels = self.attributes.iter().zip(&statistics.levels);
        Ok(Made {
            report: verified.report().clone(),
            verified,
            as_collected: with_levels.map(|(attribute, &level)| attribute.level_number(level) == 0).collect(),
            better: better?,
            notes: self.notes(
                chosen.left_open,
                chosen.statistics.suppressed_rows,
                statistics.suppressed_rows,
            ),
            local: None,
            // Chosen by k alone, another might be better with all that is required.
            quality: if self.decided_by.is_some() { Quality::Heuristic } else { chosen.quality },
            judged: chosen.judged,
            costs: costs.clone(),
            statistics,
        })
    }

    /// A local release, verified and measured.
    fn make_local<'a>(
        &'a self,
        search: LocalSearch,
        recoded: Recoded,
        costs: &Costs,
        input: &dyn Labels,
        watch: &Watch,
    ) -> Result<Made<'a>> {
        let Recoded { recoding, domains, quality, notes } = recoded;
        let costs = costs.clone().with_domains(&domains);
        let with_numbers = self.attributes.iter().enumerate();
        let as_collected = with_numbers.map(|(at, attribute)| is_as_collected(&recoding, at, attribute));
        let as_collected = as_collected.collect();
        let release = recoding.apply(&self.table, &self.attributes)?;
        watch.enter(Stage::Verifying);
        let release: Box<dyn Labels + Send + 'a> = Box::new(Released(release));
        let verified = verify(release, &self.local_claims(Some(search), input)?)
            .map_err(|report| not_verified(&report.findings, &report.undecided))?;
        let mut report = verified.report().clone();
        if let Some(persons) = self.persons_of(search, &recoding)? {
            persons.add_to(&mut report);
        }
        if !report.holds() {
            return Err(not_verified(&report.findings, &report.undecided));
        }
        let Some(local) = LocalRelease::of(self, &domains, verified.release(), &report) else {
            return Err(Error::new(
                ErrorKind::Internal,
                "a released label is in no hierarchy and no interval",
            ));
        };
        check_accounts(verified.release().n_rows(), local.statistics.suppressed_rows, &costs)?;
        Ok(Made {
            verified,
            report,
            statistics: local.statistics.clone(),
            as_collected,
            better: Vec::new(),
            notes,
            local: Some(local),
            quality,
            judged: None,
            costs,
        })
    }

    /// What it would take to keep one column one level more detailed.
    fn better(&self, best: &Statistics, known: &[(Vec<u8>, u64)]) -> Result<Vec<Better>> {
        let mut better = Vec::new();
        // Those that the search stopped counting.
        let mut unknown: Vec<(usize, Grouping)> = Vec::new();
        for at in (0..self.attributes.len()).filter(|&at| best.levels[at] > 0) {
            let mut levels = best.levels.clone();
            levels[at] -= 1;
            match known.iter().find(|(node, _)| *node == levels) {
                Some(&(_, rows)) => better.push((at, rows)),
                // Where the records are not in memory, each look at them takes its time.
                None if self.spilled.is_some() => {}
                None => unknown.push((at, Grouping::of_levels(&levels))),
            }
        }
        let (columns, nodes): (Vec<usize>, Vec<Grouping>) = unknown.into_iter().unzip();
        better.extend(columns.into_iter().zip(refused_rows(self.deciding_problem(), &nodes)?));
        // Of equals, the first column first.
        better.sort_unstable();
        let is_allowed = |&(_, rows): &(usize, u64)| rows <= self.policy.budget();
        let mut better: Vec<Better> = better
            .into_iter()
            .filter(|better| !is_allowed(better))
            .map(|(at, suppressed_rows)| {
                let attribute = &self.attributes[at];
                let level = attribute.level_number(best.levels[at] - 1);
                Better { column: attribute.name().to_owned(), level, suppressed_rows }
            })
            .collect();
        better.sort_by_key(|better| better.suppressed_rows);
        Ok(better)
    }

    /// Where each released column stands in the table, and whether it is as collected, given that of each attribute.
    fn released(&self, as_collected: &[bool]) -> Vec<(usize, bool)> {
        let is_generalized = |name: &str| {
            let mut attributes = self.attributes.iter().zip(as_collected);
            attributes.any(|(attribute, is_as_collected)| attribute.name() == name && !is_as_collected)
        };
        let columns = self.table.columns().iter().enumerate();
        columns
            .filter(|(_, column)| column.role() != Role::Identifier)
            .map(|(at, column)| (at, !is_generalized(column.name())))
            .collect()
    }

    /// The best node that holds. Found without all the others, where the job names no algorithm and that is possible.
    fn choose(&self, costs: &Costs, watch: &Watch) -> Result<Option<Choice>> {
        let (problem, attributes) = (self.deciding_problem(), &self.attributes);
        watch.enter(Stage::Searching);
        let heights = attributes.heights();
        let is_free = self.job.search.algorithm.is_none() && self.job.search.checker.is_none();
        let limits = LimitSettings::new(&self.job)?;
        let has_bounds = has_best_first_search(self.metric);
        if is_free && has_bounds && (limits.is_some() || is_quicker_best_first(&heights)) {
            return self.choose_best_first(costs, limits, watch);
        }
        if limits.is_some() {
            self.refuse_limits("finds the best by a metric that has no bounds, and cannot be cut short")?;
        }
        if is_free && has_optimum_search(&heights) {
            let found = optimum(problem, attributes, costs, self.metric, watch)?;
            let lattice = Lattice::new(&heights)?;
            let known = found.judged.iter().filter_map(|&(node, rows)| Some((node, rows?)));
            let known = known.map(|(node, rows)| (lattice.levels(node).collect(), rows)).collect();
            let judged = Judged::of(found.judged.len() as u64, &heights);
            return Ok(found.best.map(|best| Choice {
                statistics: best.statistics,
                known,
                left_open: found.left_open,
                quality: Quality::Optimal,
                judged: Some(judged),
                groups: found.groups,
            }));
        }
        let outcome = self.search.run(problem, watch)?;
        watch.enter(Stage::Ranking);
        let (lattice, holding) = (&outcome.lattice, &outcome.holding);
        let best = metric::best(problem, attributes, lattice, holding, costs, self.metric, watch)?;
        let left_open = outcome.left_open;
        let quality = match outcome.coverage {
            Coverage::Complete => Quality::Optimal,
            Coverage::OneOfMinimalHeight => Quality::Heuristic,
        };
        // Incognito's checks are of subsets of the columns, too.
        let is_of_all = self.search.algorithm != Algorithm::Incognito;
        let judged = is_of_all.then(|| Judged::of(outcome.work.nodes_checked, &heights));
        Ok(best.map(|best| Choice {
            statistics: best.statistics,
            known: Vec::new(),
            left_open,
            quality,
            judged,
            groups: None,
        }))
    }

    /// The best node that is found until a limit, where there are too many nodes or where the job gives one.
    fn choose_best_first(
        &self,
        costs: &Costs,
        limits: LimitSettings,
        watch: &Watch,
    ) -> Result<Option<Choice>> {
        let (problem, attributes) = (self.deciding_problem(), &self.attributes);
        let found = best_first(problem, attributes, costs, self.metric, limits.starting_now(), watch)?;
        let judged = Judged::of(found.n_judged, &attributes.heights());
        match (found.best, found.quality) {
            (Some(statistics), quality) => Ok(Some(Choice {
                statistics,
                known: found.known,
                left_open: found.left_open,
                quality,
                judged: Some(judged),
                groups: found.groups,
            })),
            (None, Quality::Optimal) => Ok(None),
            (None, _) => {
                let policy = problem.policy.describe();
                Err(Error::new(
                    ErrorKind::Limit,
                    format!("nothing that satisfies {policy} was found ({judged})"),
                )
                .with_hint(
                    "allow more `max_steps` or a longer `time_limit` in [search], or use fewer levels",
                ))
            }
        }
    }

    /// Why nothing holds: how far even the most general release is from the policy.
    pub(crate) fn obstacle(&self, watch: &Watch) -> Result<String> {
        let Problem { source, policy } = self.deciding_problem();
        let mut closest = self.attributes.heights();
        if policy.pruning() == Pruning::Unsound {
            // Something more detailed may need less: only what was looked at can be told.
            return Ok(format!("the most general: {}", self.need(&closest)?));
        }
        let needed_at = |levels: &[u8]| -> Result<u64> {
            watch.check()?;
            let set = source.count(&Grouping::of_levels(levels), &policy.demand(), Method::Auto)?;
            Ok(policy.judge(&set)?.refused_rows)
        };
        // Nothing needs less suppression than the top. Of what needs no more, something more detailed says more.
        let needed = needed_at(&closest)?;
        // Where everything would have to go, no node is closer than another.
        'down: while needed < source.n_rows() {
            for at in (0..closest.len()).filter(|&at| closest[at] > 0) {
                let mut below = closest.clone();
                below[at] -= 1;
                if needed_at(&below)? == needed {
                    closest = below;
                    continue 'down;
                }
            }
            break;
        }
        Ok(format!("closest: {}", self.need(&closest)?))
    }
}

/// Is a column of a local release as collected?
fn is_as_collected(recoding: &Recoding, at: usize, attribute: &Attribute) -> bool {
    let is_lowest = |level: u8| attribute.level_number(level) == 0;
    match recoding {
        Recoding::PerLevel(recoding) => is_lowest(recoding.levels()[at]),
        Recoding::PerValue(recoding) => recoding.levels(at).iter().all(|&level| is_lowest(level)),
        Recoding::PerGroup(recoding) => {
            (0..recoding.n_groups()).all(|group| is_lowest(recoding.levels(group)[at]))
        }
        // An interval of one value may be written in another way than the value.
        Recoding::PerBox(recoding) => (0..recoding.n_boxes())
            .all(|number| matches!(recoding.side(number, at), Side::Label { level, .. } if is_lowest(level))),
    }
}
