//! Several processes at once, processes that are killed or stopped, and files that change meanwhile.
#![cfg(unix)]

mod folder;

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use folder::{Folder, Said, people};

const OLD: &str = "an older release\n";

/// A run that takes a while to write.
const LARGE: [&str; 8] = ["anonymize", "large.csv", "--qi", "sex", "--other", "note", "-k", "5"];

/// Sends a signal.
fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(child.id().to_string()).status().unwrap();
    assert!(sent.success(), "no process takes {name}");
}

/// Waits until something holds.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// What is being written.
fn hidden(folder: &Folder) -> Vec<String> {
    let names = std::fs::read_dir(folder.path("")).unwrap().flatten().map(|entry| entry.file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(".incog-")).collect()
}

fn spawn(folder: &Folder, arguments: &[&str]) -> Child {
    folder.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// A run that was stopped while it writes.
fn stopped(folder: &Folder, output: &str) -> Child {
    let child = spawn(folder, &[&LARGE[..], &["-o", output]].concat());
    wait_until("nothing is written", || !hidden(folder).is_empty());
    signal(&child, "STOP");
    // Not while it has its turn in the folder: nobody else would get one.
    wait_until("it does not give up its turn", || {
        let is_free = File::open(folder.path("")).unwrap().try_lock().is_ok();
        if !is_free {
            signal(&child, "CONT");
            std::thread::sleep(Duration::from_millis(1));
            signal(&child, "STOP");
        }
        is_free
    });
    child
}

fn said(child: Child) -> Said {
    Said::new(&child.wait_with_output().unwrap())
}

/// Runs the binary by a line of a shell, in which it is `$0`.
fn by_shell(folder: &Folder, line: &str) -> Said {
    let mut command = Command::new("sh");
    command.args(["-c", line, env!("CARGO_BIN_EXE_incog")]).current_dir(folder.path(""));
    Said::new(&command.stdin(Stdio::null()).output().unwrap())
}

fn mode(folder: &Folder, path: &str) -> u32 {
    folder.path(path).metadata().unwrap().permissions().mode() & 0o777
}

mod killed {
    use super::*;

    #[test]
    fn what_is_not_finished_is_its_owners_alone_and_the_next_run_removes_it() {
        let folder = Folder::with_large_table();
        let before = folder.files();
        for output in ["new.csv.gz", "new/"] {
            let mut child = stopped(&folder, output);
            for name in hidden(&folder) {
                assert_eq!(mode(&folder, &name), 0o600, "{name}");
            }
            // While it lives, nobody takes its files for left behind.
            folder.done(&["anonymize", "incog.toml", "--no-record", "-o", "other.csv"]);
            assert!(!hidden(&folder).is_empty());
            signal(&child, "KILL");
            child.wait().unwrap();
            assert!(!folder.path("new").exists(), "the folder appears with its release");
            assert!(!hidden(&folder).is_empty(), "nobody could clean up");
            folder.done(&["anonymize", "incog.toml", "--no-record", "-o", "other.csv"]);
            std::fs::remove_file(folder.path("other.csv")).unwrap();
            assert_eq!(folder.files(), before, "{output}");
        }
    }

    #[test]
    fn finished_files_and_folders_are_open_to_those_whom_the_mask_allows() {
        let masks = [("022", 0o644, 0o755), ("027", 0o640, 0o750), ("002", 0o664, 0o775)];
        for (mask, file, new_folder) in masks {
            let folder = Folder::new();
            let said = by_shell(&folder, &format!("umask {mask}; exec \"$0\" anonymize incog.toml -o new/"));
            assert_eq!(said.code, Some(0), "{said:?}");
            let modes = ["new", "new/data.csv", "new/data.csv.incog.json", "incog.key"]
                .map(|path| mode(&folder, path));
            assert_eq!(modes, [new_folder, file, file, 0o600], "{mask}");
        }
    }

    /// Is a signal ignored in this process, and so in those that it starts?
    fn is_ignored(number: u32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask =
            status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0").trim().to_owned();
        u64::from_str_radix(&mask, 16).unwrap_or(0) >> (number - 1) & 1 == 1
    }

    #[test]
    fn every_command_ends_at_once_with_the_exit_code_of_its_signal() {
        let folder = Folder::new();
        let pipe = folder.path("pipe.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        folder.replace("incog.toml", "path = \"data.csv\"", "path = \"pipe.csv\"");
        let before = folder.files();
        let commands: [&[&str]; 6] = [
            &["anonymize", "incog.toml"],
            &["search", "incog.toml"],
            &["compare", "incog.toml"],
            &["init", "pipe.csv", "-o", "new.toml"],
            &["verify", "pipe.csv", "--qi", "age", "-k", "2"],
            &["hierarchy", "check", "incog.toml"],
        ];
        for arguments in commands {
            for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
                // Nothing can be said of a signal that is ignored here, and so there.
                if is_ignored(number) {
                    continue;
                }
                let child = spawn(&folder, arguments);
                // Opening it waits for the process to read, and so for somebody to wait for signals.
                let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
                std::io::Write::write_all(&mut writer, b"name,age,sex,zip,ill\n").unwrap();
                signal(&child, name);
                // It waits for data that never come, and ends all the same.
                let said = said(child);
                said.failed(128 + number as i32, &["error: cancelled"]);
                assert_eq!(folder.files(), before, "{arguments:?}");
                drop(writer);
            }
        }
    }

    #[test]
    fn what_is_to_be_ignored_is_ignored() {
        let folder = Folder::new();
        let pipe = folder.path("pipe.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        folder.replace("incog.toml", "path = \"data.csv\"", "path = \"pipe.csv\"");
        let mut command = Command::new("sh");
        command.args(["-c", "trap '' HUP; exec \"$0\" anonymize incog.toml", env!("CARGO_BIN_EXE_incog")]);
        let child = command.current_dir(folder.path("")).stderr(Stdio::piped()).spawn().unwrap();
        let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        signal(&child, "HUP");
        std::io::Write::write_all(&mut writer, people(0..60).as_bytes()).unwrap();
        drop(writer);
        let said = said(child);
        if cfg!(target_os = "linux") {
            assert_eq!(said.code, Some(0), "{said:?}");
        }
    }

    #[test]
    fn a_signal_while_writing_removes_what_is_there() {
        let folder = Folder::with_large_table();
        let before = folder.files();
        for output in ["new.csv.gz", "new/"] {
            let child = stopped(&folder, output);
            signal(&child, "TERM");
            signal(&child, "CONT");
            said(child).failed(143, &["error: cancelled"]);
            assert_eq!(folder.files(), before, "{output}");
        }
    }
}

