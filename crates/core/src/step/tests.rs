use super::{Effects, Once, Step};
use crate::records::Table;
use countersign_protocol::time::UnixMillis;

fn effects(key: &str, before: Option<i64>, not_before: Option<i64>) -> Effects {
    Effects {
        once: vec![Once { key: key.into(), until: UnixMillis(1) }],
        removes: vec![(Table::Session, 1)],
        before: before.map(UnixMillis),
        not_before: not_before.map(UnixMillis),
        ..Effects::default()
    }
}

#[test]
fn two_steps_in_one_keep_their_order_and_the_time_that_both_allow() {
    let both = Step { answer: 7, effects: effects("a", Some(9), None) }.and(effects("b", Some(5), Some(2)));
    let keys: Vec<&str> = both.effects.once.iter().map(|once| once.key.as_str()).collect();
    assert_eq!((both.answer, keys, both.effects.removes.len()), (7, vec!["a", "b"], 2));
    assert_eq!((both.effects.before, both.effects.not_before), (Some(UnixMillis(5)), Some(UnixMillis(2))));
    let open = effects("a", None, None).and(effects("b", Some(5), None));
    assert_eq!((open.before, open.not_before), (Some(UnixMillis(5)), None));
}
