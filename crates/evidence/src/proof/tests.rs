//! Proofs in files.

use super::*;
use crate::{
    note::Algorithm,
    test_crypto::{TestCrypto, TestKey},
};

fn proof() -> (TlogProof, VerifierKey) {
    let key = TestKey::new(1);
    let leaves = [b"one", b"two"].map(|entry| merkle::leaf_hash(&TestCrypto, entry));
    let root = merkle::node_hash(&TestCrypto, &leaves[0], &leaves[1]);
    let checkpoint = Checkpoint::new("log.example", 2, root);
    let note = checkpoint.sign(&TestCrypto, &key.public(), |text| key.sign(text)).unwrap();
    let known = VerifierKey::new(&TestCrypto, "log.example", Algorithm::Ed25519, key.public()).unwrap();
    (TlogProof { extra: None, index: 1, path: vec![leaves[0]], checkpoint: note }, known)
}

#[test]
fn a_proof_is_read_as_it_is_written_and_holds_for_its_entry_only() {
    let (proof, key) = proof();
    let text = proof.to_string();
    assert!(text.starts_with("c2sp.org/tlog-proof@v1\nindex 1\n"), "{text}");
    assert_eq!(TlogProof::parse(text.as_bytes()), Ok(proof.clone()));
    let keys = [key];
    assert_eq!(proof.verify(&TestCrypto, &keys, b"two").unwrap().size, 2);
    assert_eq!(proof.verify(&TestCrypto, &keys, b"one"), Err(BadProof::Unproven(Unproven::OtherRoot)));
    assert_eq!(proof.verify(&TestCrypto, &[], b"two"), Err(BadProof::Checkpoint(Untrusted::NoKnownKey)));
    let extended = TlogProof { extra: Some(vec![1, 2]), ..proof };
    assert_eq!(TlogProof::parse(extended.to_string().as_bytes()), Ok(extended));
}

#[test]
fn malformed_proofs_are_refused() {
    let good = proof().0.to_string();
    for bad in [
        String::new(),
        good.replacen("@v1", "@v2", 1),
        good.replacen("index 1", "index 01", 1),
        good.replacen("index 1\n", "", 1),
        good.replacen("index 1\n", "index 1\nextra AA==\n", 1),
        good.replacen("index 1\n", "extra !\nindex 1\n", 1),
        good.replacen("index 1\n", "index 1\nAAAA\n", 1),
        good.replacen("\n\n", "\n", 1),
    ] {
        assert!(matches!(TlogProof::parse(bad.as_bytes()), Err(BadProof::Form(_))), "{bad}");
    }
    assert!(TlogProof::parse(b"\xff").is_err());
}
