//! `countersign clarify rotate-key`: another key, which the old one vouches for.

use super::{
    connection::{Connection, failed},
    keys,
};
use crate::{context::Context, failure::Failure};

/// Ask and sign with a new key from now on; takes an admin's API key. What the old key signed stays provable
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) async fn run(connection: &Connection, json: bool, context: &Context) -> Result<(), Failure> {
    let published = connection.resolve(context)?.rotate_key().await.map_err(failed)?;
    keys::say(&published, json, context)
}
