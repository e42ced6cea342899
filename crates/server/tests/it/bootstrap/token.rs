//! The delegation token: its claims, and that no other token passes as one (AAP 19.4).

use super::{changed, claims_of, request, show, yes};
use countersign_protocol::aap::delegation_token::TYP;
use countersign_testkit::{Connected, Plane, Setup, on_sqlite};
use serde_json::{Value, json};

async fn register_with_token(plane: &Plane, delegation_token: String) -> countersign_testkit::Answer {
    let connected = Connected { delegation_id: String::new(), delegation_token };
    plane.post("/agent/register", &plane.register_body(plane.acme(), &connected)).await
}

on_sqlite! {
    /// AAP-19.4-01, AAP-19.4-02, AAP-19.4-03, AAP-19.4-04, AAP-19.4-07
    async fn an_issued_token_has_exactly_the_members_of_the_schema(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let manifest = plane.get("/.well-known/agent-auth.json").await.expect(200).json();
        let waiting = request(&plane, json!({})).await;
        let shown = show(&plane, &alice, &waiting).await;
        let granted = alice.post(&plane, "/agent/delegate", &yes(&waiting, &shown)).await.expect(201).json();
        let body = plane.exchange_body(plane.acme(), granted["code"].as_str().unwrap());
        let exchanged = plane.post("/agent/delegate/token", &body).await.expect(200).json();
        for token in [&granted["delegation_token"], &exchanged["delegation_token"]] {
            let claims = claims_of(token.as_str().unwrap());
            let wanted = json!({
                "iss": manifest["service"],
                "sub": "alice",
                "delegated_to": "acme.test",
                "delegation_id": granted["delegation_id"],
                "scopes": ["calendar.read", "calendar.write"],
                "max_agent_ttl": 3600,
                "iat": plane.now().secs(),
                "exp": plane.now().secs() + 90 * 86_400,
            });
            assert_eq!(claims, wanted);
        }
        let random = granted["delegation_id"].as_str().unwrap().strip_prefix("del_").unwrap();
        let drawn = |b: u8| b.is_ascii_digit() || b.is_ascii_lowercase();
        assert!((26..=32).contains(&random.len()) && random.bytes().all(drawn), "{random}");
    }

    /// AAP-19.4-01, AAP-19.4-02, AAP-19.4-03, AAP-19.4-05, AAP-19.4-06, AAP-19.4-07
    async fn a_token_of_our_own_key_that_says_less_more_or_otherwise_is_none(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let sound = claims_of(&connected.delegation_token);
        let key = plane.service_key().await;
        let mut cases: Vec<(String, Value)> = sound
            .as_object()
            .unwrap()
            .keys()
            .map(|claim| (format!("without {claim}"), changed(sound.clone(), json!({ (claim): null }))))
            .collect();
        let wrong = [
            ("the host as issuer", json!({ "iss": "api.example.test" })),
            ("a URL as operator", json!({ "delegated_to": "https://acme.test" })),
            ("an id too short", json!({ "delegation_id": "del_abc" })),
            ("a lifetime below the least", json!({ "max_agent_ttl": 299 })),
            ("one claim more", json!({ "effective_policy": {} })),
        ];
        cases.extend(wrong.map(|(what, changes)| (what.to_owned(), changed(sound.clone(), changes))));
        for (what, claims) in cases {
            let answer = register_with_token(&plane, key.sign(TYP, &claims).unwrap()).await;
            assert_eq!(answer.refusal(), (401, "delegation_invalid".into()), "{what}: {}", answer.text());
        }
        let unknown = changed(sound.clone(), json!({ "delegation_id": "del_00000000000000000000000000" }));
        let answer = register_with_token(&plane, key.sign(TYP, &unknown).unwrap()).await;
        assert_eq!(answer.refusal(), (401, "delegation_not_found".into()));
        register_with_token(&plane, key.sign(TYP, &sound).unwrap()).await.expect(200);
    }

    /// AAP-19.4-06
    async fn the_least_and_the_most_lifetime_are_issued_as_asked_and_as_configured(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        for ttl in [300, 86_400] {
            let waiting = request(&plane, json!({ "max_agent_ttl": ttl })).await;
            let shown = show(&plane, &alice, &waiting).await;
            let granted = alice.post(&plane, "/agent/delegate", &yes(&waiting, &shown)).await.expect(201).json();
            assert_eq!(claims_of(granted["delegation_token"].as_str().unwrap())["max_agent_ttl"], ttl);
        }
        let waiting = request(&plane, json!({})).await;
        for ttl in [299, 86_401] {
            let body = json!({ "request_id": waiting, "max_agent_ttl": ttl });
            let answer = alice.post(&plane, "/agent/delegate", &body).await;
            assert_eq!(answer.refusal(), (400, "invalid_request".into()), "{ttl}");
        }
        let document = plane.engine.projects().await.unwrap()[0].document.clone();
        for (ttl, sound) in [(299, false), (300, true), (86_400, true), (86_401, false)] {
            let changed = countersign_protocol::project::ProjectDocument { max_agent_ttl: ttl, ..(*document).clone() };
            assert_eq!(plane.engine.apply_project(changed, "test").await.is_ok(), sound, "{ttl}");
        }
        let granted = plane.approve_at("", &alice, &waiting).await;
        assert_eq!(claims_of(granted["delegation_token"].as_str().unwrap())["max_agent_ttl"], 86_400);
    }

    /// AAP-19.4-04
    async fn an_id_alone_opens_nothing(kit) {
        let plane = kit.plane().await;
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        let id = connected.delegation_id.clone();
        let register = register_with_token(&plane, id.clone()).await;
        assert_eq!(register.refusal(), (401, "delegation_invalid".into()));
        let audit = plane.get(&format!("/agent/audit?delegation_id={id}")).await;
        assert_eq!(audit.refusal(), (401, "agent_auth_required".into()));
        let revoke = plane.post("/agent/revoke", &json!({ "delegation_id": id })).await;
        assert_eq!(revoke.refusal(), (401, "agent_auth_required".into()));
        let bearer = countersign_testkit::Registered {
            access_token: id.clone(),
            session_id: format!("sess_{}", "0".repeat(32)),
            delegation_id: Some(id),
            answer: Value::Null,
        };
        let call = plane.call(&bearer, http::Method::GET, "/calendar/events", "READ_CALENDAR").await;
        assert_eq!(call.refusal(), (401, "access_token_invalid".into()));
        plane.register(plane.acme(), &connected).await;
    }

    /// AAP-19.4-02, AAP-19.4-03
    async fn a_domain_of_letters_beyond_ascii_is_issued_in_its_wire_form(kit) {
        let plane = kit.plane_with(Setup { operators: vec!["xn--bcher-kva.test"], ..Setup::default() }).await;
        let alice = plane.person("alice").await;
        let connected = plane.connect(&alice, plane.acme(), &["calendar.read"]).await;
        assert_eq!(claims_of(&connected.delegation_token)["delegated_to"], "xn--bcher-kva.test");
    }
}
