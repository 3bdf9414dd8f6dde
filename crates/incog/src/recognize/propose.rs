//! What is each column likely to be, and what may it become?
//!
//! A proposal is made from a column's name and its [`Profile`]; it is never more than that. Privacy first: a wrong
//! *identifier* costs a column, a wrong *other* may cost somebody's privacy. So a column is proposed as *other* only if
//! it cannot tell people apart, and where nothing speaks for a role it is *decide*, which `anonymize` refuses.
//!
//! The rules; the first that fits decides:
//!
//! 1. No value at all: *other*. The same value in all of at least [`ENOUGH_ROWS`] rows: *other*, but *decide* if it is a sentence.
//! 2. Values have the form of what leads to a person (e-mail and IP addresses, telephone numbers, IBAN, names, ...): *identifier*, but
//!    *decide* for random identifiers that repeat, which may be the policy's `unit`.
//! 3. The name speaks of what names people (name, email, phone, ssn, address, ...): *identifier*; but *decide* where there are few
//!    values for many rows, as in a `telephone` that is yes or no.
//! 4. The name is that of a person's number (patient, client, id, policy number, ...): *identifier* if nearly every value stands in one row
//!    only; *decide* where values repeat up to [`MOST_REPEATED`] times on average, it may be the policy's `unit`.
//! 5. Free text: *decide*. It can name people, whatever the column is called.
//! 6. Dates: *quasi-identifier* in calendar units. Dates whose form is in doubt: *decide*.
//! 7. The name speaks of what outsiders know (age, sex, zip, race, country, education, occupation, ...):
//!    *quasi-identifier*. Where a few values are of another kind than the rest: *decide*.
//! 8. The name speaks of what nobody should learn (diagnosis, income, religion, ...): *sensitive*, with a warning if
//!    nearly every value stands in one row only; *decide* if those values are codes or text.
//! 9. Values are what outsiders know, by their form: countries, states, postal codes, regions, male and female: *quasi-identifier*. Diagnoses
//!    are *sensitive*.
//! 10. Nearly every value stands in one row only: *identifier*, but *decide* for decimals, which may be a measurement,
//!     and for tables below [`ENOUGH_ROWS`] rows, where everything is nearly unique.
//! 11. Codes of one length, or numbers that are counted up, which repeat: *decide*, they may be the policy's `unit`.
//! 12. Anything else: *decide*.
//!
//! Names are understood in seven languages (`words`), forms of values in `content`. Which hierarchy:
//!
//! - ages of people in intervals of 5, 10 and 20, from 90 on pooled; years alike; other numbers in round widths by their spread (`spread`);
//! - dates in calendar units, postal codes masked from the right, countries and the like by the built-in hierarchy;
//! - anything else kept or suppressed. Category codes are not masked: their first characters mean nothing that is known here.
//!
//! Only levels are proposed that merge something. Under *decide* and *sensitive* the hierarchy is written as a comment.
//!
//! Then two rules for the table as a whole. If the levels of the quasi-identifiers make more than [`MAX_NODES`]
//! combinations, the last ones are *decide*. If there is no quasi-identifier, columns that would be released are
//! *decide* (all columns, if none would be), because then nothing is known about what outsiders know.
//!
//! Every hierarchy proposed here covers every cell of its column, so a job made from it runs. Reasons contain no cell.

use crate::job::RoleJob;
pub use crate::recognize::hierarchy::ProposedHierarchy;
use crate::recognize::profile::{ColumnProfile, Content, Profile, ValueKind};
use crate::recognize::spread::TOP_AGE;
use crate::recognize::values::Digits;
pub(crate) use crate::recognize::words::is_called_so;
use crate::recognize::words::{Hint, hint, is_number_of_something, is_person_alone};

/// With fewer rows than this, little can be told from values.
pub const ENOUGH_ROWS: u64 = 20;
/// More combinations of levels than this are not proposed: the first search should take seconds.
pub const MAX_NODES: u64 = 1 << 20;
/// Numbers of persons stand in at most as many rows each, on average.
pub const MOST_REPEATED: u64 = 100;
/// Codes longer than this are not masked character by character.
pub(super) const MAX_MASKED: usize = 12;
/// What names people has more values than this, or few rows.
const FEW_VALUES: u64 = 10;

