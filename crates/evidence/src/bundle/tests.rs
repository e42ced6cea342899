//! A bundle made by hand, and everything that can be wrong with one.

use super::*;
use crate::{
    checkpoint::Checkpoint,
    cosignature,
    crypto::Crypto as _,
    merkle::{self, Plan},
    note::{Algorithm, Note, VerifierKey},
    test_crypto::{TestCrypto, TestKey},
};
use proptest::prelude::*;

const ORIGIN: &str = "plane.example/evidence/acme";

fn log() -> TestKey {
    TestKey::new(1)
}

fn key_of(name: &str, algorithm: Algorithm, seed: u8) -> VerifierKey {
    VerifierKey::new(&TestCrypto, name, algorithm, TestKey::new(seed).public()).unwrap()
}

/// A committed member with its salt and its value.
type Hidden = (String, [u8; 16], String);

fn opening(name: &str, value: &str) -> Hidden {
    (name.to_owned(), [name.len() as u8; 16], value.to_owned())
}

fn leaf(event_type: &str, open: &str, hidden: &[Hidden]) -> String {
    let commitment = |(name, salt, value): &Hidden| {
        let digest = super::leaf::commitment(&TestCrypto, name, salt, value);
        format!("{name:?}:\"{}\"", hex::encode(digest))
    };
    let commitments: Vec<String> = hidden.iter().map(commitment).collect();
    format!(
        "{{\"commitments\":{{{}}},{open}\"event_type\":{event_type:?},\"project\":\"acme\",\"timestamp\":\"2026-05-04T09:00:00Z\",\"v\":1}}",
        commitments.join(",")
    )
}

fn question() -> String {
    "{\"sentence\":\"Transfer 82,000.00 USD\"}".to_owned()
}

/// A decision that was raised, approved, claimed and carried out, among strangers' entries.
pub(super) fn bundle() -> Bundle {
    let digest = hex::encode(TestCrypto.sha256(&[question().as_bytes()]));
    let id = "\"decision_id\":\"dec_1\",";
    let told: Vec<(u64, String, Vec<Hidden>)> = [
        (
            3,
            "decision_raised",
            id.to_owned(),
            vec![
                opening("action", "\"Transfer \u{202e}82,000.00 USD to “Acme”\""),
                opening("action_sha256", "\"aa\""),
                opening("question_sha256", &format!("{digest:?}")),
            ],
        ),
        (
            4,
            "decision_settled",
            format!("\"assurance\":\"fresh\",{id}\"state\":\"accepted\",\"via\":\"page\","),
            vec![opening("decided_by", "\"alice\""), opening("reason", "\"invoice 7 is right\"")],
        ),
        (
            9,
            "execution_claimed",
            format!("{id}\"execution_id\":\"exe_1\",\"uses_left\":0,"),
            vec![opening("request_sha256", "\"aa\"")],
        ),
        (300, "execution_settled", format!("{id}\"execution_id\":\"exe_1\",\"outcome\":\"committed\","), vec![]),
    ]
    .into_iter()
    .map(|(index, event_type, open, hidden)| (index, leaf(event_type, &open, &hidden), hidden))
    .collect();
    let mut proven = proven(301, &told.iter().map(|(index, leaf, _)| (*index, leaf.as_str())).collect::<Vec<_>>());
    for (leaf, (.., hidden)) in proven.leaves.iter_mut().zip(&told) {
        let opened =
            |(name, salt, value): &Hidden| (name.clone(), Disclosed::Opened { salt: *salt, value: value.clone() });
        leaf.openings = hidden.iter().map(opened).collect();
    }
    proven.documents = vec![Document { leaf: 3, member: "question_sha256".into(), text: question() }];
    proven
}

/// A log with nothing but these leaves.
pub(super) fn bundle_of(leaves: &[&str]) -> Bundle {
    proven(leaves.len() as u64, &(0..).zip(leaves.iter().copied()).collect::<Vec<_>>())
}

