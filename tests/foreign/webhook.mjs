// Judges webhook messages as their receiver would: the Standard Webhooks library, and node's own HMAC for AAP's forms.
// One JSON question a line: {secret, headers, body, now}; one JSON answer a line.
import { createHmac } from "node:crypto";
import { createInterface } from "node:readline";
import { Webhook } from "standardwebhooks";

const hmac = (secret, text) =>
  createHmac("sha256", Buffer.from(secret.slice("whsec_".length), "base64")).update(text).digest("hex");

function standard({ secret, headers, body, now }) {
  // The library compares with the clock; the tests have their own.
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      super(...(given.length ? given : [now]));
    }
    static now() {
      return now;
    }
  };
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  } finally {
    globalThis.Date = RealDate;
  }
}

function header({ secret, headers, body }) {
  const expected = `v1=${hmac(secret, `${headers["x-aap-webhook-timestamp"]}.${body}`)}`;
  return headers["x-aap-webhook-signature"].split(",").includes(expected);
}

// All members are strings with ASCII names, so sorting the names is all that RFC 8785 asks for.
function member({ secret, body }) {
  const { signature, ...rest } = JSON.parse(body);
  const canonical = JSON.stringify(Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))));
  return signature === hmac(secret, canonical);
}

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  console.log(JSON.stringify({ standard: standard(question), header: header(question), member: member(question) }));
}
