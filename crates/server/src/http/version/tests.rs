use super::{AcceptedVersions, headers};
use axum::{Router, body::Body, middleware, routing::get};
use countersign_protocol::aap::version;
use countersign_testkit::Answer;
use http::Request;

/// As a later build may have them.
const TWO: AcceptedVersions = &["2.0", "2.1"];

/// AAP-22.2-03
#[tokio::test]
async fn the_requested_version_is_served_although_a_newer_one_is_accepted() {
    let router = Router::new().route("/agent/audit", get(|| async {}));
    let router = router.layer(middleware::from_fn_with_state(TWO, headers));
    for (asked, served) in [("2.0", "2.0"), ("2.1", "2.1"), (" 2.0 ", "2.0")] {
        let request = Request::get("/agent/audit").header(version::HEADER, asked).body(Body::empty()).unwrap();
        let answer = Answer::to(&router, request).await.expect(200);
        assert_eq!(answer.header(version::SERVED), Some(served), "{asked:?}");
        assert_eq!(answer.header(version::ACCEPTED_HEADER), Some("2.0, 2.1"));
        assert_eq!(version::negotiate(Some(asked), TWO), Some(served), "{asked:?}");
    }
    for unserved in ["1.0", "2.2", "2"] {
        assert_eq!(version::negotiate(Some(unserved), TWO), None, "{unserved}");
    }
}
