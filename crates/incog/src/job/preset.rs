//! Policies that others have written down, by name.
//!
//! A preset fills in what the job leaves open and refuses what contradicts it; what it asks for is checked like anything else that a job says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A policy that others have written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Preset {
    /// The 18 identifiers of the HIPAA Privacy Rule are removed: years only, ages over 89 pooled, three digits of ZIP codes.
    HipaaSafeHarbor,
    /// A file for everybody: k of at least 20, years only, nothing that is nearly unique.
    PublicUse,
    /// A file for researchers under contract: k of at least 5, months at the finest.
    ScientificUse,
    /// No cell of fewer than 11 persons: k of at least 11.
    #[serde(rename = "cell-size-11")]
    CellSize11,
}

impl Preset {
    /// All of them.
    pub const ALL: [Preset; 4] =
        [Preset::HipaaSafeHarbor, Preset::PublicUse, Preset::ScientificUse, Preset::CellSize11];

    /// Its name in job files.
    pub fn name(self) -> &'static str {
        match self {
            Preset::HipaaSafeHarbor => "hipaa-safe-harbor",
            Preset::PublicUse => "public-use",
            Preset::ScientificUse => "scientific-use",
            Preset::CellSize11 => "cell-size-11",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// The least k that it asks for.
    pub fn least_k(self) -> u64 {
        match self {
            // The rule knows no k; whoever asks for none gets groups of two.
            Preset::HipaaSafeHarbor => 2,
            Preset::PublicUse => 20,
            Preset::ScientificUse => 5,
            Preset::CellSize11 => 11,
        }
    }

    /// Where it comes from.
    pub fn source(self) -> &'static str {
        match self {
            Preset::HipaaSafeHarbor => {
                "45 CFR 164.514(b)(2), with the guidance of the US Department of Health and Human Services of November 26, 2012"
            }
            Preset::PublicUse => {
                "El Emam, Arbuckle: Anonymizing Health Data, O'Reilly 2013 (a risk of at most 0.05 for public files, so groups of 20)"
            }
            Preset::ScientificUse => {
                "El Emam, Arbuckle: Anonymizing Health Data, O'Reilly 2013 (a risk of at most 0.2 for known recipients, so groups of 5)"
            }
            Preset::CellSize11 => {
                "the cell size suppression policy of the US Centers for Medicare & Medicaid Services (no cell of 1 to 10)"
            }
        }
    }

    /// What it does not do.
    pub fn limits(self) -> &'static str {
        match self {
            Preset::HipaaSafeHarbor => {
                "It does not find names in free text (such columns are dropped), does not know what you know about somebody (the rule's second \
                 condition), and is no legal advice. Sparse ZIP codes are those of the 2000 census."
            }
            Preset::PublicUse => {
                "It does not hide what nobody should learn: require a model such as distinct-l for sensitive columns. It does not know what \
                 outsiders know beside the quasi-identifiers."
            }
            Preset::ScientificUse => {
                "It relies on a contract with whoever receives the file, and on the place where it is kept. Not for the public."
            }
            Preset::CellSize11 => {
                "It is about the rows of one release. Tables that are made of it can be subtracted from each other, and their cells are not \
                 checked here."
            }
        }
    }
}
