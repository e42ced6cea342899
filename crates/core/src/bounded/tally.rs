//! The remaining uses and amounts of a standing approval.

use super::{AmountUse, Pattern, limit::with_unit};
use countersign_protocol::{
    aap::dry_run::SumUse,
    bounds::{Amount, Bound},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The used part of an approval. Reserved with the claim of each call, and given back only if the call did not run
///
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    pub uses: i64,
    pub used: i64,
    /// By the name of the released argument.
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
    #[error("{}", if *.0 == 1 { "its one use is claimed".to_owned() } else { format!("all {} uses are claimed", .0) })]
    Spent(i64),
    #[error("{} more would make {}, at most {} altogether", of(.more, .unit), of(.makes, .unit), of(.limit, .unit))]
    Above { more: Amount, makes: Amount, limit: Amount, unit: String },
    #[error("{} more cannot be added exactly to {}", of(.more, .unit), of(.spent, .unit))]
    Inexact { more: Amount, spent: Amount, unit: String },
    #[error("{0} has no amount in the unit of its sum")]
    Unsaid(String),
}

fn of(amount: &Amount, unit: &str) -> String {
    with_unit(amount, Some(unit))
}

/// More would be given back than was reserved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the amount to release was never reserved")]
pub struct NotReserved;

impl Tally {
    /// For exactly the shown request, once.
    pub fn single_use() -> Self {
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

    /// Adds one use: all amounts or none.
    pub fn reserve(&self, taken: &[AmountUse]) -> Result<Self, NoRoom> {
        if self.is_spent() {
            return Err(NoRoom::Spent(self.uses));
        }
        let sum = |(name, sum): (&String, &Sum)| Ok((name.clone(), sum.with(name, taken)?));
        let sums = self.sums.iter().map(sum).collect::<Result<_, NoRoom>>()?;
        Ok(Self { used: self.used + 1, sums, ..*self })
    }

    /// What one use would take of each sum, beside what is left of it.
    pub fn would_take(&self, taken: &[AmountUse]) -> Vec<SumUse> {
        let of = |(name, sum): (&String, &Sum)| {
            let would_take = sum.amount_of(name, taken)?;
            let (argument, left, unit) = (name.clone(), sum.remaining(), sum.unit.clone());
            Some(SumUse { argument, limit: sum.limit, left, would_take, unit })
        };
        self.sums.iter().filter_map(of).collect()
    }

    /// Removes one use. An amount that was never reserved cannot be given back: it would exceed the approval.
    pub fn release(&self, taken: &[AmountUse]) -> Result<Self, NotReserved> {
        if self.used < 1 {
            return Err(NotReserved);
        }
        let sum = |(name, sum): (&String, &Sum)| Ok((name.clone(), sum.without(name, taken).ok_or(NotReserved)?));
        let sums = self.sums.iter().map(sum).collect::<Result<_, NotReserved>>()?;
        Ok(Self { used: self.used - 1, sums, ..*self })
    }
}

impl Sum {
    /// The remaining amount.
    pub fn remaining(&self) -> Amount {
        self.limit.checked_sub(self.spent).unwrap_or(Amount::ZERO)
    }

    fn with(&self, name: &str, taken: &[AmountUse]) -> Result<Self, NoRoom> {
        let more = self.amount_of(name, taken).ok_or_else(|| NoRoom::Unsaid(name.to_owned()))?;
        let Self { limit, spent, unit } = self.clone();
        match self.spent.checked_add(more) {
            Some(makes) if makes <= limit => Ok(Self { limit, spent: makes.written_like(limit), unit }),
            Some(makes) => Err(NoRoom::Above { more, makes, limit, unit }),
            None => Err(NoRoom::Inexact { more, spent, unit }),
        }
    }

    fn without(&self, name: &str, taken: &[AmountUse]) -> Option<Self> {
        let less = self.amount_of(name, taken)?;
        let spent = self.spent.checked_sub(less)?.written_like(self.limit);
        Some(Self { spent, ..self.clone() })
    }

    /// One amount per name, as returned by `Pattern::fit`.
    fn amount_of(&self, name: &str, taken: &[AmountUse]) -> Option<Amount> {
        let mut parts = taken.iter().filter(|taken| taken.name == name);
        match (parts.next(), parts.next()) {
            (Some(part), None) if part.unit.as_deref() == Some(&self.unit) => Some(part.amount),
            _ => None,
        }
    }
}
