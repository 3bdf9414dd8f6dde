//! The SQL of PostgreSQL.

use crate::Dialect;

/// The SQL of PostgreSQL, from version 13 on.
#[derive(Debug, Clone, Copy)]
pub struct PostgreSql;

impl Dialect for PostgreSql {
    fn name(&self) -> &'static str {
        "PostgreSQL"
    }

    // With `standard_conforming_strings`, which the session sets, nothing but the quote is special.
    fn literal(&self, text: &str) -> String {
        format!("'{}'", text.replace('\'', "''"))
    }

    // Equal bytes, whatever the column's own collation takes for equal.
    fn text(&self, expression: &str) -> String {
        format!("(({expression})::text COLLATE \"C\")")
    }

    // One by one: what a range has depends on the collation, and `\s` on the locale.
    fn is_blank(&self, text: &str) -> String {
        let spaces = ('\0'..='\u{FFFF}').filter(|letter| letter.is_whitespace());
        let spaces: String = spaces.map(|letter| format!("\\u{:04X}", u32::from(letter))).collect();
        format!("{text} ~ '^[{spaces}]*$'")
    }

    fn temporary(&self, name: &str) -> String {
        format!("pg_temp.{name}")
    }

    fn create_temporary(&self, name: &str, query: &str) -> String {
        format!("CREATE TEMPORARY TABLE {name} ON COMMIT DROP AS {query}")
    }

    fn create_empty(&self, name: &str, texts: &[String], numbers: &[String]) -> String {
        let texts = texts.iter().map(|column| format!("{column} text COLLATE \"C\""));
        let numbers = numbers.iter().map(|column| format!("{column} bigint NOT NULL"));
        let columns: Vec<String> = texts.chain(numbers).collect();
        format!("CREATE TEMPORARY TABLE {name} ({}) ON COMMIT DROP", columns.join(", "))
    }

    fn analyze(&self, name: &str) -> Option<String> {
        Some(format!("ANALYZE {}", self.temporary(name)))
    }

    fn create(&self, table: &str, query: &str) -> String {
        format!("CREATE TABLE {table} AS {query}")
    }

    // From the operating system's randomness: `random()` is a generator whose state could be guessed.
    fn random(&self) -> &'static str {
        "gen_random_uuid()"
    }

    fn sample(&self, table: &str, percent: f64) -> String {
        format!("{} TABLESAMPLE SYSTEM ({percent:.6}) REPEATABLE (0)", self.temporary(table))
    }
}
