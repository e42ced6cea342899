//! The verifier in Python, written from docs/EVIDENCE.md, agrees about every bundle: sound, spoilt or malicious.

use super::{tests, *};
use crate::test_crypto::TestCrypto;
use std::{fs, path::Path, process::Command};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// A reproducible sequence of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// The judgement in the words of the Python verifier.
fn ours(bytes: &[u8]) -> Value {
    match verify(&TestCrypto, bytes, &[]) {
        Ok(Report { origin, size, key_is_trusted, cosigned, story, unproven }) => json!({
            "verdict": "ok",
            "origin": origin,
            "size": size,
            "trusted": key_is_trusted,
            "cosigned": cosigned,
            "story": story.iter().map(|told| json!([told.text, told.leaves])).collect::<Vec<_>>(),
            "unproven": unproven,
        }),
        Err(fault) => json!({ "verdict": "wrong", "code": fault.code.as_str(), "place": fault.place }),
    }
}

fn judged_by_python(files: &[Vec<u8>]) -> Vec<Value> {
    let lines: String = files.iter().map(|file| format!("{}\n", json!({ "base64": STANDARD.encode(file) }))).collect();
    let path = std::env::temp_dir().join(format!("countersign-bundles-{}", std::process::id()));
    fs::write(&path, lines).unwrap();
    let python = Path::new(ROOT).join(".venv/bin/python");
    let tool = Path::new(ROOT).join("tests/tools/verify_evidence.py");
    let run = Command::new(&python).arg(tool).arg("--lines").arg(&path).output();
    let run = run.unwrap_or_else(|why| panic!("{}: {why}; run ./test --prepare", python.display()));
    fs::remove_file(path).unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    run.stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// Any value of the file, replaced, removed, doubled or moved.
fn change_structure(file: &mut Value, numbers: &mut Numbers) {
    let odd = [
        json!(null),
        json!(true),
        json!(0),
        json!(7),
        json!(""),
        json!("erased"),
        json!("AAAA"),
        json!([]),
        json!({}),
        json!([[[1]]]),
    ];
    match file {
        Value::Object(members) if !members.is_empty() && numbers.below(8) > 0 => {
            let name = members.keys().nth(numbers.below(members.len())).unwrap().clone();
            match numbers.below(12) {
                0 => drop(members.remove(&name)),
                1 => drop(members.insert(format!("{name}x"), json!(1))),
                _ => change_structure(members.get_mut(&name).unwrap(), numbers),
            }
        }
        Value::Array(items) if !items.is_empty() && numbers.below(8) > 0 => {
            let at = numbers.below(items.len());
            match numbers.below(12) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                2 => items.swap(0, at),
                _ => change_structure(&mut items[at], numbers),
            }
        }
        Value::String(text) if !text.is_empty() && numbers.below(8) > 0 => {
            let letters: Vec<char> = text.chars().collect();
            let at = numbers.below(letters.len());
            let other = ['0', 'a', 'A', '=', '+', '\n', ' ', '"', '\u{202e}', '—', '\u{1f}', '{'][numbers.below(12)];
            *text = letters.iter().enumerate().map(|(n, letter)| if n == at { other } else { *letter }).collect();
        }
        Value::Number(number) if numbers.below(4) > 0 => {
            *file =
                json!(number.as_u64().unwrap_or_default().wrapping_add([1, 2, 1 << 40, u64::MAX][numbers.below(4)]));
        }
        _ => *file = odd[numbers.below(odd.len())].clone(),
    }
}

fn change_bytes(file: &mut Vec<u8>, numbers: &mut Numbers) {
    let at = numbers.below(file.len());
    match numbers.below(4) {
        0 => file[at] ^= 1 << numbers.below(8),
        1 => drop(file.remove(at)),
        2 => file.insert(at, b"0\"{}[]\\,:-\x00\xff"[numbers.below(12)]),
        _ => file.truncate(at),
    }
}

