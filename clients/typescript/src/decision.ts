/** A decision as the requesting agent sees it (`GET /v1/decisions/{id}`), as received. */

export interface Allowance {
  readonly state: "open" | "spent" | "lapsed" | "cancelled";
  readonly uses_left: number;
  readonly until: string;
}

/** One claimed use of an approval. */
export interface Execution {
  readonly execution_id: string;
  readonly state: "claimed" | "committed" | "failed" | "released" | "unknown";
  readonly lease_until?: string | null;
  readonly conflict?: boolean;
}

export interface Decision {
  readonly decision_id: string;
  readonly kind: string;
  readonly state: "pending" | "accepted" | "rejected" | "answered" | "expired" | "cancelled";
  readonly digest: string;
  readonly page: string;
  readonly reason?: string | null;
  readonly response?: string | boolean | number;
  readonly proposal?: Readonly<Record<string, unknown>> | null;
  readonly deadline?: string | null;
  readonly expired_as?: string | null;
  readonly cancelled_for?: string | null;
  readonly last_ran_at?: string | null;
  readonly allowance?: Allowance | null;
  readonly execution?: Execution | null;
}

/** Whether an approval is open. Only a successful claim permits to act. */
export function mayBeClaimed(decision: Decision): boolean {
  return decision.allowance?.state === "open";
}

export function isDecision(document: unknown): document is Decision {
  const { decision_id, kind, state, page } = (document ?? {}) as Record<string, unknown>;
  return [decision_id, kind, state, page].every((member) => typeof member === "string");
}
