use super::*;

fn at(millis: i64) -> UnixMillis {
    UnixMillis(1_750_000_000_000 + millis)
}

#[test]
fn a_source_over_its_minutes_limit_gets_retry_after() {
    let budget = Budget::per_minute(30);
    for _ in 0..30 {
        assert_eq!(budget.charge("192.0.2.1", at(0)), Ok(()));
    }
    assert_eq!(budget.charge("192.0.2.1", at(0)), Err(OperatorUnavailable::TooMany { retry_after: 2 }));
    assert_eq!(budget.charge("192.0.2.1", at(1_999)), Err(OperatorUnavailable::TooMany { retry_after: 1 }));
    assert_eq!(budget.charge("192.0.2.1", at(2_000)), Ok(()));
    assert!(budget.charge("192.0.2.1", at(2_000)).is_err());
}

#[test]
fn one_source_spends_nothing_of_anothers() {
    let budget = Budget::per_minute(1);
    assert_eq!(budget.charge("192.0.2.1", at(0)), Ok(()));
    assert!(budget.charge("192.0.2.1", at(0)).is_err());
    assert_eq!(budget.charge("192.0.2.2", at(0)), Ok(()));
}

#[test]
fn rest_is_never_saved_up_beyond_a_minute() {
    let budget = Budget::per_minute(2);
    assert_eq!(budget.charge("192.0.2.1", at(0)), Ok(()));
    let later = at(3_600_000);
    let passed = (0..10).filter(|_| budget.charge("192.0.2.1", later).is_ok()).count();
    assert_eq!(passed, 2);
}
