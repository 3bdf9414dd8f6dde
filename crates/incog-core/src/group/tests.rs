use super::*;

/// Rows 0..6 in groups 0, 0, 1, 1, 1, 2; person 7 has rows in groups 0 and 1.
fn sample() -> Measures {
    let assignment = [0, 0, 1, 1, 1, 2];
    let persons = [7, 8, 7, 9, 9, 5];
    let illness = [1, 1, 1, 0, 2, 2];
    let pairs = Pairs::new(&illness, &persons);
    let histograms = [(0, illness.as_slice())];
    Measures::of_assignment(vec![2, 3, 1], &assignment, Some(&persons), histograms, [(0, &pairs)])
}

#[test]
fn a_person_counts_once_for_each_value_in_a_group() {
    let sample = sample();
    assert_eq!(sample.group(0).persons_by_value(0).unwrap(), [(1, 2)]);
    assert_eq!(sample.group(1).persons_by_value(0).unwrap(), [(0, 1), (1, 1), (2, 1)]);
    // Person 7 has illness 1 in both groups, person 9 two illnesses in one.
    let merged = sample.merge(vec![5, 1], &[0, 0, 1]);
    assert_eq!(merged.group(0).persons_by_value(0).unwrap(), [(0, 1), (1, 2), (2, 1)]);
    let pairs: Vec<(u32, u32)> = merged.group(0).values_with_persons(0).unwrap().collect();
    assert_eq!(pairs, [(0, 9), (1, 7), (1, 8), (2, 9)]);
    assert!(Measures::of_rows(vec![1]).group(0).persons_by_value(0).is_err());
}

#[test]
fn persons_unite_while_rows_and_histograms_add() {
    let merged = sample().merge(vec![5, 1], &[0, 0, 1]);
    let both = merged.group(0);
    assert_eq!(both.rows(), 5);
    assert_eq!(both.persons(), Some(3), "2 + 2 persons, one of them in both groups");
    assert_eq!(both.histogram(0).unwrap(), [(0, 1), (1, 3), (2, 1)]);
    assert_eq!(merged.group(1).histogram(0).unwrap(), [(2, 1)]);
}

#[test]
fn a_group_is_as_large_as_its_persons_where_they_are_counted() {
    assert_eq!(sample().groups().map(|group| group.size()).collect::<Vec<_>>(), [2, 2, 1]);
    let rows_only = Measures::of_rows(vec![2, 3, 1]);
    assert_eq!(rows_only.group(1).size(), 3);
    assert!(rows_only.group(1).histogram(0).is_err());
}

#[test]
fn a_changing_group_measures_what_its_rows_are_at_every_moment() {
    let demand = Demand { persons: true, histograms: vec![0], ..Demand::default() };
    let facts = |person, illness: &'static [u32]| RowFacts { person: Some(person), sensitive: illness };
    let mut group = ChangingGroup::new(&demand);
    group.push(facts(9, &[1]), 2);
    group.push(facts(7, &[0]), 1);
    let mut others = ChangingGroup::new(&demand);
    others.push(facts(9, &[0]), 1);
    others.settle();
    group.push_all(&others);
    group.settle();
    let seen = |group: &ChangingGroup| {
        let group = group.group();
        (group.rows(), group.persons().unwrap(), group.histogram(0).unwrap().to_vec())
    };
    assert_eq!(seen(&group), (4, 2, vec![(0, 2), (1, 2)]));
    group.remove(facts(7, &[0]));
    assert_eq!(seen(&group), (3, 1, vec![(0, 1), (1, 2)]));
    group.add(facts(8, &[2]));
    assert_eq!(seen(&group), (4, 2, vec![(0, 1), (1, 2), (2, 1)]));
    assert_eq!(
        [group.has_person(Some(8)), group.has_person(Some(7)), group.has_person(None)],
        [true, false, false]
    );
    group.clear();
    group.push(facts(3, &[5]), 1);
    group.settle();
    assert_eq!(seen(&group), (1, 1, vec![(5, 1)]));
}

#[test]
fn a_row_about_nobody_is_a_row_and_neither_a_person_nor_a_value() {
    let persons = [7, NOBODY, NOBODY];
    let illness = [1, NOBODY, NOBODY];
    let pairs = Pairs::new(&[1, 1, 2], &persons);
    let histograms = [(0, illness.as_slice())];
    let measures = Measures::of_assignment(vec![2, 1], &[0, 0, 1], Some(&persons), histograms, [(0, &pairs)]);
    for measures in [measures.clone(), measures.merge(vec![2, 1], &[0, 1])] {
        let seen = |at: usize| {
            let group = measures.group(at);
            let by_value = group.persons_by_value(0).unwrap();
            (group.rows(), group.persons(), group.histogram(0).unwrap().to_vec(), by_value)
        };
        assert_eq!(seen(0), (2, Some(1), vec![(1, 1)], vec![(1, 1)]));
        assert_eq!(seen(1), (1, Some(0), vec![], vec![]));
    }
    let mut group = ChangingGroup::new(&Demand { persons: true, histograms: vec![0], ..Demand::default() });
    let nobody = RowFacts { person: somebody(NOBODY), sensitive: &[NOBODY] };
    group.push(nobody, 2);
    group.settle();
    group.add(nobody);
    group.remove_rows(nobody, 2);
    assert_eq!((group.rows(), group.group().persons()), (1, Some(0)));
    assert!(group.group().histogram(0).unwrap().is_empty());
    assert!(group.gains_nobody(None) && !group.gains_nobody(Some(7)));
    assert!(
        !ChangingGroup::new(&Demand::default()).gains_nobody(None),
        "where rows are counted, each counts"
    );
}

#[test]
fn reordering_moves_every_measure_along() {
    let reordered = sample().reordered(&[2, 0, 1]);
    assert_eq!(reordered.rows(), [1, 2, 3]);
    assert_eq!(reordered.group(2).histogram(0).unwrap(), sample().group(1).histogram(0).unwrap());
    assert_eq!(reordered.group(0).persons(), Some(1));
}
