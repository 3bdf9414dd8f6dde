//! Twelve tables whose roles are known, for trying what proposes roles.
//!
//! They are like tables that people have: names of columns in several languages, some without a meaning, codes, free text, numbers of persons that
//! repeat. All is drawn by a generator of its own from a fixed seed, so every run has the same tables; nobody in them exists.

mod safe_harbor;

pub use safe_harbor::safe_harbor;

/// What a column is, as whoever made the table knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Truth {
    /// Names a person.
    Identifier,
    /// Numbers a person, a contract or a household, and repeats.
    Person,
    /// Could be known by an outsider.
    QuasiIdentifier,
    /// Nobody should learn it.
    Sensitive,
    /// None of these.
    Other,
}

/// A table, and what its columns are.
#[derive(Debug, Clone)]
pub struct Described {
    /// What it is called.
    pub name: &'static str,
    /// Its columns with their roles.
    pub columns: Vec<(String, Truth)>,
    /// Its rows.
    pub rows: Vec<Vec<String>>,
}

impl Described {
    /// As a CSV file.
    pub fn csv(&self) -> String {
        let quote = |cell: &str| {
            if cell.contains([',', '"', '\n']) {
                format!("\"{}\"", cell.replace('"', "\"\""))
            } else {
                cell.to_owned()
            }
        };
        let mut text = self.columns.iter().map(|(name, _)| quote(name)).collect::<Vec<_>>().join(",") + "\n";
        for row in &self.rows {
            text += &(row.iter().map(|cell| quote(cell)).collect::<Vec<_>>().join(",") + "\n");
        }
        text
    }
}

/// Draws numbers and things.
pub struct Draw(u64);

impl Draw {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Draw(seed)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    /// A number from `low` to `high`.
    pub fn from(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// One of some words separated by spaces; `_` stands for a space.
    pub fn word(&mut self, words: &str) -> String {
        let words: Vec<&str> = words.split_whitespace().collect();
        words[self.below(words.len() as u64) as usize].replace('_', " ")
    }

    /// A day as 2003-04-17.
    pub fn day(&mut self, from: u64, to: u64) -> String {
        format!("{:04}-{:02}-{:02}", self.from(from, to), self.from(1, 12), self.from(1, 28))
    }

    /// An amount of which most are small and a few very large.
    pub fn amount(&mut self) -> u64 {
        let power = self.from(2, 5) as u32;
        self.from(1, 9) * 10_u64.pow(power) + self.below(10_u64.pow(power))
    }

    /// A sentence.
    pub fn sentence(&mut self) -> String {
        format!(
            "{} {} {} since {} days, {}",
            self.word("She He The_patient The_worker"),
            self.word("complains_of reports has fell_with"),
            self.word("pain fever a_cut dizziness nausea"),
            self.from(1, 99),
            self.word("was_sent_home stays_in_bed sees_a_specialist comes_back_soon called_again")
        )
    }

    /// A first and a last name.
    pub fn person(&mut self) -> String {
        format!("{} {}", self.word(FIRST), self.word(LAST))
    }
}

const FIRST: &str = "Anna Maria John Peter Susan Laura Thomas Julia Paul Emma David Sofia Luis Marta Jan Klaus Nadja Igor Farid Wen";
const LAST: &str = "Miller Smith Weber Rossi Garcia Silva Dubois Janssen Novak Berg Costa Klein Moreau Vega Ricci Visser Okafor Tanaka";
const DIAGNOSES: &str = "E11.9 I21.4 J45.0 F32.1 C50.9 K35.8 M54.5 S72.0 N39.0 G40.9 J18.9 I10";
const STATES: &str = "TX NY CA WI VT FL OH GA WA CO";

type Columns = &'static [(&'static str, Truth)];

fn table(
    name: &'static str,
    columns: Columns,
    n_rows: usize,
    mut row: impl FnMut(usize) -> Vec<String>,
) -> Described {
    let rows: Vec<Vec<String>> = (0..n_rows).map(&mut row).collect();
    assert!(rows.iter().all(|row| row.len() == columns.len()), "{name}");
    let columns = columns.iter().map(|(name, truth)| ((*name).to_owned(), *truth)).collect();
    Described { name, columns, rows }
}