/// These leaves in a log of this size, without openings.
fn proven(size: u64, told: &[(u64, &str)]) -> Bundle {
    let entry = |index: u64| match told.iter().find(|(at, _)| *at == index) {
        Some((_, leaf)) => (*leaf).to_owned(),
        None => format!("stranger {index}"),
    };
    let hashes: Vec<Hash> = (0..size).map(|index| merkle::leaf_hash(&TestCrypto, entry(index).as_bytes())).collect();
    let read = |node: merkle::Node| {
        let first = usize::try_from(node.index << node.height).unwrap();
        let mut level = hashes[first..first + (1 << node.height)].to_vec();
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| merkle::node_hash(&TestCrypto, &pair[0], &pair[1])).collect();
        }
        Ok::<_, ()>(level[0])
    };
    let root = Plan::root(size).hash(&TestCrypto, read).unwrap();
    let leaves = told.iter().map(|(index, leaf)| ProvenLeaf {
        index: *index,
        leaf: (*leaf).to_owned(),
        path: Plan::inclusion(*index, size).unwrap().hashes(&TestCrypto, read).unwrap(),
        openings: BTreeMap::new(),
    });
    Bundle {
        project: "acme".into(),
        subject: Subject { kind: SubjectKind::Decision, id: "dec_1".into() },
        key: key_of(ORIGIN, Algorithm::Ed25519, 1).to_string(),
        witnesses: vec![key_of("w.example", Algorithm::Cosignature, 2).to_string()],
        checkpoint: signed(&Checkpoint::new(ORIGIN, size, root)).to_string(),
        leaves: leaves.collect(),
        documents: Vec::new(),
    }
}

fn signed(checkpoint: &Checkpoint) -> Note {
    let (log, witness) = (log(), TestKey::new(2));
    let mut note = checkpoint.sign(&TestCrypto, &log.public(), |text| log.sign(text)).unwrap();
    let text = note.text.clone();
    let by = ("w.example", &witness.public());
    note.signatures.push(cosignature::cosign(&TestCrypto, by, 1_777_000_000, &text, |message| witness.sign(message)));
    note
}

fn judge(bundle: &Bundle) -> Result<Report, (&'static str, String)> {
    judge_bytes(bundle.to_json().to_string().as_bytes())
}

fn judge_bytes(bytes: &[u8]) -> Result<Report, (&'static str, String)> {
    verify(&TestCrypto, bytes, &[]).map_err(|fault| (fault.code.as_str(), fault.place))
}

fn wrong(code: &'static str, place: &str) -> Result<Report, (&'static str, String)> {
    Err((code, place.to_owned()))
}

fn with(change: impl FnOnce(&mut Bundle)) -> Bundle {
    let mut spoilt = bundle();
    change(&mut spoilt);
    spoilt
}

#[test]
fn a_bundle_tells_its_story_with_the_leaf_of_each_sentence() {
    let report = judge(&bundle()).unwrap();
    assert_eq!((report.origin.as_str(), report.size, report.key_is_trusted), (ORIGIN, 301, false));
    assert_eq!(report.cosigned, [("w.example".to_owned(), 1_777_000_000)]);
    assert!(report.unproven.is_empty());
    let told: Vec<(&str, &[u64])> =
        report.story.iter().map(|sentence| (sentence.text.as_str(), sentence.leaves.as_slice())).collect();
    let time = "2026-05-04T09:00:00Z: ";
    assert_eq!(told, [
        (format!("{time}A question was put to the people who may decide: “Transfer [U+202E]82,000.00 USD to [U+201C]Acme[U+201D]”.").as_str(), &[3][..]),
        (format!("{time}The question ended as accepted, decided by alice, over page, proven by fresh, reason “invoice 7 is right”.").as_str(), &[4][..]),
        (format!("{time}The approval was claimed as exe_1, for the request with SHA-256 aa, uses left 0.").as_str(), &[9][..]),
        (format!("{time}The execution exe_1 ended as committed.").as_str(), &[300][..]),
        ("The claimed request is exactly the one that the question was about: both entries have its digest.", &[3, 9][..]),
        ("The document of 37 bytes is the text with the digest question_sha256.", &[3][..]),
    ]);
}

#[test]
fn erased_and_withheld_members_are_told_as_such() {
    let erased = with(|bundle| {
        bundle.leaves[0].openings.insert("question_sha256".into(), Disclosed::Withheld);
        bundle.leaves[1].openings.insert("decided_by".into(), Disclosed::Erased);
        bundle.leaves[2].openings.insert("request_sha256".into(), Disclosed::Withheld);
    });
    let report = judge(&erased).unwrap();
    assert!(report.story[1].text.contains("decided by [erased], over page"), "{:?}", report.story);
    assert!(report.story[2].text.contains("SHA-256 [withheld]"), "{:?}", report.story);
    assert_eq!((report.story.len(), report.unproven), (4, vec!["documents[0]".to_owned()]));
}

