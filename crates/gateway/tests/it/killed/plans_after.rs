//! Invariants of a plan after a restart on the remaining data: nothing exceeded, nothing lost, nothing invented.

use super::{
    plans_ledger::{Fate, Ledger, Seen},
    plans_story::{Act, Cast, MOST, WHOLE, left_out, order, payment},
    process::NodeAddresses,
    story::unconfirmed,
};
use countersign_testkit::bank::GatewayRequest;

/// The lease of a claim (the usual terms of a project).
const LEASE_S: i64 = 60;

/// After this many acknowledged acts: returns the fate of the next one, and plays the story to its end from there.
pub(super) async fn is_sound(cast: &Cast, acknowledged: usize) -> (Option<Act>, Fate) {
    let (addresses, _serving) = cast.here().await;
    let (fate, found) = found(cast, addresses, acknowledged).await;
    let in_doubt = WHOLE.get(acknowledged).copied();
    println!("{in_doubt:?} in doubt: {fate:?}");
    found.agrees_with(&cast.fixture.bank);
    let effects = cast.fixture.bank.effects().len();
    let begun = in_doubt.filter(|_| fate == Fate::Begun).and_then(Act::call);
    is_taken(cast, addresses, begun.as_ref()).await;
    cast.fixture.plane.advance_secs(LEASE_S).await;
    let ledger = found.lapsed();
    stands(cast, addresses, &ledger).await;
    is_taken(cast, addresses, begun.as_ref()).await;
    assert_eq!(cast.fixture.bank.effects().len(), effects, "nothing runs by itself");
    let next = if fate == Fate::Nothing { acknowledged } else { acknowledged + 1 };
    goes_on(cast, addresses, ledger, WHOLE.get(next..).unwrap_or_default()).await;
    (in_doubt, fate)
}

/// Every acknowledged act is there, and the next one has happened, has begun, or has not.
async fn found(cast: &Cast, addresses: NodeAddresses, acknowledged: usize) -> (Fate, Ledger) {
    let seen = sees(cast, addresses).await;
    let possible = Ledger::possible(acknowledged);
    let all: Vec<Seen> = possible.iter().map(|(_, ledger)| ledger.seen()).collect();
    let found = possible.into_iter().find(|(_, ledger)| ledger.seen() == seen);
    found.unwrap_or_else(|| panic!("after {acknowledged} acts this cannot be:\n{seen:#?}\nbut one of\n{all:#?}"))
}

async fn sees(cast: &Cast, addresses: NodeAddresses) -> Seen {
    let actions = cast.actions(addresses).await.expect("a node that lives");
    Seen::of(actions, &cast.fixture.plane.place).await
}

async fn stands(cast: &Cast, addresses: NodeAddresses, ledger: &Ledger) {
    assert_eq!(sees(cast, addresses).await, ledger.seen());
    ledger.agrees_with(&cast.fixture.bank);
}

/// A call that may have run does not run again under the same approval, and no person is asked about it.
async fn is_taken(cast: &Cast, addresses: NodeAddresses, begun: Option<&GatewayRequest>) {
    let Some(sent) = begun else { return };
    let answer = cast.calls(addresses, sent.clone()).await.expect("a node that lives");
    assert_eq!(answer.refusal(), (409, "conflict".into()), "{}", answer.text());
    let shown = cast.actions(addresses).await.flatten().expect("a plan");
    let decision = format!("dec_{}", shown["confirm_id"].as_str().unwrap().replace('-', ""));
    assert!(answer.json()["error_description"].as_str().unwrap().contains(&decision), "{}", answer.text());
    assert_eq!(cast.fixture.alice.pending_questions(&cast.fixture.plane).await, 0);
}

/// The rest of the story, each act decided by the ledger's remainder, with the limits tried before they are revoked.
async fn goes_on(cast: &Cast, addresses: NodeAddresses, mut ledger: Ledger, rest: &[Act]) {
    for act in rest {
        if *act == Act::TakesBack {
            ledger = presses(cast, addresses, ledger).await;
        }
        match act.cents() {
            Some(cents) if !ledger.covers(cents) => is_held(cast, addresses, payment(cents)).await,
            _ => {
                cast.does(addresses, *act).await.expect("a node that lives");
                ledger = ledger.with(*act);
            }
        }
        stands(cast, addresses, &ledger).await;
    }
    assert!(ledger.is_taken_back(), "the story was told to its end");
    // No person is asked again about an order that may have run.
    let second_order = ledger.has_ordered().then(order);
    for more in [payment(100), left_out()].into_iter().chain(second_order) {
        is_held(cast, addresses, more).await;
    }
    stands(cast, addresses, &ledger).await;
}

/// A cent too much is held, exactly the remainder runs, and then not a cent more.
async fn presses(cast: &Cast, addresses: NodeAddresses, ledger: Ledger) -> Ledger {
    let left = ledger.left();
    assert!(left < MOST, "the sum is the tighter bound");
    is_held(cast, addresses, payment(left + 1)).await;
    cast.calls(addresses, payment(left)).await.expect("a node that lives").expect(201);
    let ledger = ledger.paid(left);
    is_held(cast, addresses, payment(1)).await;
    stands(cast, addresses, &ledger).await;
    ledger
}

/// No approval covers it: a person is asked, and nothing runs.
async fn is_held(cast: &Cast, addresses: NodeAddresses, sent: GatewayRequest) {
    let effects = cast.fixture.bank.effects().len();
    let answer = cast.calls(addresses, sent).await.expect("a node that lives");
    assert_eq!(answer.refusal(), unconfirmed(), "{}", answer.text());
    assert_eq!(answer.json()["decision"]["state"], "pending", "{}", answer.text());
    assert_eq!(cast.fixture.bank.effects().len(), effects);
}
