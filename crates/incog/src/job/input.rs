//! What flags say of how data are written.

use incog_core::{Error, Result};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::job::{Input, check};

/// Nothing but how data are written.
#[derive(Deserialize, JsonSchema)]
struct Written {
    input: Input,
}

impl Input {
    /// The same, where a key of `[input]` is said in another place: `encoding=windows-1252`, `skip_rows=2`, `missing=NA,-9`. The value is
    /// TOML, or a text without its quotes; texts of a list are separated by commas.
    ///
    /// ```
    /// use incog::unstable::job::Input;
    ///
    /// let input = Input::default().with("missing=NA,-9")?;
    /// assert_eq!(input.missing.unwrap(), ["NA", "-9"]);
    /// # Ok::<(), incog::Error>(())
    /// ```
    pub fn with(mut self, given: &str) -> Result<Self> {
        const HINT: &str = "write KEY=VALUE as in [input] of a job file, for example encoding=windows-1252";
        let wrong =
            |mistake: &str| Error::input(format!("how the data are written: {mistake}")).with_hint(HINT);
        let (key, value) = given.split_once('=').ok_or_else(|| wrong("there is no `=`"))?;
        let key = key.trim();
        if matches!(key, "path" | "url" | "table" | "query" | "engine" | "memory") {
            return Err(wrong(&format!("`{key}` says nothing of it")));
        }
        // A path need not be a text.
        let path = std::mem::take(&mut self.path);
        let before = toml::Table::try_from(&self).map_err(|_| wrong("it cannot be written"))?;
        let mut mistake = None;
        for value in readings(value) {
            let mut input = before.clone();
            input.insert(key.to_owned(), value);
            let whole = toml::Table::from_iter([("input".to_owned(), toml::Value::Table(input))]);
            let text = toml::to_string(&whole).map_err(|_| wrong(&format!("`{key}` cannot be that")))?;
            match check::check::<Written>(&text) {
                Ok(_) => {
                    let written: Written = toml::from_str(&text)
                        .map_err(|error| wrong(&format!("`{key}`: {}", error.message())))?;
                    return Ok(Input { path, ..written.input });
                }
                Err(found) => mistake = mistake.or(found.into_iter().next()),
            }
        }
        Err(wrong(&mistake.map_or_else(String::new, |(_, mistake)| mistake)))
    }
}

/// What a value may be: TOML, a text, a list of texts.
fn readings(value: &str) -> impl Iterator<Item = toml::Value> {
    let as_toml = toml::from_str::<toml::Table>(&format!("value = {value}")).ok();
    let as_toml = as_toml.and_then(|mut table| table.remove("value"));
    let texts = value.split(',').map(|text| toml::Value::String(text.trim().to_owned())).collect();
    as_toml.into_iter().chain([toml::Value::String(value.to_owned()), toml::Value::Array(texts)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Paths;

    #[test]
    fn keys_of_input_can_be_said_without_quotes() {
        let given = [
            "encoding=windows-1252",
            "sheet=2019",
            "skip_rows=2",
            "decimal=,",
            "comment=#",
            "delimiter=;",
            "header=false",
            "names=[\"a\", \"b, c\"]",
            "missing=NA,-9",
            "date_format=%d.%m.%Y",
            "format=csv",
        ];
        let start = Input { path: Paths::One("data.csv".into()), ..Input::default() };
        let input = given.into_iter().try_fold(start, Input::with).unwrap();
        assert_eq!(input.path, Paths::One("data.csv".into()));
        assert_eq!(
            (input.encoding.as_deref(), input.sheet.as_deref(), input.skip_rows, input.header),
            (Some("windows-1252"), Some("2019"), Some(2), Some(false))
        );
        assert_eq!((input.decimal, input.comment, input.delimiter), (Some(','), Some('#'), Some(';')));
        assert_eq!(input.names.unwrap(), ["a", "b, c"]);
        assert_eq!(input.missing.unwrap(), ["NA", "-9"]);
        assert_eq!(input.date_format.as_deref(), Some("%d.%m.%Y"));
        assert_eq!(input.format, Some(crate::job::FileFormat::Csv));
    }

    #[test]
    fn what_is_no_key_or_no_value_of_it_is_a_mistake() {
        for (given, says) in [
            ("encodng=latin1", "encodng"),
            ("encoding", "there is no `=`"),
            ("path=other.csv", "`path` says nothing of it"),
            ("skip_rows=two", "skip_rows"),
            ("decimal=,,", "decimal"),
            ("format=doc", "format"),
        ] {
            let mistake = Input::default().with(given).unwrap_err().to_string();
            assert!(mistake.starts_with("how the data are written: ") && mistake.contains(says), "{mistake}");
        }
    }
}
