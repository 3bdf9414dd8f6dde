//! What are the values of a column by their form: e-mail addresses, telephone numbers, countries, diagnoses?
//!
//! A content is recognized where at least nine in ten distinct values have its form, and at least three have. Forms that other things share
//! must show more: two letters are countries only if they are not all states, and codes like A71 are diagnoses only if they come from several
//! chapters or have a dot. What is recognized says nothing about single cells.

use std::net::IpAddr;

use incog_core::hierarchy::spec::{Builtin, Classification};

use crate::recognize::values::is_digits;

/// What values are by their form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// `a@example.org`
    Email,
    /// `https://example.org`
    Url,
    /// Addresses of computers.
    Ip,
    /// Addresses of network cards.
    Mac,
    /// Telephone and fax numbers.
    Phone,
    /// International bank account numbers.
    Iban,
    /// Numbers of payment cards.
    Card,
    /// Social security numbers of the USA.
    Ssn,
    /// Random identifiers.
    Uuid,
    /// Vehicle identification numbers.
    Vin,
    /// Names of people.
    PersonName,
    /// A street with a number.
    Street,
    /// ZIP codes of the USA.
    Zip,
    /// Postal codes of other countries.
    PostalCode,
    /// Countries of ISO 3166.
    Country,
    /// States of the USA.
    State,
    /// Diagnoses.
    Icd10,
    /// Regions of the EU.
    Nuts,
    /// Activities of companies.
    Nace,
    /// Male and female.
    Sex,
}

impl Content {
    const ALL: [Content; 20] = [
        Content::Email,
        Content::Url,
        Content::Ip,
        Content::Mac,
        Content::Phone,
        Content::Iban,
        Content::Card,
        Content::Ssn,
        Content::Uuid,
        Content::Vin,
        Content::PersonName,
        Content::Street,
        Content::Zip,
        Content::PostalCode,
        Content::State,
        Content::Country,
        Content::Icd10,
        Content::Nuts,
        Content::Nace,
        Content::Sex,
    ];

    /// What such values are called.
    pub fn name(self) -> &'static str {
        match self {
            Content::Email => "e-mail addresses",
            Content::Url => "web addresses",
            Content::Ip => "IP addresses",
            Content::Mac => "network addresses",
            Content::Phone => "telephone numbers",
            Content::Iban => "bank account numbers (IBAN)",
            Content::Card => "payment card numbers",
            Content::Ssn => "social security numbers",
            Content::Uuid => "random identifiers (UUID)",
            Content::Vin => "vehicle identification numbers",
            Content::PersonName => "names of people",
            Content::Street => "street addresses",
            Content::Zip => "ZIP codes",
            Content::PostalCode => "postal codes",
            Content::Country => "countries (ISO 3166)",
            Content::State => "states of the USA",
            Content::Icd10 => "ICD-10 codes",
            Content::Nuts => "NUTS regions",
            Content::Nace => "NACE activities",
            Content::Sex => "sexes",
        }
    }

    /// Does one such value lead to a person?
    pub fn names_people(self) -> bool {
        matches!(
            self,
            Content::Email
                | Content::Url
                | Content::Ip
                | Content::Mac
                | Content::Phone
                | Content::Iban
                | Content::Card
                | Content::Ssn
                | Content::Uuid
                | Content::Vin
                | Content::PersonName
                | Content::Street
        )
    }

    /// The built-in hierarchy of such values.
    pub fn builtin(self) -> Option<(&'static str, Classification)> {
        let name = match self {
            Content::Zip => "us-zip3",
            Content::Country => "iso-country",
            Content::State => "us-state",
            Content::Icd10 => "icd10",
            Content::Nuts => "nuts",
            Content::Nace => "nace",
            _ => return None,
        };
        match Builtin::named(name)? {
            Builtin::Codes(classification) => Some((name, classification)),
            _ => None,
        }
    }

    fn has_form(self, value: &str) -> bool {
        let valid = |classification: Classification| classification.labels_of(value).is_some();
        match self {
            Content::Email => is_email(value),
            Content::Url => {
                ["http://", "https://", "ftp://", "www."].iter().any(|start| value.starts_with(start))
            }
            Content::Ip => (value.contains(':') || value.contains('.')) && value.parse::<IpAddr>().is_ok(),
            Content::Mac => is_mac(value),
            Content::Phone => is_phone(value),
            Content::Iban => is_iban(value),
            Content::Card => is_card(value),
            Content::Ssn => has_shape(value, "000-00-0000"),
            Content::Uuid => has_shape(value, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"),
            Content::Vin => is_vin(value),
            Content::PersonName => is_person_name(value),
            Content::Street => is_street(value),
            Content::Zip => has_shape(value, "00000") || has_shape(value, "00000-0000"),
            Content::PostalCode => is_postal_code(value),
            Content::Country => matches!(value.len(), 2 | 3) && valid(Classification::IsoCountry),
            Content::State => valid(Classification::UsState),
            Content::Icd10 => valid(Classification::Icd10),
            Content::Nuts => {
                value.len() > 2
                    && valid(Classification::Nuts)
                    && value.bytes().any(|byte| byte.is_ascii_digit())
            }
            Content::Nace => value.contains('.') && valid(Classification::Nace),
            Content::Sex => is_sex(value),
        }
    }
}

