use super::{EndedHolders, REMEMBERED};
use countersign_protocol::ids::RowKey;
use futures_util::poll;
use std::pin::pin;

///
#[test]
fn a_read_is_cut_by_the_end_of_its_own_delegation_or_session_and_by_no_other() {
    let ended = EndedHolders::default();
    ended.add(&[1]);
    let right = ended.read_right(ended.generation(), [Some(1), Some(2)]);
    assert!(!right.is_cut(), "it was decided after that end");
    ended.add(&[3, 4]);
    assert!(!right.is_cut());
    ended.add(&[5, 2]);
    assert!(right.is_cut());
    assert!(!ended.read_right(ended.generation(), [Some(1), None]).is_cut());
}

///
#[test]
fn a_read_that_was_decided_before_all_remembered_ends_is_not_sent() {
    let ended = EndedHolders::default();
    let old = ended.read_right(ended.generation(), [Some(1), None]);
    for holder in 0..=RowKey::try_from(REMEMBERED).unwrap() {
        assert!(!old.is_cut());
        ended.add(&[holder + 10]);
    }
    assert!(old.is_cut(), "what ended meanwhile is not known any more");
    let young = ended.read_right(ended.generation(), [Some(1), None]);
    ended.add(&[2]);
    assert!(!young.is_cut());
}

///
#[tokio::test]
async fn a_revocation_waits_for_the_piece_that_is_being_sent() {
    let ended = EndedHolders::default();
    let right = ended.read_right(ended.generation(), [Some(1), None]);
    let piece = right.begin_piece();
    assert!(!right.is_cut());
    ended.add(&[1]);
    let mut sent = pin!(ended.wait_for_pieces());
    assert!(poll!(sent.as_mut()).is_pending());
    drop(piece);
    sent.await;
    assert!(right.is_cut());
}
