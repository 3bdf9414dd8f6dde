//! Jobs with more generalizations than can be listed: there is a release, and it says how good it is.

mod folder;

use folder::Folder;

const N_COLUMNS: usize = 20;

/// Twenty columns of three letters, each of which may be cut off: 4^20 generalizations.
fn folder(search: &str) -> Folder {
    let folder = Folder::empty();
    let names: Vec<String> = (0..N_COLUMNS).map(|at| format!("c{at}")).collect();
    let mut data = names.join(",") + "\n";
    let mut seed = 5_u64;
    let mut draw = |n: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % n
    };
    for _ in 0..400 {
        let kind = draw(6);
        let mut cell = || -> String {
            let mut letter = || char::from(b'a' + if draw(4) > 0 { kind / 2 } else { draw(3) } as u8);
            [letter(), letter(), letter()].iter().collect()
        };
        let cells: Vec<String> = (0..N_COLUMNS).map(|_| cell()).collect();
        data += &(cells.join(",") + "\n");
    }
    folder.write("data.csv", data);
    let mut job = format!(
        "[input]\npath = \"data.csv\"\n[output]\npath = \"release.csv\"\n[policy]\nk = 3\nsuppression = \"10%\"\n\
         [search]\n{search}\n"
    );
    for name in &names {
        job +=
            &format!("[columns.{name}]\nrole = \"quasi-identifier\"\nhierarchy = {{ mask = \"right\" }}\n");
    }
    folder.write("incog.toml", job);
    folder
}

#[test]
fn a_trillion_generalizations_have_a_release_that_says_how_good_it_is() {
    let folder = folder("max_steps = 200");
    let said = folder.done(&["anonymize", "incog.toml"]);
    let text = said.text();
    assert!(
        text.contains("% from optimal: no full-domain release that satisfies the policy has a loss"),
        "{text}"
    );
    assert!(text.contains(" of 1.1e12 nodes judged)"), "{text}");
    let names: Vec<String> = (0..N_COLUMNS).map(|at| format!("c{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert!(folder.smallest_group("release.csv", &names) >= 3);
    let checked = folder.done(&["verify", "release.csv", "--job", "incog.toml"]);
    assert!(!checked.stdout.contains("FAIL"), "{checked:?}");
    let record = ["--record", "release.csv.incog.json", "--key", "incog.key"];
    let checked = folder.done(&[&["verify", "release.csv", "--job", "incog.toml"][..], &record].concat());
    assert!(!checked.stdout.contains("FAIL"), "{checked:?}");
    let compared = folder.done(&["compare", "incog.toml", "--models", "full-domain"]);
    assert!(compared.stdout.contains("  within "), "{compared:?}");
}

#[test]
fn what_needs_every_node_is_refused_with_a_way_out() {
    let folder = folder("metric = \"discernibility\"");
    for command in ["search", "anonymize"] {
        folder.refused(&[command, "incog.toml"], &["the lattice has more than", "incog anonymize"]);
    }
    folder.replace("incog.toml", "metric = \"discernibility\"", "max_steps = 5");
    folder.refused(&["search", "incog.toml"], &["`max_steps` has no effect here"]);
}
