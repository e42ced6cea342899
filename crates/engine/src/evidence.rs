//! `GET /agent/audit`: the reader's entitlement, then a page of the log.

use crate::{
    projects::ProjectAt,
    services::Evidence,
    store::{AuditBy, AuditPosition, AuditQuery, AuditRow, DelegationById, SessionsBySessionId, StoreError},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use countersign_core::{
    aap::audit::{AuditView, Selection, select},
    people::Actor,
    records::{Delegation, Session},
    refusal::Refusal,
};
use countersign_protocol::{aap::audit::AuditPage, hash::Digest, ids::RowKey, time::UnixMillis};

/// A query as received.
#[derive(Clone, Debug, Default)]
pub struct AuditAsked {
    pub delegation_id: Option<String>,
    pub session_id: Option<String>,
    pub account_id: Option<String>,
    pub from: Option<UnixMillis>,
    pub to: Option<UnixMillis>,
    pub event_type: Option<String>,
    pub limit: usize,
    pub cursor: Option<String>,
}

impl Evidence<'_> {
    pub async fn audit(self, at: &ProjectAt, actor: &Actor, asked: &AuditAsked) -> Result<AuditPage, Refusal> {
        let view = self.audit_view(at, asked).await?;
        let selection = select(actor, &view)?;
        let query = AuditQuery {
            project: at.project.key,
            by: match &selection {
                Selection::Delegations(keys) => AuditBy::Delegation(keys.clone()),
                Selection::Sessions(keys) => AuditBy::Session(keys.clone()),
                Selection::SessionsUnder { sessions, delegations } => {
                    AuditBy::SessionUnder { sessions: sessions.clone(), delegations: delegations.clone() }
                }
            },
            from: asked.from,
            to: asked.to,
            event_type: asked.event_type.clone(),
            after: asked.cursor.as_deref().map(|cursor| self.open_cursor(at, asked, &selection, cursor)).transpose()?,
            limit: asked.limit,
        };
        let page = self.store.audit(query).await?;
        let last = page.rows.last().map(|row| row.place).filter(|_| page.more);
        let next_cursor = last.map(|place| self.cursor(at, asked, &selection, place)).transpose()?;
        // The index of the log is only a way to the entries: each says by itself whose it is.
        let own = page.rows.iter().filter(|row| is_of(row, &selection));
        let entries = own.map(|row| self.evidence_health.entry(row)).collect();
        Ok(AuditPage { entries, next_cursor, total_count: i64::try_from(page.total).unwrap_or(i64::MAX) })
    }

    async fn audit_view(self, at: &ProjectAt, asked: &AuditAsked) -> Result<AuditView, StoreError> {
        let project = at.project.key;
        let delegation: Option<Delegation> = match &asked.delegation_id {
            Some(id) => self.find_one(DelegationById { project, id: id.clone() }).await?,
            None => None,
        };
        let accounts = match &asked.account_id {
            Some(id) => self.agents().grants_of_account(project, id).await?,
            None => Vec::new(),
        };
        let sessions: Vec<Session> = match &asked.session_id {
            Some(session_id) => self.find_all(SessionsBySessionId { project, session_id: session_id.clone() }).await?,
            None => Vec::new(),
        };
        let mut session_delegations = Vec::new();
        for key in sessions.iter().flat_map(Session::delegations_ever) {
            session_delegations.extend(self.get::<Delegation>(key).await?);
        }
        Ok(AuditView {
            project,
            delegation_asked: asked.delegation_id.is_some(),
            delegation,
            account_asked: asked.account_id.is_some(),
            accounts,
            session_asked: asked.session_id.is_some(),
            sessions,
            session_delegations,
        })
    }

    /// A cursor is a position under a MAC that also covers the query: it fits no other query (C-90).
    fn cursor(
        self,
        at: &ProjectAt,
        asked: &AuditAsked,
        selection: &Selection,
        place: AuditPosition,
    ) -> Result<String, Refusal> {
        let keys = self.keys().ok_or(Refusal::Unavailable)?;
        let place = [place.at.0.to_be_bytes(), place.lane.to_be_bytes(), place.seq.to_be_bytes()].concat();
        let tag = keys.mac.tag("audit-cursor", &cursor_mac_input(at, asked, selection, &place));
        Ok(URL_SAFE_NO_PAD.encode([place, tag.to_vec()].concat()))
    }

    fn open_cursor(
        self,
        at: &ProjectAt,
        asked: &AuditAsked,
        selection: &Selection,
        cursor: &str,
    ) -> Result<AuditPosition, Refusal> {
        let refused = || Refusal::invalid("cursor is not one that this query was given");
        let keys = self.keys().ok_or(Refusal::Unavailable)?;
        let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| refused())?;
        let (place, tag) = bytes.split_at_checked(24).ok_or_else(refused)?;
        if !keys.mac.verify("audit-cursor", &cursor_mac_input(at, asked, selection, place), tag) {
            return Err(refused());
        }
        let number = |n: usize| place.get(n * 8..n * 8 + 8).and_then(|b| b.try_into().ok()).map(i64::from_be_bytes);
        match (number(0), number(1), number(2)) {
            (Some(at), Some(lane), Some(seq)) => Ok(AuditPosition { at: UnixMillis(at), lane, seq }),
            _ => Err(refused()),
        }
    }
}

fn is_of(row: &AuditRow, selection: &Selection) -> bool {
    let is_in = |sessions: &[RowKey]| row.session.is_some_and(|key| sessions.contains(&key));
    match selection {
        Selection::Delegations(keys) => row.delegation.is_some_and(|key| keys.contains(&key)),
        Selection::Sessions(keys) => is_in(keys),
        Selection::SessionsUnder { sessions, delegations } => is_in(sessions) && delegations.contains(&row.delegation),
    }
}

fn cursor_mac_input(at: &ProjectAt, asked: &AuditAsked, selection: &Selection, place: &[u8]) -> Vec<u8> {
    let query = format!("{:?}", (at.project.key, selection, asked.from, asked.to, &asked.event_type));
    [Digest::of(query.as_bytes()).0.as_slice(), place].concat()
}
