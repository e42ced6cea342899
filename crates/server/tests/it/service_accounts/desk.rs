//! The bank with service accounts: ada administers it, alice's agent of acme is connected, and acme asks for accounts.

use countersign_engine::Role;
use countersign_protocol::project::ProjectDocument;
use countersign_testkit::{
    Answer, Kit, Setup, TestPerson,
    bank::{Bank, BankFixture, GatewayRequest, OpenAnswer},
};
use serde_json::{Value, json};

pub(crate) struct Desk {
    pub(crate) scene: BankFixture,
    pub(crate) ada: TestPerson,
    pub(crate) document: ProjectDocument,
}

/// A granted account, with its token.
pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) grant: String,
    pub(crate) token: String,
}

/// A registered session of an account.
pub(crate) struct AccountSession {
    pub(crate) session_id: String,
    pub(crate) access_token: String,
    account: String,
}

pub(crate) const ADA: &str = "ada@bank.test";

impl Desk {
    pub(crate) async fn open(kit: Kit) -> Self {
        Self::open_with(kit, |_| {}).await
    }

    /// Accounts and statements are resources; an account has the data of one user, a statement that of several.
    pub(crate) async fn open_with(kit: Kit, change: impl FnOnce(&mut ProjectDocument)) -> Self {
        let mut applied = None;
        let bank = Bank::open().await;
        let setup = Setup::bank(&bank, |document| {
            document.identity_modes_supported = vec!["user_delegated".into(), "service_account".into()];
            for route in &mut document.routes {
                route.resource = match route.id.as_str() {
                    "account" => Some("account:{path.account}".into()),
                    "statement" => Some("statement:{path.account}".into()),
                    "payees" => Some("payee:{path.payee}".into()),
                    _ => Some("none".into()),
                };
                if route.id == "statement" {
                    route.data_subjects = serde_json::from_value(json!({ "header": "x-data-subjects" })).unwrap();
                }
            }
            let resources = json!([
                { "pattern": "account:*", "users": "one" },
                { "pattern": "statement:*", "users": "many" },
                { "pattern": "payee:*", "users": "none" },
            ]);
            document.resources = serde_json::from_value(resources).unwrap();
            change(document);
            applied = Some(document.clone());
        });
        let setup = Setup { operators: vec!["acme.test", "evil.test"], ..setup };
        let scene = BankFixture::on(kit.plane_with(setup).await, bank).await;
        let ada = scene.plane.person_in("bank", ADA, &[Role::Admin]).await;
        Self { scene, ada, document: applied.unwrap() }
    }

    pub(crate) async fn request(&self, scopes: &[&str]) -> String {
        let mut body = self.scene.plane.connect_body(self.scene.plane.acme(), scopes);
        body["mode"] = json!("service_account");
        let answer = self.scene.plane.post("/agent/delegate/requests", &body).await.expect(201).json();
        answer["request_id"].as_str().unwrap().to_owned()
    }

    /// The usual proposal: read one account.
    pub(crate) fn proposal(request_id: &str) -> Value {
        json!({
            "request_id": request_id,
            "account_id": "svc_acme_prod",
            "org_id": "org_bank",
            "granted_scope": {
                "description": "The shared account of the front desk",
                "resources": ["account:a1"],
                "scopes": ["bank.read", "bank.note"],
            },
        })
    }

    /// Both steps of an admin, and the operator's exchange.
    pub(crate) async fn grant(&self, change: impl FnOnce(&mut Value)) -> Account {
        let request_id = self.request(&["bank.read", "bank.note", "bank.pay", "bank.payees"]).await;
        let mut body = Self::proposal(&request_id);
        change(&mut body);
        let plane = &self.scene.plane;
        let shown = self.ada.post(plane, "/agent/delegate", &body).await.expect(200).json();
        body["disclosure_id"] = shown["disclosure_id"].clone();
        body["acknowledged_disclosure"] = json!(true);
        let granted = self.ada.post(plane, "/agent/delegate", &body).await.expect(201).json();
        let exchange = plane.exchange_body(plane.acme(), granted["code"].as_str().unwrap());
        let exchanged = plane.post("/agent/delegate/token", &exchange).await.expect(200).json();
        let token = |answer: &Value| claims(answer["delegation_token"].as_str().unwrap());
        assert_eq!(token(&exchanged), token(&granted));
        Account {
            id: body["account_id"].as_str().unwrap().to_owned(),
            grant: granted["delegation_id"].as_str().unwrap().to_owned(),
            token: granted["delegation_token"].as_str().unwrap().to_owned(),
        }
    }

    pub(crate) fn register_body(&self, account: &Account) -> Value {
        let plane = &self.scene.plane;
        json!({
            "mode": "service_account",
            "operator_jwt": plane.acme().jwt(plane.service(), plane.now()),
            "delegation_token": account.token,
        })
    }

