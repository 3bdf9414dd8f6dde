//! What values of a column may become, as it is proposed.

/// What values may become.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
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
        /// How many may be replaced, if not any number.
        levels: Option<Vec<u8>>,
    },
    /// Ever wider intervals.
    Intervals {
        /// Their widths.
        widths: Vec<String>,
        /// Values from here on are pooled.
        top: Option<u32>,
    },
    /// A built-in hierarchy.
    Builtin {
        /// Its name.
        name: &'static str,
        /// Its levels that merge something.
        levels: Vec<u8>,
    },
    /// What a preset asks for.
    Rule {
        /// As in a job file.
        rule: String,
        /// How many levels may be chosen.
        n_levels: u64,
    },
}

impl ProposedHierarchy {
    /// How many levels it has at most, the values and `*` included.
    pub(super) fn n_levels(&self) -> u64 {
        match self {
            ProposedHierarchy::Suppression => 2,
            ProposedHierarchy::Dates(units) => units.len() as u64 + 2,
            ProposedHierarchy::Mask { levels: Some(levels), .. } => levels.len() as u64,
            ProposedHierarchy::Mask { length, levels: None, .. } => *length as u64 + 1,
            ProposedHierarchy::Intervals { widths, .. } => widths.len() as u64 + 2,
            ProposedHierarchy::Builtin { levels, .. } => levels.len() as u64,
            ProposedHierarchy::Rule { n_levels, .. } => *n_levels,
        }
    }

    /// As in a job file.
    pub(crate) fn to_toml(&self) -> Option<String> {
        let listed = |levels: &[u8]| {
            let levels: Vec<String> = levels.iter().map(u8::to_string).collect();
            format!(", levels = [{}]", levels.join(", "))
        };
        match self {
            ProposedHierarchy::Suppression => None,
            ProposedHierarchy::Dates(units) => {
                let units: Vec<String> = units.iter().map(|unit| format!("\"{unit}\"")).collect();
                Some(format!("{{ dates = [{}] }}", units.join(", ")))
            }
            ProposedHierarchy::Mask { length, pad, levels } => {
                let pad = pad.map_or(String::new(), |pad| format!(", pad = {pad}"));
                // Levels are counted from a length, which would otherwise depend on k.
                let levels = levels.as_deref().map(|levels| format!(", length = {length}{}", listed(levels)));
                Some(format!("{{ mask = \"right\"{pad}{} }}", levels.unwrap_or_default()))
            }
            ProposedHierarchy::Intervals { widths, top } => {
                let top = top.map_or(String::new(), |top| format!(", top = {top}"));
                Some(format!("{{ intervals = [{}]{top} }}", widths.join(", ")))
            }
            ProposedHierarchy::Builtin { name, levels } => {
                Some(format!("{{ builtin = \"{name}\"{} }}", listed(levels)))
            }
            ProposedHierarchy::Rule { rule, .. } => Some(rule.clone()),
        }
    }
}
