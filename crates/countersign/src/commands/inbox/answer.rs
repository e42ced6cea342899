//! `countersign inbox answer ID approve|reject` and `respond ID TEXT`: one answer, and its outcome.
//!
//! The service gives the same response to every reply (AAEP 6.3.4). The outcome is in the event that settles the
//! question, so this waits for that event. A standing approval goes through the MPLP endpoint instead, which returns
//! the outcome at once.

use super::{
    connection::{Connected, ServiceClock, not_answered, not_approved, not_subscribed, only_listens},
    standing_limits::{StandingLimits, confirm_of},
    tell::ended,
};
use crate::{commands::plan::texts, context::Context, failure::Failure};
use clap::ValueEnum;
use countersign_client::aaep::{
    Announcement, Answer, Ending, Inbox, ReceivedQuestion, Replier, SubscriberClient, SubscriberEvent,
};
use countersign_protocol::{
    aaep::questions::{Offer, OpenQuestion},
    mplp::{AllowanceShown, DecisionRequest, DecisionStatus},
};
use serde_json::json;
use std::{sync::Arc, time::Duration};

/// How long to wait for the question, and for the event that settles it.
const PATIENCE: Duration = Duration::from_secs(10);

const ANSWERING_TOKEN: &str = "`countersign token add` without --reads-only makes one that answers";

/// Approve or reject an agent's request, and end
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The question, as `countersign inbox list` names it.
    id: String,

    decision: DecisionArgument,

    /// Why; the agent sees it.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    #[command(flatten)]
    more: StandingLimits,
}

/// Answer an agent's clarification question, and end
#[derive(Debug, clap::Args)]
pub(super) struct RespondArguments {
    /// The question, as `countersign inbox list` names it.
    id: String,

    /// The answer: a text, a number, yes or no, or a choice by its number or name.
    text: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DecisionArgument {
    #[value(alias = "yes")]
    Approve,
    #[value(alias = "no")]
    Reject,
}

pub(super) async fn run(
    arguments: &Arguments,
    connected: &Connected,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let reason = arguments.reason.clone();
    match arguments.decision {
        _ if arguments.more.is_nothing() => {}
        DecisionArgument::Approve => return bounded(arguments, connected, json, context).await,
        DecisionArgument::Reject => {
            return Err(Failure::misused("limits and steps go with approve only; a rejection is for all of it"));
        }
    }
    let (answer, wanted) = match arguments.decision {
        DecisionArgument::Approve => (Answer::Approve { rationale: reason }, Ending::Accepted),
        DecisionArgument::Reject => (Answer::Reject { reason }, Ending::Rejected),
    };
    let ending = give(&arguments.id, connected, |_| Ok(answer)).await?;
    report(&arguments.id, ending, &[wanted], json, context)
}

/// A standing approval, or an approval of some steps of a plan; prints the resulting allowances.
async fn bounded(arguments: &Arguments, connected: &Connected, json: bool, context: &Context) -> Result<(), Failure> {
    let (mplp, confirm) = (connected.mplp(), confirm_of(&arguments.id)?);
    let yes = DecisionRequest {
        status: DecisionStatus::Approved,
        reason: arguments.reason.clone(),
        decided_by_role: None,
        by_override: false,
        bounds: arguments.more.bounds()?,
        steps: arguments.more.steps(&mplp, &confirm).await?,
    };
    mplp.decide(&confirm, &yes).await.map_err(not_approved)?;
    let mut open = mplp.allowances().await.map_err(not_approved)?;
    open.retain(|allowance| allowance.confirm_id == confirm);
    if json {
        let told = json!({ "id": arguments.id, "ending": "accepted", "counted": true, "allowances": open });
        return context.say_line(&told);
    }
    let lines: String = open.iter().map(allowed).collect();
    context.say(&format!("question {} {}\n{lines}", arguments.id, ended(Ending::Accepted)))
}

fn allowed(open: &AllowanceShown) -> String {
    let left = &open.left;
    let calls = if left.uses == 1 { "1 call".to_owned() } else { format!("{} calls", left.uses) };
    let sums: String = left.sums.iter().map(|sum| format!(", {} altogether", texts::sum(sum))).collect();
    format!("  {}: {calls}{sums}, until {}\n", left.allowance_id, left.until.to_rfc3339())
}

pub(super) async fn respond(
    arguments: &RespondArguments,
    connected: &Connected,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let read = |question: &ReceivedQuestion| {
        question.read_answer(&arguments.text).map_err(|why| Failure::new(why.to_string()))
    };
    let ending = give(&arguments.id, connected, read).await?;
    report(&arguments.id, ending, &[Ending::Answered, Ending::Accepted, Ending::Rejected], json, context)
}

/// Waits for the question, answers it, and waits for its outcome.
async fn give(
    id: &str,
    connected: &Connected,
    answer: impl FnOnce(&ReceivedQuestion) -> Result<Answer, Failure>,
) -> Result<Ending, Failure> {
    let (subscriber, clock) = connected.subscribe().await?;
    if only_listens(&subscriber) {
        let _left = subscriber.replier().close().await;
        return Err(Failure::new("this token only listens; nothing was sent").hint(ANSWERING_TOKEN));
    }
    let mut listening = Listening { inbox: Inbox::new(connected.trust.clone()), subscriber, clock };
    let replier = listening.subscriber.replier();
    let done = listening.answer(id, &replier, answer).await;
    let _left = replier.close().await;
    done
}

struct Listening {
    inbox: Inbox,
    subscriber: SubscriberClient,
    clock: ServiceClock,
}

impl Listening {
    async fn answer(
        &mut self,
        id: &str,
        replier: &Replier,
        answer: impl FnOnce(&ReceivedQuestion) -> Result<Answer, Failure>,
    ) -> Result<Ending, Failure> {
        let question = self.hear(id, replier).await?;
        let answer = answer(&question)?;
        replier.reply(&question, &answer, self.clock.now()).await.map_err(|why| Failure::new(why.to_string()))?;
        match tokio::time::timeout(PATIENCE, self.ending(&question)).await {
            Ok(ending) => ending,
            Err(_) => Err(still_open(id, replier).await),
        }
    }

