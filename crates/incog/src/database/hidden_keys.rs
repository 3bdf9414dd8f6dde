//! Which columns hold keys in another form?
//!
//! A copied key may stand in another letter case, behind a prefix (`PAT7013`, `clinic/7013`), or only in some of the rows. So a value *holds* a
//! key if it is the key, or if one of its parts is: what stands between two places at which letters, digits and other signs
//! change. Where all values of a column begin alike, what follows is a part, too; a number is not cut.
//!
//! 1. A column is refused if at least one row in ten holds the key of its own row, or of the row above it in some table: at least
//!    [`COINCIDENCE`] different ones, most of the rows with these values, and four times as many as when every row is held against the
//!    key of some other row. What numbers hold by coincidence, they hold of other rows as often.
//! 2. So is one of whose rows at least a quarter are keys of one table as a whole, nearly all different. If they are numbers, four times
//!    as many must be keys as of all numbers in the range of the keys.
//!
//! Cost: each distinct value once for each table, then numbers only.

use std::collections::{HashMap, HashSet};

use super::copies::{COINCIDENCE, number, plain};

/// Values with more parts than this are looked at part by part, others also by parts that stand side by side.
const MANY_PARTS: usize = 6;

/// The keys of a table, in one letter case.
pub(super) struct Forms<'a> {
    numbers: HashMap<String, u32>,
    of_row: Vec<u32>,
    /// With how many letters all keys begin alike.
    prefix: String,
    plain: Vec<&'a str>,
}

/// The values of a column: what each row has.
pub(super) struct Cells<'a> {
    pub(super) values: &'a [&'a str],
    pub(super) codes: &'a [u32],
}

impl Cells<'_> {
    fn n_values(&self) -> usize {
        self.codes.iter().filter(|&&code| !self.values[code as usize].is_empty()).count()
    }
}

