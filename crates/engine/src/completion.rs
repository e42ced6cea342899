//! Work that outlasts its caller, without a task of its own as long as the caller waits.

use futures_util::{FutureExt as _, future::BoxFuture};
use std::{
    future::Future,
    panic::AssertUnwindSafe,
    pin::Pin,
    task::{Context, Poll},
};
use tokio_util::task::TaskTracker;

/// The work panicked.
#[derive(Debug)]
pub(crate) struct Panicked;

/// Driven by its caller. If the caller drops it, it goes on in a task. A task for every call would cost a hand-over between
/// threads and back, and mostly the caller stays.
pub(crate) struct Completion<T: Send + 'static> {
    /// None once it is done.
    work: Option<BoxFuture<'static, Result<T, Panicked>>>,
}

impl<T: Send + 'static> Completion<T> {
    /// `tasks` counts it until it is done.
    pub(crate) fn of(work: impl Future<Output = T> + Send + 'static, tasks: &TaskTracker) -> Self {
        let caught = AssertUnwindSafe(work).catch_unwind().map(|done| done.map_err(|_| Panicked));
        Self { work: Some(Box::pin(tasks.track_future(caught))) }
    }
}

impl<T: Send + 'static> Future for Completion<T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(work) = &mut self.work else { return Poll::Pending };
        let done = work.poll_unpin(context);
        if done.is_ready() {
            self.work = None;
        }
        done
    }
}

impl<T: Send + 'static> Drop for Completion<T> {
    fn drop(&mut self) {
        let Some(work) = self.work.take() else { return };
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(work)),
            Err(_) => tracing::error!("a call that was dropped could not be recorded"),
        }
    }
}

#[cfg(test)]
mod tests;
