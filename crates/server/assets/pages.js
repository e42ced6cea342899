// Enhancements only: every page works without this file.
"use strict";

// A button that copies, where the browser lets us.
for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  const status = document.querySelector("[data-copy-status]");
  if (!source || !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent);
      status.textContent = button.dataset.copied;
    } catch {
      getSelection().selectAllChildren(source);
    }
  });
}

// Times in the reader's own time zone, which is named. The page itself has them in UTC.
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
if (zone && !["UTC", "Etc/UTC"].includes(zone)) {
  const page = document.documentElement.lang;
  // British English writes the day before the month, as the page does.
  const lang = page === "en" ? "en-GB" : page;
  const format = (options) => new Intl.DateTimeFormat(lang, options);
  const zoneName = (at, style) =>
    format({ timeZoneName: style }).formatToParts(at).find((part) => part.type === "timeZoneName").value;
  const day = format({ day: "numeric", month: "long", year: "numeric" });
  const minutes = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const [clock, exactClock] = [format(minutes), format({ ...minutes, second: "2-digit" })];
  const digits = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit" });
  for (const time of document.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const utc = time.textContent.replace(/[\u2068\u2069]/g, "");
    if ("short" in time.dataset) {
      // A column of a table, where the caption names the zone.
      time.title = `${utc} UTC`;
      time.textContent = `${digits.format(at)} ${exactClock.format(at)}`;
    } else {
      time.title = utc;
      const exact = /\d:\d\d:\d\d/.test(utc) ? exactClock : clock;
      time.textContent = `${day.format(at)}, ${exact.format(at)} ${zoneName(at, "long")}`;
    }
  }
  for (const name of document.querySelectorAll("[data-zone]")) name.textContent = zoneName(new Date(), "longGeneric");
}

// Beside an absolute deadline, how far away it is. It is no live region: nobody is interrupted.
for (const time of document.querySelectorAll("time[data-deadline]")) {
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang);
  const left = document.createElement("span");
  time.after(left);
  const tell = () => {
    const minutes = Math.ceil((Date.parse(time.dateTime) - Date.now()) / 60000);
    // A wrong clock would show a wrong duration.
    left.textContent = minutes > 0 && minutes <= 15 ? ` (${words.format(minutes, "minute")})` : "";
  };
  tell();
  setInterval(tell, 15000);
}

// The time left to answer a question, counted from the rendering of the page: no clocks are compared.
for (const left of document.querySelectorAll("[data-left]")) {
  const lang = document.documentElement.lang;
  const unit = (name) => new Intl.NumberFormat(lang, { style: "unit", unit: name, unitDisplay: "long" });
  const units = [[172800, 86400, unit("day")], [7200, 3600, unit("hour")], [120, 60, unit("minute")], [0, 1, unit("second")]];
  left.parentElement.querySelector("[data-left-note]").hidden = true;
  const tell = () => {
    const seconds = Math.max(0, Math.floor(Number(left.dataset.left) - performance.now() / 1000));
    const [, size, words] = units.find(([from]) => seconds >= from);
    const text = words.format(Math.floor(seconds / size));
    if (left.textContent !== text) left.textContent = text;
  };
  tell();
  setInterval(tell, 1000);
}

