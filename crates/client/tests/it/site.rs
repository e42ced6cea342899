//! An operator's documents on a real web server, read like a service does.

use crate::{
    fixture::{SERVICE, at},
    operator_host::{OperatorHost, TestCa},
};
use countersign_client::operator::{KeyRing, OperatorIdentity, OperatorKeys};
use countersign_jose::{Expected, peek, verify_operator};
use countersign_outbound::{
    Fetcher, FetcherConfig,
    operators::{Directory, DirectoryConfig},
};
use countersign_protocol::{domain::Domain, time::UnixMillis};

/// AAP-4-01
#[tokio::test]
async fn an_operators_published_documents_are_accepted_by_a_service() {
    let ca = TestCa::new();
    let host = OperatorHost::start(&ca, "acme.test").await;
    let operator = OperatorKeys::new(&complete_identity(), KeyRing::generate().unwrap()).unwrap();
    serve(&host, &operator, at(0));
    let directory = Directory::new(fetcher(&ca, &host), DirectoryConfig::default());
    let jwt = operator.operator_jwt(SERVICE, at(0)).unwrap();
    let kid = peek(&jwt).unwrap().kid;
    let known = directory.operator(operator.domain(), &kid, at(0), "198.51.100.7").await.unwrap();
    assert_eq!(*known.identity, *operator.identity());
    let expected = Expected { operator: operator.domain(), service: SERVICE };
    verify_operator(&jwt, &known.keys, expected, at(0)).unwrap();
}

/// AAP-20.2-01
#[tokio::test]
async fn a_service_follows_a_rotation_without_a_gap() {
    let ca = TestCa::new();
    let host = OperatorHost::start(&ca, "acme.test").await;
    let operator = OperatorKeys::new(&complete_identity(), KeyRing::generate().unwrap()).unwrap();
    serve(&host, &operator, at(0));
    let directory = Directory::new(fetcher(&ca, &host), DirectoryConfig::default());
    let kid = |now| peek(&operator.operator_jwt(SERVICE, now).unwrap()).unwrap().kid;
    let old = kid(at(0));
    directory.operator(operator.domain(), &old, at(0), "198.51.100.7").await.unwrap();
    operator.rotate(at(120)).unwrap();
    serve(&host, &operator, at(120));
    for kid in [kid(at(120)), old] {
        directory.operator(operator.domain(), &kid, at(120), "198.51.100.7").await.unwrap();
    }
}

#[test]
fn an_identity_that_services_would_refuse_is_refused_here() {
    for bad in [
        OperatorIdentity { display_name: String::new(), ..complete_identity() },
        OperatorIdentity { contact: "nobody".to_owned(), ..complete_identity() },
        OperatorIdentity { callbacks: vec!["https://evil.test/cb".to_owned()], ..complete_identity() },
        OperatorIdentity { callbacks: vec!["http://acme.test/cb".to_owned()], ..complete_identity() },
        OperatorIdentity { webhook_url: Some("https://evil.test/".to_owned()), ..complete_identity() },
        OperatorIdentity { liability_disclosure: Some("word ".repeat(151)), ..complete_identity() },
    ] {
        assert!(OperatorKeys::new(&bad, KeyRing::generate().unwrap()).is_err(), "{bad:?}");
    }
}

fn complete_identity() -> OperatorIdentity {
    OperatorIdentity {
        callbacks: vec!["https://app.acme.test/connected".to_owned()],
        liability_disclosure: Some("Acme answers for what its agents do.".to_owned()),
        webhook_url: Some("https://acme.test/webhook".to_owned()),
        ..OperatorIdentity::new("Acme", Domain::parse("acme.test").unwrap(), "agents@acme.test")
    }
}

fn serve(host: &OperatorHost, operator: &OperatorKeys, now: UnixMillis) {
    for document in operator.documents(now) {
        host.set_document(document.path, document.body);
    }
}

pub(crate) fn fetcher(ca: &TestCa, host: &OperatorHost) -> Fetcher {
    Fetcher::new(FetcherConfig {
        static_hosts: [(host.domain().to_owned(), host.addr())].into(),
        extra_roots_pem: ca.pem().into(),
        native_roots: false,
        ..FetcherConfig::default()
    })
    .unwrap()
}