/// What is proposed for a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Its role.
    pub role: RoleJob,
    /// What its values may become, if it is a quasi-identifier.
    pub hierarchy: ProposedHierarchy,
    /// What they may become in another way, or once it is one.
    pub offered: ProposedHierarchy,
    /// Why.
    pub reason: String,
    /// May it say whom a row is about?
    pub may_be_unit: bool,
}

fn plain(role: RoleJob, reason: impl Into<String>) -> Proposal {
    Proposal {
        role,
        hierarchy: ProposedHierarchy::Suppression,
        offered: ProposedHierarchy::Suppression,
        reason: reason.into(),
        may_be_unit: false,
    }
}

/// Undecided, and perhaps whom a row is about.
fn person(reason: &str) -> Proposal {
    let reason = format!("{reason}: if it says whom a row is about, make it `unit`, and its role identifier");
    Proposal { may_be_unit: true, ..plain(RoleJob::Decide, reason) }
}

/// A proposal for every column, in their order.
pub(crate) fn propose(profile: &Profile) -> Vec<Proposal> {
    let mut proposals: Vec<Proposal> =
        profile.columns.iter().map(|column| propose_column(column, profile.rows)).collect();
    limit_search(&mut proposals);
    doubt_everything(&mut proposals);
    // Whoever decides for quasi-identifier finds a hierarchy below.
    for (proposal, column) in proposals.iter_mut().zip(&profile.columns) {
        if proposal.role == RoleJob::QuasiIdentifier {
            continue;
        }
        proposal.offered = match proposal.role {
            RoleJob::Decide | RoleJob::Sensitive if !proposal.may_be_unit => {
                let hint = hint(&column.name).map(|(hint, _)| hint);
                hierarchy(column, hint.unwrap_or(Hint::Known))
            }
            _ => ProposedHierarchy::Suppression,
        };
        proposal.hierarchy = ProposedHierarchy::Suppression;
    }
    proposals
}

fn propose_column(column: &ColumnProfile, rows: u64) -> Proposal {
    let hint = hint(&column.name);
    let first = [empty, by_form, by_name_of_person, number_of_person, by_kind];
    if let Some(proposal) = first.iter().find_map(|rule| rule(column, rows)) {
        return proposal;
    }
    match hint {
        Some((Hint::Sensitive, word)) => return sensitive(column, rows, word),
        Some((hint, word)) if hint != Hint::Identifier => return known(column, hint, word),
        _ => {}
    }
    known_by_form(column).unwrap_or_else(|| unknown(column, rows))
}

/// Rule 1.
fn empty(column: &ColumnProfile, rows: u64) -> Option<Proposal> {
    if column.kind == ValueKind::Empty {
        return Some(plain(RoleJob::Other, "every cell is missing"));
    }
    let is_constant = column.distinct == 1 && column.missing == 0 && rows >= ENOUGH_ROWS;
    let leads_to_people = column.content.is_some_and(|recognized| recognized.content.names_people());
    if !is_constant || leads_to_people {
        return None;
    }
    if column.has_sentences {
        return Some(plain(RoleJob::Decide, "the same text in every row: does it name anybody?"));
    }
    Some(plain(RoleJob::Other, "the same value in every row tells nobody apart"))
}

/// Rule 2.
fn by_form(column: &ColumnProfile, rows: u64) -> Option<Proposal> {
    let content =
        column.content.map(|recognized| recognized.content).filter(|content| content.names_people())?;
    if content == Content::Uuid && !column.is_nearly_unique(rows) && is_repeated_like_persons(column, rows) {
        return Some(person("random identifiers that repeat"));
    }
    Some(plain(RoleJob::Identifier, format!("its values are {}", content.name())))
}

