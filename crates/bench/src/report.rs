//! The result of a run: medians beside the best, in V.

use crate::{Benchmark, StoreKind, load::Round};
use std::time::Duration;

pub(crate) fn print(what: Benchmark, store: StoreKind, verification: Duration, rounds: &[Round]) {
    let v = verification.as_secs_f64();
    let mut cpu: Vec<f64> = rounds.iter().map(|r| r.server_cpu.as_secs_f64() / r.answered.max(1) as f64 / v).collect();
    let mut rate: Vec<f64> = rounds.iter().map(|r| r.answered as f64 / r.elapsed.as_secs_f64()).collect();
    cpu.sort_by(f64::total_cmp);
    rate.sort_by(f64::total_cmp);
    let (cpu_median, cpu_best) = (median(&cpu), cpu.first().copied().unwrap_or_default());
    println!("{what:?} on {store:?}: {} rounds", rounds.len());
    println!("  V (one ES256 verification)      {:8.1} µs", v * 1e6);
    println!(
        "  requests a second      median   {:8.0}   best {:8.0}",
        median(&rate),
        rate.last().copied().unwrap_or_default()
    );
    println!("  server CPU a request   median   {cpu_median:8.2} V best {cpu_best:8.2} V");
    if what == Benchmark::Register {
        // Operator JWT, delegation token and receipt.
        println!("  of the bound (3 V)     median   {:8.0} % best {:8.0} %", 300.0 / cpu_median, 300.0 / cpu_best);
    }
}

fn median(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}