mod at_once {
    use super::*;

    #[test]
    fn runs_that_write_to_one_folder_take_turns() {
        let folder = Folder::new();
        let lock = std::fs::File::open(folder.path("")).unwrap();
        lock.lock().unwrap();
        let mut child = spawn(&folder, &["anonymize", "incog.toml"]);
        std::thread::sleep(Duration::from_millis(1500));
        assert!(child.try_wait().unwrap().is_none(), "it does not wait for its turn");
        assert!(!folder.path("release.csv").exists());
        lock.unlock().unwrap();
        assert_eq!(said(child).code, Some(0));
        folder.done(&["verify", "release.csv", "--record", "release.csv.incog.json"]);
    }

    #[test]
    fn a_release_and_its_record_are_of_the_same_run() {
        let folder = Folder::new();
        folder.write("data.csv", people(0..3000));
        for round in 0..8 {
            let arguments = ["anonymize", "incog.toml", "--order", "shuffle", "--output", "out/"];
            let runs: Vec<Child> = (0..3).map(|_| spawn(&folder, &arguments)).collect();
            for run in runs {
                let said = said(run);
                assert_eq!(said.code, Some(0), "{said:?}");
            }
            folder.done(&[
                "verify",
                "out/data.csv",
                "--record",
                "out/data.csv.incog.json",
                "--key",
                "incog.key",
            ]);
            assert_eq!(hidden(&folder), [""; 0], "round {round}");
            if round % 2 == 0 {
                std::fs::remove_dir_all(folder.path("out")).unwrap();
            }
        }
    }

    #[test]
    fn if_the_record_cannot_appear_neither_does_the_release() {
        let folder = Folder::with_large_table();
        folder.done(&["anonymize", "incog.toml", "-o", "first.csv"]);
        folder.write("new.csv.gz", OLD);
        let child = stopped(&folder, "new.csv.gz");
        // A file cannot take the place of a folder.
        std::fs::create_dir(folder.path("new.csv.gz.incog.json")).unwrap();
        signal(&child, "CONT");
        said(child).failed(2, &["cannot write `", "new.csv.gz.incog.json`: it is a folder"]);
        assert_eq!(folder.read("new.csv.gz"), OLD);
        assert_eq!(hidden(&folder), [""; 0]);
    }