/// Rule 3.
fn by_name_of_person(column: &ColumnProfile, rows: u64) -> Option<Proposal> {
    let (_, word) = hint(&column.name).filter(|(hint, _)| *hint == Hint::Identifier)?;
    let has_few =
        column.distinct <= FEW_VALUES && column.filled(rows) >= ENOUGH_ROWS.max(5 * column.distinct);
    if has_few || column.kind == ValueKind::YesNo {
        let reason = format!(
            "`{word}` in its name, but {} distinct values in {rows} rows name nobody: could an outsider know it?",
            column.distinct
        );
        return Some(plain(RoleJob::Decide, reason));
    }
    Some(plain(RoleJob::Identifier, format!("`{word}` in its name: it names people")))
}

/// Does a value stand in at most [`MOST_REPEATED`] rows, on average, and are there more than a few values?
fn is_repeated_like_persons(column: &ColumnProfile, rows: u64) -> bool {
    let filled = column.filled(rows);
    column.distinct > FEW_VALUES.min(filled / 4) && column.distinct.saturating_mul(MOST_REPEATED) >= filled
}

/// Rule 4.
fn number_of_person(column: &ColumnProfile, rows: u64) -> Option<Proposal> {
    let is_number = is_number_of_something(&column.name);
    let is_alone = is_person_alone(&column.name);
    let is_written_so = matches!(
        column.kind,
        ValueKind::Whole
            | ValueKind::Codes { .. }
            | ValueKind::Text
            | ValueKind::Categories
            | ValueKind::Years
            | ValueKind::Mixed { .. }
    );
    if !(is_number || (is_alone && is_written_so)) {
        return None;
    }
    if column.is_nearly_unique(rows) {
        return Some(plain(RoleJob::Identifier, "a number of its own in nearly every row"));
    }
    // What is called like something else, too, is that: `country_code` repeats more.
    is_repeated_like_persons(column, rows).then(|| person("looks like a person number that repeats"))
}

/// Rules 5 and 6.
fn by_kind(column: &ColumnProfile, _: u64) -> Option<Proposal> {
    match column.kind {
        ValueKind::FreeText => Some(plain(
            RoleJob::Decide,
            "free text can name people: drop it (identifier) or have it read first",
        )),
        ValueKind::Dates { .. } => {
            let reason = "dates: many people know when something happened to others";
            let hierarchy = dates(column);
            Some(Proposal { hierarchy, ..plain(RoleJob::QuasiIdentifier, reason) })
        }
        ValueKind::OtherDates => Some(plain(
            RoleJob::Decide,
            "looks like dates, but in no form that fits all: say `date_format`, or clean them",
        )),
        _ => None,
    }
}

/// Rule 8.
fn sensitive(column: &ColumnProfile, rows: u64, word: &str) -> Proposal {
    let is_unique = column.is_nearly_unique(rows);
    if is_unique && rows >= ENOUGH_ROWS && matches!(column.kind, ValueKind::Codes { .. } | ValueKind::Text) {
        let reason = format!(
            "`{word}` in its name, but nearly every row has a code of its own: is it a number of a person?"
        );
        return plain(RoleJob::Decide, reason);
    }
    let reason = format!("`{word}` in its name: nobody should learn it about a person");
    let warning =
        if is_unique { "; nearly every row has a value of its own: who knows one finds the row" } else { "" };
    plain(RoleJob::Sensitive, reason + warning)
}

