//! Is a job file shaped as the schema says?
//!
//! Walks the TOML with its positions beside the JSON Schema that the job's types give, and collects every
//! mistake. Knows as much of JSON Schema as those types use: references, objects, maps, lists, choices, names.

use std::collections::BTreeMap;

use incog_core::registry::nearest;
use schemars::JsonSchema;
use serde_json::Value as Json;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::job::lines::{LineEnds, Lines};

/// What a text says, and the line of every key.
pub(super) type Checked<'a> = (Spanned<DeTable<'a>>, Lines);

/// What a text says and the line of every key, if it is shaped like a `T`; otherwise all mistakes with their lines.
pub(super) fn check<T: JsonSchema>(text: &str) -> Result<Checked<'_>, Vec<(usize, String)>> {
    let (document, broken) = DeTable::parse_recoverable(text);
    if let Some(error) = broken.first() {
        // What follows a syntax error is guesswork: only the first is told.
        let line = error.span().map_or(1, |span| LineEnds::of(text).line_at(span.start));
        return Err(vec![(line, error.message().replace('\n', ", "))]);
    }
    let schema = serde_json::to_value(schemars::schema_for!(T)).expect("a schema is plain data");
    let mut walk = Walk {
        ends: LineEnds::of(text),
        root: &schema,
        lines: Lines::default(),
        mistakes: BTreeMap::new(),
        n_mistakes: 0,
    };
    walk.table(document.get_ref(), &schema, &mut Vec::new(), 1);
    if walk.mistakes.is_empty() {
        return Ok((document, walk.lines));
    }
    Err(walk.mistakes.into_iter().map(|((line, _), mistake)| (line, mistake)).collect())
}

/// The schema that says nothing.
static NOTHING: Json = Json::Null;

struct Walk<'a> {
    ends: LineEnds,
    root: &'a Json,
    lines: Lines,
    /// By line, then in the order of discovery.
    mistakes: BTreeMap<(usize, usize), String>,
    n_mistakes: usize,
}

impl<'a> Walk<'a> {
    fn mistake(&mut self, line: usize, mistake: String) {
        self.mistakes.insert((line, self.n_mistakes), mistake);
        self.n_mistakes += 1;
    }

