use super::*;

/// A reader that gives a few bytes at a time.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = self.1.min(self.0.len()).min(buffer.len());
        buffer[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

fn split(text: &[u8], step: usize) -> Result<(Vec<Vec<String>>, u64), Problem> {
    let mut splitter = Splitter::new(Drops(text, step), b',', Widths::Equal);
    let mut block = Block::default();
    let mut rows = Vec::new();
    loop {
        splitter.next(&mut block)?;
        if block.n_fields() == 0 {
            return Ok((rows, splitter.empty_lines()));
        }
        let fields: Vec<String> = (0..block.n_fields()).map(|at| block.field(at).to_owned()).collect();
        rows.extend(fields.chunks(splitter.width.unwrap()).map(<[String]>::to_vec));
    }
}

fn rows(text: &str) -> Vec<Vec<String>> {
    let (rows, _) = split(text.as_bytes(), 1000).unwrap();
    rows
}

#[test]
fn quotes_line_ends_and_byte_order_marks() {
    assert_eq!(rows("\u{FEFF}a,b\r\n1,2\r\n"), [["a", "b"], ["1", "2"]]);
    assert_eq!(rows("\u{FEFF}\"a\",b\n1,2"), [["a", "b"], ["1", "2"]]);
    assert_eq!(rows("a,b\r1,2\r"), [["a", "b"], ["1", "2"]]);
    assert_eq!(
        rows("a,b\n\"x,\"\"y\"\"\n\",5\" pipe\n,\n"),
        [["a", "b"], ["x,\"y\"\n", "5\" pipe"], ["", ""]]
    );
    assert_eq!(rows("a,b\n1,"), [["a", "b"], ["1", ""]]);
    assert_eq!(rows("a\n\"\"\n"), [["a"], [""]], "a quoted empty field is a record");
    assert_eq!(rows(""), Vec::<Vec<String>>::new());
    assert_eq!(split(b"a\n\n1\r\n\r\n\n", 3).unwrap().1, 3, "empty lines are counted");
}

#[test]
fn one_record_that_is_not_plain_changes_nothing_about_the_others() {
    let plain = "1,2,3\n".repeat(50);
    for (odd, row) in [
        ("\"x,\"\"y\",,z\n", ["x,\"y", "", "z"]),
        ("a,b,c\r\n", ["a", "b", "c"]),
        ("\n\na,b,c\n", ["a", "b", "c"]),
        ("a,5\" pipe,c\n", ["a", "5\" pipe", "c"]),
    ] {
        for (before, behind) in [(0, 2), (1, 0), (2, 1)] {
            let text = format!("h,i,j\n{}{odd}{}", plain.repeat(before), plain.repeat(behind));
            for step in [5, 1000] {
                let (rows, _) = split(text.as_bytes(), step).unwrap();
                assert_eq!(rows.len(), 2 + 50 * (before + behind), "{odd:?}");
                assert_eq!(rows[1 + 50 * before], row);
                let others = rows.iter().skip(1).filter(|other| **other != row);
                assert!(others.into_iter().all(|row| *row == ["1", "2", "3"]), "{odd:?}");
            }
        }
    }
    let (rows, _) = split(format!("h,i,j\n{plain}4,5,6").as_bytes(), 1000).unwrap();
    assert_eq!(rows[51], ["4", "5", "6"], "without a line break at its end");
    let problem = split(format!("h,i,j\n{plain}4,5\n6\n{plain}").as_bytes(), 1000).unwrap_err();
    assert!(matches!(problem, Problem::Ragged { line: 52, n_fields: 2, expected: 3 }), "{problem:?}");
}

#[test]
fn what_readers_disagree_about_is_refused_with_its_line() {
    let problem = |text: &[u8]| split(text, 7).unwrap_err();
    assert!(matches!(problem(b"a,b\n1,2\n1\n"), Problem::Ragged { line: 3, n_fields: 1, expected: 2 }));
    assert!(matches!(problem(b"a,b\n\"x\ny\",2\n1,\"x"), Problem::Unclosed { line: 4 }));
    assert!(matches!(problem(b"a,b\n1,\"x\"y\n"), Problem::AfterQuote { line: 2 }));
    assert!(matches!(problem(b"a,b\n1,2\n3,\xFF\n"), Problem::NotUtf8 { line: 3, column: 1, .. }));
    assert!(matches!(problem(b"a,b\n1,2\n\xC3,4\n"), Problem::NotUtf8 { line: 3, column: 0, .. }));
}

#[test]
fn agrees_with_the_csv_crate_however_the_file_is_cut() {
    let pieces = ["a", ",", "\n", "\r\n", "\"\"", "\"x,y\"", "\"p\"\"q\"", "é", "", "long text"];
    let mut seed = 7_u64;
    let mut n_compared = 0;
    for _ in 0..3000 {
        let mut text = "h,i\n".to_owned();
        for _ in 0..8 {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        let Ok((mine, _)) = split(text.as_bytes(), 1 + seed as usize % 9) else {
            continue;
        };
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let theirs: Result<Vec<Vec<String>>, _> =
            reader.records().map(|row| row.map(|row| row.iter().map(str::to_owned).collect())).collect();
        assert_eq!(mine, theirs.unwrap(), "{text:?}");
        n_compared += 1;
    }
    assert!(n_compared > 200);
}

#[test]
fn other_quotes_no_quotes_and_comments() {
    let rows = |text: &str, quote: Option<u8>, comment: Option<u8>, step: usize| {
        let marking = Marking { delimiter: b',', quote, comment };
        let mut splitter = Splitter::with(Drops(text.as_bytes(), step), marking, Widths::Equal, 1);
        let (mut block, mut rows) = (Block::default(), Vec::new());
        loop {
            splitter.next(&mut block).unwrap();
            if block.n_fields() == 0 {
                return rows;
            }
            let fields: Vec<String> = (0..block.n_fields()).map(|at| block.field(at).to_owned()).collect();
            rows.extend(fields.chunks(2).map(<[String]>::to_vec));
        }
    };
    for step in [1, 3, 1000] {
        assert_eq!(rows("a,b\n'x,''y\"',2\n", Some(b'\''), None, step), [["a", "b"], ["x,'y\"", "2"]]);
        assert_eq!(rows("a,b\n\"x,5\"\n", None, None, step), [["a", "b"], ["\"x", "5\""]]);
        let text = "# one, two, three\r\n#\na,b\n1,#2\n# \"\n\"\n#\",3\n#end";
        let expected = [["a", "b"], ["1", "#2"], ["\n#", "3"]];
        assert_eq!(rows(text, Some(b'"'), Some(b'#'), step), expected);
    }
    let text = format!("#x\na,b\n{}#y\n1\n", "1,2\n#z\n".repeat(10));
    let marking = Marking { comment: Some(b'#'), ..Marking::new(b',') };
    let mut splitter = Splitter::with(Drops(text.as_bytes(), 1000), marking, Widths::Equal, 5);
    let problem = splitter.next(&mut Block::default()).unwrap_err();
    assert!(matches!(problem, Problem::Ragged { line: 28, .. }), "{problem:?}");
}

#[test]
fn records_larger_than_a_block_are_read() {
    let long = "x".repeat(2 * BLOCK + 17);
    let text = format!("a,b\n1,\"{long}\"\n2,y\n");
    let rows = rows(&text);
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[1][1].len(), long.len());
}