#[test]
fn keys_that_the_reader_trusts_are_demanded() {
    let file = bundle().to_json().to_string();
    let judge = |keys: &[VerifierKey]| {
        verify(&TestCrypto, file.as_bytes(), keys)
            .map(|report| report.key_is_trusted)
            .map_err(|fault| (fault.code, fault.place))
    };
    let (log, witness) = (key_of(ORIGIN, Algorithm::Ed25519, 1), key_of("w.example", Algorithm::Cosignature, 2));
    let (other, absent) = (key_of(ORIGIN, Algorithm::Ed25519, 9), key_of("v.example", Algorithm::Cosignature, 3));
    assert_eq!(judge(&[other.clone(), log.clone(), witness.clone()]), Ok(true));
    assert_eq!(judge(&[witness]), Ok(false));
    assert_eq!(judge(&[other]), Err((Code::WrongKey, "key".to_owned())));
    assert_eq!(judge(&[log, absent]), Err((Code::WrongKey, "witnesses".to_owned())));
}

#[test]
fn the_first_thing_wrong_is_named_with_its_place() {
    let other_key = key_of(ORIGIN, Algorithm::Ed25519, 9).to_string();
    let other_name = key_of("other.example", Algorithm::Ed25519, 1).to_string();
    let unknown = format!("a+00000000+{}", STANDARD.encode([6; 33]));
    let cosigning = key_of(ORIGIN, Algorithm::Cosignature, 1).to_string();
    let cases: Vec<(Bundle, &str, &str)> = vec![
        (with(|b| b.key = "none".into()), "bad-key", "key"),
        (with(|b| b.key = unknown.clone()), "unknown-algorithm", "key"),
        (with(|b| b.key = cosigning), "bad-key", "key"),
        (with(|b| b.key = other_key), "signature", "checkpoint"),
        (with(|b| b.key = other_name), "bad-checkpoint", "checkpoint"),
        (with(|b| b.witnesses[0] = unknown), "unknown-algorithm", "witnesses[0]"),
        (with(|b| b.witnesses.push(b.witnesses[0].clone())), "bad-key", "witnesses[1]"),
        (with(|b| b.witnesses.clear()), "signature", "checkpoint"),
        (with(|b| b.checkpoint = b.checkpoint.replacen("301", "302", 1)), "signature", "checkpoint"),
        (with(|b| b.checkpoint = b.checkpoint.replacen("301", "x", 1)), "bad-checkpoint", "checkpoint"),
        (with(|b| b.checkpoint.clear()), "bad-checkpoint", "checkpoint"),
        (with(|b| b.leaves.swap(0, 1)), "order", "leaves[1].index"),
        (with(|b| b.leaves[1].index = 5), "inclusion", "leaves[1]"),
        (with(|b| b.leaves[3].index = 301), "inclusion", "leaves[3]"),
        (
            with(|b| b.leaves[2].leaf = b.leaves[2].leaf.replace("\"uses_left\":0", "\"uses_left\":1")),
            "inclusion",
            "leaves[2]",
        ),
        (with(|b| b.leaves[2].path[4][0] ^= 1), "inclusion", "leaves[2]"),
        (with(|b| b.leaves[2].path.truncate(3)), "inclusion", "leaves[2]"),
        (with(|b| b.project = "other".into()), "bad-leaf", "leaves[0].leaf"),
        (with(|b| drop(b.leaves[1].openings.remove("reason"))), "openings", "leaves[1].openings"),
        (
            with(|b| drop(b.leaves[3].openings.insert("more".into(), Disclosed::Erased))),
            "openings",
            "leaves[3].openings",
        ),
        (
            with(|b| {
                drop(
                    b.leaves[1]
                        .openings
                        .insert("reason".into(), Disclosed::Opened { salt: [6; 16], value: "\"yes\"".into() }),
                )
            }),
            "commitment",
            "leaves[1].openings.reason",
        ),
        (with(|b| b.documents[0].text = b.documents[0].text.replace("82", "83")), "document", "documents[0]"),
        (with(|b| b.documents[0].leaf = 4), "document", "documents[0]"),
        (with(|b| b.documents[0].leaf = 5), "document", "documents[0]"),
        (with(|b| b.subject.id = "dec_2".into()), "subject", "subject"),
        (with(|b| b.subject.kind = SubjectKind::Session), "subject", "subject"),
    ];
    for (spoilt, code, place) in cases {
        assert_eq!(
            judge(&spoilt).map_err(|(code, place)| (code.to_owned(), place)),
            Err((code.to_owned(), place.to_owned()))
        );
    }
}