/// Rule 7.
fn known(column: &ColumnProfile, hint: Hint, word: &str) -> Proposal {
    let reason = format!("`{word}` in its name: outsiders may know it");
    if let ValueKind::Mixed { mostly, others } = column.kind
        && hint != Hint::Place
    {
        let reason = format!(
            "{reason}, but {others} of {} distinct values are not {mostly} like the others: clean them, \
             or leave such cells empty",
            column.distinct
        );
        return plain(RoleJob::Decide, reason);
    }
    let hierarchy = hierarchy(column, hint);
    let reason = match (&hierarchy, column.digits) {
        (ProposedHierarchy::Mask { .. }, Digits::Uneven) => {
            format!("{reason}; if its numbers lost leading zeros, `pad` beside `mask` restores them")
        }
        _ => reason,
    };
    let is_number = matches!(column.kind, ValueKind::Whole | ValueKind::Decimals);
    let reason = if hint == Hint::Age && is_number && !column.spread.fits_ages {
        format!(
            "{reason}; some values are nobody's age: correct them, or say in `missing` what stands for none"
        )
    } else if hierarchy == ProposedHierarchy::Suppression && column.distinct > 12 {
        format!("{reason}; with a hierarchy (file or tree) more of it could be kept")
    } else {
        reason
    };
    Proposal { offered: instead(column, &hierarchy), hierarchy, ..plain(RoleJob::QuasiIdentifier, reason) }
}

/// Rule 9.
fn known_by_form(column: &ColumnProfile) -> Option<Proposal> {
    let content = column.content?.content;
    let hint = match content {
        Content::Icd10 => {
            let reason = "its values are ICD-10 codes: nobody should learn a diagnosis about a person";
            return Some(plain(RoleJob::Sensitive, reason));
        }
        Content::Zip | Content::PostalCode => Hint::Place,
        Content::Country | Content::State | Content::Nuts | Content::Nace | Content::Sex => Hint::Known,
        _ => return None,
    };
    let reason = format!("its values are {}: outsiders may know it", content.name());
    let hierarchy = hierarchy(column, hint);
    Some(Proposal {
        offered: instead(column, &hierarchy),
        hierarchy,
        ..plain(RoleJob::QuasiIdentifier, reason)
    })
}

/// Rules 10 to 12.
fn unknown(column: &ColumnProfile, rows: u64) -> Proposal {
    if column.is_nearly_unique(rows) {
        return if rows < ENOUGH_ROWS {
            plain(RoleJob::Decide, "too few rows to tell what it is")
        } else if column.kind == ValueKind::Decimals {
            plain(
                RoleJob::Decide,
                "nearly unique decimals: who knows one finds the row; can an outsider know it?",
            )
        } else {
            plain(RoleJob::Identifier, "nearly every row has a value of its own")
        };
    }
    let is_code = match column.kind {
        ValueKind::Codes { length } => length >= 4,
        ValueKind::Whole => {
            column.spread.is_counted_up
                && !column.spread.fits_ages
                && column.most <= MOST_REPEATED
                && column.distinct >= 50
        }
        _ => false,
    };
    if is_code && column.distinct >= 50 && is_repeated_like_persons(column, rows) {
        return person("codes that repeat like the number of a person");
    }
    plain(RoleJob::Decide, "its name and values do not tell: could an outsider know it?")
}

/// A public classification, where something else is proposed.
fn instead(column: &ColumnProfile, proposed: &ProposedHierarchy) -> ProposedHierarchy {
    match (&column.builtin, proposed) {
        (_, ProposedHierarchy::Builtin { .. }) | (None, _) => ProposedHierarchy::Suppression,
        (Some(_), _) => builtin(column).unwrap_or(ProposedHierarchy::Suppression),
    }
}

/// The classification of a column's codes, with the levels that merge something.
fn builtin(column: &ColumnProfile) -> Option<ProposedHierarchy> {
    let (name, merging) = column.builtin.as_ref()?;
    let top = match *name {
        "iso-country" | "us-state" | "us-zip3" => 3,
        _ => 4,
    };
    let levels = std::iter::once(0).chain(merging.iter().copied()).chain([top]).collect();
    Some(ProposedHierarchy::Builtin { name, levels })
}

