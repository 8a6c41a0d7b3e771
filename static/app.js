// Enhancements only: every page works without this file.

const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

function addDialogs() {
  document.body.insertAdjacentHTML("beforeend", `<div id="toast" aria-live="polite" aria-atomic="true"></div>
<dialog id="question-dialog" aria-labelledby="question-title"></dialog>
<dialog id="palette" aria-label="Search"><input type="search" maxlength="200" autocomplete="off"
aria-label="Search flags, endpoints and pages" placeholder="Search flags, endpoints and pages">
<div id="palette-results"></div></dialog>`);
}

// Times, in the zone of the reader. The same texts as format_time in sigservice/web/helpers.py.
const formatTime = (at, options) => at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", ...options });
const formatDate = (at) => `${at.getDate()} ${at.toLocaleString("en", { month: "short" })} ${at.getFullYear()}`;

function describeTime(at, form) {
  const seconds = (Date.now() - at) / 1000, length = Math.abs(seconds);
  if (form === "clock") return formatTime(at);
  if (!form && length >= 14 * 86400) return formatDate(at);
  const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
  const [unit, size] = units.find(([, size]) => length >= Math.max(size, 10)) ?? [];
  const text = `${Math.floor(length / size)} ${unit}`;
  if (form) return unit ? `for ${text}` : "for a moment";
  return !unit ? "just now" : seconds > 0 ? `${text} ago` : `in ${text}`;
}

// What a page needs once, every half minute, and again for each part that is swapped in.
function enhance(root) {
  for (const time of $$("time[title]", root)) {
    const at = new Date(time.dateTime);
    time.title = `${formatDate(at)}, ${formatTime(at, { second: "2-digit", timeZoneName: "short" })}`;
    time.textContent = describeTime(at, time.dataset.form);
  }
}

// Copy buttons
async function copyText(text, place) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = Object.assign(document.createElement("textarea"), { value: text, className: "hidden" });
  place.append(area); // without HTTPS there is no navigator.clipboard
  area.select();
  document.execCommand("copy");
  area.remove();
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  const source = button && document.getElementById(button.dataset.copy);
  if (!source) return;
  await copyText(source.value ?? source.textContent, button.parentElement);
  button.focus();
  const label = (button.dataset.label ??= button.textContent);
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 2000);
});

// Messages
const TOAST_MS = 10000;
let toastTimer;

function showToast(...content) {
  const toast = $("#toast");
  const hide = () => {
    if (toast.matches(":hover, :focus-within")) toastTimer = setTimeout(hide, 2000);
    else toast.replaceChildren();
  };
  toast.replaceChildren(...content);
  clearTimeout(toastTimer);
  toastTimer = setTimeout(hide, TOAST_MS);
}

// A reload doesn't show the message of a form once more.
function forgetNotice() {
  const address = new URL(location.href);
  for (const name of [...address.searchParams.keys()]) {
    if (name === "done" || name.startsWith("done.")) address.searchParams.delete(name);
  }
  history.replaceState(history.state, "", address);
}

// Forms that change a part of the page: data-swap names the elements to replace.
function findAlike(element, root = document) {
  if (element.id) return document.getElementById(element.id);
  const label = element.getAttribute("aria-label") ?? element.textContent.trim();
  return $$(element.localName, root).find((other) => (other.getAttribute("aria-label") ?? other.textContent.trim()) === label);
}

const readState = (control) => control.matches("[type=checkbox], [type=radio]") ? control.checked : control.value;

// Enters into a swapped part what was entered since the form was sent; `sent` are the states then, by id. A button
// that moves the rows of `section` changes their ids. Selected rows of a table stay selected.
function keepEntries(old, sent, section) {
  for (const control of $$("input, select, textarea", old)) {
    const fresh = document.getElementById(control.id), state = sent.get(control.id);
    const isMoved = section && control.id.startsWith(`${section}.`);
    if (!fresh || isMoved || readState(control) === state || readState(fresh) !== state) continue;
    if (typeof state === "boolean") fresh.checked = control.checked; else fresh.value = control.value;
    fresh.dispatchEvent(new Event("input", { bubbles: true })); // for its slider
  }
  for (const box of $$("tbody [type=checkbox]:checked", old)) {
    const [fresh] = document.getElementsByName(box.name);
    if (fresh) fresh.checked = true;
  }
}

// Goes to the summary of errors, and returns it.
function focusProblems() {
  const problems = $(".problem[tabindex]");
  problems?.focus();
  return problems;
}

let submissions = 0;
const answered = new WeakMap(); // the last submission of each form that was answered

