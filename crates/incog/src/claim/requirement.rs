//! A required privacy model in the checker's terms.

use incog_core::{Error, Result};
use incog_verify::{Counted, NoClaim, RequirementValues, SensitiveClaim};

use crate::plan::requirements::RequirePart;

/// A requirement in the checker's terms, as the checker reads it. `None` if it takes cells or persons, and they are not at hand.
pub(crate) fn required(
    part: &RequirePart,
    cells: Option<RequirementValues>,
    counted: &Counted,
) -> Result<Option<SensitiveClaim>> {
    // Published values are at hand for everybody; who has them is not.
    let published = || {
        let values = part.values.clone().filter(|_| *counted == Counted::Rows)?;
        Some(RequirementValues { values, ..RequirementValues::default() })
    };
    let cells = cells.or_else(published);
    let claim = SensitiveClaim::required(&part.model, &part.sensitive, &part.parameters, cells, counted);
    claim.map_err(|problem| {
        let error = Error::input(problem.to_string());
        match problem {
            NoClaim::UnknownModel(_) => error.with_hint("use the version of incog that wrote the record"),
            NoClaim::Parameter(_) => error,
        }
    })
}

#[cfg(test)]
mod tests {
    use incog_core::privacy::{self, Model, ParameterKind};
    use incog_core::registry::Entry;

    use incog_verify::{Claims, StringTable, check};

    use super::*;
    use crate::job::RequireJob;
    use crate::plan::requirements;

    /// Two groups, in each of which every illness has the same share.
    const RELEASE: &str = "zip,ill\n1*,1\n1*,2\n2*,1\n2*,2\n2*,1\n2*,2\n";

    /// Flags that require the model, with each sample of its entry and each name that it lets choose; cells are those above.
    fn flags(entry: &Entry<Model>) -> Vec<String> {
        let texts = |kind: ParameterKind, samples: &[&str]| -> Vec<String> {
            match kind {
                ParameterKind::Column => vec!["ill".to_owned()],
                ParameterKind::Whole | ParameterKind::Number => {
                    samples.iter().map(|&text| text.to_owned()).collect()
                }
                ParameterKind::Values => vec!["1".to_owned()],
                ParameterKind::Order => vec!["1|2".to_owned()],
                ParameterKind::Choice(choice) | ParameterKind::Distance(choice) => {
                    choice.names().map(str::to_owned).collect()
                }
                ParameterKind::Hierarchy => vec!["ill.csv".to_owned()],
            }
        };
        let required = entry.item.required.iter().map(|parameter| {
            let texts = texts(parameter.kind, parameter.samples);
            assert!(!texts.is_empty(), "{}: `{}` has no samples", entry.name, parameter.name);
            (parameter.name, texts)
        });
        let required: Vec<(&str, Vec<String>)> = required.collect();
        let most = required.iter().map(|(_, texts)| texts.len()).max().unwrap_or(1);
        let flag = |at: usize| -> String {
            let settings = required.iter().map(|(name, texts)| format!("{name}={}", texts[at % texts.len()]));
            format!("{}:{}", entry.name, settings.collect::<Vec<_>>().join(","))
        };
        let mut flags: Vec<String> = (0..most).map(flag).collect();
        for parameter in entry.item.optional {
            let texts = texts(parameter.kind, parameter.samples);
            flags.extend(texts.iter().map(|text| format!("{},{}={text}", flag(0), parameter.name)));
        }
        flags
    }

    #[test]
    fn the_checker_can_decide_whatever_a_registered_model_can_be_asked_for() {
        let release = StringTable::parse(RELEASE.as_bytes(), b',').unwrap();
        let report = |sensitive: Vec<SensitiveClaim>| {
            let quasi_identifiers = vec!["zip".to_owned()];
            check(
                &release,
                &Claims {
                    quasi_identifiers,
                    k: 1,
                    combinations: None,
                    columns: None,
                    sensitive,
                    source: None,
                },
            )
        };
        let nothing = report(vec![SensitiveClaim::measured("ill")]).findings.len();
        // The first is what `k` in [policy] asks for.
        for entry in privacy::ALL.iter().skip(1) {
            for flag in flags(entry) {
                let require = RequireJob::parse(&flag).unwrap();
                let part = requirements::part(&require).unwrap();
                let text = serde_json::to_string(&part).unwrap();
                assert_eq!(serde_json::from_str::<RequirePart>(&text).unwrap(), part, "{flag}");
                let paths = ["1", "2"].map(|value| vec![value.to_owned(), "*".to_owned()]).to_vec();
                let (values, order) = (vec!["1".to_owned()], vec!["1".to_owned(), "2".to_owned()]);
                let claim = required(&part, Some(RequirementValues { values, order, paths }), &Counted::Rows);
                let claim = claim.unwrap_or_else(|error| panic!("{flag}: {error}"));
                let claim = claim.unwrap_or_else(|| panic!("{flag}: nothing is claimed"));
                // A claim of its own: decided one way or the other, not only measured.
                let decided = report(vec![claim]).findings.len();
                assert_eq!(decided, nothing + 1, "{flag}");
            }
        }
    }

    #[test]
    fn a_job_with_a_requirement_says_the_same_after_it_was_written() {
        for flag in privacy::ALL.iter().skip(1).flat_map(flags) {
            let require = RequireJob::parse(&flag).unwrap();
            let text = toml::to_string(&require).unwrap();
            let again: RequireJob = toml::from_str(&text).unwrap();
            assert_eq!(toml::to_string(&again).unwrap(), text, "{flag}");
            let keys: Vec<&str> = text.lines().filter_map(|line| line.split([' ', '.']).next()).collect();
            assert!(require.given().iter().all(|key| text.contains(key)), "{flag}: {keys:?}");
        }
    }
}
