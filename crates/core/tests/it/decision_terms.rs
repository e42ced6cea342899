//! The terms of a question: policy sets them, the caller can only tighten them (R-1, AAEP 6.4).

use crate::decision_world::{ALICE, CAROL, NOW};
use countersign_core::{
    decision::terms::{People, Wishes, of_action, of_clarification},
    records::{Assurance, DecisionTerms, Role},
    refusal::Refusal,
};
use countersign_protocol::{
    aaep::event::{Reversibility, Risk, YesNo},
    project::ProjectDocument,
};
use serde_json::{Value, json};

const RISKS: [Risk; 3] = [Risk::Low, Risk::Medium, Risk::High];

fn people() -> People {
    People { own: ALICE, named: Vec::new(), asks: Vec::new(), needs_s: None }
}

/// A project with a policy for a single action, `act`.
fn document(policy: Value) -> ProjectDocument {
    let mut policy = policy;
    policy["name"] = "act".into();
    serde_json::from_value(json!({ "id": "small", "actions": [policy] })).unwrap()
}

fn of(policy: Value, wishes: &Wishes) -> Result<DecisionTerms, Refusal> {
    of_action(&document(policy), "act", wishes, &people(), NOW)
}

fn unknown(wishes: &Wishes) -> Result<DecisionTerms, Refusal> {
    of_action(&document(json!({})), "something.else", wishes, &people(), NOW)
}

fn accept() -> Wishes {
    Wishes { default: Some(YesNo::Accept), ..Wishes::default() }
}

fn is_invalid<T: std::fmt::Debug>(result: Result<T, Refusal>) -> bool {
    matches!(result, Err(Refusal::InvalidRequest(_)))
}

/// AAEP-6.4.1-01, AAEP-6.4.1-02, AAEP-6.4.1-03
#[test]
fn nothing_irreversible_defaults_to_accept_at_any_risk() {
    for risk in RISKS {
        let policy = json!({ "irreversible": true, "risk": risk });
        let accepting = json!({ "irreversible": true, "risk": risk, "default_decision": "accept" });
        assert!(is_invalid(of(policy.clone(), &accept())) && is_invalid(of(accepting, &accept())), "{risk:?}");
        let terms = of(policy, &Wishes::default()).unwrap();
        assert_eq!((terms.default, terms.irreversible, terms.risk), (YesNo::Reject, true, risk));
    }
}

/// AAEP-6.4.1-04
#[test]
fn nothing_of_high_risk_defaults_to_accept_even_if_it_is_reversible() {
    // The policy accepts by default, so the risk is the only objection.
    let of_risk = |risk: Risk| json!({ "irreversible": false, "risk": risk, "default_decision": "accept" });
    let said_high = Wishes { risk: Some(Risk::High), ..accept() };
    for (policy, wishes) in [(of_risk(Risk::High), accept()), (of_risk(Risk::Low), said_high)] {
        assert!(is_invalid(of(policy.clone(), &wishes)), "{policy} {wishes:?}");
        let terms = of(policy, &Wishes { default: None, ..wishes }).unwrap();
        assert_eq!((terms.default, terms.irreversible, terms.risk), (YesNo::Reject, false, Risk::High));
    }
    assert_eq!(of(of_risk(Risk::Medium), &accept()).unwrap().default, YesNo::Accept);
}

///
#[test]
fn a_caller_never_turns_silence_into_an_approval_that_policy_does_not_name() {
    for risk in [Risk::Low, Risk::Medium] {
        for policy in [
            json!({ "irreversible": false, "risk": risk }),
            json!({ "irreversible": false, "risk": risk, "default_decision": "reject" }),
        ] {
            assert!(is_invalid(of(policy.clone(), &Wishes { timeout_s: Some(60), ..accept() })), "{policy}");
            assert_eq!(of(policy, &Wishes::default()).unwrap().default, YesNo::Reject);
        }
    }
}

/// AAEP-6.4.1-05, AAEP-6.4.1-06
#[test]
fn reversible_actions_below_high_risk_may_have_either_default_after_at_least_thirty_seconds() {
    for risk in [Risk::Low, Risk::Medium] {
        let policy = json!({ "irreversible": false, "risk": risk, "default_decision": "accept" });
        let wish = |default, timeout_s| Wishes { default, timeout_s: Some(timeout_s), ..Wishes::default() };
        assert!(is_invalid(of(policy.clone(), &wish(Some(YesNo::Accept), 29))));
        assert_eq!(of(policy.clone(), &wish(Some(YesNo::Accept), 30)).unwrap().default, YesNo::Accept);
        assert_eq!(of(policy.clone(), &wish(Some(YesNo::Reject), 29)).unwrap().default, YesNo::Reject);
        assert_eq!(of(policy.clone(), &wish(None, 30)).unwrap().default, YesNo::Accept);
        assert!(is_invalid(of(policy, &wish(None, 29))));
    }
    assert!(is_invalid(unknown(&accept())));
}

