// The vectors that the Rust client passes, too (`tests/data`).

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { SigningKey, verify } from "../dist/aap.js";
import { NotCanonical, actionDigest, agentAction, canonical, httpAction, toolAction } from "../dist/index.js";
import { STATUS } from "../dist/codes.js";
import { Decoder } from "../dist/sse.js";
import { ROOT } from "./support.mjs";

const data = async (name) => JSON.parse(await readFile(join(ROOT, "tests/data", name), "utf8"));

const makers = {
  agent: ({ project, principal, tool, arguments: args }) => agentAction(project, principal, tool, args),
  tool: (o) => toolAction(o.project, o.principal, o.server, o.tool, o.definition_sha256, o.arguments),
  http: ({ v, kind, project, principal, ...call }) => httpAction(project, principal, call),
};

test("every action has the canonical form and digest of its vector", async () => {
  for (const vector of (await data("action-vectors.json")).vectors) {
    const action = makers[vector.object.kind](vector.object);
    assert.deepEqual(action, vector.object);
    assert.equal(canonical(action), vector.canonical);
    assert.equal(await actionDigest(action), vector.sha256);
  }
});

test("values are written as RFC 8785 writes them", () => {
  const values = [
    [-0, "0"],
    [5e-324, "5e-324"],
    [1e21, "1e+21"],
    [1e-7, "1e-7"],
    [333333333.3333332, "333333333.3333332"],
    ["€$\u000f\nA'B\"\\\\\"/\u007f", '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/\u007f"'],
    [{ "\ufb33": 1, "😀": 2, b: [], a: {} }, '{"a":{},"b":[],"😀":2,"\ufb33":1}'],
  ];
  for (const [value, text] of values) assert.equal(canonical(value), text);
});

test("what has no canonical form is refused", () => {
  const values = [2 ** 53, NaN, Infinity, undefined, () => 1, new Date(), new Map(), "\ud800", { a: undefined }, 1n];
  for (const value of values) assert.throws(() => canonical(value), NotCanonical);
});

test("the vectors of the protocol are verified, and the failing one is refused", async () => {
  const vectors = await data("aap-vectors.json");
  const jwk = vectors.jwks.keys[0];
  assert.equal((await verify(vectors.operator_jwt, jwk)).iss, "test-operator.aap.dev");
  assert.equal((await verify(vectors.consent_receipt, jwk)).session_id, "sess_testabc");
  await assert.rejects(verify(vectors["TV-F-02"], jwk), { name: "NotVerified" });
  const key = await SigningKey.fromJwk({ ...jwk, d: vectors.private_d });
  assert.deepEqual(await verify(await key.sign({ alg: "ES256" }, { a: 1 }), jwk), { a: 1 });
});

test("a key comes back with the same thumbprint", async () => {
  const key = await SigningKey.generate({ extractable: true });
  assert.equal(await (await SigningKey.fromJwk(await key.toJwk())).thumbprint(), await key.thumbprint());
});

test("messages of a stream are read across any packet boundary", () => {
  const stream = "id: 7\r\nevent: a\rdata: x\ndata: y\n\n: comment\n\ndata:ä\n\n";
  for (let cut = 0; cut < stream.length; cut += 1) {
    const decoder = new Decoder();
    const found = [...decoder.push(stream.slice(0, cut)), ...decoder.push(stream.slice(cut))];
    assert.deepEqual(found, [
      { event: "a", data: "x\ny", id: "7" },
      { event: "message", data: "ä", id: "7" },
    ]);
  }
  assert.throws(() => new Decoder().push("x".repeat(3_000_000)), RangeError);
});

test("the codes and the members that the client reads are those of the OpenAPI description", async () => {
  const { schemas } = JSON.parse(await readFile(join(ROOT, "docs/openapi.json"), "utf8")).components;
  assert.deepEqual(Object.keys(STATUS).sort(), [...schemas.Code.enum].sort());
  const declared = await readFile(new URL("../dist/decision.d.ts", import.meta.url), "utf8");
  const members = (name) => [...declared.split(`interface ${name} {`)[1].split("\n}")[0].matchAll(/readonly (\w+)\??:/g)];
  const pairs = { Decision: "DecisionDocument", Allowance: "AllowanceDocument", Execution: "ExecutionDocument" };
  for (const [name, schema] of Object.entries(pairs)) {
    for (const [, member] of members(name)) assert(member in schemas[schema].properties, `${schema} has no ${member}`);
  }
});
