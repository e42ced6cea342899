//! Notes and keys, with the specification's own example.

use super::*;
use crate::{
    cosignature,
    test_crypto::{TestCrypto, TestKey},
};
use proptest::prelude::*;

fn key(name: &str, seed: u8) -> VerifierKey {
    VerifierKey::new(&TestCrypto, name, Algorithm::Ed25519, TestKey::new(seed).public()).unwrap()
}

fn signed(text: &str, by: &[(&str, u8)]) -> Note {
    let signature = |(name, seed): &(&str, u8)| Signature {
        name: (*name).to_owned(),
        key_id: key(name, *seed).id,
        bytes: TestKey::new(*seed).sign(text.as_bytes()).to_vec(),
    };
    Note { text: text.to_owned(), signatures: by.iter().map(signature).collect() }
}

/// The key and the note of the documentation of Go's `sumdb/note`.
#[test]
fn the_note_in_gos_documentation_is_read_and_verified() {
    let key =
        VerifierKey::parse(&TestCrypto, "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW").unwrap();
    let text = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
    let note = format!(
        "{text}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
    );
    let read = Note::parse(note.as_bytes()).unwrap();
    assert_eq!((read.text.as_str(), read.to_string()), (text, note));
    assert_eq!(read.verify(&TestCrypto, std::slice::from_ref(&key)), Ok(vec![(&key, None)]));
    assert_eq!(key.to_string(), "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW");
}

#[test]
fn a_note_is_trusted_only_by_a_known_key_and_spoilt_by_a_bad_signature_of_one() {
    let note = signed("one\n", &[("log", 1), ("stranger", 2)]);
    let (log, other, namesake) = (key("log", 1), key("other", 3), key("log", 9));
    assert_eq!(note.verify(&TestCrypto, &[other, log.clone()]), Ok(vec![(&log, None)]));
    assert_eq!(note.verify(&TestCrypto, &[namesake]), Err(Untrusted::NoKnownKey));
    assert_eq!(note.verify(&TestCrypto, &[]), Err(Untrusted::NoKnownKey));
    let mut spoilt = note.clone();
    spoilt.signatures[1].bytes[7] ^= 1;
    assert_eq!(spoilt.verify(&TestCrypto, std::slice::from_ref(&log)), Ok(vec![(&log, None)]));
    let known = [log.clone(), key("stranger", 2)];
    assert_eq!(spoilt.verify(&TestCrypto, &known), Err(Untrusted::BadSignature("stranger".into())));
    let changed = Note { text: "two\n".into(), ..note };
    assert_eq!(changed.verify(&TestCrypto, &[log]), Err(Untrusted::BadSignature("log".into())));
}

#[test]
fn a_cosignature_is_valid_with_its_time_only() {
    let witness = TestKey::new(7);
    let public = witness.public();
    let key = VerifierKey::new(&TestCrypto, "witness.example", Algorithm::Cosignature, public).unwrap();
    let text = "log.example\n3\nAAAA\n";
    let line = cosignature::cosign(&TestCrypto, ("witness.example", &public), 1_700_000_000, text, |m| witness.sign(m));
    let mut note = Note { text: text.into(), signatures: vec![Signature::parse(&line.to_string()).unwrap()] };
    assert_eq!(note.verify(&TestCrypto, std::slice::from_ref(&key)), Ok(vec![(&key, Some(1_700_000_000))]));
    note.signatures[0].bytes[7] ^= 1;
    assert!(note.verify(&TestCrypto, std::slice::from_ref(&key)).is_err());
    // The same key as an ordinary one is another key.
    assert_ne!(VerifierKey::new(&TestCrypto, "witness.example", Algorithm::Ed25519, public).unwrap().id, key.id);
}

#[test]
fn malformed_notes_are_refused_with_their_reason() {
    let line = signed("a\n", &[("log", 1)]).signatures[0].to_string();
    let parse = |text: &str| Note::parse(text.as_bytes()).unwrap_err();
    assert_eq!(parse(""), BadNote::Unsigned);
    assert_eq!(parse("a\n"), BadNote::Unsigned);
    assert_eq!(parse("a\n\n"), BadNote::Unsigned);
    assert_eq!(parse(&format!("a\n{line}\n")), BadNote::Unsigned);
    assert_eq!(parse(&format!("a\n\n{line}")), BadNote::Unsigned);
    assert_eq!(parse(&format!("a\r\n\n{line}\n")), BadNote::NotText);
    assert_eq!(Note::parse(b"\xff\n\n").unwrap_err(), BadNote::NotText);
    assert_eq!(parse(&format!("a\n\n{line}\n{}\n", &line[4..])), BadNote::SignatureLine(2));
    for bad in [
        "— log",
        "— log ",
        "— log AAAA",
        "— log AAAAAA==",
        "— l+g AAAAAAAAAAAA",
        "- log AAAAAAAAAAAA",
        "— log AAAAAAAAA AAA",
    ] {
        assert_eq!(parse(&format!("a\n\n{bad}\n")), BadNote::SignatureLine(1), "{bad}");
    }
    let many = format!("{line}\n").repeat(MAX_SIGNATURES + 1);
    assert_eq!(parse(&format!("a\n\n{many}")), BadNote::TooManySignatures);
    assert_eq!(parse(&format!("{}\n\n{line}\n", "a".repeat(MAX_BYTES))), BadNote::TooLong);
}

#[test]
fn a_verifier_key_with_another_id_name_algorithm_or_form_is_refused() {
    let good = key("log.example/a", 1).to_string();
    let parse = |text: &str| VerifierKey::parse(&TestCrypto, text);
    assert!(parse(&good).is_ok());
    assert_eq!(parse(&good.replace("log", "lob")), Err(BadKey::Id));
    assert_eq!(parse("log.example/a"), Err(BadKey::Form));
    assert_eq!(parse("log+00000000+AQ=="), Err(BadKey::Form));
    assert_eq!(parse("log+00000000+!"), Err(BadKey::Form));
    assert_eq!(parse("log+00000000+"), Err(BadKey::Form));
    let unknown = STANDARD.encode([2; 33]);
    assert_eq!(parse(&format!("log+00000000+{unknown}")), Err(BadKey::Algorithm));
    assert_eq!(parse(&good.replace("log.example/a", "log example")), Err(BadKey::Form));
}

proptest! {
    #[test]
    fn no_bytes_make_the_readers_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "(a|— |\\n|\\+|[A-Z]{4}|=| ){0,30}") {
        let _ = (Note::parse(&bytes), VerifierKey::parse(&TestCrypto, &text));
        if let Ok(note) = Note::parse(text.as_bytes()) {
            prop_assert_eq!(note.to_string(), text);
        }
    }
}
