// A real node for the tests: the built binary in a folder of its own, on free ports of the loopback interface.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

export const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
export const PASSWORD = "correct horse battery staple";
/** The time limit for anything on a loaded machine, in milliseconds. */
export const PATIENCE = 60_000;

export const PAYMENTS = `
id = "payments"
display_name = "Payments"

[[actions]]
name = "mail.send"
risk = "low"

[decisions]
own_approval = true
`;

export const run = promisify(execFile);

/** What a test file leaves to clean up at its end, the last first. */
const cleanups = [];
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

/** The program under test. */
export function binary() {
  const built = join(ROOT, "target/debug/countersign");
  const found = process.env.COUNTERSIGN_BINARY ?? (existsSync(built) ? built : undefined);
  assert(found, "no countersign binary: set COUNTERSIGN_BINARY, or run `cargo build -p countersign`");
  return found;
}

/** Waits, bounded, until the condition yields something. */
export async function eventually(condition, what) {
  for (const until = Date.now() + PATIENCE; Date.now() < until; ) {
    const found = await condition();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 20));
  }
  assert.fail(`${what} did not happen within ${PATIENCE / 1000} s`);
}

/** A port for listeners that come back after a kill: below those that connections get by themselves. */
async function freePort() {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 8_000);
    const probe = createServer();
    const isFree = await new Promise((done) => {
      probe.once("error", () => done(false)).listen(port, "127.0.0.1", () => done(true));
    });
    if (isFree) {
      await new Promise((done) => probe.close(done));
      return port;
    }
  }
}

/** A folder for a test file, removed at its end. */
export async function temporary() {
  const path = await mkdtemp(join(tmpdir(), "countersign-ts-"));
  cleanups.push(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** A node in a folder of its own. `kill` is a power failure with an intact file system. */
export class Node {
  constructor(path) {
    this.path = path;
    this.environment = { COUNTERSIGN_PASSWORD: PASSWORD };
  }

  static async prepared(project = PAYMENTS, config = "", path = undefined) {
    const node = new Node(path ?? (await temporary()));
    if (config) await writeFile(join(node.path, "countersign.toml"), config);
    await node.does("init");
    await writeFile(join(node.path, "project.toml"), project);
    await node.does("project apply project.toml");
    return node;
  }

  async does(line, more = [], environment = this.environment) {
    const options = { cwd: this.path, env: environment, timeout: PATIENCE };
    return (await run(binary(), [...line.split(" "), ...more], options)).stdout;
  }

  async json(line) {
    return JSON.parse(await this.does(`${line} --json`));
  }

  async serve({ gateway = false } = {}) {
    const port = await freePort();
    this.origin = `http://127.0.0.1:${port}`;
    Object.assign(this.environment, {
      COUNTERSIGN_LISTEN__PUBLIC: `127.0.0.1:${port}`,
      COUNTERSIGN_LISTEN__OPERATIONS: "127.0.0.1:0",
      COUNTERSIGN_PUBLIC__ORIGIN: this.origin,
    });
    if (gateway) this.environment.COUNTERSIGN_GATEWAY__LISTEN = `127.0.0.1:${await freePort()}`;
    cleanups.push(() => this.kill());
    await this.start();
  }

  async start() {
    const log = await open(join(this.path, "log"), "a");
    this.child = spawn(binary(), ["serve"], { cwd: this.path, env: this.environment, stdio: ["ignore", log.fd, log.fd] });
    this.ended = new Promise((done) => this.child.once("exit", done));
    await log.close();
    await eventually(async () => {
      assert.equal(this.child.exitCode, null, await readFile(join(this.path, "log"), "utf8"));
      const answer = await fetch(`${this.origin}/.well-known/aaep-manifest.json`).catch(() => undefined);
      await answer?.body?.cancel();
      return answer?.ok;
    }, "the start of the node");
  }

  async kill() {
    this.child.kill("SIGKILL");
    await this.ended;
  }
}

/** A node, alice who answers, and the key of an agent. */
export class Stage {
  static async set() {
    const stage = new Stage();
    const node = (stage.node = await Node.prepared());
    await node.does("user add alice --role approver --role user");
    const key = await node.json("key add --kind agent --principal bot --responsible alice --action mail.send");
    const token = await node.json("token add --person alice --name phone");
    [stage.key, stage.token] = [key.secret, token.secret];
    await node.serve();
    return stage;
  }

  get origin() {
    return this.node.origin;
  }

  /** The pending questions of alice. */
  async questions() {
    const headers = { authorization: `Bearer ${this.token}` };
    const answer = await fetch(`${this.origin}/aaep/v1/questions`, { headers });
    assert.equal(answer.status, 200);
    return (await answer.json()).questions;
  }

  /** The id of the one pending question, as soon as there is one. */
  async asked() {
    return (await eventually(async () => (await this.questions())[0], "a question")).decision_id;
  }

  /** alice approves or rejects at her terminal. */
  async answers(decisionId, answer, ...more) {
    await this.#inbox("answer", decisionId, answer, ...more);
  }

  async responds(decisionId, text) {
    await this.#inbox("respond", decisionId, text);
  }

  async #inbox(...words) {
    const environment = { COUNTERSIGN_SERVICE: this.origin, COUNTERSIGN_TOKEN: this.token };
    await this.node.does("inbox", words, environment);
  }
}

/** Work that waits for a person; a failure is the awaiting test's, not the process's. */
export function inBackground(work) {
  const running = work();
  running.catch(() => undefined);
  return running;
}
