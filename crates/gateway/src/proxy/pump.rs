//! Responses that need supervision: metered bodies without a length, and streams, which end with their session.

use super::bodies::{Broken, Pumped, next_data};
use bytes::Bytes;
use countersign_engine::{Egress, Engine, Refusal, Watch};
use hyper::body::Body;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Pieces queued for a slow reader.
const WAITING: usize = 4;

/// The checks of a pump on each piece.
pub(crate) struct Pumping {
    pub(crate) engine: Arc<Engine>,
    /// The meter of a response without a length.
    pub(crate) egress: Option<Egress>,
    /// The conditions for keeping a stream open.
    pub(crate) watch: Option<Watch>,
    pub(crate) stopping: CancellationToken,
}

/// How a body ended.
enum End {
    Whole,
    Broken,
    Cut,
    CallerGone,
    Over(Refusal),
    Stopping,
}

impl End {
    fn reason(&self) -> String {
        match self {
            Self::Whole => "it ended".into(),
            Self::Broken => "the upstream broke it off".into(),
            Self::Cut => "the session's limit of response bytes is reached".into(),
            Self::CallerGone => "the caller left".into(),
            Self::Over(refusal) => refusal.code().as_str().into(),
            Self::Stopping => "the gateway stopped".into(),
        }
    }

    fn result(&self) -> Result<(), Broken> {
        match self {
            Self::Whole | Self::CallerGone => Ok(()),
            Self::Broken => Err(Broken::Off),
            Self::Cut | Self::Over(_) | Self::Stopping => Err(Broken::Cut),
        }
    }
}

/// A body that is forwarded piece by piece as far as permitted. A reader always sees when it was cut.
pub(crate) fn pump<B>(body: B, pumping: Pumping, tasks: &TaskTracker) -> Pumped
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Send,
{
    let (to, from) = mpsc::channel(WAITING);
    let (ended, end) = oneshot::channel();
    tasks.spawn(run(body, pumping, to, ended));
    Pumped::new(from, end)
}

async fn run<B>(mut body: B, mut pumping: Pumping, to: mpsc::Sender<Bytes>, ended: oneshot::Sender<Result<(), Broken>>)
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut bytes = 0;
    let end = {
        let moving = pass_all(&mut body, &pumping.engine, &mut pumping.egress, &to, &mut bytes);
        tokio::select! {
            end = moving => end,
            refusal = cut_off(&pumping.engine, pumping.watch.as_ref()) => End::Over(refusal),
            () = stopped(&pumping.stopping, pumping.watch.is_some()) => End::Stopping,
            () = to.closed() => End::CallerGone,
        }
    };
    if let Some(egress) = pumping.egress {
        // Before the caller sees the end, so that its next call can use the unused part of the reservation.
        pumping.engine.calls().give_back_unused(egress).await;
    }
    let _told = ended.send(end.result());
    drop(to);
    if let Some(watch) = pumping.watch {
        pumping.engine.calls().close_stream(watch, &end.reason(), bytes).await;
    }
}

async fn pass_all<B>(
    body: &mut B,
    engine: &Arc<Engine>,
    egress: &mut Option<Egress>,
    to: &mpsc::Sender<Bytes>,
    bytes: &mut u64,
) -> End
where
    B: Body<Data = Bytes> + Unpin,
{
    while let Some(piece) = next_data(body).await {
        let Ok(piece) = piece else { return End::Broken };
        let asked = piece.len() as u64;
        let passed = match egress {
            Some(egress) => engine.calls().allow_bytes(egress, asked).await,
            None => asked,
        };
        *bytes += passed;
        let part = piece.slice(..usize::try_from(passed).unwrap_or(usize::MAX).min(piece.len()));
        if !part.is_empty() && to.send(part).await.is_err() {
            return End::CallerGone;
        }
        if passed < asked {
            return End::Cut;
        }
    }
    End::Whole
}

/// Only streams are watched; an ordinary response was released when it was settled.
pub(super) async fn cut_off(engine: &Arc<Engine>, watch: Option<&Watch>) -> Refusal {
    match watch {
        Some(watch) => engine.calls().wait_for_cut_off(watch).await,
        None => std::future::pending().await,
    }
}

/// Streams are stopped at once: they would outlast any drain.
async fn stopped(stopping: &CancellationToken, is_stream: bool) {
    if is_stream { stopping.cancelled().await } else { std::future::pending().await }
}
