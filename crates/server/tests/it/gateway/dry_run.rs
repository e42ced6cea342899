//! Dry runs that the gateway answers (AAP 14.1): nothing is committed, and the real call is exactly the previewed one.

use super::held::{asked, id, redeem, unconfirmed};
use countersign_protocol::{
    aap::dry_run::DryRunPreview,
    project::{ProjectDocument, Route, RouteDryRun},
};
use countersign_testkit::{
    Answer,
    bank::{BankFixture, GatewayRequest, Manner, PlanDraft, paying, payouts},
    on_both_stores, on_sqlite,
};
use serde_json::{Value, json};

/// Adds the marker in one of its well-formed spellings.
pub(super) type Spelling = fn(GatewayRequest) -> GatewayRequest;

pub(super) const SPELLINGS: [Spelling; 3] = [in_query, in_header, |sent| in_header(in_query(sent))];

pub(super) fn in_query(sent: GatewayRequest) -> GatewayRequest {
    let separator = if sent.target.contains('?') { '&' } else { '?' };
    GatewayRequest { target: format!("{}{separator}dry_run=true", sent.target), ..sent }
}

pub(super) fn in_header(sent: GatewayRequest) -> GatewayRequest {
    sent.with("x-agent-dry-run", "true")
}

pub(super) fn note() -> GatewayRequest {
    GatewayRequest::new("POST", "/notes").json(r#"{"note":"hello"}"#)
}

pub(super) fn without(document: &mut ProjectDocument, route: &str) {
    of(document, route).dry_run = Some(RouteDryRun::Offered(false));
}

pub(super) fn of<'a>(document: &'a mut ProjectDocument, route: &str) -> &'a mut Route {
    document.routes.iter_mut().find(|known| known.id == route).expect("a route")
}

