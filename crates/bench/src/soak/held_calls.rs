//! A held call: raised, answered by the person, used, and followed until its agent knows the outcome.

use super::{
    agent::{SoakAgent, SoakCall},
    http::Request,
    person::Replied,
    random::Random,
    record::{Raised, ReportedResult, SoakOperation},
};
use serde_json::{Value, json};
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(300);
/// How often each part is retried after a response without effect.
const TRIES: usize = 40;
/// How many questions one operation may ask when the approved call fails without effect.
const QUESTIONS: usize = 4;

/// The state of a decision, as far as its agent needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HeldState {
    Pending,
    /// Approved and not used, with its token.
    Open(String),
    /// In progress.
    Claimed,
    /// The upstream stated that nothing happened.
    Failed,
    /// Carried out, unknown, rejected, or otherwise ended: this agent must not send it again.
    Over,
}

impl SoakAgent {
    pub(super) async fn held_call(&self, random: &mut Random, marker: String) {
        for _ in 0..QUESTIONS {
            match self.asked_and_used(random, &marker).await {
                Some(HeldState::Failed) => {}
                Some(_) => {
                    self.load.one_held_call_ended();
                    return;
                }
                None => break,
            }
        }
        self.load.one_held_call_ended();
        self.load.record.pages().given_up += 1;
    }

    /// The final state; `None` if no response ever allowed for an effect.
    async fn asked_and_used(&self, random: &mut Random, marker: &str) -> Option<HeldState> {
        let decision = match self.raise(marker).await {
            Ok(decision) => decision?,
            Err(standing) => return Some(standing),
        };
        let accepts = !random.percent(15);
        let replied = self.load.person.replies(|| self.load.any_public(), &decision, accepts).await;
        if replied == Replied::GaveUp {
            return Some(HeldState::Over);
        }
        if !accepts {
            // A rejected call is sent all the same: it must not run.
            self.call(self.redeem(marker, &decision)).await;
            return Some(HeldState::Over);
        }
        self.use_approval(random, marker, &decision).await
    }

    /// Sends the call without an approval until it is held. A response may be lost: the same call is the same question.
    async fn raise(&self, marker: &str) -> Result<Option<String>, HeldState> {
        for _ in 0..TRIES {
            let (told, answer) = self.call(self.order(marker, None)).await;
            match (told, answer) {
                (ReportedResult::Held, Some(answer)) => {
                    let Some(decision) = answer.json()["decision"]["decision_id"].as_str().map(str::to_owned) else {
                        return Ok(None);
                    };
                    let raised = Raised { agent: self.number, at: self.load.record.now() };
                    self.load.record.pages().decisions.entry(decision.clone()).or_insert(raised);
                    return Ok(Some(decision));
                }
                (ReportedResult::Ran | ReportedResult::Conflict, _) => return Err(HeldState::Over),
                _ => tokio::time::sleep(PAUSE).await,
            }
        }
        Ok(None)
    }

    /// Claims the approval, sometimes by two requests at once; never again once it may have been claimed.
    async fn use_approval(&self, random: &mut Random, marker: &str, decision: &str) -> Option<HeldState> {
        for _ in 0..TRIES {
            let token = match self.stands(decision).await? {
                HeldState::Open(token) => token,
                HeldState::Pending | HeldState::Claimed => {
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
                over => return Some(over),
            };
            let with_token = self.order(marker, Some((decision, &token)));
            let told = match random.below(100) {
                0..30 => {
                    let (one, other) = tokio::join!(self.call(with_token), self.call(self.redeem(marker, decision)));
                    if one.0 == ReportedResult::Ran { one.0 } else { other.0 }
                }
                30..50 => self.call(self.redeem(marker, decision)).await.0,
                _ => self.call(with_token).await.0,
            };
            if told == ReportedResult::Ran {
                return Some(HeldState::Over);
            }
            tokio::time::sleep(PAUSE).await;
        }
        Some(HeldState::Over)
    }

    /// Asks the node until it responds; `None` if it does not.
    async fn stands(&self, decision: &str) -> Option<HeldState> {
        for _ in 0..TRIES {
            match self.decision(decision, 2).await {
                Some(answer) if answer.status == 200 => return Some(standing(&answer.json())),
                Some(answer) if answer.status == 404 => return Some(HeldState::Over),
                _ => tokio::time::sleep(PAUSE).await,
            }
        }
        None
    }

    fn order(&self, marker: &str, approved: Option<(&str, &str)>) -> SoakCall {
        let request = Request::post(format!("/orders/{marker}")).json(&json!({ "marker": marker }));
        let request = match approved {
            Some((_, token)) => request.with("x-agent-confirm", token),
            None => request,
        };
        let decision = approved.map(|(decision, _)| decision.to_owned());
        SoakCall { operation: SoakOperation::Held, marker: marker.to_owned(), decision, request }
    }

    /// Runs the request that was kept with the question.
    fn redeem(&self, marker: &str, decision: &str) -> SoakCall {
        let request = Request::post(format!("/.countersign/decisions/{decision}/redeem"));
        SoakCall {
            operation: SoakOperation::Held,
            marker: marker.to_owned(),
            decision: Some(decision.to_owned()),
            request,
        }
    }
}

fn standing(document: &Value) -> HeldState {
    let execution = document["execution"]["state"].as_str().unwrap_or_default();
    let allowance = document["allowance"]["state"].as_str().unwrap_or_default();
    match (document["state"].as_str().unwrap_or_default(), allowance, execution) {
        ("pending", ..) => HeldState::Pending,
        (_, _, "claimed") => HeldState::Claimed,
        (_, _, "failed") => HeldState::Failed,
        ("accepted", "open", "") => HeldState::Open(document["confirm_token"].as_str().unwrap_or_default().to_owned()),
        _ => HeldState::Over,
    }
}
