//! `countersign token revoke ID`

use super::{members, project};
use crate::{context::Context, engine, failure::Failure, table::quoted};

/// End a subscriber's token at once, and what listens with it. Ending it twice changes nothing
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The token, as `countersign token list` names it. Not its secret.
    id: String,

    /// The project. May be left out where there is only one.
    #[arg(long, value_name = "ID")]
    project: Option<String>,
}

pub(crate) fn run(arguments: &Arguments, context: &Context) -> Result<(), Failure> {
    let token = engine::run(context, async |engine| {
        let at = project(engine, arguments.project.as_deref()).await?;
        for member in members(engine, &at).await? {
            let own = engine.subscriber_tokens(&at, member.person.key).await?;
            if own.iter().any(|token| token.id == arguments.id) {
                return Ok(engine.revoke_subscriber_token(&at, &member, &arguments.id).await?);
            }
        }
        let hint = "`countersign token list` shows the tokens by their ids";
        Err(Failure::new("there is no such token in this project").hint(hint))
    })?;
    let since = token.revoked_at.map_or_else(String::new, |at| at.to_rfc3339());
    context.say(&format!("token {} {} is revoked since {since}\n", token.id, quoted(&token.name)))
}