    /// Follows references to the schema that says something.
    fn resolve(&self, schema: &'a Json) -> &'a Json {
        let mut schema = schema;
        while let Some(reference) = schema.get("$ref").and_then(Json::as_str) {
            schema = self.root.pointer(reference.trim_start_matches('#')).unwrap_or(&NOTHING);
        }
        schema
    }

    /// The schemas a value may follow, without the one for "absent".
    fn choices(&self, schema: &'a Json) -> Vec<&'a Json> {
        let schema = self.resolve(schema);
        match schema.get("anyOf").and_then(Json::as_array) {
            Some(choices) => choices
                .iter()
                .filter(|choice| choice.get("type").and_then(Json::as_str) != Some("null"))
                .flat_map(|choice| self.choices(choice))
                .collect(),
            None => vec![schema],
        }
    }

    fn table(&mut self, table: &DeTable<'_>, schema: &'a Json, path: &mut Vec<String>, line: usize) {
        let properties = schema.get("properties").and_then(Json::as_object);
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        for (key, value) in table {
            let name = key.get_ref().to_string();
            let line = self.ends.line_at(key.span().start);
            let known = properties.and_then(|properties| properties.get(&name)).or(others);
            let Some(known) = known else {
                let place = if path.is_empty() { String::new() } else { format!(" in `{}`", path.join(".")) };
                let names =
                    properties.into_iter().flat_map(|properties| properties.keys()).map(String::as_str);
                let advice =
                    nearest(names, &name).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                self.mistake(line, format!("unknown key `{name}`{place}{advice}"));
                continue;
            };
            path.push(name);
            self.lines.insert(path, line);
            self.value(value, known, path, line);
            path.pop();
        }
        for required in schema.get("required").and_then(Json::as_array).into_iter().flatten() {
            let name = required.as_str().unwrap_or_default();
            if !table.iter().any(|(key, _)| *key.get_ref() == name) {
                path.push(name.to_owned());
                self.mistake(line, format!("`{}` is missing", path.join(".")));
                path.pop();
            }
        }
    }

    /// A value whose key stands on line `key_line`.
    fn value(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        schema: &'a Json,
        path: &mut Vec<String>,
        key_line: usize,
    ) {
        let line = self.ends.line_at(value.span().start);
        let choices = self.choices(schema);
        let fitting = choices.iter().find(|choice| fits(value.get_ref(), choice));
        let Some(&choice) = fitting else {
            let wanted: Vec<&str> = choices.iter().map(|choice| name_of(choice)).collect();
            let found = kind_of(value.get_ref());
            self.mistake(line, format!("`{}` is {found}, not {}", path.join("."), wanted.join(" or ")));
            return;
        };
        match value.get_ref() {
            DeValue::Table(table) => self.table(table, choice, path, key_line),
            DeValue::Array(items) => {
                if let Some(schema) = choice.get("items") {
                    for (at, item) in items.iter().enumerate() {
                        // Tables of a list have keys, and so lines, of their own.
                        let is_table = matches!(item.get_ref(), DeValue::Table(_));
                        let line = self.ends.line_at(item.span().start);
                        if is_table {
                            path.push((at + 1).to_string());
                            self.lines.insert(path, line);
                        }
                        self.value(item, schema, path, line);
                        if is_table {
                            path.pop();
                        }
                    }
                }
                let exact = choice.get("minItems").and_then(Json::as_u64);
                if exact.is_some_and(|exact| exact != items.len() as u64) {
                    self.mistake(
                        line,
                        format!("`{}` needs exactly {} values", path.join("."), exact.unwrap_or(0)),
                    );
                }
            }
            DeValue::String(text) => self.name(text, choice, path, line),
            DeValue::Integer(number) => {
                let is_negative = number.as_str().starts_with('-');
                if is_negative && choice.get("minimum").and_then(Json::as_f64) == Some(0.0) {
                    self.mistake(line, format!("`{}` is negative", path.join(".")));
                }
            }
            _ => {}
        }
    }

    /// Text that must be one of some names.
    fn name(&mut self, text: &str, schema: &Json, path: &[String], line: usize) {
        let names: Vec<&str> = match (schema.get("enum"), schema.get("oneOf")) {
            (Some(Json::Array(names)), _) => names.iter().filter_map(Json::as_str).collect(),
            (_, Some(Json::Array(choices))) => {
                choices.iter().filter_map(|choice| choice.get("const")?.as_str()).collect()
            }
            _ => return,
        };
        if !names.contains(&text) {
            let near = nearest(names.iter().copied(), text);
            let advice = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
            self.mistake(line, format!("`{}` is none of {}{advice}", path.join("."), names.join(", ")));
        }
    }
}

/// The types that a schema allows.
fn types(schema: &Json) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(name)) => vec![name],
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).collect(),
        // Names with descriptions come as a choice of constants.
        _ if schema.get("oneOf").is_some() => vec!["string"],
        _ => Vec::new(),
    }
}

fn fits(value: &DeValue<'_>, schema: &Json) -> bool {
    let allowed = types(schema);
    let mine: &[&str] = match value {
        DeValue::String(_) => &["string"],
        DeValue::Integer(_) => &["integer", "number"],
        DeValue::Float(_) => &["number"],
        DeValue::Boolean(_) => &["boolean"],
        DeValue::Array(_) => &["array"],
        DeValue::Table(_) => &["object"],
        DeValue::Datetime(_) => &[],
    };
    mine.iter().any(|name| allowed.contains(name))
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a decimal number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
        DeValue::Datetime(_) => "a date (put it in quotes)",
    }
}

fn name_of(schema: &Json) -> &'static str {
    match types(schema).first() {
        Some(&"string") => "text",
        Some(&"integer") => "a whole number",
        Some(&"number") => "a number",
        Some(&"boolean") => "true or false",
        Some(&"array") => "a list",
        Some(&"object") => "a table",
        _ => "what belongs here",
    }
}
