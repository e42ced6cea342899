//! Conformance tiers: what a manifest claims, and what the claim demands of a registration (AAP 13.1, 15, 19.2).

use super::proofs::*;
use crate::register::support::told;
use axum::body::Body;
use countersign_core::{records::Record, step::Effects};
use countersign_engine::{Project, store::Outcome};
use countersign_jose::SigningKey;
use countersign_protocol::{
    aap::manifest::ConformanceTier,
    project::{ConformanceClaim, ProjectDocument},
};
use countersign_testkit::{
    Answer, Kit, Plane, Setup, agent_request,
    bank::{BankFixture, GatewayRequest},
    on_sqlite,
};
use http::Method;
use serde_json::{Value, json};

const TIERS: [ConformanceTier; 3] = [ConformanceTier::Core, ConformanceTier::Extended, ConformanceTier::Full];

async fn scene(kit: Kit) -> BankFixture {
    let scene = kit.bank_with(without_nonces).await;
    scene.plane.acme().publish_webhook();
    scene.plane.advance_secs(3601).await;
    scene
}

/// Changes the document past the check of its parts: the demands of a claim are tested by themselves.
async fn claims(plane: &Plane, change: impl FnOnce(&mut ProjectDocument)) {
    let mut project: Project = plane.at().await.project;
    change(std::sync::Arc::make_mut(&mut project.document));
    project.version += 1;
    let effects = Effects { puts: vec![Record::Project(project)], ..Effects::default() };
    assert_eq!(plane.engine.store().commit(effects).await, Outcome::Committed);
}

fn claim(tier: ConformanceTier) -> ConformanceClaim {
    ConformanceClaim { tier, tested: Some("2026-06-01".into()) }
}

async fn register(scene: &BankFixture, with_proof: bool) -> Answer {
    let plane = &scene.plane;
    let mut request = agent_request(Method::POST, "/agent/register");
    if with_proof {
        let key = SigningKey::generate(None).unwrap();
        let url = format!("{}/agent/register", plane.service());
        let claims = json!({ "jti": fresh(), "htm": "POST", "htu": url, "iat": plane.now().secs() });
        request = request.header("dpop", key.sign_with_header(&header_of(&key), &claims).unwrap());
    }
    let body = plane.register_body(plane.acme(), &scene.connected);
    plane.send(request.body(Body::from(body.to_string())).unwrap()).await
}

async fn manifest(plane: &Plane) -> Value {
    plane.get("/.well-known/agent-auth.json").await.expect(200).json()
}

