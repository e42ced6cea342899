// An agent for the scenarios: it asks, and withdraws its questions.

import { check } from "./browser.mjs";

/** A program with the access token of a connected agent. */
export class Agent {
  constructor(given) {
    this.given = given;
  }

  async asks(action, consequence) {
    return this.post("/v1/confirmations", { action, consequence, extra_context: { note: "as agreed" } }, 201);
  }

  async clarifies(body) {
    return this.post("/v1/clarifications", body, 201);
  }

  /** Asks for a tool: 201 is a pending question, 200 a call covered by a standing approval. */
  async asksTo(tool, args, status = 201) {
    const words = { action: `Call ${tool}`, consequence: "What was asked for is done." };
    return this.post("/v1/confirmations", { ...words, tool, arguments: args }, status);
  }

  /** Writes a plan with the actions of its steps, and asks about it. */
  async proposes(submission) {
    const answer = await this.send("/mplp/v1/plans?propose=true", submission);
    check(answer.ok, `the plan was answered ${answer.status}: ${await answer.text()}`);
    return answer.headers.get("countersign-decision");
  }

  async withdraws(id) {
    return this.post(`/v1/decisions/${id}/withdraw`, {}, 200);
  }

  async post(path, body, status) {
    const answer = await this.send(path, body);
    const text = await answer.text();
    check(answer.status === status, `${path} was answered ${answer.status}: ${text}`);
    return JSON.parse(text).decision_id;
  }

  async send(path, body) {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${this.given.token}` };
    return fetch(this.given.origin + path, { method: "POST", headers, body: JSON.stringify(body) });
  }
}