/// AAEP-6.4.1-09
#[test]
fn either_way_of_saying_irreversible_is_one() {
    let reversible = json!({ "irreversible": false, "risk": "low", "default_decision": "accept" });
    let by_reversibility =
        |irreversible| Wishes { reversibility: Some(Reversibility::Irreversible), irreversible, ..accept() };
    for wishes in
        [by_reversibility(None), by_reversibility(Some(false)), Wishes { irreversible: Some(true), ..accept() }]
    {
        assert!(is_invalid(of(reversible.clone(), &wishes)), "{wishes:?}");
        let quiet = Wishes { default: None, ..wishes };
        assert!(of(reversible.clone(), &quiet).unwrap().irreversible);
    }
    assert_eq!(of(reversible, &accept()).unwrap().default, YesNo::Accept, "nothing else stands against it");
    let by_policy = json!({
        "irreversible": false, "reversibility": "irreversible", "risk": "low", "default_decision": "accept",
    });
    assert!(is_invalid(of(by_policy.clone(), &accept())));
    let terms = of(by_policy, &Wishes::default()).unwrap();
    assert_eq!((terms.irreversible, terms.default), (true, YesNo::Reject));
}

/// AAEP-6.4.1-10
#[test]
fn a_caller_cannot_loosen_the_policy() {
    let loose = Wishes {
        risk: Some(Risk::Low),
        irreversible: Some(false),
        reversibility: Some(Reversibility::Reversible),
        ..Wishes::default()
    };
    let strict = json!({ "irreversible": true, "risk": "medium", "default_decision": "accept" });
    for terms in [of(strict.clone(), &loose), unknown(&loose)] {
        let terms = terms.unwrap();
        assert!(terms.irreversible && terms.risk >= Risk::Medium && terms.default == YesNo::Reject);
        assert_eq!(terms.reversibility, Some(Reversibility::Irreversible), "nobody reads that it can be taken back");
    }
    assert!(is_invalid(of(strict, &Wishes { default: Some(YesNo::Accept), ..loose.clone() })));
    let told_no = json!({ "irreversible": false, "risk": "low", "default_decision": "reject" });
    assert!(is_invalid(of(told_no, &accept())));
    let effort = json!({ "irreversible": false, "reversibility": "reversible_with_effort", "risk": "low" });
    assert_eq!(of(effort, &loose).unwrap().reversibility, Some(Reversibility::ReversibleWithEffort));
}

/// AAEP-6.4.1-10
#[test]
fn an_action_without_an_entry_is_irreversible_and_high_and_comes_to_nothing() {
    for action in ["something.else", ""] {
        let terms = of_action(&document(json!({})), action, &Wishes::default(), &people(), NOW).unwrap();
        assert_eq!((terms.irreversible, terms.risk, terms.default), (true, Risk::High, YesNo::Reject));
        assert_eq!((terms.approvers.people, terms.approvers.own_yes), (vec![ALICE], true));
    }
}

/// AAEP-6.4.1-10
#[test]
fn a_caller_can_make_everything_stricter() {
    let policy = json!({ "irreversible": false, "risk": "low", "default_decision": "accept" });
    assert_eq!(of(policy.clone(), &Wishes::default()).unwrap().default, YesNo::Accept);
    let stricter = [
        Wishes { risk: Some(Risk::High), ..Wishes::default() },
        Wishes { irreversible: Some(true), ..Wishes::default() },
        Wishes { reversibility: Some(Reversibility::Irreversible), ..Wishes::default() },
        Wishes { default: Some(YesNo::Reject), ..Wishes::default() },
    ];
    for wishes in stricter {
        let terms = of(policy.clone(), &wishes).unwrap();
        assert_eq!(terms.default, YesNo::Reject, "{wishes:?}");
        assert!(wishes.risk.is_none_or(|risk| terms.risk == risk));
    }
}

/// AAEP-6.4.2-01, AAEP-6.4.2-02, AAEP-6.4.2-03, AAEP-6.4.2-04
#[test]
fn without_a_wish_people_have_the_time_that_is_recommended() {
    let timeout = |policy| of(policy, &Wishes::default()).unwrap().timeout_s;
    assert!((180..=600).contains(&timeout(json!({ "irreversible": true, "risk": "high" }))));
    assert!((60..=180).contains(&timeout(json!({ "irreversible": true, "risk": "medium" }))));
    assert!((30..=90).contains(&timeout(json!({ "irreversible": false, "risk": "low" }))));
    let clarification = of_clarification(&document(json!({})), None, &people(), NOW).unwrap();
    assert!((60..=300).contains(&clarification.timeout_s));
}