/// Sound in every proof, with leaves that a strange log may have.
fn malicious() -> Vec<Bundle> {
    let texts = [
        "",
        "[]",
        "{}",
        "null",
        "not json",
        r#"{"commitments":{},"event_type":"x y","project":"acme","timestamp":"t","v":1}"#,
        r#"{"commitments":{},"event_type":"call","method":"G","outcome":1.5,"path":[1],"project":"acme","timestamp":"","v":1}"#,
        r#"{"commitments":{},"action":["a","b c"],"effect":-3,"event_type":"call","outcome":null,"project":"acme","timestamp":"t","v":1}"#,
        r#"{"commitments":{},"event_type":"call","outcome":9007199254740992,"project":"acme","timestamp":"t","v":1}"#,
        r#"{"commitments":{},"event_type":"call","outcome":{},"project":"acme","timestamp":"“”\u2066","v":1}"#,
        r#"{"commitments":{},"event_type":"call","project":"acme","timestamp":"t","v":1.0}"#,
        r#"{"commitments":{},"event_type":"call","project":"acme","timestamp":"t","v":true}"#,
        r#"{"commitments":{},"event_type":"call","project":"acme","timestamp":"t","v":2}"#,
        r#"{"commitments":{},"event_type":"call","project":"other","timestamp":"t","v":1}"#,
        r#"{"commitments":{},"event_type":"call","project":"acme","timestamp":1,"v":1}"#,
        r#"{"commitments":{"a":"00"},"event_type":"call","project":"acme","timestamp":"t","v":1}"#,
        r#"{"commitments":[],"event_type":"call","project":"acme","timestamp":"t","v":1}"#,
        r#"{"event_type":"call","project":"acme","timestamp":"t","v":1}"#,
        r#"{"commitments":{},"event_type":"call","event_type":"call","project":"acme","timestamp":"t","v":1}"#,
        r#"{"commitments":{},"decision_id":"dec_1","event_type":"execution_claimed","project":"acme","request_sha256":"b","timestamp":"t","v":1}"#,
        r#"{"action_sha256":"a","commitments":{},"decision_id":"dec_1","event_type":"decision_raised","project":"acme","timestamp":"t","v":1}"#,
    ];
    let long = format!(
        r#"{{"commitments":{{}},"event_type":"call","outcome":"{}","project":"acme","timestamp":"t","v":1}}"#,
        "é".repeat(2_001)
    );
    let decision = texts[texts.len() - 1];
    let claim = texts[texts.len() - 2];
    let alone = texts.iter().map(|text| tests::bundle_of(&[text]));
    alone.chain([tests::bundle_of(&[&long, decision, claim]), tests::bundle_of(&[claim, decision, texts[5]])]).collect()
}

#[test]
fn both_verifiers_say_the_same_about_sound_spoilt_and_malicious_bundles() {
    let (whole, mut numbers) = (tests::bundle(), Numbers(7));
    let mut erased = whole.clone();
    erased.leaves[0].openings.values_mut().for_each(|opening| *opening = Disclosed::Erased);
    let mut files: Vec<Vec<u8>> = [whole.clone(), erased]
        .iter()
        .chain(&malicious())
        .map(|bundle| bundle.to_json().to_string().into_bytes())
        .collect();
    let odd: [&[u8]; 8] = [
        b"",
        b"{}",
        b"\xef\xbb\xbf{}",
        b"\"\\ud800\"",
        b"NaN",
        b"[1e999]",
        b"-0",
        b"{\"format\":\"countersign-evidence-bundle\",\"version\":true}",
    ];
    files.extend(odd.map(<[u8]>::to_vec));
    for number in 0..3_000 {
        let mut file = whole.to_json();
        files.push(match number % 3 {
            0 => {
                let mut bytes = file.to_string().into_bytes();
                change_bytes(&mut bytes, &mut numbers);
                bytes
            }
            _ => {
                change_structure(&mut file, &mut numbers);
                file.to_string().into_bytes()
            }
        });
    }
    let theirs = judged_by_python(&files);
    assert_eq!(theirs.len(), files.len());
    let mut codes = std::collections::BTreeSet::new();
    for (file, theirs) in files.iter().zip(&theirs) {
        let ours = ours(file);
        codes.extend(ours["code"].as_str().map(str::to_owned));
        assert_eq!(&ours, theirs, "{}", String::from_utf8_lossy(file));
    }
    assert!(codes.len() >= 15, "only these faults were tried: {codes:?}");
}

#[test]
fn a_bundle_is_valid_by_its_schema() {
    let schema = fs::read(Path::new(ROOT).join("docs/schemas/evidence/bundle.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator.iter_errors(&tests::bundle().to_json()).map(|why| why.to_string()).collect();
    assert_eq!(errors, [""; 0]);
    let mut spoilt = tests::bundle().to_json();
    spoilt["leaves"][0]["path"][0] = json!("AAAA");
    assert!(!validator.is_valid(&spoilt));
}

/// An example for other verifiers, and the one of the command line's tests.
#[test]
fn the_example_of_the_repository_is_this_bundle() {
    let example = fs::read_to_string(Path::new(ROOT).join("tests/data/evidence/bundle.json")).unwrap_or_default();
    let expected = format!("{}\n", serde_json::to_string_pretty(&tests::bundle().to_json()).unwrap());
    assert!(example == expected, "tests/data/evidence/bundle.json should be\n{expected}");
}