    /// The question itself: a new subscriber receives all pending ones (S1).
    async fn hear(&mut self, id: &str, replier: &Replier) -> Result<Arc<ReceivedQuestion>, Failure> {
        // If the list does not have it, there is no need to wait. Other producers have no list.
        let gone = || {
            Failure::new("there is no such pending question").hint("`countersign inbox list` shows the pending ones")
        };
        if let Ok(listed) = replier.questions().await {
            let open = listed.questions.into_iter().find(|open| open.decision_id == id || open.event_id == id);
            enough_proof(&open.ok_or_else(gone)?)?;
        }
        let heard = async {
            loop {
                self.next().await?;
                if let Some(question) = self.inbox.question(id) {
                    return Ok(Arc::clone(question));
                }
            }
        };
        tokio::time::timeout(PATIENCE, heard).await.unwrap_or_else(|_| Err(gone()))
    }

    async fn ending(&mut self, question: &ReceivedQuestion) -> Result<Ending, Failure> {
        loop {
            let over = self.next().await?.into_iter().find_map(|announcement| match announcement {
                Announcement::Over { question: over, ending, .. } if over.id() == question.id() => Some(ending),
                _ => None,
            });
            if let Some(ending) = over {
                return Ok(ending);
            }
        }
    }

    async fn next(&mut self) -> Result<Vec<Announcement>, Failure> {
        match self.subscriber.next().await.map_err(not_subscribed)? {
            SubscriberEvent::Received(received) => Ok(self.inbox.apply(&received, self.clock.now())),
            _ => Ok(Vec::new()),
        }
    }
}

/// A token is not strong enough authentication for every question. A reply that could not count is not sent.
fn enough_proof(open: &OpenQuestion) -> Result<(), Failure> {
    if !needs_more_proof(open) {
        return Ok(());
    }
    let why = format!("this question needs more proof than a token: {}; nothing was sent", open.assurance.as_str());
    Err(Failure::new(why).hint(how_to_answer(open)))
}

pub(super) fn needs_more_proof(open: &OpenQuestion) -> bool {
    matches!(open.offers.offer, Offer::ProveFirst | Offer::NotHere)
}

/// Where to answer a question that requires stronger authentication than this token.
pub(super) fn how_to_answer(open: &OpenQuestion) -> String {
    let page = &open.page;
    match open.high_risk_token_suffices {
        true => format!("answer it at {page}, or with a token made by `countersign token add --approves-high-risk`"),
        false => format!("answer it at {page}"),
    }
}

/// The reply arrived but settled nothing. Gives the reason, as far as the person may know it.
async fn still_open(id: &str, replier: &Replier) -> Failure {
    let listed = match replier.questions().await {
        Ok(listed) => listed.questions,
        Err(why) => return not_answered(why),
    };
    match listed.iter().find(|open| open.decision_id == id || open.event_id == id) {
        Some(open) => Failure::new("the answer did not count, and the question is still pending")
            .hint(format!("this token may only listen, or you may not decide this; see {}", open.page)),
        None => Failure::new("the answer arrived, and its outcome was not reported in time")
            .hint("the question is no longer pending"),
    }
}

fn report(id: &str, ending: Ending, wanted: &[Ending], json: bool, context: &Context) -> Result<(), Failure> {
    // Another producer only reports that its agent continues.
    let counted = wanted.contains(&ending) || ending == Ending::Moved;
    if json {
        context.say_line(&json!({ "id": id, "ending": ending.as_str(), "counted": counted }))?;
        return if counted { Ok(()) } else { Err(Failure::told()) };
    }
    let text = format!("question {id} {}", ended(ending));
    if counted {
        context.say(&format!("{text}\n"))
    } else {
        Err(Failure::new(text).hint("somebody else answered first, or the time was over"))
    }
}
