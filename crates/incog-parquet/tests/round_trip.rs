//! Array → Parquet → columns → Parquet → array: equal, value by value, for every type.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::i256;
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use half::f16;
use incog_core::table::label;
use incog_core::table::{Column, Role};
use incog_core::{ErrorKind, Progress};
use incog_parquet::{ColumnType, Parquet, Released, Writer};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::statistics::Statistics;
use tempfile::TempDir;

/// A source file, written as another program would.
fn write_source(path: &Path, arrays: &[(&str, ArrayRef)], properties: WriterProperties) {
    let fields: Vec<Field> =
        arrays.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let arrays = arrays.iter().map(|(_, array)| array.clone()).collect();
    let batch = RecordBatch::try_new(schema.clone(), arrays).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), schema, Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}

fn read_columns(path: &Path) -> (Vec<Column>, Vec<ColumnType>) {
    let parquet = Parquet::open(path).unwrap();
    let n_rows = parquet.n_rows() as usize;
    let mut columns: Vec<Column> =
        parquet.header().iter().map(|name| Column::new(name.clone(), Role::Other)).collect();
    let types = parquet.read_into(&mut columns, &Progress::new()).unwrap();
    assert!(columns.iter().all(|column| column.codes().len() == n_rows));
    (columns, types)
}

/// A release in which nothing is generalized.
fn write_all_kept(path: &Path, columns: &[Column], types: &[ColumnType]) {
    let released: Vec<_> = columns
        .iter()
        .zip(types)
        .map(|(column, kept)| Released {
            name: column.name(),
            kept: Some(kept),
            labels: column.dictionary().values().collect(),
            has_null: column.dictionary().code("").is_some(),
        })
        .collect();
    let codes = columns.iter().map(|column| column.codes().to_vec()).collect();
    write(File::create(path).unwrap(), &released, codes).unwrap().sync_all().unwrap();
}

/// A release that is written at once.
fn write<W: Write + Send>(to: W, columns: &[Released<'_>], codes: Vec<Vec<u32>>) -> incog_core::Result<W> {
    let mut writer = Writer::new(to, columns)?;
    writer.write(codes)?;
    writer.finish()
}

fn read_arrays(path: &Path) -> RecordBatch {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let schema = builder.schema().clone();
    let batches: Vec<_> = builder.with_batch_size(1 << 22).build().unwrap().map(Result::unwrap).collect();
    assert!(batches.len() <= 1);
    batches.into_iter().next().unwrap_or_else(|| RecordBatch::new_empty(schema))
}

fn cells(column: &Column) -> Vec<&str> {
    (0..column.codes().len()).map(|row_idx| column.cell(row_idx)).collect()
}

/// The array comes back, and its values' texts are as many as its distinct values.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "every caller makes the array on the spot")]
fn check(array: ArrayRef) {
    let folder = TempDir::new().unwrap();
    let (source, release) = (folder.path().join("source.parquet"), folder.path().join("release.parquet"));
    for dictionaries in [true, false] {
        let properties = WriterProperties::builder().set_dictionary_enabled(dictionaries).build();
        write_source(&source, &[("c", array.clone())], properties);
        let (columns, types) = read_columns(&source);
        write_all_kept(&release, &columns, &types);
        let back = read_arrays(&release);
        assert_eq!(back.schema().field(0).name(), "c");
        assert_eq!(back.column(0), &array, "{}", array.data_type());
        assert_eq!(
            back.schema().field(0).is_nullable(),
            array.logical_null_count() > 0,
            "by what is released"
        );
    }
}

fn primitive<T: ArrowPrimitiveType>(values: Vec<T::Native>) -> PrimitiveArray<T> {
    // Every value twice, nulls in between.
    let values: Vec<_> = values.into_iter().map(Some).chain([None]).collect();
    PrimitiveArray::from_iter(values.iter().chain(&values))
}

#[test]
fn booleans_come_back() {
    check(Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)])));
    check(Arc::new(BooleanArray::from(vec![true, true])));
}

