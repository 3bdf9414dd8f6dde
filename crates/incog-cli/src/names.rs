//! What can be named on the command line, from the registries: for help texts.

use incog::unstable::engine::algorithm::Family;
use incog::unstable::engine::registry::Entry;

/// Names of a registry, as a list in a sentence.
fn named<T: 'static>(entries: impl IntoIterator<Item = &'static Entry<T>>) -> String {
    let names: Vec<&str> = entries.into_iter().map(|entry| entry.name).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

pub(crate) fn algorithm_help() -> String {
    let mut help: Vec<String> = Vec::new();
    for family in Family::ALL {
        let entries =
            incog::unstable::engine::algorithm::ALL.iter().filter(|entry| entry.item.family == family);
        help.push(format!("for {}: {}", family.title(), named(entries)));
    }
    help.push(format!("for databases: {}", named(incog::unstable::engine::relational::ALL)));
    help.join("; ") + " [default: best, for lists of generalizations cover, for databases miraclex]"
}

pub(crate) fn checker_help() -> String {
    format!("{} [default: what should be fastest]", named(incog::unstable::engine::judge::ALL))
}

pub(crate) fn metric_help() -> String {
    format!(
        "How the best one is picked: {}; top-down is only measured by it [default: loss]",
        named(incog::unstable::engine::metric::ALL)
    )
}
