//! The deadlines of everything that a test waits for: a test fails, it never hangs.

use std::time::Duration;

/// One wait: for an answer, a line of a stream, the end of a socket, a word of another program. Longer than any long
/// poll, and long enough for an interpreter that starts on a busy machine.
pub const WAIT: Duration = Duration::from_secs(75);

/// A whole test, whatever it does.
pub const TEST: Duration = Duration::from_secs(400);

/// What is not there by then is not coming. A stream that goes on for ever with nothing but heartbeats is no excuse: the
/// deadline is that of the whole wait, not of its next piece.
#[track_caller]
pub fn in_time<T>(what: &str, wait: impl Future<Output = T>) -> impl Future<Output = T> {
    let (what, asked) = (what.to_owned(), std::panic::Location::caller());
    async move {
        let in_time = tokio::time::timeout(WAIT, wait).await;
        in_time.unwrap_or_else(|_| panic!("{what}: not within {} s, waited for at {asked}", WAIT.as_secs()))
    }
}

/// The frame of a test.
pub async fn whole_test(test: impl Future<Output = ()>) {
    let in_time = tokio::time::timeout(TEST, test).await;
    assert!(in_time.is_ok(), "the test did not end within {} s", TEST.as_secs());
}
