// Approvals through the real binary: asked, answered, claimed, reported, over kills and restarts.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { before, test } from "node:test";
import * as sdk from "../dist/index.js";
import { FileJournal } from "../dist/node.js";
import { Stage, eventually, inBackground, temporary } from "./support.mjs";

const { Countersign } = sdk;
let stage, client;

before(async () => {
  stage = await Stage.set();
  client = new Countersign(stage.origin, stage.key);
});

/** A guarded tool, and the letters that it has really sent. */
function letters(by = client, terms = {}) {
  const sent = [];
  const tool = ({ text }) => {
    sent.push(text);
    return `sent ${text}`;
  };
  return { sent, send: by.requireApproval("mail.send", tool, { action: "Send “{text}”", ...terms }) };
}

test("a tool runs after an approval and its outcome is recorded", async () => {
  const { send, sent } = letters();
  const running = inBackground(() => send({ text: "hello" }));
  const asked = await stage.asked();
  assert.deepEqual(sent, []);
  assert.match((await stage.questions())[0].action, /^Runs mail.send with text: “hello”\./);
  await stage.answers(asked, "approve");
  assert.equal(await running, "sent hello");
  assert.equal((await client.get(asked)).execution.state, "committed");
  assert.deepEqual(sent, ["hello"]);
});

test("a rejection is an error with the person's reason, and nothing runs", async () => {
  const { send, sent } = letters();
  const running = inBackground(() => send({ text: "rude words" }));
  await stage.answers(await stage.asked(), "reject", "--reason", "too rude");
  await assert.rejects(running, (why) => why instanceof sdk.Rejected && why.reason === "too rude");
  assert.deepEqual(sent, []);
});

test("silence is expired and not rejected; a withdrawn question is cancelled", async () => {
  const { send, sent } = letters(client, { options: { timeout_seconds: 1 } });
  await assert.rejects(send({ text: "unheard" }), sdk.Expired);
  const running = inBackground(() => letters().send({ text: "never mind" }));
  await client.withdraw(await stage.asked(), "not needed any more");
  await assert.rejects(running, sdk.Cancelled);
  assert.deepEqual(sent, []);
});

test("an error of the tool is reported as failed and thrown", async () => {
  const send = client.requireApproval("mail.send", async () => {
    throw new RangeError("no such address");
  });
  const running = inBackground(() => send({ text: "misaddressed" }));
  const asked = await stage.asked();
  await stage.answers(asked, "approve");
  await assert.rejects(running, RangeError);
  assert.equal((await client.get(asked)).execution.state, "failed");
});

test("a lost answer is surfaced as unknown, and the call is never repeated", async () => {
  let tried = 0;
  const send = client.requireApproval("mail.send", async () => {
    tried += 1;
    throw Object.assign(new Error("no answer"), { name: "TimeoutError" });
  });
  const running = inBackground(() => send({ text: "into the dark" }));
  const asked = await stage.asked();
  await stage.answers(asked, "approve");
  await assert.rejects(running, (why) => why instanceof sdk.OutcomeUnknown && why.decisionId === asked);
  // Asked again, the service names the decision instead of asking a person.
  await assert.rejects(send({ text: "into the dark" }), (why) => why.decisionId === asked);
  assert.equal(tried, 1);
  assert.deepEqual(await stage.questions(), []);
});

test("what runs is what was approved, even if the caller changes it meanwhile", async () => {
  const sent = [];
  const send = client.requireApproval("mail.send", ({ to }) => sent.push(...to));
  const call = { to: ["acme"] };
  const running = inBackground(() => send(call));
  const asked = await stage.asked();
  call.to.push("everybody");
  await stage.answers(asked, "approve");
  await running;
  assert.deepEqual(sent, ["acme"]);
});

test("a claim for another call is refused", async () => {
  const question = { action: "Send it", consequence: "It is gone", tool: "mail.send", arguments: { text: "nice" } };
  const { decision_id: id } = await client.ask(question);
  await stage.answers(id, "approve");
  await client.wait(id);
  const nasty = { tool: "mail.send", arguments: { text: "nasty" } };
  await assert.rejects(client.claim(id, nasty), (why) => why.code === "confirmation_invalid" && why.hint !== undefined);
  const { execution } = await client.claim(id, { tool: "mail.send", arguments: { text: "nice" } });
  await client.report(id, "committed", { executionId: execution.execution_id });
});

test("arguments that JSON cannot express are refused before anybody is asked", async () => {
  await assert.rejects(letters().send({ text: new Map() }), sdk.NotCanonical);
  assert.deepEqual(await stage.questions(), []);
});

test("a pending question is reported as such and not asked for twice", async () => {
  const question = { action: "Send it", consequence: "It is gone", tool: "mail.send", arguments: { text: "later" } };
  const asked = await client.ask(question);
  await assert.rejects(client.wait(asked.decision_id, 0.3), sdk.StillPending);
  assert.equal((await client.ask(question)).decision_id, asked.decision_id);
  assert.equal((await stage.questions()).length, 1);
  await client.withdraw(asked.decision_id);
});

test("refusals are typed and name the next step", async () => {
  const question = { action: "Send it", consequence: "It is gone" };
  const ask = (service, key) => new Countersign(service, key, { patience: 0 }).ask(question);
  await assert.rejects(ask(stage.origin, "csk_wrong"), (why) => {
    assert(why instanceof sdk.NotPermitted && why.hint && why.requestId, why);
    return true;
  });
  await assert.rejects(ask("http://127.0.0.1:9", stage.key), (why) => why instanceof sdk.Unreachable);
  assert.deepEqual((await client.actions()).map(({ name }) => name), ["mail.send"]);
});

