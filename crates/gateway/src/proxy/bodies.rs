//! Bodies in transit, to the upstream and back to the caller. Data only; trailers are dropped.

use super::{guard::ResponseTurn, upstream::UpstreamConnection};
use crate::unread::Watched;
use bytes::{Bytes, BytesMut};
use countersign_engine::{BEGINNING_BYTES, BodyDigest};
use countersign_protocol::hash::{Digest, Hasher};
use http_body_util::{BodyExt as _, Full, combinators::UnsyncBoxBody};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Sleep,
};

/// The body of a request, as it arrives.
pub(crate) type Arriving = Watched<Incoming>;

/// Why a body broke off. The other side sees that it was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Broken {
    #[error("the body stalled for too long")]
    Slow,
    #[error("the body broke off")]
    Off,
    #[error("the body is larger than the route allows")]
    TooLarge,
    #[error("the session's limit of response bytes is reached")]
    Cut,
}

/// The body of a request to the upstream.
pub(crate) enum ToUpstream {
    Whole(Option<Bytes>),
    /// The part that was read already, and the part still to come from the caller.
    Rest(Box<Rest>),
}

pub(crate) struct Rest {
    first: Option<Bytes>,
    rest: Arriving,
    /// How many more bytes are allowed.
    room: u64,
    /// Set for a write with recognition of repeats.
    hashing: Option<(Hasher, BodyDigest)>,
    pace: BodyDeadline,
    /// Dropped at the end of the body: the upstream's time limit starts only then.
    _sent: oneshot::Sender<()>,
}

/// The longest pause between two pieces.
struct BodyDeadline {
    limit: Duration,
    timer: Option<Pin<Box<Sleep>>>,
}

impl BodyDeadline {
    fn new(limit: Duration) -> Self {
        Self { limit, timer: None }
    }

    fn reset(&mut self) {
        self.timer = None;
    }

    /// Ready when nothing arrived for too long. The timer exists only while a piece is awaited.
    fn poll_timeout(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let limit = self.limit;
        self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(limit))).as_mut().poll(cx)
    }
}

impl ToUpstream {
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::Whole((!bytes.is_empty()).then_some(bytes))
    }

    /// A body longer than the buffer, and a receiver that resolves when all of it was sent.
    pub(crate) fn rest(
        first: Bytes,
        rest: Arriving,
        max: Option<u64>,
        limit: Duration,
    ) -> (Self, oneshot::Receiver<()>) {
        let (sent, when_sent) = oneshot::channel();
        let room = max.unwrap_or(u64::MAX).saturating_sub(first.len() as u64);
        let rest = Rest { first: Some(first), rest, room, hashing: None, pace: BodyDeadline::new(limit), _sent: sent };
        (Self::Rest(Box::new(rest)), when_sent)
    }

    /// The digest of the body: known already, or set once all of it has passed.
    pub(crate) fn digest(&mut self) -> BodyDigest {
        match self {
            Self::Whole(bytes) => BodyDigest::known(Digest::of(bytes.as_deref().unwrap_or_default())),
            Self::Rest(rest) => rest.hashing.get_or_insert_with(Default::default).1.clone(),
        }
    }

    /// The digest of the first bytes, which are always buffered.
    pub(crate) fn beginning(&self) -> Digest {
        let first = match self {
            Self::Whole(bytes) => bytes.as_deref(),
            Self::Rest(rest) => rest.first.as_deref(),
        };
        let first = first.unwrap_or_default();
        Digest::of(first.get(..BEGINNING_BYTES).unwrap_or(first))
    }

    /// Splits the body into the part read already and the part to come, if there is one.
    pub(crate) fn into_rest(self) -> Result<(Bytes, Arriving), Self> {
        match self {
            Self::Rest(rest) => Ok((rest.first.unwrap_or_default(), rest.rest)),
            whole @ Self::Whole(_) => Err(whole),
        }
    }
}

