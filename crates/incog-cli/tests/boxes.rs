//! `ordered-set` and `mondrian` by the command: how columns are ordered, what is released, and what is refused.

mod folder;

use folder::Folder;

const ANONYMIZE: [&str; 2] = ["anonymize", "incog.toml"];

/// A job that searches like this, with age as numbers, sex in an order, and zip as numbers unless it keeps its hierarchy.
fn folder(search: &str, zip: &str) -> Folder {
    let folder = Folder::new();
    let job = [
        ("[columns.age]", format!("[search]\n{search}\n[columns.age]\norder = {AGE}")),
        ("[columns.sex]", "[columns.sex]\norder = [\"f\", \"m\"]".to_owned()),
        ("[columns.zip]", format!("[columns.zip]\n{zip}")),
    ];
    job.iter().for_each(|(from, to)| folder.replace("incog.toml", from, to));
    folder
}

const AGE: &str = "{ of = \"numbers\", step = 5, bounds = [18, 68] }";
const NUMBERS: &str = "order = \"numbers\"";

/// All ways to make boxes; the last ones with a hierarchy beside the orders.
const WAYS: [(&str, &str); 7] = [
    ("algorithm = \"ordered-set\"", NUMBERS),
    ("algorithm = \"ordered-set\"\nmax_steps = 1\ntime_limit = \"1 min\"", NUMBERS),
    ("algorithm = \"mondrian\"", NUMBERS),
    ("algorithm = \"mondrian\"\nmondrian_cuts = \"relaxed\"", NUMBERS),
    ("algorithm = \"mondrian\"\nmondrian_choice = \"best\"\nmondrian_sides = \"tight\"", NUMBERS),
    ("algorithm = \"mondrian\"", ""),
    (
        "algorithm = \"mondrian\"\nmondrian_cuts = \"relaxed\"\nmondrian_choice = \"best\"\nmetric = \"discernibility\"",
        "",
    ),
];

/// Does an interval, or a single number, contain the age?
fn contains(label: &str, age: u32) -> bool {
    match label.strip_prefix('[').and_then(|label| label.strip_suffix(')')) {
        None => label == "*" || label.parse() == Ok(age),
        Some(ends) => {
            let (start, end) = ends.split_once(", ").unwrap();
            (start.parse::<u32>().unwrap()..end.parse().unwrap()).contains(&age)
        }
    }
}

#[test]
fn boxes_are_released_verified_and_recorded() {
    for (search, zip) in WAYS {
        let folder = folder(search, zip);
        let said = folder.done(&ANONYMIZE);
        said.has_no_cell();
        assert!(
            said.text()
                .contains("pass  every interval of an ordered column has its ends on the step or the bounds"),
            "{said:?}"
        );
        let is_optimal = search == WAYS[0].0;
        assert_eq!(
            said.text().contains("\noptimal: no ordered-set release"),
            is_optimal,
            "{search}: {said:?}"
        );
        assert_eq!(said.text().contains("\nheuristic: "), !is_optimal, "{search}: {said:?}");
        assert!(folder.smallest_group("release.csv", &["age", "sex", "zip"]) >= 5, "{search}");
        // In the order of the input, each label is around its value, and no end is one of the data.
        let rows = folder.counted_rows("release.csv");
        for label in rows.keys().map(|row| &row[0]) {
            assert!((20..50).any(|age| contains(label, age)), "{search}: {label}");
            let ends: Vec<&str> = label.trim_matches(['[', ')']).split(", ").collect();
            let is_round =
                |end: &&str| *end == "*" || *end == "18" || *end == "68" || end.ends_with(['0', '5']);
            assert!(ends.iter().all(is_round), "{search}: {label}");
        }
        let record = folder.json("release.csv.incog.json");
        let age = &record["local"]["columns"]["age"];
        assert!(age["intervals"].as_u64().unwrap() >= 1, "{record}");
        assert_eq!(record["local"]["columns"]["zip"]["intervals"].is_null(), zip.is_empty(), "{record}");
        for arguments in [
            &["--job", "incog.toml"][..],
            &["--record", "release.csv.incog.json"],
            &["--job", "incog.toml", "--record", "release.csv.incog.json", "--key", "incog.key"],
        ] {
            let said = folder.done(&[&["verify", "release.csv"], arguments].concat());
            assert!(!said.text().contains("FAIL"), "{search}: {said:?}");
        }
    }
}