on_sqlite! {
    /// AAP-13.1-06, AAP-13.1-07, AAP-17.1-08, AAP-15-01
    async fn a_token_is_bound_at_every_tier_and_only_core_may_issue_another(kit) {
        for tier in TIERS {
            let scene = scene(kit).await;
            claims(&scene.plane, |document| document.conformance = claim(tier)).await;
            assert_eq!(register(&scene, true).await.expect(200).json()["token_type"], "DPoP", "{tier:?}");
            let bare = register(&scene, false).await;
            let announced = &manifest(&scene.plane).await["dpop_required"];
            match tier {
                ConformanceTier::Core => {
                    assert_eq!(bare.expect(200).json()["token_type"], "Bearer");
                    assert_eq!(*announced, Value::Null);
                }
                _ => {
                    assert_eq!(bare.refusal(), told(401, "dpop_missing"), "{tier:?}");
                    assert_eq!(*announced, true);
                }
            }
        }
    }

    /// AAP-13.1-07
    async fn core_at_tier_one_and_two_takes_a_registration_without_proof_and_any_condition_ends_that(kit) {
        for tier in [1, 2] {
            let scene = scene(kit).await;
            claims(&scene.plane, |document| document.minimum_tier = tier).await;
            assert_eq!(register(&scene, false).await.expect(200).json()["token_type"], "Bearer");
        }
        let demanding: [fn(&mut ProjectDocument); 4] = [
            |document| document.minimum_tier = 3,
            |document| document.minimum_tier = 4,
            |document| document.dpop.required = true,
            |document| document.conformance = claim(ConformanceTier::Extended),
        ];
        for change in demanding {
            let scene = scene(kit).await;
            claims(&scene.plane, change).await;
            assert_eq!(register(&scene, false).await.refusal(), told(401, "dpop_missing"));
        }
    }

    /// AAP-14.1-09
    async fn what_needs_a_person_needs_one_on_every_tier_whatever_the_receipt_grants(kit) {
        for tier in TIERS {
            let scene = scene(kit).await;
            claims(&scene.plane, |document| document.conformance = claim(tier)).await;
            let agent = scene.with_receipt(|_| {}).await;
            let refund = || GatewayRequest::new("POST", "/refunds").json(r#"{"payment_id":"p-1"}"#);
            let order = || GatewayRequest::new("POST", "/orders").json(r#"{"item":"paper"}"#);
            for held in [BankFixture::transfer, refund, order] {
                for sent in [held(), held().confirmed("true"), held().confirmed("dec_1.cft_2")] {
                    let refused = scene.sends_as(&agent, sent).await;
                    assert_eq!(refused.refusal(), told(403, "irreversible_requires_confirm"), "{tier:?}");
                }
            }
            // An approval covers exactly what was approved, and a rejection nothing.
            let decision = BankFixture::decision(&scene.sends_as(&agent, BankFixture::transfer()).await);
            scene.alice.accepts(&scene.plane, &decision).await;
            let rejected = BankFixture::decision(&scene.sends_as(&agent, refund()).await);
            scene.alice.rejects(&scene.plane, &rejected, None).await;
            let other = scene.with_receipt(|_| {}).await;
            for (by, sent) in [(&agent, BankFixture::transfer_of("82000.01")), (&agent, refund()), (&other, BankFixture::transfer())] {
                let refused = scene.sends_as(by, sent.confirmed("true")).await;
                assert_eq!(refused.refusal(), told(403, "irreversible_requires_confirm"), "{tier:?}");
            }
            assert_eq!(scene.bank.effects().len(), 0, "{tier:?}");
            scene.sends_as(&agent, BankFixture::transfer().confirmed("true")).await.expect(201);
            assert_eq!(scene.bank.effects().len(), 1, "{tier:?}");
        }
    }

    /// AAP-3.1-21
    async fn a_project_demands_proofs_by_itself_and_its_sibling_does_not(kit) {
        let mut setup = Setup::multi();
        setup.projects[0].dpop.required = true;
        let plane = kit.plane_with(setup).await;
        for (project, demands) in [("north", true), ("south", false)] {
            let shown = plane.get(&format!("/.well-known/agent-auth.json?projectId={project}")).await.expect(200).json();
            assert_eq!(shown["dpop_required"], if demands { json!(true) } else { Value::Null });
            assert_eq!(shown["conformance"]["tier"], "core");
            let alice = plane.person_in(project, &format!("alice-{project}"), &[countersign_engine::Role::User]).await;
            let prefix = format!("/projects/{project}");
            let connected = plane.connect_at(&prefix, &alice, plane.acme(), &["calendar.read"]).await;
            let answer = plane.post(&format!("{prefix}/agent/register"), &plane.register_body(plane.acme(), &connected)).await;
            match demands {
                true => assert_eq!(answer.refusal(), told(401, "dpop_missing")),
                false => assert_eq!(answer.expect(200).json()["token_type"], "Bearer"),
            }
        }
    }

    /// AAP-15-21
    async fn the_manifest_claims_what_the_document_provides_and_a_document_that_claims_more_is_refused(kit) {
        let scene = scene(kit).await;
        assert_eq!(manifest(&scene.plane).await["conformance"], json!({ "tier": "core", "spec": "aap/2.0" }));
        let mut document = (*scene.plane.at().await.project.document).clone();
        document.conformance = claim(ConformanceTier::Core);
        scene.plane.engine.apply_project(document.clone(), "test").await.unwrap();
        let tested = json!({ "tier": "core", "spec": "aap/2.0", "tested": "2026-06-01" });
        assert_eq!(manifest(&scene.plane).await["conformance"], tested);
        document.conformance = claim(ConformanceTier::Full);
        let refused = format!("{:?}", scene.plane.engine.apply_project(document, "test").await.unwrap_err());
        assert!(refused.contains("conformance.tier") && refused.contains("trusted_providers"), "{refused}");
        assert!(refused.contains("identity_modes_supported"), "{refused}");
        assert_eq!(manifest(&scene.plane).await["conformance"], tested, "nothing was applied");
    }

    /// AAP-19.2-06
    async fn a_full_service_takes_no_operator_without_a_webhook_and_the_others_do(kit) {
        for tier in TIERS {
            let scene = kit.bank_with(without_nonces).await;
            scene.plane.advance_secs(EPOCH_OVER_S).await;
            claims(&scene.plane, |document| document.conformance = claim(tier)).await;
            let answer = register(&scene, true).await;
            let request = scene.plane.connect_body(scene.plane.acme(), countersign_testkit::bank::SCOPES);
            let connect = scene.plane.post("/agent/delegate/requests", &request).await;
            if tier < ConformanceTier::Full {
                answer.expect(200);
                connect.expect(201);
                continue;
            }
            for answer in [answer, connect] {
                assert_eq!(answer.refusal(), told(401, "operator_not_found"));
                assert!(answer.json()["hint"].as_str().unwrap().contains("webhook_url"), "{}", answer.json());
            }
            scene.plane.acme().publish_webhook();
            scene.plane.advance_secs(3601).await;
            register(&scene, true).await.expect(200);
        }
    }

    /// AAP-19.2-06
    async fn a_webhook_outside_the_operators_domain_or_without_https_makes_its_manifest_invalid(kit) {
        for bad in ["https://evil.test/hook", "http://acme.test/hook", "https://notacme.test/hook", "hook", "https://10.0.0.1/x"] {
            let scene = kit.bank_with(without_nonces).await;
            let mut identity = scene.plane.acme().identity();
            identity["webhook_url"] = json!(bad);
            scene.plane.acme().publish_identity(&identity);
            scene.plane.advance_secs(3601).await;
            assert_eq!(register(&scene, true).await.refusal(), told(401, "operator_not_found"), "{bad}");
        }
    }
}
