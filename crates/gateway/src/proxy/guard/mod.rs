//! Stands between a connection and the HTTP implementation: only strictly checked bytes pass.
//!
//! A refused head never reaches the HTTP implementation. It gets a harmless head instead, together with the refusal, and
//! answers in the envelope; then the connection ends.

mod chunks;
mod head;
#[cfg(test)]
mod tests;
mod wire;

pub(crate) use head::MAX_HEADERS;
pub(crate) use wire::{ResponseTurn, Wire};

use bytes::{Buf as _, BytesMut};
use chunks::Chunks;
use countersign_engine::Refusal;
use head::{Framing, Odd};
use std::{
    io,
    mem::MaybeUninit,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Sleep,
};

/// The replacement for a refused head.
const IN_ITS_PLACE: &[u8] = b"GET / HTTP/1.1\r\nhost: refused\r\nconnection: close\r\n\r\n";
const STEP: usize = 8 * 1024;
/// The most bytes discarded before a connection is closed, so that the response is not lost with it.
const MAX_LINGER_BYTES: usize = 1024 * 1024;
const LINGER: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub(crate) max_head_bytes: usize,
    /// From the first byte of a head to its last.
    pub(crate) head: Duration,
    /// Between one request and the next.
    pub(crate) idle: Duration,
}

