//! Showing checkpoints to witnesses (C2SP tlog-witness), and keeping their cosignatures.
//!
//! A witness cosigns only what continues everything it has seen, so a log that showed different people different trees, or
//! went back, is found by whoever asks for its cosignatures.

use super::{EvidenceError, SignedCheckpoint, known::Witness};
use crate::{services::Evidence, store::Cosignature};
use countersign_evidence::{
    note::Note,
    witness::{self, AddCheckpoint},
};
use countersign_jose::EvidenceCrypto;
use countersign_protocol::{ids::RowKey, time::UnixMillis};
use futures_util::future::join_all;

/// What became of showing one checkpoint to one witness.
#[derive(Debug)]
enum Shown {
    Cosigned(Cosignature),
    /// It knows another size than we believed.
    Knows(u64),
    Refused {
        status: u16,
    },
    BadAnswer(&'static str),
}

impl Evidence<'_> {
    /// Shows the newest checkpoints to the witnesses that have not cosigned them; returns how many did.
    pub async fn show_witnesses(self) -> Result<usize, EvidenceError> {
        let witnesses = &self.settings.evidence.witnesses;
        if witnesses.is_empty() {
            return Ok(0);
        }
        let sizes = self.store.log_sizes().await?;
        let rounds = join_all(witnesses.iter().map(|witness| self.show_logs(witness, &sizes))).await;
        rounds.into_iter().sum()
    }

    /// One witness after the other's pace: a witness that cannot be reached ends its own round only.
    async fn show_logs(self, witness: &Witness, sizes: &[(RowKey, i64)]) -> Result<usize, EvidenceError> {
        let mut cosigned = 0;
        for (project, size) in sizes {
            let known = self.store.witnessed_size(*project, &witness.key.to_string()).await?;
            if known >= *size {
                continue;
            }
            match self.show(*project, witness, known.cast_unsigned()).await? {
                Some(true) => cosigned += 1,
                Some(false) => {}
                None => break,
            }
        }
        Ok(cosigned)
    }

    /// Whether the witness cosigned; none if it could not be reached.
    async fn show(self, project: RowKey, witness: &Witness, known: u64) -> Result<Option<bool>, EvidenceError> {
        let newest = self.store.checkpoint(project, i64::MAX).await?.ok_or(EvidenceError::NoCheckpoint)?;
        let newest = SignedCheckpoint::unwitnessed(newest);
        let mut old = known;
        // Its answer may name the size that it really knows: once, it is asked again from there.
        for _ in 0..2 {
            let Some(shown) = self.show_once(project, witness, old, &newest).await? else { return Ok(None) };
            match shown {
                Shown::Cosigned(cosignature) => {
                    self.store.keep_cosignature(project, newest.size.cast_signed(), cosignature).await?;
                    return Ok(Some(true));
                }
                Shown::Knows(size) if size > newest.size => {
                    let (url, ours) = (&witness.url, newest.size);
                    tracing::error!(
                        alarm = "log_went_back",
                        url,
                        size,
                        ours,
                        "a witness has seen a larger tree of this log: this database is older than it, or another"
                    );
                    return Ok(Some(false));
                }
                Shown::Knows(size) => old = size,
                Shown::Refused { status } => {
                    let alarm = (status == 422).then_some("log_inconsistent");
                    tracing::error!(alarm, url = witness.url, status, "a witness does not cosign the log's checkpoint");
                    return Ok(Some(false));
                }
                Shown::BadAnswer(why) => {
                    tracing::error!(url = witness.url, why, "the answer of a witness is not a cosignature");
                    return Ok(Some(false));
                }
            }
        }
        Ok(Some(false))
    }

    async fn show_once(
        self,
        project: RowKey,
        witness: &Witness,
        old: u64,
        newest: &SignedCheckpoint,
    ) -> Result<Option<Shown>, EvidenceError> {
        let proof = self.consistency_of(project, old, newest.size).await?;
        let note = Note::parse(newest.note.as_bytes()).map_err(|why| EvidenceError::Damaged(why.to_string()))?;
        let body = AddCheckpoint { old, proof, note: note.clone() }.to_string();
        let url = format!("{}/add-checkpoint", witness.url);
        match self.operators.show_witness(&url, body.into_bytes()).await {
            Ok((status, answer)) => Ok(Some(understood(witness, note, status, &answer))),
            Err(why) => {
                tracing::warn!(url, why, "a witness could not be reached");
                Ok(None)
            }
        }
    }
}

fn understood(witness: &Witness, note: Note, status: u16, answer: &[u8]) -> Shown {
    match status {
        200 => cosignature(witness, note, answer),
        409 => {
            let size = std::str::from_utf8(answer).ok().and_then(|text| text.trim_end().parse().ok());
            size.map_or(Shown::BadAnswer("a 409 without the size that it knows"), Shown::Knows)
        }
        status => Shown::Refused { status },
    }
}

/// The witness's own signature line, if it fits the checkpoint.
fn cosignature(witness: &Witness, note: Note, answer: &[u8]) -> Shown {
    let Ok(signatures) = witness::answer(answer) else { return Shown::BadAnswer("no signature lines") };
    for signature in signatures {
        let line = signature.to_string();
        let cosigned = Note { text: note.text.clone(), signatures: vec![signature] };
        let Ok(valid) = cosigned.verify(&EvidenceCrypto, std::slice::from_ref(&witness.key)) else { continue };
        if let Some((_, Some(time))) = valid.first() {
            let at = UnixMillis::from_secs(time.cast_signed());
            return Shown::Cosigned(Cosignature { witness: witness.key.to_string(), at, line });
        }
    }
    Shown::BadAnswer("no valid cosignature by its key")
}
