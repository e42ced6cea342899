//! One page of every kind, for tests and for the gallery.

use crate::pages::*;
use countersign_protocol::{aap::heartbeat::WatchedTask, domain::Domain, time::UnixMillis};
use serde_json::json;

pub(super) const NOW: UnixMillis = UnixMillis(1_794_774_420_000);

pub(super) fn domain(text: &str) -> Domain {
    Domain::parse(text).unwrap()
}

pub(super) fn frame(language: Language) -> Frame {
    Frame::new(language, "Meridian Calendar", Some("Alice Okafor"))
}

fn stranger(language: Language) -> Frame {
    Frame::new(language, "Meridian Calendar", None)
}

pub(super) fn operator() -> OperatorLabel {
    OperatorLabel::new(domain("agents.northwind.example"), "Northwind Assistant")
}

pub(super) fn scopes() -> Vec<ScopeWords> {
    let read = ScopeWords {
        id: "calendar.read".into(),
        description: Some("See your calendars and the events in them".into()),
        allows: vec!["events.list".into(), "events.get".into()],
        never: Vec::new(),
        irreversible: false,
        undo_window_s: 0,
        requires_confirmation: false,
    };
    let write = ScopeWords {
        id: "calendar.write".into(),
        description: Some("Create and change events".into()),
        allows: vec!["events.create".into(), "events.update".into()],
        never: vec!["events.delete".into(), "calendar.delete".into()],
        undo_window_s: 30,
        ..read.clone()
    };
    let send = ScopeWords {
        id: "invitations.send".into(),
        description: Some("Send invitations to other people in your name".into()),
        allows: vec!["invitations.send".into()],
        never: vec!["contacts.export".into()],
        irreversible: true,
        requires_confirmation: true,
        ..read.clone()
    };
    vec![read, write, send]
}

fn end_rules() -> EndRules {
    let policy = json!({
        "inactivity_timeout": 86_400, "on_task_completion": true, "on_events": ["user.offboarded", "user.role_changed"],
        "after_use": { "max_requests": 500, "max_writes": 50 },
    });
    let sources = json!({
        "expires_at": ["service"], "inactivity_timeout": ["user"], "on_task_completion": ["operator"],
        "on_events": ["service", "operator"], "after_use.max_requests": ["operator"], "after_use.max_writes": ["user"],
    });
    EndRules { policy: serde_json::from_value(policy).unwrap(), sources: serde_json::from_value(sources).unwrap() }
}

pub(super) fn connect(language: Language) -> ConnectPage {
    ConnectPage {
        frame: frame(language),
        request: "req_5f0c2f9d8e7b41a6b3c2d1e0f9a8b7c6".into(),
        operator: operator(),
        warnings: Vec::new(),
        scopes: scopes(),
        mode_disclosure: "It acts in your name.".into(),
        liability: Liability::Service("What it did may be impossible to reverse.".into()),
        lasts_s: 90 * 86_400,
        ends: end_rules(),
        own_rules: OwnRules::default(),
        callback_host: Some("agents.northwind.example".into()),
        answer_by: NOW.plus_secs(600),
        csrf: "token".into(),
        disclosure_id: "dis_1".into(),
        error: None,
    }
}

/// A consent screen with every possible warning and note.
pub(super) fn suspicious_connect(language: Language) -> ConnectPage {
    let operator = OperatorLabel::new(domain("xn--cme-5cd.com"), "acme.com Official Assistant");
    let warnings = examine(&operator.domain, &operator.name, &[domain("acme.com")], Some(&domain("meridian.example")));
    ConnectPage {
        operator,
        warnings,
        callback_host: None,
        liability: Liability::Operator("We answer for what our agent does.\n\nWrite to help@acme.com first.".into()),
        error: Some(ConnectError::NotAcknowledged),
        ..connect(language)
    }
}

/// An admin's page for a service account, before anything is proposed.
fn service_account_form(language: Language) -> ServiceAccountPage {
    let scope = |words: ScopeWords| ProposedScope { id: words.id.as_str().into(), words, chosen: false };
    ServiceAccountPage {
        frame: frame(language),
        request: "req_1".into(),
        operator: operator(),
        warnings: Vec::new(),
        proposed: ProposedGrant { scopes: scopes().into_iter().map(scope).collect(), ..ProposedGrant::default() },
        review: None,
        callback_host: None,
        answer_by: NOW.plus_secs(600),
        csrf: "token".into(),
        error: Some(GrantError::Proposal("account_id must begin with svc_".into())),
    }
}

