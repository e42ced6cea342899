//! Many projects behind one gateway: each by its own host, with its own routes, services and tokens.

use crate::{
    peer::{OK, Peer, request, soon, until},
    proxy_fixture::{envelope, refused, status},
};
use countersign_engine::Role;
use countersign_gateway::{Destination, GatewaySettings};
use countersign_testkit::{
    Backend, Kit, Plane, Registered, Setup,
    bank::{GATEWAY, GatewayListener},
};
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

struct Two {
    plane: Plane,
    node: GatewayListener,
    north: Peer,
    south: Peer,
}

/// Two projects that differ in one route, each with a service of its own.
async fn two(change: impl FnOnce(&mut GatewaySettings, &Peer, &Peer)) -> Two {
    let (north, south) = (Peer::open().await, Peer::open().await);
    let mut setup = Setup::multi();
    setup.gateway = Some(GATEWAY.into());
    for (document, peer) in setup.projects.iter_mut().zip([&north, &south]) {
        let upstreams = serde_json::json!([{ "id": "main", "url": peer.url() }]);
        document.upstreams = serde_json::from_value(upstreams).unwrap();
    }
    setup.projects[1].routes.retain(|route| route.id != "get");
    let plane = Kit(Backend::Sqlite).plane_with(setup).await;
    let node = GatewayListener::open(&plane.engine, |settings| {
        settings.subdomains = true;
        change(settings, &north, &south);
    })
    .await;
    Two { plane, node, north, south }
}

impl Two {
    async fn agent(&self, project: &str) -> Registered {
        let name = format!("alice-{project}");
        let alice = self.plane.person_in(project, &name, &[Role::User]).await;
        let prefix = format!("/projects/{project}");
        let connected = self.plane.connect_at(&prefix, &alice, self.plane.acme(), &["calendar.read"]).await;
        let body = self.plane.register_body(self.plane.acme(), &connected);
        let answer = self.plane.post(&format!("{prefix}/agent/register"), &body).await.expect(200).json();
        Registered {
            access_token: answer["access_token"].as_str().unwrap().to_owned(),
            session_id: answer["session_id"].as_str().unwrap().to_owned(),
            delegation_id: Some(connected.delegation_id),
            answer,
        }
    }

    fn request(&self, agent: &Registered, host: &str, path: &str) -> String {
        format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nAap-Version: 2.0\r\n\
             Authorization: Bearer {}\r\nX-Agent-Mode: user_delegated\r\nX-Agent-Intent-Type: READ_CALENDAR\r\n\
             X-Agent-Session: {}\r\nX-Agent-Delegation: {}\r\n\r\n",
            agent.access_token,
            agent.session_id,
            agent.delegation_id.as_deref().unwrap_or_default()
        )
    }

    async fn ask(&self, agent: &Registered, host: &str, path: &str) -> String {
        soon(self.node.raw(self.request(agent, host, path).as_bytes())).await
    }

    async fn nobody_is_called(&self) {
        assert!(!self.north.is_called().await && !self.south.is_called().await);
    }

    /// A call that the service of one project answers.
    #[expect(clippy::disallowed_methods, reason = "the test is the client")]
    async fn passes(&self, agent: &Registered, host: &str, peer: &Peer) {
        let mut caller = TcpStream::connect(self.node.address).await.unwrap();
        caller.write_all(self.request(agent, host, "/calendar/events").as_bytes()).await.unwrap();
        let mut behind = peer.accept().await;
        let got = request(&mut behind).await;
        assert!(got.contains(&format!("host: {}\r\n", peer.url().trim_start_matches("http://"))), "{got}");
        behind.write_all(OK.as_bytes()).await.unwrap();
        assert_eq!(status(&until(&mut caller, |text| text.ends_with("\r\n\r\nok")).await), 200);
    }
}

const NORTH: &str = "north.bank.example.test";
const SOUTH: &str = "south.bank.example.test";

#[tokio::test]
async fn each_projects_host_leads_to_its_own_service() {
    let two = two(|_, _, _| ()).await;
    let (north, south) = (two.agent("north").await, two.agent("south").await);
    two.passes(&north, NORTH, &two.north).await;
    two.passes(&south, SOUTH, &two.south).await;
    two.passes(&south, "SOUTH.bank.EXAMPLE.test", &two.south).await;
    two.nobody_is_called().await;
    // A route of one project does not exist in the other.
    let answer = two.ask(&south, SOUTH, "/calendar/events/1").await;
    assert_eq!(status(&answer), 404, "{answer}");
    two.nobody_is_called().await;
}

#[tokio::test]
async fn a_token_of_one_project_is_unknown_at_the_other() {
    let two = two(|_, _, _| ()).await;
    let (north, south) = (two.agent("north").await, two.agent("south").await);
    let mut made_up = north.clone();
    made_up.access_token = format!("{}x", &north.access_token[..north.access_token.len() - 1]);
    let unknown = refused(&two.ask(&made_up, NORTH, "/calendar/events").await);
    assert_eq!(unknown.0, 401);
    for (agent, host) in [(&north, SOUTH), (&south, NORTH)] {
        let answer = two.ask(agent, host, "/calendar/events").await;
        assert_eq!(refused(&answer), unknown, "no more is said than about a token that never was");
        assert!(!envelope(&answer).to_string().contains("north"), "{answer}");
    }
    two.nobody_is_called().await;
}

#[tokio::test]
async fn a_host_of_nobody_leads_nowhere() {
    let two = two(|_, _, _| ()).await;
    let north = two.agent("north").await;
    for host in
        ["west.bank.example.test", "north.south.bank.example.test", "north.example.test", "bank.example.test", "north"]
    {
        let answer = two.ask(&north, host, "/calendar/events").await;
        let (status, _) = refused(&answer);
        assert!(matches!(status, 400 | 401 | 404), "{host}: {answer}");
    }
    let listed =
        two.request(&north, NORTH, "/calendar/events").replacen(NORTH, &format!("{NORTH}\r\nHost: {SOUTH}"), 1);
    assert_eq!(refused(&two.node.raw(listed.as_bytes()).await), (400, "invalid_request".into()));
    two.nobody_is_called().await;
}

#[tokio::test]
async fn a_project_cannot_reach_a_service_that_the_node_does_not_allow() {
    let two =
        two(|settings, north, _| settings.allowed_upstreams = Some(vec![Destination::parse(&north.url()).unwrap()]))
            .await;
    let (north, south) = (two.agent("north").await, two.agent("south").await);
    let answer = two.ask(&south, SOUTH, "/calendar/events").await;
    assert_eq!(refused(&answer), (502, "upstream_failed".into()));
    assert!(!answer.contains("127.0.0.1"), "where it would have gone is nobody's to know: {answer}");
    two.nobody_is_called().await;
    two.passes(&north, NORTH, &two.north).await;
}
