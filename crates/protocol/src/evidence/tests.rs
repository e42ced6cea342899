use super::{LeafMembers, Opening, commitment, leaf_hash};
use crate::canonical;
use serde_json::{Map, Value, json};

fn sealed(open: &[(&'static str, Value)], hidden: &[(&'static str, Value)]) -> super::Leaf {
    let mut members = LeafMembers::new();
    open.iter().for_each(|(name, value)| members.open(name, value));
    hidden.iter().for_each(|(name, value)| members.hidden(name, value));
    members.seal(|| [7; 16]).unwrap()
}

///
#[test]
fn a_leaf_is_the_canonical_form_of_its_members_and_commitments_and_opens_to_its_hidden_values() {
    let open = [("zoo", json!(["a\u{1}\"\\ü", null, -4])), ("at", json!(1.5)), ("map", json!({"ß": true, "b": {}}))];
    let hidden = [("who", json!("Zoë \u{202e}")), ("list", json!([])), ("amount", json!(9_007_199_254_740_991_i64))];
    let leaf = sealed(&open, &hidden);
    let mut expected: Map<String, Value> = open.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
    let commitments: Map<String, Value> = hidden
        .iter()
        .map(|(name, value)| ((*name).to_owned(), commitment(name, &[7; 16], value).unwrap().hex().into()))
        .collect();
    expected.insert("v".into(), 1.into());
    expected.insert("commitments".into(), commitments.into());
    assert_eq!(leaf.bytes, canonical::to_vec(&expected).unwrap());
    assert_eq!(leaf.hash, leaf_hash(&leaf.bytes));
    let openings: Map<String, Value> = serde_json::from_str(&leaf.openings.unwrap()).unwrap();
    assert_eq!(openings.len(), hidden.len());
    for (name, value) in hidden {
        let opening: Opening = serde_json::from_value(openings[name].clone()).unwrap();
        assert_eq!((opening.salt, opening.value), (hex::encode([7; 16]), value));
    }
}

#[test]
fn plain_values_are_written_like_values_of_json() {
    let (mut members, text) = (LeafMembers::new(), "a\nb\u{7f}\u{2028}\"");
    members.open("text", text);
    members.open("owned", text.to_owned());
    members.open("list", vec![text, ""]);
    members.open("none", Vec::<String>::new());
    members.open("yes", true);
    members.open("least", -9_007_199_254_740_991_i64);
    members.open("byte", 255_u8);
    members.open("size", 3_usize);
    members.open("ratio", 0.1);
    members.open("no_number", f64::NAN);
    let values = json!({
        "text": text, "owned": text, "list": [text, ""], "none": [], "yes": true, "least": -9_007_199_254_740_991_i64,
        "byte": 255, "size": 3, "ratio": 0.1, "no_number": null, "v": 1, "commitments": {},
    });
    let leaf = members.seal(|| [0; 16]).unwrap();
    assert_eq!(String::from_utf8(leaf.bytes).unwrap(), String::from_utf8(canonical::to_vec(&values).unwrap()).unwrap());
    assert_eq!(leaf.openings, None);
}

#[test]
fn of_two_members_with_one_name_the_later_counts() {
    let twice = sealed(&[("a", json!(1)), ("b", json!(2)), ("a", json!(3))], &[("h", json!(1)), ("h", json!(2))]);
    let once = sealed(&[("b", json!(2)), ("a", json!(3))], &[("h", json!(2))]);
    assert_eq!(twice, once);
}

///
#[test]
fn a_number_without_a_canonical_form_makes_no_leaf() {
    for beyond in [9_007_199_254_740_992_i64, i64::MIN] {
        let (mut open, mut hidden) = (LeafMembers::new(), LeafMembers::new());
        open.open("n", beyond);
        hidden.hidden("n", vec![json!({"n": beyond})]);
        assert!(open.seal(|| [0; 16]).is_err() && hidden.seal(|| [0; 16]).is_err());
    }
}
