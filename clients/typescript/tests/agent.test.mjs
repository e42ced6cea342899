// An AAP agent against the real binary: connected, registered, held, approved, renewed and cut off.

import assert from "node:assert/strict";
import { createServer as createPlain } from "node:http";
import { createServer } from "node:https";
import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Agent, NotRegistered, NotUsable, OperatorKey, SigningKey, verify } from "../dist/aap.js";
import * as sdk from "../dist/index.js";
import { Node, PASSWORD, eventually, inBackground, run, temporary } from "./support.mjs";

const DOMAIN = "acme.test";

const SHOP = `
id = "shop"
credential_ttl = 1800

[[upstreams]]
id = "shop"
url = "http://ADDRESS"
credential = "shop"

[[scopes]]
id = "shop.help"
description = "Look at your orders, and prepare refunds that you confirm one by one"
allows = ["orders.read", "refunds.send"]
intent_types = ["HELP_CUSTOMER"]

[[routes]]
id = "read-order"
method = "GET"
path = "/orders/{order}"
action = "orders.read"

[[routes]]
id = "send-refund"
method = "POST"
path = "/refunds"
action = "refunds.send"
irreversible = true
describe.action = "Refund {body.amount} for payment {body.payment_id}"

[[scopes]]
id = "shop.notes"
description = "Send notes, each one only after you have confirmed it"
allows = ["notes.send"]
irreversible = true
undo_window_s = 600
intent_types = ["HELP_CUSTOMER"]

[[routes]]
id = "send-note"
method = "POST"
path = "/notes"
action = "notes.send"
irreversible = true
undo = { by = "hold" }
describe.action = "Send the note {body.text}"
`;

const CONFIG = `
[gateway.credentials.shop]
value = "Bearer the-shops-own"

[outbound]
extra_roots = ["ca.pem"]

[outbound.static]
"${DOMAIN}" = "ADDRESS"
`;

const servers = [];
after(() => servers.forEach((server) => (server.close(), server.closeAllConnections())));

/** Serves documents as JSON, and yields its address. */
async function site(create, documents, requests = []) {
  const server = create((request, response) => {
    const pieces = [];
    request.on("data", (piece) => pieces.push(piece));
    request.on("end", () => {
      requests.push({ method: request.method, body: Buffer.concat(pieces).toString() });
      const document = documents[request.url];
      const status = document === undefined ? 404 : request.method === "POST" ? 201 : 200;
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(document ?? {}));
    });
  });
  servers.push(server);
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return `127.0.0.1:${server.address().port}`;
}

/** A certificate of the test's own authority, which goes to ca.pem. */
async function certificate(folder) {
  const openssl = (line) => run("openssl", line.split(" "), { cwd: folder });
  const key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1";
  await openssl(`req -x509 ${key} -keyout ca.key -out ca.pem -subj /CN=TestCA -addext basicConstraints=critical,CA:TRUE`);
  await openssl(`req ${key} -keyout site.key -out site.csr -subj /CN=${DOMAIN}`);
  await writeFile(join(folder, "site.ext"), `subjectAltName=DNS:${DOMAIN}\nbasicConstraints=CA:FALSE\n`);
  await openssl("x509 -req -in site.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 -extfile site.ext -out site.pem");
  const read = (name) => readFile(join(folder, name));
  return { key: await read("site.key"), cert: await read("site.pem") };
}

