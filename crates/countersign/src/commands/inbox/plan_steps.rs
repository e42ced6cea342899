//! The steps of a question about a plan, from the service's own record of it.

use crate::table::{quoted, rendered};
use countersign_client::mplp::Mplp;
use countersign_protocol::{
    mplp::{PlanActions, Runs, StepShown},
    question::QuestionFacts,
    request::TextAuthor,
};
use std::time::Duration;

/// The maximum delay of a question for fetching its steps.
const PATIENCE: Duration = Duration::from_secs(5);

/// The complete steps, if the question is about a plan: its facts may leave out the last ones.
pub(super) async fn of(mplp: &Mplp, facts: &QuestionFacts) -> Option<Steps> {
    let plan = facts.plan.as_ref()?;
    match tokio::time::timeout(PATIENCE, mplp.actions(&plan.plan_id)).await {
        Ok(Ok(actions)) => Some(Steps::Read(actions)),
        _ => Some(Steps::Unread),
    }
}

pub(super) enum Steps {
    Read(PlanActions),
    /// The question is about a plan with steps that could not be fetched.
    Unread,
}

impl Steps {
    pub(super) fn actions(&self) -> Option<&PlanActions> {
        match self {
            Self::Read(actions) => Some(actions),
            Self::Unread => None,
        }
    }

    pub(super) fn lines(&self) -> Vec<String> {
        match self {
            Self::Read(actions) => actions.steps.iter().enumerate().map(|(at, step)| line(at + 1, step)).collect(),
            Self::Unread => vec!["Steps: they could not be read; the page of this question shows them".into()],
        }
    }
}

fn line(number: usize, step: &StepShown) -> String {
    let said = quoted(&step.description);
    match &step.runs {
        None => format!("Step {number}: an approval permits no call. The agent says: {said}"),
        Some(runs) => format!("Step {number}: {}{}. The agent says: {said}", rendered(&runs.shown), how(runs)),
    }
}

fn how(runs: &Runs) -> String {
    let times = if runs.uses == 1 { "once".to_owned() } else { format!("up to {} times", runs.uses) };
    let asks = if runs.asks_again { ", and you are asked each time" } else { "" };
    let whose = match runs.words {
        TextAuthor::Owner => "",
        TextAuthor::Agent => ", as the agent calls it",
    };
    format!(", {times}{asks}{whose}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    ///
    #[test]
    fn every_step_is_one_line_with_action_count_and_author() {
        let runs = |words: &str, more: serde_json::Value| {
            let mut runs = json!({ "shown": "Pay at most 500.00 USD\u{1b} to Acme", "words": words, "risk_level": "medium",
                "irreversible": true, "asks_again": false, "uses": 3, "done": 0, "under_way": 0 });
            runs.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            runs
        };
        let step = |runs: Option<serde_json::Value>| {
            let id = "3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d";
            json!({ "step_id": id, "description": "Pay\nthem", "status": "pending", "runs": runs })
        };
        let once = runs("agent", json!({ "uses": 1, "asks_again": true }));
        let actions = json!({ "plan_id": "3f2b8c1d-5e6f-4a7b-8c9d-0e1f2a3b4c5d", "status": "proposed",
            "lasts_seconds": 3600, "steps": [step(None), step(Some(runs("owner", json!({})))), step(Some(once))] });
        let lines = Steps::Read(serde_json::from_value(actions).unwrap()).lines();
        let expected = [
            "Step 1: an approval permits no call. The agent says: “Pay␊them”",
            "Step 2: Pay at most 500.00 USD␛ to Acme, up to 3 times. The agent says: “Pay␊them”",
            "Step 3: Pay at most 500.00 USD␛ to Acme, once, and you are asked each time, as the agent calls it. \
             The agent says: “Pay␊them”",
        ];
        assert_eq!(lines, expected);
    }
}
