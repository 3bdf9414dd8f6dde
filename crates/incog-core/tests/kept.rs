//! Frequency sets as bytes, which a stranger may have written: what is read is what these bytes say, or nothing.

use incog_core::frequency::{FrequencySet, FrequencySource, Method, Rows};
use incog_core::group::Demand;
use incog_core::lattice::Grouping;
use incog_testkit::random;
use proptest::prelude::*;

/// Reads a set, and says that writing it again gives the bytes it was read from.
fn reads_what_it_would_write(rows: &Rows, bytes: &[u8]) -> bool {
    let mut rest = bytes;
    let Some(set) = FrequencySet::read(rows.layout(), &mut rest) else { return false };
    let mut again = Vec::new();
    set.write(&mut again).unwrap();
    assert_eq!(again, bytes[..bytes.len() - rest.len()], "there is one way to write a set");
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_set_is_read_as_it_was_written_and_nothing_else_is_made_of_its_bytes(
        sample in random::sample(4, 30),
        height in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        end in any::<prop::sample::Index>(),
        anything in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let table = sample.table();
        let attributes = sample.attributes(&table);
        let rows = Rows::new(&table, &attributes).unwrap();
        let levels: Vec<u8> =
            attributes.heights().iter().map(|&most| height.index(usize::from(most) + 1) as u8).collect();
        let set = rows.count(&Grouping::of_levels(&levels), &Demand::default(), Method::Auto).unwrap();
        let mut bytes = Vec::new();
        // Keys of more than 128 bits cannot be written.
        prop_assume!(set.write(&mut bytes).is_ok());
        prop_assert!(reads_what_it_would_write(&rows, &bytes));
        let short = &bytes[..end.index(bytes.len())];
        prop_assert!(!reads_what_it_would_write(&rows, short), "every part is missed");
        let mut damaged = bytes.clone();
        for (at, byte) in changes {
            damaged[at.index(bytes.len())] = byte;
        }
        reads_what_it_would_write(&rows, &damaged);
        reads_what_it_would_write(&rows, &anything);
    }
}