#[test]
fn integers_of_all_widths_come_back() {
    check(Arc::new(primitive::<Int8Type>(vec![i8::MIN, -1, 0, 1, i8::MAX])));
    check(Arc::new(primitive::<Int16Type>(vec![i16::MIN, -1, 0, 1, i16::MAX])));
    check(Arc::new(primitive::<Int32Type>(vec![i32::MIN, -1, 0, 1, i32::MAX])));
    check(Arc::new(primitive::<Int64Type>(vec![i64::MIN, -1, 0, 1, i64::MAX])));
    check(Arc::new(primitive::<UInt8Type>(vec![0, 1, u8::MAX])));
    check(Arc::new(primitive::<UInt16Type>(vec![0, 1, u16::MAX])));
    check(Arc::new(primitive::<UInt32Type>(vec![0, 1, u32::MAX])));
    check(Arc::new(primitive::<UInt64Type>(vec![0, 1, u64::MAX])));
    check(Arc::new(Int64Array::from(vec![7; 100_000])));
}

#[test]
fn floats_come_back_with_the_sign_of_zero_and_nan() {
    let values = [
        0.0,
        -0.0,
        0.1,
        -1.5,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
    ];
    check(Arc::new(primitive::<Float64Type>(values.to_vec())));
    let singles = [0.0, -0.0, 0.1, f32::NAN, f32::INFINITY, f32::MAX, f32::from_bits(1), 16_777_216.0];
    check(Arc::new(primitive::<Float32Type>(singles.to_vec())));
    // Arrow compares by total order, so that this really tells -0.0 from 0.0.
    assert_ne!(Float64Array::from(vec![0.0]), Float64Array::from(vec![-0.0]));
}

#[test]
fn every_finite_half_float_comes_back() {
    let halves = (0..=u16::MAX).map(f16::from_bits).filter(|half| !half.is_nan());
    check(Arc::new(primitive::<Float16Type>(halves.chain([f16::NAN]).collect())));
}

#[test]
fn random_bits_come_back_as_floats_and_points_in_time() {
    // A fixed sequence (Knuth's MMIX generator), so that a failure can be repeated.
    let mut state = 2026_u64;
    let bits: Vec<u64> = (0..20_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state ^ (state >> 29)
        })
        .collect();
    let doubles = bits.iter().map(|&bits| f64::from_bits(bits)).filter(|value| !value.is_nan());
    check(Arc::new(primitive::<Float64Type>(doubles.collect())));
    let singles = bits.iter().map(|&bits| f32::from_bits(bits as u32)).filter(|value| !value.is_nan());
    check(Arc::new(primitive::<Float32Type>(singles.collect())));
    let instants = || bits.iter().map(|&bits| bits as i64);
    check(Arc::new(primitive::<TimestampNanosecondType>(instants().collect())));
    check(Arc::new(primitive::<TimestampMicrosecondType>(instants().map(|at| at >> 1).collect())));
    check(Arc::new(primitive::<TimestampMillisecondType>(instants().map(|at| at >> 11).collect())));
    check(Arc::new(primitive::<TimestampSecondType>(instants().map(|at| at >> 21).collect())));
    check(Arc::new(primitive::<Date32Type>(instants().map(|at| (at >> 38) as i32).collect())));
    check(Arc::new(primitive::<Date64Type>(instants().map(|at| at >> 11).collect())));
    check(Arc::new(
        primitive::<Decimal128Type>(instants().map(|at| i128::from(at) * 1_000_000_007).collect())
            .with_precision_and_scale(38, 11)
            .unwrap(),
    ));
}

#[test]
fn texts_of_every_layout_come_back() {
    let texts = [Some("a"), Some("longer than twelve bytes"), None, Some("ü\n\"'"), Some("a"), Some(" ")];
    check(Arc::new(StringArray::from_iter(texts)));
    check(Arc::new(LargeStringArray::from_iter(texts)));
    check(Arc::new(StringViewArray::from_iter(texts)));
}

#[test]
fn more_distinct_texts_than_a_dictionary_holds_come_back() {
    check(Arc::new(StringArray::from_iter_values((0..200_000).map(|n| format!("person {}", n % 150_001)))));
}