use Truth::{Identifier, Other, Person, QuasiIdentifier, Sensitive};

/// All twelve.
pub fn tables() -> Vec<Described> {
    vec![
        patients(),
        households(),
        policies(),
        credit(),
        accidents(),
        tax(),
        customers(),
        pupils(),
        trial(),
        log(),
        census(),
        staff(),
    ]
}

fn patients() -> Described {
    let mut draw = Draw::new(1);
    let columns: Columns = &[
        ("patient_id", Person),
        ("birth_date", QuasiIdentifier),
        ("sex", QuasiIdentifier),
        ("zip_code", QuasiIdentifier),
        ("admission_date", QuasiIdentifier),
        ("diagnosis", Sensitive),
        ("ward", Other),
        ("length_of_stay", QuasiIdentifier),
        ("charges", Sensitive),
        ("remarks", Identifier),
    ];
    table("patients, several stays each", columns, 900, |row| {
        let patient = row as u64 / 3 + draw.below(2);
        vec![
            (70_000 + patient * 7).to_string(),
            draw.day(1930, 2010),
            draw.word("male female"),
            format!("{:05}", 53_700 + draw.below(40)),
            draw.day(2022, 2024),
            draw.word(DIAGNOSES),
            draw.word("north south surgery intensive"),
            draw.from(1, 30).to_string(),
            draw.amount().to_string(),
            draw.sentence(),
        ]
    })
}

fn households() -> Described {
    let mut draw = Draw::new(2);
    let columns: Columns = &[
        ("hh", Person),
        ("person", Other),
        ("age", QuasiIdentifier),
        ("relationship", QuasiIdentifier),
        ("dwelling", QuasiIdentifier),
        ("income", Sensitive),
        ("state", QuasiIdentifier),
        ("weight", Other),
    ];
    table("households", columns, 1200, |row| {
        vec![
            (1_000 + row / 3).to_string(),
            (1 + row % 3).to_string(),
            draw.below(95).to_string(),
            draw.word("head spouse child parent other"),
            draw.word("house flat caravan"),
            draw.amount().to_string(),
            draw.word(STATES),
            format!("{}.{:02}", draw.from(80, 300), draw.below(100)),
        ]
    })
}

fn policies() -> Described {
    let mut draw = Draw::new(3);
    let columns: Columns = &[
        ("policy_number", Person),
        ("policyholder", Identifier),
        ("driver_age", QuasiIdentifier),
        ("vehicle_age", QuasiIdentifier),
        ("vehicle_make", QuasiIdentifier),
        ("licence_plate", Identifier),
        ("postcode", QuasiIdentifier),
        ("claim_amount", Sensitive),
        ("bonus_class", Other),
        ("email", Identifier),
    ];
    table("motor insurance", columns, 800, |row| {
        vec![
            format!("P{:06}", 100_000 + row / 2 * 13),
            draw.person(),
            draw.from(18, 92).to_string(),
            draw.below(25).to_string(),
            draw.word("Audi Fiat Ford Opel Skoda Volvo"),
            format!("{}-{} {}", draw.word("B K M HH"), draw.word("AB CD XY"), draw.from(100, 9999)),
            format!(
                "{}{} {}{}",
                draw.word("M B LS SW"),
                draw.from(1, 20),
                draw.from(1, 9),
                draw.word("AE AA TH")
            ),
            draw.amount().to_string(),
            draw.from(1, 12).to_string(),
            format!("{}{row}@example.org", draw.word("anna max li")),
        ]
    })
}

