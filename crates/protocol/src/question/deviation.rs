//! Deviations of a call from an approved plan, with their texts in English and German.

use crate::mplp::{MplpId, PlanStatus, StepStatus};
use serde::{Deserialize, Serialize};

/// The deviations from the nearest step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlanDeviation {
    pub plan_id: MplpId,
    /// The plan's title in quotes: the agent's words.
    pub plan_title: String,
    pub step_id: MplpId,
    pub deviations: Vec<Deviation>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Deviation {
    Argument(ArgumentDifference),
    /// The plan does not run.
    PlanStatus {
        status: PlanStatus,
    },
    /// The step does not run.
    StepStatus {
        status: StepStatus,
    },
    /// All uses of the step are claimed.
    UsesClaimed {
        uses: i64,
    },
    /// The number of a step that must be completed first.
    DependsOn {
        step: usize,
    },
    /// The risk of the step requires an approval of every call.
    AsksAgain,
}

/// One argument that differs from the approved one. Its texts contain no invisible characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ArgumentDifference {
    /// Dotted: `body.amount`.
    pub name: String,
    /// Absent if the argument is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is: Option<String>,
    pub was: Was,
}

/// The approved content of this place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Was {
    Nothing,
    Exactly(String),
    Within(AllowedValue),
}

/// The part of a bound that applies to a single call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum AllowedValue {
    AtMost(String),
    Between {
        least: String,
        most: String,
    },
    OneOf(Vec<String>),
    /// A text of at most so many characters.
    Characters(u32),
}

impl PlanDeviation {
    /// One line per deviation.
    pub fn lines(&self, language: &str) -> Vec<String> {
        self.deviations.iter().map(|deviation| deviation.text(language)).collect()
    }
}

impl Deviation {
    pub fn text(&self, language: &str) -> String {
        let de = is_german(language);
        match self {
            Self::Argument(difference) => difference.text(language),
            Self::PlanStatus { status } if de => format!("der Plan ist {}", plan_in_german(*status)),
            Self::PlanStatus { status } => format!("the plan is {}", status.as_str()),
            Self::StepStatus { status } if de => format!("der Schritt ist {}", step_in_german(*status)),
            Self::StepStatus { status } => format!("the step is {}", status.as_str()),
            Self::UsesClaimed { uses: 1 } if de => "der eine Aufruf des Schritts ist vergeben".into(),
            Self::UsesClaimed { uses: 1 } => "its one use is claimed".into(),
            Self::UsesClaimed { uses } if de => format!("alle {uses} Aufrufe des Schritts sind vergeben"),
            Self::UsesClaimed { uses } => format!("all {uses} uses are claimed"),
            Self::DependsOn { step } if de => format!("Schritt {step}, der vorher nötig ist, ist nicht abgeschlossen"),
            Self::DependsOn { step } => format!("step {step}, which it depends on, is not completed"),
            Self::AsksAgain if de => "wegen des Risikos ist jeder Aufruf einzeln zu genehmigen".into(),
            Self::AsksAgain => "its risk requires an approval of every call".into(),
        }
    }
}

impl ArgumentDifference {
    pub fn text(&self, language: &str) -> String {
        let (de, name) = (is_german(language), &self.name);
        match (&self.is, &self.was) {
            (None, _) if de => format!("{name} fehlt"),
            (None, _) => format!("{name} is missing"),
            (Some(_), Was::Nothing) if de => format!("{name} ist nicht im Plan"),
            (Some(_), Was::Nothing) => format!("{name} is not in the plan"),
            // Two long values may differ only in the omitted part.
            (Some(is), Was::Exactly(was)) if is == was && de => {
                format!("{name} weicht weiter hinten ab, als hier zu sehen ist: {is}")
            }
            (Some(is), Was::Exactly(was)) if is == was => {
                format!("{name} differs, further on than is shown here: {is}")
            }
            (Some(is), Was::Exactly(was)) if de => format!("{name} ist {is} statt {was}"),
            (Some(is), Was::Exactly(was)) => format!("{name} is {is} instead of {was}"),
            (Some(is), Was::Within(allowed)) if de => {
                format!("{name} ist {is}, erlaubt ist {}", allowed.text(language))
            }
            (Some(is), Was::Within(allowed)) => format!("{name} is {is}, {}", allowed.text(language)),
        }
    }
}

impl AllowedValue {
    /// `at most 500.00 EUR`
    pub fn text(&self, language: &str) -> String {
        let de = is_german(language);
        match self {
            Self::AtMost(most) if de => format!("höchstens {most}"),
            Self::AtMost(most) => format!("at most {most}"),
            Self::Between { least, most } if de => format!("{least} bis {most}"),
            Self::Between { least, most } => format!("{least} to {most}"),
            Self::OneOf(choices) if de => format!("nur {}", choices.join(" oder ")),
            Self::OneOf(choices) => format!("only {}", choices.join(" or ")),
            Self::Characters(most) if de => format!("ein Text von höchstens {most} Zeichen"),
            Self::Characters(1) => "a text of at most 1 character".into(),
            Self::Characters(most) => format!("a text of at most {most} characters"),
        }
    }
}

fn is_german(language: &str) -> bool {
    language.split('-').next() == Some("de")
}

fn plan_in_german(status: PlanStatus) -> &'static str {
    match status {
        PlanStatus::Draft => "ein Entwurf",
        PlanStatus::Proposed => "noch nicht genehmigt",
        PlanStatus::Approved => "genehmigt",
        PlanStatus::InProgress => "in Arbeit",
        PlanStatus::Completed => "abgeschlossen",
        PlanStatus::Cancelled => "abgebrochen",
        PlanStatus::Failed => "gescheitert",
    }
}

fn step_in_german(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "nicht begonnen",
        StepStatus::InProgress => "in Arbeit",
        StepStatus::Completed => "abgeschlossen",
        StepStatus::Blocked => "blockiert",
        StepStatus::Skipped => "übersprungen",
        StepStatus::Failed => "gescheitert",
    }
}
