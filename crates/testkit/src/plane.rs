//! A whole plane in one call: router, store, manual clock, seeded entropy, operators, and an upstream API.

use crate::{
    Answer, Names, TestOperator, TestPerson, TestUpstream, calendar, envelope, logs, openapi_judge::JudgedRequest,
    operator_host::TestCa, person::PASSWORD, postgres,
};
use axum::{Router, body::Body, extract::ConnectInfo};
use countersign_engine::{
    Address, Clock, Engine, Entropy, EvidenceSettings, ManualClock, NodeClock, PasswordCost, Role, Settings,
    StartError, Tenancy, Throttle,
    store::{self, Retention, Store, StoreLocation, StoreOptions},
};
use countersign_gateway::CountersignLayer;
use countersign_jose::KeyPolicy;
use countersign_outbound::{Fetcher, FetcherConfig, RecentFetches, operators};
use countersign_protocol::{ids::ProjectId, origin::Origin, project::ProjectDocument, time::UnixMillis};
use countersign_server::{App, Limits, Metrics, OperatorsPort, operations_router, router};
use http::{Method, Request, header};
use serde_json::Value;
use std::{net::SocketAddr, sync::Arc};

/// The key-encryption key of every plane's database.
pub(crate) const KEY_ENCRYPTION_KEY: [u8; 32] = [7; 32];

/// The differences of a plane from the usual one.
pub struct Setup {
    pub origin: String,
    /// The public origin of the gateway, for planes that have one.
    pub gateway: Option<String>,
    pub tenancy: Tenancy,
    pub subdomains: bool,
    pub test_mode: bool,
    pub now: UnixMillis,
    pub projects: Vec<ProjectDocument>,
    /// Domains that have a TLS server; the first is [`Plane::acme`].
    pub operators: Vec<&'static str>,
    /// The addresses of other names. A name that is in neither list does not exist.
    pub names: Names,
    pub throttle: Throttle,
    pub connect_requests_per_minute: i64,
    pub fresh_s: i64,
    pub limits: Limits,
    pub retention: Retention,
    pub evidence: EvidenceSettings,
    pub seed: u64,
    /// Wraps the store of the engine.
    pub wrap_store: StoreWrapper,
}

type StoreWrapper = Arc<dyn Fn(Arc<dyn Store>) -> Arc<dyn Store> + Send + Sync>;

impl Default for Setup {
    fn default() -> Self {
        Self {
            origin: "https://api.example.test".into(),
            gateway: None,
            tenancy: Tenancy::Single,
            subdomains: false,
            test_mode: false,
            now: UnixMillis::parse_rfc3339("2026-11-15T12:00:00Z").unwrap(),
            projects: vec![calendar("calendar")],
            operators: vec!["acme.test"],
            names: Names::default(),
            throttle: Throttle::default(),
            // The clock stands still while tests connect a crowd.
            connect_requests_per_minute: 100_000,
            fresh_s: 300,
            limits: Limits::default(),
            retention: Retention::default(),
            evidence: EvidenceSettings::default(),
            seed: 7,
            wrap_store: Arc::new(|store| store),
        }
    }
}

impl Setup {
    /// Two projects, `north` and `south`, with subdomains.
    pub fn multi() -> Self {
        Self {
            tenancy: Tenancy::Multi,
            subdomains: true,
            projects: vec![calendar("north"), calendar("south")],
            ..Self::default()
        }
    }

    /// The usual plane with another project document.
    pub fn with_project(change: impl FnOnce(&mut ProjectDocument)) -> Self {
        let mut document = calendar("calendar");
        change(&mut document);
        Self { projects: vec![document], ..Self::default() }
    }
}

pub struct Plane {
    pub clock: ManualClock,
    pub engine: Arc<Engine>,
    pub app: App,
    pub directory: OperatorsPort,
    /// The fetches of the directory, oldest first.
    pub asked: Arc<RecentFetches>,
    /// Everything on the public listener.
    pub public: Router,
    /// Everything on the operations listener.
    pub operations: Router,
    pub ca: TestCa,
    pub operators: Vec<TestOperator>,
    pub upstream: TestUpstream,
    pub place: StoreLocation,
    setup: Setup,
}

impl Plane {
    pub async fn start(setup: Setup, place: StoreLocation) -> Self {
        let plane = Self::resume(setup, place).await;
        for document in &plane.setup.projects {
            plane.engine.apply_project(document.clone(), "test").await.expect("a sound project");
        }
        plane
    }

    /// A plane on the database of an earlier one.
    pub async fn resume(setup: Setup, place: StoreLocation) -> Self {
        logs::allow_capture();
        let ca = TestCa::new();
        let mut operators = Vec::new();
        for domain in &setup.operators {
            operators.push(TestOperator::start(&ca, domain).await);
        }
        let clock = ManualClock::at(setup.now);
        Self::assemble(setup, place, ca, operators, clock, TestUpstream::default()).await
    }

