//! Everything of the north that could be presented in the south, and every request that could carry it.

use super::{ONLY_IN_NORTH, ONLY_NORTH, SESSION, World};
use http::Method;
use serde_json::{Value, json};

/// One request, in which `{thing}` stands for something of the north.
pub(super) struct Attempt {
    pub(super) what: &'static str,
    pub(super) by: By,
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Value,
    pub(super) thing: String,
    /// Of the same form, and never issued.
    pub(super) unknown: &'static str,
    pub(super) refused: (u16, &'static str),
    /// The status of the same request in the north afterwards, unless it would change data there.
    pub(super) at_home: Option<u16>,
}

pub(super) enum By {
    Carol,
    /// The operator, by a JWT in the body or in the header.
    Operator,
    OperatorHeader,
    Bearer(String),
    /// The thing itself is the bearer credential.
    TheThing,
}

pub(super) fn all(world: &World) -> Vec<Attempt> {
    let (north, south) = (&world.north, &world.south);
    let register = json!({ "mode": "user_delegated", "delegation_token": "{thing}" });
    let verifier = world.plane.exchange_body(world.plane.acme(), "")["code_verifier"].clone();
    let mut all = vec![
        Attempt::new("a delegation token", By::Operator, Method::POST, "/agent/register", register)
            .of(&north.connected.delegation_token, "")
            .gets(401, "delegation_not_found", Some(200)),
        Attempt::new(
            "a connect request",
            By::Carol,
            Method::POST,
            "/agent/delegate",
            json!({ "request_id": "{thing}" }),
        )
        .of(&north.request, "creq_unknown")
        .gets(410, "connect_request_gone", Some(200)),
        Attempt::new(
            "a connect request, and a guess at whose it is",
            By::Carol,
            Method::POST,
            "/agent/delegate",
            json!({ "request_id": "{thing}", "operator": "guess.test" }),
        )
        .of(&north.request, "creq_unknown")
        .gets(410, "connect_request_gone", Some(400)),
        Attempt::new(
            "a connect request, denied",
            By::Carol,
            Method::POST,
            "/agent/delegate",
            json!({ "request_id": "{thing}", "approve": false }),
        )
        .of(&north.request, "creq_unknown")
        .gets(410, "connect_request_gone", None),
        Attempt::new(
            "a disclosure",
            By::Carol,
            Method::POST,
            "/agent/delegate",
            json!({ "request_id": south.request, "disclosure_id": "{thing}", "acknowledged_disclosure": true }),
        )
        .of(&north.disclosure, "disc_unknown")
        .gets(400, "invalid_request", None),
        Attempt::new(
            "a code",
            By::Operator,
            Method::POST,
            "/agent/delegate/token",
            json!({ "code": "{thing}", "code_verifier": verifier }),
        )
        .of(&north.code, "code_unknown")
        .gets(400, "invalid_request", Some(200)),
    ];
    all.extend(by_session_id(world));
    all.extend(by_delegation_id(world));
    all.extend(by_token(world));
    all
}

fn by_session_id(world: &World) -> Vec<Attempt> {
    let audit = |what, by| {
        Attempt::new(what, by, Method::GET, "/agent/audit?session_id={thing}", Value::Null)
            .of(ONLY_NORTH, "sess_unknown")
            .gets(404, "session_not_found", None)
    };
    let cancel = json!({ "session_id": "{thing}" });
    let mut all = vec![
        audit("a session, by its person", By::Carol),
        audit("a session, by its operator", By::OperatorHeader),
        audit("a session, by an admin's key", By::Bearer(world.south.admin_key.clone())),
        audit("a session, by another agent", By::Bearer(world.south.agent.access_token.clone())),
        Attempt::new("a session to cancel", By::Operator, Method::POST, "/agent/cancel", cancel)
            .of(ONLY_NORTH, "sess_unknown")
            .gets(404, "session_not_found", None),
    ];
    all[0].at_home = Some(200);
    all[1].at_home = Some(200);
    let complete = json!({ "session_id": "{thing}" });
    let agent = By::Bearer(world.south.agent.access_token.clone());
    let alive = By::Bearer(world.south.agent.access_token.clone());
    all.push(
        Attempt::new("a session's heartbeat", alive, Method::POST, "/agent/heartbeat", complete.clone())
            .of(ONLY_NORTH, "sess_unknown")
            .gets(404, "session_not_found", None),
    );
    all.push(
        Attempt::new("a session to complete, by another agent", agent, Method::POST, "/agent/task-complete", complete)
            .of(ONLY_NORTH, "sess_unknown")
            .gets(404, "session_not_found", None),
    );
    let request = "/agent/scope-approval?session_id={thing}";
    let agent = By::Bearer(world.south.agent.access_token.clone());
    all.push(
        Attempt::new("a session's scope request, by another agent", agent, Method::GET, request, Value::Null)
            .of(ONLY_NORTH, "sess_unknown")
            .gets(404, "session_not_found", None),
    );
    let offboard = json!({ "event": "user.offboarded", "event_id": "evt-2", "user": "{thing}" });
    let key = || By::Bearer(world.south.admin_key.clone());
    all.push(
        Attempt::new("a person to offboard, by an admin's key", key(), Method::POST, "/agent/events", offboard)
            .of(ONLY_IN_NORTH, "nobody")
            .gets(404, "not_found", None),
    );
    all
}

fn by_delegation_id(world: &World) -> Vec<Attempt> {
    let (thing, unknown) = (&world.north.connected.delegation_id, "del_000000000000000000000000000000");
    let audit =
        |what, by, at_home| {
            Attempt::new(what, by, Method::GET, "/agent/audit?delegation_id={thing}", Value::Null)
                .of(thing, unknown)
                .gets(401, "delegation_not_found", at_home)
        };
    let summary = |what, by, at_home| {
        Attempt::new(what, by, Method::GET, "/agent/access-summary?delegation_id={thing}", Value::Null)
            .of(thing, unknown)
            .gets(401, "delegation_not_found", at_home)
    };
    let revoke = |what, by| {
        Attempt::new(what, by, Method::POST, "/agent/revoke", json!({ "delegation_id": "{thing}" }))
            .of(thing, unknown)
            .gets(401, "delegation_not_found", None)
    };
    let event = |what, by| {
        let body = json!({ "event": "resource.deleted", "event_id": "evt-3", "delegation_id": "{thing}" });
        Attempt::new(what, by, Method::POST, "/agent/events", body).of(thing, unknown).gets(
            401,
            "delegation_not_found",
            None,
        )
    };
    let lift = |what, by| {
        Attempt::new(what, by, Method::POST, "/agent/lift", json!({ "delegation_id": "{thing}" }))
            .of(thing, unknown)
            .gets(401, "delegation_not_found", None)
    };
    let key = || By::Bearer(world.south.admin_key.clone());
    let agent = || By::Bearer(world.south.agent.access_token.clone());
    let cursor = format!("/agent/audit?delegation_id={}&limit=1&cursor={{thing}}", world.south.connected.delegation_id);
    vec![
        audit("a delegation's audit, by its person", By::Carol, Some(200)),
        audit("a delegation's audit, by its operator", By::OperatorHeader, Some(200)),
        audit("a delegation's audit, by an admin's key", key(), None),
        audit("a delegation's audit, by another agent", agent(), None),
        summary("a delegation's access, for its person", By::Carol, Some(200)),
        summary("a delegation's access, for its operator", By::OperatorHeader, Some(200)),
        summary("a delegation's access, for an admin's key", key(), None),
        summary("a delegation's access, for another agent", agent(), None),
        Attempt::new("a cursor", By::Carol, Method::GET, &cursor, Value::Null).of(&world.north.cursor, "AAAA").gets(
            400,
            "invalid_request",
            None,
        ),
        event("a delegation to end by an event, by an admin", By::Carol),
        event("a delegation to end by an event, by an admin's key", key()),
        lift("a delegation to lift, by its person", By::Carol),
        lift("a delegation to lift, by its operator", By::Operator),
        lift("a delegation to lift, by an admin's key", key()),
        lift("a delegation to lift, by another agent", agent()),
        revoke("a delegation to revoke, by its person", By::Carol),
        revoke("a delegation to revoke, by its operator", By::Operator),
        revoke("a delegation to revoke, by an admin's key", key()),
        revoke("a delegation to revoke, by another agent", agent()),
    ]
}

fn by_token(world: &World) -> Vec<Attempt> {
    let south_id = &world.south.connected.delegation_id;
    let audit = format!("/agent/audit?delegation_id={south_id}");
    let revoke = json!({ "delegation_id": south_id });
    let cancel = json!({ "session_id": SESSION });
    let document = json!(countersign_testkit::calendar("south"));
    let by_access_token =
        |what, method, path: &str, body| {
            Attempt::new(what, By::TheThing, method, path, body)
                .of(&world.north.agent.access_token, "tok_unknown")
                .gets(401, "access_token_invalid", None)
        };
    let by_key = |what, method, path: &str, body| {
        Attempt::new(what, By::TheThing, method, path, body).of(&world.north.admin_key, "csk_unknown").gets(
            403,
            "not_authorized",
            None,
        )
    };
    let request = format!("/agent/scope-approval?session_id={SESSION}");
    let home = format!("/agent/audit?delegation_id={}", world.north.connected.delegation_id);
    let event = json!({ "event": "user.offboarded", "event_id": "evt-1", "user": "carol" });
    let mut all = vec![
        by_access_token("an access token, to read its own audit", Method::GET, &home, Value::Null),
        by_access_token("an access token, to read", Method::GET, &audit, Value::Null),
        by_access_token("an access token, to revoke", Method::POST, "/agent/revoke", revoke.clone()),
        by_access_token("an access token, to lift", Method::POST, "/agent/lift", revoke.clone()),
        by_key("an admin's key, to lift", Method::POST, "/agent/lift", revoke.clone()),
        by_access_token("an access token, to cancel", Method::POST, "/agent/cancel", cancel.clone()),
        by_key("an admin's key, to see the project", Method::GET, "/v1/project", Value::Null),
        by_key("an admin's key, to change the project", Method::PUT, "/v1/project", document),
        by_key("an admin's key, to read", Method::GET, &audit, Value::Null),
        by_key("an admin's key, to revoke", Method::POST, "/agent/revoke", revoke),
        by_key("an admin's key, to cancel", Method::POST, "/agent/cancel", cancel.clone()),
        by_access_token("an access token, to send a heartbeat", Method::POST, "/agent/heartbeat", cancel.clone()),
        by_access_token("an access token, to complete a task", Method::POST, "/agent/task-complete", cancel),
        by_access_token("an access token, to read a scope request", Method::GET, &request, Value::Null),
        by_access_token("an access token, to undo", Method::POST, "/agent/undo", json!({ "undo_id": "dec_1.und_1" })),
        by_access_token("an access token, to undo by URL", Method::POST, "/agent/undo/dec_1.und_1", Value::Null),
        by_key("an admin's key, to report an event", Method::POST, "/agent/events", event),
    ];
    all[0].at_home = Some(200);
    all[6].at_home = Some(200);
    all
}

impl Attempt {
    fn new(what: &'static str, by: By, method: Method, path: &str, body: Value) -> Self {
        let (thing, path) = (String::new(), path.to_owned());
        Self { what, by, method, path, body, thing, unknown: "", refused: (0, ""), at_home: None }
    }

    fn of(self, thing: &str, unknown: &'static str) -> Self {
        Self { thing: thing.to_owned(), unknown, ..self }
    }

    fn gets(self, status: u16, code: &'static str, at_home: Option<u16>) -> Self {
        Self { refused: (status, code), at_home, ..self }
    }
}