/** robin in a browser. */
class Person {
  static async signsIn(origin) {
    const robin = new Person();
    const body = JSON.stringify({ name: "robin", password: PASSWORD });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${origin}/session`, { method: "POST", headers, body });
    assert.equal(answer.status, 201);
    const cookie = answer.headers.get("set-cookie").split(";")[0];
    return Object.assign(robin, { origin, cookie, csrf: (await answer.json()).csrf_token });
  }

  async post(path, document) {
    const headers = { cookie: this.cookie, "x-csrf-token": this.csrf, "content-type": "application/json" };
    const answer = await fetch(this.origin + path, { method: "POST", headers, body: JSON.stringify(document) });
    assert(answer.ok, await answer.clone().text());
    return answer.json();
  }

  /** Opens the connect page and consents; returns the code to copy. */
  async agrees(page) {
    const request_id = page.split("/").at(-1);
    const { disclosure_id } = await this.post("/agent/delegate", { request_id });
    return (await this.post("/agent/delegate", { request_id, disclosure_id, acknowledged_disclosure: true })).code;
  }

  async questions() {
    const answer = await fetch(`${this.origin}/aaep/v1/questions`, { headers: { cookie: this.cookie } });
    return (await answer.json()).questions;
  }

  /** Presses a button of the question's page. */
  async answers(decisionId, answer, more = {}) {
    const address = `${this.origin}/inbox/shop/${decisionId}`;
    const page = await (await fetch(address, { headers: { cookie: this.cookie } })).text();
    const form = page.slice(0, page.indexOf(`value="${answer}"`)).split("<form").at(-1);
    const tags = [...form.matchAll(/<input[^>]*type="hidden"[^>]*>/g)].map(([tag]) => tag);
    const of = (tag, name) => new RegExp(`${name}="([^"]*)"`).exec(tag)[1];
    const hidden = Object.fromEntries(tags.map((tag) => [of(tag, "name"), of(tag, "value")]));
    const body = new URLSearchParams({ ...hidden, answer, ...more });
    const told = await fetch(address, { method: "POST", headers: { cookie: this.cookie }, body, redirect: "manual" });
    assert.equal(told.status, 303);
  }
}

let node, robin, operator, key;
const requests = [];

before(async () => {
  const folder = await temporary();
  key = await SigningKey.generate();
  operator = new OperatorKey(DOMAIN, "key-1", key);
  const identity = { operator: "Acme", domain: DOMAIN, contact: `security@${DOMAIN}` };
  const documents = {
    "/.well-known/agent-identity.json": { ...identity, signing_keys: `https://${DOMAIN}/.well-known/agent-jwks.json` },
    "/.well-known/agent-jwks.json": { keys: [{ ...key.jwk, kid: "key-1", alg: "ES256", use: "sig" }] },
  };
  const tls = await certificate(folder);
  const home = await site((handler) => createServer(tls, handler), documents);
  const api = await site(createPlain, { "/orders/7": { order: 7 }, "/refunds": { refunded: true } }, requests);
  node = await Node.prepared(SHOP.replace("ADDRESS", api), CONFIG.replace("ADDRESS", home), folder);
  await node.does("user add robin --role user");
  await node.serve({ gateway: true });
  robin = await Person.signsIn(node.origin);
});

const writes = () => requests.filter(({ method }) => method === "POST").map(({ body }) => JSON.parse(body));
const help = { intentType: "HELP_CUSTOMER" };

async function receipt(agent, more = {}) {
  const iat = Math.floor(Date.now() / 1000);
  const whom = { iss: DOMAIN, aud: node.origin, sub: "robin", delegation_id: agent.delegationId };
  const task = { session_id: `sess_${randomBytes(16).toString("hex")}`, intent: "withheld", scopes: ["shop.help"] };
  const terms = { intent_type: "HELP_CUSTOMER", consent_method: "explicit_ui", usage_limits: { requests_per_hour: 100 } };
  return key.sign({ alg: "ES256", kid: "key-1", typ: "aap-consent+jwt" }, { ...whom, ...task, ...terms, iat, exp: iat + 3600, ...more });
}

async function connected(options = {}) {
  const agent = new Agent(node.origin, operator, options);
  await agent.finish(await robin.agrees(await agent.connect(["shop.help", "shop.notes"])));
  return agent;
}

async function registered(options = {}) {
  const agent = await connected(options);
  await agent.register(await receipt(agent));
  return agent;
}

