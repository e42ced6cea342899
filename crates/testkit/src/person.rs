//! A person with a browser: a cookie, and the CSRF token of its forms.

use crate::{Answer, Plane};
use axum::body::Body;
use http::{Method, Request, header};
use serde_json::{Value, json};

#[derive(Clone, Debug)]
pub struct TestPerson {
    pub name: String,
    /// The whole `Cookie` header.
    pub cookie: String,
    pub csrf: String,
}

pub const PASSWORD: &str = "correct horse battery staple";

impl TestPerson {
    /// Signs in through the public API.
    pub async fn sign_in(plane: &Plane, name: &str) -> Self {
        let body = json!({ "name": name, "password": PASSWORD });
        let answer = plane.post("/session", &body).await.expect(201);
        let set = answer.header("set-cookie").expect("a cookie");
        let cookie = set.split(';').next().expect("a pair").to_owned();
        Self { name: name.to_owned(), cookie, csrf: answer.json()["csrf_token"].as_str().expect("a token").to_owned() }
    }

    pub async fn get(&self, plane: &Plane, path: &str) -> Answer {
        plane.send(self.request(Method::GET, path).body(Body::empty()).unwrap()).await
    }

    /// A write from Countersign's own pages: cookie and CSRF token.
    pub async fn post(&self, plane: &Plane, path: &str, body: &Value) -> Answer {
        self.send(plane, Method::POST, path, body).await
    }

    pub async fn send(&self, plane: &Plane, method: Method, path: &str, body: &Value) -> Answer {
        let request = self.request(method, path).header("x-csrf-token", &self.csrf);
        let request = request.header(header::CONTENT_TYPE, "application/json").body(Body::from(body.to_string()));
        plane.send(request.unwrap()).await
    }

    /// A request with the cookie and nothing else.
    pub fn request(&self, method: Method, path: &str) -> http::request::Builder {
        Request::builder().method(method).uri(path).header(header::COOKIE, &self.cookie)
    }
}
