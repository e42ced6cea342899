//! The calendar part: connect, register, read, write, a refused write, a question, audit, revoke, and the end by itself when the
//! person is offboarded. Each step is checked.

use super::{
    notices::Notices,
    person::{DemoPerson, text},
    plane::{DemoPlane, OPERATOR, PASSWORD, PERSON, system_now, trouble},
    questions::{Asking, BOT},
    steps::{Steps, check},
};
use crate::DemoFailure;
use countersign_client::{
    aaep::Ending,
    agent::{Agent, AgentCall, CallError, Lost, Notice},
    operator::{ConsentDesk, Task},
};
use countersign_protocol::aap::consent_receipt::ExecutionWindow;
use http::Method;
use serde_json::json;
use std::sync::{Arc, Mutex};

pub(super) const SCOPES: [&str; 2] = ["calendar.read", "calendar.write"];

pub(super) struct Story<'a, 'c> {
    pub(super) plane: &'a DemoPlane,
    steps: &'a mut Steps<'c>,
    pub(super) notices: Arc<Notices>,
    pub(super) agent: Agent,
}

impl<'a, 'c> Story<'a, 'c> {
    pub(super) fn begin(plane: &'a DemoPlane, steps: &'a mut Steps<'c>) -> Result<Self, DemoFailure> {
        let notices = Arc::new(Notices::default());
        let agent = plane.agent(&notices)?;
        steps.print(&format!(
            "A calendar API at {}, with Countersign in front of it.\nAn agent of {OPERATOR} wants to work with {PERSON}'s calendar.\n\n",
            plane.origin
        ))?;
        Ok(Self { plane, steps, notices, agent })
    }

    /// Plays the person too. Ends with an error at the first step with an unexpected result.
    pub(super) async fn scripted(&mut self) -> Result<(), DemoFailure> {
        self.agent_asks().await?;
        let person = DemoPerson::sign_in(&self.plane.origin).await?;
        let (shown, code) = person.approve(&self.notices.request_id()?).await?;
        check(text(&shown, "operator") == OPERATOR, "the person was shown another operator")?;
        self.done(&format!(
            "{PERSON} read the requester ({OPERATOR}), its permissions and its liability, and approved"
        ))?;
        self.agent_is_connected(&code).await?;
        self.agent_works().await?;
        self.person_decides(&person).await?;
        self.person_reads_the_audit(&person).await?;
        let delegation_id = self.delegation_id()?;
        person.post("/agent/revoke", &json!({ "delegation_id": delegation_id, "reason": "user_requested" })).await?;
        self.done(&format!("{PERSON} revoked the agent's access"))?;
        self.agent_is_cut_off().await?;
        self.person_is_offboarded(&person).await
    }

    /// A real person in a real browser.
    pub(super) async fn with_a_person(&mut self) -> Result<(), DemoFailure> {
        self.agent_asks().await?;
        let page = self.notices.page().unwrap_or_default();
        self.steps.print(&format!(
            "\n  Open      {page}\n  Sign in   {PERSON}\n  Password  {PASSWORD}\n\nThe page will show a code. Paste it here and press Enter: "
        ))?;
        let code = self.line().await?;
        self.agent_is_connected(code.trim()).await?;
        self.agent_works().await?;
        self.steps.print(&format!(
            "\nSee the agent's activity, and revoke its access, at {}/agents\nThe agent tries to read every two seconds until then (Ctrl-C ends the demo).\n",
            self.plane.origin
        ))?;
        self.read_until_cut_off().await
    }

    async fn agent_asks(&mut self) -> Result<(), DemoFailure> {
        let early = self.agent.call(&AgentCall::get("/events").intent_type("READ_CALENDAR"), system_now()).await;
        check(early.is_err(), "an agent without a delegation was let in")?;
        self.done("without a person's permission the agent gets nothing")?;
        self.agent.connect(&SCOPES, None, system_now()).await.map_err(trouble)?;
        self.done("the agent proved its operator's domain and asks to be connected")
    }

    async fn agent_is_connected(&mut self, code: &str) -> Result<(), DemoFailure> {
        self.agent.finish_connect(code, system_now()).await.map_err(trouble)?;
        self.done("the agent exchanged its one-time code for a delegation token")?;
        let receipt = self.consent()?;
        let session = self.agent.register(Some(&receipt), system_now()).await.map_err(trouble)?.to_owned();
        self.done(&format!("the agent registered with a receipt for its task; session {session}"))
    }

    async fn agent_works(&mut self) -> Result<(), DemoFailure> {
        let list = AgentCall::get("/events").intent_type("READ_CALENDAR");
        let read = self.agent.call(&list, system_now()).await.map_err(trouble)?;
        check(read.status.as_u16() == 200, "the read was not answered")?;
        self.done("the agent read the calendar")?;
        let create = AgentCall::post("/events").json(&json!({ "title": "Lunch" })).intent_type("SCHEDULE_EVENT");
        let written = self.agent.call(&create, system_now()).await.map_err(trouble)?;
        check(written.status.as_u16() == 201, "the write was not answered")?;
        self.done("the agent added an event")?;
        let delete = AgentCall::new(Method::DELETE, "/events/1").intent_type("CANCEL_EVENT");
        let refused = self.agent.call(&delete, system_now()).await;
        let right = matches!(&refused, Err(CallError::NotPermitted(why)) if why.code == "scope_not_granted");
        check(right, "a write that nobody granted was let through")?;
        self.done("deleting was refused: nobody granted it, and nothing was forwarded")
    }