/// A hierarchy that covers every value of a column outsiders know; only of levels that merge something.
fn hierarchy(column: &ColumnProfile, hint: Hint) -> ProposedHierarchy {
    let spread = &column.spread;
    let is_postal = hint == Hint::Place
        || column.content.is_some_and(|it| matches!(it.content, Content::Zip | Content::PostalCode));
    if is_postal {
        let (length, pad) = match column.digits {
            Digits::Floats(length) => (length, Some(length)),
            Digits::Whole | Digits::Uneven => (column.longest, None),
        };
        let can_be_masked = (2..=MAX_MASKED).contains(&length) && !spread.mask.is_empty();
        if !can_be_masked {
            return ProposedHierarchy::Suppression;
        }
        let all = (1..length as u8).collect::<Vec<u8>>();
        let levels = (spread.is_even && spread.mask != all)
            .then(|| std::iter::once(0).chain(spread.mask.iter().copied()).chain([length as u8]).collect());
        return ProposedHierarchy::Mask { length, pad, levels };
    }
    if let Some(builtin) = builtin(column) {
        return builtin;
    }
    let intervals = |widths: &[String], top: Option<u32>| match widths {
        [] => ProposedHierarchy::Suppression,
        widths => ProposedHierarchy::Intervals { widths: widths.to_vec(), top },
    };
    match column.kind {
        ValueKind::Whole | ValueKind::Decimals if hint == Hint::Age => intervals(&spread.ages, Some(TOP_AGE)),
        ValueKind::Years => intervals(&spread.years, None),
        ValueKind::Whole | ValueKind::Decimals => intervals(&spread.widths, None),
        ValueKind::Dates { .. } => dates(column),
        _ => ProposedHierarchy::Suppression,
    }
}

fn dates(column: &ColumnProfile) -> ProposedHierarchy {
    match column.spread.dates.as_slice() {
        [] => ProposedHierarchy::Suppression,
        units => ProposedHierarchy::Dates(units.to_vec()),
    }
}

/// Quasi-identifiers as far as they can be searched; the others need a decision.
fn limit_search(proposals: &mut [Proposal]) {
    let mut n_nodes = 1_u64;
    for proposal in proposals.iter_mut().filter(|proposal| proposal.role == RoleJob::QuasiIdentifier) {
        let with_it = n_nodes.saturating_mul(proposal.hierarchy.n_levels());
        if with_it <= MAX_NODES {
            n_nodes = with_it;
            continue;
        }
        let reason = format!(
            "{}; with all such columns there are too many combinations to search: keep as quasi-identifiers what \
             outsiders really know, and drop others (identifier)",
            proposal.reason
        );
        *proposal = plain(RoleJob::Decide, reason);
    }
}

