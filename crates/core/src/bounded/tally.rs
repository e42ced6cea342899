//! What is left of a bounded yes.

use super::{Pattern, Taken, limit::with_unit};
use countersign_protocol::bounds::{Amount, Bound};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How often and how far a yes has been used. Reserved with the claim of each call, given back only when that came to
/// nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub uses: i64,
    pub used: i64,
    /// By the names of the released arguments that have one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sums: BTreeMap<String, Sum>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sum {
    pub limit: Amount,
    pub spent: Amount,
    pub unit: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    #[error("{}", if *.0 == 1 { "its one use is spent".to_owned() } else { format!("all {} uses are spent", .0) })]
    Spent(i64),
    #[error("{} more would make {}, at most {} altogether", of(.more, .unit), of(.makes, .unit), of(.limit, .unit))]
    Above { more: Amount, makes: Amount, limit: Amount, unit: String },
    #[error("{} more cannot be added exactly to {}", of(.more, .unit), of(.spent, .unit))]
    Inexact { more: Amount, spent: Amount, unit: String },
    #[error("{0} says no amount in the unit of its sum")]
    Unsaid(String),
}

fn of(amount: &Amount, unit: &str) -> String {
    with_unit(amount, Some(unit))
}

/// More would be given back than was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what would be given back was never reserved")]
pub struct NotReserved;

impl Tally {
    /// For exactly what was shown.
    pub fn once() -> Self {
        Self { uses: 1, used: 0, sums: BTreeMap::new() }
    }

    pub fn new(pattern: &Pattern, uses: i64) -> Self {
        let sum = |(name, bound): (&String, &Bound)| {
            let sum = Sum { limit: bound.sum()?, spent: Amount::ZERO, unit: bound.unit()?.to_owned() };
            Some((name.clone(), sum))
        };
        Self { uses, used: 0, sums: pattern.released().iter().filter_map(sum).collect() }
    }

    pub fn is_spent(&self) -> bool {
        self.used >= self.uses
    }

    /// With one more use. All of it or nothing.
    pub fn reserve(&self, taken: &[Taken]) -> Result<Self, NoRoom> {
        if self.is_spent() {
            return Err(NoRoom::Spent(self.uses));
        }
        let sum = |(name, sum): (&String, &Sum)| Ok((name.clone(), sum.with(name, taken)?));
        let sums = self.sums.iter().map(sum).collect::<Result<_, NoRoom>>()?;
        Ok(Self { used: self.used + 1, sums, ..*self })
    }

    /// With one use less. What was never reserved cannot come back: there would be more room than anybody granted.
    pub fn give_back(&self, taken: &[Taken]) -> Result<Self, NotReserved> {
        if self.used < 1 {
            return Err(NotReserved);
        }
        let sum = |(name, sum): (&String, &Sum)| Ok((name.clone(), sum.without(name, taken).ok_or(NotReserved)?));
        let sums = self.sums.iter().map(sum).collect::<Result<_, NotReserved>>()?;
        Ok(Self { used: self.used - 1, sums, ..*self })
    }
}

impl Sum {
    /// What may still be taken.
    pub fn left(&self) -> Amount {
        self.limit.checked_sub(self.spent).unwrap_or(Amount::ZERO)
    }

    fn with(&self, name: &str, taken: &[Taken]) -> Result<Self, NoRoom> {
        let more = self.part_of(name, taken).ok_or_else(|| NoRoom::Unsaid(name.to_owned()))?;
        let Self { limit, spent, unit } = self.clone();
        match self.spent.checked_add(more) {
            Some(makes) if makes <= limit => Ok(Self { limit, spent: makes.written_like(limit), unit }),
            Some(makes) => Err(NoRoom::Above { more, makes, limit, unit }),
            None => Err(NoRoom::Inexact { more, spent, unit }),
        }
    }

    fn without(&self, name: &str, taken: &[Taken]) -> Option<Self> {
        let less = self.part_of(name, taken)?;
        let spent = self.spent.checked_sub(less)?.written_like(self.limit);
        Some(Self { spent, ..self.clone() })
    }

    /// One amount a name, as `Pattern::fit` says it.
    fn part_of(&self, name: &str, taken: &[Taken]) -> Option<Amount> {
        let mut parts = taken.iter().filter(|taken| taken.name == name);
        match (parts.next(), parts.next()) {
            (Some(part), None) if part.unit.as_deref() == Some(&self.unit) => Some(part.amount),
            _ => None,
        }
    }
}
