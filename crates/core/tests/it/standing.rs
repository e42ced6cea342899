//! Validity of delegations and receipts: exact at every boundary, and never valid again once over.

use crate::worlds::{NOW, delegation};
use countersign_core::{
    aap::validity::{check_delegation, check_receipt},
    records::{Delegation, DelegationState, Receipt, RevokeReason},
    refusal::Refusal,
};
use countersign_protocol::{aap::consent_receipt::UsageLimits, hash::Digest, time::UnixMillis};
use proptest::prelude::*;

/// Times a few milliseconds apart, so that boundaries coincide.
fn moments() -> impl Strategy<Value = UnixMillis> {
    prop_oneof![-3..=3_i64, 299_998..=300_002_i64, -300_002..=-299_998_i64].prop_map(|millis| NOW.plus_millis(millis))
}

fn receipt(issued_at: UnixMillis, expires_at: UnixMillis, window: Option<(UnixMillis, UnixMillis)>) -> Receipt {
    Receipt {
        sha256: Digest::of(b"receipt"),
        said: Digest::of(b"said"),
        scopes: vec![],
        issued_at,
        expires_at,
        window,
        limits: UsageLimits::default(),
        heartbeat_s: None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    /// AAP-16.2-06, C-87, C-92
    #[test]
    fn a_delegation_ends_with_its_policy_exactly_and_with_its_token_300_seconds_late(
        token in moments(), policy in moments(), now in moments(),
    ) {
        let told = check_delegation(&delegation(token, policy), now);
        let token_over = now.0 > token.0 + 300_000;
        let policy_over = now >= policy;
        let wanted = match (token_over, policy_over) {
            (false, false) => Ok(()),
            (true, false) => Err(Refusal::DelegationExpired),
            (false, true) => Err(Refusal::AutoRevoked(RevokeReason::PolicyExpired)),
            (true, true) if token < policy => Err(Refusal::DelegationExpired),
            (true, true) => Err(Refusal::AutoRevoked(RevokeReason::PolicyExpired)),
        };
        prop_assert_eq!(told, wanted);
    }

    /// AAP-8.3-02
    #[test]
    fn a_recorded_end_is_reported_like_an_unrecorded_one_and_no_clock_takes_it_back(
        token in moments(), policy in moments(), now in moments(),
    ) {
        let state = DelegationState::AutoRevoked { at: policy, reason: RevokeReason::PolicyExpired };
        let recorded = Delegation { state, ..delegation(token, policy) };
        let told = check_delegation(&recorded, now);
        prop_assert!(told.is_err());
        if now >= policy {
            prop_assert_eq!(told, check_delegation(&delegation(token, policy), now));
        }
    }

    /// C-93
    #[test]
    fn a_revocation_is_reported_before_every_other_end(token in moments(), policy in moments(), now in moments()) {
        let reason = RevokeReason::TaskComplete;
        let revoked = Delegation { state: DelegationState::Revoked { at: NOW, reason }, ..delegation(token, policy) };
        prop_assert_eq!(check_delegation(&revoked, now), Err(Refusal::DelegationRevoked(reason)));
    }

    #[test]
    fn a_delegation_that_is_over_stays_over(token in moments(), policy in moments(), now in moments(), later in 0..700_000_i64) {
        let delegation = delegation(token, policy);
        if check_delegation(&delegation, now).is_err() {
            prop_assert!(check_delegation(&delegation, now.plus_millis(later)).is_err());
        }
    }

    /// C-83, C-87
    #[test]
    fn a_receipt_holds_from_its_earliest_to_the_earlier_of_its_ends_with_300_seconds_on_both_sides(
        issued in moments(), expires in moments(), window in proptest::option::of((moments(), moments())), now in moments(),
    ) {
        let told = check_receipt(&receipt(issued, expires, window), now);
        let earliest = window.map_or(issued, |(earliest, _)| earliest);
        let last = window.map_or(expires, |(_, latest)| latest.min(expires));
        let wanted = if now.0 > last.0 + 300_000 {
            Err(Refusal::ConsentExpired)
        } else if now.0 < earliest.0 - 300_000 {
            Err(Refusal::ConsentWindowNotOpen)
        } else {
            Ok(())
        };
        prop_assert_eq!(told, wanted);
    }

    #[test]
    fn a_window_never_makes_a_receipt_last_longer(
        issued in moments(), expires in moments(), window in (moments(), moments()), now in moments(),
    ) {
        if check_receipt(&receipt(issued, expires, None), now) == Err(Refusal::ConsentExpired) {
            prop_assert_eq!(check_receipt(&receipt(issued, expires, Some(window)), now), Err(Refusal::ConsentExpired));
        }
    }
}