    async fn assemble(
        setup: Setup,
        place: StoreLocation,
        ca: TestCa,
        operators: Vec<TestOperator>,
        clock: ManualClock,
        upstream: TestUpstream,
    ) -> Self {
        let by = NodeClock::from(Clock::Manual(clock.clone()));
        let store = open_store(&place, &by).await;
        if let StoreLocation::Postgres(place) = &place {
            postgres::set_clock(&place.url, clock.now().0).await;
        }
        let asked = Arc::new(RecentFetches::with_room_for(1000));
        let directory = directory(&setup, &ca, &operators, Arc::clone(&asked));
        let engine = Engine::start(
            settings(&setup),
            (setup.wrap_store)(store),
            by,
            Entropy::seeded(setup.seed),
            &KEY_ENCRYPTION_KEY,
            Arc::new(directory.clone()),
        );
        let engine = engine.await.expect("an engine");
        let app = App::new(Arc::clone(&engine), setup.limits, Vec::new(), Metrics::default(), setup.seed);
        Self {
            clock,
            public: router(app.clone()),
            operations: operations_router(app.clone(), Some(directory.clone())),
            engine,
            app,
            directory,
            asked,
            ca,
            operators,
            upstream,
            place,
            setup,
        }
    }

    /// Stops the engine and starts another on the same store and clock, as after a crash: nothing in memory survives.
    pub async fn restart(self) -> Self {
        let Self { engine, mut setup, place, ca, operators, clock, upstream, .. } = self;
        engine.store().close().await;
        drop(engine);
        setup.seed += 1;
        Self::assemble(setup, place, ca, operators, clock, upstream).await
    }

    /// Another start on the same database and clock, once the node of this plane has closed it.
    pub async fn start_again(&self) -> Result<Arc<Engine>, StartError> {
        let by = NodeClock::from(Clock::Manual(self.clock.clone()));
        let (store, entropy, operators) = self.parts_of_start(&by).await;
        Engine::start(settings(&self.setup), store, by, entropy, &KEY_ENCRYPTION_KEY, operators).await
    }

    /// The engine of a command that accepts the clock.
    pub async fn open_to_set_clock(&self) -> Arc<Engine> {
        let by = NodeClock::from(Clock::Manual(self.clock.clone()));
        let (store, entropy, operators) = self.parts_of_start(&by).await;
        let engine =
            Engine::start_to_set_clock(settings(&self.setup), store, by, entropy, &KEY_ENCRYPTION_KEY, operators);
        engine.await.expect("an engine")
    }

    async fn parts_of_start(&self, by: &NodeClock) -> (Arc<dyn Store>, Entropy, Arc<OperatorsPort>) {
        let store = open_store(&self.place, by).await;
        (store, Entropy::seeded(self.setup.seed + 2000), Arc::new(self.directory.clone()))
    }

    /// The response to a readiness check.
    pub async fn readyz(&self) -> (u16, String) {
        let answer = Answer::to(&self.operations, Request::get("/readyz").body(Body::empty()).unwrap()).await;
        (answer.status, answer.text().to_owned())
    }

    /// A second node on the same database. Only where the database can be shared.
    pub async fn second_node(&self) -> (Arc<Engine>, Router) {
        self.second_node_by(&self.clock).await
    }

    /// A second node with a clock of its own.
    pub async fn second_node_by(&self, clock: &ManualClock) -> (Arc<Engine>, Router) {
        let by = NodeClock::from(Clock::Manual(clock.clone()));
        let store = open_store(&self.place, &by).await;
        let engine = Engine::start(
            settings(&self.setup),
            store,
            by,
            Entropy::seeded(self.setup.seed + 1000),
            &KEY_ENCRYPTION_KEY,
            Arc::new(self.directory.clone()),
        );
        let engine = engine.await.expect("a second engine");
        let app = App::new(Arc::clone(&engine), self.setup.limits, Vec::new(), Metrics::default(), 99);
        (engine, router(app))
    }

    pub fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    /// Advances the clock of the node and of its database, and settles everything due.
    pub async fn advance_secs(&self, secs: i64) {
        self.advance_without_settling(secs).await;
        // Some tests use a failing store, which settles nothing.
        let _settled = self.engine.decisions().settle_due().await;
    }

    /// Advances the clock without settling anything due, as if no node were running.
    pub async fn advance_without_settling(&self, secs: i64) {
        self.clock.advance_secs(secs);
        if let StoreLocation::Postgres(place) = &self.place {
            postgres::set_clock(&place.url, self.clock.now().0).await;
        }
    }

    /// Sets the clocks of the node and of its database without letting time pass.
    pub async fn step_clock_secs(&self, secs: i64) {
        self.clock.leap_millis(secs * 1000);
        self.advance_without_settling(0).await;
    }

