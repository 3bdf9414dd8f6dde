//! What commands print for programs: each object says by which schema it is written, and the schemas are made from the types.
//!
//! The first field of every object is `schema`: the name and version of its JSON Schema, such as `incog-search-1`, which
//! `incog schema search` prints. A version changes where a program that reads the fields it knows would read something else: a
//! field goes, or means another thing. New fields are no new version.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use crate::report::compare::Comparison;
use crate::report::frontier::FrontierReport;
use crate::report::release_json::PublishedJson;
use crate::report::search::SearchReport;
use crate::report::subsets::SubsetsReport;
use crate::report::trace::TraceReport;
use crate::report::verification::VerificationJson;

/// The version of all schemas.
pub(crate) const VERSION: u32 = 1;

/// What a command prints, by a schema of its own.
pub trait Described: Serialize + JsonSchema {
    /// The name that `incog schema` takes.
    const NAME: &'static str;
}

#[derive(Serialize)]
struct Named<'a, T> {
    schema: String,
    #[serde(flatten)]
    fields: &'a T,
}

/// The name and version of a schema.
fn id(name: &str) -> String {
    format!("incog-{name}-{VERSION}")
}

/// One JSON object, which says by which schema it is written.
pub fn written<T: Described>(fields: &T) -> String {
    let named = Named { schema: id(T::NAME), fields };
    serde_json::to_string_pretty(&named).expect("fields are text, numbers and lists of them")
}

/// The JSON Schema of what a command prints.
pub fn schema_of<T: Described>() -> String {
    let schema: Schema =
        SchemaGenerator::new(schemars::generate::SchemaSettings::draft2020_12().for_serialize())
            .into_root_schema_for::<T>();
    let mut schema: Value = schema.into();
    without_examples(&mut schema);
    schema["title"] = json!(id(T::NAME));
    schema["properties"]["schema"] =
        json!({"const": id(T::NAME), "description": "The name and version of this schema."});
    if let Some(required) = schema["required"].as_array_mut() {
        required.insert(0, json!("schema"));
    }
    serde_json::to_string_pretty(&schema).expect("a schema is plain data")
}

/// Descriptions are those of the types, whose examples are for programs in Rust.
fn without_examples(part: &mut Value) {
    match part {
        Value::Object(fields) => {
            if let Some(Value::String(text)) = fields.get_mut("description") {
                text.truncate(text.find("\n\n```").unwrap_or(text.len()));
            }
            fields.values_mut().for_each(without_examples);
        }
        Value::Array(parts) => parts.iter_mut().for_each(without_examples),
        _ => {}
    }
}

/// The schemas of what the library says, each with its name.
pub fn schemas() -> Vec<(&'static str, String)> {
    fn entry<T: Described>() -> (&'static str, String) {
        (T::NAME, schema_of::<T>())
    }
    vec![
        entry::<PublishedJson>(),
        entry::<SearchReport>(),
        entry::<FrontierReport>(),
        entry::<SubsetsReport>(),
        entry::<TraceReport>(),
        entry::<Comparison>(),
        entry::<VerificationJson>(),
    ]
}
