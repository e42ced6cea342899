// Runs the React subscriber of AAEP's authors, as published, in a simulated page: jsdom for the document, `eventsource`
// for the stream. The remaining duties of a browser, the page's origin and CORS, are implemented here.
//
//   node aaep-react.mjs '{"endpoint": "http://…", "origin": "http://…"}'
//
// Output, one JSON a line: status, event, dialog (its title, or null), announced, replied. Input, one a line: the
// selector of an element to press, or `key X`. Ends with its input.

import EventSource from "eventsource";
import { JSDOM } from "jsdom";
import { createInterface } from "node:readline";

const { endpoint, origin } = JSON.parse(process.argv[2]);
const { window } = new JSDOM('<!doctype html><div id="root"></div>', { url: `${origin}/`, pretendToBeVisual: true });
const { document } = window;
const tell = (what) => console.log(JSON.stringify(what));

// A browser sends the page's origin; so must this class.
class FromPage extends EventSource {
  constructor(url) {
    super(url, { headers: { Origin: origin } });
  }
}

// Node's own fetch ignores CORS. jsdom's XMLHttpRequest implements it like a browser: a preflight, then the response
// only for allowed origins.
const fetchAsPage = (url, { method, headers, body }) =>
  new Promise((resolve, reject) => {
    const request = new window.XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    // jsdom sends no preflight for any content type, but one for requests with a progress listener.
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
  // Newer versions of Node have some of these as read-only properties.
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

const { createElement } = await import("react");
const { createRoot } = await import("react-dom/client");
// The package's entry points name missing files; this is the existing one.
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
  // A dialog handles keys once its button has the focus, a little after it is drawn.
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
