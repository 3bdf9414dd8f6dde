//! One table, whatever it is written as: CSV, Parquet, compressed, in pieces, through pipes.

mod folder;

use std::io::Write;

use folder::{FLAGS, Folder, people};
use serde_json::Value;

/// Releases some data by flags.
fn release(folder: &Folder, data: &[&str], output: &str) {
    folder.done(&[&["anonymize"], data, &FLAGS[..], &["-o", output]].concat());
}

/// The 60 people in three pieces, with the header in each.
fn pieces() -> [String; 3] {
    [people(0..25), people(25..26), people(26..60)]
}

#[test]
fn pieces_of_a_table_are_one_table() {
    let folder = Folder::new();
    release(&folder, &["data.csv"], "whole.csv");
    std::fs::create_dir(folder.path("pieces")).unwrap();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let [first, second, third] = pieces();
    gz.write_all(second.as_bytes()).unwrap();
    folder.write("pieces/1.csv", &first);
    folder.write("pieces/2.csv.gz", gz.finish().unwrap());
    folder.write("pieces/3.csv.zst", zstd::encode_all(third.as_bytes(), 1).unwrap());
    folder.write("pieces/.hidden", "no data");
    release(&folder, &["pieces/1.csv", "pieces/2.csv.gz", "pieces/3.csv.zst"], "files.csv");
    release(&folder, &["pieces"], "folder.csv");
    release(&folder, &["pieces/"], "slash.csv");
    folder.replace(
        "incog.toml",
        "\"data.csv\"",
        "[\"pieces/1.csv\", \"pieces/2.csv.gz\", \"pieces/3.csv.zst\"]",
    );
    folder.done(&["anonymize", "incog.toml", "-o", "list.csv"]);
    folder.done(&["verify", "list.csv", "--record", "list.csv.incog.json", "--job", "incog.toml"]);
    for output in ["files.csv", "folder.csv", "slash.csv", "list.csv"] {
        assert_eq!(folder.read(output), folder.read("whole.csv"), "{output}");
        let [mine, whole] = [output, "whole.csv"].map(|name| folder.json(&format!("{name}.incog.json")));
        assert_eq!(mine["input"], whole["input"], "{output}: the same rows");
    }
}

#[test]
fn pieces_that_do_not_belong_together_are_refused() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("pieces")).unwrap();
    folder.write("pieces/1.csv", people(0..30));
    let refused = |second: &str, parts: &[&str]| {
        folder.write("pieces/2.csv", second);
        let before = folder.files();
        let arguments = [&["anonymize", "pieces"], &FLAGS[..], &["-o", "out.csv"]].concat();
        folder.run(&arguments).failed(2, parts);
        assert_eq!(folder.files(), before);
    };
    refused(&people(30..60).replacen("sex", "gender", 1), &["2.csv` has other columns than", "same order"]);
    refused(&people(30..60).replacen("age,sex", "sex,age", 1), &["2.csv` has other columns than"]);
    refused(&(people(30..60) + "x\n"), &["2.csv`, line 32 has 1 fields"]);
    refused("", &["2.csv` is empty"]);
    folder.write("pieces/2.csv", people(30..60));
    folder.write("pieces/notes.md", "no data");
    let arguments = [&["anonymize", "pieces"], &FLAGS[..], &["-o", "out.csv"]].concat();
    folder.refused(&arguments, &["contains `notes.md`, which is no data file", ".csv"]);
    let with_pipe = [&["anonymize", "data.csv", "-"], &FLAGS[..], &["-o", "out.csv"]].concat();
    folder.refused(&with_pipe, &["standard input cannot be one of several"]);
}

#[test]
fn compressed_in_is_compressed_out() {
    let folder = Folder::new();
    release(&folder, &["data.csv"], "plain.csv");
    folder.write("data.csv.zst", zstd::encode_all(people(0..60).as_bytes(), 1).unwrap());
    std::fs::create_dir(folder.path("out")).unwrap();
    // In a folder it is called like the data, and so it is compressed like it.
    release(&folder, &["data.csv.zst"], "out");
    assert_eq!(zstd::decode_all(&*folder.bytes("out/data.csv.zst")).unwrap(), folder.bytes("plain.csv"));
    release(&folder, &["data.csv.zst"], "out.csv.gz");
    let mut text = String::new();
    let gz = folder.bytes("out.csv.gz");
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(&*gz), &mut text).unwrap();
    assert_eq!(text, folder.read("plain.csv"));
    folder.done(&["verify", "out.csv.gz", "--record", "out.csv.gz.incog.json"]);
    // Endings in capitals are endings too.
    release(&folder, &["data.csv"], "OUT.CSV.GZ");
    assert_eq!(folder.bytes("OUT.CSV.GZ"), gz);
    folder.done(&["verify", "OUT.CSV.GZ", "--record", "OUT.CSV.GZ.incog.json"]);
    // Half a file is no file.
    let packed = folder.bytes("data.csv.zst");
    folder.write("data.csv.zst", &packed[..packed.len() / 2]);
    folder
        .refused(&[&["anonymize", "data.csv.zst"], &FLAGS[..], &["-o", "x.csv"]].concat(), &["data.csv.zst"]);
}

