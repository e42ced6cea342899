use super::{Figures, Spread, quantile};
use crate::gateway::round::RoundResult;
use std::time::Duration;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn no_turns_are_zeroes_and_not_a_panic() {
    let nothing = Figures::of("nobody", &[]);
    assert_eq!((nothing.turns, nothing.per_second, nothing.p999_ms), (0, Spread::default(), 0.0));
}

#[test]
fn a_quantile_is_the_least_that_so_many_do_not_exceed() {
    let all: Vec<Duration> = (1..=1000).map(ms).collect();
    assert_eq!((quantile(&all, 500), quantile(&all, 990), quantile(&all, 999)), (ms(500), ms(990), ms(999)));
    assert_eq!((quantile(&[ms(7)], 500), quantile(&[ms(7)], 999)), (ms(7), ms(7)));
}

#[test]
fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
    let spread = Spread::of(vec![4.0, 1.0, 2.0, 8.0]);
    assert_eq!(spread, Spread { median: 3.0, least: 1.0, most: 8.0 });
    assert_eq!(Spread::of(vec![3.0, 1.0, 2.0]).median, 2.0);
}

#[test]
fn each_turn_is_compared_with_the_unit_of_its_own_moment() {
    let turn = |cpu, unit| RoundResult {
        answered: 10,
        latencies: vec![ms(1); 10],
        elapsed: ms(1000),
        cpu: ms(cpu),
        unit: ms(unit),
        ..RoundResult::default()
    };
    // In the second turn everything took twice as long.
    let figures = Figures::of("one", &[turn(20, 1), turn(40, 2)]);
    assert_eq!(figures.cpu_in_v, Spread { median: 2.0, least: 2.0, most: 2.0 });
    assert_eq!((figures.per_second.median, figures.answered), (10.0, 20));
}