#[test]
fn a_release_that_was_changed_is_refused() {
    for (search, zip) in WAYS {
        let folder = folder(search, zip);
        folder.done(&ANONYMIZE);
        let text = folder.read("release.csv");
        // Another grid, another end, a value that is outside.
        let first = text.lines().nth(1).unwrap().to_owned();
        let label = first.split(",f,").next().unwrap().split(",m,").next().unwrap().to_owned();
        for other in
            ["\"[19, 68)\"", "\"[18, 66)\"", "67", "\"[18, 120)\"", "\"[68, 18)\"", "\"[18, 68\"", "x"]
        {
            // All rows of the label change, so that groups stay as large as they are.
            let changed: Vec<String> = text
                .lines()
                .map(|line| match line.strip_prefix(&label) {
                    Some(rest) => format!("{other}{rest}"),
                    None => line.to_owned(),
                })
                .collect();
            folder.write("release.csv", changed.join("\n") + "\n");
            let said = folder.run(&["verify", "release.csv", "--job", "incog.toml"]);
            assert_eq!(said.code, Some(1), "{search}: {label} as {other}: {said:?}");
            said.has_no_cell();
        }
    }
}

#[test]
fn intervals_of_a_hierarchy_are_an_order_too() {
    let folder = Folder::new();
    folder.replace(
        "incog.toml",
        "{ file = \"hierarchies/age.csv\" }",
        "{ intervals = [2, 10], bounds = [18, 68] }",
    );
    folder.replace("incog.toml", "[columns.age]", "[search]\nalgorithm = \"mondrian\"\n[columns.age]");
    folder.replace("incog.toml", "[columns.sex]", "[columns.sex]\nhierarchy = { suppress = true }");
    let said = folder.done(&ANONYMIZE);
    assert!(said.text().contains("age: in intervals 100.0 %"), "{said:?}");
    // Only the wider ones may be chosen: then they are the grid.
    folder.replace("incog.toml", "intervals = [2, 10]", "levels = [2, 3], intervals = [2, 10]");
    folder.done(&ANONYMIZE);
    for row in folder.counted_rows("release.csv").keys() {
        let ends: Vec<&str> = row[0].trim_matches(['[', ')']).split(", ").collect();
        assert!(ends.iter().all(|end| ["18", "68", "*"].contains(end) || end.ends_with('0')), "{row:?}");
    }
    // With pools there is no order, and the hierarchy is used.
    folder.replace("incog.toml", "bounds = [18, 68]", "top = 40");
    let said = folder.done(&ANONYMIZE);
    assert!(said.text().contains("age: intervals of 10, 40 and more pooled 100.0 %"), "{said:?}");
}

#[test]
fn a_hierarchys_lines_are_an_order_too() {
    let folder = folder(WAYS[2].0, "order = \"hierarchy\"");
    let said = folder.done(&ANONYMIZE);
    assert!(said.text().contains("zip: "), "{said:?}");
    let lines: Vec<String> = folder
        .read("hierarchies/zip.csv")
        .lines()
        .map(|line| line.split([';', ',']).next().unwrap().to_owned())
        .collect();
    for row in folder.counted_rows("release.csv").keys() {
        let (first, last) = row[2].split_once("..").unwrap_or((&row[2], &row[2]));
        let [first, last] = [first, last].map(|value| lines.iter().position(|line| line == value).unwrap());
        assert!(first <= last, "{row:?}");
    }
    folder.replace("incog.toml", "{ file = \"hierarchies/zip.csv\" }", "{ mask = \"right\" }");
    folder.refused(&ANONYMIZE, &["column `zip`: the order of its hierarchy takes one from a file or a tree"]);
}