#[test]
fn nothing_comes_out_of_a_pipe_unless_all_is_well() {
    let folder = Folder::new();
    release(&folder, &["data.csv"], "plain.csv");
    let piped = [&["anonymize", "-"], &FLAGS[..], &["-o", "-"]].concat();
    let said = folder.run_with_input(&piped, "data.csv");
    assert_eq!((said.code, said.stdout), (Some(0), folder.read("plain.csv")));
    let before = folder.files();
    folder.write("data.csv", people(0..4));
    folder.run_with_input(&piped, "data.csv").failed(1, &["nothing was written"]);
    folder.write("data.csv", people(0..60) + "only one field\n");
    folder.run_with_input(&piped, "data.csv").failed(2, &["line 62 has 1 fields"]);
    folder.write("data.csv", people(0..60).replace("10103", "20095"));
    folder.run_with_input(&piped, "data.csv").failed(2, &["no row for 1 of 5 values"]);
    assert_eq!(folder.files(), before);
}

#[test]
fn the_summary_as_json_is_on_standard_output_unless_the_release_is() {
    let folder = Folder::new();
    let json = ["anonymize", "incog.toml", "--format", "json"];
    let said = folder.run(&json);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let summary: Value = serde_json::from_str(&said.stdout).unwrap();
    let record = folder.json("release.csv.incog.json");
    assert_eq!(summary["path"], "release.csv");
    assert_eq!(summary["record"], "release.csv.incog.json");
    assert_eq!(summary["suppressed_rows"], record["suppressed_rows"]);
    assert_eq!(summary["released_rows"], folder.read("release.csv").lines().count() as u64 - 1);
    assert_eq!(summary["verified"], true);
    assert!(summary["smallest_group"].as_u64() >= Some(5));
    let levels: Vec<_> =
        summary["columns"].as_array().unwrap().iter().map(|column| &column["name"]).collect();
    assert_eq!(levels, ["age", "sex", "zip"]);
    let piped = folder.run(&[&json[..], &["-o", "-"]].concat());
    assert_eq!((piped.code, piped.stdout), (Some(0), folder.read("release.csv")));
    let of_piped: Value = serde_json::from_str(&piped.stderr).unwrap();
    assert_eq!((&of_piped["path"], &of_piped["record"]), (&Value::from("-"), &Value::Null));
    assert_eq!(of_piped["findings"], summary["findings"]);
    // Nothing is nothing for programs, too.
    let none = folder.run(&[&json[..], &["-k", "61"]].concat());
    assert_eq!((none.code, none.stdout.as_str()), (Some(1), ""));
}

#[test]
fn a_folder_for_the_release_is_made_and_goes_again_if_nothing_comes_of_it() {
    let folder = Folder::new();
    release(&folder, &["data.csv"], "plain.csv");
    release(&folder, &["data.csv"], "out/");
    assert_eq!(folder.read("out/data.csv"), folder.read("plain.csv"));
    folder.done(&["verify", "out/data.csv", "--record", "out/data.csv.incog.json"]);
    let piped = [&["anonymize", "-"], &FLAGS[..], &["-o", "piped/"]].concat();
    assert_eq!(folder.run_with_input(&piped, "data.csv").code, Some(0));
    assert_eq!(folder.read("piped/release.csv"), folder.read("plain.csv"));
    // Neither where nothing satisfies the policy, nor where the record cannot be written.
    folder.ends_with(1, &["anonymize", "incog.toml", "-k", "61", "-o", "new/"], &["nothing was written"]);
    let no_record = ["anonymize", "incog.toml", "-o", "new/", "--record", "none/r.json"];
    folder.refused(&no_record, &["its folder does not exist"]);
}

