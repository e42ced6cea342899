//! The hub's own texts in AAEP sessions, in all of its languages.

use countersign_protocol::visible::quoted;

/// The languages of the hub's texts; the first is the default.
pub const LANGUAGES: [&str; 2] = ["en", "de"];

/// One message of the hub.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// A question opened a session of its own.
    Asking,
    Waiting,
    StillWaiting {
        open: usize,
    },
    Accepted,
    AcceptedByDefault,
    Rejected,
    ScopesApproved,
    ScopesDenied,
    TimeOver,
    NobodyThere,
    Answered,
    AnsweredByDefault,
    Unanswered,
    Withdrawn {
        reason: Option<String>,
    },
    Revoked,
    /// A person revoked their approval.
    TakenBack,
    /// The approved call can be undone for so long, and then runs.
    Undoable {
        seconds: i64,
    },
    Undone,
    /// The approval of a held call no longer holds.
    NotSent,
    TimeLeft {
        seconds: i64,
    },
    MoreTime {
        seconds: i64,
    },
    Running {
        tool: String,
    },
    Done {
        tool: String,
    },
    Failed {
        tool: String,
    },
    OutcomeUnknown {
        tool: String,
    },
    NotCarriedOut,
    Finished,
    /// The agent of a session has been silent for too long.
    AgentSilent,
    /// Sent to a late subscriber before the pending questions.
    Now {
        state: String,
        open: usize,
    },
}

impl Notice {
    pub fn text(&self, language: &str) -> String {
        match language {
            "de" => self.german(),
            _ => self.english(),
        }
    }

    fn english(&self) -> String {
        match self {
            Self::Asking => "An agent has a question for you.".into(),
            Self::Waiting => "A person's answer is pending.".into(),
            Self::StillWaiting { open: 1 } => "One more question is pending.".into(),
            Self::StillWaiting { open } => format!("{open} more questions are pending."),
            Self::Accepted => "The action was approved and may now run once.".into(),
            Self::AcceptedByDefault => {
                "Nobody answered in time; by the project's rule the action may now run once.".into()
            }
            Self::Rejected => "The action was rejected and does not run.".into(),
            Self::ScopesApproved => "More was allowed for the task.".into(),
            Self::ScopesDenied => "Nothing more was allowed for the task.".into(),
            Self::TimeOver => "Time ran out without an answer; the action does not run.".into(),
            Self::NobodyThere => "Nobody is there to answer; the action does not run.".into(),
            Self::Answered => "The question was answered.".into(),
            Self::AnsweredByDefault => "Nobody answered in time; the agent continues with its default answer.".into(),
            Self::Unanswered => "Nobody answered in time; the agent has no answer.".into(),
            Self::Withdrawn { reason: None } => "The question was withdrawn.".into(),
            Self::Withdrawn { reason: Some(reason) } => format!("The question was withdrawn: {}", quoted(reason)),
            Self::TakenBack => "The approval was revoked; nothing more runs under it.".into(),
            Self::Undoable { seconds } => {
                format!("The approved action is held: it can be undone for {}, and then runs.", english_time(*seconds))
            }
            Self::Undone => "The approved action was undone before it ran.".into(),
            Self::NotSent => "The approved action was not carried out: its approval no longer holds.".into(),
            Self::Revoked => "The agent's access has ended, and the question with it.".into(),
            Self::TimeLeft { seconds } => format!("{} left to answer.", english_time(*seconds)),
            Self::MoreTime { seconds } => format!("More time was given: {} left to answer.", english_time(*seconds)),
            Self::Running { tool } => format!("Running now: {tool}."),
            Self::Done { tool } => format!("Done: {tool}."),
            Self::Failed { tool } => format!("Failed: {tool}."),
            Self::OutcomeUnknown { tool } => {
                format!("The outcome of {tool} is unknown. It may have run; a person should check.")
            }
            Self::NotCarriedOut => "The approved action was not carried out in time and can no longer run.".into(),
            Self::Finished => "The request is finished.".into(),
            Self::AgentSilent => "The agent sent nothing for a long time; the request has ended.".into(),
            Self::Now { state, open: 0 } => format!("The agent's state is {state}."),
            Self::Now { state, open } => format!("The agent's state is {state}; pending questions: {open}."),
        }
    }