fn credit() -> Described {
    let mut draw = Draw::new(4);
    let columns: Columns = &[
        ("checking_status", Sensitive),
        ("duration", Other),
        ("credit_history", Sensitive),
        ("purpose", Other),
        ("credit_amount", Sensitive),
        ("savings_status", Sensitive),
        ("employment", QuasiIdentifier),
        ("personal_status", QuasiIdentifier),
        ("residence_since", QuasiIdentifier),
        ("property_magnitude", Other),
        ("age", QuasiIdentifier),
        ("housing", QuasiIdentifier),
        ("telephone", Other),
        ("foreign_worker", QuasiIdentifier),
        ("default", Sensitive),
    ];
    table("credit scoring", columns, 1000, |_| {
        vec![
            format!("A1{}", draw.from(1, 4)),
            draw.from(4, 72).to_string(),
            format!("A3{}", draw.below(5)),
            format!("A4{}", draw.below(10)),
            draw.amount().to_string(),
            format!("A6{}", draw.from(1, 5)),
            format!("A7{}", draw.from(1, 5)),
            format!("A9{}", draw.from(1, 4)),
            draw.from(1, 4).to_string(),
            format!("A12{}", draw.from(1, 4)),
            draw.from(19, 75).to_string(),
            format!("A15{}", draw.from(1, 3)),
            draw.word("A191 A192"),
            draw.word("A201 A202"),
            draw.word("good bad"),
        ]
    })
}

fn accidents() -> Described {
    let mut draw = Draw::new(5);
    let columns: Columns = &[
        ("matricule", Person),
        ("nom", Identifier),
        ("prénom", Identifier),
        ("date_de_naissance", QuasiIdentifier),
        ("sexe", QuasiIdentifier),
        ("code_postal", QuasiIdentifier),
        ("commune", QuasiIdentifier),
        ("profession", QuasiIdentifier),
        ("date_accident", QuasiIdentifier),
        ("siège_lésion", Sensitive),
        ("gravité", Sensitive),
        ("jours_arrêt", Other),
        ("commentaire", Identifier),
    ];
    table("accidents at work, in French", columns, 700, |row| {
        vec![
            format!("M{:05}", 20_000 + row / 2),
            draw.word(LAST),
            draw.word(FIRST),
            draw.day(1955, 2005),
            draw.word("H F"),
            format!("{:05}", 1_000 + draw.below(90) * 1_000 + draw.below(5)),
            draw.word("Lyon Lille Nantes Nice Paris Brest Metz"),
            draw.word("soudeur maçon infirmière chauffeur boulanger"),
            draw.day(2021, 2024),
            draw.word("main dos oeil pied genou"),
            draw.word("légère moyenne grave"),
            draw.below(120).to_string(),
            draw.sentence(),
        ]
    })
}

/// Of 68 columns, most of them amounts that are called by a number.
fn tax() -> Described {
    let mut draw = Draw::new(6);
    let mut columns: Vec<(String, Truth)> = vec![
        ("RECID".into(), Identifier),
        ("age_head".into(), QuasiIdentifier),
        ("MARS".into(), QuasiIdentifier),
        ("state".into(), QuasiIdentifier),
        ("nu18".into(), QuasiIdentifier),
        ("s006".into(), Other),
    ];
    for n in 0..46 {
        columns.push((format!("e{:05}", 200 + n * 100), Sensitive));
    }
    for n in 0..16 {
        columns.push((format!("p{:05}", 8_000 + n * 250), Sensitive));
    }
    let rows = (0..1500)
        .map(|row| {
            let mut cells = vec![
                (row + 1).to_string(),
                draw.from(18, 85).to_string(),
                draw.from(1, 5).to_string(),
                draw.word(STATES),
                draw.below(5).to_string(),
                format!("{}.{:02}", draw.from(20, 1500), draw.below(100)),
            ];
            // Most people have most kinds of income not at all.
            cells.extend((0..62).map(|at| {
                if draw.below(10) < 7 || at % 9 == 8 { "0".into() } else { draw.amount().to_string() }
            }));
            cells
        })
        .collect();
    Described { name: "a tax file of 68 columns", columns, rows }
}

