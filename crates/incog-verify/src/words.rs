//! How are numbers said to people? One thing and several have different names.

/// A number with the name of what is counted: `1 row`, `2 rows`.
pub(crate) fn counted(n: u64, one: &str, several: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { several })
}
