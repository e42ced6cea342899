//! A plan that is written, proposed, approved in part, used, and finally revoked in part: eight acts, each at a
//! node that may be killed before it acknowledges.

use super::{
    process::{NodeAddresses, Process},
    story::{exchange, sends},
};
use countersign_protocol::{aaep::event::Risk, project::ProjectDocument};
use countersign_server::{Limits, ServedListener, serve};
use countersign_testkit::{
    Answer, Kit,
    bank::{BankFixture, GatewayRequest, Manner},
    leaks::Folder,
};
use serde_json::{Value, json};
use std::net::SocketAddr;
use tokio::net::TcpListener;

const PLAN: &str = "00000000-0000-4000-8000-000000000001";
/// Up to four payments, together not above the sum.
const PAYING: &str = "00000000-0000-4000-8000-000000000002";
/// One order.
const ORDERING: &str = "00000000-0000-4000-8000-000000000003";
/// A payment that alice leaves out.
const LEFT_OUT: &str = "00000000-0000-4000-8000-000000000004";

pub(super) const USES: usize = 4;
/// In cents.
pub(super) const MOST: i64 = 50_000;
pub(super) const SUM: i64 = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Act {
    Writes,
    Proposes,
    /// Alice approves two of the three steps.
    Approves,
    /// The first payment, which the bank makes.
    Pays,
    /// The second, which the bank refuses.
    IsRefused,
    /// The third, which the bank makes without a response. It only fits if the second was given back.
    IsLost,
    /// Alice revokes the remaining payments.
    TakesBack,
    Orders,
}

pub(super) const WHOLE: [Act; 8] =
    [Act::Writes, Act::Proposes, Act::Approves, Act::Pays, Act::IsRefused, Act::IsLost, Act::TakesBack, Act::Orders];

impl Act {
    /// The amount that a payment takes of the sum.
    pub(super) fn cents(self) -> Option<i64> {
        match self {
            Self::Pays => Some(40_000),
            Self::IsRefused => Some(35_000),
            Self::IsLost => Some(32_500),
            _ => None,
        }
    }

    /// The request of acts that are calls.
    pub(super) fn call(self) -> Option<GatewayRequest> {
        if self == Self::Orders { Some(order()) } else { self.cents().map(payment) }
    }

    /// The bank's behaviour, and the status that the agent receives.
    fn comes_to(self) -> (Manner, u16) {
        match self {
            Self::IsRefused => (Manner::Status(422), 422),
            Self::IsLost => (Manner::Vanishing, 502),
            _ => (Manner::Obliging, 201),
        }
    }
}

pub(super) fn payment(cents: i64) -> GatewayRequest {
    BankFixture::transfer_of(&amount(cents))
}

