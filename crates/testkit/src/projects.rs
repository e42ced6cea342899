//! A test project: a calendar.

use countersign_protocol::{
    ids::ProjectId,
    project::{ProjectDocument, Route, Scope},
};
use serde_json::json;

/// Reads and writes events; deleting is excluded, inviting is irreversible, the time of day is public.
pub fn calendar(id: &str) -> ProjectDocument {
    let document = json!({
        "id": ProjectId::parse(id).expect("a project id"),
        "display_name": "Calendar",
        "scopes": scopes(),
        "routes": routes(),
    });
    serde_json::from_value(document).expect("the calendar's document")
}

fn scopes() -> Vec<Scope> {
    let scopes = json!([
        { "id": "calendar.read", "description": "See your calendar", "allows": ["events.list", "events.get"],
          "intent_types": ["READ_CALENDAR", "SCHEDULE_EVENT"] },
        { "id": "calendar.write", "description": "Create and change events in your calendar",
          "allows": ["events.create", "events.update"], "explicitly_excludes": ["events.delete"],
          "intent_types": ["SCHEDULE_EVENT"] },
        { "id": "calendar.admin", "description": "Delete events from your calendar", "allows": ["events.delete"],
          "intent_types": ["CLEAN_UP"] },
        { "id": "mail.invite", "description": "Send invitations in your name", "allows": ["mail.send"],
          "irreversible": true, "intent_types": ["SEND_INVITATION"] },
        { "id": "clock.read", "description": "Read the time of day", "allows": ["clock.get"], "low_stakes": true,
          "intent_types": ["READ_CLOCK"] },
    ]);
    serde_json::from_value(scopes).expect("scopes")
}

fn routes() -> Vec<Route> {
    let routes = json!([
        { "id": "list", "method": "GET", "path": "/calendar/events", "action": "events.list" },
        { "id": "get", "method": "GET", "path": "/calendar/events/{event}", "action": "events.get" },
        { "id": "create", "method": "POST", "path": "/calendar/events", "action": "events.create" },
        { "id": "update", "method": "PUT", "path": "/calendar/events/{event}", "action": "events.update" },
        { "id": "delete", "method": "DELETE", "path": "/calendar/events/{event}", "action": "events.delete" },
        { "id": "invite", "method": "POST", "path": "/mail/invitations", "action": "mail.send" },
        { "id": "clock", "method": "GET", "path": "/clock", "action": "clock.get" },
        { "id": "set-clock", "method": "PUT", "path": "/clock", "action": "clock.get" },
    ]);
    serde_json::from_value(routes).expect("routes")
}
