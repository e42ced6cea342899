use super::*;
use crate::soak::record::FaultMark;

#[test]
fn the_picture_has_a_text_and_stays_small() {
    let run = Run { store: "sqlite", nodes: 1, agents: 8, seed: 7 };
    let mut pages = Pages::default();
    for second in 0..4000_u64 {
        pages.latencies.push((second * 1_000_000, 3.0));
        pages.memory.push((second * 1_000_000, 40.0));
    }
    let detail = "node-1 killed & <started>".to_owned();
    pages.faults.push(FaultMark { name: "kill", detail, began: 5_000_000, ended: 6_000_000 });
    let svg = draw(&run, &pages);
    assert!(svg.contains("<desc id=\"desc\">3999 s, nodes: 1, agents: 8, seed: 7, faults: 1."), "{svg}");
    assert!(svg.contains("node-1 killed &amp; &lt;started"), "{svg}");
    assert!(svg.len() < 60_000, "{} bytes", svg.len());
    assert!(draw(&run, &Pages::default()).ends_with("</svg>\n"), "a run without anything");
}
