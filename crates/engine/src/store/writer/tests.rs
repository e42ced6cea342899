use super::*;
use crate::store::{
    batch::{Gains, Wants, World},
    signals::{Batch, FeedPosition},
    step::RowChange,
};
use countersign_core::{signals::Signal, step::Once};
use countersign_protocol::time::UnixMillis;
use std::collections::VecDeque;

/// A database with scripted ends of its commits; they succeed when the script is over.
#[derive(Default)]
struct Scripted {
    script: VecDeque<StoreFailure>,
    commits: usize,
    told: Batch,
    dies: bool,
}

impl Scripted {
    fn new(script: impl Into<VecDeque<StoreFailure>>) -> Self {
        Self { script: script.into(), ..Self::default() }
    }
}

impl Tx for Scripted {
    async fn ready(&mut self) -> Result<(), StoreFailure> {
        Ok(())
    }
    async fn load(&mut self, _: &Wants<'_>) -> Result<World, StoreFailure> {
        assert!(!self.dies, "the writer dies of this");
        Ok(World::default())
    }
    async fn apply(&mut self, _: &[RowChange]) -> Result<bool, StoreFailure> {
        Ok(true)
    }
    async fn flush(&mut self, _: &Gains<'_>) -> Result<(), StoreFailure> {
        self.commits += 1;
        self.script.pop_front().map_or(Ok(()), Err)
    }
    fn publish(&mut self, _: &FeedPosition, news: Batch) {
        self.told.extend(news);
    }
    async fn heartbeat(&mut self) -> Result<(), StoreFailure> {
        Ok(())
    }
    async fn abort(&mut self) {}
    async fn maintain(&mut self, _: MaintenanceJob) -> Result<u64, StoreError> {
        Ok(0)
    }
    async fn close(&mut self) {}
}

fn effects(key: &str) -> Effects {
    let decision = i64::try_from(key.len()).unwrap();
    let once = vec![Once { key: key.into(), until: UnixMillis(1) }];
    Effects { once, news: vec![Signal::Changed { decision }], ..Effects::default() }
}

async fn outcomes(tx: &mut Scripted, keys: &[&str]) -> Vec<Outcome> {
    let steps: Vec<Ready> = keys.iter().map(|key| Ready::from(effects(key), true, None).unwrap()).collect();
    settle(tx, &steps.iter().collect::<Vec<_>>()).await
}

fn why() -> String {
    "scripted".into()
}

///
#[tokio::test]
async fn a_commit_whose_end_is_unknown_is_never_repeated() {
    let mut tx = Scripted::new([StoreFailure::Unknown(why())]);
    let ended = outcomes(&mut tx, &["a", "b"]).await;
    assert_eq!(ended, [Outcome::Unavailable(why()), Outcome::Unavailable(why())]);
    assert_eq!(tx.commits, 1);
}

#[tokio::test]
async fn a_request_that_certainly_had_no_effect_is_tried_again() {
    let mut tx = Scripted::new([StoreFailure::Again(why()), StoreFailure::Lost(why())]);
    assert_eq!(outcomes(&mut tx, &["a"]).await, [Outcome::Committed]);
    assert_eq!(tx.commits, 3);
}

#[tokio::test]
async fn trying_again_has_an_end() {
    let mut tx = Scripted::new(vec![StoreFailure::Lost(why()); 9]);
    assert_eq!(outcomes(&mut tx, &["a", "b"]).await.len(), 2);
    assert_eq!(tx.commits, ATTEMPTS);
}

#[tokio::test]
async fn a_refused_group_is_tried_one_by_one() {
    let mut tx = Scripted::new([StoreFailure::Refused(why())]);
    assert_eq!(outcomes(&mut tx, &["a", "b", "c"]).await, [const { Outcome::Committed }; 3]);
    assert_eq!(tx.commits, 4);
    let mut tx = Scripted::new([StoreFailure::Refused(why()), StoreFailure::Refused(why())]);
    assert_eq!(outcomes(&mut tx, &["a", "b"]).await, [Outcome::Unavailable(why()), Outcome::Committed]);
}

///
#[tokio::test]
async fn only_known_commits_are_delivered_and_once_each() {
    let told = async |script: Vec<StoreFailure>| {
        let mut tx = Scripted::new(script);
        let ended = outcomes(&mut tx, &["a", "bb", "ccc"]).await;
        let told: Vec<i64> = tx
            .told
            .iter()
            .map(|news| match **news {
                Signal::Changed { decision } => decision,
                _ => 0,
            })
            .collect();
        (ended.iter().filter(|outcome| **outcome == Outcome::Committed).count(), told)
    };
    assert_eq!(told(vec![StoreFailure::Unknown(why())]).await, (0, vec![]));
    assert_eq!(told(vec![StoreFailure::Again(why()), StoreFailure::Lost(why())]).await, (3, vec![1, 2, 3]));
    assert_eq!(told(vec![StoreFailure::Refused(why()), StoreFailure::Refused(why())]).await, (2, vec![2, 3]));
}

///
#[tokio::test]
async fn a_writer_that_died_answers_unavailable_instead_of_hanging() {
    let (writer, jobs) = Writer::new(true);
    let death = tokio::spawn(run(Scripted { dies: true, ..Scripted::default() }, jobs));
    assert!(matches!(writer.commit(effects("a"), None).await, Outcome::Unavailable(_)));
    assert!(death.await.is_err());
    assert!(matches!(writer.commit(effects("b"), None).await, Outcome::Unavailable(_)));
}