#[test]
fn decimals_come_back() {
    let small = vec![0, 1, -1, 12_345, -999_999_999];
    let decimals = primitive::<Decimal32Type>(small.clone());
    check(Arc::new(decimals.with_precision_and_scale(9, 2).unwrap()));
    let decimals = primitive::<Decimal64Type>(small.iter().map(|&n| n.into()).collect());
    check(Arc::new(decimals.with_precision_and_scale(18, 0).unwrap()));
    for scale in [0, 1, 10, 38] {
        let mut values: Vec<i128> = small.iter().map(|&n| n.into()).collect();
        values.extend([10_i128.pow(38) - 1, 1 - 10_i128.pow(38)]);
        let decimals = primitive::<Decimal128Type>(values);
        check(Arc::new(decimals.with_precision_and_scale(38, scale).unwrap()));
    }
    let widest = i256::from_string(&"9".repeat(76)).unwrap();
    for scale in [0, 5, 76] {
        let values = vec![i256::ZERO, i256::ONE, i256::MINUS_ONE, widest, -widest];
        let decimals = primitive::<Decimal256Type>(values);
        check(Arc::new(decimals.with_precision_and_scale(76, scale).unwrap()));
    }
}

#[test]
fn dates_and_times_come_back() {
    check(Arc::new(primitive::<Date32Type>(vec![-719_162, -1, 0, 12_159, 2_932_896, 2_932_897, -800_000])));
    check(Arc::new(primitive::<Date64Type>(vec![0, 86_400_000, -86_400_000, 1, -1, 1_050_580_800_123])));
    check(Arc::new(primitive::<Time32SecondType>(vec![0, 1, 86_399])));
    check(Arc::new(primitive::<Time32MillisecondType>(vec![0, 1, 86_399_999])));
    check(Arc::new(primitive::<Time64MicrosecondType>(vec![0, 1, 86_399_999_999])));
    check(Arc::new(primitive::<Time64NanosecondType>(vec![0, 1, 86_399_999_999_999])));
}

#[test]
fn whole_64_bit_days_are_dates_for_readers_that_know_nothing_of_arrow() {
    let folder = TempDir::new().unwrap();
    let (source, release) = (folder.path().join("source.parquet"), folder.path().join("release.parquet"));
    for (millis, seen) in [
        (vec![0, 86_400_000, -86_400_000, 1_050_537_600_000], DataType::Date32),
        (vec![0, 86_400_001], DataType::Int64),
    ] {
        let array: ArrayRef = Arc::new(primitive::<Date64Type>(millis));
        write_source(&source, &[("c", array.clone())], WriterProperties::default());
        let (columns, types) = read_columns(&source);
        write_all_kept(&release, &columns, &types);
        assert_eq!(read_arrays(&release).column(0), &array);
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = ArrowReaderMetadata::load(&File::open(&release).unwrap(), options).unwrap();
        assert_eq!(metadata.schema().field(0).data_type(), &seen);
    }
}

#[test]
fn timestamps_of_every_unit_and_zone_come_back() {
    for zone in [None, Some("UTC"), Some("+05:45"), Some("Europe/Berlin"), Some("nowhere on earth")] {
        let zone: Option<Arc<str>> = zone.map(Into::into);
        let seconds =
            [-62_135_596_800, -1, 0, 1_050_580_800, 253_402_300_799, 253_402_300_800, -99_999_999_999];
        let at =
            |units: i64| seconds.iter().flat_map(move |second| [second * units, second * units + units - 1]);
        check(Arc::new(primitive::<TimestampSecondType>(at(1).collect()).with_timezone_opt(zone.clone())));
        check(Arc::new(
            primitive::<TimestampMillisecondType>(at(1000).collect()).with_timezone_opt(zone.clone()),
        ));
        check(Arc::new(
            primitive::<TimestampMicrosecondType>(at(1_000_000).collect()).with_timezone_opt(zone.clone()),
        ));
        let nanos = vec![i64::MIN, i64::MAX, -1, 0, 1, 1_050_580_800_123_456_789, 1_050_580_800_120_000_000];
        check(Arc::new(primitive::<TimestampNanosecondType>(nanos).with_timezone_opt(zone)));
    }
}

#[test]
fn a_file_without_rows_keeps_its_columns_and_types() {
    check(new_empty_array(&DataType::Utf8));
    check(new_empty_array(&DataType::Decimal128(10, 2)));
    check(new_empty_array(&DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()))));
}

#[test]
fn a_column_of_nothing_but_nulls_comes_back() {
    for data_type in [DataType::Int32, DataType::Utf8, DataType::Boolean, DataType::Date32, DataType::Null] {
        check(new_null_array(&data_type, 3));
    }
}

