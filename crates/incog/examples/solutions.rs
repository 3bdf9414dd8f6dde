//! Every release there could be: all generalizations, what each k costs, and other recoding models.
//!
//! `cargo run -p incog --example solutions`
#![allow(clippy::print_stdout, reason = "that is what it is for")]

use incog::{Anonymizer, Hierarchy, Result};

/// Looks at one small table from three sides.
pub(crate) fn main() -> Result<()> {
    let people = Anonymizer::new([
        ("zip", vec!["53715", "53715", "53703", "53706", "53715", "53703", "53706", "53706"]),
        ("age", vec!["34", "36", "51", "58", "31", "52", "57", "33"]),
    ])
    .quasi_identifier("zip", Hierarchy::mask_right().length(5))
    .quasi_identifier("age", Hierarchy::intervals([5, 10, 40]))
    .k(2);

    let found = people.clone().search()?;
    println!("{} of {} generalizations are 2-anonymous", found.satisfying, found.lattice_nodes);
    for node in &found.minimal {
        println!("  minimal: {:?}, loss {:.3}", node.levels, node.scores["loss"]);
    }
    let frontier = people.clone().frontier(2..=8)?;
    let losses: Vec<f64> =
        frontier.frontier.iter().filter_map(|point| Some(point.best.as_ref()?.scores["loss"])).collect();
    println!("the least loss for k = 2 to 8: {losses:.3?}");
    assert!(losses.windows(2).all(|two| two[0] <= two[1]), "more privacy never costs less");
    println!("{}", people.compare_models(&["full-domain", "full-subtree", "mondrian", "top-down"])?);
    Ok(())
}
