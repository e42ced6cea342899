//! Reading a request's body: all of it where it is digested, only its beginning where it is forwarded unread.

use super::bodies::{Arriving, ToUpstream, next_data};
use bytes::{Bytes, BytesMut};
use countersign_engine::Refusal;
use hyper::body::Body;
use std::time::Duration;

/// The complete body, if it has at most `max` bytes.
pub(crate) async fn whole<B>(mut body: B, max: u64, pace: Duration) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
{
    refuse_if_larger(&body, Some(max))?;
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    match up_to(&mut body, max, pace).await? {
        (bytes, true) if bytes.len() <= max => Ok(bytes),
        _ => Err(Refusal::BodyTooLarge { limit: max as u64 }),
    }
}

/// The beginning of a body, and the rest of it if there is more than `limit`.
pub(super) async fn beginning(
    mut body: Arriving,
    limit: usize,
    max: Option<u64>,
    pace: Duration,
) -> Result<(Bytes, Option<Arriving>), Refusal> {
    refuse_if_larger(&body, max)?;
    let (bytes, complete) = up_to(&mut body, limit, pace).await?;
    match max {
        Some(max) if bytes.len() as u64 > max => Err(Refusal::BodyTooLarge { limit: max }),
        _ => Ok((bytes, (!complete).then_some(body))),
    }
}

/// The body with all of its bytes buffered. `None` if they exceed `max`: the body is consumed then.
pub(super) async fn rest(body: ToUpstream, max: u64, pace: Duration) -> Result<Option<ToUpstream>, Refusal> {
    let (first, rest) = match body.into_rest() {
        Ok(parts) => parts,
        Err(whole) => return Ok(Some(whole)),
    };
    match whole(rest, max.saturating_sub(first.len() as u64), pace).await {
        Ok(rest) => Ok(Some(ToUpstream::whole(joined(first, BytesMut::from(&rest[..]))))),
        Err(Refusal::BodyTooLarge { .. }) => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// An announced length is refused without reading.
fn refuse_if_larger<B: Body>(body: &B, max: Option<u64>) -> Result<(), Refusal> {
    match (max, body.size_hint().exact()) {
        (Some(max), Some(length)) if length > max => Err(Refusal::BodyTooLarge { limit: max }),
        _ => Ok(()),
    }
}

/// Reads until there are more than `limit` bytes or the body ends; the flag says whether it ended.
async fn up_to<B>(body: &mut B, limit: usize, pace: Duration) -> Result<(Bytes, bool), Refusal>
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut first = Bytes::new();
    let mut more = BytesMut::new();
    while !body.is_end_stream() && first.len() + more.len() <= limit {
        let next = tokio::time::timeout(pace, next_data(body)).await.map_err(|_| Refusal::RequestSlow)?;
        match next {
            None => return Ok((joined(first, more), true)),
            Some(Err(_)) => return Err(Refusal::invalid("the body broke off")),
            // Most bodies arrive in one piece, which need not be copied.
            Some(Ok(data)) if first.is_empty() => first = data,
            Some(Ok(data)) => more.extend_from_slice(&data),
        }
    }
    Ok((joined(first, more), body.is_end_stream()))
}

fn joined(first: Bytes, more: BytesMut) -> Bytes {
    if more.is_empty() {
        return first;
    }
    let mut all = BytesMut::with_capacity(first.len() + more.len());
    all.extend_from_slice(&first);
    all.extend_from_slice(&more);
    all.freeze()
}
