//! The subscriber over a real connection: a small server that streams, drops connections and takes replies.

use super::producer::{TOKEN, accepted, at, listen, question};
use bytes::Bytes;
use countersign_client::{
    aaep::{Answer, SubscriberClient, SubscriberConfig},
    transport::WithLoopback,
};
use countersign_outbound::{Fetcher, FetcherConfig};
use countersign_protocol::origin::Origin;
use http_body_util::{BodyExt as _, Either, Full, StreamBody};
use hyper::{
    Request, Response,
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
};
use tokio::{net::TcpListener, sync::mpsc};

type Body = Either<Full<Bytes>, StreamBody<Events>>;

/// Frames from a channel until its sender is dropped.
struct Events(mpsc::UnboundedReceiver<Bytes>);

impl futures_util::Stream for Events {
    type Item = Result<Frame<Bytes>, Infallible>;
    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

#[derive(Default)]
struct Server {
    replies: Mutex<Vec<serde_json::Value>>,
    last_event_ids: Mutex<Vec<Option<String>>>,
    streams: Mutex<Vec<mpsc::UnboundedSender<Bytes>>>,
}

impl Server {
    async fn start() -> (Arc<Self>, Origin) {
        let server = Arc::new(Self::default());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = Origin::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let accepting = Arc::clone(&server);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = Arc::clone(&accepting);
                let service = service_fn(move |request| {
                    let server = Arc::clone(&server);
                    async move { Ok::<_, Infallible>(server.answer(request).await) }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
            }
        });
        (server, origin)
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        assert_eq!(request.headers()["authorization"], format!("Bearer {TOKEN}"));
        let whole = |status: u16, text: String| {
            Response::builder().status(status).body(Either::Left(Full::new(Bytes::from(text)))).unwrap()
        };
        match request.uri().path() {
            "/aaep/v1/subscriptions" => whole(201, accepted("sub_1").to_string()),
            "/aaep/v1/events" => self.stream(&request),
            "/aaep/v1/replies" => {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                self.replies.lock().unwrap().push(serde_json::from_slice(&body).unwrap());
                whole(204, String::new())
            }
            other => panic!("{other}"),
        }
    }

    fn stream(&self, request: &Request<Incoming>) -> Response<Body> {
        assert_eq!(request.headers()["accept"], "text/event-stream");
        let last = request.headers().get("last-event-id").map(|id| id.to_str().unwrap().to_owned());
        let mut ids = self.last_event_ids.lock().unwrap();
        let (to, from) = mpsc::unbounded_channel();
        let events: &[usize] = if ids.is_empty() { &[1, 2] } else { &[2, 3] };
        for n in events {
            let event = format!("id: evt_{n}\r\ndata: {}\r\n\r\n", question(*n, &format!("rpl_{n}")));
            // In two halves, as a network may deliver it.
            let (left, right) = event.split_at(event.len() / 2);
            [left, right].iter().for_each(|half| to.send(Bytes::copy_from_slice(half.as_bytes())).unwrap());
        }
        if ids.is_empty() {
            drop(to);
        } else {
            self.streams.lock().unwrap().push(to);
        }
        ids.push(last);
        Response::builder()
            .header("content-type", "text/event-stream")
            .body(Either::Right(StreamBody::new(Events(from))))
            .unwrap()
    }
}

/// AAEP-6.2.3-01
#[tokio::test]
async fn a_subscriber_hears_resumes_and_answers_over_a_real_connection() {
    let (server, origin) = Server::start().await;
    let plain = Fetcher::new(FetcherConfig { native_roots: false, ..FetcherConfig::default() }).unwrap();
    let config = SubscriberConfig::new(origin, TOKEN);
    let mut subscriber =
        SubscriberClient::connect(config, Arc::new(WithLoopback(plain)), Box::new(|| 0)).await.unwrap();
    assert!(subscriber.producer_date().is_some());
    let inbox = listen(&mut subscriber, 3).await;
    assert_eq!(*server.last_event_ids.lock().unwrap(), [None, Some("evt_2".to_owned())]);
    let asked = inbox.question("evt_3").unwrap();
    subscriber.replier().reply(asked, &Answer::Approve { rationale: None }, at(1)).await.unwrap();
    let sent = server.replies.lock().unwrap()[0].clone();
    assert_eq!((&sent["reply_token"], &sent["decision"]), (&"rpl_3".into(), &"accept".into()));
}