#[test]
fn persons_are_counted_in_boxes_too() {
    for (search, zip) in WAYS {
        let folder = folder(search, zip);
        // Everybody has two rows.
        let data = folder.read("data.csv");
        let (header, rows) = data.split_once('\n').unwrap();
        folder.write("data.csv", format!("{header}\n{rows}{rows}"));
        folder.replace("incog.toml", "suppression = \"5%\"", "unit = \"name\"\nsuppression = \"5%\"");
        let said = folder.done(&ANONYMIZE);
        assert!(said.text().contains("pass  every group has at least 5 persons (name)"), "{said:?}");
        // Relaxed cuts may put the two rows of a person into different boxes.
        let rows = if search.contains("relaxed") { 5 } else { 10 };
        assert!(folder.smallest_group("release.csv", &["age", "sex", "zip"]) >= rows, "{search}");
        let said = folder.done(&["verify", "release.csv", "--job", "incog.toml"]);
        assert!(said.text().contains("pass  every group has at least 5 persons (name)"), "{said:?}");
    }
}

#[test]
fn sensitive_values_are_seen_to_in_boxes_too() {
    for (search, zip) in WAYS {
        let folder = folder(search, zip);
        for require in ["alpha-k:sensitive=ill,alpha=0.6", "distinct-l:sensitive=ill,l=3"] {
            folder.done(&[&ANONYMIZE[..], &["--require", require]].concat());
            let flag = if require.contains("alpha") { ["--alpha", "0.6"] } else { ["--distinct-l", "3"] };
            let verify = ["verify", "release.csv", "--qi", "age,sex,zip", "-k", "5", "--sensitive", "ill"];
            let said = folder.done(&[&verify[..], &flag].concat());
            assert!(!said.text().contains("FAIL"), "{search}: {said:?}");
        }
    }
}

#[test]
fn flags_do_for_a_job() {
    let folder = Folder::new();
    let flags =
        [&["anonymize", "data.csv", "-o", "release.csv", "--algorithm", "mondrian"], &folder::FLAGS[..]];
    let ordered = [
        "--ordered",
        "age=numbers",
        "--ordered",
        "sex=[\"f\", \"m\"]",
        "--ordered",
        "zip={ of = \"numbers\" }",
    ];
    let said = folder.done(&[flags.concat().as_slice(), &ordered].concat());
    assert!(said.text().contains("sex: "), "{said:?}");
    for (wrong, part) in [
        ("age", "--ordered is not NAME=RULE"),
        ("ill=numbers", "--ordered names `ill`, which is no quasi-identifier"),
        ("age=number", "`order` is none of numbers, dates, hierarchy; did you mean `numbers`?"),
        ("age={ step = 5 }", "`order.of` is missing"),
        ("age=[1, 2]", "`order` is a whole number, not text"),
    ] {
        folder.refused(&[flags.concat().as_slice(), &["--ordered", wrong]].concat(), &[part]);
    }
}

/// Numbers by intervals, and beside them a column by its hierarchy or one that has neither: one search, one release.
#[test]
fn ordered_set_takes_columns_without_an_order() {
    for (zip, order) in [(NUMBERS, ""), ("", "order = [\"f\", \"m\"]"), ("", "")] {
        let folder = folder(WAYS[0].0, zip);
        folder.replace("incog.toml", "order = [\"f\", \"m\"]", order);
        let said = folder.done(&ANONYMIZE);
        assert!(said.text().contains("in each column two labels are equal or disjoint"), "{said:?}");
        folder.done(&["verify", "release.csv", "--record", "release.csv.incog.json"]);
        folder.done(&["verify", "release.csv", "--job", "incog.toml"]);
    }
}