    fn german(&self) -> String {
        match self {
            Self::Asking => "Ein Agent hat eine Frage an Sie.".into(),
            Self::Waiting => "Die Antwort eines Menschen steht aus.".into(),
            Self::StillWaiting { open: 1 } => "Eine weitere Frage steht aus.".into(),
            Self::StillWaiting { open } => format!("{open} weitere Fragen stehen aus."),
            Self::Accepted => "Die Aktion wurde genehmigt und darf jetzt einmal laufen.".into(),
            Self::AcceptedByDefault => {
                "Niemand hat rechtzeitig geantwortet; nach der Regel des Projekts darf die Aktion jetzt einmal laufen."
                    .into()
            }
            Self::Rejected => "Die Aktion wurde abgelehnt und läuft nicht.".into(),
            Self::ScopesApproved => "Für die Aufgabe wurde mehr erlaubt.".into(),
            Self::ScopesDenied => "Für die Aufgabe wurde nicht mehr erlaubt.".into(),
            Self::TimeOver => "Die Zeit ist ohne Antwort abgelaufen; die Aktion läuft nicht.".into(),
            Self::NobodyThere => "Niemand ist da, der antworten kann; die Aktion läuft nicht.".into(),
            Self::Answered => "Die Frage wurde beantwortet.".into(),
            Self::AnsweredByDefault => {
                "Niemand hat rechtzeitig geantwortet; der Agent nimmt seine vorgesehene Antwort.".into()
            }
            Self::Unanswered => "Niemand hat rechtzeitig geantwortet; der Agent hat keine Antwort.".into(),
            Self::Withdrawn { reason: None } => "Die Frage wurde zurückgezogen.".into(),
            Self::Withdrawn { reason: Some(reason) } => format!("Die Frage wurde zurückgezogen: {}", quoted(reason)),
            Self::TakenBack => "Die Genehmigung wurde widerrufen; damit läuft nichts mehr.".into(),
            Self::Undoable { seconds } => {
                format!(
                    "Die genehmigte Aktion wird zurückgehalten: Rücknahme möglich für {}, danach läuft sie.",
                    german_time(*seconds)
                )
            }
            Self::Undone => "Die genehmigte Aktion wurde zurückgenommen, bevor sie lief.".into(),
            Self::NotSent => "Die genehmigte Aktion wurde nicht ausgeführt: Ihre Genehmigung gilt nicht mehr.".into(),
            Self::Revoked => "Der Zugang des Agenten ist beendet, und damit auch die Frage.".into(),
            Self::TimeLeft { seconds } => format!("Noch {} für die Antwort.", german_time(*seconds)),
            Self::MoreTime { seconds } => format!("Mehr Zeit gewährt: noch {} für die Antwort.", german_time(*seconds)),
            Self::Running { tool } => format!("Läuft jetzt: {tool}."),
            Self::Done { tool } => format!("Erledigt: {tool}."),
            Self::Failed { tool } => format!("Fehlgeschlagen: {tool}."),
            Self::OutcomeUnknown { tool } => {
                format!("Das Ergebnis von {tool} ist unbekannt. Es kann gelaufen sein; jemand sollte nachsehen.")
            }
            Self::NotCarriedOut => {
                "Die genehmigte Aktion wurde nicht rechtzeitig ausgeführt und kann nicht mehr laufen.".into()
            }
            Self::Finished => "Der Auftrag ist beendet.".into(),
            Self::AgentSilent => "Vom Agenten war lange nichts zu hören; der Auftrag ist beendet.".into(),
            Self::Now { state, open: 0 } => format!("Der Zustand des Agenten ist {state}."),
            Self::Now { state, open } => format!("Der Zustand des Agenten ist {state}; ausstehende Fragen: {open}."),
        }
    }
}

fn english_time(seconds: i64) -> String {
    let (minutes, rest) = (seconds / 60, seconds % 60);
    match (minutes, rest) {
        (0, 1) => "1 second".into(),
        (0, s) => format!("{s} seconds"),
        (1, 0) => "1 minute".into(),
        (m, 0) => format!("{m} minutes"),
        (m, s) => format!("{m} min {s} s"),
    }
}

fn german_time(seconds: i64) -> String {
    let (minutes, rest) = (seconds / 60, seconds % 60);
    match (minutes, rest) {
        (0, 1) => "1 Sekunde".into(),
        (0, s) => format!("{s} Sekunden"),
        (1, 0) => "1 Minute".into(),
        (m, 0) => format!("{m} Minuten"),
        (m, s) => format!("{m} min {s} s"),
    }
}
