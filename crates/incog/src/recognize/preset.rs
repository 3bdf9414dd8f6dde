//! What does a preset ask of a column, given its name and its values?
//!
//! A [`Demand`] is what must be true of a column that is released. Names alone do not decide: what has the form of an identifier is one, whatever it is
//! called. For `hipaa-safe-harbor` these are the 18 identifiers of 45 CFR 164.514(b)(2)(i):
//!
//! | letter | what | found by |
//! |---|---|---|
//! | A | names | name of the column; forms of names |
//! | B | places smaller than a state | name of the column; streets, ZIP codes (three digits stay, sparse ones are 000); other words without a meaning here |
//! | C | dates but for the year, ages over 89 | dates of any notation; numbers that can be ages |
//! | D, E, F | telephone, fax, e-mail | name of the column; their forms |
//! | G to M | numbers of social security, records, plans, accounts, licences, vehicles, devices | name of the column; their forms; nearly unique values; codes that repeat like persons |
//! | N, O | web and IP addresses | name of the column; their forms |
//! | P, Q, R | biometrics, photographs, any other unique number or code | name of the column; nearly unique values |
//!
//! Where neither name nor values tell what a column of text is, it is dropped: it might name a town.

use crate::job::{Preset, RoleJob};
use crate::recognize::profile::{ColumnProfile, Content, Profile, ValueKind};
use crate::recognize::propose::{Proposal, ProposedHierarchy};
use crate::recognize::spread::TOP_AGE;
use crate::recognize::words::{self, Hint};

/// What a preset asks of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Demand {
    /// It must be dropped, for this reason.
    Drop(String),
    /// It must be a quasi-identifier that is released at these levels of such a hierarchy only; what they hide.
    Coarser(Coarser),
    /// Nothing.
    Free,
}

/// How coarse a column must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Coarser {
    /// Years of dates, at the finest.
    Years,
    /// Months of dates, at the finest.
    Months,
    /// Years of birth, and those of people who may be over 89 are pooled: before this year.
    Births,
    /// Numbers from 90 on are pooled.
    Ages,
    /// Three digits of ZIP codes.
    Zip3,
}

/// Words for places smaller than a state.
const PLACES: &str = "city town village county municipality district parish precinct place residence neighborhood neighbourhood location \
    latitude longitude lat lon lng birthplace ort stadt wohnort gemeinde ville commune ciudad municipio citta comune cidade freguesia stad \
    woonplaats hospital geocode tract block fips";
/// Words for what else leads to a person, beside those of [`words`].
const NUMBERS: &str = "mrn account certificate device serial biometric retina voiceprint voice face picture image fingerprint beneficiary plan \
    member medicare medicaid imei implant pacemaker badge username handle prescription npi dea record chart encounter";
/// Words for a birth.
const BIRTHS: &str = "birth birthday birthdate birthyear dob yob born geburtsdatum geburtstag geburtsjahr naissance datenaissance nacimiento \
    fechanacimiento nascita datanascita nascimento datanascimento geboortedatum geboortejaar";
/// Words that no place and no person is called by, of text that may stay.
const KNOWN_TEXT: &str = "sex gender race ethnicity ethnic religion education marital occupation diagnosis disease illness condition symptom \
    procedure treatment drug medication therapy state country nation insurance payer ward department unit status type class category \
    group arm severity outcome result smoker smoking alcohol language";

fn has_word(column: &ColumnProfile, known: &str) -> bool {
    let words = words::words(&column.name);
    let joined = words.concat();
    words.iter().chain([&joined]).any(|word| {
        words::is_one_of(known, word)
            || word.strip_suffix('s').is_some_and(|one| words::is_one_of(known, one))
    })
}

/// What a preset asks of each column.
pub(crate) fn demands(preset: Preset, profile: &Profile, proposals: &[Proposal]) -> Vec<Demand> {
    let before = first_young_year(profile);
    let columns = profile.columns.iter().zip(proposals);
    columns
        .map(|(column, proposal)| match preset {
            Preset::HipaaSafeHarbor => safe_harbor(column, proposal, (profile.rows, before)),
            Preset::PublicUse => public(column, proposal, profile.rows),
            Preset::ScientificUse => scientific(column, proposal),
            Preset::CellSize11 => named(column, proposal).unwrap_or(Demand::Free),
        })
        .collect()
}

/// What leads to a person by itself.
fn named(column: &ColumnProfile, proposal: &Proposal) -> Option<Demand> {
    let form = column.content.map(|recognized| recognized.content).filter(|content| content.names_people());
    if let Some(content) = form {
        return Some(Demand::Drop(format!("its values are {}", content.name())));
    }
    match words::hint(&column.name) {
        Some((Hint::Identifier, word)) if proposal.role == RoleJob::Identifier => {
            Some(Demand::Drop(format!("`{word}` in its name: it names people")))
        }
        _ if column.kind == ValueKind::FreeText => Some(Demand::Drop("free text can name people".into())),
        _ => None,
    }
}

