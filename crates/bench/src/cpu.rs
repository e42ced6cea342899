//! CPU time of a piece of work.

use countersign_jose::{Expected, KeyPolicy, KeySet, SigningKey, verify_operator};
use countersign_protocol::{
    aap::operator_jwt::{self, OperatorClaims},
    domain::Domain,
    time::UnixMillis,
};
use std::time::Duration;

/// V: the CPU time of one bare ES256 verification of a JWT, the median of several batches.
pub(crate) fn one_verification() -> anyhow::Result<Duration> {
    let key = SigningKey::generate(None)?;
    let jwks = serde_json::json!({ "keys": [key.public_jwk()] });
    let keys = KeySet::parse(jwks.to_string().as_bytes(), &KeyPolicy::default())?;
    let domain = Domain::parse("acme.test")?;
    let service = "https://api.example.test";
    let claims = OperatorClaims { iss: domain.clone(), aud: service.into(), iat: 1_000_000, exp: 1_000_300, kid: None };
    let jwt = key.sign(operator_jwt::TYP, &claims)?;
    let expected = Expected { operator: &domain, service };
    let mut batches = Vec::new();
    for _ in 0..9 {
        let before = of_process("self")?;
        for _ in 0..4000 {
            verify_operator(&jwt, &keys, expected, UnixMillis::from_secs(1_000_100))?;
        }
        batches.push((of_process("self")? - before) / 4000);
    }
    batches.sort();
    Ok(batches.get(4).copied().unwrap_or_default())
}

/// User and system time of a process so far, from `/proc`.
pub(crate) fn of_process(pid: &str) -> anyhow::Result<Duration> {
    let schedstat = std::fs::read_dir(format!("/proc/{pid}/task"))?;
    let mut nanos = 0;
    for task in schedstat {
        let text = std::fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        nanos += text.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanos))
}
