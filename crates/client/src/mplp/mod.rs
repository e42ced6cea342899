//! Plans and approvals (MPLP): write a plan, have a person approve it once, follow it; and, for people, decide and
//! revoke. Nothing here decides whether a call may run: the service does, at every call.

mod follow;

pub use follow::PlanFollower;

use crate::{
    service_client::{ANSWER_CAP, ClientClock, ServiceClient, ServiceError, TIME_LIMIT, document},
    transport::Transport,
};
use countersign_jose::ProofKey;
use countersign_protocol::{
    ids::ProjectId,
    mplp::{
        AllowanceShown, BusEvent, Confirm, DecisionRequest, ListPage, MplpId, Plan, PlanActions, PlanDifference,
        PlanSubmission, ProposeRequest, ReasonGiven, StepReport,
    },
    origin::Origin,
};
use serde::{
    Serialize,
    de::{DeserializeOwned, IgnoredAny},
};
use std::sync::Arc;
use url::form_urlencoded;

/// Names the decision behind a Confirm, for [`crate::decisions::Decisions::wait`].
const DECISION: &str = "countersign-decision";
const BASE: &str = "/mplp/v1";
/// The number of log entries behind one page of events.
const PAGE: usize = 200;

/// The service's MPLP API for one agent or one person: by an API key (`csk_…`), an AAP access token, or a subscriber
/// token of a person (`cst_…`).
pub struct Mplp {
    client: ServiceClient,
}

impl Mplp {
    pub fn new(service: &Origin, project: Option<&ProjectId>, credential: &str, transport: Arc<dyn Transport>) -> Self {
        Self { client: ServiceClient::new(service, project, credential, transport) }
    }

    /// With a credential bound to this key (AAP 13.1).
    pub fn bound_to(self, key: ProofKey, clock: ClientClock) -> Self {
        Self { client: self.client.bound_to(key, clock) }
    }

    /// Writes a plan, or rewrites a draft. Regardless of the status it claims, it becomes a draft.
    pub async fn write(&self, plan: &PlanSubmission) -> Result<Plan, ServiceError> {
        self.post("/plans", plan).await
    }

    /// Asks the entitled people to approve the plan. A pending proposal is not raised twice.
    pub async fn propose(&self, plan: &MplpId, ask: &ProposeRequest) -> Result<Proposed, ServiceError> {
        let request = self.client.posting(&format!("{BASE}/plans/{plan}/propose"), ask)?;
        let answer = self.client.send(request, TIME_LIMIT, ANSWER_CAP).await?;
        let confirm: Confirm = document(&answer)?;
        let named = answer.headers.get(DECISION).and_then(|id| id.to_str().ok()).map(str::to_owned);
        let decision_id = named.unwrap_or_else(|| decision_id(&confirm.confirm_id));
        Ok(Proposed { confirm, decision_id })
    }

    pub async fn plan(&self, plan: &MplpId) -> Result<Plan, ServiceError> {
        self.get(&format!("/plans/{plan}")).await
    }

    /// The action of each step, and its remaining uses.
    pub async fn actions(&self, plan: &MplpId) -> Result<PlanActions, ServiceError> {
        self.get(&format!("/plans/{plan}/actions")).await
    }

    /// The changes since the last proposal, as lines of text.
    pub async fn changes(&self, plan: &MplpId) -> Result<Vec<String>, ServiceError> {
        let difference: PlanDifference = self.get(&format!("/plans/{plan}/diff")).await?;
        Ok(difference.lines)
    }

    /// The changes that this submission would make. Nothing is written.
    pub async fn difference(&self, plan: &MplpId, to: &PlanSubmission) -> Result<Vec<String>, ServiceError> {
        let difference: PlanDifference = self.post(&format!("/plans/{plan}/diff"), to).await?;
        Ok(difference.lines)
    }

    /// Reports on a step that the agent runs itself.
    pub async fn report(&self, plan: &MplpId, step: &MplpId, report: &StepReport) -> Result<Plan, ServiceError> {
        self.post(&format!("/plans/{plan}/steps/{step}"), report).await
    }

    /// Cancels a plan with all of its remaining allowances.
    pub async fn cancel(&self, plan: &MplpId, reason: Option<&str>) -> Result<Plan, ServiceError> {
        let why = ReasonGiven { reason: reason.map(str::to_owned) };
        self.post(&format!("/plans/{plan}/cancel"), &why).await
    }

    pub async fn confirm(&self, confirm: &MplpId) -> Result<Confirm, ServiceError> {
        self.get(&format!("/confirms/{confirm}")).await
    }

    /// A person's decision. The first one counts, and a later one is refused with 409.
    pub async fn decide(&self, confirm: &MplpId, decision: &DecisionRequest) -> Result<Confirm, ServiceError> {
        self.post(&format!("/confirms/{confirm}/decisions"), decision).await
    }

    /// The standing approvals that this person may revoke.
    pub async fn allowances(&self) -> Result<Vec<AllowanceShown>, ServiceError> {
        let listed: ListPage<AllowanceShown> = self.get("/allowances").await?;
        Ok(listed.items)
    }

    /// Revokes the rest of a standing approval.
    pub async fn revoke(&self, allowance_id: &str, reason: Option<&str>) -> Result<(), ServiceError> {
        // Ids are `alw_` and hex digits; any other input stays within the path.
        let id: String = allowance_id.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let why = ReasonGiven { reason: reason.map(str::to_owned) };
        let _over: IgnoredAny = self.post(&format!("/allowances/{id}/revoke"), &why).await?;
        Ok(())
    }

    /// The events after a position in the log, or from its beginning, as far as visible to this caller.
    pub async fn events(&self, after: Option<&str>) -> Result<EventPage, ServiceError> {
        let listed: ListPage<BusEvent> = self.get(&page_path("/events", after)).await?;
        let next = listed.next.filter(|next| next != after.unwrap_or_default());
        Ok(EventPage { events: listed.items, next })
    }

    async fn get<A: DeserializeOwned>(&self, path: &str) -> Result<A, ServiceError> {
        self.client.get(&format!("{BASE}{path}")).await
    }

    async fn post<A: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<A, ServiceError> {
        self.client.post(&format!("{BASE}{path}"), body).await
    }
}

/// The result of a proposal: the pending Confirm.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposed {
    pub confirm: Confirm,
    /// The decision that the agent can wait for.
    pub decision_id: String,
}

/// Events in their order.
#[derive(Clone, Debug, PartialEq)]
pub struct EventPage {
    pub events: Vec<BusEvent>,
    /// The cursor to continue from; none if this page has nothing new.
    pub next: Option<String>,
}

/// A Confirm is a view of a decision: the same digits in MPLP's spelling (M-02).
pub fn confirm_id(decision_id: &str) -> Option<MplpId> {
    MplpId::from_simple(decision_id.strip_prefix("dec_")?)
}

/// The decision behind a Confirm.
pub fn decision_id(confirm_id: &MplpId) -> String {
    format!("dec_{}", confirm_id.simple())
}

/// The path with its cursor.
fn page_path(path: &str, after: Option<&str>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("limit", &PAGE.to_string());
    query.extend_pairs(after.map(|after| ("after", after)));
    format!("{path}?{}", query.finish())
}