impl Body for ToUpstream {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Rest(rest) => rest.poll_next(cx).map(|next| next.map(|data| data.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Rest(rest) => rest.first.is_none() && rest.rest.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Rest(rest) => match rest.rest.size_hint().exact() {
                Some(length) => SizeHint::with_exact(length + rest.first.as_ref().map_or(0, |b| b.len() as u64)),
                None => SizeHint::default(),
            },
        }
    }
}

/// A body on its way to the upstream that signals when its last piece was taken.
pub(crate) struct OutgoingBody {
    body: ToUpstream,
    flushes: Arc<watch::Sender<u64>>,
    /// Sends the connection's flush count at the moment the last piece was taken: the body has left with the next flush.
    complete: Option<oneshot::Sender<u64>>,
}

impl OutgoingBody {
    pub(crate) fn new(body: ToUpstream, flushes: Arc<watch::Sender<u64>>, complete: oneshot::Sender<u64>) -> Self {
        let mut leaving = Self { body, flushes, complete: Some(complete) };
        leaving.signal_end();
        leaving
    }

    pub(crate) fn into_inner(self) -> ToUpstream {
        self.body
    }

    fn signal_end(&mut self) {
        if self.body.is_end_stream()
            && let Some(complete) = self.complete.take()
        {
            let _told = complete.send(*self.flushes.borrow());
        }
    }
}

impl Body for OutgoingBody {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let this = self.get_mut();
        let next = Pin::new(&mut this.body).poll_frame(cx);
        if matches!(next, Poll::Ready(None)) {
            this.body = ToUpstream::Whole(None);
        }
        this.signal_end();
        next
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Rest {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Broken>>> {
        let next = ready!(self.poll_piece(cx));
        if let (Some(Ok(data)), Some((hasher, _))) = (&next, &mut self.hashing) {
            hasher.update(data);
        }
        // A body of known length may never be polled for its end.
        let ended = next.is_none() || (matches!(next, Some(Ok(_))) && self.rest.is_end_stream());
        if ended {
            self.publish_digest();
        }
        Poll::Ready(next)
    }

    fn publish_digest(&mut self) {
        if let Some((hasher, digest)) = self.hashing.take() {
            digest.set(hasher.finish());
        }
    }

    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Broken>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        let next = ready!(poll_data(&mut self.rest, &mut self.pace, cx));
        if let Some(Ok(data)) = &next {
            let Some(room) = self.room.checked_sub(data.len() as u64) else {
                return Poll::Ready(Some(Err(Broken::TooLarge)));
            };
            self.room = room;
        }
        Poll::Ready(next)
    }
}

