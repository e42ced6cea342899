//! Afterwards, anyone can verify what happened: the evidence of the transfer, with nothing but a file and the log's key.

use super::{
    super::{
        plane::trouble,
        steps::{Steps, check},
    },
    Branch,
};
use crate::DemoFailure;
use countersign_evidence::{
    bundle::{self, Fault, Report, Subject, SubjectKind},
    note::VerifierKey,
};
use countersign_jose::EvidenceCrypto;

/// The entries of the story that the demo prints: question, answer and claim, outcome of the call.
const TOLD: [&str; 4] =
    ["A question was put", "The question ended", "The approval was claimed", "A call of the agent ended"];

pub(super) async fn play(branch: &Branch, decision_id: &str, steps: &mut Steps<'_>) -> Result<(), DemoFailure> {
    let (file, key) = branch.node.bundle(decision_id).await?;
    let report = judged(&file, &key).map_err(trouble)?;
    check(report.key_is_trusted && report.unproven.is_empty(), "the evidence of the transfer is not proven")?;
    steps
        .done("proven: the evidence of the transfer is one file; without any service, with the log's key, it shows:")?;
    for told in report.story.iter().filter(|told| TOLD.iter().any(|part| told.text.contains(part))) {
        steps.seen(&told.text)?;
    }
    let spoilt = file.replacen("82000.00", "82000.01", 1);
    check(spoilt != file, "the evidence does not have the amount")?;
    let Err(fault) = judged(&spoilt, &key) else {
        return Err(DemoFailure::new("not as promised: changed evidence was accepted"));
    };
    steps.done(&format!("tampered: one digit of the amount was changed in the file; the verifier names it: {fault}"))
}

fn judged(file: &str, key: &VerifierKey) -> Result<Report, Fault> {
    bundle::verify(&EvidenceCrypto, file.as_bytes(), std::slice::from_ref(key))
}

impl super::node::BankNode {
    /// What `countersign audit bundle` writes, and the key of the log.
    async fn bundle(&self, decision_id: &str) -> Result<(String, VerifierKey), DemoFailure> {
        let engine = self.engine()?;
        let project = engine.projects().await.map_err(trouble)?.into_iter().next();
        let project = project.ok_or_else(|| DemoFailure::new("the bank's project is missing"))?;
        let subject = Subject { kind: SubjectKind::Decision, id: decision_id.to_owned() };
        let bundle = engine.evidence().bundle(&project, subject, &[]).await.map_err(trouble)?;
        let keys = engine.evidence().verifier_keys(project.key).await.map_err(trouble)?;
        let (key, _) = keys.into_iter().next_back().ok_or_else(|| DemoFailure::new("the log has no key"))?;
        Ok((bundle.to_json().to_string(), key))
    }
}
