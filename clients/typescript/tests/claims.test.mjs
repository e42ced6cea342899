// Which requests are sent again after a lost response, and which never are.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AlreadyRan, Countersign, MemoryJournal, OutcomeUnknown, Unreachable } from "../dist/index.js";
import { digest } from "../dist/canonical.js";

const OPEN = { state: "open", uses_left: 1, until: "2030-01-01T00:00:00Z" };
const CLAIMED = { execution_id: "exe_1", state: "claimed" };
const LOST = Object.assign(new TypeError("fetch failed"), { cause: { code: "UND_ERR_SOCKET" } });
const NEVER_SENT = Object.assign(new TypeError("fetch failed"), { cause: { code: "ECONNREFUSED" } });
const decision = (more = {}) => () =>
  Response.json({ decision_id: "dec_1", kind: "confirmation", state: "accepted", digest: "00", page: "/", ...more });

/** Plays a script of responses; all of it must be asked for. */
async function played(script, act, options = {}) {
  const left = [...script];
  const fetch = async (url, { method }) => {
    const [wanted, answer] = left.shift() ?? ["nothing"];
    assert.equal(`${method} ${new URL(url).pathname.split("/").at(-1)}`, wanted);
    if (answer instanceof Error) throw answer;
    return answer();
  };
  try {
    return await act(new Countersign("https://plane.example", "csk_x", { fetch, patience: 5, ...options }));
  } finally {
    assert.deepEqual(left, []);
  }
}

const claim = (client) => client.claim("dec_1", { tool: "t", arguments: {} });

test("a lost claim is not repeated while the decision shows an execution", async () => {
  const script = [["POST claim", LOST], ["GET dec_1", decision({ execution: CLAIMED })]];
  await assert.rejects(played(script, claim), OutcomeUnknown);
  await assert.rejects(played([["POST claim", LOST]], claim, { patience: 0 }), OutcomeUnknown);
});

test("a claim that did not arrive is repeated", async () => {
  const held = decision({ execution: CLAIMED });
  assert.equal((await played([["POST claim", NEVER_SENT], ["POST claim", held]], claim)).execution.state, "claimed");
  const script = [["POST claim", LOST], ["GET dec_1", decision({ allowance: OPEN })], ["POST claim", held]];
  assert.equal((await played(script, claim)).execution.execution_id, "exe_1");
  await assert.rejects(played([["POST claim", NEVER_SENT]], claim, { patience: 0 }), Unreachable);
});

test("a report is repeated until it arrives", async () => {
  const failed = () => Response.json({ error: "service_unavailable" }, { status: 503 });
  const script = [["POST outcome", LOST], ["POST outcome", failed], ["POST outcome", decision()]];
  assert.equal((await played(script, (client) => client.report("dec_1", "committed"))).decision_id, "dec_1");
});

test("too many questions are reported with the time to wait, and not repeated", async () => {
  const limited = () => Response.json({ error: "too_many_requests" }, { status: 429, headers: { "retry-after": "30" } });
  const ask = (client) => client.ask({ action: "Send it", consequence: "It is gone" });
  await assert.rejects(played([["POST confirmations", limited]], ask), (why) => why.retryAfter === 30);
});

test("a key whose call ran under a standing approval does not use it again", async () => {
  const journal = new MemoryJournal();
  const call = await digest({ tool: "t", arguments: { n: 1 } });
  await journal.save("k", { call, decisionId: "dec_1", claiming: true, executionId: "exe_1" });
  const ran = decision({ allowance: OPEN, execution: { ...CLAIMED, state: "committed" } });
  const act = (client) => client.requireApproval("t", () => assert.fail("it ran again"), { key: "k" })({ n: 1 });
  await assert.rejects(played([["GET dec_1", ran]], act, { journal }), AlreadyRan);
});

test("of two runs of one call the slower is told what became of it", async () => {
  const taken = () => Response.json({ error: "conflict", error_description: "it was already claimed" }, { status: 409 });
  for (const [state, error] of [["claimed", OutcomeUnknown], ["committed", AlreadyRan]]) {
    const ran = decision({ execution: { ...CLAIMED, state } });
    const script = [["POST confirmations", decision({ allowance: OPEN })], ["POST claim", taken], ["GET dec_1", ran]];
    const act = (client) => client.requireApproval("t", () => assert.fail("it ran twice"))({});
    await assert.rejects(played(script, act), error);
  }
});

test("a wait goes on by bounded long polls while the service comes and goes", async () => {
  const waits = [];
  const answers = [
    decision({ state: "pending" }),
    () => Promise.reject(LOST),
    () => Response.json({}, { status: 503 }),
    decision({ state: "rejected", reason: "no" }),
  ];
  const fetch = async (url) => {
    waits.push(new URL(url).searchParams.get("wait"));
    return answers.shift()();
  };
  const client = new Countersign("https://plane.example", "csk_x", { fetch });
  assert.equal((await client.wait("dec_1")).reason, "no");
  assert.deepEqual(waits, ["50", "50", "50", "50"]);
});
