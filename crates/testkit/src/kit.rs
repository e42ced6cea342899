//! One test suite for both databases: a promise is tested on SQLite, and on PostgreSQL too if the store has a part in it.

use crate::{Plane, Setup, postgres};
use countersign_engine::{
    Clock,
    store::{PostgresLocation, StoreLocation},
};
use std::time::Duration;
use tokio::task::JoinHandle;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Sqlite,
    Postgres,
}

/// Creates planes on one kind of database.
#[derive(Clone, Copy, Debug)]
pub struct Kit(pub Backend);

impl Kit {
    /// A plane with a calendar project, an operator `acme.test` and nobody else.
    pub async fn plane(self) -> Plane {
        self.plane_with(Setup::default()).await
    }

    pub async fn plane_with(self, setup: Setup) -> Plane {
        Plane::start(setup, self.fresh_location().await).await
    }

    pub async fn fresh_location(self) -> StoreLocation {
        match self.0 {
            Backend::Sqlite => StoreLocation::Temporary,
            Backend::Postgres => StoreLocation::Postgres(PostgresLocation::new(postgres::migrated_database().await)),
        }
    }
}

/// Keeps a plane's clock equal to the system clock, which foreign programs use, until dropped.
pub struct KeepsTime(JoinHandle<()>);

impl Setup {
    /// The setup with the current time.
    #[must_use]
    pub fn from_now(self) -> Self {
        Self { now: Clock::System.now(), ..self }
    }
}

impl Plane {
    /// Only for a store without a clock of its own.
    pub fn follow_system_clock(&self) -> KeepsTime {
        let clock = self.clock.clone();
        KeepsTime(tokio::spawn(async move {
            loop {
                clock.set(Clock::System.now());
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }))
    }
}

impl Drop for KeepsTime {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Makes two tests of every promise, one a database.
///
/// ```text
/// on_both_stores! {
///     /// AAP-8.2-01
///     async fn the_very_next_call_after_a_revocation_is_refused(kit) { let plane = kit.plane().await; … }
/// }
/// ```
#[macro_export]
macro_rules! on_both_stores {
    ($($(#[doc = $doc:expr])* async fn $name:ident($kit:ident) $body:block)+) => {
        $(mod $name {
            #[allow(unused_imports, reason = "the promise may need nothing of its file")]
            use super::*;

            $(#[doc = $doc])*
            async fn promise($kit: $crate::Kit) $body

            #[tokio::test]
            async fn on_sqlite() {
                $crate::deadline::whole_test(promise($crate::Kit($crate::Backend::Sqlite))).await;
            }

            #[tokio::test]
            async fn on_postgres() {
                $crate::deadline::whole_test(promise($crate::Kit($crate::Backend::Postgres))).await;
            }
        })+
    };
}

/// Makes one test of every promise, on SQLite: for rules in which the store has no part.
#[macro_export]
macro_rules! on_sqlite {
    ($($(#[doc = $doc:expr])* async fn $name:ident($kit:ident) $body:block)+) => {
        $($(#[doc = $doc])*
        #[tokio::test]
        async fn $name() {
            let $kit = $crate::Kit($crate::Backend::Sqlite);
            $crate::deadline::whole_test(async move $body).await;
        })+
    };
}
