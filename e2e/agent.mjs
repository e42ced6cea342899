// An agent, as a story needs one: it asks, and takes back what it asked.

import { check } from "./browser.mjs";

/** Whoever asks: a program with the access token of a connected agent. */
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

  async withdraws(id) {
    return this.post(`/v1/decisions/${id}/withdraw`, {}, 200);
  }

  async post(path, body, status) {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${this.given.token}` };
    const answer = await fetch(this.given.origin + path, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await answer.text();
    check(answer.status === status, `${path} was answered ${answer.status}: ${text}`);
    return JSON.parse(text).decision_id;
  }
}
