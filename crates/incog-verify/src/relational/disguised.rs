//! Which labels of a column are keys in disguise?
//!
//! A key may stand in another letter case, behind other signs (`PAT7013`, `clinic/7013`), or in some rows only. What is looked for in a
//! label: the label, what is left of it without the beginning that all labels of its column share, and its *pieces*, which begin and end
//! where letters, digits and other signs change. Letter case does not matter.
//!
//! 1. A column holds the keys *of its rows* if at least a tenth of its values are, or have as a piece, the key of the row itself or of
//!    the row above it: eight different keys or more, and in most rows with these labels. Each row is also compared with three other rows' keys; of its own there must be more
//!    than four times as many, or numbers are keys by coincidence.
//! 2. A column holds keys *of a table* if a quarter of its values are keys, nine of ten of them different: eight or more. Of keys that are
//!    whole numbers, the share among the column's numbers between the least and the greatest key must be more than four times
//!    their share among all numbers there.

use super::copies::{COINCIDENCE, canonical, whole_number};
use crate::LabelColumn;
use crate::hash;

/// Labels of more pieces are searched piece by piece, others by neighbouring pieces, too.
const PIECES: usize = 6;

/// The keys of a table without regard to letter case.
pub(super) struct FoldedKeys {
    numbers: hash::Map<String, u32>,
    of_row: Vec<u32>,
    /// What all keys begin with.
    beginning: String,
    /// Keys that are whole numbers, ascending.
    whole: Vec<u64>,
}

/// What a label may be, and what it has as a piece.
#[derive(Default)]
struct Found {
    as_a_whole: Option<u32>,
    any: Vec<u32>,
}

impl FoldedKeys {
    pub(super) fn new(column: &LabelColumn<'_>) -> Self {
        let mut numbers: hash::Map<String, u32> = hash::Map::default();
        let mut of_code = vec![u32::MAX; column.labels.len()];
        let mut of_row = Vec::with_capacity(column.codes.len());
        let mut whole = Vec::new();
        for &code in &*column.codes {
            let number = &mut of_code[code as usize];
            if *number == u32::MAX {
                let key = canonical(column.labels[code as usize]);
                whole.extend(whole_number(key));
                let next = numbers.len() as u32;
                *number = *numbers.entry(key.to_lowercase()).or_insert(next);
            }
            of_row.push(*number);
        }
        let beginning = shared_beginning(numbers.keys().map(String::as_str));
        whole.sort_unstable();
        whole.dedup();
        FoldedKeys { numbers, of_row, beginning, whole }
    }

    /// The labels of a column that hold keys, as they are compared, if the column does.
    pub(super) fn held_by(
        &self,
        column: &LabelColumn<'_>,
        rows: Option<&[u32]>,
    ) -> Option<hash::Set<String>> {
        if column.labels.len() < COINCIDENCE {
            return None;
        }
        let folded: Vec<String> = column.labels.iter().map(|label| fold(label)).collect();
        let beginning = shared_beginning(folded.iter().map(String::as_str).filter(|label| !label.is_empty()));
        let found: Vec<Found> = folded.iter().map(|label| self.find(label, &beginning)).collect();
        let n_values = column.codes.iter().filter(|&&code| !folded[code as usize].is_empty()).count();
        let own = rows.and_then(|rows| self.of_own_rows(column, rows, &found, n_values));
        let codes = own.or_else(|| {
            let rest =
                |label: &String| whole_number(canonical(label.strip_prefix(&beginning).unwrap_or(label)));
            self.of_table(column, &folded.iter().map(rest).collect::<Vec<_>>(), &found, n_values)
        })?;
        Some(codes.into_iter().map(|code| folded[code as usize].clone()).collect())
    }

    fn of_own_rows(
        &self,
        column: &LabelColumn<'_>,
        rows: &[u32],
        found: &[Found],
        n_values: usize,
    ) -> Option<hash::Set<u32>> {
        let n_keys = self.of_row.len();
        // Rows in which the label holds the key of the row that stands this number of places on.
        let holding = |places: usize| -> Vec<(u32, u32)> {
            let mut holding = Vec::new();
            for (&code, &row) in column.codes.iter().zip(rows) {
                let key = self.of_row[(row as usize + places) % n_keys];
                if found[code as usize].any.contains(&key) {
                    holding.push((code, key));
                }
            }
            holding
        };
        let own = holding(0);
        let keys: hash::Set<u32> = own.iter().map(|&(_, key)| key).collect();
        if keys.len() < COINCIDENCE || own.len() * 10 < n_values {
            return None;
        }
        // Values that count from 1 to 12 again and again are keys of the first rows only.
        let codes: hash::Set<u32> = own.iter().map(|&(code, _)| code).collect();
        let n_with_them = column.codes.iter().filter(|code| codes.contains(code)).count();
        if own.len() * 2 <= n_with_them {
            return None;
        }
        let most_of_others = [n_keys / 3, n_keys / 2, 2 * n_keys / 3].map(|places| holding(places + 1).len());
        let by_coincidence = most_of_others.into_iter().max().unwrap_or(0) * 4;
        (own.len() > by_coincidence).then_some(codes)
    }

