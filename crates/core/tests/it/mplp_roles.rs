//! Role labels of requesters and deciders (M-06, R-14).

use crate::mplp_rows::{ASKED, DECIDED, asked, bob, due_view, env, project, replies, sound};
use countersign_core::{
    decision::{
        answer::{Extra, NotCounted, ProvenPerson},
        cancel::CancelQuestion,
    },
    evidence,
    mplp::confirm,
    mplp::roles::{Asking, CONFIRM_REQUEST, Deciding, PLAN_CREATE, documents, requested_by, role_of, roles},
    records::{Decision, DecisionState, Role},
    step::Operation as _,
};
use countersign_protocol::{aaep::event::YesNo, project::ProjectDocument};
use serde_json::json;

const DBA: &str = "5a5a5a5a-1111-4111-8111-111111111111";

/// Custom roles: one for Dora, one for the agents of one operator, one for one key.
fn own_roles() -> ProjectDocument {
    project(json!({ "roles": [
        { "name": "reader", "members": ["role:user", "user:dora"] },
        { "name": "dba_reviewer", "role_id": DBA, "capabilities": ["confirm.approve"], "members": ["user:dora"] },
        { "name": "chief", "capabilities": ["confirm.approve", "confirm.override"], "members": ["role:admin"] },
        { "name": "acme", "capabilities": ["plan.create"], "members": ["operator:acme.test"] },
        { "name": "nightly", "capabilities": ["confirm.request"], "members": ["key:batch"] },
    ] }))
}

fn of_acme() -> Asking<'static> {
    Asking { principal: "del_1", operator: Some("acme.test"), key_principal: None }
}

/// MPLP-2.1-06
#[test]
fn an_agent_asks_under_a_role_of_its_own_or_not_at_all() {
    let agent = of_acme();
    for (document, others) in
        [(project(json!({})), ["approver", "admin", "system:timeout"]), (own_roles(), ["agent", "nightly", DBA])]
    {
        for other in others {
            assert!(requested_by(&document, &agent, Some(other)).unwrap_err().contains(other));
        }
        assert!(requested_by(&document, &agent, Some("")).is_err());
    }
    let document = own_roles();
    let acme = role_of(&document, "acme").unwrap();
    assert_eq!(requested_by(&document, &agent, Some("acme")).unwrap(), "acme");
    assert_eq!(requested_by(&document, &agent, Some(acme.role_id.as_str())).unwrap(), acme.role_id.as_str());
    assert_eq!(requested_by(&document, &agent, None).unwrap(), "acme");
    assert_eq!(requested_by(&project(json!({})), &agent, None).unwrap(), "agent");
}

#[test]
fn a_key_and_an_operator_of_the_same_name_are_different_callers() {
    let document = project(json!({ "roles": [
        { "name": "of_operator", "members": ["operator:batch"] },
        { "name": "of_key", "members": ["key:batch"] },
    ] }));
    let key = Asking { principal: "key_1", operator: None, key_principal: Some("batch") };
    let operator = Asking { principal: "del_1", operator: Some("batch"), key_principal: None };
    let delegation = Asking { principal: "batch", operator: None, key_principal: None };
    assert_eq!(requested_by(&document, &key, None).unwrap(), "of_key");
    assert_eq!(requested_by(&document, &operator, None).unwrap(), "of_operator");
    assert_eq!(requested_by(&document, &delegation, None).unwrap(), "none");
}

#[test]
fn an_agent_has_the_capabilities_of_all_its_roles() {
    assert!(of_acme().has_capability(&project(json!({})), PLAN_CREATE));
    assert!(of_acme().has_capability(&project(json!({})), CONFIRM_REQUEST));
    assert!(of_acme().has_capability(&own_roles(), PLAN_CREATE));
    assert!(!of_acme().has_capability(&own_roles(), CONFIRM_REQUEST));
    assert!(!of_acme().has_capability(&own_roles(), "confirm.approve"));
}

