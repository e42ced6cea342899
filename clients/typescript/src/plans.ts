/** Plans (MPLP): approved once, then each call that fits runs without a further question. */

import { BadAnswer } from "./errors.js";
import { type Wire, documentOf, jsonRequest, patiently, segment } from "./wire.js";

export type Plan = Readonly<Record<string, unknown>>;

export class Plans {
  readonly #wire: Wire;
  readonly #patience: number;

  constructor(wire: Wire, patience: number) {
    this.#wire = wire;
    this.#patience = patience;
  }

  /** Writes a plan with the actions of its steps; with `propose`, people are asked: wait for the decision. */
  async submit(plan: object, { propose = false } = {}): Promise<{ plan: Plan; decisionId: string | undefined }> {
    const path = `/mplp/v1/plans${propose ? "?propose=true" : ""}`;
    const send = jsonRequest("POST", this.#wire.url(path), plan);
    const response = await patiently(() => this.#wire.exchange(send), this.#patience);
    const decisionId = response.headers.get("countersign-decision") ?? undefined;
    return { plan: plain(await documentOf(response, path)), decisionId };
  }

  async get(planId: string): Promise<Plan> {
    return plain(await this.#wire.get(pathOf(planId)));
  }

  /** The actions of the steps with their remaining limits. */
  async actions(planId: string): Promise<Plan> {
    return plain(await this.#wire.get(pathOf(planId, "/actions")));
  }

  /** Reports the status of a step of the agent's own. */
  async reportStep(planId: string, stepId: string, status: string): Promise<Plan> {
    return plain(await this.#wire.post(pathOf(planId, `/steps/${segment(stepId)}`), { status }));
  }

  async cancel(planId: string, reason?: string): Promise<Plan> {
    return plain(await this.#wire.post(pathOf(planId, "/cancel"), { reason }));
  }
}

function pathOf(planId: string, below = ""): string {
  return `/mplp/v1/plans/${segment(planId)}${below}`;
}

function plain(document: unknown): Plan {
  if (document === null || typeof document !== "object") throw new BadAnswer("plans");
  return document as Plan;
}
