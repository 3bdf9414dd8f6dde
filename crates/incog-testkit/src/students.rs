//! The paper's university, of any size: student → takes → book.
//!
//! As `gen_students.py` beside the papers' data makes it, with a generator of its own: one obligatory course, two or three
//! technical and two or three nontechnical electives out of 22 courses, popular ones more often; two to four books a course,
//! and every fourth time two of them. About 6 courses a student and 1.25 books a course. GPA, grade and price are sensitive.

use incog_core::hierarchy::{Attribute, ExplicitHierarchy};
use incog_core::relational::{Database, ForeignKey, Relation};
use incog_core::table::{Column, Role, Table};

/// Departments with their courses: obligatory, technical and nontechnical ones.
const COURSES: [(&str, &str, usize); 22] = [
    ("Calculus-II", "Mathematics", 0),
    ("Programming-II", "Computing", 0),
    ("Discrete-Math", "Mathematics", 1),
    ("Linear-Algebra", "Mathematics", 1),
    ("Statistics", "Mathematics", 1),
    ("Databases", "Computing", 1),
    ("Algorithms", "Computing", 1),
    ("Operating-Systems", "Computing", 1),
    ("Mechanics", "Physics", 1),
    ("Electromagnetics", "Physics", 1),
    ("Circuits", "Engineering", 1),
    ("Signals", "Engineering", 1),
    ("World-History", "History", 2),
    ("Ottoman-History", "History", 2),
    ("Philosophy", "Humanities", 2),
    ("Religion", "Humanities", 2),
    ("Literature", "Humanities", 2),
    ("Economics", "Social", 2),
    ("Psychology", "Social", 2),
    ("Sociology", "Social", 2),
    ("Music", "Arts", 2),
    ("Art-History", "Arts", 2),
];

fn area(department: &str) -> &'static str {
    match department {
        "Mathematics" | "Computing" | "Physics" | "Engineering" => "Science",
        _ => "Nonscience",
    }
}

/// How many books the course has.
fn n_books(course: usize) -> usize {
    2 + course * 7 % 3
}

fn book(course: usize, number: usize) -> String {
    format!("{}-Book-{number}", COURSES[course].0)
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    /// `n` different numbers below `of`, small ones more often.
    fn draw(&mut self, n: usize, of: usize, drawn: &mut Vec<usize>) {
        drawn.clear();
        while drawn.len() < n {
            // The smaller of two: the first of 10 comes up 19 times as often as the last.
            let number = self.below(of).min(self.below(of));
            if !drawn.contains(&number) {
                drawn.push(number);
            }
        }
    }
}

/// A university of `n_students` students, the same every time.
pub fn students(n_students: usize) -> Database {
    let mut random = Random(2009);
    let columns = |name: &str, role: Role| Column::new(name, role);
    let (mut sid, mut gpa) = (columns("sid", Role::Other), columns("gpa", Role::Sensitive));
    let (mut scid, mut of_student) = (columns("scid", Role::Other), columns("sid", Role::Other));
    let (mut course, mut grade) =
        (columns("course", Role::QuasiIdentifier), columns("grade", Role::Sensitive));
    let (mut bid, mut of_course) = (columns("bid", Role::Other), columns("scid", Role::Other));
    let (mut title, mut price) = (columns("book", Role::QuasiIdentifier), columns("price", Role::Sensitive));
    let push = |column: &mut Column, cell: &str| column.push(cell).expect("fewer values than codes");
    let (mut n_courses, mut n_titles) = (0, 0);
    let mut drawn = Vec::new();
    for student in 0..n_students {
        let student = format!("S{student}");
        push(&mut sid, &student);
        push(&mut gpa, &format!("{:.1}", 1.0 + random.below(16).max(random.below(31)) as f64 / 10.0));
        for kind in 0..3 {
            let of_kind: Vec<usize> = (0..COURSES.len()).filter(|&at| COURSES[at].2 == kind).collect();
            let n = if kind == 0 { 1 } else { 2 + random.below(2) };
            random.draw(n, of_kind.len(), &mut drawn);
            for at in drawn.clone() {
                let number = of_kind[at];
                n_courses += 1;
                let key = format!("SC{n_courses}");
                push(&mut scid, &key);
                push(&mut of_student, &student);
                push(&mut course, COURSES[number].0);
                push(&mut grade, &(40 + random.below(31) + random.below(31)).to_string());
                let n = if random.below(4) == 0 { 2 } else { 1 };
                random.draw(n, n_books(number), &mut drawn);
                for &at in &drawn {
                    n_titles += 1;
                    push(&mut bid, &format!("B{n_titles}"));
                    push(&mut of_course, &key);
                    push(&mut title, &book(number, at));
                    push(&mut price, &(20 + random.below(80)).to_string());
                }
            }
        }
    }
    let of_courses = (0..COURSES.len()).map(|at| {
        let (course, department, _) = COURSES[at];
        vec![course.to_owned(), department.to_owned(), area(department).to_owned(), "*".to_owned()]
    });
    let of_books = (0..COURSES.len()).flat_map(|at| {
        let (course, department, _) = COURSES[at];
        let above = [course, department, area(department)].map(|label| format!("{label}-Books"));
        (0..n_books(at)).map(move |number| {
            let mut path = vec![book(at, number)];
            path.extend(above.iter().cloned());
            path.push("*".to_owned());
            path
        })
    });
    let relation = |name: &str, parent: Option<&str>, columns: Vec<Column>, paths: Vec<Vec<String>>| {
        let key = columns[0].name().to_owned();
        let table = Table::new(columns).expect("columns of one length");
        let quasi = table.columns().iter().filter(|column| column.role() == Role::QuasiIdentifier);
        let attribute = |column: &Column| {
            let mut hierarchy = ExplicitHierarchy::new(column.name(), "dgh");
            for (line, path) in paths.iter().enumerate() {
                hierarchy.push(line as u64 + 1, path.iter().map(String::as_str)).expect("a tree");
            }
            Attribute::bind(column, hierarchy.finish().expect("a tree"), "dgh").expect("all leaves")
        };
        let foreign_key = |table: &str| ForeignKey {
            column: if table == "student" { "sid" } else { "scid" }.to_owned(),
            table: table.to_owned(),
        };
        Relation {
            name: name.to_owned(),
            attributes: quasi.map(attribute).collect(),
            table,
            key: Some(key),
            foreign_keys: parent.map(foreign_key).into_iter().collect(),
        }
    };
    let relations = vec![
        relation("student", None, vec![sid, gpa], vec![]),
        relation("takes", Some("student"), vec![scid, of_student, course, grade], of_courses.collect()),
        relation("book", Some("takes"), vec![bid, of_course, title, price], of_books.collect()),
    ];
    Database::new(relations, "student").expect("keys that hold together")
}
