//! Checkpoints as texts of notes.

use super::*;
use crate::{
    note::VerifierKey,
    test_crypto::{TestCrypto, TestKey},
};

#[test]
fn a_checkpoint_is_three_lines_signed_by_the_key_of_its_origin() {
    let key = TestKey::new(1);
    let checkpoint = Checkpoint::new("log.example/evidence/acme", 20_852_163, [7; 32]);
    let note = checkpoint.sign(&TestCrypto, &key.public(), |text| key.sign(text)).unwrap();
    assert_eq!(note.text, "log.example/evidence/acme\n20852163\nBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n");
    assert_eq!(Checkpoint::parse(&note.text), Ok(checkpoint));
    let known = VerifierKey::new(&TestCrypto, "log.example/evidence/acme", Algorithm::Ed25519, key.public()).unwrap();
    let read = Note::parse(note.to_string().as_bytes()).unwrap();
    assert!(read.verify(&TestCrypto, &[known]).is_ok());
    assert_eq!(Checkpoint::new("two words", 0, [0; 32]).sign(&TestCrypto, &[0; 32], |_| [0; 64]), None);
}

#[test]
fn extension_lines_are_kept_and_malformed_texts_are_refused_with_their_reason() {
    let root = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
    let extended = format!("a\n5\n{root}\nmore\n");
    let read = Checkpoint::parse(&extended).unwrap();
    assert_eq!((read.extensions.as_slice(), read.text()), (["more".to_owned()].as_slice(), extended));
    for (text, why) in [
        (String::new(), BadCheckpoint::Lines),
        (format!("a\n5\n{root}"), BadCheckpoint::Lines),
        (format!("a\n5\n{root}\n\nmore\n"), BadCheckpoint::Lines),
        ("a\n5\n".to_owned(), BadCheckpoint::Lines),
        (format!("\n5\n{root}\n"), BadCheckpoint::Origin),
        (format!("a\n-5\n{root}\n"), BadCheckpoint::Size),
        (format!("a\n+5\n{root}\n"), BadCheckpoint::Size),
        (format!("a\n05\n{root}\n"), BadCheckpoint::Size),
        (format!("a\n99999999999999999999\n{root}\n"), BadCheckpoint::Size),
        ("a\n5\nBwcH\n".to_owned(), BadCheckpoint::Root),
        (format!("a\n5\n{}\n", root.trim_end_matches('=')), BadCheckpoint::Root),
    ] {
        assert_eq!(Checkpoint::parse(&text), Err(why), "{text:?}");
    }
}
