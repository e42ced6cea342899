//! From a bare 401 at the gateway to a call that succeeds, guided by the responses alone (AAP 3).

use super::proofs::{EPOCH_OVER_S, without_nonces};
use crate::register::support::SQLITE;
use countersign_jose::ProofKey;
use countersign_testkit::{
    Answer, Kit, Setup, TestOperator, TestPerson, VERIFIER,
    bank::{Bank, BankFixture, GATEWAY, GatewayListener, GatewayRequest, bank},
    challenge_of, on_sqlite,
};
use serde_json::{Value, json};

/// An agent that knows an address of the API and nothing else.
struct Stranger<'a> {
    scene: &'a BankFixture,
    operator: &'a TestOperator,
    manifest: Value,
}

impl<'a> Stranger<'a> {
    /// Calls without credentials and reads the documents that the challenge names, at the origin that challenged.
    async fn discovers(scene: &'a BankFixture) -> Self {
        let bare = scene.sends_raw(GatewayRequest::new("GET", "/accounts")).await;
        assert_eq!(bare.refusal(), (401, "agent_auth_required".into()));
        let challenge = bare.header("www-authenticate").unwrap();
        let path = challenge.strip_prefix("Bearer agent_auth_required=\"").unwrap().strip_suffix('"').unwrap();
        let manifest = scene.sends_raw(GatewayRequest::new("GET", path)).await.expect(200).json();
        Self { scene, operator: scene.plane.acme(), manifest }
    }

    fn service(&self) -> &str {
        self.manifest["service"].as_str().unwrap()
    }

    fn jwt(&self) -> String {
        self.operator.jwt(self.service(), self.scene.plane.now())
    }

    fn path(&self, endpoint: &str) -> &str {
        self.manifest["endpoints"][endpoint].as_str().unwrap()
    }

    async fn posts(&self, endpoint: &str, body: &Value) -> Answer {
        let sent = GatewayRequest::new("POST", self.path(endpoint)).json(body.to_string());
        self.scene.sends_raw(sent.with("aap-version", "2.0")).await
    }

    /// Has the person connect it on the page that the response names; returns the delegation token and its id.
    async fn connects(&self, person: &TestPerson) -> Value {
        let asked = json!({
            "operator_jwt": self.jwt(), "mode": "user_delegated", "scopes": ["bank.read"],
            "code_challenge": challenge_of(VERIFIER), "state": "state-of-the-test",
        });
        let asked = self.posts("connect", &asked).await.expect(201).json();
        let page = asked["connect_url"].as_str().unwrap();
        let path = page.strip_prefix(self.scene.plane.service()).expect("a page on the public origin");
        person.get(&self.scene.plane, path).await.expect(200);
        let request = asked["request_id"].as_str().unwrap();
        let code = self.scene.plane.approve_at("", person, request).await["code"].clone();
        let body = json!({ "operator_jwt": self.jwt(), "code": code, "code_verifier": VERIFIER });
        self.posts("exchange", &body).await.expect(200).json()
    }

    async fn registers(&self, token: &Value, proof: Option<&str>) -> Answer {
        let body = json!({ "mode": "user_delegated", "operator_jwt": self.jwt(), "delegation_token": token });
        let sent = GatewayRequest::new("POST", self.path("register")).json(body.to_string()).with("aap-version", "2.0");
        self.scene.sends_raw(proof.map_or(sent.clone(), |proof| sent.with("dpop", proof))).await
    }
}

async fn scene(kit: Kit) -> BankFixture {
    let scene = kit.bank_with(without_nonces).await;
    scene.plane.advance_secs(EPOCH_OVER_S).await;
    scene
}

on_sqlite! {
    /// AAP-3-08, AAP-3-01
    async fn a_bare_401_leads_to_a_call_that_succeeds(kit) {
        let scene = scene(kit).await;
        let agent = Stranger::discovers(&scene).await;
        assert_eq!(agent.service(), GATEWAY);
        let connected = agent.connects(&scene.alice).await;
        let key = ProofKey::generate().unwrap();
        let proof = |method: &str, path: &str, token: Option<&str>, jti: &str| {
            key.proof(method, &format!("{}{path}", agent.service()), token, None, jti, scene.plane.now()).unwrap()
        };
        let shown = proof("POST", agent.path("register"), None, "one");
        let session = agent.registers(&connected["delegation_token"], Some(&shown)).await.expect(200).json();
        let (token, session_id) = (session["access_token"].as_str().unwrap(), session["session_id"].as_str().unwrap());
        let call = GatewayRequest::new("GET", "/accounts")
            .with("aap-version", "2.0")
            .with("authorization", &format!("DPoP {token}"))
            .with("dpop", &proof("GET", "/accounts", Some(token), "two"))
            .with("x-agent-mode", "user_delegated")
            .with("x-agent-delegation", connected["delegation_id"].as_str().unwrap())
            .with("x-agent-session", session_id)
            .with("x-agent-intent-type", "READ_ACCOUNTS");
        scene.sends_raw(call).await.expect(200);
        assert_eq!(scene.bank.got().len(), 1, "nothing of the protocol reached the bank");
        let audit = GatewayRequest::new("GET", &format!("{}?session_id={session_id}", agent.path("audit")));
        let audit = audit.with("aap-version", "2.0").with("authorization", &format!("Bearer {}", agent.jwt()));
        let entries = scene.sends_raw(audit).await.expect(200).json();
        assert_eq!(entries["entries"][1]["outcome"], "200 OK", "{entries:#}");
        let over = json!({ "session_id": session_id, "operator_jwt": agent.jwt() });
        agent.posts("cancel", &over).await.expect(200);
    }

    /// C-13, R-22
    async fn each_origin_takes_requests_addressed_to_itself_and_a_delegation_of_either(kit) {
        let scene = scene(kit).await;
        let agent = Stranger::discovers(&scene).await;
        let at_gateway = agent.connects(&scene.alice).await;
        // A delegation given at one origin holds at the other: it is one service.
        agent.registers(&json!(scene.connected.delegation_token), None).await.expect(200);
        let acme = scene.plane.acme();
        let (here, there) = (agent.jwt(), acme.jwt(scene.plane.service(), scene.plane.now()));
        let body = |jwt: &str| json!({ "mode": "user_delegated", "operator_jwt": jwt, "delegation_token": at_gateway["delegation_token"] });
        scene.plane.post("/agent/register", &body(&there)).await.expect(200);
        // A JWT or proof addressed to one origin is refused at the other.
        let misdirected = scene.plane.post("/agent/register", &body(&here)).await;
        assert_eq!(misdirected.refusal(), (401, "operator_jwt_invalid".into()));
        assert_eq!(agent.posts("register", &body(&there)).await.refusal(), (401, "operator_jwt_invalid".into()));
        let key = ProofKey::generate().unwrap();
        let url = format!("{}/agent/register", scene.plane.service());
        let elsewhere = key.proof("POST", &url, None, None, "one", scene.plane.now()).unwrap();
        let answer = agent.registers(&at_gateway["delegation_token"], Some(&elsewhere)).await;
        assert_eq!(answer.refusal(), (401, "dpop_invalid".into()));
    }
}