fn customers() -> Described {
    let mut draw = Draw::new(7);
    let columns: Columns = &[
        ("Kundennummer", Identifier),
        ("Nachname", Identifier),
        ("Vorname", Identifier),
        ("Straße", Identifier),
        ("PLZ", QuasiIdentifier),
        ("Wohnort", QuasiIdentifier),
        ("Geburtsdatum", QuasiIdentifier),
        ("Geschlecht", QuasiIdentifier),
        ("Telefon", Identifier),
        ("E-Mail", Identifier),
        ("Umsatz", Other),
        ("Kategorie", Other),
        ("IBAN", Identifier),
    ];
    table("customers, in German", columns, 600, |row| {
        vec![
            (400_000 + row * 3).to_string(),
            draw.word(LAST),
            draw.word(FIRST),
            format!("{} {}", draw.word("Hauptstraße Gartenweg Lindenallee Marktplatz"), draw.from(1, 140)),
            format!("{:05}", 1_000 + draw.below(90) * 997),
            draw.word("Köln Berlin München Bonn Kiel Ulm Mainz"),
            draw.day(1940, 2006),
            draw.word("m w d"),
            format!("0{} {}", draw.from(201, 899), draw.from(100_000, 9_999_999)),
            format!("kunde{row}@example.com"),
            format!("{}.{:02}", draw.from(5, 900), draw.below(100)),
            draw.word("A B C"),
            format!("DE{:02}{:018}", draw.from(10, 98), draw.from(100_000, 999_999_999)),
        ]
    })
}

fn pupils() -> Described {
    let mut draw = Draw::new(8);
    let columns: Columns = &[
        ("expediente", Identifier),
        ("apellidos", Identifier),
        ("nombre", Identifier),
        ("dirección", Identifier),
        ("fecha_nacimiento", QuasiIdentifier),
        ("sexo", QuasiIdentifier),
        ("municipio", QuasiIdentifier),
        ("código_postal", QuasiIdentifier),
        ("nacionalidad", QuasiIdentifier),
        ("religión", Sensitive),
        ("diagnóstico", Sensitive),
        ("beca", Other),
    ];
    table("pupils, in Spanish", columns, 500, |row| {
        vec![
            format!("EX{:05}", row * 11),
            format!("{} {}", draw.word(LAST), draw.word(LAST)),
            draw.word(FIRST),
            format!("Calle {} {}", draw.word("Mayor Real Sol Luna"), draw.from(1, 90)),
            draw.day(2008, 2016),
            draw.word("hombre mujer"),
            draw.word("Sevilla Toledo Burgos Murcia Cádiz"),
            format!("{:05}", 1_000 + draw.below(50) * 1_000 + draw.below(9)),
            draw.word("ES MA RO CO EC"),
            draw.word("católica ninguna islam otra"),
            draw.word("dislexia asma ninguno alergia"),
            draw.word("sí no"),
        ]
    })
}

fn trial() -> Described {
    let mut draw = Draw::new(9);
    let columns: Columns = &[
        ("subject", Person),
        ("arm", Other),
        ("visit_number", Other),
        ("age", QuasiIdentifier),
        ("country", QuasiIdentifier),
        ("height", QuasiIdentifier),
        ("bmi", Sensitive),
        ("adverse_event", Sensitive),
        ("lab_result", Sensitive),
        ("randomized_on", QuasiIdentifier),
    ];
    table("a clinical trial", columns, 960, |row| {
        vec![
            format!("S-{:04}", 1_000 + row / 6),
            draw.word("placebo verum"),
            (1 + row % 6).to_string(),
            draw.from(18, 80).to_string(),
            draw.word("DE FR US JP BR IN ZA"),
            draw.from(148, 205).to_string(),
            format!("{}.{}", draw.from(17, 41), draw.below(10)),
            draw.word(DIAGNOSES),
            format!("{}.{:03}", draw.from(1, 9), draw.below(1000)),
            draw.day(2023, 2024),
        ]
    })
}

