//! Whatever goes wrong: one clear error, no cell in it, nothing left behind, and an older release as it was.

mod folder;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use folder::{Folder, Said, people};
use incog_testkit::data::csv_rows;

const OLD: &str = "an older release\n";

/// A folder whose release is there already.
fn with_older_release() -> Folder {
    let folder = Folder::new();
    folder.write("release.csv", OLD);
    folder
}

/// What can be wrong with a job or its files, and what is said about it.
type Spoilt = (&'static str, &'static str, &'static str, &'static str);

#[test]
fn whatever_is_wrong_with_a_job_the_older_release_stays() {
    let cases: [Spoilt; 15] = [
        ("incog.toml", "role = \"sensitive\"", "", "`columns.ill.role` is missing"),
        ("incog.toml", "[columns.ill]\nrole = \"sensitive\"\n", "", "nothing about column `ill`"),
        ("incog.toml", "k = 5", "k = \"five\"", "`policy.k` is text, not a whole number"),
        ("incog.toml", "k = 5", "k = 0", "k is 0"),
        ("incog.toml", "suppression", "supression", "did you mean `suppression`?"),
        ("incog.toml", "[columns.zip]", "[columns.zap]", "no column `zap`; did you mean `zip`?"),
        (
            "incog.toml",
            "path = \"data.csv\"",
            "path = \"data.csv\"\ndelimiter = \";\"",
            "none of the job's 5 columns",
        ),
        ("incog.toml", "path = \"release.csv\"", "path = \"none/release.csv\"", "its folder does not exist"),
        (
            "incog.toml",
            "path = \"release.csv\"",
            "path = \"data.csv/release.csv\"",
            "its folder does not exist",
        ),
        (
            "incog.toml",
            "path = \"release.csv\"",
            "path = \"none/none/\"",
            "only the last folder of the path is made",
        ),
        ("hierarchies/zip.csv", "10101;1010*;*\n", "", "no row for 1 of 5 values"),
        ("hierarchies/zip.csv", "10101;1010*;*\n", "10101;1010*\n", "line 2 has 2 fields, line 1 has 3"),
        ("hierarchies/zip.csv", "10101;1010*;*\n", "10101;1010*;**\n", "another parent"),
        ("data.csv", ",influenza\n", ",\"influenza\n", "is never closed"),
        ("data.csv", ",influenza\n", "\n", "line 2 has 4 fields, the header has 5"),
    ];
    for (file, from, to, part) in cases {
        let folder = with_older_release();
        folder.replace(file, from, to);
        folder.refused(&["anonymize", "incog.toml"], &[part]);
        assert_eq!(folder.read("release.csv"), OLD, "{part}");
    }
    for (data, part) in [("", "is empty"), ("name,age,sex,zip,ill\n", "a header and no rows")] {
        let folder = with_older_release();
        folder.write("data.csv", data);
        folder.refused(&["anonymize", "incog.toml"], &[part]);
        assert_eq!(folder.read("release.csv"), OLD, "{part}");
    }
    // A policy that cannot be met is no error.
    let folder = with_older_release();
    folder.ends_with(1, &["anonymize", "incog.toml", "-k", "61"], &["nothing was written", "closest: "]);
    assert_eq!(folder.read("release.csv"), OLD);
}