/// The same with everything that would be granted.
pub(super) fn service_account(language: Language) -> ServiceAccountPage {
    let form = service_account_form(language);
    let review = GrantReview {
        account_id: "svc_front_desk".into(),
        org_id: "org_meridian".into(),
        description: "The front desk's shared calendar".into(),
        authorized_by: "alice@meridian.example".into(),
        scopes: scopes(),
        resources: vec!["calendar:desk".into(), "inbox:*".into()],
        routes_without_resource: vec!["GET /holidays".into()],
        crosses_users: true,
        mode_disclosure: "This agent uses fixed credentials.".into(),
        lasts_s: 90 * 86_400,
        ends: end_rules(),
        disclosure_id: "dis_1".into(),
    };
    let scopes = form.proposed.scopes.iter().cloned().map(|scope| ProposedScope { chosen: true, ..scope });
    let proposed = ProposedGrant {
        account_id: "svc_front_desk".into(),
        org_id: "org_meridian".into(),
        description: "The front desk's shared calendar".into(),
        resources: "calendar:desk\ninbox:*".into(),
        scopes: scopes.collect(),
    };
    let warnings = suspicious_connect(language).warnings;
    let callback_host = Some("agents.northwind.example".into());
    ServiceAccountPage { proposed, review: Some(review), warnings, callback_host, error: None, ..form }
}

/// Every text at its maximum length.
fn long_connect(language: Language) -> ConnectPage {
    let label = "averylonglabelthatgoesonandonandonuntilnobodycanreaditanymore";
    let longest = format!("{label}.{label}.{label}.example");
    let mut scopes = scopes();
    scopes[0].description = Some(PlainLine::cut(&"everything ".repeat(50), 200));
    scopes[0].allows = vec![PlainLine::cut(&"x".repeat(500), 80)];
    let operator = OperatorLabel::new(domain(&longest), &"Unbreakable".repeat(50));
    ConnectPage { operator, scopes, callback_host: Some(longest), ..connect(language) }
}

fn sign_in(language: Language) -> SignInPage {
    SignInPage {
        frame: stranger(language),
        purpose: SignInPurpose::SignIn,
        next: "/connect/req_1".into(),
        username: String::new(),
        csrf: "token".into(),
        error: None,
        notice: None,
    }
}

pub(super) fn connection() -> AgentConnection {
    AgentConnection {
        delegation_id: "del_7c1f0a9be24d4f6d8a53b2e10c94f7aa".into(),
        prefix: String::new(),
        operator: operator(),
        service: "Meridian Calendar".into(),
        scopes: scopes(),
        since: NOW.plus_secs(-8 * 86_400),
        until: NOW.plus_secs(82 * 86_400),
        ends: end_rules(),
        last_used: Some(NOW.plus_secs(-3600)),
        state: ConnectionState::Active,
    }
}

fn agents(language: Language) -> AgentsPage {
    let second = AgentConnection {
        delegation_id: "del_second00".into(),
        operator: OperatorLabel::new(domain("travel.xn--mller-kva.example"), ""),
        scopes: vec![scopes()[0].clone(), ScopeWords::no_longer_offered("rooms.book")],
        ends: EndRules::default(),
        last_used: None,
        state: ConnectionState::Suspended(SuspendedBy::Restore),
        ..connection()
    };
    let ended = AgentConnection {
        delegation_id: "del_third000".into(),
        operator: OperatorLabel::new(domain("old.example"), "Old Helper"),
        state: ConnectionState::Ended { at: NOW, why: EndReason::ManualRevoke },
        ..connection()
    };
    let notice = AgentsNotice::Revoked { operator: ended.operator.clone() };
    AgentsPage { frame: frame(language), connections: vec![connection(), second, ended], notice: Some(notice) }
}

/// A scope that one task has beyond its consent.
fn task_scope(approved: bool) -> TaskScope {
    let scope = match approved {
        true => connection().scopes.remove(0),
        false => ScopeWords::no_longer_offered("mail.invite"),
    };
    TaskScope { scope, session: "sess_0b51c8f3".into(), approved, since: NOW, until: NOW.plus_secs(86_400) }
}

