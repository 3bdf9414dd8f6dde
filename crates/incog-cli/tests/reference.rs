//! The pages of `docs/reference` are made from the program itself: `--help`, the JSON Schema, `list` and `explain`.
//!
//! This test fails where a page is not what would be made now. `INCOG_UPDATE=1 cargo test -p incog-cli --test reference` makes them anew.

use std::fmt::Write;
use std::process::Command;

use incog_testkit::data::project;
use serde_json::{Map, Value};

/// What the binary prints, which must succeed.
fn incog(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_incog")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Compares a page with what it should be, or writes it.
fn check(name: &str, made: &str) {
    let path = project().join("docs/reference").join(name);
    if std::env::var_os("INCOG_UPDATE").is_some() {
        std::fs::write(&path, made).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = there.lines().zip(made.lines()).position(|(there, made)| there != made);
    assert!(
        there == made,
        "docs/reference/{name} is not current (line {}); make it with INCOG_UPDATE=1 cargo test -p incog-cli --test reference",
        differs.map_or(there.lines().count().min(made.lines().count()), |at| at) + 1
    );
}

/// Lines without blanks at their ends, which editors remove.
fn trimmed(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[test]
fn the_page_of_commands_is_what_help_prints() {
    let mut page = "# Commands and flags\n\nThis page is made from `--help` of every command.\n".to_owned();
    let mut open = vec![Vec::new()];
    while let Some(command) = open.pop() {
        let arguments: Vec<&str> = command.iter().map(String::as_str).chain(["--help"]).collect();
        let help = incog(&arguments);
        let name =
            ["incog"].into_iter().chain(command.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
        write!(page, "\n## {name}\n\n```text\n{}```\n", trimmed(&help)).unwrap();
        let below = help.split("\nCommands:\n").nth(1).unwrap_or("").split("\n\n").next().unwrap();
        let names = below.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
        let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
        for below in names.into_iter().rev().filter(|&below| below != "help") {
            open.push(command.iter().cloned().chain([below.to_owned()]).collect());
        }
    }
    assert!(page.matches("\n## ").count() > 12, "there are more commands");
    check("commands.md", &page);
}

/// The names that `incog list` prints, with their section, and after them the words that only `explain` knows.
fn names() -> Vec<(String, String)> {
    let mut names = Vec::new();
    let mut section = String::new();
    for line in incog(&["list"]).lines() {
        if !line.starts_with(' ') {
            section = line.to_owned();
        } else if !line.starts_with("   ") {
            names.push((section.clone(), line.split_whitespace().next().unwrap().to_owned()));
        }
    }
    let all = Command::new(env!("CARGO_BIN_EXE_incog")).arg("explain").output().unwrap();
    let all = String::from_utf8(all.stderr).unwrap();
    let all = all.split("there are: ").nth(1).unwrap().split(';').next().unwrap();
    for name in all.split(", ") {
        if names.iter().all(|(_, listed)| listed != name) {
            names.push(("words".to_owned(), name.to_owned()));
        }
    }
    names
}

#[test]
fn the_page_of_names_is_what_explain_prints() {
    let names = names();
    let mut page = "# Names: models, algorithms, metrics\n\nThis page is made from `incog list` and `incog explain NAME`. *Preview* \
                    means that an entry is tested, and that nobody but its author has compared it with its source yet.\n\n"
        .to_owned();
    let mut section = "";
    let mut body = String::new();
    for (of, name) in &names {
        if of != section {
            section = of;
            write!(page, "{}- **{section}**: ", if body.is_empty() { "" } else { "\n" }).unwrap();
            write!(body, "\n## {}{}\n", section[..1].to_uppercase(), &section[1..]).unwrap();
        } else {
            page.push_str(", ");
        }
        write!(page, "[`{name}`](#{name})").unwrap();
        let text = incog(&["explain", name]);
        let (head, text) = text.split_once("\n\n").unwrap();
        write!(body, "\n### {name}\n\n").unwrap();
        for line in head.lines().skip(1) {
            match line.split_once(": ") {
                Some(("kind" | "status", _)) => writeln!(body, "*{line}*\\").unwrap(),
                _ => writeln!(body, "{line}").unwrap(),
            }
        }
        // A page's own headings stand below that of its name.
        let text = text.lines().map(|line| match line.strip_prefix("# ") {
            Some(heading) => format!("**{heading}.**\n"),
            None => format!("{}\n", line.trim_end()),
        });
        write!(body, "\n{}", text.collect::<String>()).unwrap();
    }
    check("names.md", &format!("{page}\n{body}").replace("*\\\n\n", "*\n\n"));
}

#[test]
fn the_page_of_keys_is_what_the_schema_says() {
    let schema: Value = serde_json::from_str(&incog(&["schema"])).unwrap();
    let mut keys =
        Keys { definitions: schema["$defs"].as_object().unwrap(), page: String::new(), shown: Vec::new() };
    keys.page.push_str(
        "# Keys of a job file\n\nThis page is made from the JSON Schema that `incog schema` prints. **Bold** keys must be given.\n\
         [Job files](../job-files.md) and [Databases](../databases.md) show whole jobs.\n",
    );
    keys.page.push_str("\n## A job for one table\n");
    keys.tables("Job", "");
    keys.page.push_str("\n## A job for a database\n");
    keys.tables("DatabaseJob", "");
    let page = std::mem::take(&mut keys.page);
    assert!(page.matches("\n### ").count() > 8, "there are more tables");
    check("job-keys.md", &page);
}

/// A walk over the schema.
struct Keys<'a> {
    definitions: &'a Map<String, Value>,
    page: String,
    /// Tables that have been described, which are not described again.
    shown: Vec<String>,
}

impl Keys<'_> {
    /// Describes the tables below one: `[input]`, `[columns.NAME]`, `[[policy.require]]`.
    fn tables(&mut self, of: &str, path: &str) {
        let definitions = self.definitions;
        for (key, value) in definitions[of]["properties"].as_object().unwrap() {
            let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let Some((name, shape)) = self.table_of(value) else {
                continue;
            };
            let title = match shape {
                Shape::One => format!("[{below}]"),
                Shape::Named => format!("[{below}.NAME]"),
                Shape::Many => format!("[[{below}]]"),
            };
            if self.shown.contains(&name) {
                write!(self.page, "\n### `{title}`: as for one table\n\nIts keys are described above.\n")
                    .unwrap();
                continue;
            }
            self.shown.push(name.clone());
            let description = text(&definitions[&name]["description"]);
            write!(self.page, "\n### `{title}`\n\n{description}\n\n").unwrap();
            self.keys(&name);
            let inside = if matches!(shape, Shape::Named) { format!("{below}.NAME") } else { below };
            self.tables(&name, &inside);
        }
    }

    /// The definition of a table that a key stands for.
    fn table_of(&self, value: &Value) -> Option<(String, Shape)> {
        let is_table = |name: &String| self.definitions[name].get("properties").is_some();
        if let Some(name) = named(value).filter(is_table) {
            return Some((name, Shape::One));
        }
        if let Some(name) = named(&value["additionalProperties"]).filter(is_table) {
            return Some((name, Shape::Named));
        }
        named(&value["items"]).filter(is_table).map(|name| (name, Shape::Many))
    }

    /// The keys of a table.
    fn keys(&mut self, of: &str) {
        let table = &self.definitions[of];
        let required: Vec<&str> =
            table["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        self.page.push_str("| key | is | meaning |\n|---|---|---|\n");
        for (key, value) in table["properties"].as_object().unwrap() {
            let shown =
                if required.contains(&key.as_str()) { format!("**`{key}`**") } else { format!("`{key}`") };
            let kind = match self.table_of(value) {
                Some((_, Shape::One)) => "a table, below".to_owned(),
                Some(_) => "tables, below".to_owned(),
                None => self.kind(value),
            };
            writeln!(self.page, "| {shown} | {} | {} |", cell(&kind), cell(&text(&value["description"])))
                .unwrap();
        }
    }

    /// What may be written for a value, in words.
    fn kind(&self, value: &Value) -> String {
        if let Some(word) = value["const"].as_str() {
            return format!("`\"{word}\"`");
        }
        if let Some(name) = value["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
            let definition = &self.definitions[name];
            return if definition.get("properties").is_some() {
                "a table".to_owned()
            } else {
                self.kind(definition)
            };
        }
        for choices in [&value["oneOf"], &value["anyOf"]] {
            if let Some(choices) = choices.as_array() {
                let mut kinds: Vec<String> = choices.iter().map(|choice| self.kind(choice)).collect();
                kinds.retain(|kind| !kind.is_empty());
                kinds.dedup();
                let is_word = kinds.iter().all(|kind| kind.starts_with('`'));
                return kinds.join(if is_word { ", " } else { " or " });
            }
        }
        let types: Vec<&str> = match &value["type"] {
            Value::String(one) => vec![one],
            several => several.as_array().into_iter().flatten().filter_map(Value::as_str).collect(),
        };
        let kinds = types.into_iter().filter_map(|kind| match kind {
            "string" => Some("text".to_owned()),
            "integer" => Some("a whole number".to_owned()),
            "number" => Some("a number".to_owned()),
            "boolean" => Some("`true`, `false`".to_owned()),
            "array" => Some(format!("a list of {}", self.kind(&value["items"]))),
            "object" => Some("a table of names".to_owned()),
            _ => None,
        });
        kinds.collect::<Vec<_>>().join(" or ")
    }
}

/// How often a table may stand in a job.
enum Shape {
    One,
    Named,
    Many,
}

/// The definition that a value refers to, also where it may be left out.
fn named(value: &Value) -> Option<String> {
    let of = |value: &Value| Some(value["$ref"].as_str()?.rsplit('/').next()?.to_owned());
    let mut choices =
        value["anyOf"].as_array().into_iter().flatten().filter(|choice| choice["type"] != "null");
    of(value).or_else(|| match (choices.next(), choices.next()) {
        (Some(one), None) => of(one),
        _ => None,
    })
}

/// A description on one line.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What can stand in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
