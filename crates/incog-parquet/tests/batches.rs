//! Record batches in and out: the same cells, the same types, whatever the arrays look like.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int8Type, Int32Type, Int64Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array, Int64Array,
    LargeStringArray, ListArray, RecordBatch, StringArray, StringViewArray, TimestampSecondArray,
    UInt32Array,
};
use incog_core::ErrorKind;
use incog_core::table::Column;
use incog_parquet::{ColumnType, IpcWriter, Released, TextLayout, read_batches, to_batches};

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .unwrap()
}

/// Reads batches and writes all columns as they were collected.
fn there_and_back(batches: &[RecordBatch]) -> Vec<RecordBatch> {
    let (columns, types): (Vec<Column>, Vec<ColumnType>) = read_batches(batches).unwrap();
    let released: Vec<Released<'_>> = columns
        .iter()
        .zip(&types)
        .map(|(column, kept)| Released {
            name: column.name(),
            kept: Some(kept),
            labels: column.dictionary().values().collect(),
            has_null: column.dictionary().code("").is_some(),
        })
        .collect();
    let codes: Vec<Vec<u32>> = columns.iter().map(|column| column.codes().to_vec()).collect();
    let layouts: Vec<TextLayout> = types.iter().map(ColumnType::text_layout).collect();
    to_batches(&released, &codes, &layouts).unwrap()
}

/// The bytes of all buffers of an array, its dictionary included.
fn bytes_of(array: &dyn Array) -> Vec<u8> {
    let data = array.to_data();
    let of_values = data.child_data().iter().flat_map(|values| values.buffers());
    data.buffers().iter().chain(of_values).flat_map(|buffer| buffer.as_slice()).copied().collect()
}

#[test]
fn no_buffer_and_no_file_has_a_label_that_no_row_has() {
    let secret = "a label of a row that is left out";
    let kept = "a label that is released, and long";
    let is_told = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|at| at == text.as_bytes());
    let texts = [kept, secret];
    let of_columns: [ArrayRef; 4] = [
        Arc::new(StringArray::from(texts.to_vec())),
        Arc::new(LargeStringArray::from(texts.to_vec())),
        Arc::new(StringViewArray::from(texts.to_vec())),
        Arc::new(DictionaryArray::new(
            Int64Array::from(vec![0, 1]),
            Arc::new(StringViewArray::from(texts.to_vec())),
        )),
    ];
    for array in of_columns {
        let (columns, types) = read_batches(&[batch(vec![("x", array)])]).unwrap();
        for as_collected in [true, false] {
            let released = [Released {
                name: "x",
                kept: as_collected.then_some(&types[0]),
                labels: columns[0].dictionary().values().collect(),
                has_null: false,
            }];
            let codes = [vec![columns[0].dictionary().code(kept).unwrap(); 3]];
            for layout in [TextLayout::Plain, TextLayout::Dictionary, TextLayout::Views] {
                let made = to_batches(&released, &codes, &[layout]).unwrap();
                let bytes = bytes_of(made[0].column(0));
                assert!(is_told(&bytes, kept) && !is_told(&bytes, secret), "{layout:?} of {:?}", types[0]);
            }
            let mut writer = IpcWriter::new(Vec::new(), &released).unwrap();
            writer.write(&released, &codes).unwrap();
            let file = writer.finish().unwrap();
            assert!(is_told(&file, kept) && !is_told(&file, secret), "a file of {:?}", types[0]);
        }
    }
}

