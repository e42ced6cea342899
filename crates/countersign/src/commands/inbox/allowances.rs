//! `countersign inbox allowances` and `revoke ID`: lists and revokes your standing approvals.

use super::connection::{Connected, not_approved};
use crate::{
    commands::plan::texts,
    context::Context,
    failure::Failure,
    table::{Table, printable},
};
use countersign_protocol::mplp::AllowanceShown;
use serde_json::json;

/// List your standing approvals with their remaining uses, and end
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

/// Revoke a standing approval, and end. A call already in progress continues
#[derive(Debug, clap::Args)]
pub(super) struct RevokeArguments {
    /// The standing approval, as `countersign inbox allowances` names it.
    #[arg(value_name = "ALW_ID")]
    id: String,

    /// Why, for the record.
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

pub(super) async fn run(connected: &Connected, json: bool, context: &Context) -> Result<(), Failure> {
    let open = connected.mplp().allowances().await.map_err(not_approved)?;
    if json {
        return open.iter().try_for_each(|allowance| context.say_line(&json!(allowance)));
    }
    context.list(&Table {
        head: ["id", "left", "sums left", "until", "agent", "permits"],
        rows: open.iter().map(row).collect(),
        none: "Standing approvals: none.",
    })
}

pub(super) async fn revoke(
    arguments: &RevokeArguments,
    connected: &Connected,
    json: bool,
    context: &Context,
) -> Result<(), Failure> {
    let hint = "`countersign inbox allowances` lists your standing approvals";
    let revoked = connected.mplp().revoke(&arguments.id, arguments.reason.as_deref()).await;
    revoked.map_err(|why| match &why {
        countersign_client::ServiceError::Refused(refused) if matches!(refused.status, 404 | 409) => {
            not_approved(why).hint(hint)
        }
        _ => not_approved(why),
    })?;
    if json {
        return context.say_line(&json!({ "allowance_id": arguments.id, "state": "cancelled" }));
    }
    context.say(&format!("{} is revoked: nothing more runs under it\n", printable(&arguments.id)))
}

fn row(open: &AllowanceShown) -> [String; 6] {
    let left = &open.left;
    let sums: Vec<String> = left.sums.iter().map(texts::sum).collect();
    [
        left.allowance_id.clone(),
        format!("{} of {}", left.uses, open.uses),
        sums.join("; "),
        left.until.to_rfc3339(),
        open.agent.clone(),
        open.shown.clone(),
    ]
}
