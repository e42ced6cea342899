//! Services behind TLS: trusted with a certificate of a trusted authority, for their own name.

use crate::{
    peer::{OK, request, soon},
    proxy_fixture::{ProxyFixture, proxy_with, refused, status},
};
use countersign_protocol::project::ProjectDocument;
use countersign_testkit::operator_host::TestCa;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};
use tokio::{io::AsyncWriteExt as _, net::TcpListener};
use tokio_rustls::TlsAcceptor;

/// A service with a certificate for this name, and the number of requests it has read.
async fn service(ca: &TestCa, name: &str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let acceptor = TlsAcceptor::from(Arc::new(ca.server_config(&[name.to_owned()])));
    let got = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&got);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            request(&mut stream).await;
            count.fetch_add(1, Ordering::SeqCst);
            stream.write_all(OK.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    });
    (url, got)
}

async fn proxy_to(url: String, roots: &str) -> ProxyFixture {
    let there = |document: &mut ProjectDocument| document.upstreams[0].url = url;
    let roots = roots.as_bytes().to_vec();
    proxy_with(|_| panic!("the other one is the service"), there, |settings| settings.extra_roots = roots).await
}

///
#[tokio::test]
async fn a_service_that_nobody_vouches_for_gets_nothing_not_even_the_request() {
    let (ours, strangers) = (TestCa::new(), TestCa::new());
    for (ca, name, roots) in
        [(&strangers, "127.0.0.1", ours.pem()), (&ours, "127.0.0.1", ""), (&ours, "bank.test", ours.pem())]
    {
        let (url, got) = service(ca, name).await;
        let proxy = proxy_to(url, roots).await;
        let answer = soon(proxy.ask(&proxy.write("{}"))).await;
        assert_eq!(refused(&answer), (502, "upstream_failed".into()));
        assert!(answer.contains("nothing was sent"), "{answer}");
        assert_eq!(got.load(Ordering::SeqCst), 0);
        assert!(proxy.outcomes().await[0].starts_with("not sent: "));
    }
}

#[tokio::test]
async fn a_service_on_the_nodes_trust_list_is_called() {
    let ca = TestCa::new();
    let (url, got) = service(&ca, "127.0.0.1").await;
    let proxy = proxy_to(url, ca.pem()).await;
    for asked in [proxy.read(), proxy.write("{}")] {
        let answer = soon(proxy.ask(&asked)).await;
        assert!(status(&answer) == 200 && answer.ends_with("ok"), "{answer}");
    }
    assert_eq!(got.load(Ordering::SeqCst), 2);
}

///
#[tokio::test]
async fn a_service_that_speaks_in_the_clear_where_tls_is_meant_gets_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _hung_up_on = stream.write_all(OK.as_bytes()).await;
        }
    });
    let ca = TestCa::new();
    let proxy = proxy_to(url, ca.pem()).await;
    let answer = soon(proxy.ask(&proxy.write("{}"))).await;
    assert_eq!(refused(&answer), (502, "upstream_failed".into()));
    assert!(answer.contains("nothing was sent"), "{answer}");
}