    #[test]
    fn first_runs_at_once_have_one_key() {
        for round in 0..5 {
            let folder = Folder::new();
            let names: Vec<String> = (0..6).map(|run| format!("r{run}.csv")).collect();
            let runs: Vec<Child> =
                names.iter().map(|name| spawn(&folder, &["anonymize", "incog.toml", "-o", name])).collect();
            for run in runs {
                let said = said(run);
                assert_eq!(said.code, Some(0), "round {round}: {said:?}");
            }
            for name in &names {
                let record = format!("{name}.incog.json");
                let arguments =
                    ["verify", name, "--job", "incog.toml", "--record", &record, "--key", "incog.key"];
                folder.done(&arguments);
            }
        }
    }

    /// The same without chance: the other run's key appears while this one writes.
    #[test]
    fn a_record_is_sealed_with_the_key_on_disk() {
        let folder = Folder::with_large_table();
        let child = stopped(&folder, "new.csv.gz");
        let key = "0123456789abcdef".repeat(4) + "\n";
        folder.write("incog.key", &key);
        signal(&child, "CONT");
        let said = said(child);
        assert_eq!(said.code, Some(0), "{said:?}");
        assert_eq!(folder.read("incog.key"), key);
        folder.done(&["verify", "new.csv.gz", "--record", "new.csv.gz.incog.json", "--key", "incog.key"]);
        assert_eq!(hidden(&folder), [""; 0]);
    }