/// The preview, after a look at the form of the answer.
pub(super) fn previewed(answer: Answer) -> Value {
    let answer = answer.expect(200);
    assert_eq!(answer.header("x-agent-dry-run"), Some("true"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let preview = answer.json();
    crate::schemas::assert_valid("dry-run-preview", &preview);
    let read: DryRunPreview = serde_json::from_value(preview.clone()).expect("a preview");
    assert_eq!(serde_json::to_value(&read).unwrap(), preview);
    assert!(read.dry_run);
    preview
}

/// One request for each route of the bank that writes.
fn writes() -> Vec<GatewayRequest> {
    vec![
        note(),
        BankFixture::transfer(),
        GatewayRequest::new("POST", "/refunds").json(r#"{"payment_id":"p1"}"#),
        GatewayRequest::new("DELETE", "/payees/theirs"),
        GatewayRequest::new("POST", "/orders").json(r#"{"item":"paper"}"#),
        GatewayRequest::new("POST", "/closures").json(r#"{"account":"ours"}"#),
        GatewayRequest::new("POST", "/pings"),
    ]
}

on_both_stores! {
    /// AAP-14.1-01, AAP-14.1-02, AAP-14.1-04, AAP-G-20, AAP-15-12, AAP-14.2-07, R-20
    async fn a_dry_run_of_any_write_in_any_spelling_is_a_preview_and_changes_nothing(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, |_| {}).await;
        let limits = json!({ "requests_per_hour": 2, "writes_per_session": 1, "max_data_egress_kb": 1 });
        let agent = scene.limited(limits).await;
        let before = scene.stored_state().await;
        for spelled in SPELLINGS {
            for sent in writes() {
                let path = sent.target.clone();
                let preview = previewed(scene.sends_as(&agent, spelled(sent)).await);
                assert_eq!(preview["would_send"]["target"], path, "without the marker");
                assert_eq!(preview["would_use"]["limits"], json!([
                    { "limit": "requests_per_hour", "used": 0, "most": 2, "would_add": 1 },
                    { "limit": "writes_per_session", "used": 0, "most": 1, "would_add": 1 },
                    { "limit": "max_data_egress_kb", "used": 0, "most": 1 },
                ]));
            }
        }
        assert_eq!(scene.stored_state().await, before);
        assert_eq!((scene.bank.got().len(), scene.alice.pending_questions(&scene.plane).await), (0, 0));
        let calls = scene.calls().await;
        assert_eq!(calls.len(), SPELLINGS.len() * writes().len());
        assert!(calls.iter().all(|call| call["outcome"] == "200 OK" && call["dry_run"] == true), "{calls:#?}");
        scene.sends_as(&agent, note()).await.expect(201);
        assert_eq!(scene.calls().await.last().unwrap()["dry_run"], Value::Null);
    }

    /// AAP-14.1-02, R-3
    async fn the_question_about_the_same_request_has_the_digest_of_its_preview_and_another_body_has_another(kit) {
        let scene = kit.bank().await;
        let sent = || GatewayRequest { target: "/transfers?urgent=no".into(), ..BankFixture::transfer() }
            .with("x-reference", "invoice 7").with("x-unlisted", "a");
        let previews = [in_query(sent()), in_header(sent())].map(|sent| scene.sends(sent));
        let [one, other] = futures_util::future::join_all(previews).await.try_into().unwrap();
        let (one, other) = (previewed(one), previewed(other));
        assert_eq!(one, other);
        assert_eq!(one["would_need"], "person");
        let decision = asked(&scene, sent()).await;
        assert_eq!(decision["digest"], one["digest"]);
        assert_eq!(one["would_send"]["headers"], json!({ "x-reference": "invoice 7" }));
        let asks = &one["would_ask"];
        let shown = scene.alice.get(&scene.plane, "/aaep/v1/questions").await.expect(200).json()["questions"].clone();
        assert_eq!(shown.as_array().unwrap().len(), 1);
        assert_eq!(asks["question"]["action"], shown[0]["action"], "{shown:#?}");
        assert_eq!(asks["question"]["consequence"], shown[0]["consequence"]);
        assert_eq!((&asks["risk_level"], &asks["irreversible"]), (&json!("high"), &json!(true)));
        assert_eq!(asks["approvers"], json!(["the person for whom the agent acts"]));
        let again = previewed(scene.sends(in_query(sent())).await);
        assert_eq!(again["would_ask"]["decision_id"], decision["decision_id"], "the pending one: {again:#}");
        for changed in [
            BankFixture::transfer_of("82000.01"),
            GatewayRequest { target: "/transfers?urgent=yes".into(), ..BankFixture::transfer() },
            sent().with("content-encoding", ""),
        ] {
            let preview = previewed(scene.sends(in_header(changed.clone())).await);
            if changed.headers.iter().any(|(name, _)| name == "content-encoding") {
                assert_eq!(preview["digest"], decision["digest"]);
            } else {
                assert_ne!(preview["digest"], decision["digest"], "{changed:?}");
            }
        }
        scene.alice.accepts(&scene.plane, &decision).await;
        let approved = previewed(scene.sends(in_query(sent())).await);
        let approval =
            json!({ "decision_id": decision["decision_id"], "standing": false, "uses_left": 1, "would_take": 1 });
        assert_eq!(approved["would_use"]["approval"], approval);
        assert_eq!(approved["would_ask"], Value::Null);
        assert!(approved["next"].as_str().unwrap().contains("X-Agent-Confirm"), "{approved}");
        let confirmed = previewed(scene.sends(in_query(sent()).confirmed("true")).await);
        assert_eq!(confirmed["would_use"], approved["would_use"], "and it is not claimed");
        scene.sends(sent().confirmed("true")).await.expect(201);
        assert_eq!(scene.bank.effects().len(), 1);
        assert_eq!(scene.bank.effects()[0].target, "/transfers?urgent=no");
    }

    /// AAP-14.1-12, R-20, R-22
    async fn an_odd_repeated_or_contradictory_marker_is_refused_and_nothing_is_committed(kit) {
        let (scene, _folder) = BankFixture::lasting(kit, |document| without(document, "orders")).await;
        let agent = scene.limited(json!({ "requests_per_hour": 1000 })).await;
        let before = scene.stored_state().await;
        let with = |path: &str, query: &str, headers: &[&str]| {
            let sent = GatewayRequest::new("POST", &format!("{path}{query}")).json(r#"{"note":"hello"}"#);
            headers.iter().fold(sent, |sent, value| sent.with("x-agent-dry-run", value))
        };
        let odd: [(&str, &[&str]); 18] = [
            ("?dry_run=1", &[]), ("?dry_run=TRUE", &[]), ("?dry_run", &[]), ("?dry_run=", &[]), ("?dry%5Frun=true", &[]),
            ("?Dry_Run=true", &[]), ("?dry_run=%74rue", &[]), ("?dry_run=true&dry_run=true", &[]),
            ("?dry_run=true&dry_run=false", &[]), ("?a=1;dry_run=true", &[]), ("", &["1"]), ("", &["TRUE"]), ("", &[""]),
            ("", &["true", "true"]), ("", &["true, true"]), ("?dry_run=true", &["false"]), ("?dry_run=false", &["true"]),
            ("?dry_run=1", &["true"]),
        ];
        for path in ["/notes", "/transfers", "/orders"] {
            for (query, headers) in odd {
                let answer = scene.sends_as(&agent, with(path, query, headers).confirmed("true")).await;
                assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{path}{query} {headers:?}");
                assert!(answer.json()["hint"].as_str().unwrap().contains("dry_run=true"), "{}", answer.text());
            }
        }
        assert_eq!(scene.stored_state().await, before);
        assert_eq!((scene.bank.got().len(), scene.alice.pending_questions(&scene.plane).await), (0, 0));
        let calls = scene.calls().await;
        assert_eq!(calls.len(), 3 * odd.len(), "each is recorded");
        assert!(calls.iter().all(|call| call["outcome"] == "400 invalid_request"), "{calls:#?}");
        let refused = scene.authenticated(&agent, with("/notes", "?dry_run=1", &[]));
        scene.sends_raw(refused.clone()).await.expect(400);
        let repaired = GatewayRequest { target: "/notes".into(), ..refused };
        assert_eq!(scene.sends_raw(repaired).await.refusal(), (401, "dpop_replayed".into()));
    }

    /// AAP-16.2-22, AAP-14.1-01, C-04
    async fn a_route_declared_without_one_refuses_a_dry_run_in_either_spelling(kit) {
        let declare = |document: &mut ProjectDocument| ["notes", "transfers"].iter().for_each(|route| without(document, route));
        let (scene, _folder) = BankFixture::lasting(kit, declare).await;
        let before = scene.stored_state().await;
        for sent in [note(), BankFixture::transfer(), BankFixture::transfer().confirmed("true")] {
            for spelled in SPELLINGS {
                let answer = scene.sends(spelled(sent.clone())).await;
                assert_eq!(answer.refusal(), (400, "dry_run_unsupported".into()));
                assert!(answer.json()["hint"].is_string());
            }
        }
        for sent in [GatewayRequest::new("GET", "/prices"), GatewayRequest::new("GET", "/ticker")] {
            assert_eq!(scene.sends(in_query(sent)).await.refusal(), (400, "dry_run_unsupported".into()), "a stream");
        }
        assert_eq!(scene.stored_state().await, before);
        assert_eq!((scene.bank.got().len(), scene.alice.pending_questions(&scene.plane).await), (0, 0));
        previewed(scene.sends(in_query(GatewayRequest::new("POST", "/pings"))).await);
    }

    /// R-22, R-24
    async fn the_proof_of_a_dry_run_is_spent(kit) {
        let scene = kit.bank().await;
        for sent in [note(), BankFixture::transfer()] {
            let dry = scene.authenticated(&scene.agent, in_header(sent.clone()));
            let dry = match scene.sends_raw(dry.clone()).await {
                answer if answer.status == 200 => dry,
                answer => {
                    scene.agent.takes_nonce(answer.header("dpop-nonce"));
                    let dry = scene.authenticated(&scene.agent, in_header(sent));
                    previewed(scene.sends_raw(dry.clone()).await);
                    dry
                }
            };
            assert_eq!(scene.sends_raw(dry.clone()).await.refusal(), (401, "dpop_replayed".into()));
            let marked = |(name, _): &(String, String)| name == "x-agent-dry-run";
            let headers = dry.headers.iter().filter(|header| !marked(header)).cloned().collect();
            let real = GatewayRequest { headers, ..dry };
            assert_eq!(scene.sends_raw(real).await.refusal(), (401, "dpop_replayed".into()));
            assert_eq!(scene.bank.got().len(), 0);
        }
    }

    /// AAP-14.1-02, R-28
    async fn a_dry_run_is_refused_as_the_real_call_would_be(kit) {
        let scene = kit.bank().await;
        scene.bank.set_manner(Manner::Vanishing);
        let lost = || GatewayRequest::new("POST", "/notes").json(r#"{"note":"lost"}"#);
        scene.sends(lost()).await.expect(502);
        assert_eq!(scene.sends(in_query(lost())).await.refusal(), (409, "conflict".into()), "its outcome is unknown");
        scene.bank.set_manner(Manner::Obliging);
        let agent = scene.limited(json!({ "writes_per_session": 1 })).await;
        scene.sends_as(&agent, note()).await.expect(201);
        for sent in [in_query(note()), in_header(BankFixture::transfer())] {
            let answer = scene.sends_as(&agent, sent).await;
            assert_eq!(answer.refusal(), (429, "usage_limit_reached".into()));
            assert_eq!(answer.header("x-agent-limit-reason"), Some("writes_per_session"));
        }
        let refused = |sent: GatewayRequest| scene.sends(in_query(sent));
        let unreadable = refused(BankFixture::transfer().json(r#"{"to":1,"to":2}"#)).await;
        assert_eq!(unreadable.refusal(), (400, "invalid_request".into()));
        let unknown = refused(BankFixture::transfer().confirmed("dec_0.cft_0")).await;
        assert_eq!(unknown.refusal(), unconfirmed());
        assert_eq!(refused(GatewayRequest::new("POST", "/nowhere")).await.refusal(), (404, "route_not_found".into()));
        let approved = scene.approved(BankFixture::transfer()).await;
        scene.sends(BankFixture::transfer().confirmed("true")).await.expect(201);
        let foreign = scene.another(|_| {}).await;
        let stolen = in_query(BankFixture::transfer()).confirmed(&format!("{}.cft_0", id(&approved)));
        assert_eq!(scene.sends_as(&foreign, stolen).await.refusal(), unconfirmed());
        let body = json!({ "delegation_id": scene.connected.delegation_id, "reason": "user_requested" });
        scene.alice.post(&scene.plane, "/agent/revoke", &body).await.expect(200);
        for sent in [note(), BankFixture::transfer()] {
            assert_eq!(refused(sent).await.refusal(), (401, "delegation_revoked".into()));
        }
        let dry: Vec<Value> = scene.calls().await.into_iter().filter(|call| call["dry_run"] == true).collect();
        assert_eq!(dry.len(), 8, "each refusal of a known caller is recorded: {dry:#?}");
    }
}

on_sqlite! {
    /// R-20: `false` is no dry run, and no part of the request.
    async fn a_well_formed_false_is_the_real_call(kit) {
        let scene = kit.bank().await;
        let decision = asked(&scene, BankFixture::transfer()).await;
        for (target, header) in [("/transfers?dry_run=false", false), ("/transfers", true), ("/transfers?dry_run=false", true)] {
            let sent = GatewayRequest { target: target.into(), ..BankFixture::transfer() };
            let sent = if header { sent.with("x-agent-dry-run", "false") } else { sent };
            assert_eq!(asked(&scene, sent).await["decision_id"], decision["decision_id"], "the same action");
        }
        scene.sends(GatewayRequest { target: "/notes?a=1&dry_run=false".into(), ..note() }).await.expect(201);
        let got = &scene.bank.got()[0];
        assert_eq!((got.target.as_str(), got.headers.get("x-agent-dry-run")), ("/notes?a=1", None));
    }

    /// R-20
    async fn a_dry_run_of_a_read_is_a_preview_too_and_nothing_is_forwarded(kit) {
        let scene = kit.bank().await;
        let preview = previewed(scene.sends(in_query(GatewayRequest::new("GET", "/accounts/ours?since=2026"))).await);
        assert_eq!((&preview["would_need"], &preview["would_send"]["target"]), (&json!("nothing"), &json!("/accounts/ours?since=2026")));
        assert!(scene.bank.got().is_empty());
    }

    /// AAP-14.1-02: a preview of a call that the agent's own word suffices for does not need that word.
    async fn the_preview_names_the_confirmation_that_is_needed(kit) {
        let scene = kit.bank().await;
        for (sent, needs) in [
            (note(), "nothing"),
            (GatewayRequest::new("POST", "/pings"), "own_word"),
            (GatewayRequest::new("POST", "/pings").confirmed("true"), "own_word"),
            (BankFixture::transfer(), "person"),
        ] {
            let preview = previewed(scene.sends(in_query(sent)).await);
            assert_eq!(preview["would_need"], needs);
            assert_eq!(preview["would_ask"].is_object(), needs == "person");
        }
    }

    /// R-7, R-20
    async fn a_call_that_a_plan_covers_would_use_the_plans_approval_and_no_use_is_taken(kit) {
        let scene = kit.bank_with(payouts).await;
        let draft = PlanDraft::of(paying(2));
        let decision = scene.planned(&draft).await;
        for _ in 0..3 {
            let preview = previewed(scene.sends(in_query(BankFixture::transfer_of("100.00"))).await);
            let approval =
                json!({ "decision_id": decision["decision_id"], "standing": true, "uses_left": 2, "would_take": 1 });
            assert_eq!(preview["would_use"]["approval"], approval);
            assert_eq!(preview["would_ask"], Value::Null);
        }
        assert_eq!(scene.uses_left(&draft, 1).await, 2);
        let beyond = previewed(scene.sends(in_query(BankFixture::transfer_of("501.00"))).await);
        assert!(beyond["would_ask"].is_object() && beyond["would_use"]["approval"].is_null(), "{beyond:#}");
    }

    /// AAP-14.1-02
    async fn the_preview_says_how_long_an_approved_call_would_be_held(kit) {
        let scene = kit.bank_with(|document| {
            of(document, "transfers").undo = Some(serde_json::from_value(json!({ "by": "hold" })).unwrap());
            document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap().undo_window_s = Some(45);
        }).await;
        let hold = async |sent| previewed(scene.sends(in_query(sent)).await)["would_hold_for_undo"].clone();
        assert_eq!(hold(BankFixture::transfer()).await, 45);
        assert_eq!(hold(note()).await, Value::Null);
    }

    /// R-8, R-20
    async fn a_question_that_could_not_be_raised_is_refused_in_the_dry_run(kit) {
        let scene = kit.bank_with(|document| document.decisions.max_open_per_agent = 1).await;
        asked(&scene, BankFixture::transfer()).await;
        let other = scene.sends(in_query(BankFixture::transfer_of("1.00"))).await;
        let real = scene.sends(BankFixture::transfer_of("1.00")).await;
        assert_eq!(other.refusal(), real.refusal());
        assert_eq!(other.status, 429);
    }

    /// R-5, R-20
    async fn a_stored_request_has_no_dry_run(kit) {
        let scene = kit.bank().await;
        let decision = scene.approved(BankFixture::transfer()).await;
        for spelled in SPELLINGS {
            assert_eq!(scene.sends(spelled(redeem(&decision))).await.refusal(), (400, "invalid_request".into()));
        }
        assert_eq!(scene.bank.got().len(), 0);
        scene.sends(redeem(&decision)).await.expect(201);
    }

    /// AAP-8.3-06: a dry run beyond a policy's budget is refused, and does not end the delegation.
    async fn a_dry_run_ends_no_delegation(kit) {
        let budget = json!({ "after_use": { "max_writes": 1 } });
        let scene = kit.bank_with(|document| document.auto_revoke = serde_json::from_value(budget).unwrap()).await;
        scene.sends(note()).await.expect(201);
        assert_eq!(scene.sends(in_query(note())).await.refusal(), (401, "auto_revoked".into()));
        scene.sends(GatewayRequest::new("GET", "/accounts")).await.expect(200);
    }

    /// AAP-15-12, AAP-15-21
    async fn a_document_with_dry_runs_undo_and_service_accounts_may_claim_extended(kit) {
        let scene = kit.bank().await;
        let mut document = (*scene.plane.at().await.project.document).clone();
        document.conformance.tier = countersign_protocol::aap::manifest::ConformanceTier::Extended;
        let refused = format!("{:?}", scene.plane.engine.apply_project(document.clone(), "test").await.unwrap_err());
        assert!(refused.contains("service accounts") && !refused.contains("dry runs"), "{refused}");
        document.identity_modes_supported.push("service_account".into());
        of(&mut document, "transfers").undo = Some(serde_json::from_value(json!({ "by": "hold" })).unwrap());
        document.scopes.iter_mut().find(|scope| scope.id == "bank.pay").unwrap().undo_window_s = Some(20);
        scene.plane.engine.apply_project(document.clone(), "test").await.unwrap();
        let manifest = scene.plane.get("/.well-known/agent-auth.json").await.expect(200).json();
        assert_eq!(manifest["conformance"]["tier"], "extended");
        for route in &mut document.routes {
            route.dry_run = route.writes().then_some(RouteDryRun::Offered(false));
        }
        let refused = format!("{:?}", scene.plane.engine.apply_project(document, "test").await.unwrap_err());
        assert!(refused.contains("conformance.tier") && refused.contains("dry runs"), "{refused}");
    }
}