#[test]
fn a_dictionary_counts_as_its_values_and_entries_without_rows_are_no_values() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source.parquet");
    let keys = Int16Array::from(vec![Some(2), None, Some(0), Some(2), Some(0)]);
    let texts = StringArray::from(vec!["x", "nobody has this", "y"]);
    let dictionary = DictionaryArray::try_new(keys, Arc::new(texts)).unwrap();
    let keys = Int8Array::from(vec![Some(0), Some(1), None, Some(0), Some(0)]);
    let numbers = DictionaryArray::try_new(keys, Arc::new(Int64Array::from(vec![5, 6]))).unwrap();
    let arrays: [(&str, ArrayRef); 2] = [("t", Arc::new(dictionary)), ("n", Arc::new(numbers))];
    write_source(&path, &arrays, WriterProperties::default());
    let (columns, types) = read_columns(&path);
    assert_eq!(cells(&columns[0]), ["y", "", "x", "y", "x"]);
    assert_eq!(columns[0].dictionary().len(), 3);
    assert_eq!(cells(&columns[1]), ["5", "6", "", "5", "5"]);
    assert_eq!(types.iter().map(ToString::to_string).collect::<Vec<_>>(), ["Utf8", "Int64"]);
}

#[test]
fn null_and_the_empty_text_are_two_values_and_come_back_as_two() {
    let texts = [Some(""), None, Some("a"), Some(""), None, Some("\u{FDD0}"), Some("\u{FDD0}\u{FDD0}")];
    check(Arc::new(StringArray::from_iter(texts)));
    check(Arc::new(LargeStringArray::from_iter(texts)));
    check(Arc::new(StringViewArray::from_iter(texts)));
    check(Arc::new(StringArray::from(vec![Some(""), Some("a")])));
    check(Arc::new(StringArray::from(vec![None, Some("a")])));

    let folder = TempDir::new().unwrap();
    let source = folder.path().join("source.parquet");
    for dictionaries in [true, false] {
        let properties = WriterProperties::builder().set_dictionary_enabled(dictionaries).build();
        write_source(&source, &[("c", Arc::new(StringArray::from_iter(texts)))], properties);
        let (columns, _) = read_columns(&source);
        assert_eq!(columns[0].codes(), [0, 1, 2, 0, 1, 3, 4], "different cells have different codes");
        assert_eq!(cells(&columns[0])[..2], [label::EMPTY_TEXT, ""]);
    }
}

#[test]
fn nulls_come_back_from_text_of_many_pages() {
    // Pages of 65,536 rows: some without nulls, one of nothing else, some with both.
    let text = |row: usize| match row {
        0..70_000 => Some(format!("{}", row % 7)),
        70_000..150_000 => (!row.is_multiple_of(3)).then(|| format!("{}", row % 5)),
        150_000..300_000 => None,
        _ => (!row.is_multiple_of(1000)).then(String::new),
    };
    check(Arc::new(StringArray::from_iter((0..400_001).map(text))));
    let folder = TempDir::new().unwrap();
    let (source, release) = (folder.path().join("source.parquet"), folder.path().join("release.parquet"));
    let array: ArrayRef = Arc::new(StringArray::from_iter((0..400_001).map(text)));
    write_source(&source, &[("c", array.clone())], WriterProperties::default());
    let (columns, types) = read_columns(&source);
    write_all_kept(&release, &columns, &types);
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&release).unwrap()).unwrap();
    let chunk = builder.metadata().row_group(0).column(0);
    let n_nulls = chunk.statistics().and_then(Statistics::null_count_opt);
    assert_eq!(n_nulls, Some(array.null_count() as u64));
}

