//! The pages over HTTP, as a browser uses them.

mod agents;
mod clarified;
mod connect;
mod connect_over;
mod inbox;
mod inbox_answers;
mod inbox_outcomes;
mod locked;
mod plans;
mod refusals;
mod rendered_requests;
mod sign_in;
mod standing_approvals;
mod subscribers;

use axum::body::Body;
use countersign_testkit::{Answer, Backend, Kit, Plane, Setup, TestAgent, TestOperator, TestPerson};
use http::{Method, Request, header};
use serde_json::{Value, json};

/// A browser's `Accept` header for a page.
const HTML: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn plane() -> Plane {
    Kit(Backend::Sqlite).plane().await
}

async fn plane_with(setup: Setup) -> Plane {
    Kit(Backend::Sqlite).plane_with(setup).await
}

pub(crate) trait Words {
    fn words(&self) -> String;
}

impl Words for Answer {
    /// The page without visual markup and bidi controls: break points, isolates and the markup of values
    /// between quotes.
    fn words(&self) -> String {
        let text = self.text().replace("<wbr>", "").replace(['\u{2068}', '\u{2069}'], "");
        text.replace("“<bdi class=\"quoted\">", "“")
            .replace("“<bdi class=\"quoted\" translate=\"no\">", "“")
            .replace("</bdi>”", "”")
    }
}

/// Opens a page without signing in.
async fn open(plane: &Plane, path: &str) -> Answer {
    plane.send(Request::get(path).header(header::ACCEPT, HTML).body(Body::empty()).unwrap()).await
}

/// Opens a page as this person.
pub(crate) async fn open_as(plane: &Plane, who: &TestPerson, path: &str) -> Answer {
    plane.send(who.request(Method::GET, path).header(header::ACCEPT, HTML).body(Body::empty()).unwrap()).await
}

/// Sends a form as this person, with exactly these fields.
pub(crate) async fn send_as(plane: &Plane, who: &TestPerson, path: &str, fields: &[(&str, &str)]) -> Answer {
    let request = who.request(Method::POST, path).header(header::ACCEPT, HTML);
    plane.send(request.header(header::CONTENT_TYPE, FORM).body(form(fields)).unwrap()).await
}

const FORM: &str = "application/x-www-form-urlencoded";

fn form(fields: &[(&str, &str)]) -> Body {
    let body = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    Body::from(body)
}

/// The value of a hidden field of a page.
pub(crate) fn hidden(page: &str, name: &str) -> String {
    let at = format!("name=\"{name}\" value=\"");
    let rest = page.split_once(&at).unwrap_or_else(|| panic!("no field {name}: {page}")).1;
    rest.split('"').next().unwrap().to_owned()
}

/// A connect request that wants its result at the operator's callback.
async fn request_with_callback(plane: &Plane, operator: &TestOperator, scopes: &[&str]) -> String {
    let mut body = plane.connect_body(operator, scopes);
    body["callback"] = json!(operator.callback());
    let answer = plane.post("/agent/delegate/requests", &body).await.expect(201);
    answer.json()["request_id"].as_str().unwrap().to_owned()
}

/// The fields of a consent page's form, with an answer and the box ticked or not.
fn answering<'a>(fields: &'a [String; 3], answer: &'a str, ticked: bool) -> Vec<(&'a str, &'a str)> {
    let [csrf, disclosure_id, shown] = fields;
    let mut sent =
        vec![("csrf", csrf.as_str()), ("disclosure_id", disclosure_id), ("shown", shown), ("answer", answer)];
    if ticked {
        sent.push(("acknowledged_disclosure", "true"));
    }
    sent
}

fn fields(page: &str) -> [String; 3] {
    [hidden(page, "csrf"), hidden(page, "disclosure_id"), hidden(page, "shown")]
}

/// Opens the consent page and answers it.
async fn answer(plane: &Plane, who: &TestPerson, request: &str, answer: &str, ticked: bool) -> Answer {
    let path = format!("/connect/{request}");
    let page = open_as(plane, who, &path).await.expect(200).words();
    send_as(plane, who, &path, &answering(&fields(&page), answer, ticked)).await
}

async fn delegations(plane: &Plane, who: &TestPerson) -> usize {
    who.get(plane, "/v1/agents").await.expect(200).json()["agents"].as_array().unwrap().len()
}

/// The path of a decision's `page`.
fn page_of(decision: &Value) -> String {
    let page = url::Url::parse(decision["page"].as_str().unwrap()).unwrap();
    page.path().to_owned()
}

/// An agent asks in this text, about an action without policy.
async fn asked_in_words(plane: &Plane, agent: &TestAgent, action: &str) -> Value {
    let body = json!({ "action": action, "consequence": "It is done." });
    agent.requests_confirmation(plane, &body).await.expect(201).json()
}

/// Gives a standing approval with these fields.
pub(crate) async fn accept_more(plane: &Plane, who: &TestPerson, decision: &Value, more: &[(&str, &str)]) -> Answer {
    decide(plane, who, decision, "accept-more", more).await
}

/// Opens the page of a question and sends its form with an answer and further fields.
pub(crate) async fn decide(
    plane: &Plane,
    who: &TestPerson,
    decision: &Value,
    answer: &str,
    more: &[(&str, &str)],
) -> Answer {
    let path = page_of(decision);
    let page = open_as(plane, who, &path).await.expect(200).words();
    let (csrf, shown) = (hidden(&page, "csrf"), hidden(&page, "shown"));
    let mut sent = vec![("csrf", csrf.as_str()), ("shown", shown.as_str()), ("answer", answer)];
    sent.extend(more);
    send_as(plane, who, &path, &sent).await
}

/// The page that a response redirects to.
pub(crate) async fn follow(plane: &Plane, who: &TestPerson, answer: Answer) -> String {
    let to = answer.expect(303).header("location").unwrap().to_owned();
    open_as(plane, who, &to).await.expect(200).words()
}
