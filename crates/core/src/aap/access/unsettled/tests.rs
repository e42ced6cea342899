//! An unknown member matches every value; a known one must be equal.

use crate::records::WriteFingerprint;
use countersign_protocol::hash::Digest;

fn print(body: Option<&[u8]>) -> WriteFingerprint {
    WriteFingerprint {
        head: Digest::of(b"POST /notes"),
        beginning: Some(Digest::of(b"{")),
        length: Some(2),
        body: body.map(Digest::of),
        idempotency_key: None,
        proof: None,
    }
}

///
#[test]
fn a_write_repeats_an_indistinguishable_one() {
    let (known, other, unread) = (print(Some(b"{}")), print(Some(b"[]")), print(None));
    assert!(known.repeats(&known) && !known.repeats(&other) && !other.repeats(&known));
    assert!(known.repeats(&unread) && unread.repeats(&known) && unread.repeats(&unread));
    assert!(unread.needs_body(&known) && !known.needs_body(&unread));
    for different in [
        WriteFingerprint { head: Digest::of(b"POST /letters"), ..unread.clone() },
        WriteFingerprint { beginning: Some(Digest::of(b"[")), ..unread.clone() },
        WriteFingerprint { length: Some(3), ..unread.clone() },
    ] {
        assert!(!different.repeats(&unread) && !unread.repeats(&different), "{different:?}");
    }
    let unmeasured = WriteFingerprint { length: None, beginning: None, ..unread.clone() };
    assert!(unmeasured.repeats(&unread) && unread.repeats(&unmeasured));
}

///
#[test]
fn the_same_idempotency_key_or_proof_is_a_repeat_for_any_request() {
    let name = |text: &[u8]| Some(Digest::of(text));
    let first = WriteFingerprint { idempotency_key: name(b"k"), proof: name(b"p"), ..print(Some(b"{}")) };
    let other = print(Some(b"[]"));
    assert!(WriteFingerprint { idempotency_key: name(b"k"), ..other.clone() }.repeats(&first));
    assert!(WriteFingerprint { proof: name(b"p"), ..other.clone() }.repeats(&first));
    assert!(!WriteFingerprint { idempotency_key: name(b"l"), proof: name(b"q"), ..other.clone() }.repeats(&first));
    assert!(!other.repeats(&WriteFingerprint { body: name(b"x"), ..other.clone() }), "no name is no common name");
}
