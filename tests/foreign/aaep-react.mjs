// Runs the React subscriber of AAEP's authors in a page that is not there: jsdom for the document, `eventsource` for
// the stream. It is used as it is published; what a browser would do beside it, the origin of the page and the rules
// for asking elsewhere, is done here.
//
//   node aaep-react.mjs '{"endpoint": "http://…", "origin": "http://…"}'
//
// Told, one JSON a line: status, event, dialog (its title, or null), announced, replied. Taken, one a line: a selector
// of what is to be pressed, or `key X`. Ends when its input does.

import EventSource from "eventsource";
import { JSDOM } from "jsdom";
import { createInterface } from "node:readline";

const { endpoint, origin } = JSON.parse(process.argv[2]);
const { window } = new JSDOM('<!doctype html><div id="root"></div>', { url: `${origin}/`, pretendToBeVisual: true });
const { document } = window;
const tell = (what) => console.log(JSON.stringify(what));

// A browser names the page's origin; so must the stand-in.
class FromPage extends EventSource {
  constructor(url) {
    super(url, { headers: { Origin: origin } });
  }
}

// Node's own fetch asks no server for leave. jsdom's older way does, as browsers do: a question ahead, then the answer
// only for whom the server names.
const fetchAsPage = (url, { method, headers, body }) =>
  new Promise((resolve, reject) => {
    const request = new window.XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    // jsdom takes every content type for one that needs no leave, but asks for it where progress is watched.
    request.upload.addEventListener("progress", () => {});
    request.onload = () => resolve({ ok: request.status >= 200 && request.status < 300, status: request.status });
    request.onerror = () => reject(new TypeError("not allowed, or not reachable"));
    request.send(body);
  });

const fetch = async (url, asked) => {
  try {
    const answer = await fetchAsPage(url, asked);
    tell({ replied: answer.status });
    return answer;
  } catch (why) {
    tell({ replied: why.message });
    throw why;
  }
};

const { navigator, HTMLElement, HTMLInputElement, HTMLTextAreaElement } = window;
const ofPage = { window, document, navigator, HTMLElement, HTMLInputElement, HTMLTextAreaElement, fetch };
for (const [name, value] of Object.entries({ ...ofPage, EventSource: FromPage })) {
  // Newer versions of Node have some of these and would not let them be assigned.
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

const { createElement } = await import("react");
const { createRoot } = await import("react-dom/client");
// The package's entry points name files that it does not have; this is the one that it has.
const subscriber = new URL("../../node_modules/@aaep/web-subscriber-react/dist/index.js", import.meta.url);
const { AAEPSubscriber } = await import(subscriber);

const told = new Map();
const tellChange = (name, value) => {
  if (told.get(name) === value) return;
  told.set(name, value);
  tell({ [name]: value });
};
const look = () => {
  tellChange("announced", document.querySelector("#aaep-assertive-region")?.textContent || null);
  const button = document.querySelector(".aaep-button-accept");
  // A dialog hears keys from when its button has the focus, a little after it is drawn.
  if (button && document.activeElement !== button) return;
  tellChange("dialog", document.querySelector(".aaep-dialog-title")?.textContent ?? null);
};
document.addEventListener("focusin", look);
new window.MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });

const root = createRoot(document.querySelector("#root"));
root.render(
  createElement(AAEPSubscriber, {
    endpoint,
    onConnectionStatus: (status) => tell({ status }),
    onEvent: (event) => tell({ event }),
  }),
);

const press = (selector) => {
  const key = /^key (.)$/.exec(selector)?.[1];
  if (key) return window.dispatchEvent(new window.KeyboardEvent("keydown", { key, bubbles: true }));
  const control = document.querySelector(selector);
  return control ? control.click() : tell({ missing: selector });
};

for await (const line of createInterface({ input: process.stdin })) press(line);
root.unmount();
window.close();
