//! Latency and memory over time as a picture, with a mark for every fault; lines differ by their form, not by colour.

use super::{
    faults::seconds,
    record::{Micros, Pages},
    report::{Run, quantile},
};
use std::fmt::Write as _;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 470.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 845.0;
/// Latency above, memory below: top and bottom of each.
const LATENCY: (f64, f64) = (90.0, 250.0);
const MEMORY: (f64, f64) = (324.0, 434.0);
/// Names of faults stand between the two, as long as they do not overlap.
const NAMES: f64 = 294.0;
const NAMED: usize = 80;
/// The most points of a line, for a run of any length.
const POINTS: u64 = 600;

pub(super) fn draw(run: &Run, pages: &Pages) -> String {
    let last = |moments: &mut dyn Iterator<Item = Micros>| moments.max().unwrap_or_default();
    let end = last(&mut pages.memory.iter().map(|(at, _)| *at))
        .max(last(&mut pages.latencies.iter().map(|(at, _)| *at)))
        .max(1_000_000);
    let width = (end / POINTS).max(1_000_000);
    let (p50, p99) = latencies(pages, width);
    let highest = p99.iter().map(|(_, millis)| *millis).fold(10.0, f64::max);
    let most = pages.memory.iter().map(|(_, mib)| *mib).fold(10.0, f64::max) * 1.1;
    let mut svg = head(run, pages, end, highest);
    for fault in &pages.faults {
        let name = if pages.faults.len() <= NAMED { fault.name } else { "" };
        mark(&mut svg, end, (fault.began, fault.ended), name, &fault.detail);
    }
    let in_logs = |points: &[(Micros, f64)]| -> Vec<(f64, f64)> {
        points.iter().map(|(at, millis)| (x(*at, end), y(LATENCY, millis.max(1.0).ln() / highest.ln()))).collect()
    };
    line(&mut svg, &in_logs(&p50), "");
    line(&mut svg, &in_logs(&p99), " stroke-dasharray=\"5 3\"");
    let memory: Vec<(f64, f64)> = pages.memory.iter().map(|(at, mib)| (x(*at, end), y(MEMORY, mib / most))).collect();
    let step = memory.len().div_ceil(usize::try_from(POINTS).unwrap_or(600)).max(1);
    line(&mut svg, &memory.into_iter().step_by(step).collect::<Vec<_>>(), "");
    axis(&mut svg, LATENCY, "1", &format!("{highest:.0}"));
    axis(&mut svg, MEMORY, "0", &format!("{most:.0}"));
    svg.push_str("</svg>\n");
    svg
}

type Points = Vec<(Micros, f64)>;

/// p50 and p99 of each interval with responses.
fn latencies(pages: &Pages, width: Micros) -> (Points, Points) {
    let mut stretches: std::collections::BTreeMap<Micros, Vec<f32>> = std::collections::BTreeMap::new();
    for (at, millis) in &pages.latencies {
        stretches.entry(at / width * width).or_default().push(*millis);
    }
    let quantiles = stretches.into_iter().map(|(at, mut millis)| {
        let (p50, p99) = (quantile(&mut millis, 0.5), quantile(&mut millis, 0.99));
        ((at, f64::from(p50)), (at, f64::from(p99)))
    });
    quantiles.unzip()
}

fn x(at: Micros, end: Micros) -> f64 {
    LEFT + (RIGHT - LEFT) * at as f64 / end as f64
}

fn y((top, bottom): (f64, f64), share: f64) -> f64 {
    bottom - (bottom - top) * share.clamp(0.0, 1.0)
}

fn head(run: &Run, pages: &Pages, end: Micros, highest: f64) -> String {
    let Run { store, nodes, agents, seed } = run;
    let title = format!("Latency and memory during a soak on {store}");
    let about = format!(
        "{} s, nodes: {nodes}, agents: {agents}, seed: {seed}, faults: {}. Above: milliseconds of answered requests, \
         logarithmic, up to {highest:.0}; solid p50, dashed p99. Below: resident memory of the nodes in MiB. \
         Stripes: faults, until every node was ready again.",
        seconds(end) as u64,
        pages.faults.len(),
    );
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-labelledby=\"title desc\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title id=\"title\">{title}</title>\n<desc id=\"desc\">{about}</desc>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"16\" y=\"26\" font-size=\"16\" font-weight=\"bold\">{title}</text>\n\
         <text x=\"16\" y=\"46\">{seconds:.0} s, nodes: {nodes}, agents: {agents}, seed: {seed}</text>\n\
         <text x=\"16\" y=\"72\">Milliseconds of answered requests, logarithmic; solid: p50, dashed: p99</text>\n\
         <text x=\"16\" y=\"314\">Resident memory of the nodes, MiB</text>\n\
         <text x=\"{LEFT}\" y=\"455\">0 s</text>\n\
         <text x=\"{RIGHT}\" y=\"455\" text-anchor=\"end\">{seconds:.0} s</text>\n",
        seconds = seconds(end),
    )
}

fn mark(svg: &mut String, end: Micros, (began, ended): (Micros, Micros), name: &str, detail: &str) {
    let (from, to) = (x(began, end), x(ended, end));
    let (width, detail) = ((to - from).max(1.0), detail.replace('&', "&amp;").replace('<', "&lt;"));
    for (top, bottom) in [LATENCY, MEMORY] {
        let height = bottom - top;
        let _written = writeln!(
            svg,
            "<rect x=\"{from:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{height}\" fill=\"#ddd\">\
             <title>{detail}</title></rect>",
        );
    }
    if !name.is_empty() {
        let x = from + 8.0;
        let _written =
            writeln!(svg, "<text transform=\"translate({x:.1} {NAMES}) rotate(-90)\" font-size=\"9\">{name}</text>");
    }
}

fn line(svg: &mut String, points: &[(f64, f64)], form: &str) {
    let points: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let _written = writeln!(svg, "<polyline points=\"{}\" fill=\"none\" stroke=\"#1c2b3a\"{form}/>", points.join(" "));
}

fn axis(svg: &mut String, (top, bottom): (f64, f64), least: &str, most: &str) {
    let label = LEFT - 6.0;
    let _written = writeln!(
        svg,
        "<path d=\"M{LEFT} {top}V{bottom}H{RIGHT}\" stroke=\"#1c2b3a\" fill=\"none\"/>\n\
         <text x=\"{label}\" y=\"{:.0}\" text-anchor=\"end\">{most}</text>\n\
         <text x=\"{label}\" y=\"{bottom}\" text-anchor=\"end\">{least}</text>",
        top + 10.0,
    );
}

#[cfg(test)]
mod tests;
