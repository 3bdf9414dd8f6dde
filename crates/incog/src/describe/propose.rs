//! What is each column likely to be, and what may it become?
//!
//! A proposal is made from a column's name and its [`Profile`]; it is never more than that. Privacy first: a wrong
//! *identifier* costs a column, a wrong *other* may cost somebody's privacy. So a column is proposed as *other* only if
//! it cannot tell people apart, and where nothing speaks for a role it is *decide*, which `anonymize` refuses.
//!
//! The rules; the first that fits decides:
//!
//! 1. No value at all, or the same value in all of at least [`ENOUGH_ROWS`] rows: *other*.
//! 2. The name speaks of what names people (name, email, phone, ssn, address, ...): *identifier*.
//! 3. The name ends like a number of something (id, number, key, ...) and nearly every value stands in one row only:
//!    *identifier*.
//! 4. Free text: *decide*. It can name people, whatever the column is called.
//! 5. Dates: *quasi-identifier* in calendar units. Dates whose form is in doubt: *decide*.
//! 6. The name speaks of what outsiders know (age, sex, zip, race, country, education, occupation, ...):
//!    *quasi-identifier*. Numbers in intervals of round widths, ages and years in fixed ones; codes masked from the
//!    right; anything else kept or suppressed. Where a few values are of another kind than the rest: *decide*.
//! 7. The name speaks of what nobody should learn (diagnosis, income, religion, ...): *sensitive*, with a warning if
//!    nearly every value stands in one row only.
//! 8. The name ends like a number of something and values repeat: *decide*, it may be the policy's `unit`.
//! 9. Nearly every value stands in one row only: *identifier*, but *decide* for decimals, which may be a measurement,
//!    and for tables below [`ENOUGH_ROWS`] rows, where everything is nearly unique.
//! 10. Anything else: *decide*.
//!
//! Then two rules for the table as a whole. If the levels of the quasi-identifiers make more than [`MAX_NODES`]
//! combinations, the last ones are *decide*. If there is no quasi-identifier, columns that would be released are
//! *decide* (all columns, if none would be), because then nothing is known about what outsiders know.
//!
//! Every hierarchy proposed here covers every cell of its column, so a job made from it runs. Reasons contain no cell.

use crate::describe::profile::{ColumnProfile, Profile, ValueKind};
use crate::describe::values::Digits;
use crate::job::RoleJob;

/// With fewer rows than this, little can be told from values.
pub const ENOUGH_ROWS: u64 = 20;
/// More combinations of levels than this are not proposed: the first search should take seconds.
pub const MAX_NODES: u64 = 1 << 20;
/// Codes longer than this are not masked character by character.
const MAX_MASKED: usize = 12;

/// What is proposed for a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// Its role.
    pub role: RoleJob,
    /// What its values may become, if it is a quasi-identifier.
    pub hierarchy: ProposedHierarchy,
    /// Why.
    pub reason: String,
    /// May it say whom a row is about?
    pub may_be_unit: bool,
}

/// What values may become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposedHierarchy {
    /// Kept, or `*`.
    Suppression,
    /// Calendar units.
    Dates(Vec<&'static str>),
    /// One character after the other replaced, from the right.
    Mask {
        /// How many characters the longest value has.
        length: usize,
        /// How many digits values are to have, if they were made floats.
        pad: Option<usize>,
    },
    /// Ever wider intervals.
    Intervals {
        /// Their widths.
        widths: Vec<String>,
        /// Values from here on are pooled.
        top: Option<u32>,
    },
}

impl ProposedHierarchy {
    /// How many levels it has at most, the values and `*` included.
    fn n_levels(&self) -> u64 {
        match self {
            ProposedHierarchy::Suppression => 2,
            ProposedHierarchy::Dates(units) => units.len() as u64 + 2,
            ProposedHierarchy::Mask { length, .. } => *length as u64 + 1,
            ProposedHierarchy::Intervals { widths, .. } => widths.len() as u64 + 2,
        }
    }

