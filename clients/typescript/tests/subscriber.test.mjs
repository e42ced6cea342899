// A person's own subscriber: receives questions of the real binary and answers them, over a kill of the node.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { Countersign, Rejected, Subscriber, SubscriptionRejected } from "../dist/index.js";
import { Stage, inBackground } from "./support.mjs";

let stage, agent;

before(async () => {
  stage = await Stage.set();
  agent = new Countersign(stage.origin, stage.key);
});

/** The next event that fits. The generator stays usable, unlike after `break`. */
async function next(events, fits) {
  for (;;) {
    const { value, done } = await events.next();
    assert(!done, "the stream ended");
    if (fits(value)) return value;
  }
}

const letter = (text) => ({
  action: "Send it",
  consequence: "It is gone",
  tool: "mail.send",
  arguments: { text },
});

test("questions are received and answered, also after a kill of the node", async () => {
  const phone = new Subscriber(stage.origin, stage.token);
  const events = phone.events();
  const first = await agent.ask(letter("one"));
  const received = await next(events, (event) => event.question);
  assert.deepEqual([received.decisionId, received.question], [first.decision_id, "confirmation"]);
  assert.equal((await phone.questions()).length, 1);
  await phone.approve(received);
  assert.equal((await agent.wait(first.decision_id)).state, "accepted");

  await stage.node.kill();
  await stage.node.start();
  const second = await agent.ask(letter("two"));
  const again = await next(events, (event) => event.question && event.decisionId === second.decision_id);
  await phone.reject(again, "not today");
  assert.equal((await agent.wait(second.decision_id)).reason, "not today");
  assert.equal((await next(events, (event) => event.settled)).decisionId, second.decision_id);
  phone.close();
  assert((await events.next()).done);
});

test("a clarification is answered by its kind", async () => {
  const phone = new Subscriber(stage.origin, stage.token);
  const events = phone.events();
  const asking = inBackground(() => agent.clarify("How many?", { kinds: ["numeric"] }));
  await phone.respond(await next(events, (event) => event.question === "clarification"), 6);
  assert.equal(await asking, 6);
  phone.close();
  await events.return();
});

test("an unknown token ends the subscription", async () => {
  const events = new Subscriber(stage.origin, "cst_wrong").events();
  await assert.rejects(events.next(), SubscriptionRejected);
});

test("a call of an approved plan runs without a further question, and a deviation does not", async () => {
  const [planId, stepId] = ["6f1c2b3a-4d5e-4f60-8a7b-9c0d1e2f3a4b", "9c4f5e6d-7a8b-4c93-9d0e-2f3a4b5c6d7e"];
  const plan = {
    meta: { protocol_version: "1.0.0", schema_version: "1.0.0" },
    plan_id: planId,
    context_id: stepId,
    title: "Answer",
    objective: "The customer knows",
    status: "draft",
    steps: [{ step_id: stepId, description: "Write to the customer", status: "pending" }],
  };
  const actions = { [stepId]: { tool: "mail.send", arguments: { text: "as planned" }, uses: 1 } };
  const sent = [];
  const send = agent.requireApproval("mail.send", ({ text }) => sent.push(text));
  const { plan: stored, decisionId } = await agent.plans.submit({ plan, actions }, { propose: true });
  assert.equal(stored.status, "proposed");
  const phone = new Subscriber(stage.origin, stage.token);
  const events = phone.events();
  await phone.approve(await next(events, (event) => event.question && event.decisionId === decisionId));
  assert.equal((await agent.wait(decisionId)).state, "accepted");
  await send({ text: "as planned" });
  assert.deepEqual(sent, ["as planned"]);
  assert.equal((await agent.plans.get(planId)).status, "completed");
  const sending = inBackground(() => send({ text: "not as planned" }));
  await phone.reject(await next(events, (event) => event.question && event.decisionId !== decisionId));
  await assert.rejects(sending, Rejected);
  assert.deepEqual(sent, ["as planned"]);
  phone.close();
  await events.return();
});