/// What was recognized in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recognized {
    /// What most values are.
    pub content: Content,
    /// Whether all of them are.
    pub is_all: bool,
}

/// What the values of a column are; `is_repeated` says that they stand in several rows each, on average.
pub(super) fn recognize(values: &[&str], is_repeated: bool) -> Option<Recognized> {
    // A look at a few values rules most contents out.
    let n_few = values.len().min(40);
    let step = values.len() / n_few.max(1);
    let few: Vec<&str> = values.iter().step_by(step.max(1)).take(n_few).copied().collect();
    Content::ALL.into_iter().find_map(|content| {
        let of_few = few.iter().filter(|value| content.has_form(value)).count();
        if of_few * 10 < few.len() * 7 || few.is_empty() {
            return None;
        }
        let n = values.iter().filter(|value| content.has_form(value)).count();
        let is_all = n == values.len();
        let enough = if content == Content::Sex {
            is_all && (2..=6).contains(&n) && tells_two_sexes(values)
        } else {
            n >= 3 || (is_all && content.names_people())
        };
        (enough && n * 10 >= values.len() * 9 && is_beyond_doubt(content, values, is_repeated))
            .then_some(Recognized { content, is_all })
    })
}

/// Forms that other things share must show more.
fn is_beyond_doubt(content: Content, values: &[&str], is_repeated: bool) -> bool {
    let distinct = |of: &dyn Fn(&str) -> Option<String>| {
        values.iter().filter_map(|value| of(value)).collect::<std::collections::HashSet<_>>().len()
    };
    match content {
        // Whole numbers of five digits may be anything; a leading zero, or an extension, is a code.
        Content::Zip => {
            values.len() >= 3 && values.iter().any(|value| value.starts_with('0') || value.contains('-'))
        }
        Content::Country | Content::State => values.len() >= 3,
        Content::Icd10 => {
            let chapters = distinct(&|value| Some(value.get(..1)?.to_ascii_uppercase()));
            chapters >= 3 || (values.iter().any(|value| value.contains('.')) && chapters >= 2)
        }
        Content::Nuts => values.len() >= 5,
        // Decimals look the same unless one begins with a zero before another digit, or with a letter.
        Content::Nace => {
            let is_code = |value: &&str| {
                value.starts_with(|first: char| first.is_ascii_alphabetic())
                    || (value.starts_with('0') && !value.starts_with("0."))
            };
            values.len() >= 5 && values.iter().any(is_code)
        }
        // Thirteen digits or more that all pass the check are cards; but so is one number in ten.
        Content::Card | Content::Vin => values.len() >= 10 || !is_repeated,
        Content::PersonName => {
            let known = values.iter().filter(|value| has_first_name(value)).count();
            known * 5 >= values.len()
        }
        _ => true,
    }
}

/// `0` stands for a digit, `x` for a hexadecimal digit, anything else for itself.
fn has_shape(value: &str, shape: &str) -> bool {
    value.len() == shape.len()
        && value.bytes().zip(shape.bytes()).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            b'x' => byte.is_ascii_hexdigit(),
            other => byte == other,
        })
}

fn is_email(value: &str) -> bool {
    let Some((name, domain)) = value.split_once('@') else { return false };
    !name.is_empty()
        && domain.split('.').count() >= 2
        && domain.split('.').all(|part| !part.is_empty())
        && !value.contains([' ', ',', ';'])
        && !domain.contains('@')
}

fn is_mac(value: &str) -> bool {
    has_shape(value, "xx:xx:xx:xx:xx:xx") || has_shape(value, "xx-xx-xx-xx-xx-xx")
}

/// Seven to fifteen digits, in two groups at least, or with a plus or two zeros before; no date and no decimal.
fn is_phone(value: &str) -> bool {
    let number = value.split(['x', 'X']).next().unwrap_or_default().trim();
    let n_digits = number.bytes().filter(u8::is_ascii_digit).count();
    let is_known = |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | ' ' | '(' | ')' | '/' | '.');
    if !(7..=15).contains(&n_digits)
        || !number.chars().all(is_known)
        || number.rfind('+').is_some_and(|at| at > 0)
    {
        return false;
    }
    if number.starts_with('+') || number.starts_with('(') {
        return true;
    }
    let groups: Vec<&str> = number.split([' ', '-', '/', '.']).filter(|group| !group.is_empty()).collect();
    let looks_like_date = groups.len() == 3 && groups.iter().any(|group| group.len() == 4) && n_digits == 8;
    let is_ssn = has_shape(number, "000-00-0000");
    let is_grouped =
        groups.len() >= 2 && groups.iter().all(|group| group.len() >= 2) && !number.starts_with('-');
    let is_decimal = groups.len() == 2 && number.contains('.');
    is_grouped && !looks_like_date && !is_ssn && !is_decimal && n_digits >= 9
        || (is_grouped && groups.len() == 3 && n_digits == 10)
        || (is_digits(number) && number.starts_with("00") && n_digits >= 10)
}