/// Without a quasi-identifier nothing that would be released is certain.
fn doubt_everything(proposals: &mut [Proposal]) {
    if proposals.iter().any(|proposal| proposal.role == RoleJob::QuasiIdentifier) {
        return;
    }
    let would_be_released = |proposal: &Proposal| proposal.role != RoleJob::Identifier;
    let drops_all = !proposals.iter().any(would_be_released);
    for proposal in proposals.iter_mut().filter(|proposal| drops_all || would_be_released(proposal)) {
        if proposal.role != RoleJob::Decide {
            proposal.reason += "; but no column looks like something outsiders know: which one is it?";
            proposal.role = RoleJob::Decide;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use incog_core::Progress;
    use incog_core::table::{Column, Role, Table};

    /// A column's name, and its cell in each row.
    type CellsByRow = (&'static str, fn(usize) -> String);

    /// What is proposed for columns of 40 rows with these names and cells made by row.
    fn check(columns: &[CellsByRow]) -> Vec<Proposal> {
        let column = |&(name, cell): &CellsByRow| {
            let cells: Vec<String> = (0..40).map(cell).collect();
            Column::from_cells(name, Role::Other, cells.iter().map(String::as_str)).unwrap()
        };
        let table = Table::new(columns.iter().map(column).collect()).unwrap();
        propose(&Profile::of(&table, &Progress::new()).unwrap())
    }

    #[test]
    fn every_rule_decides_as_the_docs_say() {
        let columns: [CellsByRow; 22] = [
            ("empty", |_| String::new()),
            ("same", |_| "x".into()),
            ("email", |row| format!("{}@example.org", row % 4)),
            ("id", |row| row.to_string()),
            ("age", |row| (20 + row).to_string()),
            ("seen", |row| format!("2003-04-{:02}", 1 + row % 28)),
            ("seen too", |row| format!("{}.04.2003", 1 + row % 28)),
            ("zip", |row| format!("101{}{}", row % 2, row % 4)),
            ("income", |row| (row * 1000).to_string()),
            ("note", |row| format!("came in on day {row}")),
            ("customer_id", |row| (row / 3).to_string()),
            ("serial", |row| format!("x{row}")),
            ("level", |row| format!("{row}.5")),
            ("flag", |row| ["yes", "no"][row % 2].into()),
            ("telephone", |row| ["none", "listed"][row % 2].into()),
            ("c15", |row| format!("+49 221 4710{row:03}")),
            ("status", |row| format!("A7{}", row % 5)),
            ("vehicle_age", |row| (row % 23).to_string()),
            ("c19", |row| ["TX", "OK", "NY", "NJ", "WI"][row % 5].into()),
            ("c20", |row| ["E11.9", "I21", "J45.0", "F32"][row % 4].into()),
            ("Geschlecht", |row| ["m", "w"][row % 2].into()),
            ("same text", |_| "seen by the doctor".into()),
        ];
        let proposals = check(&columns);
        let roles: Vec<RoleJob> = proposals.iter().map(|proposal| proposal.role).collect();
        use RoleJob::{Decide, Identifier, Other, QuasiIdentifier, Sensitive};
        assert_eq!(
            roles,
            [
                Other,
                Other,
                Identifier,
                Identifier,
                QuasiIdentifier,
                QuasiIdentifier,
                Decide,
                QuasiIdentifier,
                Sensitive,
                Decide,
                Decide,
                Identifier,
                Decide,
                Decide,
                Decide,
                Identifier,
                Decide,
                QuasiIdentifier,
                QuasiIdentifier,
                Sensitive,
                QuasiIdentifier,
                Decide,
            ]
        );
        assert_eq!(proposals[4].hierarchy.to_toml().unwrap(), "{ intervals = [5, 10, 20], top = 90 }");
        assert_eq!(proposals[5].hierarchy.to_toml().unwrap(), "{ dates = [\"week\"] }");
        assert_eq!(
            proposals[7].hierarchy.to_toml().unwrap(),
            "{ mask = \"right\", length = 5, levels = [0, 1, 5] }"
        );
        assert_eq!(proposals[16].offered, ProposedHierarchy::Suppression, "category codes have no mask");
        assert_eq!(proposals[17].hierarchy.to_toml().unwrap(), "{ intervals = [5, 10] }");
        assert_eq!(
            proposals[18].hierarchy.to_toml().unwrap(),
            "{ builtin = \"us-state\", levels = [0, 1, 3] }"
        );
        assert_eq!(proposals[20].hierarchy, ProposedHierarchy::Suppression);
        assert!(proposals[8].reason.ends_with("who knows one finds the row"));
        assert!(proposals[9].reason.starts_with("free text"));
        assert!(proposals[10].may_be_unit && proposals[10].reason.contains("make it `unit`"));
    }

    #[test]
    fn without_a_quasi_identifier_nothing_is_certain() {
        let income: CellsByRow = ("income", |row| row.to_string());
        let name: CellsByRow = ("name", |row| format!("n{row}"));
        let roles = |columns: &[CellsByRow]| -> Vec<RoleJob> {
            check(columns).iter().map(|proposal| proposal.role).collect()
        };
        assert_eq!(roles(&[name, income]), [RoleJob::Identifier, RoleJob::Decide]);
        assert_eq!(roles(&[name]), [RoleJob::Decide]);
    }

    #[test]
    fn a_few_strange_values_need_a_decision() {
        let proposals = check(&[("age", |row| if row == 7 { "old".into() } else { row.to_string() })]);
        assert_eq!(proposals[0].role, RoleJob::Decide);
        assert!(
            proposals[0].reason.contains("1 of 40 distinct values are not numbers"),
            "{}",
            proposals[0].reason
        );
    }
}