#[test]
fn neighbours_of_every_type_have_labels_of_their_own() {
    /// Every value of the array is another one, but for NaNs.
    #[expect(clippy::needless_pass_by_value, reason = "every caller makes the array on the spot")]
    fn check(array: ArrayRef) {
        let folder = TempDir::new().unwrap();
        let source = folder.path().join("source.parquet");
        write_source(&source, &[("c", array.clone())], WriterProperties::default());
        let (columns, _) = read_columns(&source);
        assert_eq!(columns[0].dictionary().len(), array.len(), "{}", array.data_type());
    }
    // Within a day, within a second.
    check(Arc::new(Date64Array::from(vec![0, 1, 999, 1000, 86_399_999, 86_400_000, -1])));
    let nanos = [0, 1, 999, 1_000, 999_999, 1_000_000, 1_000_000_000, -1];
    for zone in [None, Some("+00:00"), Some("Europe/Berlin")] {
        // The hour that a clock shows twice, when summer ends: two instants.
        let hours = [1_067_126_400_000_000_000, 1_067_130_000_000_000_000];
        let all = nanos.iter().copied().chain(hours).collect::<Vec<i64>>();
        check(Arc::new(TimestampNanosecondArray::from(all).with_timezone_opt(zone)));
    }
    check(Arc::new(Time64NanosecondArray::from(vec![0, 1, 1_000, 1_000_000, 86_399_999_999_999])));
    check(Arc::new(Float64Array::from(vec![0.0, -0.0, 0.1, 0.1 + f64::EPSILON, f64::NAN, f64::INFINITY])));
    check(Arc::new(Float32Array::from(vec![0.0, -0.0, 16_777_216.0, 16_777_218.0])));
    for scale in [0, 2] {
        let decimals = Decimal128Array::from(vec![0, 1, 10, 100, -1]).with_precision_and_scale(10, scale);
        check(Arc::new(decimals.unwrap()));
    }
    // NaNs of different bits are the same value, and are released as one.
    let other = f64::from_bits(f64::NAN.to_bits() | 1);
    let folder = TempDir::new().unwrap();
    let (source, release) = (folder.path().join("source.parquet"), folder.path().join("release.parquet"));
    let nans: ArrayRef = Arc::new(Float64Array::from(vec![f64::NAN, other, -f64::NAN]));
    write_source(&source, &[("c", nans)], WriterProperties::default());
    let (columns, types) = read_columns(&source);
    assert_eq!(columns[0].codes(), [0; 3]);
    write_all_kept(&release, &columns, &types);
    let back = read_arrays(&release);
    let bits: Vec<u64> =
        back.column(0).as_primitive::<Float64Type>().values().iter().map(|nan| nan.to_bits()).collect();
    assert!(bits.iter().all(|&nan| nan == bits[0]), "nothing tells them apart");
}

#[test]
fn whether_a_column_may_have_nulls_tells_nothing_of_rows_that_were_left_out() {
    let schema = |labels: Vec<&str>| {
        let kept = ColumnType::clone(&integers());
        let columns = [
            Released { name: "kept", kept: Some(&kept), labels: labels.clone(), has_null: false },
            Released { name: "text", kept: None, labels, has_null: false },
        ];
        let file = write(Vec::new(), &columns, vec![vec![0, 0], vec![0, 0]]).unwrap();
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("release.parquet");
        std::fs::write(&path, file).unwrap();
        read_arrays(&path).schema()
    };
    assert_eq!(schema(vec!["1", ""]), schema(vec!["1"]));
}

/// The type of a column of integers.
fn integers() -> ColumnType {
    let folder = TempDir::new().unwrap();
    let source = folder.path().join("source.parquet");
    write_source(&source, &[("c", Arc::new(Int64Array::from(vec![1])))], WriterProperties::default());
    read_columns(&source).1.remove(0)
}

#[test]
fn a_generalized_column_is_text_and_unused_labels_stay_out() {
    let labels = vec!["[20, 30)", "secret label", ""];
    let column = Released { name: "age", kept: None, labels, has_null: true };
    let file = write(Vec::new(), &[column], vec![vec![0, 2, 0]]).unwrap();
    let found = |text: &str| file.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(found("[20, 30)"), "short pages are searchable");
    assert!(!found("secret"));
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("release.parquet");
    std::fs::write(&path, file).unwrap();
    let back = read_arrays(&path);
    assert_eq!(
        back.column(0).as_ref(),
        &StringArray::from(vec![Some("[20, 30)"), None, Some("[20, 30)")]) as &dyn Array
    );
}

#[test]
fn the_release_carries_no_metadata_of_the_source() {
    let folder = TempDir::new().unwrap();
    let (source, release) = (folder.path().join("source.parquet"), folder.path().join("release.parquet"));
    let schema = Schema::new(vec![
        Field::new("n", DataType::Int32, true).with_metadata([("owner".into(), "SOURCEFIELD".into())].into()),
    ])
    .with_metadata([("note".to_owned(), "SOURCESCHEMA".to_owned())].into());
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![KeyValue::new("pandas".into(), "SOURCEPAIR".to_owned())]))
        .build();
    let schema = Arc::new(schema);
    let mut writer =
        ArrowWriter::try_new(File::create(&source).unwrap(), schema.clone(), Some(properties)).unwrap();
    writer
        .write(&RecordBatch::try_new(schema, vec![Arc::new(Int32Array::from(vec![1, 2]))]).unwrap())
        .unwrap();
    writer.close().unwrap();

    let (columns, types) = read_columns(&source);
    write_all_kept(&release, &columns, &types);
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(&release).unwrap()).unwrap();
    assert!(builder.schema().metadata().is_empty());
    assert!(builder.schema().field(0).metadata().is_empty());
    let pairs = builder.metadata().file_metadata().key_value_metadata().unwrap();
    assert_eq!(pairs.iter().map(|pair| pair.key.as_str()).collect::<Vec<_>>(), ["ARROW:schema"]);
}