/// Two letters, two check digits, and up to thirty more, that leave 1 when divided by 97.
fn is_iban(value: &str) -> bool {
    let text: Vec<u8> = value.bytes().filter(|byte| *byte != b' ').collect();
    if !(15..=34).contains(&text.len())
        || !text.iter().all(u8::is_ascii_alphanumeric)
        || !text[..2].iter().all(u8::is_ascii_alphabetic)
        || !text[2..4].iter().all(u8::is_ascii_digit)
    {
        return false;
    }
    let mut rest = 0_u32;
    for byte in text[4..].iter().chain(&text[..4]) {
        let digit = (*byte as char).to_digit(36).unwrap_or(0);
        rest = if digit >= 10 { (rest * 100 + digit) % 97 } else { (rest * 10 + digit) % 97 };
    }
    rest == 1
}

/// Thirteen to nineteen digits with the check digit of Luhn.
fn is_card(value: &str) -> bool {
    let digits: Vec<u32> = value.chars().filter_map(|c| c.to_digit(10)).collect();
    if !(13..=19).contains(&digits.len())
        || !value.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-'))
    {
        return false;
    }
    let doubled = |digit: u32| if digit > 4 { digit * 2 - 9 } else { digit * 2 };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, &digit)| if at % 2 == 1 { doubled(digit) } else { digit })
        .sum();
    sum.is_multiple_of(10) && matches!(digits[0], 2..=6)
}

/// Seventeen letters and digits without I, O and Q, both kinds among them.
fn is_vin(value: &str) -> bool {
    value.len() == 17
        && value
            .bytes()
            .all(|byte| (byte.is_ascii_uppercase() || byte.is_ascii_digit()) && !b"IOQ".contains(&byte))
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_uppercase())
}

/// Two to four words with a large letter first, and nothing but letters.
fn is_person_name(value: &str) -> bool {
    let words: Vec<&str> = value.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    (2..=4).contains(&words.len())
        && words.iter().all(|word| {
            word.chars().next().is_some_and(char::is_uppercase)
                && word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’' | '.'))
        })
}

/// Common first names of several languages: of a column of names, one in five has one of them.
const FIRST_NAMES: &str = "james john robert michael william david richard joseph thomas charles mary patricia jennifer linda elizabeth \
    barbara susan jessica sarah karen daniel matthew anthony mark donald steven paul andrew joshua kenneth kevin brian george timothy \
    ronald edward jason jeffrey ryan jacob gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel emma olivia \
    sophia isabella mia charlotte amelia emily nancy lisa betty margaret sandra ashley kimberly donna michelle carol amanda dorothy \
    melissa deborah stephanie rebecca sharon laura cynthia kathleen amy angela anna ruth alice grace helen julia maria jose juan carlos \
    luis miguel jorge pedro ana carmen lucia elena sofia martin marta pablo javier antonio francisco manuel hans peter klaus wolfgang \
    jurgen stefan andreas monika petra ursula sabine renate heike lukas leon felix max paula lena hannah pierre jean jacques marie \
    nathalie isabelle sophie camille louis hugo claire luca marco giuseppe giovanni francesca giulia chiara paolo joao tiago rui \
    catarina ines jan piet kees willem johanna sanne daan bram fatima mohammed ahmed ali omar aisha wei li ming yuki hiro priya raj ivan \
    olga natalia katarzyna piotr noah liam adam eva";

fn has_first_name(value: &str) -> bool {
    value
        .split([' ', ',', '-'])
        .any(|word| FIRST_NAMES.split_whitespace().any(|name| word.eq_ignore_ascii_case(name)))
}