    #[test]
    fn a_job_file_that_appears_meanwhile_is_not_replaced() {
        let folder = Folder::with_large_table();
        let pipe = folder.path("pipe.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let child = spawn(&folder, &["init", "pipe.csv", "-o", "new.toml"]);
        let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        folder.write("new.toml", "mine\n");
        std::io::Write::write_all(&mut writer, people(0..60).as_bytes()).unwrap();
        drop(writer);
        said(child).failed(2, &["is there already", "--force"]);
        assert_eq!(folder.read("new.toml"), "mine\n");
    }
}

#[test]
fn a_standard_output_that_is_closed_is_an_error() {
    let folder = Folder::new();
    let before = folder.files();
    let make = "hierarchy make --rule '{ intervals = [5, 10] }' --column age --against data.csv";
    for (arguments, redirected) in [
        ("anonymize incog.toml -o - --record r.json", ">&-"),
        ("init data.csv -o -", ">&-"),
        (make, ">&-"),
        // Open, but for reading.
        ("anonymize incog.toml -o -", "1</dev/null"),
    ] {
        let said = by_shell(&folder, &format!("exec \"$0\" {arguments} {redirected}"));
        said.failed(2, &["cannot write `-`"]);
        assert_eq!(folder.files(), before, "{arguments}");
    }
    // What somebody throws away on purpose is no mistake.
    let said = by_shell(&folder, "exec \"$0\" anonymize incog.toml -o - > /dev/null");
    assert_eq!(said.code, Some(0), "{said:?}");
}

/// Scripts open it for reading and writing, as the runtime of a program does that is started without an output: commands whose answer
/// is no release cannot tell, and go on.
#[test]
fn an_answer_may_go_to_the_null_device_of_a_script() {
    let folder = Folder::new();
    for arguments in [&["list"][..], &["search", "incog.toml"], &["anonymize", "incog.toml"]] {
        let null = File::options().read(true).write(true).open("/dev/null").unwrap();
        let status = Command::new(env!("CARGO_BIN_EXE_incog"))
            .args(arguments)
            .current_dir(folder.path(""))
            .stdout(null)
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(0), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
mod changing {
    use std::fs::File;
    use std::io::Write;

    use incog_testkit::data::project;

    use super::*;

    /// How many bytes a process has read so far.
    fn n_read(child: &Child) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/io", child.id())).ok()?;
        text.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse().ok())
    }

    /// Runs the binary, and changes a file when a part of it is read. `None` if the run was too fast, which may be; it is tried
    /// some times.
    fn changed(folder: &Folder, file: &str, arguments: &[&str], change: Change) -> Said {
        let text = folder.bytes(file);
        for _ in 0..50 {
            folder.write(file, &text);
            // Long ago, so that any change has another time.
            let handle = File::options().write(true).open(folder.path(file)).unwrap();
            handle.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000)).unwrap();
            let child = spawn(folder, arguments);
            while n_read(&child).is_some_and(|n| n < 1 << 21) {}
            signal(&child, "STOP");
            let is_in_time = n_read(&child).is_some_and(|n| n > 1 << 21 && n < text.len() as u64 - (1 << 21));
            if is_in_time {
                change(&handle);
            }
            signal(&child, "CONT");
            let said = said(child);
            if is_in_time {
                folder.write(file, &text);
                return said;
            }
            assert_eq!(said.code, Some(0), "{said:?}");
        }
        panic!("the runs were too fast to change anything");
    }

    type Change = fn(&File);

    /// The last cell is cut: a table all the same.
    fn cut(file: &File) {
        let length = file.metadata().unwrap().len();
        file.set_len(length - 20).unwrap();
    }

    fn touch(file: &File) {
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(2_000_000)).unwrap();
    }

    fn lengthen(mut file: &File) {
        std::io::Seek::seek(&mut file, std::io::SeekFrom::End(0)).unwrap();
        file.write_all(b"f,0123456789abcdef\n").unwrap();
    }

    #[test]
    fn input_that_changes_while_it_is_read_is_refused() {
        let folder = Folder::with_large_table();
        let text = folder.read("large.csv");
        let rows = text.split_once('\n').unwrap().1;
        folder.write("large.csv", format!("sex,note\n{}", rows.repeat(2)));
        let release = [&LARGE[..], &["-o", "release.csv"]].concat();
        let spilled = [&release[..], &["--memory", "256 MiB"]].concat();
        let verify = ["verify", "large.csv", "--qi", "sex", "-k", "5"];
        let init = ["init", "large.csv", "-o", "new.toml", "--force"];
        let runs: [(&[&str], Change); 6] = [
            (&release, cut),
            (&release, lengthen),
            (&release, touch),
            (&spilled, cut),
            (&verify, cut),
            (&init, cut),
        ];
        for (arguments, change) in runs {
            for made in ["release.csv", "release.csv.incog.json", "incog.key", "new.toml"] {
                let _ = std::fs::remove_file(folder.path(made));
            }
            let said = changed(&folder, "large.csv", arguments, change);
            said.failed(2, &["large.csv`: it changed while it was read"]);
            assert!(!folder.path("release.csv").exists() && hidden(&folder).is_empty(), "{arguments:?}");
        }
    }

    #[cfg(feature = "parquet")]
    #[test]
    fn parquet_that_changes_while_it_is_read_is_refused() {
        let folder = Folder::with_large_table();
        folder.done(&[&LARGE[..], &["-o", "large.parquet"]].concat());
        let arguments =
            ["anonymize", "large.parquet", "--qi", "sex", "--other", "note", "-k", "5", "-o", "release.csv"];
        let said = changed(&folder, "large.parquet", &arguments, touch);
        said.failed(2, &["large.parquet`: it changed while it was read", "hint: wait until"]);
        assert!(!folder.path("release.csv").exists());
    }

    /// The pipe is the last of several files: while it is open, all others are read.
    #[test]
    fn one_of_several_files_that_changes_is_refused() {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("parts")).unwrap();
        folder.write("parts/a.csv", people(0..60));
        let pipe = folder.path("parts/b.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        folder.replace("incog.toml", "path = \"data.csv\"", "path = \"parts\"");
        let child = spawn(&folder, &["anonymize", "incog.toml"]);
        let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        folder.write("parts/a.csv", people(0..30));
        writer.write_all(people(60..120).as_bytes()).unwrap();
        drop(writer);
        said(child).failed(2, &["a.csv`: it changed while it was read"]);
        assert!(!folder.path("release.csv").exists());
    }

    /// Tables of a database belong together.
    #[test]
    fn a_table_of_a_database_that_changes_before_all_are_read_is_refused() {
        let folder = Folder::empty();
        for name in ["student.csv", "takes.csv", "book.csv", "incog.toml"] {
            std::fs::copy(project().join("examples/university").join(name), folder.path(name)).unwrap();
        }
        std::fs::create_dir(folder.path("dgh")).unwrap();
        for name in ["dgh/book.csv", "dgh/course.csv"] {
            std::fs::copy(project().join("examples/university").join(name), folder.path(name)).unwrap();
        }
        let pipe = folder.path("pipe.csv");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        folder.replace("incog.toml", "\"book.csv\"", "\"pipe.csv\"");
        let child = spawn(&folder, &["anonymize", "incog.toml"]);
        let mut writer = std::fs::OpenOptions::new().write(true).open(&pipe).unwrap();
        let takes = folder.read("takes.csv");
        folder.write("takes.csv", takes.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n");
        writer.write_all(&folder.bytes("book.csv")).unwrap();
        drop(writer);
        said(child).failed(2, &["takes.csv`: it changed while it was read"]);
        assert!(!folder.path("release").exists() && hidden(&folder).is_empty());
    }

    /// A record names the hierarchies by their digests, which are of what was read.
    #[test]
    fn a_hierarchy_that_changes_before_the_record_is_made_is_refused() {
        let folder = Folder::with_large_table();
        folder.write("hierarchies/sex.csv", "f;*\nm;*\n");
        let flags = ["--hierarchies", "hierarchies/"];
        let child = spawn(&folder, &[&LARGE[..], &flags, &["-o", "new.csv.gz"]].concat());
        wait_until("nothing is written", || !hidden(&folder).is_empty());
        signal(&child, "STOP");
        folder.write("hierarchies/sex.csv", "f;any;*\nm;any;*\n");
        signal(&child, "CONT");
        said(child).failed(2, &["sex.csv`: it changed while it was read"]);
        assert!(!folder.path("new.csv.gz").exists() && hidden(&folder).is_empty());
    }

    #[test]
    fn a_file_on_standard_input_that_changes_is_refused() {
        let folder = Folder::with_large_table();
        let text = folder.bytes("large.csv");
        let arguments = ["anonymize", "-", "--qi", "sex", "--other", "note", "-k", "5", "-o", "release.csv"];
        let handle = File::options().write(true).open(folder.path("large.csv")).unwrap();
        handle.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        for _ in 0..50 {
            let input = File::open(folder.path("large.csv")).unwrap();
            let mut command = folder.command(&arguments);
            let child = command.stdin(Stdio::from(input)).stderr(Stdio::piped()).spawn().unwrap();
            while n_read(&child).is_some_and(|n| n < 1 << 21) {}
            signal(&child, "STOP");
            let is_in_time = n_read(&child).is_some_and(|n| n < text.len() as u64 - (1 << 21));
            if is_in_time {
                cut(&handle);
            }
            signal(&child, "CONT");
            let said = said(child);
            if is_in_time {
                said.failed(2, &["it changed while it was read"]);
                return;
            }
        }
        panic!("the runs were too fast to change anything");
    }
}