async function submitInPlace(form, button, ids) {
  const number = ++submissions;
  const sent = new Map([...form.elements].map((control) => [control.id, readState(control)]));
  const [, section] = button?.value.match(/^(?:remove|up)-(.+)\.\d+$/) ?? [];
  const body = new URLSearchParams(new FormData(form, button));
  const action = new URL(button?.getAttribute("formaction") ?? form.action, location.href);
  form.setAttribute("aria-busy", "true");
  const answer = await fetch(action, { method: "POST", body, headers: { Accept: "text/html" } })
    .catch(() => null)
    .finally(() => form.removeAttribute("aria-busy"));
  const page = new DOMParser().parseFromString((await answer?.text()) ?? "", "text/html");
  if (number < answered.get(form)) return; // the form was sent again, and that was answered first
  answered.set(form, number);
  form.closest("dialog")?.close(); // the focus goes back to what opened it
  if (!answer || answer.status >= 500) { // what was typed stays
    return showToast(...(page.getElementById("main")?.childNodes ?? ["The service can't be reached. Try again."]));
  }
  const parts = ids.split(" ").map((id) => [document.getElementById(id), page.getElementById(id)]);
  if (!parts.flat().every(Boolean)) { // an error, a question, the sign-in page, a list that was empty
    if (answer.url.endsWith("/sign-in")) return location.reload(); // it leads back here
    if (answer.redirected) return location.assign(answer.url);
    const question = page.getElementById("question");
    if (question) return showQuestion(question, ids);
    document.title = page.title;
    document.body.replaceWith(page.body);
    addDialogs();
    enhance(document);
    return focusProblems() ?? $("#main")?.focus();
  }
  const focused = document.activeElement; // now: Tab may have moved on since the change
  $("#notice")?.remove(); // of an earlier change
  for (const [old, fresh] of parts) old.replaceWith(fresh);
  for (const [old, fresh] of parts) {
    keepEntries(old, sent, section);
    enhance(fresh);
  }
  const isAtButton = focused === button || focused === document.body;
  if (isAtButton && parts.some(([, fresh]) => $(".problem[tabindex]", fresh))) return focusProblems();
  const row = isAtButton && action.hash && document.getElementById(action.hash.slice(1));
  const target = row ? $("input:not([type=hidden]), select, textarea", row) : !focused.isConnected && findAlike(focused);
  if (row && !target) return row.scrollIntoView();
  const menu = target && target.closest("details:not([open])");
  const place = focused.isConnected ? focused : $("#main");
  ((menu && $("summary", menu)) || target || place).focus({ preventScroll: !row });
  if (target && target.id === focused.id && typeof focused.selectionStart === "number") {
    target.setSelectionRange(focused.selectionStart, focused.selectionEnd);
  }
  const notice = page.getElementById("notice");
  if (notice) showToast(...notice.childNodes);
}


// The page of a question, as a dialog: a[data-dialog] leads to it.
async function askInDialog(link) {
  const answer = await fetch(link.href, { headers: { Accept: "text/html" } });
  const question = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("question");
  if (!answer.ok || !question) return location.assign(link.href);
  showQuestion(question);
}

// `swap` are the ids that its answer replaces, instead of the page.
function showQuestion(question, swap) {
  const dialog = $("#question-dialog"), form = $("form", question);
  if (swap && form) form.dataset.swap = swap;
  dialog.replaceChildren(question);
  dialog.showModal();
  $($(".danger", dialog) ? "[data-cancel]" : ".field input, [data-cancel]", dialog)?.focus();
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-dialog]");
  if (link && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    askInDialog(link).catch(() => location.assign(link.href));
  } else if (event.target.closest("dialog [data-cancel]")) {
    event.preventDefault();
    event.target.closest("dialog").close();
  }
});

const SENDING_MS = 10000;
let sending = new WeakSet();

document.addEventListener("submit", (event) => {
  const form = event.target, button = event.submitter;
  const ids = button?.dataset.swap ?? form.dataset.swap;
  if (ids) {
    event.preventDefault();
    if (sending.has(button)) return;
    if (button?.checkVisibility()) sending.add(button); // scripts press hidden ones, once for each change
    submitInPlace(form, button, ids).finally(() => sending.delete(button));
  } else if (sending.has(form)) { // a second click while the first is answered
    event.preventDefault();
  } else if (form.method === "post" && !button?.formTarget) {
    sending.add(form);
    setTimeout(() => sending.delete(form), SENDING_MS); // it may have been stopped
  }
});

addEventListener("pageshow", () => { sending = new WeakSet(); }); // the page is back

