use super::*;
use countersign_protocol::project::RouteCancel;

use crate::decision::probe::ProbeResponse;

fn step(state: StepState, reversible: bool) -> SessionStep {
    SessionStep { call_id: None, decision_id: None, action: None, state, cancel: None, reversible }
}

fn row(steps: Vec<SessionStep>) -> Rollback {
    Rollback {
        key: 1,
        version: 1,
        project: 2,
        session: 3,
        since: UnixMillis(0),
        closed_at: UnixMillis(0),
        steps,
        more: false,
        round: 0,
        left: 0,
        unlisted: RollbackCounts::default(),
        unlisted_reversible: false,
        phase: RollbackPhase::Undoing { due: UnixMillis(0) },
    }
}

/// AAP-17.7-03
#[test]
fn only_a_session_of_which_nothing_remains_is_called_completed() {
    let undone = || step(StepState::Undone { at: UnixMillis(1) }, true);
    let done = |reversible| step(StepState::Done { why: None }, reversible);
    let unknown = |reversible| step(StepState::Unknown { why: String::new() }, reversible);
    let not_done = || step(StepState::NotDone, false);
    for (steps, wanted) in [
        (vec![], RollbackStatus::Completed),
        (vec![not_done()], RollbackStatus::Completed),
        (vec![undone(), undone(), not_done()], RollbackStatus::Completed),
        (vec![undone(), done(false)], RollbackStatus::Partial),
        (vec![undone(), unknown(true)], RollbackStatus::Partial),
        (vec![done(true)], RollbackStatus::Partial),
        (vec![unknown(true)], RollbackStatus::Partial),
        (vec![done(false)], RollbackStatus::NotSupported),
        (vec![unknown(false), not_done()], RollbackStatus::NotSupported),
    ] {
        assert_eq!(status(&row(steps.clone())), wanted, "{steps:?}");
    }
    assert_eq!(status(&Rollback { more: true, ..row(vec![undone()]) }), RollbackStatus::Partial);
    let counted = |unlisted| status(&Rollback { unlisted, unlisted_reversible: true, ..row(vec![]) });
    let none = RollbackCounts::default();
    assert_eq!(counted(RollbackCounts { undone: 1, not_done: 1, ..none }), RollbackStatus::Completed);
    assert_eq!(counted(RollbackCounts { done: 1, ..none }), RollbackStatus::Partial);
    assert_eq!(counted(RollbackCounts { unknown: 1, ..none }), RollbackStatus::Partial);
    assert_eq!(status(&Rollback { left: 1, ..row(vec![undone()]) }), RollbackStatus::Partial);
    let running = answer(UnixMillis(0), Some(&row(vec![step(StepState::Waiting, true)])));
    assert_eq!(running.rollback_status, RollbackStatus::Partial, "not finished yet");
}

///
#[test]
fn only_a_clear_response_counts_as_undone_or_refused() {
    let cancel = |undone: serde_json::Value| -> RouteCancel {
        serde_json::from_value(json!({ "path": "/a", "undone": undone })).unwrap()
    };
    let result = |cancel: &RouteCancel, status| {
        CancelResult::of(cancel, Some(&ProbeResponse { status, body: Some(b"{\"state\":\"gone\"}".to_vec()) }))
    };
    let usual = cancel(serde_json::Value::Null);
    assert_eq!(CancelResult::of(&usual, None), CancelResult::Unknown);
    for (status, wanted) in [
        (200, CancelResult::Undone),
        (204, CancelResult::Undone),
        (202, CancelResult::Unknown),
        (302, CancelResult::Unknown),
        (404, CancelResult::Refused { status: 404 }),
        (408, CancelResult::Unknown),
        (425, CancelResult::Unknown),
        (500, CancelResult::Unknown),
    ] {
        assert_eq!(result(&usual, status), wanted, "{status}");
    }
    let listed = cancel(json!({ "statuses": [202, 404], "member": "/state", "equals": "gone" }));
    assert_eq!((result(&listed, 404), result(&listed, 200)), (CancelResult::Undone, CancelResult::Unknown));
    let other = cancel(json!({ "statuses": [200], "member": "/state", "equals": "there" }));
    assert_eq!(result(&other, 200), CancelResult::Unknown);
}
