//! The running inbox: events, typed lines and timers.

use super::{
    answer::{how_to_answer, needs_more_proof},
    commands::{HELP, InboxCommand, MORE_S, yes_or_no},
    connection::{Connected, ServiceClock, not_subscribed, only_listens},
    plan_steps,
    tell::Teller,
};
use crate::{context::Context, failure::Failure, span::in_words as duration};
use countersign_client::{
    aaep::{Announcement, Answer, Asks, Inbox, ReceivedQuestion, Replier, Speech, SubscriberClient, SubscriberEvent},
    mplp::Mplp,
};
use serde_json::json;
use std::{collections::BTreeSet, io::BufRead as _, sync::Arc, time::Duration};
use tokio::{
    sync::mpsc,
    time::{MissedTickBehavior, interval, sleep},
};

/// How long to wait for the outcome of an answer before the service is asked.
const SETTLES_WITHIN: Duration = Duration::from_secs(5);
/// Buffer of received events. A full one applies back-pressure to the service.
const HEARD: usize = 1024;

pub(super) async fn run(connected: &Connected, json: bool, quiet: bool, context: &Context) -> Result<(), Failure> {
    let (subscriber, clock) = connected.subscribe().await?;
    let teller = Teller::new(context, json, quiet);
    let service = &connected.config.service;
    let text = format!("Listening to {service}. Type help for the commands");
    let answers = !only_listens(&subscriber);
    teller.tell("connected", &text, json!({ "event": "listening", "service": service, "may_answer": answers }))?;
    if !answers && !json {
        teller.tell("problem", "This token only listens: answers given here do not count", json!({}))?;
    }
    let (checks, checked) = mpsc::channel(64);
    let mut desk = Desk {
        replier: subscriber.replier(),
        mplp: connected.mplp(),
        inbox: Inbox::new(connected.trust.clone()),
        speech: Speech::default(),
        checks,
        teller,
        clock,
        lost: false,
        json,
    };
    let ended = desk.work(subscriber, checked).await;
    let _left = desk.replier.close().await;
    ended
}

struct Desk<'a> {
    replier: Replier,
    mplp: Mplp,
    inbox: Inbox,
    speech: Speech,
    teller: Teller<'a>,
    clock: ServiceClock,
    /// Questions with an overdue outcome are sent here.
    checks: mpsc::Sender<String>,
    lost: bool,
    json: bool,
}

