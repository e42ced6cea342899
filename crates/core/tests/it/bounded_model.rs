//! Oracle for pattern matching: both trees as flat maps of paths, numbers as thousandths.

use crate::bounded::by_tool;
use countersign_core::bounded::{Arguments, Pattern, Units};
use countersign_protocol::bounds::{Amount, Bound};
use proptest::{collection::vec, prelude::*, sample::Index};
use serde_json::json;
use std::collections::BTreeMap;

/// JSON with numbers kept in their original spelling.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Tree {
    Null,
    Number(&'static str),
    Text(String),
    List(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

type Way = Vec<String>;

impl Tree {
    pub(crate) fn written(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match self {
            Self::Null => "null".into(),
            Self::Number(digits) => (*digits).into(),
            Self::Text(text) => json!(text).to_string(),
            Self::List(items) => format!("[ {} ]", joined(items.iter().map(Self::written).collect())),
            Self::Object(members) => {
                let member = |(name, value): &(String, Self)| format!("{} : {}", json!(name), value.written());
                format!("{{ {} }}", joined(members.iter().map(member).collect()))
            }
        }
    }

    pub(crate) fn arguments(&self) -> Arguments {
        Arguments::read(&self.written()).unwrap()
    }

    /// Every path with its leaf; lists and objects are recorded by kind only.
    fn flat(&self) -> BTreeMap<Way, Leaf> {
        let mut places = BTreeMap::new();
        self.flatten(&mut Vec::new(), &mut places);
        places
    }

    fn flatten(&self, way: &mut Way, places: &mut BTreeMap<Way, Leaf>) {
        let (leaf, below): (Leaf, Vec<(String, &Self)>) = match self {
            Self::Null => (Leaf::Null, vec![]),
            Self::Number(digits) => (Leaf::number(digits), vec![]),
            Self::Text(text) => (Leaf::Text(text.clone()), vec![]),
            Self::List(items) => {
                (Leaf::List, items.iter().enumerate().map(|(n, item)| (n.to_string(), item)).collect())
            }
            Self::Object(members) => {
                (Leaf::Object, members.iter().map(|(name, value)| (name.clone(), value)).collect())
            }
        };
        places.insert(way.clone(), leaf);
        for (step, value) in below {
            way.push(step);
            value.flatten(way, places);
            way.pop();
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Leaf {
    Null,
    Thousandths(i64),
    /// Equal to zero in comparisons, but not valid as an amount.
    MinusZero,
    Exponent(String),
    Text(String),
    List,
    Object,
}

impl Leaf {
    fn is(&self, other: &Self) -> bool {
        let plain = |leaf: &Self| if *leaf == Self::MinusZero { Self::Thousandths(0) } else { leaf.clone() };
        plain(self) == plain(other)
    }

    fn number(digits: &str) -> Self {
        match digits.parse::<f64>() {
            Ok(value) if value == 0.0 && digits.starts_with('-') => Self::MinusZero,
            // Exact: the generated numbers are small and have at most three decimal places.
            Ok(value) if !digits.contains('e') => Self::Thousandths((value * 1000.0).round() as i64),
            _ => Self::Exponent(digits.to_owned()),
        }
    }
}

/// Few leaf texts, so that generated trees often collide.
const NUMBERS: [&str; 12] = ["0", "-0", "0.0", "1", "1.0", "1.000", "10", "0.5", "-1", "1e1", "10e0", "7.25"];
const NAMES: [&str; 3] = ["a", "b", "c"];

fn leaf() -> impl Strategy<Value = Tree> {
    prop_oneof![
        1 => Just(Tree::Null),
        4 => prop::sample::select(&NUMBERS[..]).prop_map(Tree::Number),
        3 => "[xy1]{0,3}|\n|0\\.5".prop_map(Tree::Text),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    leaf().prop_recursive(3, 12, 3, |inner| prop_oneof![vec(inner.clone(), 0..3).prop_map(Tree::List), object(inner)])
}

fn object(inner: impl Strategy<Value = Tree>) -> impl Strategy<Value = Tree> {
    vec(inner, 0..4).prop_flat_map(|values| {
        let names = prop::sample::subsequence(NAMES.to_vec(), values.len().min(3)).prop_shuffle();
        names.prop_map(move |names| Tree::Object(names.into_iter().map(str::to_owned).zip(values.clone()).collect()))
    })
}

pub(crate) fn root() -> impl Strategy<Value = Tree> {
    object(tree())
}

/// Replaces one node of the tree, adds or drops a child, or reverses the children.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Put(Tree),
    Add(&'static str, Tree),
    Drop,
    Reverse,
}

pub(crate) fn changes() -> impl Strategy<Value = Vec<(Index, Change)>> {
    let change = prop_oneof![
        4 => leaf().prop_map(Change::Put),
        1 => (prop::sample::select(&NAMES[..]), leaf()).prop_map(|(name, leaf)| Change::Add(name, leaf)),
        1 => Just(Change::Drop),
        2 => Just(Change::Reverse),
    ];
    vec((any::<Index>(), change), 0..4)
}

pub(crate) fn changed(tree: &Tree, changes: &[(Index, Change)]) -> Tree {
    changes.iter().fold(tree.clone(), |mut tree, (at, change)| {
        let mut left = at.index(tree.flat().len());
        change_at(&mut tree, &mut left, change);
        if matches!(tree, Tree::Object(_)) { tree } else { Tree::Object(vec![]) }
    })
}

/// Applies the change to the node at index `left` in preorder; returns false if the index lies outside this subtree.
fn change_at(tree: &mut Tree, left: &mut usize, change: &Change) -> bool {
    if *left == 0 {
        change_here(tree, change);
        return true;
    }
    *left -= 1;
    match tree {
        Tree::List(items) => items.iter_mut().any(|item| change_at(item, left, change)),
        Tree::Object(members) => members.iter_mut().any(|(_, value)| change_at(value, left, change)),
        _ => false,
    }
}

fn change_here(tree: &mut Tree, change: &Change) {
    match (tree, change) {
        (Tree::Object(members), Change::Add(name, value)) if members.iter().all(|(known, _)| known != name) => {
            members.push(((*name).to_owned(), value.clone()));
        }
        (Tree::List(items), Change::Add(_, value)) => items.push(value.clone()),
        (Tree::Object(members), Change::Drop) => drop(members.pop()),
        (Tree::List(items), Change::Drop) => drop(items.pop()),
        (Tree::Object(members), Change::Reverse) => members.reverse(),
        (Tree::List(items), Change::Reverse) => items.reverse(),
        (Tree::Object(_) | Tree::List(_), _) => {}
        (leaf, Change::Put(other)) => *leaf = other.clone(),
        _ => {}
    }
}

/// Releases some leaves, each with a bound that contains the current value.
pub(crate) fn releases(tree: &Tree, chosen: &[(Index, u8)]) -> BTreeMap<String, Bound> {
    let leaves: Vec<_> =
        tree.flat().into_iter().filter_map(|(way, leaf)| Some((way.join("."), limits(&leaf)?))).collect();
    let one = |(at, which): &(Index, u8)| {
        let (name, limits) = leaves.get(at.index(leaves.len().max(1)))?;
        limits.get(usize::from(*which) % limits.len()).map(|bound| (name.clone(), bound.clone()))
    };
    chosen.iter().filter_map(one).collect()
}

fn limits(leaf: &Leaf) -> Option<Vec<Bound>> {
    let bounds = match leaf {
        Leaf::Thousandths(0) => {
            vec![json!({ "most": "0.5" }), json!({ "most": "0" }), json!({ "one_of": [0, 1, "x"] })]
        }
        Leaf::Thousandths(500) => vec![json!({ "least": "0.2", "most": "0.90" }), json!({ "one_of": [0.5, "0.5"] })],
        Leaf::Thousandths(1000) => vec![json!({ "most": "1" }), json!({ "least": "1.0", "most": "10" })],
        Leaf::Thousandths(10_000) => vec![json!({ "most": "10.0" }), json!({ "least": "0.7", "most": "99" })],
        Leaf::Text(text) if text == "0.5" => vec![json!({ "most": "1" }), json!({ "text": 3 })],
        Leaf::Text(text) if text != "\n" => vec![json!({ "text": 3 }), json!({ "one_of": [text, "xx", 1, null] })],
        Leaf::Null => vec![json!({ "one_of": [null, "x", 1] })],
        _ => return None,
    };
    Some(bounds.into_iter().map(|bound| serde_json::from_value(bound).unwrap()).collect())
}

/// The amounts claimed by a fitting call, in thousandths.
fn fits(was: &Tree, is: &Tree, released: &BTreeMap<String, Bound>) -> Option<BTreeMap<String, i64>> {
    let (was, is) = (was.flat(), is.flat());
    let bound_at = |way: &Way| released.get(&way.join("."));
    let within_released = |way: &Way| (1..way.len()).any(|n| bound_at(&way[..n].to_vec()).is_some());
    let mut taken = BTreeMap::new();
    if is.keys().any(|way| !was.contains_key(way) && !within_released(way)) {
        return None;
    }
    for (way, shown) in &was {
        let given = is.get(way)?;
        match bound_at(way) {
            None if !given.is(shown) => return None,
            None => {}
            Some(bound) => match allows(bound, shown, given) {
                (false, _) => return None,
                (true, Some(thousandths)) => drop(taken.insert(way.join("."), thousandths)),
                (true, None) => {}
            },
        }
    }
    Some(taken)
}

/// Whether the bound allows the value, and the amount if the value is one.
fn allows(bound: &Bound, shown: &Leaf, given: &Leaf) -> (bool, Option<i64>) {
    match (bound, shown, given) {
        (Bound::Amount { least, most, .. }, Leaf::Thousandths(_), Leaf::Thousandths(n)) => {
            (between(least, most, *n), Some(*n))
        }
        (Bound::Amount { least, most, .. }, Leaf::Text(_), Leaf::Text(text)) => {
            let plain = ["0.5", "1", "11", "111"].contains(&text.as_str());
            match Leaf::number(text) {
                Leaf::Thousandths(n) if plain => (between(least, most, n), Some(n)),
                _ => (false, None),
            }
        }
        (Bound::Amount { .. }, _, _) => (false, None),
        (Bound::Text { .. }, _, Leaf::Text(text)) => (text != "\n" && text.len() <= 3, None),
        (Bound::Text { .. }, _, _) => (false, None),
        (Bound::OneOf(choices), _, given) => {
            let same = |choice: &serde_json::Value| match given {
                Leaf::Null => choice.is_null(),
                Leaf::Thousandths(n) => choice.as_f64().is_some_and(|value| value * 1000.0 == *n as f64),
                Leaf::MinusZero => choice.as_f64() == Some(0.0),
                Leaf::Text(text) => choice.as_str() == Some(text),
                Leaf::Exponent(_) | Leaf::List | Leaf::Object => false,
            };
            (choices.iter().any(same), None)
        }
    }
}

fn between(least: &Option<Amount>, most: &Amount, n: i64) -> bool {
    let thousandths = |amount: &Amount| match Leaf::number(&amount.to_string()) {
        Leaf::Thousandths(n) => n,
        other => panic!("{other:?} is no amount"),
    };
    n >= least.as_ref().map_or(0, thousandths) && n <= thousandths(most)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    ///
    #[test]
    fn a_call_fits_exactly_when_the_model_says_so(
        shown in root(), changes in changes(), chosen in vec((any::<Index>(), any::<u8>()), 0..4),
    ) {
        let released = releases(&shown, &chosen);
        let pattern = Pattern::new(by_tool(), shown.arguments(), released.clone(), &Units::of_tool()).unwrap();
        let call = changed(&shown, &changes);
        let wanted = fits(&shown, &call, &released);
        let found = pattern.fit(&call.arguments(), &Units::of_tool());
        match (wanted, found) {
            (Some(wanted), Ok(taken)) => {
                let thousandths = |amount: &str| match Leaf::number(amount) { Leaf::Thousandths(n) => n, _ => -1 };
                let taken: BTreeMap<_, _> =
                    taken.into_iter().map(|taken| (taken.name, thousandths(&taken.amount.to_string()))).collect();
                prop_assert_eq!(wanted, taken);
            }
            (None, Err(differences)) => prop_assert!(!differences.is_empty()),
            (wanted, found) => prop_assert!(false, "{} {:?}: {wanted:?} but {found:?}", call.written(), released),
        }
    }

    /// A pattern read back from the store judges every call as the original does.
    #[test]
    fn a_stored_pattern_is_the_same_pattern(shown in root(), chosen in vec((any::<Index>(), any::<u8>()), 0..4)) {
        let released = releases(&shown, &chosen);
        let pattern = Pattern::new(by_tool(), shown.arguments(), released, &Units::of_tool()).unwrap();
        let stored = serde_json::to_string(&pattern).unwrap();
        prop_assert_eq!(serde_json::from_str::<Pattern>(&stored).unwrap(), pattern);
    }
}
