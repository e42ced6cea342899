//! Passwords: argon2id, on threads of their own, a few at a time.

#[cfg(test)]
mod tests;

use argon2::{Algorithm, Argon2, Params, PasswordHash, PasswordHasher as _, PasswordVerifier as _, Version};
use countersign_core::refusal::Refusal;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// The cost of a password hash. Only tests should lower it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordCost {
    pub memory_kib: u32,
    pub passes: u32,
}

impl Default for PasswordCost {
    /// 19 MiB, two passes: the OWASP minimum.
    fn default() -> Self {
        Self { memory_kib: 19 * 1024, passes: 2 }
    }
}

pub(crate) struct Passwords {
    cost: PasswordCost,
    /// Each hash takes memory and a core; strangers must not be able to take them all.
    anybody: Arc<Semaphore>,
    signed_in: Arc<Semaphore>,
}

/// Separate queues for hashing: strangers, however many, do not delay a signed-in person.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Queue {
    Anybody,
    SignedIn,
}

impl Passwords {
    pub(crate) fn new(cost: PasswordCost) -> Self {
        Self { cost, anybody: Arc::new(Semaphore::new(2)), signed_in: Arc::new(Semaphore::new(1)) }
    }

    pub(crate) async fn hash(&self, password: &str, salt: [u8; 16]) -> Result<String, Refusal> {
        let hasher = self.hasher()?;
        let password = zeroize::Zeroizing::new(password.to_owned());
        self.on_a_thread(Queue::SignedIn, move || {
            let hash = hasher.hash_password_with_salt(password.as_bytes(), &salt);
            hash.map(|hash| hash.to_string()).map_err(|_| Refusal::Internal)
        })
        .await
    }

    /// Without a stored hash, the same work is done: the response time must not reveal which accounts exist.
    pub(crate) async fn verify(&self, password: &str, hash: Option<&str>, queue: Queue) -> Result<bool, Refusal> {
        let hasher = self.hasher()?;
        let password = zeroize::Zeroizing::new(password.to_owned());
        let hash = hash.map(str::to_owned);
        self.on_a_thread(queue, move || match hash.as_deref().map(PasswordHash::new) {
            Some(Ok(hash)) => Ok(hasher.verify_password(password.as_bytes(), &hash).is_ok()),
            Some(Err(_)) => Err(Refusal::Internal),
            None => {
                let _same_work = hasher.hash_password_with_salt(password.as_bytes(), &[0; 16]);
                Ok(false)
            }
        })
        .await
    }

    fn hasher(&self) -> Result<Argon2<'static>, Refusal> {
        let params = Params::new(self.cost.memory_kib, self.cost.passes, 1, None).map_err(|_| Refusal::Internal)?;
        Ok(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
    }

    /// The work itself holds the semaphore permit, because it continues when its caller has disconnected.
    async fn on_a_thread<T: Send + 'static>(
        &self,
        queue: Queue,
        work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
    ) -> Result<T, Refusal> {
        let room = match queue {
            Queue::Anybody => &self.anybody,
            Queue::SignedIn => &self.signed_in,
        };
        let place = Arc::clone(room).acquire_owned().await.map_err(|_| Refusal::Internal)?;
        let placed = move || {
            let _place = place;
            work()
        };
        tokio::task::spawn_blocking(placed).await.map_err(|_| Refusal::Internal)?
    }
}