test("a read passes, and a held write runs once after the person's approval", async () => {
  const agent = await registered();
  assert.deepEqual((await agent.call("GET", "/orders/7", help)).json(), { order: 7 });
  const refund = { payment_id: "p-1", amount: "19.90" };
  const why = await agent.call("POST", "/refunds", { json: refund, ...help }).catch((why) => why);
  assert(why instanceof sdk.ConfirmationNeeded && why.decisionId && why.page && why.hint, why);
  assert.deepEqual(writes(), []);
  await robin.answers(why.decisionId, "reject");
  const calling = inBackground(() => agent.callApproved("POST", "/refunds", { json: refund, ...help }));
  // Only now: the same request after an approval that it does not know of would ask again.
  const question = await eventually(async () => (await robin.questions())[0], "a question");
  await robin.answers(question.decision_id, "accept");
  assert.equal((await calling).status, 201);
  assert.deepEqual(writes(), [refund]);
});

test("a rejected call throws the person's reason and reaches nobody", async () => {
  const [agent, before] = [await registered(), writes().length];
  const refund = { payment_id: "p-2", amount: "5.00" };
  const calling = inBackground(() => agent.callApproved("POST", "/refunds", { json: refund, ...help }));
  const question = await eventually(async () => (await robin.questions())[0], "a question");
  await robin.answers(question.decision_id, "reject", { reason: "not this one" });
  await assert.rejects(calling, (why) => why instanceof sdk.Rejected && why.reason === "not this one");
  assert.equal(writes().length, before);
});

test("a session is registered again before its token expires, and once after a refused token", async () => {
  let seconds = 1000;
  const tokens = new Set();
  const spy = (url, init) => {
    const token = init.headers["authorization"];
    if (token) tokens.add(token);
    return fetch(url, init);
  };
  const agent = await registered({ clock: () => seconds, fetch: spy });
  const session = agent.sessionId;
  await agent.call("GET", "/orders/7", help);
  seconds += 1500;
  await agent.call("GET", "/orders/7", help);
  assert.equal(tokens.size, 1);
  seconds += 260;
  await agent.call("GET", "/orders/7", help);
  assert.equal(tokens.size, 2);
  assert.equal(agent.sessionId, session);
});

// AAP-18.1-01
test("each session has a key of its own, and keeps it", async () => {
  const agent = await registered();
  const first = await agent.sessionKey.thumbprint();
  const consent = await receipt(agent);
  await agent.register(consent);
  const second = await agent.sessionKey.thumbprint();
  await agent.register(consent);
  assert.notEqual(first, second);
  assert.equal(await agent.sessionKey.thumbprint(), second);
  assert.equal((await agent.call("GET", "/orders/7", help)).status, 200);
});

test("refusals are typed, and those of the API are its response", async () => {
  const agent = await registered();
  const codes = async (...call) => (await agent.call(...call).catch((why) => why)).code;
  assert.equal(await codes("GET", "/orders/7", { intentType: "SCHEDULE_EVENT" }), "intent_type_unknown");
  assert.match(await codes("DELETE", "/orders/7", help), /route_not_found|method_not_allowed/);
  assert.equal((await agent.call("GET", "/orders/8", help)).status, 404);
  for (const path of ["orders/7", "@evil.example/", "/orders/7#x"]) await assert.rejects(agent.call("GET", path), TypeError);
  await assert.rejects(agent.call("GET", "/orders/7", { intentType: "please look" }), TypeError);
});

// AAP-8.5-04
test("after a revocation the reason is surfaced and nothing more is sent", async () => {
  let sent = 0;
  const agent = await registered({ fetch: (url, init) => ((sent += 1), fetch(url, init)) });
  await robin.post("/agent/revoke", { delegation_id: agent.delegationId });
  const why = await agent.call("GET", "/orders/7", help).catch((why) => why);
  assert(why instanceof sdk.AccessEnded && why.revokeReason === "manual_revoke", why);
  const before = sent;
  await assert.rejects(agent.call("GET", "/orders/7", help), sdk.AccessEnded);
  assert.deepEqual([sent, agent.delegationToken], [before, undefined]);
});

// AAP-5.1-02
test("an agent without a delegation, a session or the right service says so", async () => {
  const agent = new Agent(node.origin, operator);
  await assert.rejects(agent.register(), NotRegistered);
  await assert.rejects(agent.call("GET", "/orders/7", help), NotRegistered);
  await assert.rejects(new Agent(node.origin.replace("127.0.0.1", "localhost"), operator).discover(), NotUsable);
});