// Live updates on pages with questions: a new question is announced once and immediately, a settled one can no longer be
// answered. The server alone decides; a page without a connection says so and offers to reload.
const live = document.querySelector("[data-live]");
if (live && window.EventSource) {
  const announced = live.querySelector("[data-announced]");
  const settlements = live.querySelector("[data-settlements]");
  const state = live.querySelector("[data-live-state]");
  const heard = new Set(Array.from(document.querySelectorAll("[data-event]"), (question) => question.dataset.event));
  const lines = new Map();

  const say = (region, text) => {
    const line = document.createElement("p");
    line.textContent = text;
    region.append(line);
    return line;
  };

  const ask = (eventId, path) => {
    if (heard.has(eventId)) return;
    heard.add(eventId);
    const link = document.createElement("a");
    link.href = path;
    link.textContent = live.dataset.read;
    const line = document.createElement("p");
    line.append(`${live.dataset.new} `, link);
    announced.append(line);
    lines.set(path.split("/").pop(), line);
  };

  // Takes the prompt away, wherever it is, and says so once.
  const settle = (decision, how) => {
    const question = document.querySelector(`[data-decision="${CSS.escape(decision)}"]`);
    const prompts = [question?.querySelector("[data-answering]"), lines.get(decision)].filter(Boolean);
    if (prompts.length === 0) return;
    const hadFocus = prompts.some((prompt) => prompt.contains(document.activeElement));
    for (const prompt of prompts) prompt.remove();
    lines.delete(decision);
    if (question) mark(question, how);
    const told = say(settlements, live.dataset[`settled${how}`] ?? live.dataset.settledGone);
    if (hadFocus) {
      told.tabIndex = -1;
      told.focus();
    }
  };

  const mark = (question, how) => {
    question.querySelector("[data-left]")?.closest("dl > div")?.remove();
    const word = question.querySelector("[data-state]");
    word.textContent = live.dataset[`word${how}`] ?? live.dataset.wordGone;
    word.className = "state ended";
  };

  const named = (how) => how.charAt(0).toUpperCase() + how.slice(1);

  const hear = (event, project) => {
    const ours = event.extensions?.dev_countersign ?? {};
    const type = event.type.replace(/^.*[:/]/, "");
    if (type.startsWith("agent.awaiting.") && ours.decision_id) {
      ask(event.event_id, `/inbox/${project}/${encodeURIComponent(ours.decision_id)}`);
    } else if (ours.settled && ours.decision_id) {
      settle(ours.decision_id, named(ours.settled));
    } else if (type === "agent.session.cancelled") {
      const of = `[data-session="${CSS.escape(event.session_id)}"]`;
      for (const question of document.querySelectorAll(of)) settle(question.dataset.decision, "Cancelled");
    }
  };

  // After a gap in the stream, the current pages show the changes that were missed.
  const open = (question) => question.querySelector("[data-answering]") !== null;

  const waitingOn = async (path) => {
    const answer = await fetch(path);
    if (!answer.ok || answer.redirected) throw new Error(`not to be read now: ${answer.status}`);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    return Array.from(page.querySelectorAll("[data-decision]")).filter(open);
  };

  const catchUp = async () => {
    const paths = [...new Set([live.dataset.here, "/inbox"])];
    const questions = (await Promise.all(paths.map(waitingOn))).flat();
    const waiting = new Set(questions.map((question) => question.dataset.decision));
    const shown = Array.from(document.querySelectorAll("[data-decision]"), (question) => question.dataset.decision);
    for (const decision of [...shown, ...lines.keys()]) {
      if (!waiting.has(decision)) settle(decision, "Gone");
    }
    for (const question of questions) ask(question.dataset.event, question.dataset.path);
  };

  const post = (prefix, path, message, options = {}) =>
    fetch(`${prefix}/aaep/v1/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": live.dataset.csrf },
      body: JSON.stringify(message),
      ...options,
    });

  const places = Array.from(live.querySelectorAll("[data-listen]"), (place) => ({
    prefix: place.dataset.listen,
    project: place.dataset.project,
    open: false,
    begun: false,
    wait: 2000,
  }));

  const tellState = () => {
    const text = places.every((place) => place.open) ? live.dataset.on : live.dataset.off;
    if (state.textContent !== text) state.textContent = text;
  };

  const subscribe = async (place) => {
    const answer = await post(place.prefix, "subscriptions", {
      type: "subscription.request",
      aaep_version: "1.0.0",
      subscriber_id: "dev.countersign.inbox-page",
      capabilities: {
        languages: [document.documentElement.lang],
        supports_confirmation_reply: true,
        supports_clarification_reply: true,
        event_filters: { include: ["aaep:agent.awaiting.*", "aaep:agent.state.changed", "aaep:agent.session.*"] },
      },
    });
    if (!answer.ok) throw new Error(`no subscription: ${answer.status}`);
    place.subscription = (await answer.json()).subscription_id;
  };

  const stop = (place) => {
    place.source?.close();
    place.source = undefined;
    place.open = false;
    tellState();
  };

  const later = (place) => {
    stop(place);
    place.wait = Math.min(place.wait * 2, 60000);
    place.again = setTimeout(() => follow(place), place.wait);
  };

  const follow = async (place) => {
    clearTimeout(place.again);
    try {
      if (!place.subscription) await subscribe(place);
    } catch {
      return later(place);
    }
    if (place.source || document.hidden) return;
    const source = new EventSource(`${place.prefix}/aaep/v1/events?subscription_id=${place.subscription}`);
    place.source = source;
    source.addEventListener("aaep.event", (message) => hear(JSON.parse(message.data), place.project));
    source.addEventListener("aaep.close", () => source.onerror());
    source.onopen = () => {
      [place.open, place.wait] = [true, 2000];
      tellState();
      // From the second time on there was a gap.
      if (place.begun) catchUp().catch(() => {});
      place.begun = true;
    };
    source.onerror = (error) => {
      place.open = false;
      tellState();
      // It tries again by itself, unless it was refused or ended.
      if (error && source.readyState !== EventSource.CLOSED) return;
      place.subscription = undefined;
      later(place);
    };
  };

  // A hidden page holds no connection: browsers allow only a few for each server.
  document.addEventListener("visibilitychange", () => places.forEach(document.hidden ? stop : follow));
  window.addEventListener("pagehide", () => {
    for (const place of places) {
      stop(place);
      if (!place.subscription) continue;
      const close = { type: "subscription.close", subscription_id: place.subscription };
      post(place.prefix, "replies", close, { keepalive: true }).catch(() => {});
      place.subscription = undefined;
    }
  });
  window.addEventListener("pageshow", (event) => event.persisted && places.forEach(follow));
  places.forEach(follow);
}