    pub(crate) async fn registers(&self, account: &Account, change: impl FnOnce(&mut Value)) -> Answer {
        let mut body = self.register_body(account);
        change(&mut body);
        self.scene.plane.post("/agent/register", &body).await
    }

    pub(crate) async fn session(&self, account: &Account) -> AccountSession {
        self.session_in(account, None).await
    }

    pub(crate) async fn session_in(&self, account: &Account, session_id: Option<&str>) -> AccountSession {
        let answer = self.registers(account, |body| body["session_id"] = json!(session_id)).await.expect(200).json();
        AccountSession::of(account, &answer)
    }

    /// Alice's delegation, registered in a session with this id, without a key.
    pub(crate) async fn user_session(&self, session_id: &str) -> Answer {
        let plane = &self.scene.plane;
        let mut body = plane.register_body(plane.acme(), &self.scene.connected);
        body["session_id"] = json!(session_id);
        plane.post("/agent/register", &body).await
    }

    pub(crate) async fn calls(&self, session: &AccountSession, method: &str, path: &str) -> Answer {
        self.scene.sends_raw(session.call(method, path)).await
    }

    /// A call under alice's delegation, with a token of [`Self::user_session`].
    pub(crate) async fn calls_as_alice(&self, registered: &Value, method: &str, path: &str) -> Answer {
        self.sends_as_alice(registered, GatewayRequest::new(method, path), "READ_ACCOUNTS").await
    }

    pub(crate) async fn sends_as_alice(&self, registered: &Value, sent: GatewayRequest, intent: &str) -> Answer {
        self.opens_as_alice(registered, sent, intent).await.read_to_end().await
    }

    pub(crate) async fn opens_as_alice(&self, registered: &Value, sent: GatewayRequest, intent: &str) -> OpenAnswer {
        let request = sent
            .with("aap-version", "2.0")
            .with("x-agent-mode", "user_delegated")
            .with("x-agent-delegation", &self.scene.connected.delegation_id)
            .with("x-agent-session", registered["session_id"].as_str().unwrap())
            .with("x-agent-intent-type", intent)
            .with("authorization", &format!("Bearer {}", registered["access_token"].as_str().unwrap()));
        self.scene.opens_raw_at(self.scene.gateway.address, request).await
    }

    pub(crate) async fn revokes(&self, body: Value) -> Answer {
        self.ada.post(&self.scene.plane, "/agent/revoke", &body).await
    }

    /// The entries of an audit query by ada.
    pub(crate) async fn entries(&self, query: &str) -> Vec<Value> {
        let path = format!("/agent/audit?limit=200&{query}");
        let page = self.ada.get(&self.scene.plane, &path).await.expect(200).json();
        page["entries"].as_array().unwrap().clone()
    }

    pub(crate) async fn audit(&self, query: &str) -> Answer {
        self.ada.get(&self.scene.plane, &format!("/agent/audit?{query}")).await
    }

    /// Replaces the project's document.
    pub(crate) async fn change(&self, change: impl FnOnce(&mut ProjectDocument)) {
        let mut document = self.document.clone();
        change(&mut document);
        self.scene.plane.engine.apply_project(document, "test").await.unwrap();
    }
}

impl AccountSession {
    /// The session of a registration.
    pub(crate) fn of(account: &Account, registered: &Value) -> Self {
        Self {
            session_id: registered["session_id"].as_str().unwrap().to_owned(),
            access_token: registered["access_token"].as_str().unwrap().to_owned(),
            account: account.id.clone(),
        }
    }

    /// A call with every header.
    pub(crate) fn call(&self, method: &str, path: &str) -> GatewayRequest {
        let intent = if path.starts_with("/notes") { "NOTE" } else { "READ_ACCOUNTS" };
        let intent = if path.starts_with("/payees") { "TIDY" } else { intent };
        GatewayRequest::new(method, path)
            .with("aap-version", "2.0")
            .with("x-agent-mode", "service_account")
            .with("x-agent-account", &self.account)
            .with("x-agent-session", &self.session_id)
            .with("x-agent-intent-type", intent)
            .with("authorization", &format!("Bearer {}", self.access_token))
    }
}

/// A session id as hard to guess as the protocol demands.
pub(crate) fn session_id(n: u64) -> String {
    format!("sess_{:032x}", (u128::from(n) << 96) | 0x0123_4567_89ab_cdef_0f1e_2d3c)
}

/// The claims of a token, unverified.
pub(crate) fn claims(token: &str) -> Value {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap()).unwrap()
}

/// The same request without a header, or with another value of it.
pub(crate) fn without(mut sent: GatewayRequest, name: &str) -> GatewayRequest {
    sent.headers.retain(|(known, _)| known != name);
    sent
}