/// MPLP-4.3-09
#[test]
fn only_a_role_that_approves_decides() {
    let own = own_roles();
    assert!(!Deciding::of(&own, "erin", &[]).approves());
    assert!(!Deciding::of(&own, "erin", &[Role::User, Role::Approver, Role::Auditor]).approves());
    assert!(!Deciding::of(&own, "del_1", &[Role::User]).approves());
    assert!(Deciding::of(&own, "dora", &[]).approves());
    let default = project(json!({}));
    assert!(!Deciding::of(&default, "erin", &[Role::Auditor]).approves());
    for role in [Role::User, Role::Approver, Role::Admin] {
        assert!(Deciding::of(&default, "erin", &[role]).approves(), "{role:?}");
    }
    assert!(!Deciding::none().approves());
    assert!(Deciding::approver("anybody").approves());
}

#[test]
fn only_a_role_that_overrides_decides_about_locked_documents() {
    for document in [project(json!({})), own_roles()] {
        for role in [Role::User, Role::Approver, Role::Auditor] {
            assert!(!Deciding::of(&document, "dora", &[role]).overrides(), "{role:?}");
        }
        assert!(Deciding::of(&document, "dora", &[Role::Admin]).overrides());
    }
    assert!(!Deciding::approver("anybody").overrides());
}

/// MPLP-2.4-03, MPLP-4.3-09
#[test]
fn a_decision_is_recorded_under_a_role_of_the_persons_own_by_its_name() {
    let document = own_roles();
    let dora = Deciding::of(&document, "dora", &[Role::User]);
    for other in ["chief", "acme", "system:timeout", "Dba_reviewer", "", "5A5A5A5A-1111-4111-8111-111111111111"] {
        assert_eq!(dora.approving_role(Some(other)), None, "{other}");
    }
    assert_eq!(dora.label(), "dba_reviewer");
    assert_eq!(dora.approving_role(None), Some("dba_reviewer"));
    assert_eq!(dora.approving_role(Some("dba_reviewer")), Some("dba_reviewer"));
    assert_eq!(dora.approving_role(Some(DBA)), Some("dba_reviewer"));
    let erin = Deciding::of(&document, "erin", &[Role::Admin]);
    assert_eq!(erin.approving_role(Some("dba_reviewer")), None);
    assert_eq!(erin.label(), "chief");
}

/// MPLP-4.3-09
#[test]
fn a_role_that_does_not_approve_is_none_to_approve_under() {
    let dora = Deciding::of(&own_roles(), "dora", &[Role::User]);
    assert_eq!(dora.approving_role(Some("reader")), None);
    // A person without an approving role can only reject requests of their own agent, and does so under their own role.
    let erin = Deciding::of(&own_roles(), "erin", &[Role::User]);
    assert_eq!((erin.approving_role(Some("reader")), erin.label()), (Some("reader"), "reader"));
    assert_eq!(Deciding::none().label(), "none");
}

#[test]
fn the_ids_of_roles_stay_and_differ_between_projects_and_names() {
    let all = |document: &ProjectDocument| roles(document).into_iter().map(|role| role.role_id).collect::<Vec<_>>();
    let (one, other) = (project(json!({})), project(json!({ "id": "other" })));
    assert_eq!(all(&one), all(&one));
    let mut ids = [all(&one), all(&other)].concat();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 10);
    assert_eq!(role_of(&own_roles(), DBA).unwrap().name, "dba_reviewer");
    assert_eq!(role_of(&own_roles(), "admin"), None);
}

/// MPLP-2.1-01
#[test]
fn published_roles_are_sound_and_say_nothing_of_their_members() {
    for document in [project(json!({})), own_roles()] {
        for role in documents(&document, ASKED) {
            let written = sound("role", &role);
            assert!(!written.to_string().contains("dora") && written.get("members").is_none());
            assert_eq!(written["meta"]["schema_version"], "1.0.0");
            assert_eq!(written["meta"]["created_by"], "countersign");
        }
    }
    let published = documents(&own_roles(), ASKED);
    assert_eq!(published[1].capabilities, ["confirm.approve"]);
    assert_eq!(published[1].role_id.as_str(), DBA);
}