pub(crate) struct Guard<S> {
    inner: S,
    patience: Patience,
    wire: Arc<Wire>,
    state: State,
    /// Read from the connection, not checked yet.
    unread: BytesMut,
    /// How much of `unread` has been searched for the end of a head.
    searched: usize,
    /// Checked: this many bytes at the beginning of `unread` may pass.
    judged: usize,
    timer: Pin<Box<Sleep>>,
    timing: Timing,
    ended: bool,
    lingered: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    Sized(u64),
    Chunked(Chunks),
    /// Another protocol than HTTP.
    Raw,
    /// A head was refused: nothing more is read, and the connection ends with the response.
    Deaf,
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Timing {
    Nothing,
    Idle,
    Head,
    Linger,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Guard<S> {
    pub(crate) fn new(inner: S, patience: Patience, wire: Arc<Wire>) -> Self {
        Self {
            inner,
            patience,
            wire,
            state: State::Head,
            unread: BytesMut::new(),
            searched: 0,
            judged: 0,
            timer: Box::pin(tokio::time::sleep(Duration::ZERO)),
            timing: Timing::Nothing,
            ended: false,
            lingered: 0,
        }
    }

    /// Reads on until checked bytes are available or the connection ends.
    fn poll_judged(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.judged == 0 && self.state != State::Over {
            if self.state == State::Deaf {
                // An end here would look like a caller that left, and the refusal would not be sent.
                return Poll::Pending;
            }
            if !self.unread.is_empty() && self.judge() {
                continue;
            }
            if ready!(self.poll_more(cx))? == 0 {
                self.state = State::Over;
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Checks the buffered bytes; whether that made progress.
    fn judge(&mut self) -> bool {
        match &mut self.state {
            State::Head => return self.judge_head(),
            State::Sized(left) => {
                self.judged = usize::try_from(*left).unwrap_or(usize::MAX).min(self.unread.len());
                *left -= self.judged as u64;
                if *left == 0 {
                    self.state = State::Head;
                }
            }
            State::Chunked(chunks) => match chunks.follow(&self.unread) {
                Ok(taken) => {
                    self.judged = taken;
                    if chunks.is_over() {
                        self.state = State::Head;
                    }
                }
                // The body breaks off there, and with it the connection.
                Err(chunks::Malformed) => self.state = State::Over,
            },
            State::Raw => self.judged = self.unread.len(),
            State::Deaf | State::Over => return false,
        }
        true
    }

    fn judge_head(&mut self) -> bool {
        while self.unread.starts_with(b"\r\n") {
            self.unread.advance(2);
            self.searched = 0;
        }
        // Even if the head arrives in tiny pieces, each byte is searched only a few times.
        let from = self.searched.saturating_sub(3);
        let fresh = self.unread.get(from..).unwrap_or_default();
        let end = fresh.windows(4).position(|four| four == b"\r\n\r\n").map(|at| from + at + 4);
        let bare = end.is_none() && has_bare_line_break(fresh, from == 0);
        let too_large = end.unwrap_or(self.unread.len()) > self.patience.max_head_bytes;
        self.searched = if end.is_some() { 0 } else { self.unread.len() };
        match end {
            _ if too_large => self.refuse(Refusal::invalid(Odd::TooLarge.to_string())),
            None if bare => self.refuse(Refusal::invalid(Odd::BareLineBreak.to_string())),
            None => return false,
            Some(end) => match head::read(self.unread.get(..end).unwrap_or_default()) {
                Ok(framing) => self.accept(end, framing),
                Err(odd) => self.refuse(Refusal::invalid(odd.to_string())),
            },
        }
        true
    }

    fn accept(&mut self, end: usize, framing: Framing) {
        self.timing = Timing::Nothing;
        self.wire.begin_request();
        self.judged = end;
        self.state = match framing {
            Framing::Sized(0) => State::Head,
            Framing::Sized(length) => State::Sized(length),
            Framing::Chunked => State::Chunked(Chunks::new()),
            Framing::Upgrade => State::Raw,
        };
    }

    fn refuse(&mut self, refusal: Refusal) {
        self.timing = Timing::Nothing;
        self.wire.begin_request();
        self.wire.refuse(refusal);
        self.unread = BytesMut::from(IN_ITS_PLACE);
        self.judged = IN_ITS_PLACE.len();
        self.state = State::Deaf;
    }

    /// Reads more of the connection; 0 at its end and after the idle timeout.
    fn poll_more(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut room = [const { MaybeUninit::<u8>::uninit() }; STEP];
        let mut room = ReadBuf::uninit(&mut room);
        match Pin::new(&mut self.inner).poll_read(cx, &mut room) {
            Poll::Ready(read) => {
                read?;
                self.ended |= room.filled().is_empty();
                self.unread.extend_from_slice(room.filled());
                Poll::Ready(Ok(room.filled().len()))
            }
            Poll::Pending if self.state == State::Head => self.poll_patience(cx),
            Poll::Pending => Poll::Pending,
        }
    }

    /// No timeout runs while a request is being answered.
    fn poll_patience(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let timing = if self.unread.is_empty() { Timing::Idle } else { Timing::Head };
        loop {
            if self.timing != timing {
                self.timing = timing;
                let time = if timing == Timing::Idle { self.patience.idle } else { self.patience.head };
                self.timer.as_mut().set(tokio::time::sleep(time));
            }
            ready!(self.timer.as_mut().poll(cx));
            self.timing = Timing::Nothing;
            if !self.wire.is_busy() {
                break;
            }
        }
        if timing == Timing::Head {
            self.refuse(Refusal::RequestSlow);
            return Poll::Ready(Ok(self.judged));
        }
        Poll::Ready(Ok(0))
    }

    /// Closing a socket with unread data resets the connection, and the response is lost.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.timing != Timing::Linger {
            self.timing = Timing::Linger;
            self.timer.as_mut().set(tokio::time::sleep(LINGER));
        }
        let mut room = [const { MaybeUninit::<u8>::uninit() }; STEP];
        while !self.ended && self.lingered < MAX_LINGER_BYTES {
            let mut room = ReadBuf::uninit(&mut room);
            match Pin::new(&mut self.inner).poll_read(cx, &mut room) {
                Poll::Ready(Ok(())) if !room.filled().is_empty() => self.lingered += room.filled().len(),
                Poll::Ready(_) => self.ended = true,
                Poll::Pending => return self.timer.as_mut().poll(cx),
            }
        }
        Poll::Ready(())
    }
}

/// A LF without a CR before it: the end of such a head would never be found.
fn has_bare_line_break(bytes: &[u8], is_start: bool) -> bool {
    let bare = |two: &[u8]| matches!(two, [before, b'\n'] if *before != b'\r');
    (is_start && bytes.starts_with(b"\n")) || bytes.windows(2).any(bare)
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Guard<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, to: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.state == State::Raw && this.unread.is_empty() {
            return Pin::new(&mut this.inner).poll_read(cx, to);
        }
        ready!(this.poll_judged(cx))?;
        let passing = this.judged.min(to.remaining());
        to.put_slice(this.unread.get(..passing).unwrap_or_default());
        this.unread.advance(passing);
        this.judged -= passing;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Guard<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, from)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        from: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, from)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.timing != Timing::Linger {
            ready!(Pin::new(&mut this.inner).poll_shutdown(cx))?;
        }
        this.poll_linger(cx).map(Ok)
    }
}