    /// As in a job file.
    pub(crate) fn to_toml(&self) -> Option<String> {
        match self {
            ProposedHierarchy::Suppression => None,
            ProposedHierarchy::Dates(units) => {
                let units: Vec<String> = units.iter().map(|unit| format!("\"{unit}\"")).collect();
                Some(format!("{{ dates = [{}] }}", units.join(", ")))
            }
            ProposedHierarchy::Mask { pad, .. } => {
                let pad = pad.map_or(String::new(), |pad| format!(", pad = {pad}"));
                Some(format!("{{ mask = \"right\"{pad} }}"))
            }
            ProposedHierarchy::Intervals { widths, top } => {
                let top = top.map_or(String::new(), |top| format!(", top = {top}"));
                Some(format!("{{ intervals = [{}]{top} }}", widths.join(", ")))
            }
        }
    }
}

/// What a word in a column's name speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hint {
    /// What names people.
    Identifier,
    /// Ages, which are divided alike everywhere.
    Age,
    /// Codes of places, whose first characters are a region.
    Place,
    /// Anything else that outsiders know.
    Known,
    /// What nobody should learn.
    Sensitive,
}

/// Words of columns' names, in the singular, separated by spaces. The first row that has one of a name's words decides.
const HINTS: &[(Hint, &str)] = &[
    (
        Hint::Identifier,
        "email mail phone telephone mobile fax ssn passport iban address street url ip login username nickname \
         signature photo fingerprint surname firstname lastname fullname forename initials license licence",
    ),
    (Hint::Age, "age"),
    (Hint::Place, "zip zipcode postcode postal postalcode plz"),
    (
        Hint::Known,
        "birth birthday birthdate birthyear birthplace dob yob born year sex gender race ethnicity ethnic \
         nationality citizenship citizen country nation native city town village municipality county state \
         province region district location place residence neighborhood neighbourhood latitude longitude lat lon \
         lng education degree school university occupation profession job employer employment work workclass \
         industry marital married family household child children relationship language height weight hair eye \
         veteran military admission admitted discharge visit death died vehicle car",
    ),
    (
        Hint::Sensitive,
        "diagnosis diagnoses disease illness condition disorder symptom icd procedure treatment therapy drug \
         medication medicine prescription allergy hiv test result lab blood bmi smoker smoking alcohol disability \
         pregnant pregnancy abortion income salary wage earning pay payment wealth debt credit loan balance cost \
         charge religion religious faith belief party political politics vote union sexual orientation crime \
         offence offense conviction arrest criminal grade score rating abuse complaint",
    ),
];

/// Whose name a "name" is, if it is a person's.
const PERSONS: &str = "first last full given family middle maiden user patient person customer client employee member student \
    mother father parent contact doctor physician teacher";

/// How the name of a column of numbers ends.
const NUMBERS: &str = "id uuid guid key number no nr num mrn";

/// Words that columns are called and that stand in no cell, alone or with [`PERSONS`], [`NUMBERS`] and [`BESIDE`].
const CALLED: &str = "id name surname firstname lastname fullname forename age zip zipcode postcode postalcode plz birth birthday birthdate \
    birthyear birthplace dob yob sex gender ethnicity nationality citizenship country city town municipality occupation profession \
    diagnosis disease illness symptom salary income ssn iban date year";

/// Words that stand beside such words.
const BESIDE: &str = "of at the in code type status group class level";

/// Is a column called so, and nobody? All words must be of a name, and one a name by itself.
pub(crate) fn is_called_so(name: &str) -> bool {
    let words = words(name);
    let is_beside = |word: &String| {
        is_one_of(PERSONS, word)
            || is_one_of(NUMBERS, word)
            || is_one_of(BESIDE, word)
            || is_one_of(CALLED, word)
    };
    words.iter().all(is_beside) && words.iter().any(|word| is_one_of(CALLED, word))
}

/// The words of a column's name, in lower case: `patientID`, `patient_id` and `Patient ID` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for character in name.chars() {
        let is_new = !before.is_alphanumeric()
            || (before.is_lowercase() && character.is_uppercase())
            || before.is_numeric() != character.is_numeric();
        if character.is_alphanumeric() {
            if is_new {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(character.to_lowercase());
            }
        }
        before = character;
    }
    words
}

