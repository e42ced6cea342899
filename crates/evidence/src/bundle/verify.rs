//! The checks of a bundle, in the order of docs/EVIDENCE.md. The first that fails is reported.

use super::{
    Bundle, Code, Disclosed, Document, Fault, ProvenLeaf,
    leaf::{EvidenceLeaf, commitment},
    story::{self, Member, ReadLeaf, Sentence},
};
use crate::{
    checkpoint::Checkpoint,
    crypto::Crypto,
    json::{self, Numbers},
    merkle,
    note::{Algorithm, BadKey, Note, VerifierKey},
};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a bundle proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub origin: String,
    pub size: u64,
    /// Whether the log's key is one that the caller trusts; otherwise it is only the bundle's own.
    pub key_is_trusted: bool,
    /// The witnesses with the times of their cosignatures, in seconds since 1970.
    pub cosigned: Vec<(String, u64)>,
    pub story: Vec<Sentence>,
    /// What the bundle says without proof, because the leaf's member was erased or withheld.
    pub unproven: Vec<String>,
}

/// Verifies a file. Of the trusted keys, one of a log must be the bundle's (if any is given), and every one of a witness
/// must have cosigned.
pub fn verify(crypto: &impl Crypto, bytes: &[u8], trusted: &[VerifierKey]) -> Result<Report, Fault> {
    let bundle = Bundle::parse(bytes)?;
    let keys = Keys::of(crypto, &bundle)?;
    let key_is_trusted = keys.check(trusted)?;
    let (checkpoint, cosigned) = keys.checkpoint(crypto, &bundle)?;
    let leaves = leaves(crypto, &bundle, &checkpoint)?;
    let mut told = story::of(&leaves);
    let mut unproven = Vec::new();
    for (number, document) in bundle.documents.iter().enumerate() {
        match examine(crypto, document, &leaves) {
            Ok(Some(sentence)) => told.push(sentence),
            Ok(None) => unproven.push(format!("documents[{number}]")),
            Err(why) => return Err(Fault::new(Code::Document, format!("documents[{number}]"), why)),
        }
    }
    if !subject_is_proven(&bundle, &leaves)? {
        unproven.push("subject".to_owned());
    }
    let Checkpoint { origin, size, .. } = checkpoint;
    Ok(Report { origin, size, key_is_trusted, cosigned, story: told, unproven })
}

/// The log's key, and those of its witnesses.
struct Keys {
    log: VerifierKey,
    witnesses: Vec<VerifierKey>,
}

impl Keys {
    fn of(crypto: &impl Crypto, bundle: &Bundle) -> Result<Self, Fault> {
        let log = key(crypto, "key", &bundle.key, Algorithm::Ed25519)?;
        let mut witnesses: Vec<VerifierKey> = Vec::new();
        for (number, text) in bundle.witnesses.iter().enumerate() {
            let place = format!("witnesses[{number}]");
            let witness = key(crypto, &place, text, Algorithm::Cosignature)?;
            if witnesses.contains(&witness) {
                return Err(Fault::new(Code::BadKey, place, "the key stands here twice"));
            }
            witnesses.push(witness);
        }
        Ok(Self { log, witnesses })
    }

    /// Compares them with the trusted ones.
    fn check(&self, trusted: &[VerifierKey]) -> Result<bool, Fault> {
        let wrong = |place: &str, why: String| Err(Fault::new(Code::WrongKey, place, why));
        let mut logs = trusted.iter().filter(|key| key.algorithm == Algorithm::Ed25519).peekable();
        let given = logs.peek().is_some();
        if given && !logs.any(|key| *key == self.log) {
            return wrong(
                "key",
                format!("the bundle is of the log {}, with a key that you did not name", self.log.name),
            );
        }
        let mut witnesses = trusted.iter().filter(|key| key.algorithm == Algorithm::Cosignature);
        if let Some(absent) = witnesses.find(|key| !self.witnesses.contains(key)) {
            return wrong("witnesses", format!("the witness {} did not cosign", absent.name));
        }
        Ok(given)
    }

    /// Every signature line is by one of the keys, and each key has exactly one.
    fn checkpoint(&self, crypto: &impl Crypto, bundle: &Bundle) -> Result<(Checkpoint, Vec<(String, u64)>), Fault> {
        let bad = |why: String| Fault::new(Code::BadCheckpoint, "checkpoint", why);
        let note = Note::parse(bundle.checkpoint.as_bytes()).map_err(|why| bad(why.to_string()))?;
        let checkpoint = Checkpoint::parse(&note.text).map_err(|why| bad(why.to_string()))?;
        if checkpoint.origin != self.log.name {
            return Err(bad(format!("it is of the log {}, and the key of {}", checkpoint.origin, self.log.name)));
        }
        let unsigned = |why: &str| Fault::new(Code::Signature, "checkpoint", why);
        let all: Vec<VerifierKey> = std::iter::once(&self.log).chain(&self.witnesses).cloned().collect();
        if note.signatures.len() != all.len() {
            return Err(unsigned("it has more or fewer signatures than the bundle has keys"));
        }
        let valid = note.verify(crypto, &all).map_err(|why| unsigned(&why.to_string()))?;
        if valid.len() != all.len() {
            return Err(unsigned("a key of the bundle did not sign it"));
        }
        let cosigned = self.witnesses.iter().filter_map(|witness| {
            let (_, time) = valid.iter().find(|(key, _)| *key == witness)?;
            Some((witness.name.clone(), (*time)?))
        });
        Ok((checkpoint, cosigned.collect()))
    }
}

