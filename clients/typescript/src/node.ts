/** What needs Node: a journal in files. */

import { createHash } from "node:crypto";
import { link, mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { KeyInUse } from "./errors.js";
import type { Entry, Journal } from "./journal.js";

/** One small file a key, in a folder that only its owner can read. Keep it on a disk that survives the agent. */
export class FileJournal implements Journal {
  constructor(readonly folder: string) {}

  async load(key: string): Promise<Entry | undefined> {
    try {
      return JSON.parse(await readFile(this.#path(key, "json"), "utf8")) as Entry;
    } catch (why) {
      if ((why as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw why;
    }
  }

  async save(key: string, entry: Entry): Promise<void> {
    await this.#made();
    const beside = this.#path(key, "new");
    await this.#write(beside, JSON.stringify(entry), "w");
    await rename(beside, this.#path(key, "json"));
    const folder = await open(this.folder, "r");
    await folder.sync().finally(() => folder.close());
  }

  /** The lock names its process: the lock of a process that is gone, or from before a restart, is taken over. */
  async hold(key: string): Promise<() => Promise<void>> {
    await this.#made();
    const lock = this.#path(key, "lock");
    for (const attempt of [1, 2]) {
      try {
        await this.#lock(lock);
        return async () => {
          HELD.delete(lock);
          await rm(lock, { force: true });
        };
      } catch (why) {
        if ((why as NodeJS.ErrnoException).code !== "EEXIST") throw why;
        const holder = await readFile(lock, "utf8").catch(() => "");
        if (attempt === 2 || HELD.has(lock) || isAlive(holder)) throw new KeyInUse(key);
        await rm(lock, { force: true });
      }
    }
    throw new KeyInUse(key);
  }

  async #made(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
  }

  /** Linked into place whole, so that a lock always names its holder. */
  async #lock(lock: string): Promise<void> {
    const own = `${lock}.${process.pid}`;
    await this.#write(own, String(process.pid), "w");
    await link(own, lock).finally(() => rm(own, { force: true }));
    HELD.add(lock);
  }

  async #write(path: string, text: string, flags: string): Promise<void> {
    const file = await open(path, flags, 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
  }

  #path(key: string, ending: string): string {
    return join(this.folder, `${createHash("sha256").update(key).digest("hex")}.${ending}`);
  }
}

/** The locks of this process: one with its id and not among them is of a predecessor, as in a container. */
const HELD = new Set<string>();

function isAlive(pid: string): boolean {
  if (pid === String(process.pid)) return false;
  try {
    return /^\d+$/.test(pid) && process.kill(Number(pid), 0);
  } catch (why) {
    return (why as NodeJS.ErrnoException).code === "EPERM";
  }
}
