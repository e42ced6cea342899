//! The three well-known documents are for everybody (AAP 3, 3.1, 4).

use axum::body::Body;
use countersign_testkit::{Plane, Setup, on_sqlite};
use http::Request;

const WELL_KNOWN: [&str; 3] =
    ["/.well-known/agent-auth.json", "/.well-known/agent-identity.json", "/.well-known/agent-jwks.json"];

/// Credentials of every kind, all of them worthless.
const CREDENTIALS: [(&str, &str); 6] = [
    ("authorization", "Bearer aat_of_nobody"),
    ("authorization", "DPoP aat_of_nobody"),
    ("authorization", "Bearer csk_of_nobody"),
    ("authorization", "Basic bm9ib2R5Om5vdGhpbmc="),
    ("dpop", "not.a.proof"),
    ("cookie", "__Host-countersign=nobody"),
];

async fn everyone_reads(plane: &Plane, prefix: &str) {
    for path in WELL_KNOWN {
        let plain = plane.get(&format!("{prefix}{path}")).await.expect(200);
        assert_eq!(plain.header("content-type"), Some("application/json"), "{path}");
        assert_eq!((plain.header("location"), plain.header("set-cookie")), (None, None), "{path}");
        let cached = plain.header("cache-control").expect("Cache-Control");
        assert!(cached.contains("public") && cached.contains("max-age="), "{path}: {cached}");
        for (name, value) in CREDENTIALS {
            let request = Request::get(format!("{prefix}{path}")).header(name, value).body(Body::empty()).unwrap();
            let answer = plane.send(request).await.expect(200);
            assert_eq!(answer.body, plain.body, "{path} with {name}: {value}");
            assert_eq!(answer.header("cache-control"), Some(cached), "{path} with {name}: {value}");
        }
    }
}

on_sqlite! {
    /// AAP-G-62, AAP-G-63: over https, as `the_manifest_says_which_protocol_it_speaks_and_the_services_exact_name` has it.
    async fn anybody_reads_the_well_known_documents_and_no_credential_makes_a_difference(kit) {
        everyone_reads(&kit.plane().await, "").await;
        let many = kit.plane_with(Setup::multi()).await;
        everyone_reads(&many, "").await;
        everyone_reads(&many, "https://north.api.example.test").await;
    }
}
