//! What a witness refuses, and what it cosigns.

use super::*;
use crate::{
    cosignature,
    merkle::Plan,
    note::Algorithm,
    test_crypto::{TestCrypto, TestKey},
};
use proptest::prelude::*;

const ORIGIN: &str = "log.example/evidence";

fn leaf(n: u64) -> Hash {
    merkle::leaf_hash(&TestCrypto, &n.to_be_bytes())
}

fn hash_of(plan: &Plan) -> Vec<Hash> {
    let read = |node: merkle::Node| {
        let leaves: Vec<Hash> = (node.index << node.height..(node.index + 1) << node.height).map(leaf).collect();
        let mut level = leaves;
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| merkle::node_hash(&TestCrypto, &pair[0], &pair[1])).collect();
        }
        Ok::<_, ()>(level[0])
    };
    plan.hashes(&TestCrypto, read).unwrap()
}

fn root(size: u64) -> Hash {
    hash_of(&Plan::root(size))[0]
}

fn request(old: u64, new: u64) -> AddCheckpoint {
    let key = TestKey::new(1);
    let note = Checkpoint::new(ORIGIN, new, root(new)).sign(&TestCrypto, &key.public(), |text| key.sign(text)).unwrap();
    AddCheckpoint { old, proof: Plan::consistency(old, new).map(|plan| hash_of(&plan)).unwrap_or_default(), note }
}

fn known(size: u64) -> impl FnOnce(&str) -> Option<KnownLog> {
    let key = VerifierKey::new(&TestCrypto, ORIGIN, Algorithm::Ed25519, TestKey::new(1).public()).unwrap();
    move |origin| (origin == ORIGIN).then(|| KnownLog { keys: vec![key], size, root: root(size) })
}

#[test]
fn a_witness_cosigns_a_tree_that_continues_the_one_it_knows() {
    for (old, new) in [(0, 1), (0, 9), (3, 9), (8, 9), (9, 9)] {
        let request = request(old, new);
        assert_eq!(AddCheckpoint::parse(request.to_string().as_bytes()), Ok(request.clone()));
        let checkpoint = request.decide(&TestCrypto, known(old)).unwrap();
        assert_eq!((checkpoint.size, checkpoint.root), (new, root(new)));
    }
}

#[test]
fn a_witness_refuses_each_fault_with_its_status() {
    let refused = |request: AddCheckpoint, size| {
        let why = request.decide(&TestCrypto, known(size)).unwrap_err();
        (why.status(), why)
    };
    assert_eq!(refused(request(3, 9), 5), (409, Refused::OtherSize(5)));
    assert_eq!(refused(request(0, 9), 5), (409, Refused::OtherSize(5)));
    assert_eq!(refused(request(9, 5), 9), (400, Refused::Shrinks));
    let stranger = request(3, 9).decide(&TestCrypto, |_| None).unwrap_err();
    assert_eq!((stranger.status(), stranger), (404, Refused::UnknownLog));
    let mut unsigned = request(3, 9);
    unsigned.note.signatures[0].bytes[0] ^= 1;
    assert_eq!(refused(unsigned, 3), (403, Refused::Unsigned));
    let mut without_proof = request(3, 9);
    without_proof.proof.pop();
    assert_eq!(refused(without_proof, 3), (422, Refused::Inconsistent(Unproven::WrongLength)));
    // A log that signs two histories of one size shows another root.
    let key = TestKey::new(1);
    let fork = Checkpoint::new(ORIGIN, 9, [7; 32]).sign(&TestCrypto, &key.public(), |text| key.sign(text)).unwrap();
    let split = AddCheckpoint { old: 9, proof: Vec::new(), note: fork };
    assert_eq!(refused(split, 9), (422, Refused::Inconsistent(Unproven::OtherRoot)));
}

#[test]
fn malformed_requests_are_refused() {
    let good = request(3, 9).to_string();
    for bad in [
        String::new(),
        good.replacen("old 3", "old 03", 1),
        good.replacen("old 3", "3", 1),
        good.replacen("old 3\n", "old 3\nAAAA\n", 1),
        good.replacen("\n\n", "\n", 1),
        good.replacen("old 3\n", &format!("old 3\n{}", format!("{}\n", STANDARD.encode([0; 32])).repeat(64)), 1),
    ] {
        assert_eq!(AddCheckpoint::parse(bad.as_bytes()).map_err(|why| why.status()), Err(400), "{bad}");
    }
    assert_eq!(AddCheckpoint::parse(b"old 3\n\n\xff").unwrap_err().status(), 400);
}

#[test]
fn the_answer_of_a_witness_is_cosignatures() {
    let key = TestKey::new(4);
    let line = cosignature::cosign(&TestCrypto, ("w.example", &key.public()), 5, "a\n", |m| key.sign(m));
    assert_eq!(answer(format!("{line}\n{line}\n").as_bytes()), Ok(vec![line.clone(), line]));
    assert!(answer(b"").is_err() && answer(b"no\n").is_err() && answer(b"\xff\n").is_err());
}

proptest! {
    #[test]
    fn no_body_makes_a_witness_panic(body in "(old |[0-9]{1,3}|\\n|— a |[A-Za-z0-9+/]{43}=){0,20}") {
        if let Ok(request) = AddCheckpoint::parse(body.as_bytes()) {
            let _ = request.decide(&TestCrypto, known(3));
        }
    }
}
