//! A stolen database contains no usable secret.

use super::{add, story};
use countersign_engine::{
    ApiKeyKind,
    store::{self, ApiKeyByHash, Lookup, PersonBySubject},
};
use countersign_protocol::hash::Digest;
use countersign_testkit::{Plane, Setup, leaks::Haystack, on_both_stores};

on_both_stores! {
    ///
    async fn no_password_cookie_code_token_or_key_can_be_read_from_the_database(kit) {
        let (place, _folder) = kit.readable_location().await;
        let plane = Plane::start(Setup::default(), place).await;
        let told = story::run(&plane).await;
        let stored = Haystack::stored(&plane.place).await;
        for (what, text) in &told.kept {
            stored.assert_present(what, text);
        }
        for (what, secret) in &told.secrets {
            stored.assert_absent(what, secret);
        }
        plane.engine.store().close().await;
        let stored = Haystack::stored(&plane.place).await;
        for (what, secret) in &told.secrets {
            stored.assert_absent(what, secret);
        }
    }

    ///
    async fn a_key_and_a_password_are_kept_as_hashes_of_their_kind(kit) {
        let plane = kit.plane().await;
        plane.account("root").await;
        let key = add(&plane, ApiKeyKind::Admin).await;
        let lookup = ApiKeyByHash(Digest::of(key.secret.as_bytes()));
        let row = plane.engine.store().find(lookup.search()).await.unwrap().expect("found by its hash");
        assert!(!row.contains(&key.secret));
        let lookup = PersonBySubject { issuer: "local".into(), subject: "root".into() };
        let person = store::find_one(&**plane.engine.store(), lookup).await.unwrap().unwrap();
        assert!(person.password_hash.unwrap().starts_with("$argon2id$v=19$"));
    }

    ///
    async fn two_people_with_one_password_have_nothing_in_common(kit) {
        let plane = kit.plane().await;
        let mut hashes = Vec::new();
        for name in ["alice", "bob"] {
            plane.account(name).await;
            let lookup = PersonBySubject { issuer: "local".into(), subject: name.into() };
            let person = store::find_one(&**plane.engine.store(), lookup).await.unwrap().unwrap();
            let parts: Vec<String> = person.password_hash.unwrap().split('$').map(str::to_owned).collect();
            hashes.push((parts[4].clone(), parts[5].clone()));
        }
        assert!(hashes[0].0 != hashes[1].0 && hashes[0].1 != hashes[1].1, "{hashes:?}");
    }
}
