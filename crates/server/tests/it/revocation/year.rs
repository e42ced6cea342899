//! A year of 10,000 grants with mixed policies: each ends at exactly the moment and by exactly the trigger of its own rules.

mod oracle;

use super::auto_revoke::{admin_key, complete, report};
use axum::body::Body;
use countersign_engine::{Role, store::StoreLocation};
use countersign_protocol::time::UnixMillis;
use countersign_testkit::{
    Answer, Connected, Plane, Registered, Setup, TestPerson, VERIFIER, agent_request, challenge_of, on_both_stores,
    send_to, stored_evidence,
};
use futures_util::future::join_all;
use http::Method;
use oracle::{About, Act, CANCELLED, End, LONGEST, PEOPLE, PlannedGrant, ReportedEvent, TICK_S, TICKS, Year};
use serde_json::{Value, json};
use std::collections::HashMap;

const SEED: u64 = 15;
const GRANTS: usize = 10_000;

struct Simulation {
    plane: Plane,
    year: Year,
    start: UnixMillis,
    admin_key: String,
    /// The operator's, of this tick.
    jwt: String,
    /// By the index of their plan; in the order of their grants.
    granted: Vec<Connected>,
}

impl Simulation {
    async fn of(place: StoreLocation, year: Year) -> Self {
        let setup = Setup::with_project(|document| {
            document.max_duration = format!("{}h", LONGEST * TICK_S / 3600);
            document.auto_revoke = serde_json::from_value(json!({ "on_events": [CANCELLED] })).unwrap();
        });
        let plane = Plane::start(setup, place).await;
        for person in 0..PEOPLE {
            plane.account(&name(person)).await;
            plane.give_roles("calendar", &name(person), &[Role::User]).await;
        }
        let admin_key = admin_key(&plane).await;
        let start = plane.now();
        Self { plane, year, start, admin_key, jwt: String::new(), granted: Vec::new() }
    }

    /// One tick: what is due settles, then events, then agents' acts, then new grants.
    async fn tick(&mut self, at: i64) {
        if at > 0 {
            self.plane.advance_secs(TICK_S).await;
        }
        self.jwt = self.plane.acme().jwt(self.plane.service(), self.plane.now());
        for event in self.year.events.iter().filter(|event| event.at == at) {
            self.reports(event).await;
        }
        let acting = self.year.grants.iter().zip(&self.granted).filter_map(|(grant, connected)| {
            let act = grant.acts.iter().find(|(when, _)| *when == at)?.1;
            Some(self.acts(grant, connected, at, act))
        });
        join_all(acting).await;
        self.grants(at).await;
        if at % 4 == 0 {
            self.plane.engine.run_maintenance().await.unwrap();
        }
    }

    async fn reports(&self, event: &ReportedEvent) {
        let id = format!("{}-{}-{:?}", event.at, event.event, event.about);
        let mut body = json!({ "event": event.event, "event_id": id.replace(' ', "") });
        match event.about {
            About::Person(person) => body["user"] = json!(name(person)),
            About::Grant(n) => body["delegation_id"] = json!(self.granted[n].delegation_id),
            About::Everyone => {}
        }
        let revoked = report(&self.plane, &self.admin_key, &body).await.expect(200).json();
        let ends = |(_, grant): &(usize, &PlannedGrant)| grant.end.at == event.at && grant.end.trigger == event.event;
        let about = |(n, grant): &(usize, &PlannedGrant)| match event.about {
            About::Person(person) => grant.person == person,
            About::Grant(which) => *n == which,
            About::Everyone => true,
        };
        let expected = self.year.grants.iter().enumerate().filter(ends).filter(about).count();
        assert_eq!(revoked["revoked"].as_array().unwrap().len(), expected, "{event:?}");
    }

    async fn acts(&self, grant: &PlannedGrant, connected: &Connected, at: i64, act: Act) {
        let plane = &self.plane;
        let over = grant.end.at < at || (grant.end.at == at && grant.end.trigger != "on_task_completion");
        let body = json!({
            "mode": "user_delegated", "operator_jwt": self.jwt, "delegation_token": connected.delegation_token,
        });
        let answer = self.post("/agent/register", &body).await;
        if over {
            assert_eq!(answer.refusal(), (401, "auto_revoked".into()), "{grant:?} at {at}");
            assert_eq!(answer.header("x-agent-revoke-reason"), Some(grant.end.reason), "{grant:?} at {at}");
            return;
        }
        let answer = answer.expect(200).json();
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        let agent = Registered {
            access_token: text("access_token"),
            session_id: text("session_id"),
            delegation_id: Some(connected.delegation_id.clone()),
            answer: Value::Null,
        };
        match act {
            Act::Read => plane.call(&agent, Method::GET, "/calendar/events", "READ_CALENDAR").await.expect(200),
            Act::Write => plane.call(&agent, Method::POST, "/calendar/events", "SCHEDULE_EVENT").await.expect(201),
            Act::Complete => complete(plane, &agent, &json!({ "session_id": agent.session_id })).await.expect(200),
        };
    }