/// A number and a word for a street, in either order.
fn is_street(value: &str) -> bool {
    const STREETS: [&str; 34] = [
        "street",
        "st",
        "st.",
        "avenue",
        "ave",
        "ave.",
        "road",
        "rd",
        "rd.",
        "lane",
        "ln",
        "drive",
        "dr",
        "dr.",
        "boulevard",
        "blvd",
        "court",
        "ct",
        "way",
        "place",
        "rue",
        "calle",
        "via",
        "rua",
        "strasse",
        "straße",
        "str.",
        "weg",
        "allee",
        "platz",
        "straat",
        "laan",
        "plaza",
        "avenida",
    ];
    let words: Vec<String> =
        value.split([' ', ',']).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let is_street_word = |word: &String| {
        STREETS.contains(&word.as_str())
            || ["straße", "strasse", "str.", "weg", "gasse", "allee", "platz", "straat", "laan"]
                .iter()
                .any(|end| word.len() > end.len() && word.ends_with(end))
    };
    words.len() >= 2
        && words.iter().any(is_street_word)
        && words.iter().any(|word| word.starts_with(|first: char| first.is_ascii_digit()))
}

/// Postal codes that nothing else looks like: of the United Kingdom, Canada, the Netherlands, Portugal and Poland.
fn is_postal_code(value: &str) -> bool {
    let shape: String = value
        .chars()
        .map(|c| match c {
            '0'..='9' => '0',
            'A'..='Z' => 'A',
            other => other,
        })
        .collect();
    matches!(
        shape.as_str(),
        "A0A 0A0"
            | "0000 AA"
            | "0000AA"
            | "A0 0AA"
            | "A00 0AA"
            | "AA0 0AA"
            | "AA00 0AA"
            | "A0A 0AA"
            | "AA0A 0AA"
            | "0000-000"
            | "00-000"
    )
}

/// Words for male in seven languages; a letter too.
const MALE: &str =
    "m male man men mann mannlich männlich h homme hombre masculino masculin maschio homem mannelijk";
/// Words for female.
const FEMALE: &str = "f female woman women w frau weiblich femme mujer femenino feminin féminin femmina feminino mulher vrouw vrouwelijk v";
/// Words for what is neither, or not known.
const NEITHER: &str = "d divers u unknown x other nonbinary";

fn is_word_of(words: &str, value: &str) -> bool {
    let value = value.to_lowercase();
    words.split_whitespace().any(|word| word == value)
}

/// A word for a sex, or for what is neither.
fn is_sex(value: &str) -> bool {
    [MALE, FEMALE, NEITHER].iter().any(|words| is_word_of(words, value))
}

/// Letters that stand for a sex stand for many things: only together are they sexes.
fn tells_two_sexes(values: &[&str]) -> bool {
    [MALE, FEMALE].iter().all(|words| values.iter().any(|value| is_word_of(words, value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Option<Content> {
        recognize(values, false).map(|recognized| recognized.content)
    }

    #[test]
    fn contents_are_told_by_their_form() {
        for (values, content) in [
            (["a@b.org", "c.d@e.co.uk", "x@y.de"], Content::Email),
            (["10.0.0.1", "192.168.1.20", "2001:db8::1"], Content::Ip),
            (["https://a.org/x", "http://b.de", "www.c.fr"], Content::Url),
            (["+49 171 1234567", "(555) 123-4567", "0221/471-0815"], Content::Phone),
            (["555-123-4567", "555-987-6543", "212-555-0123"], Content::Phone),
            (
                ["DE89370400440532013000", "GB82WEST12345698765432", "FR14 2004 1010 0505 0001 3M02 606"],
                Content::Iban,
            ),
            (["078-05-1120", "219-09-9999", "457-55-5462"], Content::Ssn),
            (["1HGCM82633A004352", "JH4KA8260MC000000", "5YJSA1E26MF123456"], Content::Vin),
            (["John Smith", "Mary Jones", "Miller, Anna"], Content::PersonName),
            (["12 Main Street", "Hauptstraße 5", "7 Elm Ave"], Content::Street),
            (["01234", "53715", "90210-1234"], Content::Zip),
            (["SW1A 1AA", "M1 1AE", "B33 8TH"], Content::PostalCode),
            (["DE", "FR", "JP"], Content::Country),
            (["TX", "NY", "WI"], Content::State),
            (["E11.9", "I21", "J45.0"], Content::Icd10),
            (["F", "M", "x"], Content::Sex),
        ] {
            assert_eq!(of(&values), Some(content), "{values:?}");
        }
        assert_eq!(of(&["DE212", "FR101", "NL33A", "ES300", "DE300"]), Some(Content::Nuts));
    }

    #[test]
    fn what_only_looks_alike_is_not_recognized() {
        for values in [
            ["A71", "A72", "A75"],
            ["53715", "53703", "53706"],
            ["2003-04-17", "2004-05-18", "1999-01-02"],
            ["17.04.2003", "18.05.2004", "02.01.1999"],
            ["12.5", "13.25", "99.1"],
            ["New York", "Los Angeles", "Salt Lake"],
            ["yes", "no", "none"],
            ["red", "green", "blue"],
            ["u", "v", "w"],
        ] {
            assert_eq!(of(&values), None, "{values:?}");
        }
        assert_eq!(of(&["m", "x1"]), None);
    }
}