/// Names say nothing here.
fn log() -> Described {
    let mut draw = Draw::new(10);
    let columns: Columns = &[
        ("c1", Identifier),
        ("c2", Identifier),
        ("c3", Person),
        ("c4", QuasiIdentifier),
        ("c5", QuasiIdentifier),
        ("c6", Identifier),
        ("c7", Identifier),
        ("c8", Other),
        ("c9", Identifier),
        ("c10", Sensitive),
        ("c11", QuasiIdentifier),
        ("c12", Identifier),
    ];
    table("names without a meaning", columns, 800, |row| {
        let session = row as u64 / 4;
        vec![
            format!("user{}@mail.example", session),
            format!("10.{}.{}.{}", draw.below(256), draw.below(256), draw.from(1, 254)),
            format!(
                "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
                session * 7_919,
                session,
                session % 4096,
                session * 3 % 4096,
                session * 99_991
            ),
            draw.word("DE FR US JP BR IN ZA"),
            format!("{} {:02}:{:02}:00", draw.day(2024, 2024), draw.below(24), draw.below(60)),
            format!("https://example.org/u/{}", draw.below(5_000)),
            format!("+49 221 {}", draw.from(100_000, 999_999)),
            draw.from(1, 40).to_string(),
            draw.person(),
            draw.word(DIAGNOSES),
            draw.word(STATES),
            format!("{:03}-{:02}-{:04}", draw.from(100, 899), draw.from(10, 99), draw.from(1000, 9999)),
        ]
    })
}

fn census() -> Described {
    let mut draw = Draw::new(11);
    let columns: Columns = &[
        ("age", QuasiIdentifier),
        ("gender", QuasiIdentifier),
        ("race", QuasiIdentifier),
        ("marital_status", QuasiIdentifier),
        ("education", QuasiIdentifier),
        ("isco", QuasiIdentifier),
        ("nace", QuasiIdentifier),
        ("native_country", QuasiIdentifier),
        ("hours_per_week", Other),
        ("nuts3", QuasiIdentifier),
        ("income_class", Sensitive),
        ("interviewer_note", Identifier),
    ];
    table("a census", columns, 1500, |_| {
        vec![
            draw.from(17, 95).to_string(),
            draw.word("Male Female"),
            draw.word("White Black Asian Other"),
            draw.word("Married Single Divorced Widowed"),
            draw.word("Primary Secondary Bachelor Master Doctorate"),
            draw.word("2211 2221 2320 3211 4110 5120 7126 8322 9112 1112"),
            draw.word("01.11 10.71 25.11 41.20 47.11 62.01 84.11 86.10 96.02"),
            draw.word("USA MEX IND CHN DEU PHL"),
            draw.from(5, 70).to_string(),
            draw.word("DE212 DE300 FR101 ES300 ITC4C NL329 AT130 PL911"),
            draw.word("<=50K >50K"),
            draw.sentence(),
        ]
    })
}

fn staff() -> Described {
    let mut draw = Draw::new(12);
    let columns: Columns = &[
        ("bsn", Identifier),
        ("achternaam", Identifier),
        ("leeftijd", QuasiIdentifier),
        ("geslacht", QuasiIdentifier),
        ("woonplaats", QuasiIdentifier),
        ("postcode", QuasiIdentifier),
        ("beroep", QuasiIdentifier),
        ("salaris", Sensitive),
        ("ziekte", Sensitive),
        ("data_nascita", QuasiIdentifier),
        ("reddito", Sensitive),
        ("telemóvel", Identifier),
        ("profissão", QuasiIdentifier),
        ("doença", Sensitive),
    ];
    table("staff, in Dutch, Italian and Portuguese", columns, 500, |_| {
        vec![
            draw.from(100_000_000, 999_999_999).to_string(),
            draw.word(LAST),
            draw.from(17, 67).to_string(),
            draw.word("man vrouw"),
            draw.word("Utrecht Leiden Delft Breda"),
            format!("{} {}", draw.from(1000, 9999), draw.word("AB CD EF")),
            draw.word("kok leraar monteur chauffeur"),
            draw.amount().to_string(),
            draw.word("griep geen astma"),
            draw.day(1958, 2005),
            draw.amount().to_string(),
            format!("+351 9{}", draw.from(10_000_000, 39_999_999)),
            draw.word("médico padeiro professor motorista"),
            draw.word("asma nenhuma gripe"),
        ]
    })
}
