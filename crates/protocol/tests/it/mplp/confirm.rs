//! The shape of a Confirm (MPLP 2, 3.1, 7).

use super::documents::{self, ID, with, without};
use crate::mplp_judge;
use countersign_protocol::{
    hash::Digest,
    mplp::{BadDocument, Confirm, ConfirmStatus, DecisionStatus, Meta, MplpId, TargetType},
    time::UnixMillis,
};
use serde_json::{Value, json};

fn confirm() -> Value {
    documents::document("confirm")
}

fn read(document: &Value) -> Result<Confirm, BadDocument> {
    Confirm::read(document.to_string().as_bytes())
}

/// Asserts that our reader refuses the document and names the member, and that the schema refuses it.
#[track_caller]
fn refused(document: &Value, member: &str) {
    let why = read(document).unwrap_err();
    assert_eq!(why.member, member, "{why}");
    assert!(!mplp_judge::problems("confirm", document).is_empty(), "the schema accepts it");
}

#[track_caller]
fn accepted(document: &Value) -> Confirm {
    assert_eq!(mplp_judge::problems("confirm", document), [""; 0]);
    read(document).unwrap()
}

/// MPLP-F-01, MPLP-2.1-03
#[test]
fn none_of_the_seven_required_members_may_be_missing() {
    let required = ["meta", "confirm_id", "target_type", "target_id", "status", "requested_by_role", "requested_at"];
    for member in required {
        let place = format!("/{member}");
        refused(&without(confirm(), &place), member);
    }
}

/// MPLP-2.1-01
#[test]
fn metadata_is_in_snake_case_and_has_both_versions() {
    refused(&without(confirm(), "/meta"), "meta");
    refused(&without(confirm(), "/meta/protocol_version"), "meta.protocol_version");
    refused(&without(confirm(), "/meta/schema_version"), "meta.schema_version");
    refused(&with(confirm(), "/meta/protocolVersion", json!("1.0.0")), "meta.protocolVersion");
    refused(&with(confirm(), "/meta/source", json!("mplp-runtime")), "meta.source");
    refused(&with(confirm(), "/meta/schema_version", json!("1.0")), "meta.schema_version");
    let other = accepted(&with(confirm(), "/meta/schema_version", json!("2.1.0")));
    assert_eq!(other.meta.schema_version, "2.1.0");
    let ours = serde_json::to_value(Meta::ours(UnixMillis::from_secs(0), "countersign")).unwrap();
    assert_eq!((&ours["protocol_version"], &ours["schema_version"]), (&json!("1.0.0"), &json!("1.0.0")));
    assert_eq!(ours["created_by"], "countersign");
    accepted(&with(confirm(), "/meta", ours));
}

const WRONG_IDS: [&str; 6] = [
    "confirm-550e8400-e29b-41d4-a716-446655440004",
    "plan-123",
    "decision-001",
    "550E8400-e29b-41d4-a716-446655440004",
    "123e4567-e89b-12d3-a456-426614174000",
    "",
];

/// MPLP-2.1-02, MPLP-2.1-04, MPLP-2.4-01
#[test]
fn ids_are_bare_lower_case_uuids_of_version_4_and_are_not_normalised() {
    let places = [
        ("/confirm_id", "confirm_id"),
        ("/target_id", "target_id"),
        ("/decisions/0/decision_id", "decisions[0].decision_id"),
    ];
    for (place, member) in places {
        for wrong in WRONG_IDS {
            refused(&with(confirm(), place, json!(wrong)), member);
        }
        let minted =
            [MplpId::from_random([0xff; 16]), MplpId::from_random([0; 16]), MplpId::of_hash(&Digest::of(b"x"))];
        for id in minted {
            accepted(&with(confirm(), place, json!(id)));
        }
    }
}