document.addEventListener("change", async (event) => {
  const selected = event.target.matches("tbody [type=checkbox]") && $("[data-selected]", event.target.form);
  if (selected) selected.textContent = `${$$("tbody :checked", event.target.form).length} selected:`;
  const [file] = event.target.files ?? [];
  if (file) document.getElementById(event.target.dataset.read).value = await file.text();
  const button = document.getElementById(event.target.dataset.press);
  if (button) button.form.requestSubmit(button);
});

// Search: Ctrl-K opens the dialog, / goes to the search field of the page.
async function search(text) {
  const address = new URL($("[data-palette]").href);
  address.searchParams.set("q", text);
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (answer.redirected) return location.reload();
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if ($("#palette input").value === text) $("#palette-results").replaceChildren(...(page.getElementById("results")?.childNodes ?? []));
}

function openPalette() {
  $("#palette").showModal();
  $("#palette input").select();
  search($("#palette input").value);
}

document.addEventListener("keydown", (event) => {
  const palette = $("#palette");
  if (!$("[data-palette]")) return; // nobody has signed in
  const isTyping = event.target.matches("input, textarea, select, [contenteditable]");
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    openPalette();
  } else if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    const field = $("main [role=search] input:not([type=hidden])");
    if (field) field.focus(); else openPalette();
  } else if (palette.open && ["ArrowDown", "ArrowUp"].includes(event.key)) {
    event.preventDefault();
    const stops = [$("input", palette), ...$$("a", palette)];
    const step = event.key === "ArrowDown" ? 1 : -1;
    stops.at((stops.indexOf(document.activeElement) + step) % stops.length).focus();
  } else if (palette.open && event.key === "Enter" && event.target.matches("#palette input")) {
    event.preventDefault();
    search(event.target.value).then(() => $("#palette-results a")?.click()).catch(() => {}); // not an earlier result
  }
});

document.addEventListener("input", (event) => {
  const { id, value, dataset } = event.target;
  const other = dataset.slider ? document.getElementById(dataset.slider) : id && $(`[data-slider="${id}"]`);
  if (other) other.value = value;
  if (event.target.matches("#palette input")) search(event.target.value).catch(() => {});
});

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-palette]") && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    openPalette();
  }
  if (event.target.id === "palette") event.target.close(); // its backdrop
});

// Live refresh: fetches this page again and swaps its live parts; what is open stays open. Only changes
// of data-announce are announced.
const REFRESH_MS = 5000;

async function refresh() {
  if (document.hidden || $("dialog[open]") || !getSelection().isCollapsed) return; // a dialog gives the focus back
  const answer = await fetch(location.href, { headers: { Accept: "text/html", "X-Live-Refresh": "1" } });
  if (answer.redirected) return location.reload(); // signed out: the sign-in page leads back here
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const list of $$("[data-live]")) refreshPart(list, page.getElementById(list.id));
}

function refreshPart(list, fresh) {
  if (!fresh) return list.remove(); // such as the releases of a project after the last one
  if (fresh.innerHTML === list.dataset.last) return;
  list.dataset.last = fresh.innerHTML;
  for (const open of $$("details[open]", list)) {
    $(`#${open.id}`, fresh)?.setAttribute("open", "");
  }
  const at = document.activeElement, focused = list.contains(at) && at;
  const inside = focused && at.closest("details")?.id;
  const mark = inside ? `#${inside} ${at.localName}` : focused.rel ? `a[rel="${at.rel}"]` : "";
  const scrolled = $$("details[open] pre", list).map((pre) => [pre.closest("details").id, pre.scrollLeft, pre.scrollTop]);
  const listStates = () => $$("[data-announce]", list).map((part) => part.dataset.announce);
  const before = listStates();
  list.className = fresh.className;
  list.replaceChildren(...fresh.childNodes);
  enhance(list);
  const changed = before.length ? listStates().filter((text) => !before.includes(text)) : [];
  if (changed.length) showToast(changed.join(". "));
  for (const [id, left, top] of scrolled) $(`#${id} pre`, list)?.scrollTo(left, top);
  const part = inside && document.getElementById(inside);
  const target = focused && ((part && findAlike(focused, part)) || (mark ? $(mark, list) : findAlike(focused)));
  target?.focus({ preventScroll: true });
}

addDialogs();
enhance(document);
focusProblems();
if ($("#notice")) forgetNotice();
setInterval(() => enhance(document), 30000);
if ($("[data-live]")) setInterval(() => refresh().catch(() => {}), REFRESH_MS);
