use super::*;

fn slot_of(issued_at: i64) -> usize {
    slot(&StoredProof { id: [0; 16], issued_at })
}

///
#[test]
fn a_table_is_never_past_while_a_proof_of_it_can_be_shown_or_its_jti_is_remembered() {
    for now in (0..3 * RING * WIDTH).step_by(7 * 1000) {
        for seconds in -960..=390 {
            assert!(!is_past(slot_of(now + seconds * SECOND), now), "{seconds} s at {now}");
        }
    }
}

///
#[test]
fn every_table_is_past_for_a_while_in_each_round_before_it_is_used_again() {
    for bucket in 0..3 * RING {
        let start = bucket * WIDTH;
        let between = (start + WIDTH..start + RING * WIDTH - AHEAD).step_by(1000);
        let past = between.filter(|now| is_past(ring_slot(bucket), *now)).count();
        assert!(past >= 300, "{past} s");
    }
}

#[test]
fn times_before_the_epoch_have_a_place_too() {
    assert_eq!((slot_of(0), slot_of(-1), slot_of(WIDTH * RING), slot_of(i64::MIN) < SLOTS), (0, SLOTS - 1, 0, true));
}