test("a clarification returns the answer of the person, and a key makes it durable", async () => {
  const asking = inBackground(() => client.clarify("Which account?", { choices: { m: "Main", s: "Savings" } }));
  await stage.responds(await stage.asked(), "s");
  assert.equal(await asking, "s");
  const folder = join(await temporary(), "journal");
  const ask = () => {
    const journal = new FileJournal(folder);
    return new Countersign(stage.origin, stage.key, { journal }).clarify("Which city?", { idempotency_key: "trip-1" });
  };
  const city = inBackground(ask);
  await stage.responds(await stage.asked(), "Graz");
  assert.deepEqual([await city, await ask()], ["Graz", "Graz"]);
  assert.deepEqual(await stage.questions(), []);
});

test("a long tool keeps its claim alive", async () => {
  let asked;
  const lease = async () => (await client.get(asked)).execution.lease_until;
  const tool = async () => {
    const first = await lease();
    await eventually(async () => (await lease()) !== first, "a renewal");
    return "at last";
  };
  const send = client.requireApproval("mail.send", tool, { renewEvery: 0.05 });
  const running = inBackground(() => send({ text: "a long letter" }));
  asked = await stage.asked();
  await stage.answers(asked, "approve");
  assert.equal(await running, "at last");
});

// -- Restarts of the agent

const AGENT = `
import { Countersign } from "${new URL("../dist/index.js", import.meta.url)}";
import { FileJournal } from "${new URL("../dist/node.js", import.meta.url)}";
const [service, key, folder, mode] = process.argv.slice(1);
const client = new Countersign(service, key, { journal: new FileJournal(folder) });
const send = client.requireApproval("mail.send", async () => {
  console.log("begun");
  if (mode === "stuck") await new Promise((done) => setTimeout(done, 600_000));
  return "sent";
}, { key: "letter-{text}" });
console.log(await send({ text: folder }).catch((why) => why.name));
`;

/** An agent in a process of its own. */
class Agent {
  constructor(folder, mode) {
    const program = ["--input-type=module", "-e", AGENT, stage.origin, stage.key, folder, mode];
    this.child = spawn(process.execPath, program, { stdio: ["ignore", "pipe", "inherit"] });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
  }

  async says() {
    return (await this.lines.next()).value;
  }

  async kill() {
    const ended = new Promise((done) => this.child.once("exit", done));
    this.child.kill("SIGKILL");
    await ended;
  }
}

test("an agent killed while it waits goes on with the same question, and never runs twice", async () => {
  const folder = join(await temporary(), "journal");
  const first = new Agent(folder, "quick");
  const asked = await stage.asked();
  await first.kill();
  await stage.answers(asked, "approve");
  const second = new Agent(folder, "quick");
  assert.deepEqual([await second.says(), await second.says()], ["begun", "sent"]);
  assert.equal(await new Agent(folder, "quick").says(), "AlreadyRan");
  assert.deepEqual(await stage.questions(), []);
  for (const name of await readdir(folder)) assert.equal((await stat(join(folder, name))).mode & 0o077, 0);
});

test("an agent killed while it acts does not act again", async () => {
  const folder = join(await temporary(), "journal");
  const first = new Agent(folder, "stuck");
  await stage.answers(await stage.asked(), "approve");
  assert.equal(await first.says(), "begun");
  await first.kill();
  assert.equal(await new Agent(folder, "quick").says(), "OutcomeUnknown");
  assert.deepEqual(await stage.questions(), []);
});

test("a key stands for one call, and for one at a time", async () => {
  const journal = new FileJournal(join(await temporary(), "journal"));
  const { send, sent } = letters(new Countersign(stage.origin, stage.key, { journal }), { key: "the-only" });
  const running = inBackground(() => send({ text: "first" }));
  const asked = await stage.asked();
  await assert.rejects(send({ text: "first" }), sdk.KeyInUse);
  await stage.answers(asked, "reject");
  await assert.rejects(running, sdk.Rejected);
  await assert.rejects(send({ text: "first" }), sdk.Rejected);
  await assert.rejects(send({ text: "second" }), sdk.KeyReused);
  assert.deepEqual([sent, await stage.questions()], [[], []]);
});

// -- Restarts of the node

test("a node killed while the agent waits, and again while it acts, loses nothing", async () => {
  let goOn;
  const begun = new Promise((began) => {
    const tool = () => new Promise((done) => void ((goOn = () => done("sent")), began()));
    var send = client.requireApproval("mail.send", tool);
    stage.sending = inBackground(() => send({ text: "through the storm" }));
  });
  const asked = await stage.asked();
  await stage.node.kill();
  await stage.node.start();
  await stage.answers(asked, "approve");
  await begun;
  await stage.node.kill();
  goOn();
  await stage.node.start();
  assert.equal(await stage.sending, "sent");
  assert.equal((await client.get(asked)).execution.state, "committed");
});

test("an outcome that cannot be reported is surfaced with the result", async () => {
  const impatient = new Countersign(stage.origin, stage.key, { patience: 0.2 });
  const send = impatient.requireApproval("mail.send", async () => {
    await stage.node.kill();
    return "sent";
  });
  const running = inBackground(() => send({ text: "and then silence" }));
  await stage.answers(await stage.asked(), "approve");
  const why = await running.catch((why) => why);
  assert(why instanceof sdk.OutcomeNotRecorded && why.result === "sent" && why.status === "committed", why);
  await stage.node.start();
  assert.equal((await client.report(why.decisionId, "committed")).execution.state, "committed");
});
