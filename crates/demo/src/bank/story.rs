//! Held, approved, swapped, run once, replayed, redeemed; and one effect for two approvals. Each step is checked against the
//! bank's requests.

use super::{
    super::{
        person::text,
        plane::{PERSON, trouble},
        steps::{Steps, check},
    },
    Branch,
    calls::{account, note, redeem, refund, transfer, transfer_body},
    desk::{action, confirm_token, describe, refusal},
    service::{CREDENTIAL, Got},
    statement,
};
use crate::DemoFailure;
use countersign_client::{agent::AgentCall, transport::Request};
use countersign_protocol::decisions::{ClaimStatus, DecisionDocument};
use http::{StatusCode, header};

/// The refusal of every call without approval.
const UNCONFIRMED: (u16, &str) = (403, "irreversible_requires_confirm");
const CONFLICT: (u16, &str) = (409, "conflict");

/// Returns the decision about the first transfer.
pub(super) async fn play(branch: &mut Branch, steps: &mut Steps<'_>) -> Result<String, DemoFailure> {
    branch.passes_at_once(steps).await?;
    let (decision, token) = branch.is_held_and_approved(steps).await?;
    branch.is_swapped(&token, steps).await?;
    let stolen = branch.runs_once(&decision, &token, steps).await?;
    branch.is_replayed(&stolen, &token, steps).await?;
    branch.is_redeemed(steps).await?;
    branch.is_refunded_once(steps).await?;
    Ok(decision.decision_id)
}

impl Branch {
    async fn passes_at_once(&mut self, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        self.answers(&account(), StatusCode::OK).await?;
        self.answers(&note(), StatusCode::CREATED).await?;
        check(self.bank.effects("/notes").len() == 1, "the note did not reach the bank")?;
        steps.done("the agent read an account and wrote a note through the gateway: nobody needs to be asked")
    }

    async fn is_held_and_approved(&mut self, steps: &mut Steps<'_>) -> Result<(DecisionDocument, String), DemoFailure> {
        let id = self.desk.is_held(&invoice()).await?;
        steps.done("held: a transfer of 82000.00 USD was answered 403 with a decision to wait for")?;
        let own_word = self.desk.is_held(&invoice().confirmed("true")).await?;
        check(own_word == id, "the agent's own word made another decision")?;
        self.bank_has_nothing()?;
        steps.done("the agent's own word for it changed nothing, and nothing reached the bank")?;
        let question = self.desk.reads(&self.node, &id).await?;
        let read = action(&question);
        check(read.starts_with("Transfer 82000.00 USD to “Acme Supplies”"), "the person was asked something else")?;
        check(question.is_irreversible(), "the person was not told that it cannot be undone")?;
        steps.done(&format!("{PERSON} reads what the bank's owner wrote, filled from the request's own bytes:"))?;
        steps.seen(&format!("\"{read}\""))?;
        let decision = self.desk.approves(&question).await?;
        self.bank_has_nothing()?;
        steps.done(&format!("approved: {PERSON} approved it on the phone, and the waiting agent was notified"))?;
        let token = confirm_token(&decision)?;
        Ok((decision, token))
    }

    /// Before the approval is claimed: it exists, but for another call.
    async fn is_swapped(&mut self, token: &str, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        self.refuses(&transfer("inv-7", "820000.00").confirmed(token), UNCONFIRMED).await?;
        self.bank_has_nothing()?;
        steps.done("swapped: 820000.00 with the approval of 82000.00 was refused, and nothing reached the bank")
    }

    /// Returns the request as sent.
    async fn runs_once(
        &mut self,
        decision: &DecisionDocument,
        token: &str,
        steps: &mut Steps<'_>,
    ) -> Result<Request, DemoFailure> {
        self.answers(&invoice().confirmed(token), StatusCode::CREATED).await?;
        let stolen = self.desk.wire.last()?;
        let got = self.bank_has(1)?;
        check(got.body == transfer_body("inv-7", "82000.00"), "the bank got other bytes than were approved")?;
        check(got.headers.get(header::AUTHORIZATION).is_some_and(|value| value == CREDENTIAL), "a wrong credential")?;
        check(!got.headers.contains_key("dpop"), "the bank got what the agent proves itself with")?;
        steps.done("run once: exactly those bytes reached the bank, with its own credential and not the agent's")?;
        self.knows_for_whom(&got, decision).await?;
        steps.done("the bank verified Countersign's signed statement: for whom, by which agent, by which decision")?;
        let state = self.desk.decision(&decision.decision_id).await?.execution.map(|execution| execution.state);
        check(state == Some(ClaimStatus::Committed), "the outcome was not recorded")?;
        Ok(stolen)
    }

