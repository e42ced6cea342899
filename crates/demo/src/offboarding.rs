//! HR's system offboards the person: the agent's authority ends by itself, its next call is refused with the reason, and
//! its operator gets a signed message.

use super::{
    person::{DemoPerson, text},
    plane::{OPERATOR, PERSON, system_now, transport, trouble},
    steps::check,
    story::{SCOPES, Story},
    webhook,
};
use crate::DemoFailure;
use countersign_client::{
    agent::{AgentCall, CallError, Lost},
    transport::{Request, Transport as _},
};
use countersign_server::admin::{AdminRequest as _, ApiKeyKind, CreateWebhookSecret, NewKey, Role};
use http::{HeaderValue, header};
use serde_json::{Value, json};

/// The account that is responsible for the HR system's key.
const ADMIN: &str = "hr";
const OFFBOARDED: &str = "user.offboarded";
const REASON: &str = "event_triggered";

impl Story<'_, '_> {
    pub(super) async fn person_is_offboarded(&mut self, person: &DemoPerson) -> Result<(), DemoFailure> {
        let secret = self.enrolled_operator().await?;
        self.agent_is_connected_again(person).await?;
        let delegation_id = self.delegation_id()?;
        let applied = self.report_offboarding().await?;
        check(applied.get("revoked") == Some(&json!([delegation_id])), "the event ended something else")?;
        self.done(&format!(
            "offboarded: HR's system reported that {PERSON} left, and the agent's access ended by itself"
        ))?;
        let call = self.agent.call(&AgentCall::get("/events").intent_type("READ_CALENDAR"), system_now()).await;
        let Err(CallError::Lost(Lost::CutOff { reason })) = call else {
            return Err(DemoFailure::new("not as promised: the agent of an offboarded person was let in"));
        };
        check(reason == REASON, &format!("the agent was told {reason}"))?;
        self.done(&format!("cut off: the agent's next call was refused, with X-Agent-Revoke-Reason: {reason}"))?;
        let request = self.plane.site.webhook_request().await?;
        let notice = webhook::verified(&request, &secret, system_now())?;
        let says = |name: &str, value: &str| text(&notice, name) == value;
        let right = says("delegation_id", &delegation_id) && says("trigger", OFFBOARDED) && says("reason", REASON);
        check(right, &format!("the message says {notice}"))?;
        self.done(&format!("notified: {OPERATOR} received the message about it and verified its signatures"))
    }

    /// The service's administrator enrols the operator; the secret is shown once.
    async fn enrolled_operator(&self) -> Result<String, DemoFailure> {
        let enrol = CreateWebhookSecret { project: None, operator: self.plane.operator.domain().clone() };
        let created = enrol.run(&self.plane.node.engine).await;
        created.map(|created| created.secret).map_err(trouble)
    }

    async fn agent_is_connected_again(&mut self, person: &DemoPerson) -> Result<(), DemoFailure> {
        self.agent = self.plane.agent(&self.notices)?;
        self.agent.connect(&SCOPES, None, system_now()).await.map_err(trouble)?;
        let (_, code) = person.approve(&self.notices.request_id()?).await?;
        self.agent.finish_connect(&code, system_now()).await.map_err(trouble)?;
        let receipt = self.consent()?;
        self.agent.register(Some(&receipt), system_now()).await.map_err(trouble)?;
        let read = self.agent.call(&AgentCall::get("/events").intent_type("READ_CALENDAR"), system_now()).await;
        check(read.is_ok(), "the read was not answered")?;
        self.done(&format!("{PERSON} connected the agent again, and it read the calendar"))
    }

    /// The HR system has an admin key of its own.
    async fn report_offboarding(&self) -> Result<Value, DemoFailure> {
        let (people, project) = (self.plane.node.engine.people(), self.plane.project().await?);
        people.add_person(ADMIN, "Human Resources", "not-used-in-the-demo", false).await.map_err(trouble)?;
        people.set_roles(project.key, ADMIN, vec![Role::Admin]).await.map_err(trouble)?;
        let key = NewKey {
            kind: ApiKeyKind::Admin,
            principal: "HR system".into(),
            responsible: ADMIN.into(),
            actions: Vec::new(),
            asks: Vec::new(),
            jkt: None,
        };
        let key = people.add_key(&project, &key).await.map_err(trouble)?;
        let event = json!({ "event": OFFBOARDED, "event_id": "hr-1", "user": PERSON });
        let mut request = Request::post_json(format!("{}/agent/events", self.plane.origin), event.to_string());
        let bearer = HeaderValue::from_str(&format!("Bearer {}", key.secret)).map_err(trouble)?;
        request.headers.insert(header::AUTHORIZATION, bearer);
        request.headers.insert("aap-version", HeaderValue::from_static("2.0"));
        let answer = transport()?.send(request).await.map_err(trouble)?;
        let body: Value = serde_json::from_slice(&answer.body).map_err(trouble)?;
        check(answer.status.as_u16() == 200, &format!("the event was refused: {body}"))?;
        Ok(body)
    }
}
