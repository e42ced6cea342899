use super::Rounds;
use std::time::Duration;

#[test]
fn there_are_three_rounds_at_least_and_they_fill_the_given_seconds() {
    for seconds in [1, 2, 3, 10] {
        let Rounds { count, length } = Rounds::within(seconds);
        let missing = Duration::from_secs(seconds.into()).abs_diff(length * count);
        assert!(count >= 3 && missing < Duration::from_micros(1), "{count} rounds of {length:?} in {seconds} s");
    }
}

#[test]
fn rounds_are_a_second_long_where_there_is_time_for_three() {
    assert_eq!(Rounds::within(5), Rounds { count: 5, length: Duration::from_secs(1) });
}