fn safe_harbor(column: &ColumnProfile, proposal: &Proposal, (rows, before): (u64, i64)) -> Demand {
    if column.kind == ValueKind::Empty {
        return Demand::Free;
    }
    if let Some(demand) = named(column, proposal) {
        return demand;
    }
    let content = column.content.map(|recognized| recognized.content);
    let is_sensible = matches!(
        content,
        Some(Content::Sex | Content::State | Content::Country | Content::Icd10 | Content::Nace)
    );
    let hint = words::hint(&column.name);
    // The name of a column of names, whatever its values.
    if matches!(hint, Some((Hint::Identifier, _))) && column.kind != ValueKind::YesNo && column.distinct > 2 {
        return Demand::Drop("its name is that of an identifier".into());
    }
    match column.kind {
        ValueKind::Dates { .. } => {
            let is_birth = has_word(column, BIRTHS) || !is_recent(column, before);
            return Demand::Coarser(if is_birth { Coarser::Births } else { Coarser::Years });
        }
        ValueKind::OtherDates | ValueKind::Mixed { mostly: "dates", .. } => {
            return Demand::Drop(
                "its dates are in no form that fits all, so that years cannot be told from days".into(),
            );
        }
        ValueKind::YesNo => return Demand::Free,
        _ => {}
    }
    if content == Some(Content::Zip)
        || (hint.is_some_and(|(hint, _)| hint == Hint::Place) && looks_like_zip(column))
    {
        return if column.builtin.as_ref().is_some_and(|(name, _)| *name == "us-zip3") || column.spread.is_zip
        {
            Demand::Coarser(Coarser::Zip3)
        } else {
            Demand::Drop("its ZIP codes are not all of five digits".into())
        };
    }
    if is_sensible {
        return Demand::Free;
    }
    if hint.is_some_and(|(hint, _)| hint == Hint::Place)
        || has_word(column, PLACES)
        || content.is_some_and(|it| it == Content::Nuts || it == Content::PostalCode)
    {
        return Demand::Drop("it is a place smaller than a state".into());
    }
    if column.distinct > 2
        && (has_word(column, NUMBERS)
            || (words::is_number_of_something(&column.name) && column.distinct > 20))
    {
        return Demand::Drop("its name is that of a number or code of a person".into());
    }
    if proposal.may_be_unit {
        return Demand::Drop("its values repeat like the number of a person".into());
    }
    numbers_and_texts(column, (rows, before), hint.map(|(hint, _)| hint))
}

/// The last rules of the safe harbor, by values alone.
fn numbers_and_texts(column: &ColumnProfile, (rows, before): (u64, i64), hint: Option<Hint>) -> Demand {
    let is_unique = column.is_nearly_unique(rows) && rows >= 20;
    match column.kind {
        ValueKind::Decimals => Demand::Free,
        ValueKind::Years if has_word(column, BIRTHS) || hint.is_none() => {
            if is_recent(column, before) {
                Demand::Free
            } else {
                Demand::Drop("its years may be those of births of people over 89".into())
            }
        }
        ValueKind::Years => Demand::Free,
        // An amount is known to be one.
        ValueKind::Whole if hint == Some(Hint::Sensitive) => Demand::Free,
        ValueKind::Whole if column.spread.fits_ages => {
            let may_be_age = hint == Some(Hint::Age) || (hint.is_none() && column.spread.has_old);
            if may_be_age { Demand::Coarser(Coarser::Ages) } else { Demand::Free }
        }
        ValueKind::Whole if hint == Some(Hint::Age) => Demand::Coarser(Coarser::Ages),
        ValueKind::Whole if is_unique => Demand::Drop("nearly every row has a number of its own".into()),
        ValueKind::Whole if column.spread.is_zip => {
            Demand::Drop("its numbers of five digits may be ZIP codes".into())
        }
        ValueKind::Whole => Demand::Free,
        _ if is_unique => Demand::Drop("nearly every row has a value of its own".into()),
        _ if hint == Some(Hint::Sensitive) || has_word(column, KNOWN_TEXT) => Demand::Free,
        _ => Demand::Drop("what its texts are cannot be told: they may name a place or a person".into()),
    }
}

/// Is nobody over 89 who was born in the first year of a column?
fn is_recent(column: &ColumnProfile, before: i64) -> bool {
    column.spread.first_year >= before
}

fn looks_like_zip(column: &ColumnProfile) -> bool {
    column.spread.is_zip || column.content.is_some_and(|it| it.content == Content::Zip)
}

