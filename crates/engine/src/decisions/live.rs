//! Everything that an agent has open, for what ends it.

use crate::{
    engine::{Engine, unavailable},
    store::{self, Lookup},
};
use countersign_core::{decision::call_off::Live, refusal::Refusal};
use countersign_protocol::ids::RowKey;

impl Engine {
    /// Of a delegation, or of an API key: row keys are unique over all tables.
    pub(crate) async fn live_of_delegation(&self, delegation: RowKey) -> Result<Live, Refusal> {
        let store = &*self.store;
        Ok(Live {
            decisions: store::find_all(store, Lookup::DecisionsLiveOfDelegation(delegation))
                .await
                .map_err(unavailable)?,
            allowances: store::find_all(store, Lookup::AllowancesLiveOfDelegation(delegation))
                .await
                .map_err(unavailable)?,
            sessions: store::find_all(store, Lookup::AaepSessionsLiveOfDelegation(delegation))
                .await
                .map_err(unavailable)?,
        })
    }

    pub(crate) async fn live_of_session(&self, session: RowKey) -> Result<Live, Refusal> {
        let store = &*self.store;
        Ok(Live {
            decisions: store::find_all(store, Lookup::DecisionsLiveOfSession(session)).await.map_err(unavailable)?,
            allowances: store::find_all(store, Lookup::AllowancesLiveOfSession(session)).await.map_err(unavailable)?,
            sessions: store::find_all(store, Lookup::AaepSessionsLiveOfSession(session)).await.map_err(unavailable)?,
        })
    }
}