/// AAP-3-01, AAP-3-03, AAP-3-04
#[tokio::test]
async fn each_origin_speaks_of_itself_and_the_public_one_says_where_the_api_is() {
    let scene = scene(SQLITE).await;
    let here = scene.sends_raw(GatewayRequest::new("GET", "/.well-known/agent-auth.json")).await.expect(200);
    assert_eq!(here.header("cache-control"), Some("public, max-age=60"));
    assert_eq!(here.header("aap-version-served"), Some("2.0"));
    let there = scene.plane.get("/.well-known/agent-auth.json").await.expect(200).json();
    assert_eq!((&here.json()["service"], here.json().get("resource_origin")), (&json!(GATEWAY), None));
    assert_eq!((&there["service"], &there["resource_origin"]), (&json!(scene.plane.service()), &json!(GATEWAY)));
    for path in ["/.well-known/agent-identity.json", "/.well-known/agent-jwks.json"] {
        let here = scene.sends_raw(GatewayRequest::new("GET", path)).await.expect(200);
        assert_eq!(here.json(), scene.plane.get(path).await.json());
        assert_eq!(here.header("cache-control"), Some("public, max-age=300"));
    }
    let wrong = scene.sends_raw(GatewayRequest::new("DELETE", "/.well-known/agent-auth.json")).await;
    assert_eq!(wrong.refusal(), (405, "method_not_allowed".into()));
    assert_eq!(
        scene.sends_raw(GatewayRequest::new("GET", "/agent/nothing")).await.refusal(),
        (404, "not_found".into())
    );
    // Pages, the inbox and administration are not for agents and not served here.
    for path in ["/sign-in", "/inbox", "/v1/agents", "/openapi.json", "/mcp"] {
        assert_eq!(
            scene.sends_raw(GatewayRequest::new("GET", path)).await.refusal(),
            (401, "agent_auth_required".into()),
            "{path}"
        );
    }
    assert_eq!(scene.bank.got().len(), 0);
}

/// AAP-3-08
#[tokio::test]
async fn a_route_that_could_be_taken_for_an_endpoint_is_not_applied() {
    let scene = scene(SQLITE).await;
    let document = (*scene.plane.at().await.project.document).clone();
    for path in ["/agent/register", "/{any}/register", "/.well-known/{name}", "/projects/{id}/agent/{thing}"] {
        let mut changed = document.clone();
        changed.routes[0].path = path.into();
        let why = format!("{:?}", scene.plane.engine.apply_project(changed, "test").await.unwrap_err());
        assert!(why.contains("where the gateway answers agents itself"), "{path}: {why}");
    }
}

/// AAP-3-01, AAP-3-08
#[tokio::test]
async fn a_project_with_a_host_of_its_own_is_discovered_there() {
    let service = Bank::open().await;
    let projects = ["north", "south"].map(|id| bank(id, &service.url())).to_vec();
    let plane = SQLITE.plane_with(Setup { gateway: Some(GATEWAY.into()), projects, ..Setup::multi() }).await;
    let node = GatewayListener::of(&plane, |settings| settings.subdomains = true).await;
    let get = async |host: &str, path: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = node.raw(request.as_bytes()).await;
        serde_json::from_str::<Value>(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    };
    let (path, own) = ("/.well-known/agent-auth.json", "https://north.bank.example.test");
    let north = get("north.bank.example.test", path).await;
    assert_eq!((&north["service"], &north["project_id"]), (&json!(own), &json!("north")));
    assert_eq!((north.get("resource_origin"), &north["endpoints"]["register"]), (None, &json!("/agent/register")));
    let platform = get("bank.example.test", path).await;
    assert_eq!(platform["service"], GATEWAY);
    assert_eq!(platform["endpoints"]["register"], "/projects/{projectId}/agent/register");
    let named = get("bank.example.test", &format!("{path}?projectId=north")).await;
    assert_eq!((&named["service"], &named["resource_origin"]), (&json!(GATEWAY), &json!(own)));
    for (host, path) in
        [("west.bank.example.test", path), ("north.bank.example.test", "/.well-known/agent-auth.json?projectId=south")]
    {
        assert_eq!(get(host, path).await["error"], "project_not_found", "{host}{path}");
    }
    assert_eq!(get("north.bank.example.test", "/accounts").await["error"], "agent_auth_required");
}