/// The audit of a project, or of one decision.
fn audit(language: Language, decision: &str) -> ProjectAuditPage {
    let entry = |n: i64, result: &'static str, event: &str, who: &str| ProjectAuditEntry {
        at: NOW.plus_secs(n * 61),
        result,
        event: event.into(),
        who: Some(who.into()).filter(|_| !who.is_empty()),
        how: (result == "accepted").then(|| "fresh (password, 120 s before), page".into()),
        what: Some("payments.send".into()),
        decision_id: Some("dec_7c1f0a9be24d4f6d8a53b2e10c94f7aa".into()),
        altered: result == "altered",
    };
    ProjectAuditPage {
        frame: frame(language),
        prefix: "/projects/north".into(),
        sought: SoughtEntries { decision: decision.into(), ..SoughtEntries::default() },
        outcomes: vec!["accepted", "refused", "unknown"],
        entries: vec![
            entry(0, "recorded", "decision_raised", ""),
            entry(1, "accepted", "decision_settled", "alice"),
            entry(2, "recorded", "execution_claimed", "alice"),
            entry(3, "unknown", "execution_unknown", ""),
            entry(4, "reconciled", "execution_settled", "bob"),
            entry(5, "altered", "unreadable", ""),
        ],
        next_cursor: decision.is_empty().then(|| "0.7".into()),
    }
}

pub(super) fn agent(language: Language) -> AgentPage {
    let entry = |n: i64, method: &str, path: &str, intent: Option<&str>, outcome: &str| AuditRow {
        at: NOW.plus_secs(n * 61),
        method: method.into(),
        path: PlainLine::cut(path, 200),
        intent_type: intent.map(PlainLine::from),
        outcome: outcome.into(),
        session: "sess_0b51c8f3a2de4a7790cc1d5e6f708192".into(),
    };
    let watched = WatchedTask {
        session_id: "sess_0b51c8f3a2de4a7790cc1d5e6f708192".into(),
        heartbeat_interval: 1800,
        last_heartbeat: Some(NOW),
        status: None,
        progress: Some(40),
        missed_at: Some(NOW.plus_secs(1980)),
    };
    AgentPage {
        frame: frame(language),
        connection: connection(),
        standing: Vec::new(),
        tasks: vec![
            TaskRow { session_id: "sess_0b51c8f3a2de4a7790cc1d5e6f708192".into(), since: NOW, watched: Some(watched) },
            TaskRow { session_id: "sess_9d51c8f3a2de4a7790cc1d5e6f70feed".into(), since: NOW, watched: None },
        ],
        wider: Vec::new(),
        entries: vec![
            entry(0, "GET", "/calendar/events?from=2026-11-16", Some("READ_CALENDAR"), "200 OK"),
            entry(1, "POST", "/calendar/events", Some("SCHEDULE_MEETING"), "201 Created"),
            entry(2, "DELETE", "/calendar/events/ev_9921", Some("SCHEDULE_MEETING"), "403 action_not_allowed"),
            entry(3, "GET", "/calendar/events/ev_9921", None, "200 OK"),
        ],
        total: 128,
        is_first_page: false,
        next_cursor: Some("eyJz+/=".into()),
        csrf: "token".into(),
        notice: None,
    }
}

pub(super) fn account(language: Language) -> AccountPage {
    let speaker = SubscriberRow {
        id: "tok_speaker".into(),
        project: "calendar".into(),
        service: "Meridian Calendar".into(),
        name: "Kitchen speaker".into(),
        may_answer: true,
        legacy: false,
        approves_high_risk: true,
        since: NOW,
        until: NOW.plus_secs(90 * 86_400),
    };
    let old = SubscriberRow {
        id: "tok_old".into(),
        name: "Old screen reader".into(),
        may_answer: false,
        legacy: true,
        approves_high_risk: false,
        until: NOW.plus_secs(86_400),
        ..speaker.clone()
    };
    AccountPage {
        frame: frame(language),
        username: "alice".into(),
        signed_in_at: NOW,
        expires_at: NOW.plus_secs(43_200),
        subscribers: vec![speaker, old],
        new_subscriber: NewSubscriber {
            projects: vec![("calendar".into(), "Meridian Calendar".into()), ("mail".into(), "Meridian Mail".into())],
            legacy: true,
            days: 90,
            name: String::new(),
        },
        csrf: "token".into(),
        error: None,
        taken_back: None,
    }
}