fn public(column: &ColumnProfile, proposal: &Proposal, rows: u64) -> Demand {
    if let Some(demand) = named(column, proposal) {
        return demand;
    }
    match column.kind {
        ValueKind::Dates { .. } => Demand::Coarser(Coarser::Years),
        ValueKind::OtherDates => Demand::Drop("its dates are in no form that fits all".into()),
        // A quasi-identifier is generalized, whatever its values.
        _ if proposal.role != RoleJob::QuasiIdentifier && column.is_nearly_unique(rows) && rows >= 20 => {
            Demand::Drop("nearly every row has a value of its own".into())
        }
        _ => Demand::Free,
    }
}

fn scientific(column: &ColumnProfile, proposal: &Proposal) -> Demand {
    if let Some(demand) = named(column, proposal) {
        return demand;
    }
    match column.kind {
        ValueKind::Dates { .. } => Demand::Coarser(Coarser::Months),
        _ => Demand::Free,
    }
}

impl Coarser {
    /// A hierarchy that is as coarse as that, with how many levels; `before` is the first year of birth that is not pooled.
    pub(crate) fn rule(&self, column: &ColumnProfile, before: i64) -> (String, u64) {
        let several = column.spread.last_year - column.spread.first_year > 10;
        match self {
            Coarser::Years if several => {
                ("{ dates = [\"year\", \"5 years\", \"decade\"], levels = [1, 2, 3, 4] }".into(), 4)
            }
            Coarser::Years => ("{ dates = [\"year\"], levels = [1, 2] }".into(), 2),
            Coarser::Months => {
                ("{ dates = [\"month\", \"quarter\", \"year\"], levels = [1, 2, 3, 4] }".into(), 4)
            }
            Coarser::Births => (
                format!(
                    "{{ dates = [\"year\", \"5 years\", \"decade\"], bottom = \"{before}-01-01\", levels = [1, 2, 3, 4] }}"
                ),
                4,
            ),
            Coarser::Ages => {
                (format!("{{ intervals = [5, 10, 20], top = {TOP_AGE}, levels = [1, 2, 3, 4] }}"), 4)
            }
            Coarser::Zip3 => ("{ builtin = \"us-zip3\", levels = [1, 2, 3] }".into(), 3),
        }
    }
}

/// The last year that is known to have begun; data that speak of a later one know better. There is no clock here: the same job must give the
/// same release next year.
const THIS_YEAR: i64 = 2026;

/// The first year of which nobody born in it is over 89.
pub(crate) fn first_young_year(profile: &Profile) -> i64 {
    let last = profile.columns.iter().map(|column| column.spread.last_year).max().unwrap_or(0);
    last.clamp(THIS_YEAR, 2100) - 89
}

/// Proposals as a preset has them: nothing is left open that it can decide.
pub(crate) fn apply(preset: Preset, profile: &Profile, proposals: &mut [Proposal]) {
    let before = first_young_year(profile);
    let demands = demands(preset, profile, proposals);
    for ((proposal, demand), column) in proposals.iter_mut().zip(demands).zip(&profile.columns) {
        let name = preset.name();
        match demand {
            Demand::Drop(reason) if proposal.role != RoleJob::Identifier => {
                proposal.role = RoleJob::Identifier;
                proposal.reason = format!("{reason} ({name})");
                proposal.hierarchy = ProposedHierarchy::Suppression;
                proposal.offered = ProposedHierarchy::Suppression;
            }
            Demand::Coarser(coarser) if proposal.role != RoleJob::Identifier => {
                let (rule, n_levels) = coarser.rule(column, before);
                proposal.reason = format!("{} ({name})", coarser.reason());
                proposal.role = RoleJob::QuasiIdentifier;
                proposal.hierarchy = ProposedHierarchy::Rule { rule, n_levels };
                proposal.offered = ProposedHierarchy::Suppression;
            }
            // What is none of the 18 identifiers may stay.
            Demand::Free if preset == Preset::HipaaSafeHarbor && proposal.role == RoleJob::Decide => {
                proposal.role = RoleJob::Other;
                proposal.reason = format!("none of the 18 identifiers ({name})");
                proposal.offered = ProposedHierarchy::Suppression;
            }
            _ => {}
        }
    }
}

impl Coarser {
    /// Why.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Coarser::Years => "dates are released as years at the finest",
            Coarser::Months => "dates are released as months at the finest",
            Coarser::Births => {
                "births are released as years, and those of people who may be over 89 together"
            }
            Coarser::Ages => "ages over 89 are released together",
            Coarser::Zip3 => "three digits of ZIP codes are released, and 000 where few people live",
        }
    }
}
