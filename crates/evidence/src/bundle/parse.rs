//! The form of a bundle: all members and no others, each of its type.

use super::{
    Bundle, Code, Disclosed, Document, FORMAT, Fault, MAX_BYTES, MAX_DOCUMENTS, MAX_LEAVES, MAX_WITNESSES, ProvenLeaf,
    Subject, SubjectKind, VERSION,
};
use crate::{
    crypto::Hash,
    json::{self, Numbers},
    witness,
};
use serde_json::{Map, Value};

/// A tree of 2^63 leaves has no longer path.
const MAX_PATH: usize = 63;

pub(super) fn bundle(bytes: &[u8]) -> Result<Bundle, Fault> {
    if bytes.len() > MAX_BYTES {
        return Err(Fault::new(Code::TooLarge, "bundle", format!("it is larger than {MAX_BYTES} bytes")));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| Fault::new(Code::NotJson, "bundle", "it is not UTF-8 text"))?;
    let value = json::value(text, Numbers::Counts)
        .map_err(|why| Fault::new(Code::NotJson, "bundle", format!("it is not valid JSON: {why}")))?;
    let file = value.as_object().filter(|file| file.get("format").and_then(Value::as_str) == Some(FORMAT));
    let file = file.ok_or_else(|| Fault::new(Code::OtherFormat, "format", "it is no evidence bundle"))?;
    if file.get("version").and_then(Value::as_u64) != Some(VERSION) {
        return Err(Fault::new(Code::OtherVersion, "version", format!("only version {VERSION} is known here")));
    }
    let place = Place(String::new());
    place.closed(
        file,
        &["format", "version", "project", "subject", "key", "witnesses", "checkpoint", "leaves", "documents"],
    )?;
    Ok(Bundle {
        project: place.nonempty(file, "project")?,
        subject: subject(file)?,
        key: place.text(file, "key")?,
        witnesses: place.list(file, "witnesses", 0..=MAX_WITNESSES, |place, one| place.string(one))?,
        checkpoint: place.text(file, "checkpoint")?,
        leaves: place.list(file, "leaves", 1..=MAX_LEAVES, leaf)?,
        documents: place.list(file, "documents", 0..=MAX_DOCUMENTS, document)?,
    })
}

fn subject(file: &Map<String, Value>) -> Result<Subject, Fault> {
    let place = Place("subject".into());
    let members = place.object(file.get("subject"))?;
    place.closed(members, &["kind", "id"])?;
    let kind = members.get("kind").and_then(Value::as_str);
    let kind = SubjectKind::ALL.into_iter().find(|known| Some(known.as_str()) == kind);
    let kind =
        kind.ok_or_else(|| place.member("kind").wrong("it is not decision, session, delegation or execution"))?;
    Ok(Subject { kind, id: place.nonempty(members, "id")? })
}

fn leaf(place: &Place, value: &Value) -> Result<ProvenLeaf, Fault> {
    let members = place.object(Some(value))?;
    place.closed(members, &["index", "leaf", "path", "openings"])?;
    let index = place.count(members, "index")?;
    let leaf = place.text(members, "leaf")?;
    let path = place.list(members, "path", 0..=MAX_PATH, hash)?;
    let at = place.member("openings");
    let mut openings: Vec<(&String, &Value)> = at.object(members.get("openings"))?.iter().collect();
    openings.sort_by_key(|(name, _)| *name);
    let openings = openings.into_iter().map(|(name, value)| Ok((name.clone(), disclosed(&at.member(name), value)?)));
    Ok(ProvenLeaf { index, leaf, path, openings: openings.collect::<Result<_, Fault>>()? })
}

fn hash(place: &Place, value: &Value) -> Result<Hash, Fault> {
    let hash = value.as_str().and_then(witness::hash);
    hash.ok_or_else(|| place.wrong("it is not a SHA-256 digest in base64"))
}

fn disclosed(place: &Place, value: &Value) -> Result<Disclosed, Fault> {
    match value {
        Value::String(word) if word == "erased" => return Ok(Disclosed::Erased),
        Value::String(word) if word == "withheld" => return Ok(Disclosed::Withheld),
        _ => (),
    }
    let members = place.object(Some(value))?;
    place.closed(members, &["salt", "value"])?;
    let salt = members.get("salt").and_then(Value::as_str).and_then(lower_hex);
    let salt = salt.ok_or_else(|| place.member("salt").wrong("it is not 32 hexadecimal digits"))?;
    Ok(Disclosed::Opened { salt, value: place.text(members, "value")? })
}

/// Bytes in lower-case hex.
pub(super) fn lower_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    (hex::encode(bytes) == text).then_some(bytes)
}

fn document(place: &Place, value: &Value) -> Result<Document, Fault> {
    let members = place.object(Some(value))?;
    place.closed(members, &["leaf", "member", "text"])?;
    Ok(Document {
        leaf: place.count(members, "leaf")?,
        member: place.nonempty(members, "member")?,
        text: place.text(members, "text")?,
    })
}

/// A place in the file, for faults.
struct Place(String);

impl Place {
    fn wrong(&self, why: &str) -> Fault {
        let place = if self.0.is_empty() { "bundle" } else { &self.0 };
        Fault::new(Code::Form, place, why)
    }

    fn member(&self, name: &str) -> Self {
        Self(if self.0.is_empty() { name.to_owned() } else { format!("{}.{name}", self.0) })
    }

    /// All of these members, and no others.
    fn closed(&self, members: &Map<String, Value>, names: &[&str]) -> Result<(), Fault> {
        if let Some(missing) = names.iter().find(|name| !members.contains_key(**name)) {
            return Err(self.wrong(&format!("the member {missing} is missing")));
        }
        if members.len() > names.len() {
            return Err(self.wrong("it has a member that this version does not know"));
        }
        Ok(())
    }

    fn object<'v>(&self, value: Option<&'v Value>) -> Result<&'v Map<String, Value>, Fault> {
        value.and_then(Value::as_object).ok_or_else(|| self.wrong("it is not an object"))
    }

    fn string(&self, value: &Value) -> Result<String, Fault> {
        value.as_str().map(str::to_owned).ok_or_else(|| self.wrong("it is not a string"))
    }

    fn text(&self, members: &Map<String, Value>, name: &str) -> Result<String, Fault> {
        self.member(name).string(members.get(name).unwrap_or(&Value::Null))
    }

    fn nonempty(&self, members: &Map<String, Value>, name: &str) -> Result<String, Fault> {
        let text = self.text(members, name)?;
        if text.is_empty() { Err(self.member(name).wrong("it is empty")) } else { Ok(text) }
    }

    fn count(&self, members: &Map<String, Value>, name: &str) -> Result<u64, Fault> {
        members.get(name).and_then(Value::as_u64).ok_or_else(|| self.member(name).wrong("it is not a number"))
    }

    fn list<T>(
        &self,
        members: &Map<String, Value>,
        name: &str,
        length: std::ops::RangeInclusive<usize>,
        read: impl Fn(&Self, &Value) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let at = self.member(name);
        let items = members.get(name).and_then(Value::as_array).filter(|items| length.contains(&items.len()));
        let items = items.ok_or_else(|| at.wrong(&format!("it is not a list of {length:?} items")))?;
        let numbered = items.iter().enumerate();
        numbered.map(|(number, item)| read(&Self(format!("{}[{number}]", at.0)), item)).collect()
    }
}
