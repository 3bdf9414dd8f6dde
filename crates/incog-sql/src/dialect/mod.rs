//! How is SQL written here?
//!
//! What all engines write alike is made by [`star`](crate::star), [`counts`](crate::counts) and [`release`](crate::release); what one
//! writes differently stands in its dialect, a file each.

pub mod postgres;

/// One way to write SQL.
///
/// # What a dialect must have
/// `GROUP BY` with `count(*)`, `LEFT JOIN`, `NOT EXISTS`, temporary tables that vanish by themselves, whole numbers of 64 bits with `&`,
/// `|` and `<<`, a cast of every groupable type to text whose equality is that of bytes, and an order drawn at random by the engine.
pub trait Dialect: Sync {
    /// The engine's name, for people.
    fn name(&self) -> &'static str;

    /// A name as it stands in a statement, whatever it consists of.
    fn identifier(&self, name: &str) -> String {
        format!("\"{}\"", name.replace('"', "\"\""))
    }

    /// A text as it stands in a statement, whatever it consists of.
    fn literal(&self, text: &str) -> String;

    /// The text of an expression, compared byte by byte; null stays null.
    fn text(&self, expression: &str) -> String;

    /// Whether a text, which is not null, has nothing but white space (the property of Unicode), or nothing at all.
    fn is_blank(&self, text: &str) -> String;

    /// What a temporary table of this name is called in statements.
    fn temporary(&self, name: &str) -> String;

    /// Creates a temporary table of the rows of a query.
    fn create_temporary(&self, name: &str, query: &str) -> String;

    /// Creates an empty temporary table with columns of texts, then of numbers.
    fn create_empty(&self, name: &str, texts: &[String], numbers: &[String]) -> String;

    /// Tells the engine to look at a temporary table before it plans joins with it.
    fn analyze(&self, name: &str) -> Option<String>;

    /// Creates a table for others with the rows of a query.
    fn create(&self, table: &str, query: &str) -> String;

    /// What rows are sorted by so that their order tells nothing.
    fn random(&self) -> &'static str;

    /// A share of the rows of a temporary table, drawn by the engine.
    fn sample(&self, table: &str, percent: f64) -> String;
}
