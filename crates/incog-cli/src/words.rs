//! Every word of a job file: what its key or value is, from the schema of job files, and by which other names people know things.

use incog::unstable::job::AnyJob;
use serde_json::Value;

/// What people call things that have another name here: theirs, ours.
pub(crate) const ALIASES: &[(&str, &str)] = &[
    ("qi", "quasi-identifier"),
    ("quasi", "quasi-identifier"),
    ("quasi-identifiers", "quasi-identifier"),
    ("key-variable", "quasi-identifier"),
    ("identifiers", "identifier"),
    ("direct-identifier", "identifier"),
    ("roles", "role"),
    ("confidential", "sensitive"),
    ("sensitive-attribute", "sensitive"),
    ("insensitive", "other"),
    ("anonymity", "k-anonymity"),
    ("diversity", "l-diversity"),
    ("l", "l-diversity"),
    ("closeness", "t-closeness"),
    ("t", "t-closeness"),
    ("alpha-k-anonymity", "alpha-k"),
    ("equivalence-class", "group"),
    ("class", "group"),
    ("groups", "group"),
    ("levels", "level"),
    ("generalize", "generalization"),
    ("generalisation", "generalization"),
    ("full-domain", "generalization"),
    ("suppress", "suppression"),
    ("redaction", "suppression"),
    ("masking", "mask"),
    ("bins", "intervals"),
    ("ranges", "intervals"),
    ("date", "dates"),
    ("taxonomy", "tree"),
    ("hierarchies", "hierarchy"),
    ("vgh", "hierarchy"),
    ("person", "unit"),
    ("record", "release-record"),
    ("optimum", "optimal"),
    ("prosecutor-risk", "risk"),
    ("re-identification", "risk"),
    ("homogeneity-attack", "homogeneity"),
];

/// Where a word stands in job files, and what it means there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Use {
    /// The keys down to it, separated by dots.
    pub(crate) place: String,
    /// Is it the value of that key, not the last key itself?
    pub(crate) is_value: bool,
    pub(crate) text: String,
}

/// Every key and every value that is a word, with what the schema says of it.
pub(crate) fn uses() -> Vec<(String, Use)> {
    let schema: Value = serde_json::from_str(&AnyJob::schema()).unwrap_or_default();
    let mut walk = Walk { schema: &schema, found: Vec::new(), open: Vec::new() };
    walk.visit(&schema, "");
    walk.found
}

struct Walk<'a> {
    schema: &'a Value,
    found: Vec<(String, Use)>,
    /// Definitions that are being looked at: a branch of a tree has branches.
    open: Vec<&'a str>,
}

impl<'a> Walk<'a> {
    fn add(&mut self, word: &str, place: &str, is_value: bool, text: &str) {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let new = (word.to_owned(), Use { place: place.to_owned(), is_value, text });
        if !self.found.contains(&new) {
            self.found.push(new);
        }
    }

    fn visit(&mut self, part: &'a Value, place: &str) {
        if let Some(name) = part["$ref"].as_str().and_then(|path| path.rsplit('/').next())
            && !self.open.contains(&name)
        {
            self.open.push(name);
            self.visit(&self.schema["$defs"][name], place);
            self.open.pop();
        }
        for (name, below) in part["properties"].as_object().into_iter().flatten() {
            let at = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
            let text = below["description"].as_str().or_else(|| self.described(below)).unwrap_or("");
            self.add(name, &at, false, text);
            self.visit(below, &at);
        }
        if part["additionalProperties"].is_object() {
            let name = if place.ends_with("tables") { "TABLE" } else { "NAME" };
            self.visit(&part["additionalProperties"], &format!("{place}.{name}"));
        }
        for list in ["oneOf", "anyOf", "allOf"] {
            for one in part[list].as_array().into_iter().flatten() {
                if let Some(word) = one["const"].as_str() {
                    self.add(word, place, true, one["description"].as_str().unwrap_or(""));
                }
                self.visit(one, place);
            }
        }
        for word in part["enum"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            self.add(word, place, true, "");
        }
        if part["items"].is_object() {
            self.visit(&part["items"], place);
        }
    }

    /// What the type of a key says, where the key itself says nothing.
    fn described(&self, part: &'a Value) -> Option<&'a str> {
        let name = part["$ref"].as_str()?.rsplit('/').next()?;
        self.schema["$defs"][name]["description"].as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_of_job_files_are_found_where_they_stand() {
        let uses = uses();
        let places = |word: &str| {
            let of = uses.iter().filter(|(name, _)| name == word);
            of.map(|(_, found)| (found.place.as_str(), found.is_value)).collect::<Vec<_>>()
        };
        assert!(
            places("suppression").contains(&("policy.suppression", false)),
            "{:?}",
            places("suppression")
        );
        assert!(places("intervals").contains(&("columns.NAME.hierarchy.intervals", false)));
        assert!(places("decade").contains(&("columns.NAME.hierarchy.dates", true)), "{:?}", places("decade"));
        assert!(places("shuffle").contains(&("output.order", true)), "{:?}", places("shuffle"));
        assert!(uses.len() > 100, "{}", uses.len());
    }

    #[test]
    fn an_alias_is_no_name_of_its_own() {
        let names: Vec<&str> = ALIASES.iter().map(|(theirs, _)| *theirs).collect();
        for (theirs, ours) in ALIASES {
            assert!(!names.contains(ours), "{theirs} leads to {ours}, which leads elsewhere");
        }
    }
}
