//! A table with the 18 identifiers of the safe harbor.

use super::Truth::{Identifier, Other, QuasiIdentifier};
use super::{Columns, DIAGNOSES, Described, Draw, STATES, table};

/// A table with every one of the 18 identifiers of the HIPAA safe harbor, half of them under names without a meaning; [`Other`] may stay.
pub fn safe_harbor() -> Described {
    let mut draw = Draw::new(18);
    let columns: Columns = &[
        ("patient_name", Identifier),
        ("c1", Identifier),
        ("city", Identifier),
        ("c2", QuasiIdentifier),
        ("c3", Identifier),
        ("birth_date", QuasiIdentifier),
        ("c4", QuasiIdentifier),
        ("age", QuasiIdentifier),
        ("c5", QuasiIdentifier),
        ("c6", Identifier),
        ("fax", Identifier),
        ("c7", Identifier),
        ("c8", Identifier),
        ("medical_record_number", Identifier),
        ("c9", Identifier),
        ("account_number", Identifier),
        ("license_no", Identifier),
        ("c10", Identifier),
        ("device_serial", Identifier),
        ("c11", Identifier),
        ("c12", Identifier),
        ("fingerprint", Identifier),
        ("photo", Identifier),
        ("c13", Identifier),
        ("sex", Other),
        ("state", Other),
        ("diagnosis", Other),
        ("c14", Other),
    ];
    table("the 18 identifiers", columns, 600, |row| {
        vec![
            draw.person(),
            draw.person(),
            draw.word("Boston Chicago Houston Denver Seattle"),
            format!("{}{:02}", draw.word("036 059 821 100 537 902"), draw.below(30)),
            format!("{} {}", draw.from(1, 140), draw.word("Main_Street Oak_Avenue Elm_Road")),
            draw.day(1918, 2012),
            draw.day(2022, 2024),
            draw.from(1, 104).to_string(),
            draw.from(1, 104).to_string(),
            format!("({}) 555-{:04}", draw.from(201, 989), draw.below(10_000)),
            format!("{}-555-{:04}", draw.from(201, 989), draw.below(10_000)),
            format!("p{row}@mail.example"),
            format!("{:03}-{:02}-{:04}", draw.from(100, 899), draw.from(10, 99), draw.from(1000, 9999)),
            (500_000 + row * 17).to_string(),
            format!("HP{:06}X", 10_000 + row * 31),
            (90_000_000 + row * 101).to_string(),
            format!("D{:07}", 1_000_000 + row * 71),
            vin(&mut draw),
            format!("SN-{:05}-{}", row, draw.word("A B C")),
            format!("https://portal.example/{}", draw.below(1_000_000)),
            format!("192.168.{}.{}", draw.below(256), draw.from(1, 254)),
            format!("{:016x}", (row as u64 + 1) * 0x9E37_79B9_7F4A),
            format!("face_{row:04}.jpg"),
            (7_000 + row * 3).to_string(),
            draw.word("male female"),
            draw.word(STATES),
            draw.word(DIAGNOSES),
            draw.word("yes no"),
        ]
    })
}

fn vin(draw: &mut Draw) -> String {
    let letters = "ABCDEFGHJKLMNPRSTUVWXYZ0123456789";
    let mut vin = "1HGCM82633A".to_owned();
    vin.extend((0..6).map(|_| letters.as_bytes()[draw.below(letters.len() as u64) as usize] as char));
    vin
}
