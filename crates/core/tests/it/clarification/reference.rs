//! Oracle for a clarification session: no signatures, no fingerprints, one rule after the other.

use super::rules::complete;
use countersign_protocol::clarification::Severity;
use serde_json::{Map, Value, json};

/// In the order of the rules; each rule asks about one field.
const FIELDS: [&str; 7] = ["target", "region", "amount", "urgent", "owner", "note", "window"];

/// A plan to submit: its missing fields, its flags, and the tool it runs.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) missing: Vec<&'static str>,
    pub(super) vague: bool,
    pub(super) production: bool,
    pub(super) runs: Option<&'static str>,
}

impl Draft {
    pub(super) fn plan(&self) -> Value {
        let mut plan = complete();
        if self.production {
            plan.insert("target".into(), json!("Production"));
        }
        if self.vague {
            plan.insert("note".into(), json!("The usual, please"));
        }
        if let Some(tool) = self.runs {
            plan.insert("actions".into(), json!({ "one": { "tool": tool } }));
        }
        plan.retain(|name, _| !self.missing.contains(&name.as_str()));
        Value::Object(plan)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Is {
    Open,
    Gone,
    Answered { said: String, accepted: String, by_person: bool, round: usize, applies: bool },
}

#[derive(Clone, Debug)]
pub(super) struct Gap {
    pub(super) field: &'static str,
    pub(super) owed: bool,
    pub(super) is: Is,
    /// The last unusable answer.
    pub(super) refused: Option<String>,
}

#[derive(Clone, Debug)]
pub(super) struct Reference {
    pub(super) draft: Draft,
    pub(super) gaps: Vec<Gap>,
    pub(super) rounds: usize,
    pub(super) plans: usize,
    pub(super) confirmed: bool,
}

/// The result of an agent's own answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    Resolved(String),
    Escalated,
    AlreadyResolved,
    Gone,
}

impl Reference {
    pub(super) fn new(draft: Draft) -> Self {
        let mut reference = Self { draft, gaps: Vec::new(), rounds: 0, plans: 1, confirmed: false };
        reference.look();
        reference
    }

    /// The plan with its answers applied, in the order they were given.
    pub(super) fn plan(&self) -> Value {
        let mut plan = self.draft.plan();
        let mut answers: Vec<(usize, &Gap, &String)> = Vec::new();
        for gap in &self.gaps {
            if let Is::Answered { accepted, round, applies: true, .. } = &gap.is {
                answers.push((*round, gap, accepted));
            }
        }
        answers.sort_by_key(|(round, ..)| *round);
        // Only a WARN gap takes the answer `accept`, which leaves the plan unchanged.
        for (_, gap, accepted) in answers.into_iter().filter(|(.., accepted)| *accepted != "accept") {
            plan[gap.field] = written(gap.field, accepted);
        }
        plan
    }

    fn look(&mut self) {
        for field in unclear(self.plan().as_object().unwrap()) {
            let counts = |gap: &Gap| gap.is == Is::Open || matches!(gap.is, Is::Answered { applies: true, .. });
            if !self.gaps.iter().any(|gap| gap.field == field && counts(gap)) {
                let owed = self.owed(field);
                self.gaps.push(Gap { field, owed, is: Is::Open, refused: None });
            }
        }
    }

    fn owed(&self, field: &str) -> bool {
        field == "owner" || (severity(field) == Severity::Block && self.draft.runs == Some("money.pay"))
    }

    pub(super) fn submit(&mut self, draft: Draft) {
        if draft.plan() == self.draft.plan() {
            return;
        }
        self.draft = draft;
        self.plans += 1;
        for gap in &mut self.gaps {
            match &mut gap.is {
                Is::Open => gap.is = Is::Gone,
                Is::Answered { applies, .. } => *applies = false,
                Is::Gone => {}
            }
        }
        while self.keep_one() {}
        self.look();
    }

    fn keep_one(&mut self) -> bool {
        for field in unclear(self.plan().as_object().unwrap()) {
            let owed = self.owed(field);
            let last =
                self.gaps.iter_mut().rev().find(|gap| gap.field == field && matches!(gap.is, Is::Answered { .. }));
            if let Some(Gap { is: Is::Answered { applies, by_person, .. }, .. }) = last
                && !*applies
                && (*by_person || !owed)
            {
                *applies = true;
                return true;
            }
        }
        false
    }