fn is_one_of(known: &str, word: &str) -> bool {
    known.split_whitespace().any(|known| known == word)
}

fn is_digits(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a name speaks of, and by which word.
fn hint(name: &str) -> Option<(Hint, &'static str)> {
    let words = words(name);
    if words.iter().any(|word| word == "name")
        && words.iter().all(|word| word == "name" || is_one_of(PERSONS, word) || is_digits(word))
    {
        return Some((Hint::Identifier, "name"));
    }
    let joined = words.concat();
    let speaks = |known: &&str| {
        joined == *known
            || words
                .iter()
                .any(|word| word == known || word.strip_suffix('s').is_some_and(|one| one == *known))
    };
    HINTS.iter().find_map(|(hint, known)| Some((*hint, known.split_whitespace().find(speaks)?)))
}

/// Does a name end like that of a number of something?
fn is_number_of_something(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.iter().rev().find(|word| !is_digits(word)) else {
        return false;
    };
    is_one_of(NUMBERS, last)
        || PERSONS
            .split_whitespace()
            .any(|person| last.strip_prefix(person).is_some_and(|rest| rest == "id" || rest == "no"))
}

fn plain(role: RoleJob, reason: impl Into<String>) -> Proposal {
    Proposal { role, hierarchy: ProposedHierarchy::Suppression, reason: reason.into(), may_be_unit: false }
}

/// A proposal for every column, in their order.
pub(crate) fn propose(profile: &Profile) -> Vec<Proposal> {
    let mut proposals: Vec<Proposal> =
        profile.columns.iter().map(|column| propose_column(column, profile.rows)).collect();
    limit_search(&mut proposals);
    doubt_everything(&mut proposals);
    proposals
}

fn propose_column(column: &ColumnProfile, rows: u64) -> Proposal {
    if column.kind == ValueKind::Empty {
        return plain(RoleJob::Other, "every cell is missing");
    }
    if column.distinct == 1 && column.missing == 0 && rows >= ENOUGH_ROWS {
        return plain(RoleJob::Other, "the same value in every row tells nobody apart");
    }
    let hint = hint(&column.name);
    let is_number_of_something = is_number_of_something(&column.name);
    if let Some((Hint::Identifier, word)) = hint {
        return plain(RoleJob::Identifier, format!("`{word}` in its name: it names people"));
    }
    if is_number_of_something && column.is_nearly_unique(rows) {
        return plain(RoleJob::Identifier, "a number of its own in nearly every row");
    }
    match column.kind {
        ValueKind::FreeText => {
            return plain(
                RoleJob::Decide,
                "free text can name people: drop it (identifier) or have it read first",
            );
        }
        ValueKind::Dates { .. } => {
            let reason = "dates: many people know when something happened to others";
            return Proposal { hierarchy: dates(column), ..plain(RoleJob::QuasiIdentifier, reason) };
        }
        ValueKind::OtherDates => {
            return plain(
                RoleJob::Decide,
                "looks like dates, but in no form that fits all: say `date_format`, or clean them",
            );
        }
        _ => {}
    }
    match hint {
        Some((Hint::Sensitive, word)) => {
            let reason = format!("`{word}` in its name: nobody should learn it about a person");
            let warning = if column.is_nearly_unique(rows) {
                "; nearly every row has a value of its own: who knows one finds the row"
            } else {
                ""
            };
            return plain(RoleJob::Sensitive, reason + warning);
        }
        Some((hint, word)) => return known(column, hint, word),
        None => {}
    }
    if is_number_of_something {
        let reason = "looks like a person number that repeats: if it says whom a row is about, make it `unit`, \
                      and its role identifier";
        return Proposal { may_be_unit: true, ..plain(RoleJob::Decide, reason) };
    }
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
    plain(RoleJob::Decide, "its name and values do not tell: could an outsider know it?")
}

/// What outsiders know.
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
    let reason = if hierarchy == ProposedHierarchy::Suppression && column.distinct > 12 {
        format!("{reason}; with a hierarchy (file or tree) more of it could be kept")
    } else {
        reason
    };
    Proposal { hierarchy, ..plain(RoleJob::QuasiIdentifier, reason) }
}