fn key(crypto: &impl Crypto, place: &str, text: &str, algorithm: Algorithm) -> Result<VerifierKey, Fault> {
    let key = VerifierKey::parse(crypto, text).map_err(|why| match why {
        BadKey::Algorithm => Fault::new(Code::UnknownAlgorithm, place, why.to_string()),
        BadKey::Form | BadKey::Id => Fault::new(Code::BadKey, place, why.to_string()),
    })?;
    match key.algorithm == algorithm {
        true => Ok(key),
        false => Err(Fault::new(Code::BadKey, place, "it is a key for another purpose")),
    }
}

fn leaves(crypto: &impl Crypto, bundle: &Bundle, checkpoint: &Checkpoint) -> Result<Vec<ReadLeaf>, Fault> {
    let mut read: Vec<ReadLeaf> = Vec::new();
    for (number, proven) in bundle.leaves.iter().enumerate() {
        let place = format!("leaves[{number}]");
        if read.last().is_some_and(|before| before.index >= proven.index) {
            return Err(Fault::new(Code::Order, format!("{place}.index"), "the leaves are not in the log's order"));
        }
        let hash = merkle::leaf_hash(crypto, proven.leaf.as_bytes());
        let tree = (checkpoint.size, &checkpoint.root);
        merkle::inclusion(crypto, &hash, proven.index, tree, &proven.path).map_err(|why| {
            Fault::new(Code::Inclusion, place.clone(), format!("entry {} is not in the log: {why}", proven.index))
        })?;
        let leaf = EvidenceLeaf::parse(&proven.leaf).filter(|leaf| leaf.project == bundle.project);
        let unread = || Fault::new(Code::BadLeaf, format!("{place}.leaf"), "it is no evidence leaf of this project");
        read.push(opened(crypto, &place, proven, leaf.ok_or_else(unread)?)?);
    }
    Ok(read)
}

/// The leaf with all of its members that the bundle proves.
fn opened(crypto: &impl Crypto, place: &str, proven: &ProvenLeaf, leaf: EvidenceLeaf) -> Result<ReadLeaf, Fault> {
    let place = format!("{place}.openings");
    if !leaf.commitments.keys().eq(proven.openings.keys()) {
        return Err(Fault::new(Code::Openings, place, "they are not those of the leaf's commitments"));
    }
    let mut members: BTreeMap<String, Member> =
        leaf.open.into_iter().map(|(name, value)| (name, Member::Known(value))).collect();
    for ((name, expected), disclosed) in leaf.commitments.iter().zip(proven.openings.values()) {
        let unfit = |why: &str| Fault::new(Code::Commitment, format!("{place}.{name}"), why);
        let member = match disclosed {
            Disclosed::Erased => Member::Erased,
            Disclosed::Withheld => Member::Withheld,
            Disclosed::Opened { salt, value } if commitment(crypto, name, salt, value) == *expected => {
                Member::Known(json::value(value, Numbers::Any).map_err(|_| unfit("its value is not JSON"))?)
            }
            Disclosed::Opened { .. } => return Err(unfit("it is not the value that the leaf commits to")),
        };
        members.insert(name.clone(), member);
    }
    Ok(ReadLeaf { index: proven.index, event_type: leaf.event_type, timestamp: leaf.timestamp, members })
}

/// The sentence about a document with the digest in its leaf; none if that member was erased or withheld.
fn examine(crypto: &impl Crypto, document: &Document, leaves: &[ReadLeaf]) -> Result<Option<Sentence>, String> {
    let leaf = leaves.iter().find(|leaf| leaf.index == document.leaf);
    let leaf = leaf.ok_or_else(|| format!("the bundle has no entry {}", document.leaf))?;
    let digest = match leaf.members.get(&document.member) {
        Some(Member::Known(Value::String(digest))) => digest,
        Some(Member::Erased | Member::Withheld) => return Ok(None),
        _ => return Err(format!("entry {} has no digest {}", leaf.index, document.member)),
    };
    if hex::encode(crypto.sha256(&[document.text.as_bytes()])) != *digest {
        return Err(format!("it is not the text with the digest {} of entry {}", document.member, leaf.index));
    }
    Ok(Some(story::of_document(document)))
}

/// Whether a leaf has the subject's id. False if the members that may have it were erased or withheld.
fn subject_is_proven(bundle: &Bundle, leaves: &[ReadLeaf]) -> Result<bool, Fault> {
    let member = bundle.subject.kind.member();
    let named: Vec<&Member> = leaves.iter().filter_map(|leaf| leaf.members.get(member)).collect();
    if named.iter().any(|member| matches!(member, Member::Known(Value::String(id)) if *id == bundle.subject.id)) {
        return Ok(true);
    }
    match named.iter().any(|member| matches!(member, Member::Erased | Member::Withheld)) {
        true => Ok(false),
        false => Err(Fault::new(Code::Subject, "subject", "no entry of the bundle is about it")),
    }
}
