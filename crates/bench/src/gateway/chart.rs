//! The figures as a picture: a bar for each contender, with all of its content in words as well.

use super::{
    figures::Figures,
    report::{GatewayReport, does_not},
};
use std::fmt::Write as _;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 130.0;
const BARS: f64 = 420.0;
const ROW: f64 = 46.0;
const TOP: f64 = 70.0;

/// CPU time of a call in V, of the first block. One colour: no meaning depends on colour.
pub(super) fn draw(report: &GatewayReport) -> String {
    let contenders = report.blocks.first().map(|block| block.contenders.as_slice()).unwrap_or_default();
    let longest = contenders.iter().map(|figures| figures.cpu_in_v.median).fold(1.0, f64::max);
    let height = TOP + ROW * (contenders.len() as f64 + 1.0) + 24.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" \
         aria-labelledby=\"title desc\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title id=\"title\">CPU time of one call at a gateway</title>\n\
         <desc id=\"desc\">{}</desc>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"16\" y=\"28\" font-size=\"17\" font-weight=\"bold\">CPU time of one call at a gateway</text>\n\
         <text x=\"16\" y=\"50\">in V, the CPU time of one ES256 verification; shorter is better</text>\n",
        escaped(&described(contenders)),
    );
    // A line at one verification, behind all bars.
    let (x, end) = (LEFT + BARS / longest, height - 20.0);
    let _written =
        writeln!(svg, "<path d=\"M{x:.1} {TOP}V{end:.1}\" stroke=\"#bbb\" stroke-dasharray=\"3 3\" fill=\"none\"/>");
    bar(&mut svg, 0, longest, "verification", 1.0, "1 V, the unit", "");
    for (n, figures) in contenders.iter().enumerate() {
        let label = label(figures);
        bar(&mut svg, n + 1, longest, figures.name, figures.cpu_in_v.median, &label, does_not(figures.name));
    }
    svg.push_str("</svg>\n");
    svg
}

fn bar(svg: &mut String, n: usize, longest: f64, name: &str, value: f64, label: &str, note: &str) {
    let (y, length) = (TOP + ROW * n as f64, BARS * value / longest);
    let (name, label, note) = (escaped(name), escaped(label), escaped(note));
    let (middle, below, after) = (y + 17.0, y + 38.0, LEFT + length + 8.0);
    let _written = writeln!(
        svg,
        "<text x=\"{}\" y=\"{middle:.1}\" text-anchor=\"end\">{name}</text>\n\
         <rect x=\"{LEFT}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"24\" fill=\"#5b7a99\" stroke=\"#1c2b3a\"/>\n\
         <text x=\"{after:.1}\" y=\"{middle:.1}\">{label}</text>\n\
         <text x=\"{LEFT}\" y=\"{below:.1}\" font-size=\"11\" fill=\"#333\">{note}</text>",
        LEFT - 10.0,
    );
}

fn label(figures: &Figures) -> String {
    let Figures { cpu_in_v, per_second, p99_ms, .. } = figures;
    format!("{:.2} V, {:.0} calls/s, p99 {p99_ms:.1} ms", cpu_in_v.median, per_second.median)
}

/// For readers without the picture.
fn described(contenders: &[Figures]) -> String {
    let each: Vec<String> = contenders.iter().map(|figures| format!("{}: {}", figures.name, label(figures))).collect();
    each.join("; ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests;
