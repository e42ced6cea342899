use super::{draw, escaped};
use crate::gateway::report::tests::report;

#[test]
fn the_chart_has_a_text_for_every_bar() {
    let svg = draw(&report());
    let desc = svg.split("<desc").nth(1).and_then(|rest| rest.split("</desc>").next()).unwrap();
    for contender in &report().blocks[0].contenders {
        assert!(desc.contains(contender.name), "{desc}");
        assert!(svg.contains(&format!("text-anchor=\"end\">{}</text>", contender.name)), "{svg}");
    }
    assert!(svg.contains("2.00 V, 8000 calls/s, p99 10.0 ms"), "{svg}");
    assert_eq!(svg.matches("<rect").count(), svg.matches("/>\n").count() - 1, "bars, the ground and one line");
}

#[test]
fn a_bar_is_as_long_as_its_share_of_the_longest() {
    let svg = draw(&report());
    assert!(svg.contains("width=\"420.0\""), "the longest fills the room");
    assert!(svg.contains("width=\"28.0\""), "one verification is a fifteenth of it");
}

#[test]
fn nothing_in_a_name_becomes_markup() {
    assert_eq!(escaped("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
}
