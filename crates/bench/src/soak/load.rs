//! State shared by all agents: the nodes, the person, the record, and the end of the load.

use super::{http::Listener, node::SoakNode, person::SoakPerson, record::SoakRecord};
use countersign_engine::Clock;
use countersign_testkit::TestOperator;
use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

pub(super) struct Load {
    pub(super) seed: u64,
    pub(super) record: Arc<SoakRecord>,
    pub(super) person: SoakPerson,
    nodes: Vec<Arc<SoakNode>>,
    operator: TestOperator,
    origin: String,
    /// The next node to call.
    turn: AtomicUsize,
    is_over: AtomicBool,
    /// Whether every kind of fault has struck once.
    has_seen_all: AtomicBool,
    held_calls: AtomicUsize,
    /// The load ends after that many held calls.
    enough: Option<usize>,
}

impl Load {
    pub(super) fn new(
        (seed, enough): (u64, Option<usize>),
        record: Arc<SoakRecord>,
        person: SoakPerson,
        nodes: Vec<Arc<SoakNode>>,
        (operator, origin): (TestOperator, String),
    ) -> Self {
        let (turn, held_calls) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (is_over, has_seen_all) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { seed, record, person, nodes, operator, origin, turn, is_over, has_seen_all, held_calls, enough }
    }

    pub(super) fn operator_jwt(&self) -> String {
        self.operator.jwt(&self.origin, Clock::System.now())
    }

    pub(super) fn public(&self, node: usize) -> Listener {
        self.nodes[node % self.nodes.len()].public.clone()
    }

    /// Nodes take turns.
    pub(super) fn any_public(&self) -> Listener {
        self.public(self.turn.fetch_add(1, Ordering::Relaxed))
    }

    pub(super) fn any_gateway(&self) -> Listener {
        let node = self.turn.fetch_add(1, Ordering::Relaxed);
        self.nodes[node % self.nodes.len()].gateway.clone()
    }

    pub(super) fn one_held_call_ended(&self) {
        let ended = self.held_calls.fetch_add(1, Ordering::Relaxed) + 1;
        if self.enough.is_some_and(|enough| ended >= enough) {
            self.end();
        }
    }

    pub(super) fn held_calls(&self) -> usize {
        self.held_calls.load(Ordering::Relaxed)
    }

    pub(super) fn all_faults_were_made(&self) {
        self.has_seen_all.store(true, Ordering::Relaxed);
    }

    pub(super) fn has_seen_all_faults(&self) -> bool {
        self.has_seen_all.load(Ordering::Relaxed)
    }

    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }
}
