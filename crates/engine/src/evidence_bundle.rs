//! Evidence bundles: the entries about one subject, with their proofs in one checkpoint.
//!
//! Whoever exports one administers the machine, and may read every opening; members can be withheld by name. A bundle is
//! verified before it is handed out, so that no opening leaves that does not fit its commitment.

mod scope;

use crate::{
    sealing::{EvidenceError, InclusionProof, SignedCheckpoint},
    services::Evidence,
    store::AuditRow,
};
use countersign_core::{
    decision::render,
    records::{Decision, Project},
    refusal::Refusal,
};
use countersign_evidence::{
    bundle::{self, Bundle, Disclosed, Document, EvidenceLeaf, ProvenLeaf, Subject},
    note::{Note, VerifierKey},
};
use countersign_jose::EvidenceCrypto;
use countersign_protocol::{canonical, evidence::Opening, hash::Digest, ids::RowKey};
use std::collections::BTreeMap;

/// The member with the digest of the rendered question.
const QUESTION: &str = "question_sha256";

impl Evidence<'_> {
    /// Everything that the log has about a subject, without the `withheld` members.
    pub async fn bundle(self, project: &Project, subject: Subject, withheld: &[String]) -> Result<Bundle, Refusal> {
        let scope = self.bundle_scope(project.key, &subject).await?;
        let newest = self.checkpoint_now(project.key).await?;
        let rows = self.bundle_rows(project.key, &scope).await?;
        let (checkpoint, proven) = self.prove(project.key, newest, rows).await?;
        let (key, witnesses, note) = self.signers(project.key, &checkpoint).await?;
        let mut leaves = Vec::new();
        for (proof, row) in &proven {
            leaves.push(leaf(proof, row, withheld).ok_or_else(|| damaged("an entry cannot be read"))?);
        }
        let documents = scope.decision.as_ref().and_then(|decision| question(decision, &leaves)).into_iter().collect();
        let made = Bundle {
            project: project.id.to_string(),
            subject,
            key: key.to_string(),
            witnesses: witnesses.iter().map(ToString::to_string).collect(),
            checkpoint: note.to_string(),
            leaves,
            documents,
        };
        match bundle::verify(&EvidenceCrypto, made.to_json().to_string().as_bytes(), &[]) {
            Ok(_) => Ok(made),
            Err(fault) => Err(damaged(&fault.to_string())),
        }
    }

    /// The entries with their proofs: in a checkpoint that witnesses cosigned, if one has them all.
    async fn prove(
        self,
        project: RowKey,
        newest: SignedCheckpoint,
        rows: Vec<AuditRow>,
    ) -> Result<(SignedCheckpoint, Vec<(InclusionProof, AuditRow)>), Refusal> {
        let proven = self.prove_in(project, &newest, rows).await?;
        let last = proven.last().map_or(0, |(proof, _)| proof.index);
        let cosigned = self.cosigned_checkpoint(project).await?;
        if cosigned.witnesses == 0 || cosigned.size <= last || cosigned.size == newest.size {
            return Ok((if cosigned.size == newest.size { cosigned } else { newest }, proven));
        }
        let rows = proven.into_iter().map(|(_, row)| row).collect();
        let proven = self.prove_in(project, &cosigned, rows).await?;
        Ok((cosigned, proven))
    }

    /// In the order of the log. Entries that came after the checkpoint are left out.
    async fn prove_in(
        self,
        project: RowKey,
        checkpoint: &SignedCheckpoint,
        rows: Vec<AuditRow>,
    ) -> Result<Vec<(InclusionProof, AuditRow)>, Refusal> {
        let mut proven = Vec::new();
        for row in rows {
            match self.proof_of(project, row.place.lane, row.place.seq, Some(checkpoint.size)).await {
                Ok(proof) => proven.push((proof, row)),
                Err(EvidenceError::NotSealed) => {}
                Err(why) => return Err(why.into()),
            }
        }
        proven.sort_by_key(|(proof, _)| proof.index);
        if proven.is_empty() {
            return Err(Refusal::NotFound("the log has no entry about it".into()));
        }
        Ok(proven)
    }

    /// The keys that signed a checkpoint, and its note with their signatures alone.
    async fn signers(
        self,
        project: RowKey,
        checkpoint: &SignedCheckpoint,
    ) -> Result<(VerifierKey, Vec<VerifierKey>, Note), Refusal> {
        let mut note = Note::parse(checkpoint.note.as_bytes()).map_err(|why| damaged(&why.to_string()))?;
        let signed =
            |key: &VerifierKey| note.signatures.iter().any(|line| line.name == key.name && line.key_id == key.id);
        let logs = self.verifier_keys(project).await?.into_iter().map(|(key, _)| key);
        let log = logs.into_iter().find(signed).ok_or_else(|| damaged("no key of the log signed its checkpoint"))?;
        let witnesses = self.settings.evidence.witnesses.iter().map(|witness| &witness.key);
        let witnesses: Vec<VerifierKey> = witnesses.filter(|key| signed(key)).cloned().collect();
        let mut known: Vec<&VerifierKey> = std::iter::once(&log).chain(&witnesses).collect();
        note.signatures.retain(|line| {
            let by = known.iter().position(|key| line.name == key.name && line.key_id == key.id);
            by.map(|by| known.swap_remove(by)).is_some()
        });
        Ok((log, witnesses, note))
    }
}

fn damaged(why: &str) -> Refusal {
    tracing::error!(alarm = "evidence_damaged", why, "a bundle could not be made of the evidence");
    Refusal::Internal
}

/// An entry with what may be disclosed of it.
fn leaf(proof: &InclusionProof, row: &AuditRow, withheld: &[String]) -> Option<ProvenLeaf> {
    let text = String::from_utf8(row.leaf.clone()).ok()?;
    let openings = row
        .openings
        .as_deref()
        .map_or_else(|| Some(BTreeMap::<String, Opening>::new()), |text| serde_json::from_str(text).ok())?;
    let disclosed = |name: String| {
        let disclosed = if withheld.contains(&name) { Disclosed::Withheld } else { opened(openings.get(&name))? };
        Some((name, disclosed))
    };
    let openings = EvidenceLeaf::parse(&text)?.commitments.into_keys().map(disclosed).collect::<Option<_>>()?;
    Some(ProvenLeaf { index: proof.index, path: proof.path.clone(), leaf: text, openings })
}

fn opened(opening: Option<&Opening>) -> Option<Disclosed> {
    let Some(Opening { salt, value }) = opening else { return Some(Disclosed::Erased) };
    let salt = hex::decode(salt).ok()?.try_into().ok()?;
    let value = String::from_utf8(canonical::of_value(value).ok()?).ok()?;
    Some(Disclosed::Opened { salt, value })
}

/// The question as it was rendered, if the row still has it exactly so.
fn question(decision: &Decision, leaves: &[ProvenLeaf]) -> Option<Document> {
    let text = String::from_utf8(render::document(decision).ok()?).ok()?;
    let value = format!("\"{}\"", Digest::of(text.as_bytes()).hex());
    let raised = leaves.iter().find(
        |leaf| matches!(leaf.openings.get(QUESTION), Some(Disclosed::Opened { value: stated, .. }) if *stated == value),
    )?;
    Some(Document { leaf: raised.index, member: QUESTION.into(), text })
}
