//! JSON as a record has it: one text for one value.
//!
//! *Canonical* is: keys sorted, no white space, whole numbers and text only, escapes only where JSON needs them. A text is
//! accepted only if it is the canonical text of what was read from it. So nobody can put something into a file that one
//! reader sees and another does not: a key that stands twice (readers disagree which one counts), a number with an
//! exponent, a character written as an escape.

use std::fmt::Write as _;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

/// Reads JSON in which no object has a key twice. `None` if it is not such a text.
pub(crate) fn parse(text: &str) -> Option<Json> {
    serde_json::from_str::<Unambiguous>(text).ok().map(|value| value.0)
}

/// Whether a file's text is the canonical text of a value, with the line break at its end.
pub(crate) fn is_canonical(text: &str, value: &Json) -> bool {
    text.strip_suffix('\n').is_some_and(|text| text == canonical(value))
}

/// JSON with sorted keys and without white space.
pub(crate) fn canonical(value: &Json) -> String {
    let mut text = String::new();
    append(&mut text, value);
    text
}

/// The canonical text of an object whose members have been written already.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a String, &'a String)>) -> String {
    let mut members: Vec<(&String, &String)> = members.into_iter().collect();
    members.sort();
    let mut text =
        String::with_capacity(members.iter().map(|(key, value)| key.len() + value.len() + 4).sum());
    between(&mut text, ['{', '}'], members, |text, (key, value)| {
        string(text, key);
        text.push(':');
        text.push_str(value);
    });
    text
}

/// Writes into one text: a record of many columns has many small parts.
fn append(text: &mut String, value: &Json) {
    match value {
        Json::Object(object) => {
            let mut members: Vec<(&String, &Json)> = object.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            between(text, ['{', '}'], members, |text, (key, value)| {
                string(text, key);
                text.push(':');
                append(text, value);
            });
        }
        Json::Array(list) => between(text, ['[', ']'], list, append),
        Json::String(plain) => string(text, plain),
        // Writing to a string cannot fail.
        plain => _ = write!(text, "{plain}"),
    }
}

/// Items with commas, between brackets.
fn between<T>(
    text: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    append: impl Fn(&mut String, T),
) {
    text.push(open);
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        append(text, item);
    }
    text.push(close);
}

fn string(text: &mut String, plain: &str) {
    let is_itself = |byte: u8| byte >= b' ' && !b"\"\\".contains(&byte);
    if plain.bytes().all(is_itself) {
        text.push('"');
        text.push_str(plain);
        text.push('"');
    } else {
        _ = write!(text, "{}", Json::from(plain));
    }
}

/// Where two records differ first, as `levels.age: the record says 2, found 1`.
pub(crate) fn difference(mine: &Json, anew: &Json, at: &str) -> Option<String> {
    match (mine, anew) {
        (Json::Object(mine), Json::Object(anew)) => {
            let mut keys: Vec<&String> = mine.keys().chain(anew.keys()).collect();
            keys.sort();
            keys.dedup();
            keys.into_iter().find_map(|key| {
                let at = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
                let at = at.as_str();
                difference(mine.get(key).unwrap_or(&Json::Null), anew.get(key).unwrap_or(&Json::Null), at)
            })
        }
        (mine, anew) if mine == anew => None,
        // Without a header, what stands in the first line may be somebody's cells.
        _ if at.ends_with(".columns") => Some(format!("{at}: the columns are others")),
        // The job is long; what differs in it is for its own lines to say.
        _ if at == "job" => Some("job: the job is another one".to_owned()),
        (mine, anew) => Some(format!("{at}: the record says {mine}, found {anew}")),
    }
}

/// A value that was read from a text in which no object has a key twice.
struct Unambiguous(Json);

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader).map(Unambiguous)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(Unambiguous(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut object = Map::new();
        while let Some((key, Unambiguous(value))) = members.next_entry::<String, Unambiguous>()? {
            if object.insert(key, value).is_some() {
                return Err(A::Error::custom("a key stands twice"));
            }
        }
        Ok(object.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_canonical_text() {
        let text = |json: &str| canonical(&parse(json).unwrap());
        assert_eq!(
            text("{ \"b\": [1, 2, {\"d\": null, \"c\": true}], \"a\": \"x\\\"y\" }"),
            text("{\"a\":\"x\\\"y\",\"b\":[1,2,{\"c\":true,\"d\":null}]}")
        );
        assert_eq!(text("{\"b\":1, \"a\":2}"), "{\"a\":2,\"b\":1}");
    }

    #[test]
    fn a_key_that_stands_twice_is_refused_at_any_depth() {
        for text in [
            "{\"a\":1,\"a\":1}",
            "{\"a\":1,\"b\":2,\"a\":3}",
            "[{\"b\":{\"c\":1,\"c\":2}}]",
            "{\"a\":1,\"\\u0061\":2}",
        ] {
            assert!(serde_json::from_str::<Json>(text).is_ok(), "{text} is JSON");
            assert_eq!(parse(text), None, "{text}");
        }
        assert!(parse("{\"a\":{\"a\":1},\"b\":{\"a\":1}}").is_some());
    }

    #[test]
    fn only_the_canonical_text_of_a_value_is_canonical() {
        let value = parse("{\"a\":[1,\"x\"],\"b\":-2}").unwrap();
        assert!(is_canonical("{\"a\":[1,\"x\"],\"b\":-2}\n", &value));
        for text in [
            "{\"a\":[1,\"x\"],\"b\":-2}",
            "{\"a\":[1,\"x\"],\"b\":-2}\n\n",
            " {\"a\":[1,\"x\"],\"b\":-2}\n",
            "{\"b\":-2,\"a\":[1,\"x\"]}\n",
            "{\"a\":[1,\"\\u0078\"],\"b\":-2}\n",
            "{\"a\":[1e0,\"x\"],\"b\":-2}\n",
            "{\"a\":[1,\"x\"],\"b\":-2}\r\n",
        ] {
            let value = parse(text).unwrap();
            assert!(!is_canonical(text, &value), "{text}");
        }
    }

    #[test]
    fn the_first_difference_is_named_by_its_key() {
        let value = |json: &str| parse(json).unwrap();
        let [mine, anew] =
            [value("{\"a\":{\"x\":1,\"y\":2},\"b\":3}"), value("{\"a\":{\"x\":1,\"y\":5},\"b\":4}")];
        assert_eq!(difference(&mine, &anew, "").unwrap(), "a.y: the record says 2, found 5");
        assert_eq!(difference(&mine, &mine, ""), None);
    }
}