#[cfg(feature = "parquet")]
mod parquet_files {
    use std::fs::File;
    use std::sync::Arc;

    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;
    use arrow_array::{
        Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int16Array, Int32Array,
        Int64Array, RecordBatch, StringArray, TimestampMillisecondArray,
    };
    use arrow_schema::{DataType, TimeUnit};
    use incog_testkit::data::csv_rows;
    use parquet::arrow::ArrowWriter;
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

    use super::*;

    const N_ROWS: usize = 60;

    /// A file with a column of many a type, as another program would write it.
    fn typed() -> RecordBatch {
        fn rows<T>(value: impl Fn(usize) -> T) -> impl Iterator<Item = T> {
            (0..N_ROWS).map(value)
        }
        let text: StringArray = rows(|n| Some(["f", "m"][n % 2])).collect();
        let amounts = Decimal128Array::from_iter(rows(|n| (n % 5 > 0).then_some(100 * n as i128 + 5)));
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("id", Arc::new(Int64Array::from_iter_values(rows(|n| 1_000_000 + n as i64)))),
            ("age", Arc::new(Int32Array::from_iter_values(rows(|n| 20 + n as i32 % 30)))),
            ("year", Arc::new(Int16Array::from_iter_values(rows(|n| 1999 + n as i16 % 2)))),
            ("sex", Arc::new(text)),
            ("born", Arc::new(Date32Array::from_iter_values(rows(|n| 365 * (n as i32 % 2))))),
            ("weight", Arc::new(Float64Array::from_iter_values(rows(|n| 50.5 + n as f64 / 3.0)))),
            ("seen", Arc::new(TimestampMillisecondArray::from_iter_values(rows(|n| 86_400_123 * n as i64)))),
            ("amount", Arc::new(amounts.with_precision_and_scale(10, 2).unwrap())),
            ("ill", Arc::new(BooleanArray::from_iter(rows(|n| Some(n % 3 == 0))))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn write(folder: &Folder, file: &str, batch: &RecordBatch) {
        let file = File::create(folder.path(file)).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
    }

    fn read(folder: &Folder, file: &str) -> RecordBatch {
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(File::open(folder.path(file)).unwrap()).unwrap();
        let schema = builder.schema().clone();
        let batches: Vec<RecordBatch> =
            builder.with_batch_size(1 << 20).build().unwrap().map(Result::unwrap).collect();
        assert_eq!(batches.len(), 1);
        assert_eq!(batches[0].schema().fields(), schema.fields());
        batches.into_iter().next().unwrap()
    }

    const JOB: &str = r#"[input]
path = "typed.parquet"
[output]
path = "release.parquet"
order = "input"
[policy]
k = 10
[columns]
id.role = "identifier"
age = { role = "quasi-identifier", hierarchy = { intervals = [10], levels = [1] } }
year = { role = "quasi-identifier", hierarchy = { suppress = true, levels = [0] } }
sex = { role = "quasi-identifier", hierarchy = { suppress = true, levels = [0] } }
born = { role = "quasi-identifier", hierarchy = { dates = ["year"], levels = [0] } }
weight.role = "other"
seen.role = "other"
amount.role = "other"
ill.role = "sensitive"
"#;

    fn with_typed() -> Folder {
        let folder = Folder::new();
        write(&folder, "typed.parquet", &typed());
        folder.write("incog.toml", JOB);
        folder
    }

    #[test]
    fn types_survive_where_nothing_is_generalized() {
        let folder = with_typed();
        folder.done(&["anonymize", "incog.toml"]);
        let (input, output) = (typed(), read(&folder, "release.parquet"));
        assert_eq!(output.num_rows(), N_ROWS);
        assert!(output.column_by_name("id").is_none(), "identifiers are dropped");
        for name in ["year", "sex", "born", "weight", "seen", "amount", "ill"] {
            let [mine, released] = [&input, &output].map(|batch| batch.column_by_name(name).unwrap());
            assert_eq!(released.data_type(), mine.data_type(), "{name}");
            assert_eq!(released.to_data(), mine.to_data(), "{name}");
        }
        let ages = output.column_by_name("age").unwrap();
        assert_eq!(ages.data_type(), &DataType::Utf8);
        let labels: Vec<&str> = ages.as_string::<i32>().iter().flatten().take(11).collect();
        assert_eq!((labels[0], labels[10], ages.null_count()), ("[20, 30)", "[30, 40)", 0));
        let seen = DataType::Timestamp(TimeUnit::Millisecond, None);
        assert_eq!(output.column_by_name("seen").unwrap().data_type(), &seen);
    }

    #[test]
    fn a_parquet_release_is_verified_like_any_other() {
        let folder = with_typed();
        folder.done(&["anonymize", "incog.toml"]);
        let record = "release.parquet.incog.json";
        folder.done(&["verify", "release.parquet", "--job", "incog.toml"]);
        folder.done(&["verify", "release.parquet", "--record", record]);
        folder.done(&[
            "verify",
            "release.parquet",
            "--record",
            record,
            "--job",
            "incog.toml",
            "--key",
            "incog.key",
        ]);
        folder.done(&["verify", "release.parquet", "--qi", "age,year,sex,born", "-k", "10"]);
        let more = folder.run(&["verify", "release.parquet", "--qi", "age,year,sex,born", "-k", "11"]);
        assert_eq!(more.code, Some(1), "{more:?}");
        // The same table without its last row.
        let broken = read(&folder, "release.parquet").slice(0, N_ROWS - 1);
        write(&folder, "broken.parquet", &broken);
        for more in [&["--job", "incog.toml"][..], &["--record", record]] {
            let said = folder.run(&[&["verify", "broken.parquet"], more].concat());
            assert_eq!(said.code, Some(1), "{said:?}");
            assert!(said.stdout.contains("FAIL"), "{said:?}");
        }
        folder.write("broken.parquet", "PAR1 is not enough");
        folder.refused(&["verify", "broken.parquet", "--record", record], &["broken.parquet"]);
    }

    #[test]
    fn parquet_becomes_csv_and_csv_parquet_without_a_change_of_text() {
        let folder = with_typed();
        folder.done(&["anonymize", "incog.toml", "-o", "release.csv"]);
        folder.done(&["verify", "release.csv", "--job", "incog.toml"]);
        let rows = csv_rows(&folder.path("release.csv"), b',');
        assert_eq!(rows[0], ["age", "year", "sex", "born", "weight", "seen", "amount", "ill"]);
        assert_eq!(
            rows[1],
            ["[20, 30)", "1999", "f", "1970-01-01", "50.5", "1970-01-01T00:00:00", "", "true"]
        );
        assert_eq!(rows[2][5..], ["1970-01-02T00:00:00.123", "1.05", "false"]);

        let folder = Folder::new();
        release(&folder, &["data.csv"], "release.csv");
        release(&folder, &["data.csv"], "release.parquet");
        let batch = read(&folder, "release.parquet");
        let cells: Vec<Vec<String>> = (0..batch.num_rows())
            .map(|row| {
                batch.columns().iter().map(|column| column.as_string::<i32>().value(row).to_owned()).collect()
            })
            .collect();
        assert_eq!(cells, csv_rows(&folder.path("release.csv"), b',')[1..]);
        // And once more: the release as data.
        let again =
            ["--qi", "age,sex,zip", "--other", "ill", "-k", "1", "--order", "input", "-o", "again.csv"];
        folder.done(&[&["anonymize", "release.parquet"], &again[..]].concat());
        assert_eq!(folder.read("again.csv"), folder.read("release.csv"));
    }

    const TOWNS: &str = r#"[input]
path = "towns.parquet"
[output]
path = "towns.release.parquet"
order = "input"
[policy]
k = 3
[columns]
town = { role = "quasi-identifier", hierarchy = { suppress = true } }
note.role = "other"
"#;

    /// Towns and notes.
    fn towns(folder: &Folder, towns: &[Option<&str>], notes: &[Option<&str>]) {
        let columns: [(&str, ArrayRef); 2] = [
            ("town", Arc::new(StringArray::from_iter(towns))),
            ("note", Arc::new(StringArray::from_iter(notes))),
        ];
        write(folder, "towns.parquet", &RecordBatch::try_from_iter(columns).unwrap());
        folder.write("towns.toml", TOWNS);
    }

    const BOTH: [Option<&str>; 7] = [None, Some(""), None, Some(""), None, Some(""), None];

    #[test]
    fn null_and_the_empty_text_are_two_labels_of_a_release() {
        let folder = Folder::new();
        towns(&folder, &[None, Some("")], &[Some("x"), Some("x")]);
        let said = folder.run(&["verify", "towns.parquet", "--qi", "town", "-k", "2"]);
        assert_eq!(said.code, Some(1), "two rows that are unique are no group of two: {said:?}");
        assert!(said.stdout.contains("the smallest group has 1 row)"), "{said:?}");
    }

    #[test]
    fn null_and_the_empty_text_stay_apart_from_the_data_to_the_release() {
        let folder = Folder::new();
        towns(&folder, &BOTH, &BOTH);
        folder.done(&["anonymize", "towns.toml"]);
        let [input, output] = ["towns.parquet", "towns.release.parquet"].map(|file| read(&folder, file));
        assert_eq!(output.columns(), input.columns());
        let record = "towns.release.parquet.incog.json";
        assert_eq!(folder.json(record)["levels"]["town"], 0);
        let checked = ["verify", "towns.release.parquet", "--job", "towns.toml", "--record", record];
        folder.done(&[&checked[..], &["--key", "incog.key"]].concat());
        // Who makes one of the other changes the release, and the digest of the data.
        let input = folder.json(record)["input"].clone();
        let mut other = BOTH;
        other[1] = None;
        towns(&folder, &BOTH, &other);
        assert_eq!(folder.run(&checked).code, Some(1));
        folder.done(&["anonymize", "towns.toml"]);
        assert_ne!(folder.json(record)["input"], input);
        // With a k that asks for it, both become the same label.
        towns(&folder, &BOTH, &BOTH);
        folder.done(&["anonymize", "towns.toml", "-k", "4"]);
        assert_eq!(folder.json(record)["levels"]["town"], 1);
        folder.replace("towns.toml", "k = 3", "k = 4");
        folder.done(&["verify", "towns.release.parquet", "--job", "towns.toml"]);
    }

    #[test]
    fn null_and_the_empty_text_cannot_both_be_written_as_csv() {
        let folder = Folder::new();
        let advice = ["missing values and empty texts, which are the same in a CSV file", "as Parquet"];
        let to_csv = ["anonymize", "towns.toml", "-o", "out.csv"];
        towns(&folder, &BOTH, &[Some("x"); 7]);
        folder.refused(&to_csv, &[&["column `town`"], &advice[..]].concat());
        towns(&folder, &[Some("x"); 7], &BOTH);
        folder.refused(&to_csv, &[&["column `note`"], &advice[..]].concat());
        // One of them is an empty cell, and is checked as what it was.
        for (only, others) in [(Some(""), "the empty text"), (None, "null")] {
            let cells: Vec<Option<&str>> = (0..7).map(|row| if row < 3 { only } else { Some("x") }).collect();
            towns(&folder, &cells, &cells);
            folder.done(&to_csv);
            assert_eq!(folder.read("out.csv").lines().filter(|line| *line == ",").count(), 3, "{others}");
            folder.done(&[
                "verify",
                "out.csv",
                "--job",
                "towns.toml",
                "--record",
                "out.csv.incog.json",
                "--key",
                "incog.key",
            ]);
        }
    }

    #[test]
    fn whether_a_row_that_was_left_out_had_no_value_is_not_in_the_schema() {
        let folder = Folder::new();
        let schema = |last: Option<&str>| {
            // The last row is alone, and left out.
            let towns_of = [Some("a"), Some("a"), Some("a"), Some("b")];
            towns(&folder, &towns_of, &[Some("x"), Some("x"), Some("x"), last]);
            folder.done(&["anonymize", "towns.toml", "--suppression", "1"]);
            let output = read(&folder, "towns.release.parquet");
            assert_eq!(output.num_rows(), 3);
            output.schema()
        };
        assert_eq!(schema(None), schema(Some("x")));
    }

    #[test]
    fn a_hierarchy_gives_the_empty_text_the_branch_of_the_missing_value() {
        let folder = Folder::new();
        towns(&folder, &BOTH, &[Some("x"); 7]);
        let job = TOWNS.replace("{ suppress = true }", "{ file = \"towns.csv\", levels = [1] }");
        folder.write("towns.toml", job);
        folder.write("towns.csv", "a;A;*\n");
        folder.refused(
            &["anonymize", "towns.toml"],
            &["no row for the missing value and the empty text (7 records", "empty field"],
        );
        folder.write("towns.csv", "a;A;*\n;none;*\n");
        folder.done(&["hierarchy", "check", "towns.toml"]);
        folder.done(&["anonymize", "towns.toml"]);
        folder.done(&["verify", "towns.release.parquet", "--job", "towns.toml"]);
        let rule = ["--rule", "{ mask = \"right\" }", "--column", "town", "--against", "towns.parquet"];
        let made = folder.done(&[&["hierarchy", "make"], &rule[..]].concat());
        assert_eq!(made.stdout, ";*\n", "a file names both by an empty field");
    }

    #[test]
    fn parquet_compressed_once_more_is_not_taken_for_csv() {
        let folder = with_typed();
        let parts = ["typed.parquet.gz", "Parquet", "compressed once more", "leave the second ending out"];
        folder.refused(&["anonymize", "incog.toml", "-o", "typed.parquet.gz"], &parts);
        folder.write("typed.parquet.gz", "anything");
        folder.refused(&["anonymize", "incog.toml", "--input", "typed.parquet.gz"], &parts);
    }

    #[test]
    fn pieces_in_parquet_are_one_table_if_their_types_agree() {
        let folder = with_typed();
        folder.done(&["anonymize", "incog.toml"]);
        std::fs::create_dir(folder.path("pieces")).unwrap();
        // The second piece has no amount that is null.
        let (first, second) = (typed().slice(1, 4), typed().slice(5, N_ROWS - 5));
        write(&folder, "pieces/1.parquet", &typed().slice(0, 1));
        write(&folder, "pieces/2.parquet", &first);
        write(&folder, "pieces/3.parquet", &second);
        folder.done(&["anonymize", "incog.toml", "--input", "pieces", "-o", "pieced.parquet"]);
        assert_eq!(read(&folder, "pieced.parquet"), read(&folder, "release.parquet"));
        let arguments = ["anonymize", "incog.toml", "--input", "pieces", "-o", "pieced.parquet"];
        let ids: Vec<i64> = second.column(0).as_primitive::<Int64Type>().values().to_vec();
        let as_text: ArrayRef = Arc::new(StringArray::from_iter_values(ids.iter().map(ToString::to_string)));
        let columns = second.schema_ref().fields().iter().map(|field| field.name()).zip(second.columns());
        let columns =
            columns.map(|(name, column)| (name, if name == "id" { &as_text } else { column }.clone()));
        write(&folder, "pieces/3.parquet", &RecordBatch::try_from_iter(columns).unwrap());
        folder.refused(&arguments, &["3.parquet` has other types than"]);
        std::fs::remove_file(folder.path("pieces/3.parquet")).unwrap();
        let header = "id,age,year,sex,born,weight,seen,amount,ill\n";
        folder.write(
            "pieces/3.csv",
            format!("{header}1,20,1999,f,1970-01-01,1,1970-01-01T00:00:00,1.00,true\n"),
        );
        folder.refused(&arguments, &["3.csv` has other types than"]);
    }
}

/// A release says by its header what separates its fields, or its record does.
#[test]
fn quoted_or_not_an_empty_cell_of_csv_is_the_missing_value() {
    let folder = Folder::empty();
    folder.write("data.csv", "town,ill\n,x\n\"\",x\n,\"\"\n");
    let flags = ["--qi", "town", "--other", "ill", "-k", "3", "--order", "input", "-o", "out.csv"];
    folder.done(&[&["anonymize", "data.csv"], &flags[..]].concat());
    assert_eq!(folder.read("out.csv"), "town,ill\n,x\n,x\n,\n");
    folder.done(&["verify", "data.csv", "--qi", "town", "-k", "3"]);
}

#[test]
fn a_release_of_any_delimiter_can_be_checked_without_the_job() {
    let folder = Folder::new();
    let people: String = (0..20).map(|n| format!("{};x\n", 20 + n % 5)).collect();
    folder.write("one.csv", format!("age;name\n{people}"));
    folder.write("names.csv", format!("age;a,b,c\n{people}"));
    folder.write("colons.csv", format!("age:name\n{people}").replace(';', ":"));
    let rule = "age={ intervals = [5], levels = [1] }";
    for (data, delimiter, rest) in
        [("one", ";", "identifier"), ("names", ";", "other"), ("colons", ":", "other")]
    {
        let (data, release) = (format!("{data}.csv"), format!("{data}.out.csv"));
        let record = format!("{release}.incog.json");
        folder.done(&[
            "anonymize",
            &data,
            "--delimiter",
            delimiter,
            "--qi",
            "age",
            "-k",
            "2",
            "--hierarchy",
            rule,
            "--rest",
            rest,
            "-o",
            &release,
        ]);
        folder.done(&["verify", &release, "--record", &record]);
        folder.done(&["verify", &release, "--qi", "age", "-k", "2", "--delimiter", delimiter]);
    }
    folder.done(&["verify", "one.out.csv", "--qi", "age", "-k", "2"]);
    folder
        .refused(&["verify", "one.out.csv", "--qi", "age", "-k", "2", "--delimiter", "::"], &["--delimiter"]);
}
