//! Witnesses: what they cosign is kept, and what they refuse shows a log that went back or told two stories.

use super::fixture::{Database, LastingPlace, NORTH, SOUTH, Sealing, on_both_databases, opened};
use async_trait::async_trait;
use countersign_engine::{EvidenceSettings, KnownOperator, OperatorError, Operators, Witness};
use countersign_evidence::{
    cosignature,
    note::{Algorithm, Note, VerifierKey},
    witness::{AddCheckpoint, KnownLog, Refused},
};
use countersign_jose::{EvidenceCrypto, NoteKey};
use countersign_protocol::{domain::Domain, time::UnixMillis};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

const NAME: &str = "witness.example/w1";
const TIME: u64 = 1_800_000_000;

/// A witness that follows the specification, unless it lies.
#[derive(Default)]
struct TestWitness {
    logs: Mutex<BTreeMap<String, KnownLog>>,
    answers: Mutex<Vec<u16>>,
    lies: Mutex<Option<Lie>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    AnotherKey,
    AnotherText,
    NoSignature,
    Unreachable,
}

impl TestWitness {
    fn key() -> NoteKey {
        NoteKey::from_seed(&[9; 32])
    }

    fn settings() -> EvidenceSettings {
        let key = VerifierKey::new(&EvidenceCrypto, NAME, Algorithm::Cosignature, Self::key().public()).unwrap();
        let witnesses = vec![Witness { url: "https://witness.example".into(), key }];
        EvidenceSettings { witnesses, ..EvidenceSettings::default() }
    }

    /// Configured with the keys of the node's logs.
    async fn watch(&self, node: &Sealing) {
        for project in [NORTH, SOUTH] {
            if node.size(project).await > 0 {
                let keys = node.keys(project).await;
                let (origin, unseen) = (keys[0].name.clone(), KnownLog { keys: Vec::new(), size: 0, root: [0; 32] });
                self.logs.lock().unwrap().entry(origin).or_insert(unseen).keys = keys;
            }
        }
    }

    fn add_checkpoint(&self, body: &[u8]) -> Result<String, Refused> {
        let request = AddCheckpoint::parse(body)?;
        let mut logs = self.logs.lock().unwrap();
        let checkpoint = request.decide(&EvidenceCrypto, |origin| logs.get(origin).cloned())?;
        let log = logs.get_mut(&checkpoint.origin).unwrap();
        (log.size, log.root) = (checkpoint.size, checkpoint.root);
        let lie = *self.lies.lock().unwrap();
        let key = if lie == Some(Lie::AnotherKey) { NoteKey::from_seed(&[8; 32]) } else { Self::key() };
        let text = if lie == Some(Lie::AnotherText) { "another\n" } else { &request.note.text };
        let by = (NAME, &Self::key().public());
        let signed = cosignature::cosign(&EvidenceCrypto, by, TIME, text, |message| key.sign(message));
        Ok(if lie == Some(Lie::NoSignature) { "\n".into() } else { format!("{signed}\n") })
    }

    fn answers(&self) -> Vec<u16> {
        std::mem::take(&mut self.answers.lock().unwrap())
    }
}

/// The connection to it.
struct Wire(Arc<TestWitness>);

#[async_trait]
impl Operators for Wire {
    async fn operator(&self, _: &Domain, _: &str, _: UnixMillis, _: &str) -> Result<KnownOperator, OperatorError> {
        Err(OperatorError::Unreachable)
    }

    async fn last_published(&self, _: &Domain, _: &str, _: UnixMillis) -> Result<Option<UnixMillis>, OperatorError> {
        Err(OperatorError::Unreachable)
    }

    async fn show_witness(&self, url: &str, body: Vec<u8>) -> Result<(u16, Vec<u8>), String> {
        assert_eq!(url, "https://witness.example/add-checkpoint");
        if *self.0.lies.lock().unwrap() == Some(Lie::Unreachable) {
            return Err("nobody is there".into());
        }
        let (status, answer) = match self.0.add_checkpoint(&body) {
            Ok(line) => (200, line),
            Err(Refused::OtherSize(size)) => (409, format!("{size}\n")),
            Err(refused) => (refused.status(), refused.to_string()),
        };
        self.0.answers.lock().unwrap().push(status);
        Ok((status, answer.into_bytes()))
    }
}

async fn node(place: &LastingPlace, witness: &Arc<TestWitness>) -> Sealing {
    Sealing::with(place, TestWitness::settings(), Arc::new(Wire(Arc::clone(witness)))).await
}