    async fn is_replayed(&mut self, stolen: &Request, token: &str, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        let answer = self.desk.wire.replay(stolen).await?;
        let code = serde_json::from_slice(&answer.body).map_err(trouble)?;
        let refused = answer.status == StatusCode::UNAUTHORIZED && text(&code, "error") == "dpop_replayed";
        check(refused, &format!("a stolen request was answered {}", answer.status))?;
        self.bank_has(1)?;
        steps.done("replayed: the same request with the same confirmation and the same proof was refused")?;
        self.refuses(&invoice().confirmed(token), UNCONFIRMED).await?;
        self.refuses(&invoice(), CONFLICT).await?;
        self.bank_has(1)?;
        steps.done(
            "with a fresh proof it was refused too: that approval is used, and nobody is asked about a paid invoice",
        )
    }

    async fn is_redeemed(&mut self, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        let (decision, _) = self.desk.approved(&self.node, &transfer("inv-8", "120.50")).await?;
        self.answers(&redeem(&decision.decision_id), StatusCode::CREATED).await?;
        let got = self.bank_has(2)?;
        check(got.body == transfer_body("inv-8", "120.50"), "the bank got other bytes than were approved")?;
        let again = self.desk.call(&redeem(&decision.decision_id)).await;
        check(refusal(&again).is_some(), "one approval was redeemed twice")?;
        self.bank_has(2)?;
        steps.done("redeemed: another transfer ran by its decision's id, without sending the body again, and once")
    }

    /// Two questions, two approvals, one payment.
    async fn is_refunded_once(&mut self, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
        let (first, second) = (refund("p-1", "damaged"), refund("p-1", "customer insists"));
        let (_, one) = self.desk.approved(&self.node, &first).await?;
        let (_, two) = self.desk.approved(&self.node, &second).await?;
        self.answers(&first.confirmed(one), StatusCode::CREATED).await?;
        self.refuses(&second.confirmed(two), CONFLICT).await?;
        let refunds = self.bank.effects("/refunds");
        let [only] = refunds.as_slice() else {
            return Err(DemoFailure::new(format!("not as promised: {} refunds were paid", refunds.len())));
        };
        let key = only.headers.get("idempotency-key");
        check(key.is_some_and(|key| key == "refund:p-1"), "the bank was not told the effect key")?;
        steps.done("one effect: of two refunds of one payment, each approved, only the first was paid")
    }

    async fn knows_for_whom(&self, got: &Got, decision: &DecisionDocument) -> Result<(), DemoFailure> {
        let statement = got.headers.get(statement::HEADER).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let claims = statement::verified(statement, &self.node.origin).await?;
        let says = |name: &str, value: &str| text(&claims, name) == value;
        let right = says("iss", self.node.origin.as_str())
            && says("aud", &self.bank.url())
            && says("action", "transfers.send")
            && says("decision_id", &decision.decision_id)
            && says("action_sha256", &decision.digest)
            && !text(&claims, "sub").is_empty();
        check(right, &format!("the statement of identity says {claims}"))
    }

    pub(super) async fn answers(&mut self, call: &AgentCall, status: StatusCode) -> Result<(), DemoFailure> {
        let answer = self.desk.call(call).await;
        let right = answer.as_ref().is_ok_and(|answer| answer.status == status);
        check(right, &format!("{status} was expected: {}", describe(&answer)))
    }

    pub(super) async fn refuses(&mut self, call: &AgentCall, wanted: (u16, &str)) -> Result<(), DemoFailure> {
        let answer = self.desk.call(call).await;
        let (status, code) = wanted;
        check(refusal(&answer) == Some(wanted), &format!("{status} {code} was expected: {}", describe(&answer)))
    }

    fn bank_has_nothing(&self) -> Result<(), DemoFailure> {
        check(self.bank.effects("/transfers").is_empty(), "a transfer reached the bank before its time")
    }

    /// Checks the number of transfers; returns the last one.
    fn bank_has(&self, transfers: usize) -> Result<Got, DemoFailure> {
        let got = self.bank.effects("/transfers");
        let last = got.last().filter(|_| got.len() == transfers).cloned();
        let wrong = || format!("not as promised: the bank carried out {} transfers, not {transfers}", got.len());
        last.ok_or_else(|| DemoFailure::new(wrong()))
    }
}

fn invoice() -> AgentCall {
    transfer("inv-7", "82000.00")
}