/// MPLP-2.1-07
#[test]
fn the_time_of_asking_is_a_date_time_with_an_offset() {
    for wrong in [json!("2025-12-07"), json!(1_765_065_600), json!("2025-12-07T00:00:00"), json!("yesterday")] {
        refused(&with(confirm(), "/requested_at", wrong), "requested_at");
    }
    let read = accepted(&with(confirm(), "/requested_at", json!("2025-12-07T02:00:00.250+02:00")));
    assert_eq!(read.requested_at.to_rfc3339(), "2025-12-07T00:00:00.250Z");
    for at in [0, 1_765_065_600_000, 1_765_065_600_001, 4_102_444_799_999] {
        let confirm = Confirm { requested_at: UnixMillis(at), ..read.clone() };
        accepted(&serde_json::to_value(confirm).unwrap());
    }
}

/// MPLP-2.2-01
#[test]
fn a_reason_is_a_text_or_absent() {
    refused(&with(confirm(), "/reason", json!(5)), "reason");
    refused(&with(confirm(), "/reason", json!(null)), "reason");
    assert_eq!(accepted(&without(confirm(), "/reason")).reason, None);
    assert_eq!(accepted(&confirm()).reason.as_deref(), Some("Repairs the login"));
}

/// MPLP-2.2-02
#[test]
fn decisions_are_a_list_that_may_be_empty_or_absent() {
    refused(&with(confirm(), "/decisions", json!({})), "decisions");
    refused(&with(confirm(), "/decisions", json!([[ID, "approved", "r", "2025-12-07T00:00:00Z"]])), "decisions[0]");
    assert_eq!(accepted(&without(confirm(), "/decisions")).decisions, []);
    assert_eq!(accepted(&with(confirm(), "/decisions", json!([]))).decisions, []);
    assert_eq!(accepted(&confirm()).decisions.len(), 1);
}

/// MPLP-2.2-03
#[test]
fn a_trace_names_trace_and_span_and_nothing_unknown() {
    refused(&without(confirm(), "/trace/trace_id"), "trace.trace_id");
    refused(&without(confirm(), "/trace/span_id"), "trace.span_id");
    refused(&with(confirm(), "/trace/more", json!(1)), "trace.more");
    refused(&with(confirm(), "/trace", json!([ID, ID])), "trace");
    assert_eq!(accepted(&without(confirm(), "/trace")).trace, None);
}

/// MPLP-2.2-04
#[test]
fn events_inside_an_object_are_named_with_dots() {
    for wrong in ["confirm_requested", "Confirm.requested", "confirm.", "confirm requested"] {
        refused(&with(confirm(), "/events/0/event_type", json!(wrong)), "events[0].event_type");
    }
    for right in ["confirm.requested", "confirm.approved", "confirm.rejected", "confirm.cancelled", "decision.approved"]
    {
        let read = accepted(&with(confirm(), "/events/0/event_type", json!(right)));
        accepted(&serde_json::to_value(read).unwrap());
    }
}

/// MPLP-2.2-05
#[test]
fn governance_has_its_four_members_in_camel_case() {
    for wrong in ["lifecycle_phase", "truth_domain", "last_confirm_ref", "Locked", "owner"] {
        let place = format!("/governance/{wrong}");
        refused(&with(confirm(), &place, json!("x")), &format!("governance.{wrong}"));
    }
    assert_eq!(accepted(&without(confirm(), "/governance")).governance, None);
    let governance = accepted(&confirm()).governance.unwrap();
    assert_eq!(serde_json::to_value(governance).unwrap(), confirm()["governance"]);
}

/// MPLP-2.3-01, MPLP-6-01
#[test]
fn there_are_five_kinds_of_target_and_a_step_is_other() {
    for wrong in ["step", "delta", "role", "Plan", ""] {
        refused(&with(confirm(), "/target_type", json!(wrong)), "target_type");
    }
    let kinds = [
        ("context", TargetType::Context),
        ("plan", TargetType::Plan),
        ("trace", TargetType::Trace),
        ("extension", TargetType::Extension),
        ("other", TargetType::Other),
    ];
    for (word, kind) in kinds {
        assert_eq!(accepted(&with(confirm(), "/target_type", json!(word))).target_type, kind);
        assert_eq!(json!(kind), word);
    }
}

