//! `countersign clarify rotate-key`: replaces the signing key; the old one signs the rotation.

use super::{
    connection::{ClarifyClient, failed},
    keys,
};
use crate::{context::Context, failure::Failure};

/// Replace the signing key; takes an admin's API key. Signatures of the old key stay verifiable
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) async fn run(connection: &ClarifyClient, json: bool, context: &Context) -> Result<(), Failure> {
    let published = connection.resolve(context)?.rotate_key().await.map_err(failed)?;
    keys::say(&published, json, context)
}
