//! `countersign keys rotate`

use super::published;
use crate::{context::Context, engine, failure::Failure};
use countersign_server::admin::{KeyInUse, KeysError};

/// Sign with a new key from now on. The old one stays published as long as anything that it signed is good
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments, context: &Context) -> Result<(), Failure> {
    let (added, keys) = engine::run(context, async |engine| {
        let added = engine.rotate_keys().await.map_err(refused)?;
        Ok((added, published(engine)))
    })?;
    let old =
        |key: &KeyInUse| key.retires_at.map(|at| format!("{} stays published until {}\n", key.kid, at.to_rfc3339()));
    let olds: String = keys.iter().filter_map(old).collect();
    context.say(&format!("{} signs from now on; nodes that run take it up within seconds\n{olds}", added.kid))
}

fn refused(why: KeysError) -> Failure {
    match why {
        KeysError::Store(why) => engine::store(why),
        why => Failure::new(why.to_string()),
    }
}
