//! Calls that need approval are not forwarded.

use countersign_testkit::{Setup, on_sqlite};
use http::Method;

on_sqlite! {
    /// R-24, C-02
    async fn an_irreversible_call_is_refused_despite_the_agents_word(kit) {
        let scene = kit.fixture_with(Setup::default(), &["calendar.read", "mail.invite"]).await;
        let call = || scene.agent.request(Method::POST, "/mail/invitations", "SEND_INVITATION");
        for request in [
            call(),
            call().header("x-agent-confirm", "true"),
            call().header("x-agent-confirm", scene.agent.access_token.as_str()),
            call().header("x-agent-confirmed", "true"),
        ] {
            let answer = scene.plane.try_call(request).await;
            assert_eq!(answer.refusal(), (403, "irreversible_requires_confirm".into()));
        }
        assert_eq!(scene.reached(), 0);
        let outcomes: Vec<_> = scene.calls().await.iter().map(|e| e["outcome"].clone()).collect();
        assert_eq!(outcomes, vec!["403 irreversible_requires_confirm"; 4]);
        scene.read().await.expect(200);
    }
}
