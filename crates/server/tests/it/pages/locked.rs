//! A locked question says so, and is decided only by a person with the override capability (M-27).

use super::*;
use countersign_engine::{Role, Via};
use countersign_protocol::mplp::{Governance, MplpId};
use countersign_testkit::decisions::DecisionFixture;

#[tokio::test]
async fn a_locked_question_is_decided_by_override_alone_and_says_so() {
    let setup = Setup::payments_with(|document| {
        for policy in document.actions.iter_mut().filter(|policy| policy.name == "notes.archive") {
            policy.approvers = vec!["role:approver".into(), "role:admin".into()];
        }
    });
    let DecisionFixture { plane, agent, .. } = Kit(Backend::Sqlite).decision_fixture_with(setup).await;
    let bob = plane.person_in("calendar", "bob", &[Role::Approver]).await;
    let carol = plane.person_in("calendar", "carol", &[Role::Admin]).await;
    let asked = agent.requests_approval(&plane, "notes.archive", json!({})).await;
    lock(&plane, &carol, &asked).await;

    let page = open_as(&plane, &bob, &page_of(&asked)).await.expect(200).words();
    assert!(page.contains(">Locked<") && page.contains("This approval is locked."), "{page}");
    assert!(!page.contains("value=\"accept\""), "{page}");
    let shown = hidden(&open_as(&plane, &carol, &page_of(&asked)).await.words(), "shown");
    let sent = [("csrf", bob.csrf.as_str()), ("shown", &shown), ("answer", "accept"), ("override", "yes")];
    let page = send_as(&plane, &bob, &page_of(&asked), &sent).await.expect(409).words();
    assert!(page.contains("this approval is locked"), "{page}");

    let page = decide(&plane, &carol, &asked, "accept", &[]).await.expect(409).words();
    assert!(page.contains("this approval is locked") && page.contains("href=\"#override\""), "{page}");
    assert_eq!(agent.reads_decision(&plane, &asked).await.json()["state"], "pending");
    let page = follow(&plane, &carol, decide(&plane, &carol, &asked, "accept", &[("override", "yes")]).await).await;
    assert!(page.contains("You approved it.") && !page.contains(">Locked<"), "{page}");
}

async fn lock(plane: &Plane, who: &TestPerson, asked: &Value) {
    let at = plane.at().await;
    let secret = who.cookie.split_once('=').unwrap().1;
    let signed_in = plane.engine.people().signed_in(secret).await.unwrap().unwrap();
    let member = plane.engine.people().member(&signed_in, at.project.key).await.unwrap();
    let by = plane.engine.decisions().answerer(&at, &member, Via::Page);
    let confirm = asked["decision_id"].as_str().unwrap().strip_prefix("dec_").and_then(MplpId::from_simple).unwrap();
    let governance = Governance { locked: Some(true), ..Governance::default() };
    plane.engine.plans().govern_confirm(&at, &by, &confirm, &governance).await.unwrap();
}