/// The next piece of data; other frames are skipped.
fn poll_data<B>(from: &mut B, pace: &mut BodyDeadline, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Broken>>>
where
    B: Body<Data = Bytes> + Unpin,
{
    loop {
        match Pin::new(&mut *from).poll_frame(cx) {
            Poll::Ready(Some(Ok(frame))) => {
                pace.reset();
                if let Ok(data) = frame.into_data() {
                    return Poll::Ready(Some(Ok(data)));
                }
            }
            Poll::Ready(Some(Err(_))) => return Poll::Ready(Some(Err(Broken::Off))),
            Poll::Ready(None) => return Poll::Ready(None),
            Poll::Pending => return pace.poll_timeout(cx).map(|()| Some(Err(Broken::Slow))),
        }
    }
}

/// The body of an upstream response. At its end the connection is free for the next request.
pub(crate) struct FromUpstream {
    /// Read already.
    first: Option<Bytes>,
    /// Whether that is all of the body.
    whole: bool,
    body: Incoming,
    connection: Option<UpstreamConnection>,
    pace: BodyDeadline,
}

impl FromUpstream {
    pub(crate) fn new(body: Incoming, connection: UpstreamConnection, limit: Duration) -> Self {
        let mut body =
            Self { first: None, whole: false, body, connection: Some(connection), pace: BodyDeadline::new(limit) };
        body.free_at_end();
        body
    }

    /// For a response of unlimited duration.
    pub(crate) fn without_a_limit(self) -> Self {
        Self { pace: BodyDeadline::new(Duration::from_secs(365 * 24 * 3600)), ..self }
    }

    pub(crate) fn length(&self) -> Option<u64> {
        self.size_hint().exact()
    }

    /// The body with all of its bytes read, and these bytes. None if there are more than `max`: then the beginning is read,
    /// and the body has it still.
    pub(crate) async fn read_whole(mut self, max: usize) -> Result<(Self, Option<Bytes>), Broken> {
        let mut bytes = BytesMut::new();
        let mut is_whole = true;
        while let Some(data) = next_data(&mut self).await {
            bytes.extend_from_slice(&data?);
            if bytes.len() > max {
                is_whole = false;
                break;
            }
        }
        let bytes = bytes.freeze();
        self.first = Some(bytes.clone()).filter(|bytes| !bytes.is_empty());
        self.whole = is_whole;
        Ok((self, Some(bytes).filter(|_| is_whole)))
    }

    fn free_at_end(&mut self) {
        if self.body.is_end_stream()
            && let Some(connection) = self.connection.take()
        {
            connection.release();
        }
    }
}

impl Body for FromUpstream {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        let this = self.get_mut();
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        let next = ready!(poll_data(&mut this.body, &mut this.pace, cx));
        match &next {
            None => drop(this.connection.take().map(UpstreamConnection::release)),
            Some(Ok(_)) => this.free_at_end(),
            Some(Err(_)) => {}
        }
        Poll::Ready(next.map(|data| data.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let first = self.first.as_ref().map_or(0, Bytes::len) as u64;
        let rest = if self.whole { SizeHint::with_exact(0) } else { self.body.size_hint() };
        match rest.exact() {
            Some(rest) => SizeHint::with_exact(first + rest),
            None => SizeHint::default(),
        }
    }
}

/// The body of a response to the caller.
pub(crate) struct ToCaller {
    body: UnsyncBoxBody<Bytes, Broken>,
    /// The connection is busy until this is dropped.
    pub(super) turn: Option<ResponseTurn>,
}

impl ToCaller {
    pub(crate) fn new(body: impl Body<Data = Bytes, Error = Broken> + Send + 'static) -> Self {
        Self { body: body.boxed_unsync(), turn: None }
    }

    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self::new(Full::new(bytes).map_err(|never| match never {}))
    }
}

impl Body for ToCaller {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body filled by its own task, because the engine must be consulted about every piece.
pub(crate) struct Pumped {
    from: mpsc::Receiver<Bytes>,
    /// The end, sent before the channel of the pieces closes. It has its own channel, so that a partial body is never taken
    /// for a complete one, however many pieces are still queued for a slow reader.
    end: Option<oneshot::Receiver<Result<(), Broken>>>,
    broken: Option<Broken>,
}

impl Pumped {
    pub(crate) fn new(from: mpsc::Receiver<Bytes>, end: oneshot::Receiver<Result<(), Broken>>) -> Self {
        Self { from, end: Some(end), broken: None }
    }

    /// Called after the last piece. An error is reported one poll later than it is known, so that earlier pieces leave first.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Option<Broken>> {
        if let Some(mut end) = self.end.take() {
            self.broken = end.try_recv().unwrap_or(Err(Broken::Off)).err();
            if self.broken.is_some() {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        Poll::Ready(self.broken.take())
    }
}

impl Body for Pumped {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        match ready!(self.from.poll_recv(cx)) {
            Some(data) => Poll::Ready(Some(Ok(Frame::data(data)))),
            None => self.poll_end(cx).map(|broken| broken.map(Err)),
        }
    }
}

/// The next piece of data of any body; None at its end.
pub(crate) async fn next_data<B>(body: &mut B) -> Option<Result<Bytes, B::Error>>
where
    B: Body<Data = Bytes> + Unpin,
{
    while let Some(frame) = body.frame().await {
        match frame.map(Frame::into_data) {
            Ok(Ok(data)) => return Some(Ok(data)),
            Ok(Err(_not_data)) => {}
            Err(why) => return Some(Err(why)),
        }
    }
    None
}