/// The entries north, sealed and shown; the number of cosignatures.
async fn shown(node: &Sealing, witness: &TestWitness, entries: usize) -> usize {
    node.append(NORTH, entries).await;
    node.sealed(NORTH).await;
    witness.watch(node).await;
    node.engine.evidence().show_witnesses().await.unwrap()
}

on_both_databases! {
    ///
    async fn every_checkpoint_is_cosigned_once_and_the_cosignature_is_part_of_the_note(place) {
        let witness = Arc::new(TestWitness::default());
        let node = node(place, &witness).await;
        assert_eq!(node.engine.evidence().show_witnesses().await.unwrap(), 0);
        assert_eq!(shown(&node, &witness, 5).await, 1);
        assert_eq!(node.engine.evidence().show_witnesses().await.unwrap(), 0, "it has cosigned it");
        assert_eq!(shown(&node, &witness, 300).await, 1);
        assert_eq!(witness.answers(), [200, 200]);
        node.append(NORTH, 1).await;
        assert_eq!(node.sealed(NORTH).await.witnesses, 0);
        let cosigned = node.engine.evidence().cosigned_checkpoint(NORTH).await.unwrap();
        assert_eq!((cosigned.size, cosigned.witnesses), (305, 1));
        assert_eq!(opened(&node.keys(NORTH).await, &cosigned.note).size, 305);
        let witness_key = TestWitness::settings().witnesses.remove(0).key;
        let note = Note::parse(cosigned.note.as_bytes()).unwrap();
        let valid = note.verify(&EvidenceCrypto, std::slice::from_ref(&witness_key)).unwrap();
        assert_eq!(valid, [(&witness_key, Some(TIME))]);
        node.stop().await;
    }

    ///
    async fn a_witness_that_lies_leaves_no_cosignature(place) {
        let witness = Arc::new(TestWitness::default());
        let node = node(place, &witness).await;
        for lie in [Lie::AnotherKey, Lie::AnotherText, Lie::NoSignature, Lie::Unreachable] {
            *witness.lies.lock().unwrap() = Some(lie);
            assert_eq!(shown(&node, &witness, 2).await, 0, "{lie:?}");
            assert_eq!(node.engine.evidence().cosigned_checkpoint(NORTH).await.unwrap().witnesses, 0, "{lie:?}");
        }
        // It had seen the checkpoints all the same, so it names another size than the one with a cosignature.
        *witness.lies.lock().unwrap() = None;
        drop(witness.answers());
        assert_eq!(shown(&node, &witness, 1).await, 1);
        assert_eq!(witness.answers(), [409, 200]);
        node.stop().await;
    }
}

///
#[tokio::test(flavor = "multi_thread")]
async fn a_log_that_goes_back_and_on_differently_is_found_by_its_witness() {
    let (place, witness) = (LastingPlace::fresh(Database::Sqlite).await, Arc::new(TestWitness::default()));
    let first = node(&place, &witness).await;
    assert_eq!(shown(&first, &witness, 4).await, 1);
    first.stop().await;
    let backup = place.copied();
    let again = node(&place, &witness).await;
    assert_eq!(shown(&again, &witness, 4).await, 1);
    again.stop().await;
    drop(witness.answers());

    // With its last position and everything else beside the file, so that nothing on this machine knows better.
    let back = node(&backup, &witness).await;
    assert_eq!(shown(&back, &witness, 1).await, 0, "it is shorter than what the witness saw");
    assert_eq!(shown(&back, &witness, 7).await, 0, "it is longer, and another one");
    assert_eq!(witness.answers(), [409, 409, 422]);
    assert_eq!(back.engine.evidence().cosigned_checkpoint(NORTH).await.unwrap().size, 4);
    back.stop().await;
}

///
#[tokio::test(flavor = "multi_thread")]
async fn of_two_views_of_one_log_a_witness_cosigns_one() {
    let (place, witness) = (LastingPlace::fresh(Database::Sqlite).await, Arc::new(TestWitness::default()));
    let first = node(&place, &witness).await;
    assert_eq!(shown(&first, &witness, 4).await, 1);
    first.stop().await;
    let copy = place.copied();
    let (left, right) = (node(&place, &witness).await, node(&copy, &witness).await);
    assert_eq!(shown(&left, &witness, 3).await, 1);
    right.append(NORTH, 1).await;
    assert_eq!(shown(&right, &witness, 2).await, 0, "the same size, but other entries");
    assert_eq!(shown(&right, &witness, 3).await, 0);
    assert_eq!(shown(&left, &witness, 3).await, 1);
    left.stop().await;
    right.stop().await;
}
