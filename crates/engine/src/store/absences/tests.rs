use super::*;
use crate::store::{AllowancesOpenByDigest, DecisionById, DecisionPendingSame, search::Lookup as _};
use countersign_protocol::hash::Digest;

fn pending(n: u64) -> Search {
    DecisionPendingSame { project: 1, same: Digest::of(&n.to_be_bytes()) }.search()
}

fn mark(search: &Search) -> Mark {
    Mark::of_search(search).unwrap()
}

fn filled(absences: &Absences, rows: &[Search]) {
    let filling = absences.begin(absences.unknown(&pending(0)).unwrap(), rows.len() as i64).unwrap();
    for row in rows {
        let _is_full = filling.filter().add(mark(row));
    }
    filling.finish();
}

#[test]
fn nothing_is_ruled_out_before_all_rows_were_read() {
    let absences = Absences::default();
    assert!(!absences.rules_out(&pending(1)));
    let filling = absences.begin(absences.unknown(&pending(1)).unwrap(), 0).unwrap();
    assert!(!absences.rules_out(&pending(1)));
    drop(filling);
    assert!(!absences.rules_out(&pending(1)), "the reading broke off");
    filled(&absences, &[]);
    assert!(absences.rules_out(&pending(1)));
}

#[test]
fn a_row_that_is_there_is_never_ruled_out() {
    let absences = Absences::default();
    let (read, written): (Vec<_>, Vec<_>) = ((0..500).map(pending).collect(), (500..1000).map(pending).collect());
    filled(&absences, &read);
    written.iter().for_each(|row| absences.add(&[mark(row)]));
    assert!(!read.iter().chain(&written).any(|row| absences.rules_out(row)));
    let others = (1000..2000).filter(|n| absences.rules_out(&pending(*n))).count();
    assert!(others > 990, "only {others} of 1,000 others were ruled out");
}

#[test]
fn a_row_that_is_written_while_the_others_are_read_is_not_ruled_out() {
    let absences = Absences::default();
    let filling = absences.begin(absences.unknown(&pending(0)).unwrap(), 0).unwrap();
    absences.add(&[mark(&pending(7))]);
    filling.finish();
    assert!(!absences.rules_out(&pending(7)) && absences.rules_out(&pending(8)));
}

#[test]
fn what_changed_outside_ends_a_reading_and_everything_known() {
    let absences = Absences::default();
    let filling = absences.begin(absences.unknown(&pending(0)).unwrap(), 0).unwrap();
    absences.clear();
    filling.finish();
    assert!(!absences.rules_out(&pending(1)));
    filled(&absences, &[]);
    absences.clear();
    assert!(!absences.rules_out(&pending(1)));
}

#[test]
fn a_full_filter_is_given_up_and_made_anew() {
    let absences = Absences::default();
    filled(&absences, &[]);
    (0..=LEAST).for_each(|n| absences.add(&[mark(&pending(n))]));
    assert!(!absences.rules_out(&pending(LEAST + 1)));
    assert!(absences.unknown(&pending(0)).is_some());
}

#[test]
fn other_look_ups_are_never_ruled_out() {
    let absences = Absences::default();
    filled(&absences, &[]);
    let by_id = DecisionById { project: 1, id: "dec_1".into() }.search();
    let by_digest = AllowancesOpenByDigest { project: 1, digest: Digest::of(b"") }.search();
    assert!(!absences.rules_out(&by_id) && !absences.rules_out(&by_digest));
    assert!(absences.unknown(&by_id).is_none());
}