/// Every page in every visually distinct state.
pub(super) fn all(language: Language) -> Vec<(&'static str, String)> {
    let ended = |end| ConnectEndedPage { frame: frame(language), end }.html();
    let trouble = |trouble| ErrorPage { frame: stranger(language), trouble, request_id: "req_42".into() }.html();
    let connected = ConnectedPage {
        frame: frame(language),
        operator: operator(),
        code: "code_4b1d7e0f93a84c5fb6e2d0c1a7f98e35".into(),
        code_expires_at: NOW.plus_secs(600),
        prefix: String::new(),
        delegation_id: Some(connection().delegation_id),
    };
    let revoke =
        RevokePage { frame: frame(language), connection: connection(), csrf: "token".into(), form_expired: false };
    let held = |by| AgentConnection { state: ConnectionState::Suspended(by), ..connection() };
    let (suspended, networks) = (held(SuspendedBy::Restore), held(SuspendedBy::ConcurrentUse));
    let account = account(language);
    let made = SubscriberMadePage {
        frame: frame(language),
        subscriber: account.subscribers[1].clone(),
        secret: "cst_4b1d7e0f93a84c5fb6e2d0c1a7f98e35".into(),
        endpoint: Some("/aaep/legacy/cst_4b1d7e0f93a84c5fb6e2d0c1a7f98e35".into()),
    };
    let nameless = AccountError::Subscriber(SubscribersError::Name);
    let unmakeable = AccountError::Subscriber(SubscribersError::Legacy);
    let confirm = SignInPage {
        frame: frame(language),
        purpose: SignInPurpose::Confirm,
        username: "alice".into(),
        ..sign_in(language)
    };
    let wrong = SignInPage { username: "alice".into(), error: Some(SignInError::Wrong), ..sign_in(language) };
    let too_many = SignInError::TooManyTries { retry_after_s: 120 };
    let signed_out = SignInPage { notice: Some(SignInNotice::SignedOut), ..sign_in(language) };
    vec![
        ("home", HomePage { frame: stranger(language) }.html()),
        ("home-signed-in", HomePage { frame: frame(language) }.html()),
        ("sign-in", sign_in(language).html()),
        ("sign-in-wrong", wrong.html()),
        ("sign-in-too-many", SignInPage { error: Some(too_many), ..sign_in(language) }.html()),
        ("sign-in-signed-out", signed_out.html()),
        ("sign-in-confirm", confirm.html()),
        ("sign-in-confirm-wrong", SignInPage { error: Some(SignInError::Wrong), ..confirm }.html()),
        ("connect", connect(language).html()),
        ("connect-suspicious", suspicious_connect(language).html()),
        ("connect-long", long_connect(language).html()),
        ("service-account-form", service_account_form(language).html()),
        ("service-account", service_account(language).html()),
        ("connected", connected.html()),
        ("connect-denied", ended(ConnectEnd::Denied { operator: operator() })),
        ("connect-expired", ended(ConnectEnd::Expired)),
        ("connect-answered", ended(ConnectEnd::AlreadyAnswered)),
        ("connect-gone", ended(ConnectEnd::Gone)),
        ("agents", agents(language).html()),
        ("agents-none", AgentsPage { connections: Vec::new(), notice: None, ..agents(language) }.html()),
        ("agent", agent(language).html()),
        ("agent-wider", AgentPage { wider: vec![task_scope(true), task_scope(false)], ..agent(language) }.html()),
        ("agent-suspended", AgentPage { connection: suspended, ..agent(language) }.html()),
        ("agent-networks", AgentPage { connection: networks, ..agent(language) }.html()),
        ("agent-unused", AgentPage { entries: Vec::new(), total: 0, next_cursor: None, ..agent(language) }.html()),
        ("audit", audit(language, "").html()),
        ("audit-decision", audit(language, "dec_7c1f0a9be24d4f6d8a53b2e10c94f7aa").html()),
        ("audit-none", ProjectAuditPage { entries: Vec::new(), next_cursor: None, ..audit(language, "") }.html()),
        ("revoke", revoke.html()),
        ("revoke-expired", RevokePage { form_expired: true, ..revoke }.html()),
        ("account-plain", AccountPage { subscribers: Vec::new(), ..account.clone() }.html()),
        ("account-expired", AccountPage { error: Some(AccountError::FormExpired), ..account.clone() }.html()),
        ("account-nameless", AccountPage { error: Some(nameless), ..account.clone() }.html()),
        ("account-no-legacy", AccountPage { error: Some(unmakeable), ..account.clone() }.html()),
        ("account-taken-back", AccountPage { taken_back: Some("Old speaker".into()), ..account.clone() }.html()),
        ("account", account.html()),
        ("subscriber-made", made.html()),
        ("error-bad-request", trouble(ErrorKind::BadRequest)),
        ("error-not-allowed", trouble(ErrorKind::NotAllowed)),
        ("error-form-expired", trouble(ErrorKind::FormExpired)),
        ("error-not-found", trouble(ErrorKind::NotFound)),
        ("error-wrong-method", trouble(ErrorKind::WrongMethod)),
        ("error-too-many", trouble(ErrorKind::TooMany { retry_after_s: 30 })),
        ("error-internal", trouble(ErrorKind::Internal)),
        ("error-unavailable", trouble(ErrorKind::Unavailable)),
    ]
    .into_iter()
    .chain(super::questions::all(language))
    .chain(super::plans::all(language))
    .chain(super::clarified::all(language))
    .collect()
}
