/**
 * The action digest: SHA-256 over the canonical form of exactly the call to run. Versioned and tagged by kind, so
 * that an approval at one kind of enforcement point is invalid at another.
 */

import { digest, type JsonObject } from "./canonical.js";

const VERSION = 1;

export interface HttpCall {
  route: string;
  method: string;
  origin: string;
  target: string;
  body_sha256: string;
  content_type?: string;
  content_encoding?: string;
  /** Those that the route lists, names in lower case. */
  headers?: Readonly<Record<string, string>>;
}

/** An action announced and claimed by an agent itself, at `/v1`. */
export function agentAction(project: string, principal: string, tool: string, args: JsonObject): JsonObject {
  return { v: VERSION, kind: "agent", project, principal, tool, arguments: args };
}

/** A tool call as an MCP proxy would send it. */
export function toolAction(
  project: string,
  principal: string,
  server: string,
  tool: string,
  definition_sha256: string,
  args: JsonObject,
): JsonObject {
  return { v: VERSION, kind: "tool", project, principal, server, tool, definition_sha256, arguments: args };
}

/** A request as the gateway would forward it. */
export function httpAction(project: string, principal: string, call: HttpCall): JsonObject {
  const usual = { content_type: "", content_encoding: "", headers: {} };
  return { v: VERSION, kind: "http", project, principal, ...usual, ...call };
}

/** The digest of an action, in hex. */
export async function actionDigest(action: JsonObject): Promise<string> {
  return digest(action);
}