    pub(super) fn resolve(&mut self, at: usize, said: &str) -> Told {
        let gap = &mut self.gaps[at];
        match &gap.is {
            Is::Gone => return Told::Gone,
            Is::Answered { said: known, accepted, by_person: false, .. } if known == said => {
                return Told::Resolved(accepted.clone());
            }
            Is::Answered { .. } => return Told::AlreadyResolved,
            Is::Open => {}
        }
        match usable(gap.field, said).filter(|_| !gap.owed) {
            Some(accepted) => {
                self.settle(at, said, &accepted, false);
                Told::Resolved(accepted)
            }
            None => {
                if gap.refused.as_deref() != Some(said) {
                    gap.refused = Some(said.to_owned());
                    self.rounds += 1;
                }
                Told::Escalated
            }
        }
    }

    /// Whether the person's answer changed anything.
    pub(super) fn person(&mut self, at: usize, said: &str) -> bool {
        let field = self.gaps[at].field;
        if self.gaps[at].is != Is::Open || self.confirmed {
            return false;
        }
        let offered = field != "region" || ["eu", "us", "accept"].contains(&said);
        let vague = said.to_lowercase().contains("the usual") && !["region", "amount", "urgent"].contains(&field);
        let accepted = if vague { Some(said.to_owned()) } else { usable(field, said) };
        match accepted.filter(|_| offered) {
            Some(accepted) => {
                self.settle(at, said, &accepted, true);
                true
            }
            None => false,
        }
    }

    fn settle(&mut self, at: usize, said: &str, accepted: &str, by_person: bool) {
        self.rounds += 1;
        let (said, accepted, round) = (said.to_owned(), accepted.to_owned(), self.rounds);
        self.gaps[at].is = Is::Answered { said, accepted, by_person, round, applies: true };
        self.look();
    }

    pub(super) fn confirm(&mut self) {
        let open = self.open().count();
        self.confirmed = open == 0;
    }

    pub(super) fn open(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.iter().filter(|gap| gap.is == Is::Open)
    }

    /// The number of accepted, blocking and warning gaps.
    pub(super) fn counts(&self) -> [usize; 3] {
        let open = |wanted| self.open().filter(|gap| severity(gap.field) == wanted).count();
        let answered = self.gaps.iter().filter(|gap| matches!(gap.is, Is::Answered { .. })).count();
        [answered, open(Severity::Block), open(Severity::Warn)]
    }
}

pub(super) fn severity(field: &str) -> Severity {
    if ["region", "urgent"].contains(&field) { Severity::Warn } else { Severity::Block }
}

/// The fields that the rules must report.
fn unclear(plan: &Map<String, Value>) -> Vec<&'static str> {
    let is = |field: &str| match field {
        "note" => {
            plan.get("note").and_then(Value::as_str).is_some_and(|note| note.to_lowercase().contains("the usual"))
        }
        "window" => plan.get("target") == Some(&json!("Production")) && !plan.contains_key("window"),
        field => !plan.contains_key(field),
    };
    FIELDS.into_iter().filter(|field| is(field)).collect()
}

/// The accepted value of an answer; `None` if the answer is unusable.
fn usable(field: &str, said: &str) -> Option<String> {
    let plain = said.trim().to_lowercase();
    let suggestions: &[&str] = match field {
        "target" => &["Staging", "Production"],
        "region" => &["eu", "us"],
        _ => &[],
    };
    let suggested = suggestions.iter().find(|known| known.to_lowercase() == plain);
    match (plain.as_str(), suggested, field) {
        ("", ..) => None,
        ("accept", ..) => (severity(field) == Severity::Warn).then(|| "accept".into()),
        (_, Some(known), _) => Some((*known).to_owned()),
        (_, None, "region") => None,
        (plain, ..) if plain.contains("the usual") => None,
        (plain, _, "amount") => plain.parse::<f64>().is_ok().then(|| said.to_owned()),
        (plain, _, "urgent") => ["true", "false"].contains(&plain).then(|| said.to_owned()),
        _ => Some(said.to_owned()),
    }
}

fn written(field: &str, accepted: &str) -> Value {
    let plain = accepted.trim().to_lowercase();
    match field {
        "amount" | "urgent" if plain != "accept" => serde_json::from_str(&plain).unwrap(),
        _ => json!(accepted),
    }
}