/// AAEP-6.4.1-10
#[test]
fn the_time_to_answer_lies_within_policys_bounds() {
    let bounded = json!({ "min_timeout_seconds": 40, "max_timeout_seconds": 90 });
    for (wish, taken) in [(39, None), (40, Some(40)), (90, Some(90)), (91, None)] {
        let terms = of(bounded.clone(), &Wishes { timeout_s: Some(wish), ..Wishes::default() });
        assert_eq!(terms.ok().map(|terms| terms.timeout_s), taken);
    }
    assert_eq!(of(bounded, &Wishes::default()).unwrap().timeout_s, 90);
    let wish = |seconds| Wishes { timeout_s: Some(seconds), ..Wishes::default() };
    assert!(is_invalid(of(json!({}), &wish(0))) && is_invalid(of(json!({}), &wish(86_401))));
    assert!(is_invalid(of_clarification(&document(json!({})), Some(0), &people(), NOW)));
}

#[test]
fn the_projects_bound_counts_where_an_action_asks_for_more() {
    let mut document = document(json!({ "min_timeout_seconds": 600 }));
    document.decisions.max_timeout_seconds = 120;
    let terms = of_action(&document, "act", &Wishes::default(), &people(), NOW).unwrap();
    assert_eq!(terms.timeout_s, 120);
}

/// AAEP-6.4.2-06
#[test]
fn a_request_for_more_time_is_granted_up_to_the_bound() {
    let needs = |needs_s| People { needs_s: Some(needs_s), ..people() };
    let document = document(json!({ "irreversible": false, "risk": "low", "max_timeout_seconds": 200 }));
    for (asked, given) in [(10, 60), (150, 150), (500, 200)] {
        let terms = of_action(&document, "act", &Wishes::default(), &needs(asked), NOW).unwrap();
        assert_eq!(terms.timeout_s, given);
        assert_eq!(terms.latest, NOW.plus_secs(given + document.decisions.max_extension_seconds));
    }
}

///
#[test]
fn ones_own_approval_counts_only_without_named_approvers_as_one_of_them_or_by_an_admins_setting() {
    let named = |approvers: Value, people: &People, own_approval: bool| {
        let mut document = document(json!({ "approvers": approvers }));
        document.decisions.own_approval = own_approval;
        of_action(&document, "act", &Wishes::default(), people, NOW)
    };
    let with = |named: &[i64]| People { named: named.to_vec(), ..people() };
    assert!(matches!(named(json!(["user:nobody"]), &with(&[]), true), Err(Refusal::NotAuthorized(_))));
    let own_yes = |result: Result<DecisionTerms, Refusal>| result.unwrap().approvers.own_yes;
    assert!(!own_yes(named(json!(["role:approver"]), &with(&[]), false)));
    assert!(!own_yes(named(json!(["user:carol"]), &with(&[CAROL]), false)));
    assert!(own_yes(named(json!(["user:carol", "user:alice"]), &with(&[CAROL, ALICE]), false)));
    assert!(own_yes(named(json!(["role:admin"]), &with(&[]), true)));
    let approvers = named(json!(["role:admin", "user:carol"]), &with(&[CAROL]), false).unwrap().approvers;
    assert_eq!((approvers.people, approvers.roles), (vec![CAROL], vec![Role::Admin]));
}

///
#[test]
fn the_floor_of_assurance_is_policys_and_a_token_at_least() {
    let floor = |policy| of(policy, &Wishes::default()).unwrap().floor;
    assert_eq!(floor(json!({ "assurance": "token" })), Assurance::Token);
    assert_eq!(floor(json!({ "assurance": "fresh" })), Assurance::Fresh);
    assert_eq!(floor(json!({ "assurance": "a word that nobody knows" })), Assurance::Passkey);
}

///
#[test]
fn without_a_policy_floor_an_irreversible_high_risk_action_takes_a_sign_in_or_a_token_allowed_to_approve_it() {
    for terms in [of(json!({}), &Wishes::default()), unknown(&Wishes::default())] {
        let terms = terms.unwrap();
        assert_eq!((terms.floor_for(false), terms.floor_for(true)), (Assurance::Session, Assurance::Token));
    }
    for mild in [json!({ "risk": "medium" }), json!({ "irreversible": false })] {
        assert_eq!(of(mild, &Wishes::default()).unwrap().floor_for(false), Assurance::Token);
    }
    let worse = Wishes { risk: Some(Risk::High), ..Wishes::default() };
    assert_eq!(
        of(json!({ "risk": "low" }), &worse).unwrap().floor_for(false),
        Assurance::Session,
        "as the caller says"
    );
    for named in ["session", "fresh"] {
        let terms = of(json!({ "assurance": named }), &Wishes::default()).unwrap();
        assert_eq!(Some(terms.floor_for(true)), Assurance::from_name(named), "what policy names is not lowered");
    }
}