#[test]
fn what_cannot_be_ordered_or_cut_is_refused_with_what_would_work() {
    let refused = |search: &str, zip: &str, replace: [&str; 2], parts: &[&str]| {
        let folder = folder(search, zip);
        folder.replace("incog.toml", replace[0], replace[1]);
        folder.refused(&ANONYMIZE, parts);
    };
    let (ordered_set, mondrian) = (WAYS[0].0, WAYS[2].0);
    // Text in no order.
    let sex = ["order = [\"f\", \"m\"]", "order = \"numbers\""];
    refused(mondrian, NUMBERS, sex, &["column `sex` has no order", "full-subtree"]);
    // Neither order nor hierarchy.
    let none = ["order = [\"f\", \"m\"]", ""];
    refused(
        mondrian,
        NUMBERS,
        none,
        &["`sex` has neither an order nor a hierarchy", "cell-suppression need neither"],
    );
    // Orders that are none.
    let age = |order: &'static str| [AGE, order];
    refused(mondrian, NUMBERS, age("\"dates\""), &["line", "not dates like 2003-04-17"]);
    refused(mondrian, NUMBERS, age("[]"), &["the order lists no categories"]);
    refused(mondrian, NUMBERS, age("[\"20\", \"21\"]"), &["are not in the order of its categories"]);
    refused(mondrian, NUMBERS, age("{ of = \"numbers\", step = 0 }"), &["`step` is not a number above 0"]);
    refused(
        mondrian,
        NUMBERS,
        age("{ of = \"numbers\", bounds = [30, 20] }"),
        &["the lower bound is not below"],
    );
    refused(mondrian, NUMBERS, age("{ of = \"numbers\", bounds = [30, 40] }"), &["values are not numbers"]);
    refused(mondrian, NUMBERS, age("{ of = \"dates\", step = 0.5 }"), &["not a whole number of days"]);
    refused(mondrian, NUMBERS, age("\"number\""), &["did you mean `numbers`?"]);
    let role = ["[columns.ill]", "[columns.ill]\norder = \"numbers\""];
    refused(mondrian, NUMBERS, role, &["column `ill` has an order and is no quasi-identifier"]);
    // Limits of nothing, and settings of others.
    let setting = |setting: &str| format!("{ordered_set}\n{setting}");
    let same = ["k = 5", "k = 5"];
    refused(&setting("max_steps = 0"), NUMBERS, same, &["`max_steps` is not at least 1", "mondrian"]);
    refused(&setting("time_limit = \"0 s\""), NUMBERS, same, &["`time_limit` is not a time above 0"]);
    refused(&setting("time_limit = \"soon\""), NUMBERS, same, &["`time_limit` is not a time above 0"]);
    refused(
        &setting("mondrian_cuts = \"relaxed\""),
        NUMBERS,
        same,
        &["`mondrian_cuts` is for cuts of boxes"],
    );
    refused(
        "algorithm = \"mondrian\"\nmax_steps = 5",
        NUMBERS,
        same,
        &["`max_steps` is for searches that can be cut short"],
    );
    let closeness =
        "[[policy.require]]\nmodel = \"alpha-k\"\nsensitive = \"ill\"\nalpha = 0.1\n[columns.name]";
    refused(mondrian, NUMBERS, ["[columns.name]", closeness], &["alpha"]);
}

#[test]
fn models_by_hierarchies_say_that_they_need_one() {
    let folder = Folder::new();
    let flags = [
        "anonymize",
        "data.csv",
        "-o",
        "release.csv",
        "--qi",
        "age,sex,zip",
        "--rest",
        "identifier",
        "-k",
        "5",
    ];
    for model in
        ["full-subtree", "unrestricted", "full-subgraph", "unrestricted-multi", "cell-generalization"]
    {
        folder.refused(
            &[&flags[..], &["--algorithm", model]].concat(),
            &["no quasi-identifier has a hierarchy", "attribute-suppression and cell-suppression need none"],
        );
    }
    for model in ["attribute-suppression", "cell-suppression"] {
        folder.done(&[&flags[..], &["--algorithm", model, "--suppression", "10%"]].concat());
    }
}

#[test]
fn boxes_are_compared_with_the_other_models() {
    let folder = folder("mondrian_choice = \"best\"\nseed = 3\nmax_steps = 50", NUMBERS);
    let said = folder.done(&["compare", "incog.toml", "--format", "json"]);
    said.has_no_cell();
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    let model = |name: &str| {
        let models = json["models"].as_array().unwrap();
        models.iter().find(|model| model["model"] == name).unwrap_or_else(|| panic!("{name} is not there"))
    };
    for name in ["ordered-set", "mondrian", "mondrian-relaxed", "full-domain", "cell-generalization"] {
        assert!(model(name)["loss"].is_f64(), "{}", model(name));
    }
    let size = |name: &str| model(name)["average_group_size"].as_f64().unwrap();
    assert!(size("mondrian-relaxed") <= size("mondrian"), "{json}");
    // What the job does not say is derived, and what one model cannot take is no reason to leave out the others.
    folder.replace("incog.toml", "order = [\"f\", \"m\"]\n", "");
    let said = folder.done(&["compare", "incog.toml", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    for model in json["models"].as_array().unwrap() {
        assert!(model["loss"].is_f64(), "{model}");
    }
}
