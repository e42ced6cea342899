#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests say what went wrong by failing")]

use super::*;
use proptest::prelude::*;
use serde_json::json;

const CLOSED: UnixMillis = UnixMillis(1_000_000_000);

fn route_probe(probe: serde_json::Value) -> RouteProbe {
    serde_json::from_value(probe).unwrap()
}

fn meaning(probe: &RouteProbe, status: u16, body: &str) -> ProbeMeaning {
    ProbeMeaning::of(probe, Some(&ProbeResponse { status, body: Some(body.into()) }))
}

fn probe(settling_s: i64) -> ExecutionProbe {
    let route = Route { id: "refunds".into(), ..Route::default() };
    let said = RouteProbe { settling_seconds: Some(settling_s), ..RouteProbe::default() };
    ExecutionProbe::new(&route, &said, &Upstream::default(), String::new())
}

/// R-6
#[test]
fn an_answer_means_something_only_by_its_status_and_the_member_that_is_named() {
    use ProbeMeaning::{Done, NotDone, Unclear};
    let by_status = route_probe(json!({
        "path": "/x", "done": { "statuses": [200] }, "not_done": { "statuses": [404] }, "settling_seconds": 1,
    }));
    let items = |items: &str| json!({ "statuses": [200], "member": "/data/items", "items": items });
    let by_items = route_probe(json!({
        "path": "/x", "done": items("some"), "not_done": items("none"), "settling_seconds": 1,
    }));
    let state = |state: &str| json!({ "statuses": [200], "member": "/a~1b/0", "equals": state });
    let by_value = route_probe(json!({
        "path": "/x", "done": state("7"), "not_done": state("true"), "settling_seconds": 1,
    }));
    let there = route_probe(json!({ "path": "/x", "done": { "statuses": [200], "member": "/id" } }));
    for (probe, status, body, means) in [
        (&by_status, 200, "no JSON at all", Done),
        (&by_status, 404, "", NotDone),
        (&by_status, 500, "", Unclear),
        (&by_status, 302, "", Unclear),
        (&by_items, 200, r#"{"data":{"items":[{}]}}"#, Done),
        (&by_items, 200, r#"{"data":{"items":[]}}"#, NotDone),
        (&by_items, 404, r#"{"data":{"items":[]}}"#, Unclear),
        (&by_items, 200, r#"{"data":{"items":null}}"#, Unclear),
        (&by_items, 200, r#"{"data":{}}"#, Unclear),
        (&by_items, 200, r#"{"data":{"items":[],"items":[1]}}"#, Unclear),
        (&by_items, 200, r#"{"data":{"items":["#, Unclear),
        (&by_value, 200, r#"{"a/b":["7"]}"#, Done),
        (&by_value, 200, r#"{"a/b":[7]}"#, Done),
        (&by_value, 200, r#"{"a/b":[7.0]}"#, Unclear),
        (&by_value, 200, r#"{"a/b":[true]}"#, NotDone),
        (&there, 200, r#"{"id":null}"#, Unclear),
        (&there, 200, r#"{"id":0}"#, Done),
        (&there, 404, "", Unclear),
    ] {
        assert_eq!(meaning(probe, status, body), means, "{status} {body}");
    }
    assert_eq!(ProbeMeaning::of(&by_status, None), Unclear);
    let cut = ProbeResponse { status: 200, body: None };
    assert_eq!(ProbeMeaning::of(&by_items, Some(&cut)), Unclear);
    let both = route_probe(json!({ "path": "/x", "done": { "statuses": [200] }, "not_done": { "statuses": [200] } }));
    assert_eq!(meaning(&both, 200, ""), Unclear);
}

/// R-6
#[test]
fn without_an_answer_the_upstream_is_probed_at_growing_intervals_until_the_time_shown_to_people() {
    let mut asking = probe(30).begin(CLOSED, CLOSED);
    let told = asking.probed_until().unwrap();
    let mut moments = Vec::new();
    let mut now = CLOSED;
    while let Some(tried) = asking.begin_try(asking.progress.as_ref().unwrap(), now) {
        moments.push(now.millis_since(CLOSED) / 1000);
        let Judgement::AsksAgain(progress) = tried.conclude(ProbeMeaning::Unclear, now, now) else { break };
        now = progress.due;
        asking = tried.with(progress);
        assert_eq!(asking.probed_until(), Some(told));
    }
    assert_eq!(moments, [0, 2, 6, 14, 30, 32, 36, 44, 60, 92, 156, 284]);
    assert_eq!(told, CLOSED.plus_secs(284));
}

fn any_meaning() -> impl Strategy<Value = ProbeMeaning> {
    use ProbeMeaning::{Done, NotDone, Unclear};
    prop_oneof![1 => Just(Done), 6 => Just(NotDone), 4 => Just(Unclear)]
}

proptest! {
    /// R-6: done counts at once; not done only after the settling time and twice in a row. The number of tries is bounded,
    /// however late and slow they are.
    #[test]
    fn a_probed_outcome_rests_on_admissible_answers_only(
        settling_s in 0i64..200,
        closed_later_s in 0i64..100,
        tries in prop::collection::vec((0i64..90_000, 0i64..30_000, any_meaning()), 64),
    ) {
        let closed = CLOSED.plus_secs(closed_later_s);
        let settled_at = closed.plus_secs(settling_s);
        let mut asking = probe(settling_s).begin(closed, CLOSED);
        let mut last_two = [None; 2];
        let mut ended = false;
        for (late_ms, took_ms, meaning) in tries {
            let begun = asking.progress.as_ref().unwrap().due.plus_millis(late_ms);
            let Some(tried) = asking.begin_try(asking.progress.as_ref().unwrap(), begun) else {
                ended = true;
                break;
            };
            prop_assert!(tried.progress.as_ref().unwrap().due > begun);
            last_two = [last_two[1], Some((begun, meaning))];
            let believed = |(begun, meaning): (UnixMillis, ProbeMeaning)| {
                meaning == ProbeMeaning::NotDone && begun >= settled_at
            };
            let twice = last_two.iter().all(|one| one.is_some_and(believed));
            match tried.conclude(meaning, begun, begun.plus_millis(took_ms)) {
                Judgement::Done => {
                    prop_assert_eq!(meaning, ProbeMeaning::Done);
                    ended = true;
                }
                Judgement::NotDone => {
                    prop_assert!(twice);
                    ended = true;
                }
                Judgement::GivesUp => {
                    prop_assert!(meaning != ProbeMeaning::Done && !twice);
                    ended = true;
                }
                Judgement::AsksAgain(progress) => {
                    prop_assert!(meaning != ProbeMeaning::Done && !twice);
                    prop_assert!(progress.due >= begun.plus_millis(took_ms));
                    asking = tried.with(progress);
                }
            }
            if ended {
                break;
            }
        }
        prop_assert!(ended);
    }
}