/// MPLP-2.4-02, MPLP-2.4-06, MPLP-6-01
#[test]
fn a_decision_is_approved_rejected_or_cancelled() {
    refused(&without(confirm(), "/decisions/0/status"), "decisions[0].status");
    for wrong in ["pending", "override", "approve", "expired", ""] {
        refused(&with(confirm(), "/decisions/0/status", json!(wrong)), "decisions[0].status");
    }
    let all = [
        ("approved", DecisionStatus::Approved),
        ("rejected", DecisionStatus::Rejected),
        ("cancelled", DecisionStatus::Cancelled),
    ];
    for (word, status) in all {
        assert_eq!(accepted(&with(confirm(), "/decisions/0/status", json!(word))).decisions[0].status, status);
        assert_eq!(json!(status), word);
        assert_eq!(json!(ConfirmStatus::from(status)), word);
    }
}

#[test]
fn a_decision_says_under_which_role_and_when() {
    refused(&without(confirm(), "/decisions/0/decided_by_role"), "decisions[0].decided_by_role");
    refused(&without(confirm(), "/decisions/0/decided_at"), "decisions[0].decided_at");
    refused(&with(confirm(), "/decisions/0/decided_at", json!("2025-12-07")), "decisions[0].decided_at");
    refused(&with(confirm(), "/decisions/0/reason", json!(1)), "decisions[0].reason");
    assert_eq!(accepted(&without(confirm(), "/decisions/0/reason")).decisions[0].reason, None);
}

/// MPLP-3.1-01, MPLP-6-01
#[test]
fn a_confirm_is_pending_approved_rejected_or_cancelled() {
    for wrong in ["override", "expired", "proposed", "Pending", ""] {
        refused(&with(confirm(), "/status", json!(wrong)), "status");
    }
    let all = [
        ("pending", ConfirmStatus::Pending),
        ("approved", ConfirmStatus::Approved),
        ("rejected", ConfirmStatus::Rejected),
        ("cancelled", ConfirmStatus::Cancelled),
    ];
    for (word, status) in all {
        assert_eq!(accepted(&with(confirm(), "/status", json!(word))).status, status);
        assert_eq!(json!(status), word);
    }
}

/// The shape of the example in the published text: metadata in camel case and ids with prefixes.
fn as_the_text_writes_it() -> Value {
    json!({
        "meta": { "protocolVersion": "1.0.0", "source": "mplp-runtime" },
        "confirm_id": format!("confirm-{ID}"),
        "target_type": "plan",
        "target_id": format!("plan-{}", documents::OTHER_ID),
        "status": "approved",
        "requested_by_role": "role-planner-001",
        "requested_at": "2025-12-07T00:00:00.000Z",
        "reason": "Please let me repair the login",
        "decisions": [{
            "decision_id": "decision-001",
            "status": "approved",
            "decided_by_role": "role-reviewer-001",
            "decided_at": "2025-12-07T00:05:00.000Z",
            "reason": "Go ahead",
        }],
    })
}

/// MPLP-7-01
#[test]
fn the_example_of_the_text_is_refused_and_its_corrected_twin_accepted() {
    let literal = as_the_text_writes_it();
    assert!(read(&literal).is_err());
    assert!(!mplp_judge::problems("confirm", &literal).is_empty());
    assert!(
        mplp_judge::foreign_verdicts(&[("confirm", literal.clone())]).iter().all(|(_, verdicts)| verdicts == &[false])
    );
    let meta = json!({ "protocol_version": "1.0.0", "schema_version": "1.0.0", "created_by": "mplp-runtime" });
    let mut twin = literal;
    let corrections = [
        ("/meta", meta),
        ("/confirm_id", json!(ID)),
        ("/target_id", json!(documents::OTHER_ID)),
        ("/decisions/0/decision_id", json!("550e8400-e29b-41d4-a716-446655440009")),
    ];
    for (place, value) in corrections {
        assert!(read(&twin).is_err(), "sound before {place} was corrected");
        twin = with(twin, place, value);
    }
    let read = accepted(&twin);
    mplp_judge::judge(&[("confirm", twin), ("confirm", serde_json::to_value(read).unwrap())]);
}
