/** Remembers calls by their idempotency key, so that a restarted agent neither asks nor runs twice. */

import { KeyInUse } from "./errors.js";

/** What is known of the call of one key. Each member is durable before the step that it is about. */
export interface Entry {
  /** Digest of tool and arguments. */
  call: string;
  decisionId?: string;
  claiming?: boolean;
  executionId?: string;
  outcome?: "committed" | "failed";
}

export interface Journal {
  load(key: string): Promise<Entry | undefined>;
  save(key: string, entry: Entry): Promise<void>;
  /** Excludes others from the key until the returned function is called. */
  hold(key: string): Promise<() => Promise<void>>;
}

/** Forgets with the process. The service alone then recognises a repeated question. */
export class MemoryJournal implements Journal {
  readonly #entries = new Map<string, Entry>();
  readonly #held = new Set<string>();

  async load(key: string): Promise<Entry | undefined> {
    const entry = this.#entries.get(key);
    return entry && { ...entry };
  }

  async save(key: string, entry: Entry): Promise<void> {
    this.#entries.set(key, { ...entry });
  }

  async hold(key: string): Promise<() => Promise<void>> {
    if (this.#held.has(key)) throw new KeyInUse(key);
    this.#held.add(key);
    return async () => void this.#held.delete(key);
  }
}
