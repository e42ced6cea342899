//! Output of the inbox: lines for people, objects for programs. A number names a question for as long as the inbox
//! runs, so that a late approval never answers the next question.

use super::{
    plan_steps::Steps,
    view::{View, tell_apart},
};
use crate::{
    context::Context,
    failure::Failure,
    span::in_words as duration,
    table::{printable, quoted, sentence},
};
use anstyle::{AnsiColor, Style};
use countersign_client::aaep::{Announcement, Ending, Inbox, ReceivedQuestion, SaidBy};
use countersign_protocol::time::UnixMillis;
use serde_json::{Value, json};
use std::io::IsTerminal as _;

pub(super) struct Teller<'a> {
    context: &'a Context,
    json: bool,
    quiet: bool,
    colour: bool,
    /// Ids of questions; the index is the number minus one.
    numbers: Vec<String>,
}

impl<'a> Teller<'a> {
    pub(super) fn new(context: &'a Context, json: bool, quiet: bool) -> Self {
        let colour = context.terminal.colour_allowed && std::io::stdout().is_terminal();
        Self { context, json, quiet, colour, numbers: Vec::new() }
    }

    /// The question id behind a number or an id.
    pub(super) fn id(&self, named: &str) -> Option<&str> {
        let number = named.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        let by_number = number.and_then(|place| self.numbers.get(place));
        by_number.or_else(|| self.numbers.iter().find(|id| *id == named)).map(String::as_str)
    }

    pub(super) fn announce(&mut self, announcement: &Announcement, now: UnixMillis) -> Result<(), Failure> {
        match announcement {
            Announcement::Asked(question) => self.asked(question, None, now),
            Announcement::Over { question, ending, words, said_by } => {
                let name = self.name(question.id());
                let text = format!("{name} {}", ended(*ending));
                let text = match words {
                    Some(words) => format!("{text}. {}", whose(*said_by, "The agent", words)),
                    None => text,
                };
                let event = json!({ "event": "over", "id": question.id(), "ending": ending.as_str(), "words": words,
                    "said_by": said_by.as_str() });
                self.tell("over", &text, event)
            }
            Announcement::TimeLeft { question, seconds } => {
                let text = format!("{}: {} left to answer", self.name(question.id()), duration(*seconds));
                self.tell("time", &text, json!({ "event": "time_left", "id": question.id(), "seconds_left": seconds }))
            }
            Announcement::MoreTime { question, deadline } => {
                let left = question.seconds_left(now);
                let text = format!("{} has more time: {} left", self.name(question.id()), duration(left));
                let event = json!({ "event": "more_time", "id": question.id(), "deadline": deadline.to_rfc3339(), "seconds_left": left });
                self.tell("time", &text, event)
            }
            Announcement::Said(_) if self.quiet && !announcement.is_assertive() => Ok(()),
            Announcement::Said(said) => {
                let who = if said.known_producer { "" } else { " (not known to you)" };
                let agent = format!("{}{who}", printable(&said.agent_id));
                let text = match said.said_by {
                    SaidBy::Hub => format!("About {agent}: {}", printable(&said.text)),
                    SaidBy::Agent => whose(said.said_by, &agent, &said.text),
                };
                let event = json!({ "event": "said", "agent_id": said.agent_id, "session_id": said.session_id,
                    "urgency": said.urgency, "text": said.text, "folded": said.folded, "said_by": said.said_by.as_str() });
                self.tell("said", &text, event)
            }
            Announcement::ProducerRefused { agent_id } => {
                let text = format!("The agent {} is not known to you: its messages are not shown", printable(agent_id));
                self.tell("refused", &text, json!({ "event": "producer_refused", "agent_id": agent_id }))
            }
        }
    }

    /// A new question, with its steps if it is about a plan.
    pub(super) fn asked(
        &mut self,
        question: &ReceivedQuestion,
        steps: Option<Steps>,
        now: UnixMillis,
    ) -> Result<(), Failure> {
        let (view, name) = (View::from(question).of_plan(steps), self.name(question.id()));
        if self.json {
            return self.line(&json!({ "event": "asked", "question": view.json(now) }));
        }
        let mut lines = view.lines(&name, now);
        lines.push(view.how(name.trim_start_matches("Question ")));
        self.block(&lines)
    }

    /// The pending questions.
    pub(super) fn list(&mut self, inbox: &Inbox, now: UnixMillis) -> Result<(), Failure> {
        let open: Vec<_> = inbox.questions().cloned().collect();
        if self.json {
            let questions: Vec<Value> = open.iter().map(|question| View::from(&**question).json(now)).collect();
            return self.line(&json!({ "event": "list", "questions": questions }));
        }
        if open.is_empty() {
            return self.say("No pending questions.");
        }
        let mut views: Vec<(String, View)> =
            open.iter().map(|question| (self.name(question.id()), View::from(&**question))).collect();
        tell_apart(&mut views);
        for (name, view) in views {
            self.block(&view.lines(&name, now))?;
        }
        Ok(())
    }

    /// A message about the inbox itself.
    pub(super) fn tell(&self, word: &str, text: &str, event: Value) -> Result<(), Failure> {
        if self.json {
            return self.line(&event);
        }
        let style = match word {
            "over" | "problem" => self.style(AnsiColor::Yellow),
            _ => Style::new(),
        };
        self.context.terminal.say_in(style, &sentence(text))?;
        self.context.say("\n")
    }

    /// The number is assigned when the question is first named, and kept.
    pub(super) fn name(&mut self, id: &str) -> String {
        let place = self.numbers.iter().position(|known| known == id).unwrap_or_else(|| {
            self.numbers.push(id.to_owned());
            self.numbers.len() - 1
        });
        format!("Question {}", place + 1)
    }

    /// On a screen, the first line is highlighted and a blank one follows; with a screen reader, neither helps.
    fn block(&self, lines: &[String]) -> Result<(), Failure> {
        let style = self.style(AnsiColor::Cyan);
        let (first, rest) = lines.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
        let indent = if self.context.terminal.accessible { "" } else { "  " };
        let rest: String = rest.iter().map(|line| format!("{indent}{}\n", sentence(line))).collect();
        let gap = if self.context.terminal.accessible { "" } else { "\n" };
        self.context.terminal.say_in(style, &sentence(first))?;
        self.context.say(&format!("\n{rest}{gap}"))
    }

    fn style(&self, colour: AnsiColor) -> Style {
        if self.colour { colour.on_default().bold() } else { Style::new() }
    }

    pub(super) fn say(&self, text: &str) -> Result<(), Failure> {
        self.context.say(&format!("{text}\n"))
    }

    fn line(&self, event: &Value) -> Result<(), Failure> {
        self.context.say_line(event)
    }
}

/// The service's text as it is; an agent's text in quotes, with its author.
fn whose(said_by: SaidBy, agent: &str, words: &str) -> String {
    match said_by {
        SaidBy::Hub => printable(words),
        SaidBy::Agent => format!("{agent} says: {}", quoted(words)),
    }
}

/// The outcome of a question, as the end of a sentence.
pub(super) fn ended(ending: Ending) -> &'static str {
    match ending {
        Ending::Accepted => "was approved",
        Ending::Rejected => "was rejected",
        Ending::Answered => "was answered",
        Ending::Expired => "expired without an answer",
        Ending::Withdrawn => "was withdrawn",
        Ending::SessionOver => "was cancelled: the agent's session has ended",
        Ending::Moved => "is settled: the agent continues",
        Ending::Missed => "is no longer pending: it was settled while the connection was lost",
    }
}