/// A hierarchy that covers every value of a column outsiders know.
fn hierarchy(column: &ColumnProfile, hint: Hint) -> ProposedHierarchy {
    let is_code = hint == Hint::Place || matches!(column.kind, ValueKind::Codes { .. });
    if is_code {
        let (length, pad) = match column.digits {
            Digits::Floats(length) => (length, Some(length)),
            Digits::Whole | Digits::Uneven => (column.longest, None),
        };
        return if (2..=MAX_MASKED).contains(&length) {
            ProposedHierarchy::Mask { length, pad }
        } else {
            ProposedHierarchy::Suppression
        };
    }
    let widths = |widths: &[&str]| widths.iter().map(|&width| width.to_owned()).collect();
    match column.kind {
        ValueKind::Whole | ValueKind::Decimals if hint == Hint::Age => {
            ProposedHierarchy::Intervals { widths: widths(&["5", "10", "20"]), top: Some(90) }
        }
        ValueKind::Years if column.is_long => {
            ProposedHierarchy::Intervals { widths: widths(&["5", "10", "20"]), top: None }
        }
        ValueKind::Years => ProposedHierarchy::Intervals { widths: widths(&["5", "10"]), top: None },
        ValueKind::Whole | ValueKind::Decimals if !column.widths.is_empty() => {
            ProposedHierarchy::Intervals { widths: column.widths.clone(), top: None }
        }
        _ => ProposedHierarchy::Suppression,
    }
}

fn dates(column: &ColumnProfile) -> ProposedHierarchy {
    let mut units = vec!["month", "quarter", "year"];
    if column.kind == (ValueKind::Dates { times: true }) {
        units.insert(0, "day");
    }
    if column.is_long {
        units.push("decade");
    }
    ProposedHierarchy::Dates(units)
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
    fn names_split_into_words_in_any_spelling() {
        for name in ["patient_id", "PatientId", "patientID", "Patient ID", "patient-id"] {
            assert_eq!(words(name), ["patient", "id"], "{name}");
        }
        assert_eq!(words("zip5"), ["zip", "5"]);
        assert!(words("").is_empty() && words("--").is_empty());
        assert_eq!(hint("ZIPCode"), Some((Hint::Place, "zipcode")));
        assert_eq!(hint("first_name").map(|(hint, _)| hint), Some(Hint::Identifier));
        assert_eq!(hint("country_name").map(|(hint, _)| hint), Some(Hint::Known));
        assert_eq!(hint("Symptoms").map(|(hint, _)| hint), Some(Hint::Sensitive));
        assert_eq!(hint("storage"), None, "age is no word of it");
        assert!(is_number_of_something("customerId") && is_number_of_something("patientid"));
        assert!(!is_number_of_something("covid") && !is_number_of_something("paid"));
    }

    #[test]
    fn every_rule_decides_as_the_docs_say() {
        let columns: [CellsByRow; 14] = [
            ("empty", |_| String::new()),
            ("same", |_| "x".into()),
            ("email", |row| format!("{}@example.org", row % 4)),
            ("id", |row| row.to_string()),
            ("age", |row| (20 + row).to_string()),
            ("seen", |row| format!("2003-04-{:02}", 1 + row % 28)),
            ("seen too", |row| format!("{}.04.2003", 1 + row % 28)),
            ("zip", |row| format!("1011{}", row % 4)),
            ("income", |row| (row * 1000).to_string()),
            ("note", |row| format!("came in on day {row}")),
            ("customer_id", |row| (row / 3).to_string()),
            ("serial", |row| format!("x{row}")),
            ("level", |row| format!("{row}.5")),
            ("flag", |row| ["yes", "no"][row % 2].into()),
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
                Decide
            ]
        );
        assert_eq!(proposals[4].hierarchy.to_toml().unwrap(), "{ intervals = [5, 10, 20], top = 90 }");
        assert_eq!(
            proposals[5].hierarchy.to_toml().unwrap(),
            "{ dates = [\"month\", \"quarter\", \"year\"] }"
        );
        assert_eq!(proposals[7].hierarchy.to_toml().unwrap(), "{ mask = \"right\" }");
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