#[test]
fn several_files_append_to_the_same_columns() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("part.parquet");
    let mut columns = vec![Column::new("n", Role::Other)];
    for part in [vec![3, 1], vec![1, 2]] {
        write_source(&path, &[("n", Arc::new(Int32Array::from(part)))], WriterProperties::default());
        Parquet::open(&path).unwrap().read_into(&mut columns, &Progress::new()).unwrap();
    }
    assert_eq!(cells(&columns[0]), ["3", "1", "1", "2"]);
    assert_eq!(columns[0].codes(), [0, 1, 1, 2]);
}

#[test]
fn reading_stops_when_cancelled() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source.parquet");
    write_source(&path, &[("n", Arc::new(Int32Array::from(vec![1])))], WriterProperties::default());
    let progress = Progress::new();
    progress.cancel();
    let mut columns = vec![Column::new("n", Role::Other)];
    let error = Parquet::open(&path).unwrap().read_into(&mut columns, &progress).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

#[test]
fn what_cannot_be_read_is_refused_by_column_and_type() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source.parquet");
    let one: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let refused = |arrays: &[(&str, ArrayRef)]| {
        write_source(&path, arrays, WriterProperties::default());
        let message = Parquet::open(&path).unwrap_err().to_string();
        message.split_once("source.parquet`").unwrap().1.to_owned()
    };
    assert_eq!(
        refused(&[("a", one.clone()), ("b", Arc::new(BinaryArray::from(vec![&b"x"[..]])))]),
        ": column `b` has the type Binary, which is not supported"
    );
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    assert!(refused(&[("l", Arc::new(list))]).starts_with(": column `l` has the type List("));
    let inner = Arc::new(Field::new("x", DataType::Int32, true));
    assert!(
        refused(&[("s", Arc::new(StructArray::from(vec![(inner, one.clone())])))])
            .starts_with(": column `s` has the type Struct(")
    );
    assert_eq!(
        refused(&[("d", Arc::new(DurationSecondArray::from(vec![1])))]),
        ": column `d` has the type Duration(s), which is not supported"
    );
    assert_eq!(
        refused(&[("a", one.clone()), ("b", one.clone()), ("a", one)]),
        ": columns 1 and 3 are both named `a`"
    );
}

#[test]
fn a_file_that_is_not_parquet_is_refused_without_a_word_of_its_content() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source.parquet");
    for content in ["", "name,age\nBeth,52\n", "PAR1 Beth PAR1"] {
        File::create(&path).unwrap().write_all(content.as_bytes()).unwrap();
        let message = Parquet::open(&path).unwrap_err().to_string();
        assert!(message.ends_with("is not a Parquet file, is damaged or is encrypted"), "{message}");
    }
    assert_eq!(Parquet::open(folder.path()).unwrap_err().kind(), ErrorKind::Input);
    assert_eq!(Parquet::open(&folder.path().join("absent")).unwrap_err().kind(), ErrorKind::Io);
}

#[test]
fn a_damaged_or_impossible_cell_is_an_error_without_the_cell() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source.parquet");
    let mut columns = vec![Column::new("c", Role::Other)];
    let mut refused = || Parquet::open(&path).unwrap().read_into(&mut columns, &Progress::new()).unwrap_err();

    write_source(
        &path,
        &[("c", Arc::new(TimestampSecondArray::from(vec![i64::MAX])))],
        WriterProperties::default(),
    );
    assert_eq!(
        refused().to_string(),
        "column `c`: a value of type Timestamp(s) lies beyond the calendar or the clock"
    );

    let properties = WriterProperties::builder().set_dictionary_enabled(false).build();
    write_source(&path, &[("c", Arc::new(StringArray::from(vec!["Beth"])))], properties);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(4).position(|window| window == b"Beth").unwrap();
    bytes[at] = 0xff;
    std::fs::write(&path, bytes).unwrap();
    let error = refused();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.to_string().ends_with("some of its rows cannot be decoded"), "{error}");
}

