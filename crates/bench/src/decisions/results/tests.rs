use super::{MANY, MANY_BESIDE_OTHERS, ONE, Results};
use crate::{
    decisions::deliveries::FanOut,
    gateway::{Figures, Spread},
    peers::{Cycles, PeerFigures},
};

fn load(name: &'static str, rate: f64, cpu: f64) -> Figures {
    let spread = |median| Spread { median, least: median, most: median };
    let mut figures = Figures::of(name, &[]);
    (figures.per_second, figures.cpu_in_v, figures.p50_ms) = (spread(rate), spread(cpu), 2.5);
    figures
}

fn peer(name: &str, alone: f64, together: f64) -> PeerFigures {
    let cycles = |cycles_per_second| Cycles {
        in_flight: 1,
        cycles: 100,
        seconds: 1.0,
        cycles_per_second,
        p50_ms: 1.0,
        p99_ms: 1.0,
    };
    PeerFigures {
        peer: name.into(),
        version: "1.0".into(),
        alone: cycles(alone),
        together: cycles(together),
        durable: String::new(),
        does_not_do: Vec::new(),
    }
}

fn results() -> Results {
    let loads = vec![load(ONE, 400.0, 25.0), load(MANY, 1000.0, 20.0), load(MANY_BESIDE_OTHERS, 950.0, 21.0)];
    let delivery = |subscriptions, delivery_us| FanOut { subscriptions, delivery_us, kib_each: 2.0 };
    let deliveries = vec![delivery(1000, 0.5), delivery(10_000, 0.6)];
    Results { loads, memory: Vec::new(), deliveries, peers: vec![peer("langgraph", 100.0, 80.0)] }
}

fn ratio(results: &Results, name: &str) -> Option<f64> {
    results.ratios().into_iter().find(|(known, _)| *known == name).expect("a ratio of that name").1
}

#[test]
fn a_peer_is_compared_by_the_better_of_its_rates_and_is_null_when_it_took_no_part() {
    let results = results();
    assert_eq!(ratio(&results, "ours_vs_langgraph"), Some(10.0));
    assert_eq!(ratio(&results, "ours_vs_langgraph_one_in_flight"), Some(4.0));
    assert_eq!(ratio(&results, "ours_vs_ctrlrun"), None);
}

#[test]
fn growth_is_compared_with_the_same_load_without_it_and_is_null_when_left_out() {
    let results = results();
    assert_eq!(ratio(&results, "rate_with_10000_subscriptions"), Some(0.95));
    assert_eq!(ratio(&results, "rate_with_100000_pending"), None);
    assert_eq!(ratio(&results, "delivery_to_10000_vs_1000"), Some(1.2));
}

#[test]
fn the_cpu_time_of_a_cycle_and_the_latency_of_one_in_flight_are_among_the_ratios() {
    let results = results();
    assert_eq!(ratio(&results, "cycle_cpu_in_v"), Some(20.0));
    assert_eq!(ratio(&results, "cycle_cpu_in_v_one_in_flight"), Some(25.0));
    assert_eq!(ratio(&results, "p50_ms_one_in_flight"), Some(2.5));
}