/// MPLP-4.3-09
#[test]
fn a_person_without_an_approving_role_decides_nothing() {
    let auditor = Deciding::of(&project(json!({})), "bob", &[Role::Auditor]);
    for deciding in [auditor, Deciding::none()] {
        let by = ProvenPerson { deciding, ..bob() };
        for as_role in [None, Some("approver")] {
            for reply in [YesNo::Accept, YesNo::Reject] {
                let refused = replies(by.clone(), extra(as_role, false), asked(), reply).unwrap_err();
                assert_eq!(refused, NotCounted::NotEntitled);
            }
        }
    }
    let refused = replies(bob(), extra(Some("admin"), false), asked(), YesNo::Accept).unwrap_err();
    assert_eq!(refused, NotCounted::NotEntitled);
    let (decision, evidence) = replies(bob(), extra(Some("approver"), false), asked(), YesNo::Accept).unwrap();
    let members = evidence::opened(&evidence[0].leaf).unwrap();
    assert_eq!((&members["role"], &members["decided_by"]), (&json!("approver"), &json!("bob")));
    assert_eq!(confirm::document(&decision, &project(json!({}))).decisions[0].decided_by_role, "approver");
}

/// MPLP-2.2-06
#[test]
fn a_locked_question_is_decided_by_override_alone_and_recorded_as_such() {
    let locked = Decision { governance: serde_json::from_value(json!({ "locked": true })).unwrap(), ..asked() };
    let admin = ProvenPerson { deciding: Deciding::of(&project(json!({})), "bob", &[Role::Admin]), ..bob() };
    for (by, by_override) in [(bob(), false), (bob(), true), (admin.clone(), false)] {
        let refused = replies(by, extra(None, by_override), locked.clone(), YesNo::Accept).unwrap_err();
        assert_eq!(refused, NotCounted::Locked);
    }
    let (decision, evidence) = replies(admin, extra(None, true), locked, YesNo::Accept).unwrap();
    let confirm = confirm::document(&decision, &project(json!({})));
    assert_eq!(confirm.events[1].data.as_ref().unwrap()["override"], true);
    let members = evidence::opened(&evidence[0].leaf).unwrap();
    assert_eq!(members["override"], true);
}

/// MPLP-2.2-06
#[test]
fn a_locked_question_is_cancelled_by_override_alone_and_recorded_as_such() {
    let locked = Decision { governance: serde_json::from_value(json!({ "locked": true })).unwrap(), ..asked() };
    let admin = ProvenPerson { deciding: Deciding::of(&project(json!({})), "bob", &[Role::Admin]), ..bob() };
    let calls_off = |by: &ProvenPerson, by_override: bool, decision: &Decision| {
        let off = CancelQuestion { by: by.clone(), reason: None, by_override };
        off.decide(&due_view(decision.clone(), None), &env(DECIDED))
    };
    for (by, by_override) in [(bob(), false), (bob(), true), (admin.clone(), false)] {
        assert_eq!(calls_off(&by, by_override, &locked).map(drop), Err(NotCounted::Locked));
    }
    // `by_override` is recorded only if there was a lock to override.
    for (decision, by_override, recorded) in
        [(&locked, true, Some(json!(true))), (&asked(), true, None), (&asked(), false, None)]
    {
        let step = calls_off(&admin, by_override, decision).unwrap();
        let DecisionState::Cancelled { by: Some(by), .. } = &step.answer.state else { panic!("{:?}", step.answer) };
        assert_eq!(by.by_override, recorded.is_some());
        let confirm = confirm::document(&step.answer, &project(json!({})));
        assert_eq!(confirm.events[1].event_type, "confirm.cancelled");
        assert_eq!(confirm.events[1].data.as_ref().unwrap().get("override"), recorded.as_ref());
        let leaf = &step.effects.evidence[0].leaf;
        let members = evidence::opened(leaf).unwrap();
        assert_eq!(members.get("override"), recorded.as_ref());
    }
}

fn extra(as_role: Option<&str>, by_override: bool) -> Extra {
    Extra { as_role: as_role.map(str::to_owned), by_override, ..Extra::default() }
}
