//! People: signing in, staying signed in, and the permissions of each.

mod cookie;
mod csrf;
mod disabled;
mod fresh;
mod roles;
mod sessions;
mod sign_in;
mod throttle;

use countersign_testkit::{Answer, PASSWORD, Plane, TestPerson};
use serde_json::json;

/// Signs in with name and password.
async fn enter(plane: &Plane, name: &str, password: &str) -> Answer {
    plane.post("/session", &json!({ "name": name, "password": password })).await
}

/// Whether a sign-in session is still valid.
async fn holds(plane: &Plane, person: &TestPerson) -> bool {
    let answer = person.get(plane, "/session").await;
    match answer.status {
        200 => true,
        401 => {
            assert_eq!(answer.code(), "sign_in_required");
            false
        }
        _ => panic!("{}", answer.text()),
    }
}

/// The same person with another browser.
async fn another_device(plane: &Plane, person: &TestPerson) -> TestPerson {
    TestPerson::sign_in(plane, &person.name).await
}

/// The cookies of a browser after a response that started a sign-in session.
fn browser(name: &str, answer: &Answer) -> TestPerson {
    let set = answer.header("set-cookie").expect("a cookie");
    TestPerson {
        name: name.to_owned(),
        cookie: set.split(';').next().unwrap().to_owned(),
        csrf: answer.json()["csrf_token"].as_str().unwrap().to_owned(),
    }
}

const RIGHT: &str = PASSWORD;
const WRONG: &str = "incorrect horse battery staple";
