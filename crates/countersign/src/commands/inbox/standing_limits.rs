//! The limits of a standing approval: uses, duration and amounts.

use crate::{failure::Failure, span};
use countersign_client::mplp::{Mplp, confirm_id};
use countersign_protocol::{
    bounds::{Amount, Bound, Bounds, MAX_USES},
    mplp::{MplpId, TargetType},
};
use std::collections::BTreeMap;

use super::connection::not_approved;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Standing approval, or only some steps of a plan")]
pub(super) struct StandingLimits {
    /// For so many calls like this one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i64).range(1..=MAX_USES))]
    times: Option<i64>,

    /// For so long, such as 30m; the project's usual time if absent.
    #[arg(long = "for", value_name = "TIME", value_parser = span::seconds)]
    lasting: Option<i64>,

    /// Where an amount differs: the maximum for each call, such as body.amount=500.
    #[arg(long, value_name = "NAME=AMOUNT", value_parser = amount)]
    up_to: Vec<(String, Amount)>,

    /// The maximum for all calls together, such as body.amount=2000.
    #[arg(long, value_name = "NAME=AMOUNT", value_parser = amount)]
    altogether: Vec<(String, Amount)>,

    /// The argument of a tool that holds the unit of an amount, such as amount=currency.
    #[arg(long, value_name = "NAME=ARGUMENT", value_parser = named)]
    unit_from: Vec<(String, String)>,

    /// Of a plan, only this step, by its number or id; may be given several times.
    #[arg(long = "step", value_name = "STEP")]
    steps: Vec<String>,
}

impl StandingLimits {
    /// Whether no limit and no step is given.
    pub(super) fn is_nothing(&self) -> bool {
        self.steps.is_empty() && matches!(self.bounds(), Ok(None))
    }

    pub(super) fn bounds(&self) -> Result<Option<Bounds>, Failure> {
        let released = self.released()?;
        let any = self.times.is_some() || self.lasting.is_some() || !released.is_empty();
        Ok(any.then_some(Bounds { uses: self.times, seconds: self.lasting, released }))
    }

    fn released(&self) -> Result<BTreeMap<String, Bound>, Failure> {
        let up_to = once("--up-to", &self.up_to)?;
        let altogether = once("--altogether", &self.altogether)?;
        let unit_from = once("--unit-from", &self.unit_from)?;
        if let Some(name) = unit_from.keys().find(|name| !up_to.contains_key(*name) && !altogether.contains_key(*name))
        {
            return Err(Failure::misused(format!("--unit-from {name} goes with --up-to or --altogether {name}")));
        }
        let names = up_to.keys().chain(altogether.keys());
        let bound = |name: &String| {
            let sum = altogether.get(name).copied();
            // Without a limit of its own, one call may use the whole sum.
            let most = up_to.get(name).copied().or(sum)?;
            let unit_from = unit_from.get(name).cloned();
            Some((name.clone(), Bound::Amount { least: None, most, sum, unit: None, unit_from }))
        };
        Ok(names.filter_map(bound).collect())
    }

    /// The ids of the steps, from the plan that the question is about.
    pub(super) async fn steps(&self, mplp: &Mplp, confirm: &MplpId) -> Result<Option<Vec<MplpId>>, Failure> {
        if self.steps.is_empty() {
            return Ok(None);
        }
        let asked = mplp.confirm(confirm).await.map_err(not_approved)?;
        if asked.target_type != TargetType::Plan {
            return Err(Failure::misused("--step is for plans, and this question is about something else"));
        }
        let plan = mplp.plan(&asked.target_id).await.map_err(not_approved)?;
        let meant = |text: &String| {
            let by_number = text.parse::<usize>().ok().and_then(|n| plan.steps.get(n.checked_sub(1)?));
            let step = by_number.or_else(|| plan.steps.iter().find(|step| step.step_id.as_str() == text));
            let none = || Failure::misused(format!("the plan has no step {text}: it has {}", plan.steps.len()));
            step.map(|step| step.step_id.clone()).ok_or_else(none)
        };
        self.steps.iter().map(meant).collect::<Result<_, _>>().map(Some)
    }
}

/// The Confirm of a question, by the id of either.
pub(super) fn confirm_of(id: &str) -> Result<MplpId, Failure> {
    let either = confirm_id(id).or_else(|| MplpId::parse(id).ok());
    either.ok_or_else(|| {
        Failure::new("there is no such pending question")
            .hint("`countersign inbox list` shows the pending ones with their ids")
    })
}

/// By name, without duplicates: two limits for one name are ambiguous.
fn once<T: Clone>(flag: &str, said: &[(String, T)]) -> Result<BTreeMap<String, T>, Failure> {
    let mut all = BTreeMap::new();
    for (name, value) in said {
        if all.insert(name.clone(), value.clone()).is_some() {
            return Err(Failure::misused(format!("{flag} {name} is given twice")));
        }
    }
    Ok(all)
}

fn amount(text: &str) -> Result<(String, Amount), String> {
    let (name, amount) = named(text)?;
    Ok((name, Amount::parse(&amount).map_err(|why| why.to_string())?))
}

fn named(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    let (name, value) = parts.ok_or("it reads NAME=VALUE, such as body.amount=500")?;
    Ok((name.to_owned(), value.to_owned()))
}

#[cfg(test)]
mod tests;
