use super::NodeClock;
use crate::clock::{Clock, ManualClock};
use countersign_protocol::time::UnixMillis;

const START: UnixMillis = UnixMillis(1_800_000_000_000);
const YEAR_MS: i64 = 365 * 86_400_000;

fn clocks() -> (ManualClock, NodeClock) {
    let manual = ManualClock::at(START);
    (manual.clone(), Clock::Manual(manual).into())
}

///
#[test]
fn a_leap_moves_no_time_and_time_goes_on_meanwhile() {
    for leap in [YEAR_MS, 1001, -1001, -YEAR_MS] {
        let (manual, clock) = clocks();
        manual.leap_millis(leap);
        assert_eq!((clock.leap_ms(), clock.now()), (Some(leap), START), "{leap}");
        manual.advance_millis(5000);
        clock.measure();
        assert_eq!((clock.leap_ms(), clock.now()), (Some(leap), START.plus_millis(5000)), "{leap}");
        manual.leap_millis(-leap);
        assert_eq!((clock.leap_ms(), clock.now()), (None, START.plus_millis(5000)), "{leap}");
    }
}

///
#[test]
fn an_accepted_leap_is_the_time() {
    let (manual, clock) = clocks();
    manual.leap_millis(YEAR_MS);
    let _for_good = clock.accept();
    assert_eq!((clock.leap_ms(), clock.now()), (None, START.plus_millis(YEAR_MS)));
}

///
#[test]
fn small_corrections_are_followed_and_those_that_add_up_quickly_are_a_leap() {
    let (manual, clock) = clocks();
    for _ in 0..100 {
        manual.advance_millis(2000);
        manual.leap_millis(150);
        clock.measure();
    }
    assert_eq!((clock.leap_ms(), clock.now()), (None, manual.now()));
    for _ in 0..3 {
        manual.advance_millis(2000);
        manual.leap_millis(900);
        clock.measure();
    }
    assert!(clock.leap_ms().is_some(), "a clock that gains 900 ms every 2 s is not right");
}

///
#[test]
fn a_suspended_machine_has_not_leapt_unless_its_clock_was_set_too() {
    let (manual, clock) = clocks();
    manual.suspend_millis(3_600_000);
    assert_eq!((clock.leap_ms(), clock.now()), (None, manual.now()));
    manual.suspend_millis(3_600_000);
    manual.leap_millis(60_000);
    assert_eq!((clock.leap_ms(), clock.now()), (Some(60_000), START.plus_millis(7_200_000)));
}
