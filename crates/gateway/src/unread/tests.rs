use super::*;
use http_body_util::{Full, StreamBody};
use std::convert::Infallible;

fn full(bytes: usize) -> Full<Bytes> {
    Full::new(Bytes::from(vec![b'x'; bytes]))
}

async fn answered<B>(body: B, headers: &[(&'static str, &'static str)], read: bool) -> Option<String>
where
    B: Body<Data = Bytes, Error = Infallible> + Unpin,
{
    let mut request = Request::new(body);
    for (name, value) in headers {
        request.headers_mut().insert(*name, HeaderValue::from_static(value));
    }
    let (request, unread) = watch(request);
    if read {
        let _whole = request.into_body().collect().await;
    } else {
        drop(request);
    }
    let mut answer = Response::new(());
    unread.settle(&mut answer).await;
    answer.headers().get("connection").map(|value| value.to_str().unwrap().to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_connection_goes_on_behind_a_body_that_was_read_or_is_small_and_ends_behind_any_other() {
    let close = Some("close".to_owned());
    assert_eq!(answered(full(100_000), &[], true).await, None, "read");
    assert_eq!(answered(full(60_000), &[], false).await, None, "small");
    assert_eq!(answered(full(100_000), &[], false).await, close, "large");
    assert_eq!(answered(full(10), &[("expect", "100-continue")], false).await, close, "not sent yet");
    let endless = futures_util::stream::pending::<Result<Frame<Bytes>, Infallible>>();
    assert_eq!(answered(StreamBody::new(endless), &[], false).await, close, "it never comes");
    let chunk = || Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b'x'; 10_000])));
    let unannounced = futures_util::stream::iter((0..10).map(move |_| chunk()));
    assert_eq!(answered(StreamBody::new(unannounced), &[], false).await, close, "more than it looked like");
}

#[tokio::test]
async fn an_http_2_response_has_no_connection_headers() {
    let mut request = Request::new(full(100_000));
    *request.version_mut() = Version::HTTP_2;
    let (request, unread) = watch(request);
    drop(request);
    let mut answer = Response::new(());
    unread.settle(&mut answer).await;
    assert!(answer.headers().is_empty());
}