    async fn person_decides(&mut self, person: &DemoPerson) -> Result<(), DemoFailure> {
        let mut asking = Asking::begin(self.plane, person).await?;
        let (accepted, heard) = asking.ask(82_000).await?;
        self.done(&format!(
            "the {BOT} asked to pay $82000; {PERSON}'s phone and kitchen speaker were notified at once"
        ))?;
        self.done(&format!("{PERSON} approved it on the phone, and the waiting agent was notified"))?;
        check(heard == Ending::Accepted, "the other device received another outcome")?;
        self.done("the kitchen speaker received the outcome, and stopped asking")?;
        asking.pay(&accepted, 82_000).await?;
        self.done("the agent claimed the approval, paid once and reported the outcome; a second claim was refused")?;
        let (accepted, _) = asking.ask(82_001).await?;
        asking.pay_another(&accepted, 820_010).await?;
        self.done("another approval, of $82001, was refused for $820010: only the approved call runs")?;
        asking.end().await;
        Ok(())
    }

    async fn person_reads_the_audit(&mut self, person: &DemoPerson) -> Result<(), DemoFailure> {
        let page = person.get(&format!("/agent/audit?delegation_id={}", self.delegation_id()?)).await?;
        let entries = page.get("entries").and_then(|e| e.as_array()).cloned().unwrap_or_default();
        let outcomes: Vec<&str> =
            entries.iter().map(|entry| text(entry, "outcome")).filter(|o| !o.is_empty()).collect();
        let wanted = ["200 OK", "201 Created", "403 scope_not_granted"];
        check(outcomes == wanted, &format!("the audit says {outcomes:?} instead of {wanted:?}"))?;
        self.done(&format!("{PERSON} read the agent's activity:"))?;
        for entry in &entries {
            let members = ["timestamp", "event_type", "method", "path", "outcome"];
            let line: Vec<&str> =
                members.iter().map(|name| text(entry, name)).filter(|part| !part.is_empty()).collect();
            self.steps.seen(&line.join("  "))?;
        }
        Ok(())
    }

    async fn agent_is_cut_off(&mut self) -> Result<(), DemoFailure> {
        let list = AgentCall::get("/events").intent_type("READ_CALENDAR");
        let refused = self.agent.call(&list, system_now()).await;
        check(matches!(refused, Err(CallError::Lost(Lost::CutOff { .. }))), "a revoked agent was let in")?;
        let told = self.notices.last();
        check(matches!(told, Some(Notice::AccessCutOff { .. })), "the agent did not tell its person")?;
        self.done("the agent's very next call was refused, and it told its person why")
    }

    async fn read_until_cut_off(&mut self) -> Result<(), DemoFailure> {
        let list = AgentCall::get("/events").intent_type("READ_CALENDAR");
        loop {
            tokio::time::sleep(std::time::Duration::from_secs(2)).await;
            match self.agent.call(&list, system_now()).await {
                Ok(_) => {}
                Err(CallError::Lost(Lost::CutOff { reason })) => {
                    return self.done(&format!("the agent's next call was refused: {reason}"));
                }
                Err(other) => return Err(trouble(other)),
            }
        }
    }

    /// The person approves the task at the operator; its text stays there.
    pub(super) fn consent(&self) -> Result<countersign_client::operator::Receipt, DemoFailure> {
        let (manifest, delegation) = (self.agent.manifest(), self.agent.delegation());
        let (Some(manifest), Some(delegation)) = (manifest, delegation) else {
            return Err(DemoFailure::new("the agent is not connected"));
        };
        let now = system_now();
        let task = Task {
            text: "Find a time for lunch with Sam and put it in my calendar".into(),
            scopes: SCOPES.map(str::to_owned).to_vec(),
            intent_type: Some("SCHEDULE_EVENT".into()),
            window: ExecutionWindow { earliest: now, latest: now.plus_secs(3600) },
            usage_limits: None,
        };
        let desk = ConsentDesk::new(self.plane.operator.clone(), Arc::new(Mutex::new(Vec::new())));
        desk.propose(manifest, delegation, task).map_err(trouble)?.approve(now).map_err(trouble)
    }

    pub(super) fn delegation_id(&self) -> Result<String, DemoFailure> {
        let delegation = self.agent.delegation().ok_or_else(|| DemoFailure::new("the agent is not connected"))?;
        Ok(delegation.id().to_owned())
    }

    pub(super) fn done(&mut self, what: &str) -> Result<(), DemoFailure> {
        self.steps.done(what)
    }

    async fn line(&self) -> Result<String, DemoFailure> {
        let read = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).map(|_| line)
        });
        read.await.map_err(trouble)?.map_err(trouble)
    }
}
