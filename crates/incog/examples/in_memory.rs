//! A table that is already in memory: from columns of text to a verified release.
//!
//! `cargo run -p incog --example in_memory`
#![allow(clippy::print_stdout, reason = "that is what it is for")]

use incog::{Anonymizer, Hierarchy, Model, Result};

/// Releases twelve patients and prints what was done and what is released.
pub(crate) fn main() -> Result<()> {
    let release = Anonymizer::new(patients())
        .identifier("name")
        .quasi_identifier("zip", Hierarchy::mask_right().length(5))
        .quasi_identifier("age", Hierarchy::intervals([10, 20, 40]).top(80))
        .quasi_identifier("sex", Hierarchy::suppress())
        .sensitive("illness")
        .require(Model::distinct_l("illness", 2))
        .k(3)
        .suppression("10%")?
        .anonymize()?;
    println!("{}", release.report());
    let columns: Vec<_> = release.header().iter().filter_map(|name| release.column(name)).collect();
    println!("{}", release.header().join(","));
    for row in 0..release.n_rows() {
        let cells: Vec<&str> = columns.iter().map(|column| column[row].unwrap_or("")).collect();
        println!("{}", cells.join(","));
    }
    assert!(release.report().checked.holds(), "a release is verified, or there is none");
    Ok(())
}

fn patients() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        ("name", vec!["Ada", "Bo", "Cy", "Di", "Ed", "Fay", "Gus", "Hal", "Ida", "Jo", "Kim", "Lee"]),
        (
            "zip",
            vec![
                "53715", "53715", "53703", "53706", "53711", "53715", "53703", "53706", "53711", "53715",
                "53703", "53706",
            ],
        ),
        ("age", vec!["34", "36", "51", "58", "29", "41", "47", "62", "33", "38", "55", "85"]),
        ("sex", vec!["f", "m", "m", "f", "m", "f", "m", "m", "f", "f", "f", "m"]),
        (
            "illness",
            vec![
                "flu", "asthma", "flu", "none", "none", "flu", "asthma", "none", "flu", "none", "asthma",
                "flu",
            ],
        ),
    ]
}
