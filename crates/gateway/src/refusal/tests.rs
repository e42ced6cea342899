use countersign_engine::{Awaiting, Limit, PendingApproval, Refusal, Scheme};
use http::Response;
use serde_json::{Value, json};

fn envelope(refusal: &Refusal, request_id: &str) -> Response<String> {
    super::envelope(refusal, request_id, Scheme::Bearer)
}

fn body(response: &Response<String>) -> Value {
    serde_json::from_str(response.body()).unwrap()
}

fn awaited(status: u16, decision: Value) -> Refusal {
    let Value::Object(decision) = decision else { panic!("an object") };
    Refusal::ConfirmationRequired(Box::new(PendingApproval {
        action: "pay".into(),
        why: Awaiting::Answer,
        decision,
        status,
    }))
}

#[test]
fn a_caller_that_waits_for_a_person_gets_the_decision_and_its_page() {
    let told = envelope(&awaited(403, json!({ "decision_id": "dec_1", "page": "https://a/b" })), "req_1");
    assert_eq!(told.status(), 403);
    assert_eq!(told.headers()["precondition"], "confirmation");
    let body = body(&told);
    assert_eq!(
        (&body["error"], &body["decision"]["decision_id"]),
        (&json!("irreversible_requires_confirm"), &json!("dec_1"))
    );
}

#[test]
fn a_project_may_ask_for_another_status_and_a_decision_that_does_not_exist_is_not_named() {
    let told = envelope(&awaited(428, json!({})), "req_1");
    assert_eq!(told.status(), 428);
    assert_eq!(body(&told).get("decision"), None);
}

#[test]
fn a_challenge_names_the_error_of_the_proof() {
    let challenge = |refusal: Refusal| envelope(&refusal, "r").headers().get("www-authenticate").cloned();
    let invalid = "DPoP error=\"invalid_dpop_proof\", algs=\"ES256 PS256\"";
    for refusal in [Refusal::DpopMissing("none"), Refusal::DpopInvalid("x".into()), Refusal::DpopReplayed] {
        assert_eq!(challenge(refusal).unwrap(), invalid);
    }
    assert_eq!(challenge(Refusal::DpopNonceMissing).unwrap(), "DPoP error=\"use_dpop_nonce\", algs=\"ES256 PS256\"");
}

/// AAP-18.4-01
#[test]
fn every_401_has_a_challenge_in_the_scheme_of_the_request_and_nothing_else_has_one() {
    let challenge = |refusal: &Refusal, scheme: Scheme| {
        let told = super::envelope(refusal, "r", scheme);
        assert_eq!(told.headers().contains_key("www-authenticate"), told.status() == 401, "{refusal:?}");
        told.headers().get("www-authenticate").map(|value| value.to_str().unwrap().to_owned())
    };
    for refusal in [
        Refusal::AccessTokenInvalid,
        Refusal::AccessTokenExpired,
        Refusal::DelegationNotFound,
        Refusal::OperatorJwtExpired,
        Refusal::ConsentMissing,
    ] {
        assert_eq!(challenge(&refusal, Scheme::Bearer).unwrap(), "Bearer error=\"invalid_token\"");
        let bound = "DPoP error=\"invalid_token\", algs=\"ES256 PS256\"";
        assert_eq!(challenge(&refusal, Scheme::Dpop).unwrap(), bound);
    }
    let person = "Cookie realm=\"people\", form-action=\"/sign-in\"";
    assert_eq!(challenge(&Refusal::SignInRequired, Scheme::Bearer).unwrap(), person);
    for refusal in [Refusal::ModeMissing, Refusal::CsrfRejected, Refusal::ProjectNotFound, Refusal::Unavailable] {
        assert_eq!(challenge(&refusal, Scheme::Dpop), None);
    }
}

#[test]
fn a_limit_that_is_used_up_is_named() {
    let told = envelope(&Refusal::UsageLimitReached { limit: Limit::WritesPerSession, retry_after_s: 7 }, "r");
    assert_eq!(told.status(), 429);
    assert_eq!(told.headers()["x-agent-limit-reason"], Limit::WritesPerSession.as_str());
    assert_eq!(told.headers()["retry-after"], "7");
}

#[test]
fn the_outcome_of_a_call_behind_the_gateway_is_reported_honestly() {
    let hint = |refusal: Refusal| {
        let told = envelope(&refusal, "r");
        (told.status().as_u16(), body(&told)["hint"].as_str().unwrap().to_owned())
    };
    assert_eq!(hint(Refusal::UpstreamUnreachable), (502, "nothing was sent; try again shortly".into()));
    let careful = "do not repeat it blindly; read the current state first".to_owned();
    assert_eq!(hint(Refusal::UpstreamFailed(None)), (502, careful.clone()));
    assert_eq!(hint(Refusal::UpstreamSlow(None)), (504, careful));
}