    fn of_table(
        &self,
        column: &LabelColumn<'_>,
        numbers: &[Option<u64>],
        found: &[Found],
        n_values: usize,
    ) -> Option<hash::Set<u32>> {
        let mut keys: hash::Set<u32> = hash::Set::default();
        let mut n_rows = 0;
        for &code in &*column.codes {
            if let Some(key) = found[code as usize].as_a_whole {
                n_rows += 1;
                keys.insert(key);
            }
        }
        if keys.len() < COINCIDENCE || n_rows * 4 < n_values || keys.len() * 10 < n_rows * 9 {
            return None;
        }
        let holding = |code: &u32| found[*code as usize].as_a_whole.is_some();
        let codes: hash::Set<u32> = (0..found.len() as u32).filter(holding).collect();
        if let [least, .., most] = self.whole[..] {
            let n_between = numbers.iter().flatten().filter(|number| (least..=most).contains(number)).count();
            let n_numbers = (most - least) as f64 + 1.0;
            let expected = n_between as f64 * self.whole.len() as f64 / n_numbers;
            if codes.len() as f64 <= 4.0 * expected {
                return None;
            }
        }
        Some(codes)
    }

    fn find(&self, label: &str, beginning: &str) -> Found {
        if label.is_empty() {
            return Found::default();
        }
        let mut found = Found { as_a_whole: self.numbers.get(label).copied(), any: Vec::new() };
        if let Some(rest) =
            label.strip_prefix(beginning).filter(|rest| !beginning.is_empty() && !rest.is_empty())
        {
            let as_keys_begin = format!("{}{rest}", self.beginning);
            let without =
                [canonical(rest), &as_keys_begin].into_iter().find_map(|rest| self.numbers.get(rest));
            found.as_a_whole = found.as_a_whole.or(without.copied());
        }
        found.any.extend(found.as_a_whole);
        let borders = borders(label);
        for (at, &from) in borders.iter().enumerate() {
            let tos = &borders[at + 1..];
            let tos = if borders.len() > PIECES + 1 { &tos[..tos.len().min(1)] } else { tos };
            found.any.extend(tos.iter().filter_map(|&to| self.numbers.get(canonical(&label[from..to]))));
        }
        found.any.sort_unstable();
        found.any.dedup();
        found
    }
}

/// A label as it is compared.
pub(super) fn fold(label: &str) -> String {
    canonical(label).to_lowercase()
}

/// Where pieces begin and end. A number is one piece, with its decimals.
fn borders(label: &str) -> Vec<usize> {
    let mut borders = vec![0];
    let mut before = 3;
    for (at, letter) in label.char_indices() {
        let next = label[at + letter.len_utf8()..].bytes().next();
        let kind = match letter {
            '0'..='9' => 0,
            '.' | ',' if before == 0 && next.is_some_and(|next| next.is_ascii_digit()) => 0,
            _ if letter.is_alphabetic() => 1,
            _ => 2,
        };
        if at > 0 && kind != before {
            borders.push(at);
        }
        before = kind;
    }
    borders.push(label.len());
    borders
}

/// What all labels begin with; a number is not cut.
fn shared_beginning<'a>(mut labels: impl Iterator<Item = &'a str>) -> String {
    let mut shared = labels.next().unwrap_or_default();
    for label in labels {
        while !label.starts_with(shared) {
            let mut letters = shared.chars();
            letters.next_back();
            shared = letters.as_str();
        }
    }
    shared.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_found_and_digits_are_not_cut() {
        let keys = vec!["7013", "a-17", "7"];
        let keys = FoldedKeys::new(&LabelColumn { labels: keys, codes: vec![0, 1, 2].into() });
        let any = |label: &str| keys.find(&fold(label), "").any;
        assert_eq!(any("PAT7013"), [0]);
        assert_eq!(any("clinic/0007013.x"), [0]);
        assert_eq!(any("p:A-17"), [1]);
        assert!(any("70137").is_empty() && any("12.7").is_empty());
        assert_eq!(keys.find("x7013", "x").as_a_whole, Some(0));
        assert_eq!(shared_beginning(["äx1", "äx2", "äx22"].into_iter()), "äx");
        assert_eq!(shared_beginning(["ab", "c"].into_iter()), "");
    }
}
