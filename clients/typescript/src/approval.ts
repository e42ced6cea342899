/** One approved run of a tool: asked, waited for, claimed, run, and its outcome reported. Durable with a journal. */

import { canonical, detached, digest, type JsonObject } from "./canonical.js";
import type { Decision, Execution } from "./decision.js";
import * as decisions from "./decisions.js";
import { AlreadyRan, BadAnswer, Conflict, KeyReused, OutcomeNotRecorded, OutcomeUnknown, Refused, Unreachable } from "./errors.js";
import type { Entry, Journal } from "./journal.js";
import { type Wire, patiently } from "./wire.js";

/** A text, a template with the arguments in braces, or a function of the arguments. */
export type Text<A> = string | ((args: A) => string);

export interface ApprovalTerms<A = JsonObject> {
  /** The action, in words for a person; by default the tool's name. */
  action?: Text<A>;
  consequence?: Text<A>;
  /** Makes the call durable: under one key it is asked for and run once. */
  key?: Text<A>;
  /** How long to wait for a person, in seconds; by default until the question is settled. */
  timeout?: number;
  /** Whether the tool may have taken effect in spite of this error; by default after timeouts and lost connections. */
  isUnknown?: (why: unknown) => boolean;
  /** How often a running tool renews its claim, in seconds. */
  renewEvery?: number;
  /** Further members of the confirmation request, such as `timeout_seconds`. */
  options?: JsonObject;
}

export interface Context {
  readonly wire: Wire;
  readonly journal: Journal;
  readonly patience: number;
}

interface Call {
  readonly tool: string;
  /** Detached from the values of the caller: this is what is approved, claimed and run. */
  readonly arguments: JsonObject;
  readonly action: string;
  readonly consequence: string;
  readonly key: string | undefined;
  readonly digest: string;
}

interface Run {
  readonly call: Call;
  readonly decision: Decision;
  readonly execution: Execution;
  readonly entry: Entry;
}

const NETWORK = ["AbortError", "TimeoutError"];
const NETWORK_CODES = /^(ECONN|ETIMEDOUT|EPIPE|UND_ERR_)/;

/** Errors of a tool after which it may have taken effect all the same. */
export function usuallyUnknown(why: unknown): boolean {
  const error = (why ?? {}) as { name?: string; code?: unknown; cause?: { code?: unknown } };
  const codes = [error.code, error.cause?.code].filter((code) => typeof code === "string");
  const lost = codes.some((code) => NETWORK_CODES.test(code)) || (why instanceof TypeError && why.message === "fetch failed");
  return why instanceof OutcomeUnknown || why instanceof Unreachable || NETWORK.includes(error.name ?? "") || lost;
}

/** Runs `tool` after a person's approval of exactly these arguments, and reports its outcome. */
export async function runApproved<A extends JsonObject, R>(
  context: Context,
  name: string,
  args: A,
  terms: ApprovalTerms<A>,
  tool: (args: A) => Promise<R> | R,
): Promise<R> {
  const call = await callOf(name, args, terms);
  const release = call.key === undefined ? undefined : await context.journal.hold(call.key);
  try {
    const run = await obtain(context, call, terms as ApprovalTerms);
    return await carryOut(context, run, terms as ApprovalTerms, () => tool(detached(call.arguments) as A));
  } finally {
    await release?.();
  }
}

async function callOf<A extends JsonObject>(tool: string, args: A, terms: ApprovalTerms<A>): Promise<Call> {
  const exact = detached(args);
  const text = (text: Text<A> | undefined) => (typeof text === "function" ? text(exact) : text && filled(text, exact));
  return {
    tool,
    arguments: exact,
    action: text(terms.action) ?? `Run ${tool}`,
    consequence: text(terms.consequence) ?? "It runs once, with exactly these arguments.",
    key: text(terms.key),
    digest: await digest({ tool, arguments: exact }),
  };
}

function filled(template: string, args: JsonObject): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (!Object.hasOwn(args, name)) throw new TypeError(`there is no argument ${name} for ${JSON.stringify(template)}`);
    const value = args[name];
    return typeof value === "string" ? value : canonical(value);
  });
}