#[test]
fn what_is_no_bundle_is_refused() {
    let good = bundle().to_json().to_string();
    let cases: Vec<(String, &str, &str)> = vec![
        (String::new(), "not-json", "bundle"),
        (good[..good.len() - 1].to_owned(), "not-json", "bundle"),
        (format!("{good} x"), "not-json", "bundle"),
        (good.replacen("\"index\":3,", "\"index\":3,\"index\":3,", 1), "not-json", "bundle"),
        (good.replacen("\"index\":3,", "\"index\":3.0,", 1), "not-json", "bundle"),
        (good.replacen("\"index\":3,", "\"index\":-3,", 1), "not-json", "bundle"),
        (good.replacen("\"index\":3,", "\"index\":-0,", 1), "not-json", "bundle"),
        (good.replacen("\"index\":3,", "\"index\":9007199254740992,", 1), "not-json", "bundle"),
        (
            good.replacen("\"index\":3,", &format!("\"index\":{}{},", "[".repeat(70), "]".repeat(70)), 1),
            "not-json",
            "bundle",
        ),
        ("[]".to_owned(), "other-format", "format"),
        ("{}".to_owned(), "other-format", "format"),
        (good.replacen(FORMAT, "another", 1), "other-format", "format"),
        (good.replacen("\"version\":1", "\"version\":2", 1), "other-version", "version"),
        (good.replacen("\"version\":1", "\"version\":\"1\"", 1), "other-version", "version"),
        (good.replacen("\"version\":1", "\"version\":1,\"more\":1", 1), "form", "bundle"),
        (good.replacen("\"project\":\"acme\"", "\"project\":\"\"", 1), "form", "project"),
        (good.replacen("\"kind\":\"decision\"", "\"kind\":\"other\"", 1), "form", "subject.kind"),
        (good.replacen("\"index\":3", "\"index\":\"3\"", 1), "form", "leaves[0].index"),
        (good.replacen("\"index\":3", "\"index\":3,\"more\":1", 1), "form", "leaves[0]"),
        (good.replacen("\"salt\":\"0606", "\"salt\":\"06", 1), "form", "leaves[0].openings.action.salt"),
    ];
    for (spoilt, code, place) in cases {
        assert_ne!(spoilt, good, "{code} {place}");
        assert_eq!(
            judge_bytes(spoilt.as_bytes()).map_err(|(code, place)| (code.to_owned(), place)),
            Err((code.to_owned(), place.to_owned()))
        );
    }
    assert_eq!(judge_bytes(&vec![b' '; MAX_BYTES + 1]), wrong("too-large", "bundle"));
    assert_eq!(judge_bytes(b"\xff"), wrong("not-json", "bundle"));
}

#[test]
fn no_byte_of_a_file_can_be_changed_unnoticed() {
    let file = bundle().to_json().to_string();
    for at in 0..file.len() {
        let mut spoilt = file.clone().into_bytes();
        spoilt[at] ^= 1 << (at % 8);
        let judged = judge_bytes(&spoilt);
        assert!(judged.is_err(), "byte {at}, {:?}: {judged:?}", &file[at.saturating_sub(20)..at + 1]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_the_verifier_panic(
        at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        insert in prop::collection::vec(any::<u8>(), 0..6),
    ) {
        let mut file = bundle().to_json().to_string().into_bytes();
        let at = at.index(file.len());
        file.splice(at..(at + cut.index(8)).min(file.len()), insert);
        let _ = judge_bytes(&file);
    }
}

/// docs/EVIDENCE.md has the same templates: a second implementation is written from it.
#[test]
fn the_templates_are_those_of_the_document() {
    let document = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/EVIDENCE.md")).unwrap();
    let expected: String = TEMPLATES
        .iter()
        .map(|(event_type, clauses)| {
            format!("{event_type}\n{}", clauses.iter().map(|clause| format!("  {clause:?}\n")).collect::<String>())
        })
        .collect();
    assert!(
        document.contains(&format!("```templates\n{expected}```")),
        "the templates of docs/EVIDENCE.md should be\n{expected}"
    );
}
