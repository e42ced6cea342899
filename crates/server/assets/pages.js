// Comforts only: every page works without this file.
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

// Beside an absolute deadline, how far away it is. It is no live region: nobody is interrupted.
for (const time of document.querySelectorAll("time[data-deadline]")) {
  const words = new Intl.RelativeTimeFormat(document.documentElement.lang);
  const left = document.createElement("span");
  time.after(left);
  const tell = () => {
    const minutes = Math.ceil((Date.parse(time.dateTime) - Date.now()) / 60000);
    // A clock that is far off would tell a lie.
    left.textContent = minutes > 0 && minutes <= 15 ? ` (${words.format(minutes, "minute")})` : "";
  };
  tell();
  setInterval(tell, 15000);
}