pub(super) fn order() -> GatewayRequest {
    GatewayRequest::new("POST", "/orders").json(r#"{"item":"paper"}"#)
}

/// The call of the step that is not approved.
pub(super) fn left_out() -> GatewayRequest {
    GatewayRequest::new("POST", "/transfers").json(r#"{"from":"ours","to":"others","amount":"10.00","currency":"USD"}"#)
}

pub(super) fn amount(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

fn plan() -> Value {
    let step = |id: &str, what: &str| json!({ "step_id": id, "description": what, "status": "pending" });
    let sending = |body: Value| json!({ "content_type": "application/json", "body": body });
    let paying =
        |to: &str, amount: &str| sending(json!({ "from": "ours", "to": to, "amount": amount, "currency": "USD" }));
    let bound = json!({ "most": amount(MOST), "sum": amount(SUM), "unit": "USD" });
    json!({
        "plan": {
            "meta": { "protocol_version": "1.0.0", "schema_version": "1.0.0" },
            "plan_id": PLAN,
            "context_id": "00000000-0000-4000-8000-000000000009",
            "title": "Close the month",
            "objective": "Nothing is owed",
            "status": "draft",
            "steps": [step(PAYING, "Pay the bills"), step(ORDERING, "Order paper"), step(LEFT_OUT, "Pay the others")],
        },
        "actions": {
            PAYING: { "route": "transfers", "arguments": paying("theirs", "100.00"),
                "released": { "body.amount": bound }, "uses": USES },
            ORDERING: { "route": "orders", "arguments": sending(json!({ "item": "paper" })) },
            LEFT_OUT: { "route": "transfers", "arguments": paying("others", "10.00") },
        },
    })
}

/// The participants that outlive the node: bank, agent, alice, and the device by which alice decides.
pub(super) struct Cast {
    pub(super) fixture: BankFixture,
    device: String,
}

impl Cast {
    /// At a plane with a lasting database, in which a payment's risk is low enough for a plan (R-7).
    pub(super) async fn lasting(kit: Kit) -> (Self, Folder) {
        let (fixture, folder) = BankFixture::lasting(kit, medium).await;
        let device = fixture.alice.subscriber(&fixture.plane).await.token;
        (Self { fixture, device }, folder)
    }

    pub(super) async fn restarted(self) -> Self {
        Self { fixture: self.fixture.restarted().await, ..self }
    }

    /// At a node within this process, with its own endpoints behind a socket like the killed one's.
    pub(super) async fn here(&self) -> (NodeAddresses, ServedListener) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = serve(listener, self.fixture.plane.public.clone(), Limits::default()).unwrap();
        (NodeAddresses { gateway: self.fixture.gateway.address, plane: own.address() }, own)
    }

    /// The first acts, at a node that is not killed.
    pub(super) async fn acts_here(&self, acts: &[Act]) {
        let (addresses, _serving) = self.here().await;
        for act in acts {
            self.does(addresses, *act).await.expect("a node that lives");
        }
        if acts.iter().any(|act| act.call().is_some()) {
            // Earlier arrivals must not satisfy a later wait.
            self.fixture.bank.next_arrival().await;
        }
    }

    /// One act after the other at a process, until it is killed; at the end it is killed anyway. Returns how many of them
    /// were acknowledged.
    pub(super) async fn acts_at(&self, process: Process) -> usize {
        let mut acknowledged = 0;
        for act in WHOLE {
            if self.does(process.addresses, act).await.is_none() {
                break;
            }
            acknowledged += 1;
        }
        process.kill();
        acknowledged
    }

    /// None if the node was killed before it answered.
    pub(super) async fn does(&self, addresses: NodeAddresses, act: Act) -> Option<()> {
        match act {
            Act::Writes => self.requests(addresses, "POST", "plans", Some(plan())).await?.expect(201),
            Act::Proposes => {
                self.requests(addresses, "POST", &format!("plans/{PLAN}/propose"), None).await?.expect(201)
            }
            Act::Approves => self.approves(addresses).await?.expect(201),
            Act::TakesBack => self.revokes(addresses).await?.expect(200),
            Act::Pays | Act::IsRefused | Act::IsLost | Act::Orders => {
                let (manner, status) = act.comes_to();
                self.fixture.bank.set_manner(manner);
                let answer = self.calls(addresses, act.call().expect("a call")).await;
                self.fixture.bank.set_manner(Manner::Obliging);
                answer?.expect(status)
            }
        };
        Some(())
    }

    pub(super) async fn calls(&self, addresses: NodeAddresses, sent: GatewayRequest) -> Option<Answer> {
        sends(&self.fixture, addresses.gateway, sent).await
    }

    /// The actions of the plan's steps, as its agent reads them. None inside if there is no plan.
    pub(super) async fn actions(&self, addresses: NodeAddresses) -> Option<Option<Value>> {
        let answer = self.requests(addresses, "GET", &format!("plans/{PLAN}/actions"), None).await?;
        Some(if answer.status == 404 { None } else { Some(answer.expect(200).json()) })
    }

    async fn approves(&self, addresses: NodeAddresses) -> Option<Answer> {
        let asked = self.actions(addresses).await??;
        let place = format!("confirms/{}/decisions", asked["confirm_id"].as_str().expect("a Confirm"));
        self.decides(addresses.plane, &place, &json!({ "status": "approved", "steps": [PAYING, ORDERING] })).await
    }

    async fn revokes(&self, addresses: NodeAddresses) -> Option<Answer> {
        let shown = self.actions(addresses).await??;
        let allowance = shown["steps"][0]["runs"]["left"]["allowance_id"].as_str().expect("a yes");
        self.decides(addresses.plane, &format!("allowances/{allowance}/revoke"), &json!({})).await
    }

    /// Alice, from her device.
    async fn decides(&self, plane: SocketAddr, below: &str, body: &Value) -> Option<Answer> {
        let sent = GatewayRequest::new("POST", &format!("/mplp/v1/{below}")).json(body.to_string());
        exchange(plane, sent.with("authorization", &format!("Bearer {}", self.device))).await
    }

    /// The agent, at the plane's own endpoints.
    async fn requests(
        &self,
        addresses: NodeAddresses,
        method: &str,
        below: &str,
        body: Option<Value>,
    ) -> Option<Answer> {
        let (agent, plane) = (&self.fixture.agent, &self.fixture.plane);
        let sent = GatewayRequest::new(method, &format!("/mplp/v1/{below}")).with("aap-version", "2.0");
        let sent = if let Some(body) = body { sent.json(body.to_string()) } else { sent };
        let url = format!("{}{}", plane.service(), sent.target);
        for _ in 0..2 {
            let proof = agent.proof(method, &url, plane.now()).expect("an agent with a key");
            let dressed = sent.clone().with("authorization", &agent.authorization()).with("dpop", &proof);
            let answer = exchange(addresses.plane, dressed).await?;
            agent.takes_nonce(answer.header("dpop-nonce"));
            if answer.status != 401 {
                return Some(answer);
            }
        }
        panic!("no nonce was good enough")
    }
}

fn medium(document: &mut ProjectDocument) {
    let transfers = document.routes.iter_mut().find(|route| route.id == "transfers").expect("a route");
    transfers.risk = Some(Risk::Medium);
}
