//! What is a file that is not the text it is said to be?
//!
//! The first bytes tell. Whoever opens a workbook as text, or a page of the web that was saved as `.csv`, is told what it is, not that its
//! lines are ragged.

/// What a file is, and what to do about it; `None` where it may be delimited text.
pub(crate) fn not_text(start: &[u8]) -> Option<(&'static str, &'static str)> {
    const NAME_IT: &str = "give it the ending of its format, or say `format` in [input]";
    const EXPORT: &str = "open it in the program that made it, and save it as CSV";
    let contains = |text: &str| memchr::memmem::find(start, text.as_bytes()).is_some();
    let is = match start {
        [b'P', b'K', 3, 4, ..] if contains("opendocument.spreadsheet") => {
            ("an OpenDocument spreadsheet", "name it .ods, or say format = \"ods\" in [input]")
        }
        [b'P', b'K', 3, 4, ..] if contains("xl/") || contains("[Content_Types].xml") => {
            ("an Excel workbook", "name it .xlsx, or say format = \"xlsx\" in [input]")
        }
        [b'P', b'K', 3 | 5, 4 | 6, ..] => ("a zip archive", "name it .zip: one table in it is read"),
        [0x1F, 0x8B, ..] => ("compressed with gzip", "let its name end in .gz"),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => ("compressed with zstd", "let its name end in .zst"),
        [b'B', b'Z', b'h', ..] => ("compressed with bzip2", "unpack it first"),
        [0xFD, b'7', b'z', b'X', b'Z', ..] => ("compressed with xz", "unpack it first"),
        [b'7', b'z', 0xBC, 0xAF, ..] => ("a 7z archive", "unpack it first"),
        [b'P', b'A', b'R', b'1', ..] => {
            ("Parquet", "name it .parquet, or say format = \"parquet\" in [input]")
        }
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => {
            ("Arrow IPC", "name it .arrow, or say format = \"arrow\" in [input]")
        }
        [b'F', b'E', b'A', b'1', ..] => {
            ("Feather of version 1", "write it as .parquet or Feather of version 2")
        }
        [0xD0, 0xCF, 0x11, 0xE0, ..] => {
            ("an Excel workbook", "name it .xls, or say format = \"xls\" in [input]")
        }
        [b'%', b'P', b'D', b'F', ..] => ("a PDF", EXPORT),
        [b'$', b'F', b'L', b'2' | b'3', ..] => ("an SPSS file", "save it as .parquet or .csv first"),
        _ if start.starts_with(b"<stata_dta>") => ("a Stata file", "save it as .parquet or .csv first"),
        _ if start.starts_with(b"SQLite format 3\0") => ("an SQLite database", "export the table as CSV"),
        _ if start.starts_with(b"{\\rtf") => ("a text with formatting (RTF)", EXPORT),
        _ => {
            return markup(start)
                .map(|what| (what, EXPORT))
                .or_else(|| json(start).map(|what| (what, NAME_IT)));
        }
    };
    Some(is)
}

/// A page of the web, or XML.
fn markup(start: &[u8]) -> Option<&'static str> {
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
    let opens =
        |tag: &str| text.get(..tag.len()).is_some_and(|first| first.eq_ignore_ascii_case(tag.as_bytes()));
    if ["<!doctype html", "<html", "<head", "<body", "<table", "<meta", "<div"].into_iter().any(opens) {
        Some("an HTML page")
    } else if opens("<?xml") {
        Some("XML")
    } else {
        None
    }
}

/// JSON: an object, or a list of objects.
fn json(start: &[u8]) -> Option<&'static str> {
    let text = start.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(start).trim_ascii_start();
    let behind = |first: u8| text.strip_prefix(&[first]).map(<[u8]>::trim_ascii_start);
    if behind(b'{').is_some_and(|rest| rest.starts_with(b"\"") && memchr::memchr(b':', rest).is_some()) {
        Some("JSON")
    } else if behind(b'[').is_some_and(|rest| rest.starts_with(b"{")) {
        Some("a JSON list")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_files_are_called_by_their_names_and_text_is_none() {
        let called = |start: &[u8]| not_text(start).map(|(what, _)| what);
        assert_eq!(called(b"PK\x03\x04....data.csv"), Some("a zip archive"));
        assert_eq!(called(b"PK\x03\x04....[Content_Types].xml"), Some("an Excel workbook"));
        assert_eq!(called(b"\xD0\xCF\x11\xE0\xA1"), Some("an Excel workbook"));
        assert_eq!(called(b"\n <!DOCTYPE HTML><p>"), Some("an HTML page"));
        assert_eq!(called(b"\xEF\xBB\xBF<table><tr>"), Some("an HTML page"));
        assert_eq!(called(b"{\"a\": 1}\n"), Some("JSON"));
        assert_eq!(called(b"[ {\"a\": 1}]"), Some("a JSON list"));
        for text in ["a,b\n1,2\n", "", "<5,>5\n", "{x},y\n", "[a],[b]\n", "PK,id\n", "%PD,x\n"] {
            assert_eq!(called(text.as_bytes()), None, "{text}");
        }
    }
}