/// Where not all threads can be had there are fewer; where memory ends, it says so.
#[cfg(target_os = "linux")]
#[test]
fn little_memory_is_no_panic() {
    let folder = Folder::new();
    folder.done(&["anonymize", "incog.toml"]);
    let limited = |kilobytes: u32, arguments: &str| {
        by_shell(&folder, &format!("ulimit -v {kilobytes}; exec \"$0\" {arguments}"))
    };
    // With less, the program itself does not fit, and is not even started.
    let start =
        (0..500).map(|n| 10_000 + 1000 * n).find(|&limit| limited(limit, "--version").code == Some(0));
    let start = start.expect("it can be started");
    let mut codes = Vec::new();
    for more in (0..24).map(|n| 500 * n).chain([20_000, 50_000, 100_000, 400_000]) {
        let said = limited(start + more, "anonymize incog.toml");
        said.has_no_cell();
        if said.code != Some(0) {
            said.failed(2, &["hint: allow "]);
        }
        assert_eq!(hidden(&folder), [""; 0], "{more} kB more than the program");
        codes.push(said.code);
    }
    assert!(codes.contains(&Some(2)) && codes.last() == Some(&Some(0)), "{codes:?}");
}

/// A system gives a process only a part of what it asks for; results are the same, or it says so.
#[cfg(target_os = "linux")]
#[test]
fn more_threads_or_fewer_files_than_a_system_gives_are_no_panic() {
    let folder = Folder::new();
    let many =
        folder.command(&["anonymize", "incog.toml"]).env("RAYON_NUM_THREADS", "1000000").output().unwrap();
    let said = Said::new(&many);
    assert_eq!(said.code, Some(0), "{said:?}");
    let release = folder.read("release.csv");
    let limited = |limit: u32, arguments: &str| {
        by_shell(&folder, &format!("ulimit -n {limit}; exec \"$0\" {arguments}"))
    };
    // With fewer, the program itself cannot be loaded.
    let start =
        (3..24).find(|&limit| limited(limit, "--version").code == Some(0)).expect("it can be started");
    let mut codes = Vec::new();
    for limit in start..start + 20 {
        let said = limited(limit, "anonymize incog.toml");
        said.has_no_cell();
        if said.code != Some(0) {
            said.failed(2, &["oo many open files"]);
        }
        assert_eq!((folder.read("release.csv"), hidden(&folder)), (release.clone(), vec![]), "{limit} files");
        codes.push(said.code);
    }
    assert!(codes.contains(&Some(2)) && codes.last() == Some(&Some(0)), "{codes:?}");
}
