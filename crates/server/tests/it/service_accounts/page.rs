//! The admin's page behind a connect request for a service account.

use super::desk::{ADA, Desk, claims};
use crate::pages::{Words as _, hidden, open_as, send_as};
use countersign_testkit::{Answer, TestPerson, on_both_stores, on_sqlite};
use serde_json::json;

const ACCOUNT: &str = "svc_front_desk";
const RESOURCES: &str = "account:a1\r\n statement:* \r\n";

/// The proposal, as the form sends it.
fn typed(resources: &str) -> Vec<(&str, &str)> {
    vec![
        ("account_id", ACCOUNT),
        ("org_id", "org_bank"),
        ("description", "The front desk"),
        ("resources", resources),
        ("scope_bank.read", "true"),
    ]
}

fn path(request_id: &str) -> String {
    format!("/connect/{request_id}")
}

/// Sends the proposal's form, which only reads.
async fn proposes(desk: &Desk, who: &TestPerson, request_id: &str, fields: &[(&str, &str)]) -> Answer {
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    open_as(&desk.scene.plane, who, &format!("{}?{query}", path(request_id))).await
}

/// Sends the form of a reviewed page with this answer; `fields` are the proposal that it carries.
async fn answers(
    desk: &Desk,
    request_id: &str,
    page: &str,
    fields: &[(&str, &str)],
    answer: &[(&str, &str)],
) -> Answer {
    let (csrf, disclosure) = (hidden(page, "csrf"), hidden(page, "disclosure_id"));
    let mut sent = vec![("csrf", csrf.as_str()), ("disclosure_id", disclosure.as_str())];
    sent.extend(fields.iter().chain(answer).copied());
    send_as(&desk.scene.plane, &desk.ada, &path(request_id), &sent).await
}

const APPROVE: [(&str, &str); 2] = [("answer", "approve"), ("acknowledged_disclosure", "true")];

async fn accounts(desk: &Desk) -> usize {
    let at = desk.scene.plane.at().await;
    desk.scene.plane.engine.agents().service_accounts(at.project.key).await.unwrap().len()
}

on_both_stores! {
    /// AAP-11.2-01, AAP-11.2-02, AAP-11.3-04
    async fn an_admin_reads_every_scope_and_resource_on_the_page_and_grants_exactly_them(kit) {
        let desk = Desk::open(kit).await;
        let request_id = desk.request(&["bank.read", "bank.note"]).await;
        let page = open_as(&desk.scene.plane, &desk.ada, &path(&request_id)).await.expect(200).words();
        assert!(page.contains("id=\"scope_bank.note\"") && !page.contains("value=\"approve\""), "{page}");
        let page = proposes(&desk, &desk.ada, &request_id, &typed(RESOURCES)).await.expect(200).words();
        for shown in [
            ACCOUNT, "org_bank", "The front desk", ADA, "Read accounts", "<code>account:a1</code>", "<code>statement:*</code>",
            "<code>GET /accounts</code>", "data of more than one user", "fixed credentials",
        ] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        assert_eq!(accounts(&desk).await, 0);
        let done = answers(&desk, &request_id, &page, &typed(RESOURCES), &APPROVE).await.expect(200).words();
        assert!(!done.contains("/agents/del_"), "an account is on no person's page");
        let code = done.split_once("code_").unwrap().1.split('<').next().unwrap();
        let exchange = desk.scene.plane.exchange_body(desk.scene.plane.acme(), &format!("code_{code}"));
        let exchanged = desk.scene.plane.post("/agent/delegate/token", &exchange).await.expect(200).json();
        let granted = json!({
            "description": "The front desk", "resources": ["account:a1", "statement:*"], "scopes": ["bank.read"],
            "crosses_users": true,
        });
        assert_eq!(claims(exchanged["delegation_token"].as_str().unwrap())["granted_scope"], granted);
        open_as(&desk.scene.plane, &desk.ada, &path(&request_id)).await.expect(410);
    }
}

on_sqlite! {
    /// AAP-11.2-02
    async fn what_was_not_shown_read_or_sent_by_the_page_grants_nothing(kit) {
        let desk = Desk::open(kit).await;
        let request_id = desk.request(&["bank.read", "bank.note"]).await;
        let page = proposes(&desk, &desk.ada, &request_id, &typed("account:a1")).await.expect(200).words();
        let unread = answers(&desk, &request_id, &page, &typed("account:a1"), &[("answer", "approve")]).await.expect(422);
        assert!(unread.words().contains("<a href=\"#acknowledged\">To approve,"), "{}", unread.words());
        let wider = answers(&desk, &request_id, &page, &typed("account:*"), &APPROVE).await.expect(409).words();
        assert!(wider.contains("nothing was approved") && wider.contains("<code>account:*</code>"), "{wider}");
        let mut more = typed("account:a1");
        more.push(("scope_bank.note", "true"));
        answers(&desk, &request_id, &page, &more, &APPROVE).await.expect(409);
        let mut forged: Vec<_> = typed("account:a1");
        forged.extend([("csrf", "made-up"), ("disclosure_id", "disc_1")]);
        forged.extend(APPROVE);
        send_as(&desk.scene.plane, &desk.ada, &path(&request_id), &forged).await.expect(403);
        assert_eq!(accounts(&desk).await, 0);
    }

    /// AAP-11.2-02
    async fn a_proposal_that_cannot_be_granted_is_refused_with_its_member(kit) {
        let desk = Desk::open(kit).await;
        let request_id = desk.request(&["bank.read"]).await;
        for (name, value, told) in [
            ("account_id", "front desk", "account_id must be svc_"),
            ("resources", "elsewhere:*", "granted_scope.resources[0]"),
            ("scope_bank.read", "", "granted_scope.scopes"),
        ] {
            let mut fields = typed("account:a1");
            fields.iter_mut().filter(|(field, _)| *field == name).for_each(|field| field.1 = value);
            let page = proposes(&desk, &desk.ada, &request_id, &fields).await.expect(422).words();
            assert!(page.contains("This cannot be granted: ") && page.contains(told), "{told}: {page}");
            assert!(!page.contains("value=\"approve\""), "{page}");
        }
        // A scope that the operator did not request is not offered, and a field for it is ignored.
        let mut more = typed("account:a1");
        more.push(("scope_bank.note", "true"));
        let page = proposes(&desk, &desk.ada, &request_id, &more).await.expect(200).words();
        assert!(!page.contains("bank.note"), "{page}");
    }

    /// AAP-11.7-01
    async fn only_an_admin_sees_the_page_and_a_rejection_ends_the_request(kit) {
        let desk = Desk::open(kit).await;
        let request_id = desk.request(&["bank.read"]).await;
        open_as(&desk.scene.plane, &desk.scene.alice, &path(&request_id)).await.expect(403);
        proposes(&desk, &desk.scene.alice, &request_id, &typed("account:a1")).await.expect(403);
        let page = open_as(&desk.scene.plane, &desk.ada, &path(&request_id)).await.expect(200).words();
        let csrf = hidden(&page, "csrf");
        let sent = [("csrf", csrf.as_str()), ("answer", "deny")];
        let told = send_as(&desk.scene.plane, &desk.ada, &path(&request_id), &sent).await.expect(200).words();
        assert!(told.contains("was not connected and has no access"), "{told}");
        open_as(&desk.scene.plane, &desk.ada, &path(&request_id)).await.expect(410);
        assert_eq!(accounts(&desk).await, 0);
    }
}
