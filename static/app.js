// Comfort only: every page works without this file.

for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  if (!navigator.clipboard || !source) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const label = button.textContent;
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 2000);
  });
}

// Live refresh: fetch this page again and swap the list, keeping what is open.
const EVERY_MS = 5000;

async function refresh() {
  const list = document.querySelector("#signals[data-live]");
  if (!list || document.hidden || !getSelection().isCollapsed) return;
  const answer = await fetch(location.href, { headers: { Accept: "text/html", "X-Live-Refresh": "1" } });
  if (answer.redirected) return location.reload(); // signed out: the sign-in page leads back here
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("#signals[data-live]");
  if (!fresh || fresh.innerHTML === list.dataset.last) return;
  list.dataset.last = fresh.innerHTML;
  for (const open of list.querySelectorAll("details[open]")) {
    fresh.querySelector(`#${open.id}`)?.setAttribute("open", "");
  }
  const at = document.activeElement, inside = list.contains(at) && at.closest("details")?.id;
  const mark = inside ? `#${inside} ${at.localName}` : list.contains(at) && at.rel ? `a[rel=${at.rel}]` : "";
  list.replaceChildren(...fresh.childNodes);
  if (mark) list.querySelector(mark)?.focus({ preventScroll: true });
}

if (document.querySelector("#signals[data-live]")) {
  setInterval(() => refresh().catch(() => {}), EVERY_MS);
}
