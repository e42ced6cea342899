//! The engine's operations, grouped by their subject. All services share the engine's state, its store and its step
//! runner; each is the only owner of its operations.

use crate::engine::Engine;
use std::{ops::Deref, sync::Arc};

macro_rules! services {
    ($($(#[$doc:meta])* $name:ident, $accessor:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy)]
            pub struct $name<'engine> {
                pub(crate) engine: &'engine Arc<Engine>,
            }

            /// The shared state.
            impl Deref for $name<'_> {
                type Target = Arc<Engine>;

                fn deref(&self) -> &Arc<Engine> {
                    self.engine
                }
            }
        )*

        impl Engine {
            $(
                $(#[$doc])*
                pub fn $accessor(self: &Arc<Self>) -> $name<'_> {
                    $name { engine: self }
                }
            )*
        }
    };
}

services! {
    /// AAP: operators, delegations, sessions and access tokens of agents, and their end.
    Agents, agents;
    /// Calls of agents at an enforcement point: decided, held, sent once and settled.
    Calls, calls;
    /// Decisions: raised, answered by people, claimed and followed to their outcome; standing approvals.
    Decisions, decisions;
    /// AAEP: sessions of agents, subscriptions, event streams and replies.
    Events, events;
    /// MPLP: plans, their confirms and their trace.
    Plans, plans;
    /// Clarification sessions: gaps, answers and the signed chain.
    Clarifications, clarifications;
    /// People, their sign-ins, roles and API keys.
    People, people;
    /// The audit log, for its readers.
    Evidence, evidence;
}
