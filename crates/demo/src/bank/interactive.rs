//! Commands to paste while the gateway and the bank run.

use super::{
    super::{
        folder::write_for_owner,
        plane::{PASSWORD, PERSON, trouble},
        steps::Steps,
    },
    Branch,
    calls::{account, transfer_body},
};
use crate::DemoFailure;
use std::fmt::Write as _;

/// The headers with which the agent describes itself in each call.
const OF_THE_AGENT: [&str; 6] =
    ["authorization", "aap-version", "x-agent-mode", "x-agent-session", "x-agent-delegation", "x-agent-intent-type"];

pub(super) async fn play(branch: &mut Branch, steps: &Steps<'_>) -> Result<(), DemoFailure> {
    let headers = branch.headers().await?;
    let file = branch.node.folder.join("agent.headers");
    write_for_owner(&file, &headers)?;
    let (gateway, origin) = (&branch.node.gateway, &branch.node.origin);
    let curl = format!("curl -i -H @{}", file.display());
    let pay = format!(
        "{curl} -H 'content-type: application/json' \\\n      -d '{}' {gateway}/transfers",
        transfer_body("inv-7", "82000.00")
    );
    steps.print(&format!(
        "A bank with an HTTP API at {bank}, and Countersign's gateway in front of it at {gateway}.\n\
         {PERSON} has connected an agent to it. Be the agent, for half an hour (its token needs no key here, so that\n\
         curl can use it):\n\n  \
         read, which passes\n    {curl} {gateway}/accounts/main\n\n  \
         pay, which is held: 403, with the decision to wait for\n    {pay}\n\n  \
         be {PERSON} (password: {PASSWORD}), read the question and approve it\n    {origin}/inbox\n\n  \
         pay what was approved: it runs, once; change a digit, and it does not\n    {confirmed}\n\n",
        bank = branch.bank.url(),
        confirmed = pay.replacen("-H 'content-type", "-H 'x-agent-confirm: true' -H 'content-type", 1),
    ))
}

impl Branch {
    /// The same headers as the agent's own.
    async fn headers(&mut self) -> Result<String, DemoFailure> {
        self.desk.call(&account()).await.map_err(trouble)?;
        let sent = self.desk.wire.last()?;
        let mut text = String::new();
        for name in OF_THE_AGENT {
            let value = sent.headers.get(name).and_then(|value| value.to_str().ok());
            if let Some(value) = value {
                writeln!(text, "{name}: {value}").map_err(trouble)?;
            }
        }
        Ok(text)
    }
}
