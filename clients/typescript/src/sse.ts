/** Incremental parser for server-sent events. Pure: text in, messages out. */

/** The largest message: the protocol's largest event twice over. */
const MAX_MESSAGE = 2 * 1024 * 1024;

export interface Message {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Line ends are LF, CR or both, across any packet boundary. */
export class Decoder {
  #rest = "";
  #event = "";
  #data: string[] = [];
  #size = 0;
  #id: string | undefined;

  push(text: string): Message[] {
    this.#rest += text;
    if (this.#rest.length + this.#size > MAX_MESSAGE) throw new RangeError(`a message is over ${MAX_MESSAGE} bytes`);
    const found: Message[] = [];
    for (;;) {
      // A CR at the end may be the first half of a line end.
      const end = /\r\n|\n|\r(?=[^])/.exec(this.#rest);
      if (!end) return found;
      const line = this.#rest.slice(0, end.index);
      this.#rest = this.#rest.slice(end.index + end[0].length);
      const message = this.#line(line);
      if (message) found.push(message);
    }
  }

  #line(line: string): Message | undefined {
    if (line === "") {
      const message = { event: this.#event || "message", data: this.#data.join("\n"), id: this.#id };
      const isEmpty = this.#data.length === 0;
      [this.#event, this.#data, this.#size] = ["", [], 0];
      return isEmpty ? undefined : message;
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") {
      this.#data.push(value);
      this.#size += value.length;
    } else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    return undefined;
  }
}
