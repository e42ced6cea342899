use super::*;
use crate::soak::record::SoakReply;
use serde_json::json;

fn attempt(told: ReportedResult, invoked: Micros, returned: Micros) -> Attempt {
    let (operation, marker, decision) = (SoakOperation::Held, "h1".to_owned(), Some("dec_1".to_owned()));
    Attempt { operation, marker, decision, invoked, returned, told, answer: String::new() }
}

/// An approval at 1 to 2, attempts after it, effects, and an execution at the end.
fn judged(attempts: &[Attempt], effects: &[Micros], execution: &str) -> Findings {
    let mut pages = Pages { attempts: attempts.to_vec(), ..Pages::default() };
    let decision = Some("dec_1".to_owned());
    let effects: Vec<Effect> = effects.iter().map(|at| Effect { at: *at, decision: decision.clone() }).collect();
    if !effects.is_empty() {
        pages.effects.insert("h1".into(), effects);
    }
    pages.replies.push(SoakReply { decision: "dec_1".into(), accepts: true, invoked: 1, returned: 2, is_sure: true });
    Findings::of(&pages, &remembered(execution))
}

fn remembered(execution: &str) -> NodeRecords {
    let document = json!({ "state": "accepted", "execution": { "state": execution } });
    NodeRecords { decisions: BTreeMap::from([("dec_1".to_owned(), document)]), ..NodeRecords::default() }
}

fn names(findings: &Findings) -> Vec<&'static str> {
    findings.rows().iter().filter(|(_, found)| !found.is_empty()).map(|(name, _)| *name).collect()
}

///
#[test]
fn an_effect_after_nothing_but_denials_is_a_false_denial() {
    let findings = judged(&[attempt(ReportedResult::Denied, 3, 6)], &[5], "unknown");
    assert!(names(&findings).contains(&"false denials"), "{findings:?}");
    let findings =
        judged(&[attempt(ReportedResult::Denied, 3, 6), attempt(ReportedResult::InDoubt, 7, 8)], &[5], "unknown");
    assert!(names(&findings).contains(&"false denials"), "a later request cannot have done it: {findings:?}");
    assert_eq!(names(&judged(&[attempt(ReportedResult::InDoubt, 3, 6)], &[5], "unknown")), [""; 0]);
}

///
#[test]
fn two_effects_are_a_double_effect_and_no_possible_history() {
    let findings =
        judged(&[attempt(ReportedResult::Ran, 3, 6), attempt(ReportedResult::InDoubt, 3, 9)], &[4, 8], "committed");
    assert_eq!(names(&findings), ["double effects", "impossible histories"]);
}

#[test]
fn an_acknowledgement_without_an_effect_or_without_a_record_is_lost() {
    assert_eq!(names(&judged(&[attempt(ReportedResult::Ran, 3, 6)], &[], "unknown")), ["lost acknowledgements"]);
    assert_eq!(names(&judged(&[attempt(ReportedResult::Ran, 3, 6)], &[5], "unknown")), ["lost acknowledgements"]);
    assert_eq!(names(&judged(&[attempt(ReportedResult::Ran, 3, 6)], &[5], "committed")), [""; 0]);
}

#[test]
fn a_record_that_the_upstream_contradicts_is_a_conflict() {
    assert_eq!(names(&judged(&[attempt(ReportedResult::InDoubt, 3, 6)], &[5], "failed")), ["conflicts"]);
    assert_eq!(names(&judged(&[attempt(ReportedResult::InDoubt, 3, 6)], &[], "committed")), ["conflicts"]);
}

///
#[test]
fn only_a_restore_may_forget_and_only_entries_after_its_backup() {
    let forgotten = |from, to| {
        let mut pages = Pages {
            attempts: vec![attempt(ReportedResult::Ran, 3, 6)],
            forgotten: vec![(from, to)],
            ..Pages::default()
        };
        pages.effects.insert("h1".into(), vec![Effect { at: 5, decision: Some("dec_1".into()) }]);
        pages.replies.push(SoakReply {
            decision: "dec_1".into(),
            accepts: true,
            invoked: 1,
            returned: 2,
            is_sure: true,
        });
        let none = BTreeMap::from([("dec_1".to_owned(), Value::Null)]);
        names(&Findings::of(&pages, &NodeRecords { decisions: none, ..NodeRecords::default() }))
    };
    assert_eq!(forgotten(0, 10), [""; 0]);
    assert_eq!(forgotten(8, 10), ["lost acknowledgements"]);
}
