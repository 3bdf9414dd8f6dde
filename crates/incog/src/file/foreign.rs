//! What is a file that is not the text it is said to be?
//!
//! The first bytes tell. Whoever opens a workbook as text, or a page of the web that was saved as `.csv`, is told what it is, not that its
//! lines are ragged.

#[cfg(feature = "sheets")]
use crate::file::FileFormat;

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

/// What a file is that is said to be a workbook of some format, and what to do about it; `None` where it may be one.
#[cfg(feature = "sheets")]
pub(crate) fn no_workbook(bytes: &[u8], said: FileFormat) -> Option<(&'static str, &'static str)> {
    let start = &bytes[..bytes.len().min(1 << 16)];
    let is = match (said, start) {
        // What Excel encrypts is packed like the workbooks of old.
        (FileFormat::Xlsx, [0xD0, 0xCF, 0x11, 0xE0, ..]) if !is_encrypted(bytes) => {
            ("an older Excel workbook", "name it .xls, or say format = \"xls\" in [input]")
        }
        (FileFormat::Xls, [b'P', b'K', 3, 4, ..]) => match not_text(start)? {
            ("an Excel workbook", hint) => ("a newer Excel workbook", hint),
            is => is,
        },
        (_, [b'P', b'K', ..] | [0xD0, 0xCF, 0x11, 0xE0, ..]) => return None,
        _ => match not_text(start) {
            Some(is) => is,
            None if !start.is_empty() && is_plain_text(start) => {
                ("text", "name it .csv, or say format = \"csv\" in [input]")
            }
            None => return None,
        },
    };
    Some(is)
}

/// Has it the part that holds what is encrypted?
#[cfg(feature = "sheets")]
fn is_encrypted(bytes: &[u8]) -> bool {
    let name: Vec<u8> = "EncryptedPackage".bytes().flat_map(|byte| [byte, 0]).collect();
    memchr::memmem::find(bytes, &name).is_some()
}

/// Is all of it characters that a text has, but for one that is cut off at the end?
#[cfg(feature = "sheets")]
fn is_plain_text(start: &[u8]) -> bool {
    let is_text = match std::str::from_utf8(start) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    is_text && !start.iter().any(|byte| byte.is_ascii_control() && !b"\t\r\n".contains(byte))
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

    #[cfg(feature = "sheets")]
    #[test]
    fn what_is_called_a_workbook_and_is_none_is_called_by_its_name() {
        let called = |bytes: &[u8], said| no_workbook(bytes, said).map(|(what, _)| what);
        let (old, sealed) = (
            b"\xD0\xCF\x11\xE0....W\0o\0r\0k\0",
            b"\xD0\xCF\x11\xE0E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0",
        );
        assert_eq!(called(old, FileFormat::Xlsx), Some("an older Excel workbook"));
        assert_eq!(called(sealed, FileFormat::Xlsx), None);
        assert_eq!(called(old, FileFormat::Xls), None);
        assert_eq!(called(b"PK\x03\x04....xl/workbook.xml", FileFormat::Xls), Some("a newer Excel workbook"));
        assert_eq!(called(b"PK\x03\x04....xl/workbook.xml", FileFormat::Xlsx), None);
        assert_eq!(called(b"<html><table>", FileFormat::Xls), Some("an HTML page"));
        assert_eq!(called(b"age,zip\n34,53715\n", FileFormat::Xlsx), Some("text"));
        assert_eq!(called("gr\u{f6}\u{df}e".as_bytes(), FileFormat::Ods), Some("text"));
        assert_eq!(called(b"\x09\x08\0\0", FileFormat::Xls), None, "a workbook older still");
        assert_eq!(called(b"", FileFormat::Xlsx), None);
    }

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