impl<'a> Forms<'a> {
    /// From the key of each row.
    pub(super) fn new(of_row: &[&'a str]) -> Self {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut known: HashMap<&str, u32> = HashMap::new();
        let mut plain = Vec::new();
        let of_row = of_row.iter().map(|&key| {
            *known.entry(key).or_insert_with(|| {
                let next = numbers.len() as u32;
                plain.push(key);
                *numbers.entry(key.to_lowercase()).or_insert(next)
            })
        });
        let of_row = of_row.collect();
        let prefix = prefix(numbers.keys());
        Forms { numbers, of_row, prefix, plain }
    }

    /// In how many rows a column has a key in whatever form, if that is no coincidence. `rows` are those of this table that are above
    /// each row of the column, if it is one above.
    pub(super) fn n_held(&self, cells: &Cells<'_>, rows: Option<&[u32]>) -> Option<usize> {
        if cells.values.len() < COINCIDENCE {
            return None;
        }
        let lower: Vec<String> = cells.values.iter().map(|value| value.to_lowercase()).collect();
        let begin = prefix(lower.iter().filter(|value| !value.is_empty()));
        let whole: Vec<Vec<u32>> = lower.iter().map(|value| self.whole(value, &begin)).collect();
        let number = |value: &String| number(plain(value.strip_prefix(&begin).unwrap_or(value)));
        let numbers: Vec<u64> = lower.iter().filter_map(number).collect();
        rows.and_then(|rows| self.n_of_own(cells, rows, &lower, &whole))
            .or_else(|| self.n_of_any(cells, &whole, &numbers))
    }

    /// Rule 1.
    fn n_of_own(
        &self,
        cells: &Cells<'_>,
        rows: &[u32],
        lower: &[String],
        whole: &[Vec<u32>],
    ) -> Option<usize> {
        let held: Vec<Vec<u32>> = lower
            .iter()
            .zip(whole)
            .map(|(value, whole)| [self.parts(value), whole.clone()].concat())
            .collect();
        let n = self.of_row.len();
        let holds = |&(&code, &row): &(&u32, &u32), shift: usize| {
            let key = self.of_row[(row as usize + shift) % n];
            held[code as usize].contains(&key).then_some(key)
        };
        let pairs = || cells.codes.iter().zip(rows);
        let own: Vec<u32> = pairs().filter_map(|pair| holds(&pair, 0)).collect();
        let different: HashSet<u32> = own.iter().copied().collect();
        if 10 * own.len() < cells.n_values() || different.len() < COINCIDENCE {
            return None;
        }
        // A number that counts from 1 to 12 again and again is the key of the first twelve rows, and not of most rows that have it.
        let codes: HashSet<u32> =
            pairs().filter(|pair| holds(pair, 0).is_some()).map(|(&code, _)| code).collect();
        let n_equal = cells.codes.iter().filter(|code| codes.contains(code)).count();
        if 2 * own.len() <= n_equal {
            return None;
        }
        let shifts = [n / 3 + 1, n / 2 + 1, 2 * n / 3 + 1];
        let others = shifts.map(|shift| pairs().filter(|pair| holds(pair, shift % n).is_some()).count());
        others.iter().all(|&others| own.len() > 4 * others).then_some(own.len())
    }

    /// Rule 2.
    fn n_of_any(&self, cells: &Cells<'_>, whole: &[Vec<u32>], numbers: &[u64]) -> Option<usize> {
        let mut times: HashMap<u32, usize> = HashMap::new();
        for &code in cells.codes {
            if let Some(&key) = whole[code as usize].first() {
                *times.entry(key).or_insert(0) += 1;
            }
        }
        let n_rows: usize = times.values().sum();
        let are_many = 4 * n_rows >= cells.n_values() && times.len() >= COINCIDENCE;
        let are_different = 10 * times.len() >= 9 * n_rows;
        (are_many && are_different && !self.may_be_coincidence(whole, numbers)).then_some(n_rows)
    }

    /// Are values keys because keys are many of the numbers in their range? `numbers` are those that the column's values are.
    fn may_be_coincidence(&self, whole: &[Vec<u32>], numbers: &[u64]) -> bool {
        let keys: Vec<u64> = self.plain.iter().filter_map(|key| number(key)).collect();
        let (Some(&least), Some(&most)) = (keys.iter().min(), keys.iter().max()) else { return false };
        let n_between = numbers.iter().filter(|&number| (least..=most).contains(number)).count();
        let n_keys = whole.iter().filter(|keys| !keys.is_empty()).count();
        let share = keys.len() as f64 / ((most - least) as f64 + 1.0);
        n_keys as f64 <= 4.0 * share * n_between as f64
    }

    /// The key that a value is, also behind what all values of its column begin with.
    fn whole(&self, lower: &str, begin: &str) -> Vec<u32> {
        let rest = lower.strip_prefix(begin).filter(|rest| !begin.is_empty() && !rest.is_empty());
        let behind = rest.map(|rest| format!("{}{rest}", self.prefix));
        let forms = [Some(plain(lower)), rest.map(plain), behind.as_deref()];
        forms.into_iter().flatten().filter_map(|form| self.numbers.get(form).copied()).collect()
    }

    /// The keys that parts of a value are.
    fn parts(&self, lower: &str) -> Vec<u32> {
        let ends = ends(lower);
        let n_parts = ends.len() - 1;
        let most = if n_parts > MANY_PARTS { 1 } else { n_parts };
        let parts =
            (0..n_parts).flat_map(|from| (from + 1..=(from + most).min(n_parts)).map(move |to| (from, to)));
        let mut keys: Vec<u32> = parts
            .filter_map(|(from, to)| self.numbers.get(plain(&lower[ends[from]..ends[to]])).copied())
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// Where letters, digits and other signs change, with both ends of the text. A point or a comma between digits is a part of the number.
fn ends(text: &str) -> Vec<usize> {
    let letters: Vec<(usize, char)> = text.char_indices().collect();
    let is_digit = |at: usize| letters.get(at).is_some_and(|(_, letter)| letter.is_ascii_digit());
    let kind = |at: usize| {
        let letter = letters[at].1;
        let is_mark = matches!(letter, '.' | ',') && at > 0 && is_digit(at - 1) && is_digit(at + 1);
        (letter.is_alphabetic(), is_digit(at) || is_mark)
    };
    let changes = (1..letters.len()).filter(|&at| kind(at) != kind(at - 1));
    std::iter::once(0).chain(changes.map(|at| letters[at].0)).chain(Some(text.len())).collect()
}

/// What all texts begin with, before any number there.
fn prefix<'t>(mut texts: impl Iterator<Item = &'t String>) -> String {
    let Some(first) = texts.next() else { return String::new() };
    let mut length = first.len();
    for text in texts {
        let equal = first.char_indices().zip(text.chars()).take_while(|((_, a), b)| a == b);
        length = length.min(equal.last().map_or(0, |((at, letter), _)| at + letter.len_utf8()));
    }
    first[..length].trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_between_changes_of_letters_digits_and_other_signs() {
        let keys = ["7013", "a-17", "7"];
        let forms = Forms::new(&keys);
        let held = |value: &str| forms.parts(value);
        assert_eq!(held("pat7013"), [0]);
        assert_eq!(held("clinic/0007013.x"), [0]);
        assert_eq!(held("p:a-17"), [1], "17 is no key");
        assert_eq!(held("70137"), Vec::<u32>::new(), "digits are not cut");
        assert_eq!(held("12.7"), Vec::<u32>::new(), "nor numbers");
        assert_eq!(held("1-2-7-4-5-6-8-9"), [2], "many parts, one by one");
        assert_eq!(prefix(["äx1", "äx2", "äx22"].map(str::to_owned).iter()), "äx");
    }
}
