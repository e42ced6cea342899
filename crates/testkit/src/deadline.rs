//! Deadlines for everything that a test waits for: a test fails, it never hangs.

use std::time::Duration;

/// One wait: for a response, a line of a stream, the end of a socket, the output of another program. Longer than any
/// long poll, and long enough for an interpreter that starts on a busy machine.
pub const WAIT: Duration = Duration::from_secs(75);

/// A whole test. The longest one simulates a year on PostgreSQL.
pub const TEST: Duration = Duration::from_secs(1800);

/// Fails if the future does not resolve in time. The deadline applies to the whole wait, not to its next piece, so a
/// stream with nothing but heartbeats fails too.
#[track_caller]
pub fn within_deadline<T>(what: &str, wait: impl Future<Output = T>) -> impl Future<Output = T> {
    let (what, asked) = (what.to_owned(), std::panic::Location::caller());
    async move {
        let in_time = tokio::time::timeout(WAIT, wait).await;
        in_time.unwrap_or_else(|_| panic!("{what}: not within {} s, waited for at {asked}", WAIT.as_secs()))
    }
}

/// Waits for a change in the background.
pub async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !holds().await {
            tokio::task::yield_now().await;
        }
    };
    within_deadline(what, wait).await;
}

/// Wraps a test in its deadline.
pub async fn whole_test(test: impl Future<Output = ()>) {
    let in_time = tokio::time::timeout(TEST, test).await;
    assert!(in_time.is_ok(), "the test did not end within {} s", TEST.as_secs());
}
