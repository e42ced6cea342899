//! Standing approvals: the form a person fills in, and the limits in words.

use super::{Frame, PlainLine};
use countersign_protocol::bounds::Bound;

/// The form beside a question. Posts `answer=accept-more` with `uses`, `minutes` and, for each amount by its name,
/// `each:NAME`, `sum:NAME` and `unit:NAME`.
#[derive(Clone, Debug)]
pub struct AllowMore {
    pub max_uses: i64,
    pub max_minutes: i64,
    /// The duration if the person types none.
    pub usual_s: i64,
    pub amounts: Vec<Releasable>,
    /// The call is irreversible and high-risk, so no argument may differ.
    pub fixed: bool,
    pub uses: String,
    pub minutes: String,
}

/// An amount that may differ from call to call, within limits the person sets.
#[derive(Clone, Debug)]
pub struct Releasable {
    /// The argument's dotted name.
    pub name: String,
    /// Its value in this call.
    pub is: PlainLine,
    pub counted: AmountUnit,
    pub each: String,
    pub sum: String,
    /// The argument chosen as the unit.
    pub unit_from: String,
}

/// The unit of an amount.
#[derive(Clone, Debug)]
pub enum AmountUnit {
    In(String),
    /// A tool's amount: one of the tool's own arguments holds the unit.
    ByArgument(Vec<UnitChoice>),
}

#[derive(Clone, Debug)]
pub struct UnitChoice {
    pub name: String,
    pub is: PlainLine,
}

/// An invalid input of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoreError {
    /// The form is empty.
    Empty,
    Uses,
    Minutes,
    /// A field that must be an amount, by the name it is posted under.
    NotAnAmount {
        field: String,
    },
    /// The limit would not even permit this call.
    TooSmall {
        field: String,
        is: String,
    },
    /// A sum of amounts without a common unit.
    NoUnit {
        field: String,
    },
    /// The message of the rule that rejected the input.
    Refused(String),
}

/// An argument that may differ, and its limit.
#[derive(Clone, Debug)]
pub struct Bounded {
    pub name: PlainLine,
    pub bound: Bound,
}

impl AllowMore {
    /// Whether the person typed anything; the form is then shown open.
    pub(super) fn is_typed(&self) -> bool {
        let typed = |amount: &Releasable| !amount.each.is_empty() || !amount.sum.is_empty();
        !self.uses.is_empty() || !self.minutes.is_empty() || self.amounts.iter().any(typed)
    }

    pub(super) fn uses_hint(&self, frame: &Frame) -> String {
        frame.say_count("more-uses-hint", self.max_uses)
    }

    pub(super) fn minutes_hint(&self, frame: &Frame) -> String {
        let (count, duration) = (self.max_minutes.to_string(), frame.duration(&self.usual_s));
        frame.say_both("more-minutes-hint", ("count", &count), ("duration", &duration))
    }

    /// The id of the field with the error.
    pub(super) fn field_of(&self, error: &MoreError) -> String {
        match error {
            MoreError::Empty | MoreError::Uses | MoreError::Refused(_) => "uses".into(),
            MoreError::Minutes => "minutes".into(),
            MoreError::NotAnAmount { field } | MoreError::TooSmall { field, .. } | MoreError::NoUnit { field } => {
                self.id_of(field)
            }
        }
    }

    /// The id of an amount's field, from the name it is posted under.
    fn id_of(&self, field: &str) -> String {
        let (what, name) = field.split_once(':').unwrap_or((field, ""));
        let at = self.amounts.iter().position(|amount| amount.name == name).unwrap_or_default();
        format!("{what}-{}", at + 1)
    }
}

impl Releasable {
    /// The id of one of its fields; `index` is the amount's position, starting at 1.
    pub(super) fn field_id(&self, what: &str, index: &usize) -> String {
        format!("{what}-{index}")
    }

    pub(super) fn heading(&self, frame: &Frame) -> String {
        let now = match self.unit() {
            Some(unit) => format!("{} {unit}", self.is),
            None => self.is.to_string(),
        };
        frame.say_both("more-amount", ("name", PlainLine::cut(&self.name, 200).as_str()), ("amount", &now))
    }

    pub(super) fn hint(&self, frame: &Frame) -> String {
        frame.say_of("more-amount-hint", "amount", self.is.as_str())
    }

    pub(super) fn each_label(&self, frame: &Frame) -> String {
        self.label(frame, "more-each", "more-each-in")
    }

    pub(super) fn sum_label(&self, frame: &Frame) -> String {
        self.label(frame, "more-sum", "more-sum-in")
    }

    fn label(&self, frame: &Frame, plain: &str, with_unit: &str) -> String {
        match self.unit() {
            Some(unit) => frame.say_of(with_unit, "unit", PlainLine::cut(unit, 32).as_str()),
            None => frame.say(plain),
        }
    }

    fn unit(&self) -> Option<&str> {
        match &self.counted {
            AmountUnit::In(unit) => Some(unit),
            AmountUnit::ByArgument(_) => None,
        }
    }

    /// A sum needs a unit.
    pub(super) fn has_sum(&self) -> bool {
        !self.choices().is_empty() || self.unit().is_some()
    }

    pub(super) fn choices(&self) -> &[UnitChoice] {
        match &self.counted {
            AmountUnit::In(_) => &[],
            AmountUnit::ByArgument(choices) => choices,
        }
    }

    pub(super) fn is_chosen(&self, choice: &UnitChoice) -> bool {
        self.unit_from == choice.name
    }
}

impl UnitChoice {
    pub(super) fn text(&self, frame: &Frame) -> String {
        frame.say_both("more-unit-of", ("name", PlainLine::cut(&self.name, 200).as_str()), ("unit", self.is.as_str()))
    }
}

impl MoreError {
    pub(super) fn text(&self, frame: &Frame) -> String {
        match self {
            Self::Empty => frame.say("more-error-empty"),
            Self::Uses => frame.say("more-error-uses"),
            Self::Minutes => frame.say("more-error-minutes"),
            Self::NotAnAmount { .. } => frame.say("more-error-amount"),
            Self::TooSmall { is, .. } => {
                frame.say_of("more-error-too-small", "amount", PlainLine::cut(is, 80).as_str())
            }
            Self::NoUnit { .. } => frame.say("more-error-no-unit"),
            Self::Refused(why) => frame.say_of("more-error-refused", "why", PlainLine::cut(why, 500).as_str()),
        }
    }
}

impl Bounded {
    /// The limit for one call, and for the sum of all calls.
    pub(super) fn text(&self, frame: &Frame) -> String {
        let with_unit = |amount: String| match self.bound.unit() {
            Some(unit) => format!("{amount} {}", PlainLine::cut(unit, 32)),
            None => amount,
        };
        let alone = match &self.bound {
            Bound::Amount { least: Some(least), most, .. } => {
                let most = with_unit(most.to_string());
                frame.say_both("bound-between", ("least", &least.to_string()), ("most", &most))
            }
            Bound::Amount { most, .. } => frame.say_of("bound-most", "most", with_unit(most.to_string())),
            Bound::OneOf(choices) => {
                let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
                frame.say_of("bound-one-of", "choices", super::Prose::from(choices.join(", ")).as_str())
            }
            Bound::Text { most } => frame.say_count("bound-text", i64::from(*most)),
        };
        match self.bound.sum() {
            Some(sum) => format!("{alone}{}", frame.say_of("bound-sum", "sum", with_unit(sum.to_string()))),
            None => alone,
        }
    }
}
