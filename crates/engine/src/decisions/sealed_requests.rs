//! Requests kept until they are settled: sealed, and opened only for a person who limits an approval or reads the request
//!

use super::claims::call_of;
use crate::{
    calls::call_of_request,
    services::Decisions,
    store::{PlansLiveOfDelegation, PlansLiveOfSession},
};
use countersign_core::{
    decision::grant::AskedFor,
    held::Fields,
    mplp::deviation,
    project::{matching_route, undo::is_held_for_undo},
    records::{Decision, HeldRequest, Point, Project, Raiser},
    refusal::Refusal,
};
use countersign_protocol::question::PlanDeviation;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

const PURPOSE: &str = "held-call";

/// A call of an agent's own tool.
#[derive(Serialize, Deserialize)]
struct KeptCall {
    tool: String,
    arguments: Map<String, Value>,
}

impl Decisions<'_> {
    pub(crate) async fn seal_call(
        self,
        project: &Project,
        tool: &str,
        arguments: Option<&Map<String, Value>>,
    ) -> Result<String, Refusal> {
        let kept = KeptCall { tool: tool.to_owned(), arguments: arguments.cloned().unwrap_or_default() };
        let bytes = serde_json::to_vec(&kept).map_err(|_| Refusal::Internal)?;
        self.project_sealer(project).await?.seal(PURPOSE, &bytes).map_err(|_| Refusal::Internal)
    }

    /// The exact request behind a question, as long as it is kept.
    pub async fn requested_call(self, project: &Project, decision: &Decision) -> Result<Option<AskedFor>, Refusal> {
        match decision.point {
            Point::Gateway => self.requested_http_call(project, decision).await,
            Point::AgentClaimed => {
                let kept = self.kept_call(project, decision).await?;
                Ok(kept.map(|call| call_of(call.tool, &call.arguments)))
            }
            Point::McpProxy => Ok(None),
        }
    }

    /// The arguments of the tool call, for the person who is asked.
    pub async fn kept_arguments(
        self,
        project: &Project,
        decision: &Decision,
    ) -> Result<Option<Map<String, Value>>, Refusal> {
        match decision.point {
            Point::AgentClaimed => Ok(self.kept_call(project, decision).await?.map(|call| call.arguments)),
            Point::Gateway | Point::McpProxy => Ok(None),
        }
    }

    async fn kept_call(self, project: &Project, decision: &Decision) -> Result<Option<KeptCall>, Refusal> {
        let Some(kept) = self.get::<HeldRequest>(decision.key).await? else { return Ok(None) };
        let opened = self.project_sealer(project).await?.open(PURPOSE, &kept.sealed);
        let bytes = opened.map_err(|_| Refusal::Internal)?;
        serde_json::from_slice(&bytes).map(Some).map_err(|_| Refusal::Internal)
    }

    async fn requested_http_call(self, project: &Project, decision: &Decision) -> Result<Option<AskedFor>, Refusal> {
        let Some(request) = self.calls().kept_request(project, decision).await? else { return Ok(None) };
        // The route that the gateway would take now; if its meaning changed, no limit can be set.
        let route = matching_route(&project.document, &request.method, request.path());
        let Some(route) = route.filter(|route| route.action == decision.action) else { return Ok(None) };
        if is_held_for_undo(&project.document, route) {
            return Ok(None);
        }
        let fields = Fields::read(route, &request).ok();
        Ok(fields.map(|fields| call_of_request(route, &request, &fields)))
    }

    /// How the call deviates from the running plans of the same session.
    pub(crate) async fn deviation(self, raiser: &Raiser, call: &AskedFor) -> Result<Option<PlanDeviation>, Refusal> {
        let plans = match raiser.session {
            Some(session) => self.find_all(PlansLiveOfSession(session)).await?,
            None => self.find_all(PlansLiveOfDelegation(raiser.holder())).await?,
        };
        Ok(deviation::of(&plans, call))
    }
}
