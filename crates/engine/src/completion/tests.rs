use super::{Completion, Panicked};
use std::{future::pending, sync::Arc};
use tokio::sync::{Notify, oneshot};
use tokio_util::task::TaskTracker;

///
#[tokio::test]
async fn work_goes_on_when_its_caller_drops_it_and_is_counted_until_it_is_done() {
    let (tasks, proceed, (done, heard)) = (TaskTracker::new(), Arc::new(Notify::new()), oneshot::channel());
    let work = {
        let proceed = Arc::clone(&proceed);
        async move {
            proceed.notified().await;
            done.send("recorded").unwrap();
        }
    };
    let mut caller = Completion::of(work, &tasks);
    assert!(futures_util::poll!(&mut caller).is_pending());
    drop(caller);
    assert_eq!(tasks.len(), 1);
    proceed.notify_one();
    assert_eq!(heard.await, Ok("recorded"));
    tasks.close();
    tasks.wait().await;
}

///
#[tokio::test]
async fn work_that_was_never_polled_is_done_all_the_same() {
    let (tasks, (done, heard)) = (TaskTracker::new(), oneshot::channel());
    drop(Completion::of(async move { done.send(()).unwrap() }, &tasks));
    assert_eq!(heard.await, Ok(()));
}

#[tokio::test]
async fn a_caller_that_waits_has_the_result_without_a_task() {
    let tasks = TaskTracker::new();
    let metrics = tokio::runtime::Handle::current().metrics();
    let before = metrics.num_alive_tasks();
    let mut waiting = Completion::of(pending::<()>(), &tasks);
    assert!(futures_util::poll!(&mut waiting).is_pending());
    assert_eq!(metrics.num_alive_tasks(), before);
    assert_eq!(Completion::of(async { 7 }, &tasks).await.unwrap(), 7);
    std::mem::forget(waiting);
}

///
#[tokio::test]
async fn a_panic_ends_the_work_and_not_its_caller() {
    let tasks = TaskTracker::new();
    let ended: Result<(), Panicked> = Completion::of(async { panic!("on purpose") }, &tasks).await;
    assert!(ended.is_err() && tasks.is_empty());
}