/** Everything before the tool may run. */
async function obtain(context: Context, call: Call, terms: ApprovalTerms): Promise<Run> {
  const { wire, journal, patience } = context;
  const save = async () => void (call.key !== undefined && (await journal.save(call.key, entry)));
  const entry = await entryOf(journal, call);
  const claim = { tool: call.tool, arguments: call.arguments };
  let decision: Decision;
  if (entry.decisionId === undefined) {
    const { action, consequence, key } = call;
    const question = { action, consequence, idempotency_key: key, ...terms.options, ...claim };
    decision = await decisions.ask(wire, "/v1/confirmations", question, patience);
    entry.decisionId = decision.decision_id;
    await save();
  } else {
    const known = entry.decisionId;
    decision = await patiently(() => decisions.get(wire, known), patience);
    await checkEarlierRun(context, entry, decision, save);
  }
  if (decision.state === "pending") decision = await decisions.wait(wire, decision.decision_id, terms.timeout);
  decisions.requireClaimable(decision);
  entry.claiming = true;
  await save();
  const claimed = await decisions.claim(wire, decision.decision_id, claim, patience).catch(async (why: unknown) => {
    // Another run of the same call was faster: the decision tells what became of it.
    const { decision_id: known } = decision;
    if (why instanceof Conflict) decisions.requireClaimable(await patiently(() => decisions.get(wire, known), patience));
    throw why;
  });
  if (!claimed.execution) throw new BadAnswer("claim");
  entry.executionId = claimed.execution.execution_id;
  await save();
  return { call, decision: claimed, execution: claimed.execution, entry };
}

/** After a restart: a call that was or may have been begun is not begun again. */
async function checkEarlierRun(context: Context, entry: Entry, decision: Decision, save: () => Promise<void>) {
  const execution = decision.execution ?? undefined;
  const state = execution?.state;
  if (entry.outcome !== undefined) {
    if (state === "claimed" || state === "unknown") {
      const told = [decision.decision_id, entry.outcome, entry.executionId, undefined] as const;
      await decisions.report(context.wire, ...told, context.patience);
    }
    throw new AlreadyRan(decision, entry.outcome);
  }
  if (!entry.claiming) return;
  const isSettled = state === undefined || ["committed", "failed", "released"].includes(state);
  if (entry.executionId === undefined && isSettled && decision.allowance?.state === "open") return;
  if (execution?.execution_id === entry.executionId && (state === "committed" || state === "failed")) {
    entry.outcome = state;
    await save();
    throw new AlreadyRan(decision, state);
  }
  throw new OutcomeUnknown(decision.decision_id, "this agent was interrupted while it claimed or ran the call");
}

async function entryOf(journal: Journal, call: Call): Promise<Entry> {
  const known = call.key === undefined ? undefined : await journal.load(call.key);
  if (known && known.call !== call.digest) throw new KeyReused(call.key ?? "");
  return known ?? { call: call.digest };
}

/** Runs the tool under a claim that is renewed meanwhile. */
async function carryOut<R>(context: Context, run: Run, terms: ApprovalTerms, tool: () => Promise<R> | R): Promise<R> {
  const isUnknown = terms.isUnknown ?? usuallyUnknown;
  const stop = renewed(context, run, terms.renewEvery ?? 15);
  let result: R;
  try {
    result = await tool();
  } catch (why) {
    await stop();
    if (isUnknown(why)) {
      throw new OutcomeUnknown(run.decision.decision_id, `it ended with ${nameOf(why)}`, why);
    }
    await settle(context, run, "failed", undefined, why);
    throw why;
  }
  await stop();
  await settle(context, run, "committed", result, undefined);
  return result;
}

/** Reports that the tool is still running, until the returned function is called. */
function renewed(context: Context, run: Run, every: number): () => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  const identifiers = [run.decision.decision_id, "running", run.execution.execution_id, undefined] as const;
  const timer = setInterval(() => {
    last = decisions.report(context.wire, ...identifiers, 0).catch(() => undefined);
  }, every * 1000);
  return async () => {
    clearInterval(timer);
    await last;
  };
}

/** Reports the outcome, which the journal knows first. */
async function settle(
  context: Context,
  run: Run,
  status: "committed" | "failed",
  result: unknown,
  error: unknown,
): Promise<void> {
  const { decision, execution, entry, call } = run;
  entry.outcome = status;
  if (call.key !== undefined) await context.journal.save(call.key, entry);
  // Only the kind of an error: its text may contain what was meant for nobody.
  const message = error === undefined ? undefined : nameOf(error);
  const told = [decision.decision_id, status, execution.execution_id, message] as const;
  try {
    await decisions.report(context.wire, ...told, context.patience);
  } catch (why) {
    if (!(why instanceof Unreachable) && !(why instanceof Refused)) throw why;
    throw new OutcomeNotRecorded(decision.decision_id, status, result, error, why);
  }
}

function nameOf(why: unknown): string {
  return why instanceof Error ? why.name : typeof why;
}
