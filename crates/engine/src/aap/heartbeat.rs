//! `POST /agent/heartbeat`, and heartbeats that were missed (AAP 12.2).

use crate::{
    projects::ProjectAt,
    services::Agents,
    store::{HeartbeatOf, HeartbeatsOpenIn, SessionsOfDelegation},
};
use countersign_core::{
    aap::heartbeat::{Beat, BeatView, HeartbeatDue, HeartbeatDueView, watched_task},
    decision::cancel::Live,
    people::Actor,
    records::{Delegation, Heartbeat, Mode, Project, Session, SessionState},
    refusal::Refusal,
    step::Operation as _,
};
use countersign_protocol::{
    aap::heartbeat::{HeartbeatRequest, HeartbeatResponse, TaskStatus, WatchedTask},
    ids::RowKey,
    project::OnMissed,
    time::UnixMillis,
};
use std::{cmp::Reverse, collections::HashMap};

/// The most open sessions on a person's page.
const MAX_SHOWN: usize = 20;

/// An open session, as its person sees it.
pub struct OpenTask {
    pub session_id: String,
    pub since: UnixMillis,
    /// None where its receipt asks for no heartbeats.
    pub watched: Option<WatchedTask>,
}

impl Agents<'_> {
    pub async fn heartbeat(
        self,
        at: &ProjectAt,
        actor: &Actor,
        body: &HeartbeatRequest,
    ) -> Result<HeartbeatResponse, Refusal> {
        let session_id = body.session_id.as_ref().ok_or_else(|| Refusal::invalid("session_id is required"))?;
        let known = |text: &String| {
            TaskStatus::parse(text).ok_or_else(|| Refusal::invalid("status must be running or waiting"))
        };
        let status = body.status.as_ref().map(known).transpose()?;
        self.run(|| async {
            let session = self.session_of(at, actor, session_id).await?;
            let delegation = match actor {
                Actor::Agent(own) => self.get_some(own.delegation).await?,
                _ => None,
            };
            let row = self.heartbeat_of(session.as_ref()).await?;
            let beat = Beat { actor: actor.clone(), status, progress: body.progress };
            beat.decide(&BeatView { session, delegation, row }, &self.env()?)
        })
        .await
    }

    pub(super) async fn heartbeat_of(self, session: Option<&Session>) -> Result<Option<Heartbeat>, Refusal> {
        match session {
            Some(session) => Ok(self.find_one(HeartbeatOf(session.key)).await?),
            None => Ok(None),
        }
    }

    /// Records a missed heartbeat, and ends its session if the project wants that. The row's version decides which node
    /// does.
    pub(crate) async fn settle_heartbeat(self, key: RowKey) -> Result<(), Refusal> {
        let Some(row) = self.get::<Heartbeat>(key).await? else { return Ok(()) };
        let project: Project = self.load(row.project).await?;
        let session: Option<Session> = self.get(row.session).await?;
        let mut delegations = Vec::new();
        for delegation in session.iter().flat_map(Session::delegations) {
            // One that may be inactive is judged first: requests postpone its end.
            delegations.extend(self.settle_inactivity(self.get(delegation).await?).await?);
        }
        let live = match project.document.heartbeats.on_missed {
            OnMissed::EndSession => self.decisions().live_of_session(row.session).await?,
            OnMissed::Record => Live::default(),
        };
        let view = HeartbeatDueView { project, row, session, delegations, live };
        let step = HeartbeatDue { serving_since: self.time.serving_since() }.decide(&view, &self.env()?)?;
        match self.finish(step).await {
            Ok(Some(true)) => self.end_late_decisions_of_session(&view.project, view.row.session).await,
            // Another node was first, or it is not due by the store's clock.
            Ok(_) | Err(Refusal::Conflict(_)) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    /// The newest open sessions of a delegation, for its person.
    pub async fn open_tasks(self, delegation: &Delegation) -> Result<Vec<OpenTask>, Refusal> {
        let lookup = SessionsOfDelegation { project: delegation.project, delegation: delegation.key };
        let mut sessions = self.find_all(lookup).await?;
        sessions.retain(|session| session.state == SessionState::Open);
        sessions.sort_by_key(|session| Reverse(session.key));
        sessions.truncate(MAX_SHOWN);
        let mut tasks = Vec::with_capacity(sessions.len());
        for session in sessions {
            let row = self.heartbeat_of(Some(&session)).await?;
            let watched = row.and_then(|row| watched_task(&row, &session));
            tasks.push(OpenTask { session_id: session.session_id, since: session.opened_at, watched });
        }
        Ok(tasks)
    }

    /// The running tasks with heartbeats, by delegation.
    pub(super) async fn watched_tasks(self, project: RowKey) -> Result<HashMap<RowKey, Vec<WatchedTask>>, Refusal> {
        let mut tasks: HashMap<RowKey, Vec<WatchedTask>> = HashMap::new();
        for row in self.find_all(HeartbeatsOpenIn(project)).await? {
            let Some(session) = self.get::<Session>(row.session).await? else { continue };
            let Some(task) = watched_task(&row, &session) else { continue };
            let delegations = [Mode::UserDelegated, Mode::ServiceAccount].map(|mode| session.delegation_in(mode));
            for delegation in delegations.into_iter().flatten() {
                tasks.entry(delegation).or_default().push(task.clone());
            }
        }
        Ok(tasks)
    }
}
