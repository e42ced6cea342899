// The example for the Vercel AI SDK, with a scripted model and the real binary.

import assert from "node:assert/strict";
import { before, test } from "node:test";
import { MockLanguageModelV3 } from "ai/test";
import { Countersign } from "../dist/index.js";
import { answer } from "../examples/vercel-ai.mjs";
import { Stage, inBackground } from "./support.mjs";

let stage, client;

before(async () => {
  stage = await Stage.set();
  client = new Countersign(stage.origin, stage.key);
});

/** A model that calls the tool once, then stops; `heard` is what it is told about the call. */
function scripted(args) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const call = { type: "tool-call", toolCallId: "call-1", toolName: "send_mail", input: JSON.stringify(args) };
  const turns = [
    { content: [call], finishReason: { unified: "tool-calls" }, usage, warnings: [] },
    { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" }, usage, warnings: [] },
  ];
  const heard = [];
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const last = prompt.at(-1);
      if (last.role === "tool") heard.push(last.content[0].output);
      return turns.shift();
    },
  });
  return { model, heard };
}

test("the tool of a model runs after an approval, and a rejection is told to the model", async () => {
  const approved = scripted({ to: "acme", text: "We agree" });
  const first = inBackground(() => answer(approved.model, "Answer them", client));
  await stage.answers(await stage.asked(), "approve");
  assert.equal((await first).text, "done");
  assert.deepEqual(approved.heard, [{ type: "text", value: "sent “We agree” to acme" }]);

  const rejected = scripted({ to: "acme", text: "Never" });
  const second = inBackground(() => answer(rejected.model, "Answer them", client));
  await stage.answers(await stage.asked(), "reject", "--reason", "too short");
  await second;
  assert.equal(rejected.heard[0].type, "error-text");
  assert.match(rejected.heard[0].value, /^a person rejected it: too short .*it did not run$/);
});