impl Desk<'_> {
    async fn work(&mut self, subscriber: SubscriberClient, mut checked: mpsc::Receiver<String>) -> Result<(), Failure> {
        let (mut heard, mut lines) = (listen(subscriber), typed());
        let mut tick = interval(Duration::from_secs(1));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut reading = true;
        loop {
            tokio::select! {
                next = heard.recv() => match next {
                    Some(next) => self.hear(next?, &mut heard).await?,
                    None => return Ok(()),
                },
                line = lines.recv(), if reading => match line {
                    Some(line) => match self.line(InboxCommand::read(&line)).await? {
                        Goes::On => {}
                        Goes::Away => return Ok(()),
                    },
                    // End of input means that a person is done; a program may merely have no input.
                    None if !self.json => return Ok(()),
                    None => reading = false,
                },
                Some(id) = checked.recv() => self.check(&id).await?,
                _ = tick.tick() => {
                    let told = self.inbox.tick(self.clock.now());
                    self.speech.push(told);
                    self.speak().await?;
                }
                _ = tokio::signal::ctrl_c() => return Ok(()),
            }
        }
    }

    /// Takes everything that has arrived, so that a question is read out before earlier, less important events.
    async fn hear(
        &mut self,
        first: SubscriberEvent,
        more: &mut mpsc::Receiver<Result<SubscriberEvent, Failure>>,
    ) -> Result<(), Failure> {
        self.take(first).await?;
        while let Ok(next) = more.try_recv() {
            self.take(next?).await?;
        }
        self.speak().await
    }

    async fn take(&mut self, heard: SubscriberEvent) -> Result<(), Failure> {
        match heard {
            SubscriberEvent::Received(received) => {
                let told = self.inbox.apply(&received, self.clock.now());
                self.speech.push(told);
                Ok(())
            }
            SubscriberEvent::Unreadable => {
                self.teller.tell("problem", "An event could not be read", json!({ "event": "unreadable" }))
            }
            SubscriberEvent::Lost { next } => {
                self.lost = true;
                let seconds = next.as_secs();
                let text = format!(
                    "The connection is lost. Next attempt in {}",
                    duration(i64::try_from(seconds).unwrap_or(0))
                );
                self.teller.tell("problem", &text, json!({ "event": "lost", "next_attempt_seconds": seconds }))
            }
            SubscriberEvent::Connected { anew } => self.connected(anew).await,
        }
    }

    async fn connected(&mut self, anew: bool) -> Result<(), Failure> {
        if !std::mem::take(&mut self.lost) {
            return Ok(());
        }
        self.teller.tell("connected", "Connected again", json!({ "event": "connected" }))?;
        if anew {
            self.inbox.reset(self.clock.now());
        }
        if let Ok(listed) = self.replier.questions().await {
            let open: BTreeSet<&str> = listed.questions.iter().map(|open| open.decision_id.as_str()).collect();
            let told = self.inbox.reconcile(&open);
            self.speech.push(told);
        }
        Ok(())
    }

    async fn speak(&mut self) -> Result<(), Failure> {
        while let Some(announcement) = self.speech.next_announcement() {
            match &announcement {
                Announcement::Asked(question) => {
                    let steps = plan_steps::of(&self.mplp, question.facts()).await;
                    self.teller.asked(question, steps, self.clock.now())?;
                }
                other => self.teller.announce(other, self.clock.now())?,
            }
        }
        match self.speech.take_dropped_count() {
            0 => Ok(()),
            n => {
                let text = format!("{n} less urgent messages were left out");
                self.teller.tell("said", &text, json!({ "event": "left_out", "count": n }))
            }
        }
    }

    async fn line(&mut self, line: InboxCommand) -> Result<Goes, Failure> {
        match line {
            InboxCommand::Nothing => {}
            InboxCommand::Quit => return Ok(Goes::Away),
            InboxCommand::List => self.teller.list(&self.inbox, self.clock.now())?,
            InboxCommand::Help => {
                for text in HELP {
                    self.teller.tell("help", text, json!({ "event": "help", "text": text }))?;
                }
            }
            InboxCommand::Unknown => {
                self.problem("An answer begins with the number of its question. Type help, or list")?
            }
            InboxCommand::Answer { question, text } => {
                if let Some(question) = self.find(&question)? {
                    self.answer(&question, &text).await?;
                }
            }
            InboxCommand::MoreTime { question, seconds } => {
                if let Some(question) = self.find(&question)? {
                    self.more_time(&question, seconds.unwrap_or(MORE_S)).await?;
                }
            }
        }
        Ok(Goes::On)
    }

    /// The pending question with this name; prints a problem if there is none.
    fn find(&mut self, named: &str) -> Result<Option<Arc<ReceivedQuestion>>, Failure> {
        let found = self.teller.id(named).and_then(|id| self.inbox.question(id)).cloned();
        match (found, self.teller.id(named).is_some()) {
            (Some(question), _) => return Ok(Some(question)),
            (None, true) => self.problem(&format!("Question {named} is no longer pending. Nothing was sent"))?,
            (None, false) => self.problem(&format!("There is no question {named}. Nothing was sent"))?,
        }
        Ok(None)
    }

    async fn answer(&mut self, question: &Arc<ReceivedQuestion>, text: &str) -> Result<(), Failure> {
        let answer = match (question.request(), yes_or_no(text)) {
            (Asks::Confirmation(_), Some((true, rationale))) => Ok(Answer::Approve { rationale }),
            (Asks::Confirmation(_), Some((false, reason))) => Ok(Answer::Reject { reason }),
            _ => question.read_answer(text),
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(why) => return self.problem(&format!("Nothing was sent: {why}")),
        };
        if let Some(how) = self.needs_more(question).await {
            return self.problem(&format!("Nothing was sent: this needs more proof than this token; {how}"));
        }
        if let Err(why) = self.replier.reply(question, &answer, self.clock.now()).await {
            return self.problem(&format!("Not sent: {why}"));
        }
        let name = self.teller.name(question.id());
        self.teller.tell(
            "sent",
            &format!("The answer to {} is sent", name.to_lowercase()),
            json!({ "event": "sent", "id": question.id() }),
        )?;
        let (checks, id) = (self.checks.clone(), question.id().to_owned());
        tokio::spawn(async move {
            sleep(SETTLES_WITHIN).await;
            let _gone = checks.send(id).await;
        });
        Ok(())
    }

    /// How to answer a question that requires stronger authentication than this token.
    async fn needs_more(&self, question: &ReceivedQuestion) -> Option<String> {
        let listed = self.replier.questions().await.ok()?;
        let open = listed.questions.into_iter().find(|open| question.decision_id() == Some(&open.decision_id))?;
        needs_more_proof(&open).then(|| how_to_answer(&open))
    }

    async fn more_time(&mut self, question: &ReceivedQuestion, seconds: i64) -> Result<(), Failure> {
        let Some(id) = question.decision_id() else { return self.problem("This producer gives no more time") };
        match self.replier.extend_deadline(id, seconds).await {
            // The event that follows has the new deadline; without one the deadline could not be extended.
            Ok(more) if more.deadline <= question.deadline() => {
                self.problem("No more time than that can be given for this question")
            }
            Ok(_) => Ok(()),
            Err(why) => self.problem(&format!("No more time: {why}")),
        }
    }

    /// Tells the person that an answer settled nothing.
    async fn check(&mut self, id: &str) -> Result<(), Failure> {
        if self.inbox.question(id).is_none() {
            return Ok(());
        }
        let Ok(listed) = self.replier.questions().await else { return Ok(()) };
        let name = self.teller.name(id);
        match listed.questions.iter().any(|open| open.decision_id == id) {
            true => self.problem(&format!("The answer to {name} did not count, and it is still pending")),
            false => Ok(()),
        }
    }

    fn problem(&self, text: &str) -> Result<(), Failure> {
        self.teller.tell("problem", text, json!({ "event": "problem", "text": text }))
    }
}

enum Goes {
    On,
    Away,
}

/// Listens in a task of its own, so that a slow answer delays no question.
fn listen(mut subscriber: SubscriberClient) -> mpsc::Receiver<Result<SubscriberEvent, Failure>> {
    let (to, heard) = mpsc::channel(HEARD);
    tokio::spawn(async move {
        loop {
            let next = subscriber.next().await.map_err(not_subscribed);
            let over = next.is_err();
            if to.send(next).await.is_err() || over {
                return;
            }
        }
    });
    heard
}

/// Lines of standard input. On a thread of its own, because a blocking read cannot be cancelled; nothing joins it at
/// exit.
fn typed() -> mpsc::Receiver<String> {
    let (to, lines) = mpsc::channel(16);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            if to.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
