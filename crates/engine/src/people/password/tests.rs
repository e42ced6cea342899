use super::{PasswordCost, Passwords, Queue};
use std::{sync::mpsc, time::Duration};

fn passwords() -> Passwords {
    Passwords::new(PasswordCost { memory_kib: 8, passes: 1 })
}

/// otherwise callers that disconnect would start any number of hashes at once.
#[tokio::test]
async fn work_that_its_caller_gave_up_keeps_its_place_until_it_is_done() {
    let passwords = passwords();
    let (release, held) = mpsc::channel::<()>();
    let (started, begun) = tokio::sync::oneshot::channel();
    let work = passwords.on_a_thread(Queue::Anybody, move || {
        let _told = started.send(());
        Ok(held.recv().is_ok())
    });
    tokio::select! {
        _done = work => panic!("it waits for us"),
        begun = begun => begun.expect("it began"),
    }
    assert_eq!(passwords.anybody.available_permits(), 1, "the place was given up with the caller");
    release.send(()).expect("it is still at work");
    let all = tokio::time::timeout(Duration::from_secs(10), passwords.anybody.acquire_many(2)).await;
    assert!(all.is_ok_and(|all| all.is_ok()), "the place was never given back");
}

///
#[tokio::test]
async fn a_signed_in_person_does_not_wait_behind_strangers() {
    let passwords = passwords();
    let _strangers = passwords.anybody.acquire_many(2).await.expect("all places");
    let hash = passwords.hash("correct horse", [7; 16]).await.expect("a hash");
    assert!(passwords.verify("correct horse", Some(&hash), Queue::SignedIn).await.expect("an answer"));
    let waiting = passwords.verify("correct horse", Some(&hash), Queue::Anybody);
    assert!(tokio::time::timeout(Duration::from_millis(50), waiting).await.is_err());
}
