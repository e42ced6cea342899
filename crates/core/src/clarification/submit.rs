//! Submits a plan: every gap becomes a question, and nothing is guessed (Clarification 2, W-11).

use super::{
    key::AskingKey,
    rules::Rules,
    transition::{SessionTransition, TransitionContext},
};
use crate::{
    decision::ProjectRef,
    env::Env,
    records::{ClarificationSession, Project, Raiser, Submitted},
    refusal::Refusal,
    step::{Count, Effects, Guard, Operation, Step},
};
use countersign_protocol::{hash::Digest, ids::RowKey, mplp::MplpId, time::UnixMillis};
use serde_json::Value;
use std::sync::Arc;

pub struct Submit {
    pub by: Raiser,
    /// An existing session, or the id for a new one.
    pub id: MplpId,
    pub plan: Value,
    pub digest: Digest,
    /// Digest of the submitting agent and the plan.
    pub same: Digest,
}

pub struct SubmitView {
    pub project: Arc<Project>,
    pub known: Option<ClarificationSession>,
    pub rules: Arc<Rules>,
    pub key: AskingKey,
    /// The rows that the caller's authority rests on.
    pub guards: Vec<Guard>,
}

impl SubmitView {
    fn context<'a>(&'a self, place: &'a ProjectRef) -> TransitionContext<'a> {
        TransitionContext { place, document: &self.project.document, rules: &self.rules, key: &self.key }
    }
}

impl Operation for Submit {
    type View = SubmitView;
    type Answer = ClarificationSession;
    type Refusal = Refusal;

    fn decide(self, view: &SubmitView, env: &Env) -> Result<Step<ClarificationSession>, Refusal> {
        let place = (view.project.key, view.project.id.clone());
        let mut mint = env.mint();
        let plan = Submitted { at: env.now, digest: self.digest, plan: self.plan };
        let moving = match &view.known {
            Some(known) => {
                super::is_own(known, &self.by)?;
                let same_plan = known.plan().is_some_and(|plan| plan.digest == self.digest);
                if known.is_confirmed() && same_plan {
                    return Ok(Step::answer(known.clone()));
                }
                super::is_live(known, env.now)?;
                if same_plan && known.public_key == view.key.public_key.as_str() {
                    return Ok(Step::answer(known.clone()));
                }
                let mut moving = SessionTransition::of(view.context(&place), known, env.now)?;
                if !same_plan {
                    moving.plan_changed(plan, self.same)?;
                    moving.evaluate()?;
                    moving.record_check();
                }
                moving
            }
            None => {
                let around = view.context(&place);
                let mut moving =
                    SessionTransition::begin(around, &self.by, self.id.clone(), plan, self.same, env, &mut mint);
                moving.evaluate()?;
                moving.record_check();
                moving
            }
        };
        let counts = if view.known.is_none() { vec![hourly_count(&self.by, place.0, env.now)] } else { Vec::new() };
        let mut effects = Effects { guards: view.guards.clone(), counts, ..Effects::default() };
        let answer = moving.finish(&mut effects, &mut mint)?;
        Ok(Step { answer, effects })
    }
}

/// Far above any legitimate use.
const MAX_OPENED_PER_HOUR: i64 = 600;

fn hourly_count(by: &Raiser, project: RowKey, now: UnixMillis) -> Count {
    let hour = now.secs().div_euclid(3600);
    let key = format!("{project}:clarifications:{}:{hour}", by.principal);
    Count {
        name: "clarification_sessions_per_hour",
        key,
        by: 1,
        limit: MAX_OPENED_PER_HOUR,
        until: UnixMillis::from_secs((hour + 2) * 3600),
    }
}

/// The refusal for an exceeded limit.
pub fn limit_reached(now: UnixMillis) -> Refusal {
    let why = "this agent has opened too many clarification sessions within the hour";
    Refusal::TooManyQuestions { why, retry_after_s: 3600 - now.secs().rem_euclid(3600) }
}