    async fn grants(&mut self, at: i64) {
        let due: Vec<&PlannedGrant> =
            self.year.grants[self.granted.len()..].iter().take_while(|grant| grant.at == at).collect();
        let Some(first) = due.first() else { return };
        let person = TestPerson::sign_in(&self.plane, &name(first.person)).await;
        let connected = join_all(due.iter().map(|grant| self.connect(&person, grant.rules.user_override()))).await;
        self.granted.extend(connected);
    }

    /// The steps of [`Plane::connect`], with rules of the person's own.
    async fn connect(&self, person: &TestPerson, user_override: Value) -> Connected {
        let request = json!({
            "operator_jwt": self.jwt, "mode": "user_delegated", "scopes": ["calendar.read", "calendar.write"],
            "code_challenge": challenge_of(VERIFIER), "state": "state-of-the-test",
        });
        let request_id = self.post("/agent/delegate/requests", &request).await.expect(201).json()["request_id"].clone();
        let ask = json!({ "request_id": request_id, "user_override": user_override });
        let shown = self.post_as(person, "/agent/delegate", &ask).await.expect(200).json();
        let approval = json!({
            "request_id": request_id, "disclosure_id": shown["disclosure_id"], "acknowledged_disclosure": true,
        });
        let code = self.post_as(person, "/agent/delegate", &approval).await.expect(201).json()["code"].clone();
        let exchange = json!({ "operator_jwt": self.jwt, "code": code, "code_verifier": VERIFIER });
        let token = self.post("/agent/delegate/token", &exchange).await.expect(200).json();
        Connected {
            delegation_id: token["delegation_id"].as_str().unwrap().to_owned(),
            delegation_token: token["delegation_token"].as_str().unwrap().to_owned(),
        }
    }

    /// Without the judge of the published schemas: it would take longer than the plane.
    async fn post(&self, path: &str, body: &Value) -> Answer {
        send_to(&self.plane.public, agent_request(Method::POST, path).body(Body::from(body.to_string())).unwrap()).await
    }

    async fn post_as(&self, person: &TestPerson, path: &str, body: &Value) -> Answer {
        let request = person.request(Method::POST, path).header("x-csrf-token", &person.csrf);
        let request = request.header("content-type", "application/json").body(Body::from(body.to_string())).unwrap();
        send_to(&self.plane.public, request).await
    }

    /// The end of each grant by the log: its entries with the trigger, at the very moment.
    async fn ends(&self) -> HashMap<String, Vec<Value>> {
        let mut ends: HashMap<String, Vec<Value>> = HashMap::new();
        let entries = stored_evidence(&self.plane.place).await;
        for entry in entries.iter().filter(|entry| entry.event_type == "auto_revoked") {
            let leaf: Value = serde_json::from_slice(&entry.leaf).unwrap();
            ends.entry(leaf["delegation_id"].as_str().unwrap().to_owned()).or_default().push(leaf);
        }
        ends
    }

    fn expected(&self, end: &End) -> Option<(String, &'static str, &'static str)> {
        let at = self.start.plus_secs(end.at * TICK_S);
        (end.at < TICKS).then(|| (at.to_rfc3339(), end.trigger, end.reason))
    }
}

fn name(person: usize) -> String {
    format!("person-{person}")
}

on_both_stores! {
    /// AAP-8.3-01, AAP-8.3-02, AAP-8.3-03, AAP-8.3-04, AAP-8.3-05, AAP-8.3-06, AAP-8.3-09
    async fn every_grant_of_a_year_ends_exactly_when_its_policy_says_and_by_the_trigger_it_says(kit) {
        let (place, _folder) = kit.readable_location().await;
        let mut simulation = Simulation::of(place, Year::of(SEED, GRANTS)).await;
        for at in 0..TICKS {
            simulation.tick(at).await;
        }
        assert_eq!(simulation.granted.len(), GRANTS);
        let ends = simulation.ends().await;
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (grant, connected) in simulation.year.grants.iter().zip(&simulation.granted) {
            let found = ends.get(&connected.delegation_id).map(Vec::as_slice).unwrap_or_default();
            let told = |leaf: &Value| ["timestamp", "trigger", "reason"].map(|name| leaf[name].as_str().unwrap().to_owned());
            let found: Vec<[String; 3]> = found.iter().map(told).collect();
            let expected = simulation.expected(&grant.end).map(|(at, trigger, reason)| [at, trigger.into(), reason.into()]);
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{grant:?}");
            *seen.entry(grant.end.trigger).or_default() += 1;
        }
        let triggers = ["expires_at", "inactivity_timeout", "on_task_completion", "after_use", "user.offboarded",
            "user.role_changed", "resource.deleted", CANCELLED];
        for trigger in triggers {
            assert!(seen.get(trigger).is_some_and(|count| *count >= 20), "{trigger} is rare: {seen:?}");
        }
    }
}