    /// The base URI of the service.
    pub fn service(&self) -> &str {
        &self.setup.origin
    }

    /// The first operator.
    pub fn acme(&self) -> &TestOperator {
        self.operators.first().expect("an operator")
    }

    pub fn operator(&self, domain: &str) -> &TestOperator {
        self.operators.iter().find(|o| o.domain() == domain).expect("an operator of the setup")
    }

    /// The API of the only project, behind the gateway.
    pub fn api(&self) -> Router {
        self.api_at(Address::Unscoped)
    }

    pub fn api_at(&self, address: Address) -> Router {
        self.upstream.router().layer(CountersignLayer::new(Arc::clone(&self.engine), address))
    }

    /// A person with an account and roles in the first project, signed in.
    pub async fn person(&self, name: &str) -> TestPerson {
        let project = self.setup.projects.first().expect("a project").id.to_string();
        self.person_in(&project, name, &[Role::User]).await
    }

    pub async fn person_in(&self, project: &str, name: &str, roles: &[Role]) -> TestPerson {
        self.account(name).await;
        self.give_roles(project, name, roles).await;
        TestPerson::sign_in(self, name).await
    }

    /// An account without a role in any project.
    pub async fn account(&self, name: &str) {
        self.engine.people().add_person(name, name, PASSWORD, false).await.expect("an account");
    }

    pub async fn give_roles(&self, project: &str, name: &str, roles: &[Role]) {
        let id = ProjectId::parse(project).expect("a project id");
        let project = self.engine.find_project(&id).await.expect("a store").expect("a project");
        self.engine.people().set_roles(project.key, name, roles.to_vec()).await.expect("roles");
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path).body(Body::empty()).unwrap()).await
    }

    /// A POST as an agent sends it: JSON, with the protocol version.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(agent_request(Method::POST, path).body(Body::from(body.to_string())).unwrap()).await
    }

    /// Through the whole public router, as from a loopback address.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        send_own(&self.public, request).await
    }
}

async fn open_store(place: &StoreLocation, clock: &NodeClock) -> Arc<dyn Store> {
    let clock = clock.clone();
    let options = StoreOptions { readers: 8, place: place.clone(), clock: Arc::new(move || clock.now()) };
    store::open(options).await.expect("a store")
}

/// Sends through the router of another node.
pub(crate) async fn send_own(node: &Router, request: Request<Body>) -> Answer {
    let (sent, request) = JudgedRequest::of(from_loopback(request)).await;
    let answer = Answer::to(node, request).await;
    envelope::check_own(&answer);
    sent.judge(&answer);
    answer
}

/// A request with the protocol version and a JSON body's type.
pub fn agent_request(method: Method, path: &str) -> http::request::Builder {
    Request::builder()
        .method(method)
        .uri(path)
        .header("aap-version", "2.0")
        .header(header::CONTENT_TYPE, "application/json")
}

pub async fn send_to(router: &Router, request: Request<Body>) -> Answer {
    let answer = Answer::to(router, from_loopback(request)).await;
    envelope::check_forwarded(&answer);
    answer
}

fn from_loopback(mut request: Request<Body>) -> Request<Body> {
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 40000))));
    request
}

fn settings(setup: &Setup) -> Settings {
    Settings {
        origin: Origin::parse(&setup.origin).expect("an origin"),
        gateway: setup.gateway.as_deref().map(|origin| Origin::parse(origin).expect("an origin")),
        tenancy: setup.tenancy,
        subdomains: setup.subdomains,
        test_mode: setup.test_mode,
        throttle: setup.throttle,
        connect_requests_per_minute: setup.connect_requests_per_minute,
        sign_in_lifetime_s: 12 * 3600,
        // The smallest cost that argon2 accepts: tests sign in often.
        fresh_s: setup.fresh_s,
        password_cost: PasswordCost { memory_kib: 8, passes: 1 },
        unrecorded_outcomes: None,
        retention: setup.retention,
        evidence: setup.evidence.clone(),
    }
}

fn directory(setup: &Setup, ca: &TestCa, operators: &[TestOperator], asked: Arc<RecentFetches>) -> OperatorsPort {
    let static_hosts = operators.iter().map(|o| (o.domain().to_owned(), o.host.addr())).collect();
    let config = FetcherConfig {
        static_hosts,
        extra_roots_pem: ca.pem().into(),
        native_roots: false,
        ..FetcherConfig::default()
    };
    let names = Arc::new(setup.names.clone());
    let fetcher = Fetcher::new(config).expect("a fetcher").with_resolver(names).with_log(asked);
    let config = operators::DirectoryConfig {
        key_policy: KeyPolicy { allow_published_test_keys: setup.test_mode },
        ..operators::DirectoryConfig::default()
    };
    OperatorsPort(operators::Directory::new(fetcher, config))
}
