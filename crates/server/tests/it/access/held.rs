//! Calls that need approval, and dry runs, are not forwarded.

use countersign_testkit::{Backend, Kit, Setup, on_sqlite};
use http::Method;

on_sqlite! {
    /// R-24, C-02
    async fn an_irreversible_call_is_refused_despite_the_agents_word(kit) {
        let scene = kit.scene_with(Setup::default(), &["calendar.read", "mail.invite"]).await;
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

    /// R-24, C-02
    async fn a_scope_that_needs_confirmation_is_refused_even_if_another_scope_allows_the_call_freely(kit) {
        let setup = Setup::with_project(|document| {
            document.scopes[1].requires_confirmation = true;
            document.scopes[2].allows.push("events.create".into());
        });
        let scene = kit.scene_with(setup, &["calendar.write", "calendar.admin"]).await;
        let answer = scene.write().await;
        assert_eq!(answer.refusal(), (403, "irreversible_requires_confirm".into()));
        assert_eq!(scene.reached(), 0);
    }

    /// R-24, C-04
    async fn a_dry_run_in_any_spelling_is_refused_and_never_forwarded(kit) {
        let scene = kit.scene().await;
        let call = |path: &str| scene.agent.request(Method::POST, path, "SCHEDULE_EVENT");
        let plain = "/calendar/events";
        let mut requests: Vec<_> = ["true", "false", "1", "", "TRUE", "no"]
            .into_iter()
            .flat_map(|value| {
                let in_query = call(&format!("{plain}?dry_run={value}"));
                [in_query, call(plain).header("x-agent-dry-run", value), call(plain).header("X-AGENT-DRY-RUN", value)]
            })
            .collect();
        requests.push(call(&format!("{plain}?dry_run")));
        requests.push(call(&format!("{plain}?a=1&dry_run=true&b=2")));
        requests.push(call(&format!("{plain}?dry%5frun=true")));
        requests.push(call(&format!("{plain}?Dry_Run=true")));
        requests.push(call(&format!("{plain}?dry_run=true&dry_run=false")));
        requests.push(call(&format!("{plain}?dry_run=true")).header("x-agent-dry-run", "false"));
        requests.push(call(plain).header("x-agent-dry-run", "true").header("x-agent-dry-run", "true"));
        requests.push(call(plain).method(Method::GET).header("x-agent-dry-run", "true"));
        for request in requests {
            let answer = scene.plane.try_call(request).await;
            assert_eq!(answer.refusal(), (400, "dry_run_unsupported".into()));
        }
        assert_eq!(scene.reached(), 0);
    }
}

#[tokio::test]
async fn a_query_that_only_resembles_a_dry_run_is_none() {
    let scene = Kit(Backend::Sqlite).scene().await;
    for query in ["dry_runs=true", "x=dry_run", "not_dry_run=1"] {
        let path = format!("/calendar/events?{query}");
        scene.plane.call(&scene.agent, Method::GET, &path, "READ_CALENDAR").await.expect(200);
    }
    assert_eq!(scene.reached(), 3);
}
