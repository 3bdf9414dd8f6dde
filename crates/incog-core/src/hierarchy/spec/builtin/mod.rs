//! Classifications that everybody uses, ready to be named: `{ builtin = "icd10" }`.
//!
//! A classification is a function from a code to ever coarser codes. It is written down as ranges of codes, never as titles: what is
//! public fact fits a page, and labels mean the same in every language. Sources and versions are in `docs/hierarchies.md`.
//!
//! | name | a value becomes |
//! |---|---|
//! | `age` | intervals of 5, 10, 20 years; from 90 on pooled |
//! | `date-of-birth` | year, 5 years, decade, 20 years |
//! | `iso-country` | `DE`, `DEU`: Western Europe, Europe |
//! | `us-state` | `TX`, `Texas`: West South Central, South |
//! | `us-zip3` | `53715`: 537, 5; sparse areas 000 |
//! | `icd10` | `E11.9`: E11, E08-E14, E00-E90 |
//! | `nuts` | `DE212`: DE21, DE2, DE |
//! | `nace` | `10.11`: 10.1, 10, C |
//! | `isco` | `2221`: 222, 22, 2 |
//!
//! **Invariant: labels nest.** Two values with one label have one label at every level above.

mod icd10;
mod places;

use crate::error::Result;
use crate::hierarchy::spec::{DateLevel, Dates, Decimal, IntervalKind, Intervals, Labels, Spec};
use crate::value::Notation;

/// A hierarchy with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// Ages in years.
    Age,
    /// Days of birth.
    DateOfBirth,
    /// Codes by a classification.
    Codes(Classification),
}

/// A public classification of codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Classification {
    /// ISO 3166-1 codes of two or three letters, by the regions of UN M49.
    IsoCountry,
    /// States of the USA, by the divisions and regions of the Census Bureau.
    UsState,
    /// ZIP codes by three digits; those with at most 20,000 people are 000.
    UsZip3,
    /// Diagnoses of ICD-10 and ICD-10-CM by category, block and chapter.
    Icd10,
    /// Regions of the EU's NUTS.
    Nuts,
    /// Activities of NACE Rev. 2 by group, division and section.
    Nace,
    /// Occupations of ISCO-08.
    Isco,
}

impl Builtin {
    /// All of them, with their names in job files.
    pub const ALL: [(&'static str, Builtin); 9] = [
        ("age", Builtin::Age),
        ("date-of-birth", Builtin::DateOfBirth),
        ("iso-country", Builtin::Codes(Classification::IsoCountry)),
        ("us-state", Builtin::Codes(Classification::UsState)),
        ("us-zip3", Builtin::Codes(Classification::UsZip3)),
        ("icd10", Builtin::Codes(Classification::Icd10)),
        ("nuts", Builtin::Codes(Classification::Nuts)),
        ("nace", Builtin::Codes(Classification::Nace)),
        ("isco", Builtin::Codes(Classification::Isco)),
    ];

    /// The one with this name.
    pub fn named(name: &str) -> Option<Builtin> {
        Builtin::ALL.iter().find(|(known, _)| *known == name).map(|(_, builtin)| *builtin)
    }

    /// As a rule.
    pub fn spec(self) -> Result<Spec> {
        Ok(match self {
            Builtin::Age => {
                let widths = [5, 10, 20].map(Decimal::whole).to_vec();
                let ages = Intervals::new(IntervalKind::Numbers, widths)?;
                Spec::Intervals(Box::new(ages.with_pools(None, Some(Decimal::whole(90)))?))
            }
            Builtin::DateOfBirth => Spec::Dates(Dates::new(vec![
                DateLevel::Year,
                DateLevel::FiveYears,
                DateLevel::Decade,
                DateLevel::TwentyYears,
            ])?),
            Builtin::Codes(classification) => Spec::Codes(classification),
        })
    }
}

impl Classification {
    /// The labels of a code at level 1, 2, ...; `None` if there is no such code.
    pub fn labels_of(self, code: &str) -> Option<Vec<String>> {
        match self {
            Classification::IsoCountry => places::country(code),
            Classification::UsState => places::state(code),
            Classification::UsZip3 => places::zip3(code),
            Classification::Icd10 => icd10::labels(code),
            Classification::Nuts => places::nuts(code),
            Classification::Nace => nace(code),
            Classification::Isco => isco(code),
        }
    }

    /// How many labels each code has.
    pub fn n_labels(self) -> usize {
        match self {
            Classification::IsoCountry | Classification::UsState | Classification::UsZip3 => 2,
            Classification::Icd10 | Classification::Nuts | Classification::Nace | Classification::Isco => 3,
        }
    }
}

impl Labels for Classification {
    fn labels(&self, value: &str, _: &Notation) -> Option<Vec<String>> {
        self.labels_of(value)
    }

    fn n_levels(&self) -> usize {
        self.n_labels()
    }

