//! The agent's next step, in words for the model. They follow from the document and add nothing to it.

use countersign_protocol::{
    decisions::{AllowanceDocument, ClaimStatus, DecisionDocument, DecisionKind, ExecutionDocument, State},
    mplp::AllowanceStatus,
};

/// For an approved plan.
pub(super) const STEP_BY_STEP: &str = "Run the steps one by one, dependencies first. For a step that runs a tool call \
    request_confirmation with exactly its tool and arguments (accepted at once if the plan covers them), then \
    begin_action, do it, and report_outcome. For a step of your own call report_step with in_progress, do it, and \
    report_step with completed or failed. plan_status shows the progress.";

pub(super) fn after(decision: &DecisionDocument) -> String {
    match (decision.kind, decision.state) {
        (DecisionKind::Clarification, _) => after_clarification(decision),
        (DecisionKind::ScopeExpansion, State::Accepted) => {
            "A person allowed the scope for this task: send the call again.".into()
        }
        (_, State::Pending) => pending(decision, "Nobody has decided yet: do not do it.", "decides"),
        (_, State::Accepted) => allowed(decision),
        (_, State::Expired) if decision.allowance.is_some() => allowed(decision),
        (_, State::Rejected) => {
            "A person rejected it: do not do it. reason has their reason, if given, and proposal their alternative; \
             that needs a request_confirmation of its own."
                .into()
        }
        (_, State::Answered) => "The person's answer is in response.".into(),
        (_, State::Expired) => "Nobody answered in time, and that is no approval: do not do it. Ask again with \
                                request_confirmation when a person is available."
            .into(),
        (_, State::Cancelled) => "The question was cancelled: do not do it.".into(),
    }
}

fn after_clarification(decision: &DecisionDocument) -> String {
    match (decision.state, &decision.response) {
        (State::Pending, _) => pending(decision, "Nobody has answered yet: do not guess.", "answers"),
        (State::Expired, Some(_)) => "Nobody answered in time: response is the default that you named.".into(),
        (_, Some(_)) => "The person's answer is in response: follow it.".into(),
        (State::Expired, None) => "Nobody answered in time: do not guess. Ask again with request_clarification when a \
                                   person is available, or leave it."
            .into(),
        (_, None) => "The question was cancelled, and there is no answer: do not guess.".into(),
    }
}

fn pending(decision: &DecisionDocument, now: &str, does: &str) -> String {
    let until = decision.deadline.map(|deadline| format!(" It stays pending until {}.", deadline.to_rfc3339()));
    format!(
        "{now} A person {does} at {}, and only there: show them this link. Call await_decision with decision_id {} \
         (again); the question stays pending between calls.{}",
        decision.page,
        decision.decision_id,
        until.unwrap_or_default()
    )
}

fn allowed(decision: &DecisionDocument) -> String {
    let claimed = decision.execution.as_ref().filter(|execution| execution.state == ClaimStatus::Claimed);
    let open = decision
        .allowance
        .as_ref()
        .filter(|allowance| allowance.state == AllowanceStatus::Open && allowance.uses_left > 0);
    match (claimed, open) {
        (Some(execution), _) => running(execution),
        (None, Some(_)) if decision.redeem.is_some() => {
            "Accepted: send the call through the gateway again, with confirm_token in X-Agent-Confirm.".into()
        }
        (None, Some(allowance)) => begin(decision, allowance),
        (None, None) => over(decision),
    }
}

fn begin(decision: &DecisionDocument, allowance: &AllowanceDocument) -> String {
    format!(
        "Accepted: before {} call begin_action with decision_id {} and the same tool and arguments (or digest, if none \
         were named), and only then do it.",
        allowance.until.to_rfc3339(),
        decision.decision_id
    )
}

fn running(execution: &ExecutionDocument) -> String {
    let until = execution.lease_until.map(|until| format!(" before {}", until.to_rfc3339()));
    format!(
        "The approval is claimed: act now, once, exactly as requested. Then call report_outcome with execution_id {} \
         and committed or failed{}; while it still runs, report running.",
        execution.execution_id,
        until.unwrap_or_default()
    )
}

fn over(decision: &DecisionDocument) -> String {
    match (&decision.execution, &decision.allowance, &decision.plan_id) {
        (Some(execution), _, _) if execution.state == ClaimStatus::Unknown => {
            "The outcome is unknown: do not do it again. A person will check it.".into()
        }
        (_, _, Some(plan)) => {
            format!(
                "The plan {plan} was approved; while plan_status says approved or in_progress, it runs. {STEP_BY_STEP}"
            )
        }
        (Some(execution), _, None) => {
            format!("It is finished ({}): this approval permits nothing more.", execution.state.as_str())
        }
        (None, Some(allowance), None) => {
            format!("The approval is {}: do not do it. Ask again if it is still wanted.", allowance.state.as_str())
        }
        (None, None, None) => "Accepted.".into(),
    }
}

#[cfg(test)]
mod tests;