test("a delegation goes on after a restart of agent and node", async () => {
  const own = await SigningKey.generate({ extractable: true });
  const first = await connected();
  const consent = await receipt(first);
  const session = await first.register(consent, own);
  await node.kill();
  await node.start();
  const second = new Agent(node.origin, operator);
  second.restore(first.delegationToken);
  assert.equal(await second.register(consent, await SigningKey.fromJwk(await own.toJwk())), session);
  assert.equal((await second.call("GET", "/orders/7", help)).status, 200);
  assert((await second.complete("done")).completed_at);
});

test("a long task sends heartbeats, previews its calls and is cancelled", async () => {
  const [agent, before] = [await connected(), writes().length];
  await agent.register(await receipt(agent, { heartbeat_interval: 60 }));
  assert((await agent.heartbeat("running", 40)).next_before);
  const refund = { payment_id: "p-3", amount: "1.00" };
  const preview = await agent.call("POST", "/refunds", { json: refund, ...help, dryRun: true });
  assert.deepEqual([preview.status, preview.headers.get("x-agent-dry-run")], [200, "true"]);
  assert.deepEqual([writes().length, await robin.questions()], [before, []]);
  assert.equal((await agent.cancel("not needed any more")).rollback_status, "completed");
  await assert.rejects(agent.heartbeat(), (why) => why instanceof sdk.Refused && why.status === 401);
});

// AAP-14.1-07
test("a call is undone within its window", async () => {
  const [agent, before] = [await connected(), writes().length];
  await agent.register(await receipt(agent, { scopes: ["shop.notes"] }));
  const calling = inBackground(() => agent.callApproved("POST", "/notes", { json: { text: "hello" }, ...help }));
  const question = await eventually(async () => (await robin.questions())[0], "a question");
  await robin.answers(question.decision_id, "accept");
  const held = await calling;
  assert.equal(held.status, 202);
  await assert.rejects(agent.undo("https://evil.example/undo"), NotUsable);
  assert.equal((await agent.undo(held.json().undo_url)).state, "undone");
  assert.equal(writes().length, before);
});

// AAP-18.3-02, AAP-18.3-06
test("a nonce is fetched once, and a write with a lost response is never sent again", async () => {
  const seen = [];
  const service = async (url, { headers, body }) => {
    const path = new URL(url).pathname;
    seen.push(path);
    const endpoints = { register: "/register" };
    if (path === "/.well-known/agent-auth.json") return Response.json({ service: "https://plane.example", endpoints });
    const { jwk } = JSON.parse(Buffer.from(headers.dpop.split(".")[0], "base64url"));
    const claims = await verify(headers.dpop, jwk);
    if (claims.nonce !== "n-1") {
      const told = { "dpop-nonce": "n-1", "www-authenticate": 'DPoP error="use_dpop_nonce"' };
      return Response.json({ error: "dpop_invalid" }, { status: 401, headers: told });
    }
    const token = { access_token: "t", token_type: "DPoP", expires_in: 600 };
    if (path === "/register") return Response.json({ ...token, session_id: JSON.parse(body).session_id });
    assert.deepEqual([claims.htu, claims.htm, typeof claims.ath], ["https://plane.example/notes", "POST", "string"]);
    assert.deepEqual([headers["aap-version"], headers.authorization], ["2.0", "DPoP t"]);
    assert.deepEqual([headers["x-agent-mode"], headers["x-agent-delegation"]], ["user_delegated", "del_1"]);
    throw Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNRESET" } });
  };
  const agent = new Agent("https://plane.example", { operatorJwt: async () => "jwt" }, { fetch: service });
  agent.restore("e30.eyJkZWxlZ2F0aW9uX2lkIjoiZGVsXzEifQ.x");
  await agent.register();
  await assert.rejects(agent.call("POST", "/notes?draft=1", { json: {} }), sdk.OutcomeUnknown);
  assert.deepEqual(seen.slice(1), ["/register", "/register", "/notes"]);
});