    fn kind(&self, _: &Notation) -> String {
        match self {
            Classification::IsoCountry => "country codes of ISO 3166 like DE or DEU",
            Classification::UsState => "states of the USA like TX or Texas",
            Classification::UsZip3 => "ZIP codes like 53715 or 53715-1234",
            Classification::Icd10 => "ICD-10 codes like E11 or E11.9",
            Classification::Nuts => "NUTS codes like DE, DE2, DE21 or DE212",
            Classification::Nace => "NACE codes like 10.11, 10 or C",
            Classification::Isco => "ISCO-08 codes of one to four digits",
        }
        .to_owned()
    }
}

/// Sections of NACE Rev. 2: the letter, with its first and last division.
const SECTIONS: [(&str, u8, u8); 21] = [
    ("A", 1, 3),
    ("B", 5, 9),
    ("C", 10, 33),
    ("D", 35, 35),
    ("E", 36, 39),
    ("F", 41, 43),
    ("G", 45, 47),
    ("H", 49, 53),
    ("I", 55, 56),
    ("J", 58, 63),
    ("K", 64, 66),
    ("L", 68, 68),
    ("M", 69, 75),
    ("N", 77, 82),
    ("O", 84, 84),
    ("P", 85, 85),
    ("Q", 86, 88),
    ("R", 90, 93),
    ("S", 94, 96),
    ("T", 97, 98),
    ("U", 99, 99),
];

/// `C10.11`, `10.11`, `1011`, `10.1`, `10` or `C`: group, division, section.
fn nace(code: &str) -> Option<Vec<String>> {
    let letter =
        code.chars().next().filter(char::is_ascii_alphabetic).map(|letter| letter.to_ascii_uppercase());
    let digits = if letter.is_some() { &code[1..] } else { code };
    if digits.is_empty() {
        let section =
            SECTIONS.iter().find(|(section, _, _)| Some(*section) == letter.map(String::from).as_deref())?;
        return Some(vec![section.0.to_owned(); 3]);
    }
    let (division, rest) = digits.split_at_checked(2)?;
    let rest = rest.strip_prefix('.').unwrap_or(rest);
    if !(division.bytes().chain(rest.bytes()).all(|byte| byte.is_ascii_digit()) && rest.len() <= 2) {
        return None;
    }
    let number: u8 = division.parse().ok()?;
    let (section, _, _) = SECTIONS.iter().find(|(_, first, last)| (*first..=*last).contains(&number))?;
    if letter.is_some_and(|letter| !section.starts_with(letter)) {
        return None;
    }
    let group = match rest.get(..1) {
        Some(digit) => format!("{division}.{digit}"),
        None => division.to_owned(),
    };
    Some(vec![group, division.to_owned(), (*section).to_owned()])
}

/// One to four digits: as three, two, one.
fn isco(code: &str) -> Option<Vec<String>> {
    if !(1..=4).contains(&code.len()) || !code.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some([3, 2, 1].map(|length: usize| code[..length.min(code.len())].to_owned()).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::spec::tests::paths;

    fn check(name: &str, values: &[&str], expected: &[&[&str]]) {
        let spec = Builtin::named(name).unwrap().spec().unwrap();
        let expected: Vec<Vec<&str>> =
            expected.iter().map(|labels| labels.iter().copied().chain(["*"]).collect()).collect();
        assert_eq!(paths(&spec, values).unwrap(), expected, "{name}");
    }

    #[test]
    fn every_classification_says_what_its_publisher_says() {
        check(
            "age",
            &["37", "90", "104"],
            &[
                &["[35, 40)", "[30, 40)", "[20, 40)"],
                &[">= 90", ">= 90", ">= 90"],
                &[">= 90", ">= 90", ">= 90"],
            ],
        );
        check("date-of-birth", &["1967-04-17"], &[&["1967", "1965-1969", "1960s", "1960-1979"]]);
        check(
            "iso-country",
            &["DE", "deu", "BR"],
            &[&["Western Europe", "Europe"], &["Western Europe", "Europe"], &["South America", "Americas"]],
        );
        check(
            "us-state",
            &["TX", "Vermont", "PR"],
            &[
                &["West South Central", "South"],
                &["New England", "Northeast"],
                &["Island areas", "Island areas"],
            ],
        );
        check(
            "us-zip3",
            &["53715", "03601-1234", "89301"],
            &[&["537", "5"], &["000", "000"], &["000", "000"]],
        );
        check(
            "icd10",
            &["E11.9", "I21", "C4A.0", "S72.001A"],
            &[
                &["E11", "E08-E14", "E00-E90"],
                &["I21", "I20-I25", "I00-I99"],
                &["C4A", "C43-C44", "C00-D49"],
                &["S72", "S70-S79", "S00-T98"],
            ],
        );
        check("nuts", &["DE212", "FR1"], &[&["DE21", "DE2", "DE"], &["FR1", "FR1", "FR"]]);
        check(
            "nace",
            &["10.11", "C1011", "86", "Q"],
            &[&["10.1", "10", "C"], &["10.1", "10", "C"], &["86", "86", "Q"], &["Q", "Q", "Q"]],
        );
        check("isco", &["2221", "22"], &[&["222", "22", "2"], &["22", "22", "2"]]);
    }

    #[test]
    fn what_is_no_code_is_refused() {
        for (name, value) in [
            ("iso-country", "XX"),
            ("us-state", "ZZ"),
            ("us-zip3", "5371"),
            ("icd10", "A10"),
            ("icd10", "hello"),
            ("icd10", "E11.99999"),
            ("nuts", "XX1"),
            ("nace", "04"),
            ("nace", "A10.1"),
            ("isco", "22215"),
        ] {
            let spec = Builtin::named(name).unwrap().spec().unwrap();
            assert!(paths(&spec, &[value]).is_err(), "{name} {value}");
        }
        assert!(Builtin::named("icd9").is_none());
    }
}