#[test]
fn a_label_that_is_not_of_the_kept_type_is_our_mistake_and_is_not_told() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source.parquet");
    write_source(&path, &[("n", Arc::new(Int32Array::from(vec![1])))], WriterProperties::default());
    let parquet = Parquet::open(&path).unwrap();
    let released = |labels| Released { name: "n", kept: Some(&parquet.types()[0]), labels, has_null: true };
    let refused = |column, codes| {
        let error = write(Vec::new(), &[column], vec![codes]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        error.to_string()
    };
    assert_eq!(
        refused(released(vec!["1", "Beth"]), vec![0]),
        "column `n` of a release has a label that is not of its type Int32"
    );
    assert_eq!(refused(released(vec!["1"]), vec![1]), "column `n` of a release has a code without a label");
    let text = || Released { name: "t", kept: None, labels: vec!["a"], has_null: false };
    assert_eq!(refused(text(), vec![0, 1]), "column `t` of a release has a code without a label");
    let two = [released(vec!["1"]), released(vec!["1"])];
    assert!(write(Vec::new(), &two, vec![vec![0], vec![]]).is_err(), "uneven");
    assert!(write(Vec::new(), &two, vec![vec![0]]).is_err(), "too few");
}

#[test]
fn rows_written_in_many_parts_come_back_in_their_order() {
    let labels: Vec<String> = (0..1000).map(|n| format!("label {n}")).collect();
    let column = Released {
        name: "c",
        kept: None,
        labels: labels.iter().map(String::as_str).collect(),
        has_null: false,
    };
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("release.parquet");
    let mut writer = Writer::new(File::create(&path).unwrap(), &[column]).unwrap();
    // More than a row group.
    let n_rows = 1_100_000_u32;
    let parts: Vec<u32> = (0..n_rows).map(|row| row.wrapping_mul(2_654_435_761) % 1000).collect();
    for part in parts.chunks(99_991) {
        writer.write(vec![part.to_vec()]).unwrap();
    }
    writer.finish().unwrap();
    let (columns, _) = read_columns(&path);
    let back = columns[0].codes().iter().map(|&code| columns[0].dictionary().value(code));
    assert!(back.eq(parts.iter().map(|&code| labels[code as usize].as_str())));
}

/// The table in the docs of `read.rs`: what a file says of a column's type without its Arrow schema. Why that is read.
#[test]
fn without_the_arrow_schema_types_and_zones_would_be_lost() {
    use arrow_schema::DataType::*;
    use arrow_schema::TimeUnit::*;
    let zone = |zone: &str| Some(zone.into());
    let lost = [
        (Date64, Int64),
        (Timestamp(Second, None), Int64),
        (Time32(Second), Int32),
        (Duration(Second), Int64),
        (Timestamp(Millisecond, zone("Europe/Berlin")), Timestamp(Millisecond, zone("UTC"))),
        (Timestamp(Millisecond, zone("+02:00")), Timestamp(Millisecond, zone("UTC"))),
        (LargeUtf8, Utf8),
        (Utf8View, Utf8),
        (Dictionary(Box::new(Int32), Box::new(Utf8)), Utf8),
    ];
    let kept = [
        Boolean,
        Int8,
        UInt64,
        Float16,
        Float64,
        Utf8,
        Date32,
        Decimal128(20, 3),
        Timestamp(Microsecond, None),
    ];
    let kept = kept.into_iter().map(|same| (same.clone(), same));
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("source.parquet");
    for (written, read) in lost.into_iter().chain(kept) {
        write_source(&path, &[("c", arrow_array::new_null_array(&written, 3))], WriterProperties::default());
        let type_of = |options: ArrowReaderOptions| {
            let metadata = ArrowReaderMetadata::load(&File::open(&path).unwrap(), options).unwrap();
            metadata.schema().field(0).data_type().clone()
        };
        assert_eq!(type_of(ArrowReaderOptions::new()), written);
        assert_eq!(type_of(ArrowReaderOptions::new().with_skip_arrow_metadata(true)), read, "{written}");
    }
}