/// As on a full disk: no file may grow beyond a block. The signal that comes with it must not end the run.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_grow_leaves_nothing() {
    let folder = with_older_release();
    folder.write("data.csv", people(0..600));
    for output in ["release.csv", "release.csv.zst", "release.parquet", "new/"] {
        if output.ends_with("parquet") && !cfg!(feature = "parquet") {
            continue;
        }
        let before = folder.files();
        let said = Command::new("sh")
            .arg("-c")
            .arg(format!(
                "ulimit -f 1; exec {} anonymize incog.toml --order shuffle -o {output}",
                env!("CARGO_BIN_EXE_incog")
            ))
            .current_dir(folder.path(""))
            .output()
            .unwrap();
        Said::new(&said).failed(2, &["cannot write", "File too large"]);
        let text = String::from_utf8_lossy(&said.stderr);
        assert!(!text.contains(".incog-"), "the name of an unfinished file says nothing: {text}");
        assert_eq!(folder.files(), before, "{output}");
        assert_eq!(folder.read("release.csv"), OLD);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_an_error_and_there_is_no_record() {
    let folder = Folder::new();
    let before = folder.files();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let arguments = ["anonymize", "incog.toml", "-o", "-", "--record", "r.json"];
    let output = folder.command(&arguments).stdout(Stdio::from(full)).output().unwrap();
    Said::new(&output).failed(2, &["cannot write `-`", "No space left on device"]);
    assert_eq!(folder.files(), before);
}

/// The finished file is renamed onto its target: with enough rights that would replace `/dev/null` itself.
#[cfg(unix)]
#[test]
fn devices_and_pipes_are_not_replaced() {
    let folder = Folder::new();
    // By a link, so that nothing is harmed if this fails.
    std::os::unix::fs::symlink("/dev/null", folder.path("null.csv")).unwrap();
    assert!(Command::new("mkfifo").arg(folder.path("pipe.csv")).status().unwrap().success());
    for name in ["null.csv", "pipe.csv"] {
        let parts = ["cannot write", "a device or a pipe", "give `-`"];
        folder.refused(&["anonymize", "incog.toml", "-o", name], &parts);
        folder.refused(&["anonymize", "incog.toml", "--record", name], &parts);
        assert!(!folder.path(name).metadata().unwrap().is_file());
    }
    assert!(folder.path("null.csv").is_symlink());
}

/// `/dev/stdout` is a link that all processes share: a release that takes its name would take its place.
#[cfg(target_os = "linux")]
#[test]
fn links_to_what_a_process_has_open_are_not_replaced() {
    let folder = Folder::new();
    // By a link, so that nothing is harmed if this fails.
    std::os::unix::fs::symlink("/dev/stdout", folder.path("out.csv")).unwrap();
    for (flag, name) in [("-o", "out.csv"), ("-o", "/proc/self/fd/1"), ("--record", "out.csv")] {
        let standard = std::fs::File::create(folder.path("got.csv")).unwrap();
        let run = folder.command(&["anonymize", "incog.toml", flag, name]).stdout(standard).output().unwrap();
        let parts = ["cannot write", "it is what a process has open", "give `-` and redirect"];
        Said::new(&run).failed(2, &parts);
        assert_eq!(folder.read("got.csv"), "");
        assert!(folder.path("out.csv").is_symlink());
        assert!(!folder.path("release.csv").exists());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_files_is_an_error() {
    let folder = with_older_release();
    folder.refused(
        &["anonymize", "incog.toml", "-o", "/proc/release.csv"],
        &["cannot write `/proc/release.csv`"],
    );
    folder
        .refused(&["anonymize", "incog.toml", "-o", "/proc/new/"], &["cannot make the folder `/proc/new/`"]);
    folder
        .refused(&["anonymize", "incog.toml", "--record", "/proc/r.json"], &["cannot write `/proc/r.json`"]);
    folder.refused(
        &["anonymize", "incog.toml", "--key", "/proc/k"],
        &["cannot write `/proc/k`", "--no-record"],
    );
    assert_eq!(folder.read("release.csv"), OLD);
}

/// Ended while the file grows: the unfinished file goes, and a release that was there stays.
#[cfg(unix)]
#[test]
fn a_signal_while_writing_leaves_nothing() {
    let folder = Folder::with_large_table();
    let run = |output: &str| {
        let before = folder.files();
        let flags = ["anonymize", "large.csv", "--qi", "sex", "--other", "note", "-k", "5", "-o", output];
        let child = folder.command(&flags).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let start = Instant::now();
        let is_writing = || {
            let entries = std::fs::read_dir(folder.path("")).unwrap();
            entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with(".incog-"))
        };
        while !is_writing() {
            assert!(start.elapsed() < Duration::from_secs(120), "nothing is written");
            std::thread::sleep(Duration::from_millis(1));
        }
        let killed = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap();
        assert!(killed.success());
        Said::new(&child.wait_with_output().unwrap()).failed(143, &["error: cancelled"]);
        assert_eq!(folder.files(), before, "{output}");
    };
    run("new.csv.gz");
    folder.write("old.csv.gz", OLD);
    run("old.csv.gz");
    assert_eq!(folder.read("old.csv.gz"), OLD);
}

#[test]
fn labels_that_are_values_of_another_level_are_no_problem() {
    let folder = Folder::new();
    // What a value becomes is called like its neighbour, and the top like a value.
    folder.write("turn.csv", "a;b;c;a\nb;b;c;a\nc;c;c;a\nd;c;c;a\n");
    folder.write("data.csv", format!("q,other\n{}", "a,1\nb,2\nc,3\nd,4\n".repeat(3)));
    let arguments = |level: &str, output: &str| {
        let rule = format!("q={{ file = \"turn.csv\", levels = [{level}] }}");
        [
            "anonymize",
            "data.csv",
            "--qi",
            "q",
            "--other",
            "other",
            "-k",
            "3",
            "--order",
            "input",
            "-o",
            output,
        ]
        .map(str::to_owned)
        .into_iter()
        .chain(["--hierarchy".to_owned(), rule])
        .collect::<Vec<_>>()
    };
    for (level, first_rows) in [("0", "abcd"), ("1", "bbcc"), ("2", "cccc"), ("3", "aaaa")] {
        let output = format!("out{level}.csv");
        let arguments = arguments(level, &output);
        folder.done(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let rows = csv_rows(&folder.path(&output), b',');
        assert_eq!(rows[1..5].iter().map(|row| row[0].as_str()).collect::<String>(), first_rows);
        folder.done(&["verify", &output, "--record", &format!("{output}.incog.json")]);
        let job = "[input]\npath = \"data.csv\"\n[policy]\nk = 3\n[columns]\nother.role = \"other\"\n\
                   q = { role = \"quasi-identifier\", hierarchy = { file = \"turn.csv\" } }\n";
        folder.write("turn.toml", job);
        folder.done(&["verify", &output, "--job", "turn.toml"]);
    }
}

#[test]
fn line_breaks_and_quotes_in_cells_survive() {
    let folder = Folder::new();
    let strange = ["two\nlines", "a \"quoted\" word", "semi;colon, comma", "\r\n", "", " spaces ", "\""];
    let mut data = "sex,note\r\n".to_owned();
    for n in 0..70 {
        data += &format!("{},\"{}\"\r\n", ["f", "m"][n % 2], strange[n % 7].replace('"', "\"\""));
    }
    folder.write("data.csv", data);
    let flags =
        ["anonymize", "data.csv", "--qi", "sex", "--sensitive", "note", "-k", "5", "--order", "input"];
    folder.done(&[&flags[..], &["-o", "out.csv"]].concat());
    let rows = csv_rows(&folder.path("out.csv"), b',');
    let notes: Vec<&str> = rows[1..].iter().map(|row| row[1].as_str()).collect();
    assert_eq!(notes, (0..70).map(|n| strange[n % 7]).collect::<Vec<_>>());
    folder.done(&["verify", "out.csv", "--record", "out.csv.incog.json"]);
}

#[test]
fn three_hundred_columns_and_a_cell_of_a_megabyte_are_released() {
    let folder = Folder::new();
    let names: Vec<String> = (0..300).map(|n| format!("c{n}")).collect();
    let long = "x".repeat(1 << 20);
    let mut data = names.join(",") + "\n";
    for n in 0..20 {
        let cells: Vec<String> = (0..300).map(|column| ((n * column) % 7).to_string()).collect();
        data += &(cells.join(",") + "\n");
    }
    data += &(std::iter::repeat_n("0", 299).collect::<Vec<_>>().join(",") + "," + &long + "\n");
    folder.write("data.csv", data);
    let flags = ["--qi", "c1,c2,c3", "--rest", "other", "-k", "5", "--order", "input", "-o", "out.csv"];
    folder.done(&[&["anonymize", "data.csv"], &flags[..]].concat());
    let rows = csv_rows(&folder.path("out.csv"), b',');
    assert_eq!((rows[0].len(), rows.len()), (300, 22));
    assert_eq!(rows[21][299], long);
    assert!(folder.smallest_group("out.csv", &["c1", "c2", "c3"]) >= 5);
    folder.done(&["verify", "out.csv", "--record", "out.csv.incog.json"]);
    // A cell that long must not get out either.
    let said =
        folder.run(&["anonymize", "data.csv", "--qi", "c299", "-k", "5", "--rest", "other", "-o", "x/y.csv"]);
    said.failed(2, &["its folder does not exist"]);
    assert!(said.stderr.len() < 1000);
}

/// A text in units of `n_bytes` bytes, the first byte of each first or last.
fn wide(text: &str, n_bytes: usize, is_big: bool) -> Vec<u8> {
    let unit = |byte: u8| {
        let mut unit = vec![0; n_bytes];
        unit[if is_big { n_bytes - 1 } else { 0 }] = byte;
        unit
    };
    text.bytes().flat_map(unit).collect()
}

#[test]
fn text_in_another_encoding_is_called_by_its_name() {
    let folder = Folder::new();
    let job = folder.read("incog.toml");
    folder.done(&["anonymize", "incog.toml"]);
    let marks: [(usize, bool, &[u8]); 4] = [
        (2, false, &[0xFF, 0xFE]),
        (2, true, &[0xFE, 0xFF]),
        (4, false, &[0xFF, 0xFE, 0, 0]),
        (4, true, &[0, 0, 0xFE, 0xFF]),
    ];
    for (n_bytes, is_big, mark) in marks {
        let name = format!("it is UTF-{}, and should be UTF-8", 8 * n_bytes);
        let parts = [name.as_str(), "hint: convert it, for example with iconv -f UTF-"];
        for mark in [mark, &[]] {
            let wide = |text: &str| [mark, &wide(text, n_bytes, is_big)].concat();
            folder.write("wide.csv", wide(&people(0..60)));
            if n_bytes == 2 {
                // Tables are read in UTF-16, and that is said; jobs and hierarchies are not.
                let said = folder.done(&["anonymize", "incog.toml", "--input", "wide.csv"]);
                assert!(said.stderr.contains("is UTF-16; the release is UTF-8"), "{said:?}");
            } else {
                folder.refused(&["anonymize", "incog.toml", "--input", "wide.csv"], &parts);
                folder.refused(&["init", "wide.csv", "-o", "new.toml"], &parts);
                folder.refused(&["verify", "wide.csv", "--qi", "age", "-k", "2"], &parts);
            }
            folder.write("incog.toml", wide(&job));
            folder.refused(&["anonymize", "incog.toml"], &parts);
            folder.write("incog.toml", &job);
            let zip = folder.read("hierarchies/zip.csv");
            folder.write("hierarchies/zip.csv", wide(&zip));
            folder.refused(&["anonymize", "incog.toml"], &parts);
            folder.write("hierarchies/zip.csv", zip);
        }
    }
    folder.write("nul.csv", "na\0me,age,sex,zip,ill\nx,1,f,10101,asthma\n");
    folder.refused(&["anonymize", "incog.toml", "--input", "nul.csv"], &["its first line has NUL bytes"]);
}

#[test]
fn a_key_is_made_of_digits() {
    let folder = Folder::new();
    for text in ["+1".repeat(32), "-1".repeat(32), "0".repeat(63), String::new()] {
        folder.write("incog.key", text);
        folder.refused(&["anonymize", "incog.toml"], &["incog.key` is not a key of incog"]);
    }
}