#[test]
fn a_column_that_is_as_collected_comes_out_as_it_went_in() {
    let decimals =
        Decimal128Array::from(vec![Some(1250), None, Some(-5)]).with_precision_and_scale(6, 2).unwrap();
    let berlin =
        TimestampSecondArray::from(vec![Some(0), Some(1_050_000_000), None]).with_timezone("Europe/Berlin");
    let whole = batch(vec![
        ("text", Arc::new(StringArray::from(vec![Some("a"), Some(""), None]))),
        ("large", Arc::new(LargeStringArray::from(vec![Some("x"), None, Some("x")]))),
        ("view", Arc::new(StringViewArray::from(vec![Some("a text of more than twelve"), None, Some("b")]))),
        ("whole", Arc::new(Int64Array::from(vec![Some(-17), None, Some(i64::MAX)]))),
        ("float", Arc::new(Float64Array::from(vec![Some(0.1), Some(-0.0), None]))),
        ("yes", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
        ("day", Arc::new(Date32Array::from(vec![Some(12_159), None, Some(-1)]))),
        ("money", Arc::new(decimals)),
        ("instant", Arc::new(berlin)),
    ]);
    assert!(there_and_back(std::slice::from_ref(&whole)).iter().eq([&whole]));
    let parts = [whole.slice(0, 1), whole.slice(1, 2)];
    assert_eq!(there_and_back(&parts), [whole]);
}

#[test]
fn a_dictionary_of_text_is_one_again_and_others_are_what_is_in_them() {
    let keys = arrow_array::Int8Array::from(vec![Some(2), None, Some(0), Some(2)]);
    let words = StringArray::from(vec!["a", "nobody has this", ""]);
    let of_words = DictionaryArray::<Int8Type>::new(keys.clone(), Arc::new(words));
    let of_numbers = DictionaryArray::<Int8Type>::new(keys, Arc::new(Int64Array::from(vec![7, 8, 9])));
    let table = batch(vec![("words", Arc::new(of_words)), ("numbers", Arc::new(of_numbers))]);
    let (columns, _) = read_batches([&table]).unwrap();
    assert!(columns[0].dictionary().values().all(|value| value != "nobody has this"), "no row has it");
    let back = there_and_back(&[table]);
    let words = back[0].column(0).as_dictionary::<Int32Type>();
    assert_eq!(words.values().len(), 2, "what no row has is no entry");
    let words: Vec<Option<&str>> = words.downcast_dict::<StringArray>().unwrap().into_iter().collect();
    assert_eq!(words, [Some(""), None, Some("a"), Some("")]);
    let numbers: Vec<Option<i64>> = back[0].column(1).as_primitive::<Int64Type>().iter().collect();
    assert_eq!(numbers, [Some(9), None, Some(7), Some(9)]);
}

#[test]
fn a_dictionary_of_views_has_its_texts_copied_once_and_not_row_by_row() {
    let keys = UInt32Array::from((0..4_000).map(|row| (row % 3 != 0).then_some(row % 2)).collect::<Vec<_>>());
    let texts = StringViewArray::from(vec!["a text of more than twelve letters", "b"]);
    let cells = DictionaryArray::<UInt32Type>::new(keys, Arc::new(texts));
    let table = batch(vec![("words", Arc::new(cells))]);
    let (columns, types) = read_batches([&table]).unwrap();
    assert!(types[0].is_dictionary());
    assert_eq!(columns[0].dictionary().len(), 3, "two texts and the missing value");
    let back = there_and_back(&[table]);
    let words = back[0].column(0).as_dictionary::<Int32Type>();
    let words = words.downcast_dict::<StringViewArray>().unwrap();
    let shown: Vec<Option<&str>> = words.into_iter().take(4).collect();
    assert_eq!(shown, [None, Some("b"), Some("a text of more than twelve letters"), None]);
}

#[test]
fn what_is_no_table_is_refused_by_name_and_type() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let refused = |batches: &[RecordBatch]| {
        let error = read_batches(batches).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        error.to_string()
    };
    assert_eq!(refused(&[]), "no record batch is given");
    let list = ListArray::from_iter_primitive::<Int64Type, _, _>([Some(vec![Some(1)])]);
    let nested = refused(&[batch(vec![("visits", Arc::new(list))])]);
    assert!(nested.starts_with("column `visits` has the type List("), "{nested}");
    let schema = arrow_schema::Schema::new(vec![
        arrow_schema::Field::new("a", numbers.data_type().clone(), true),
        arrow_schema::Field::new("a", numbers.data_type().clone(), true),
    ]);
    let twice = RecordBatch::try_new(Arc::new(schema), vec![numbers.clone(), numbers.clone()]).unwrap();
    assert_eq!(refused(&[twice]), "columns 1 and 2 have the same name");
    let text: ArrayRef = Arc::new(StringArray::from(vec!["1"]));
    let mixed = [batch(vec![("a", numbers)]), batch(vec![("a", text)])];
    assert_eq!(refused(&mixed), "record batch 2 has other columns or types than the first");
}
