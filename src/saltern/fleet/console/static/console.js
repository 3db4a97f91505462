// The console: keys, dialogs, the matrix, the time slider. Everything reads and links without it.
const $ = (s, r = document) => r.querySelector(s);
const $$ = (s, r = document) => [...r.querySelectorAll(s)];
const root = document.documentElement, base = document.body.dataset.root;
const say = (text) => { let s = $("#announce"); if (!s) { s = document.createElement("p"); s.id = "announce"; s.className = "unseen"; s.setAttribute("role", "status"); document.body.append(s); } s.textContent = text; };
const go = (url) => { location.href = url; };

$("#theme")?.addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.theme = root.dataset.theme; } catch {}
});

// Dialogs, copies, rows that lead somewhere.
document.addEventListener("click", (e) => {
  const open = e.target.closest("[data-open]");
  if (open) {
    const d = document.getElementById(open.dataset.open);
    if (d) { prepare(d, open); d.showModal(); $$("[data-type], input:not([type=hidden])", d).find((one) => one.checkVisibility())?.focus(); }
  }
  if (e.target.closest("[data-reload]")) location.reload();
  if (e.target.closest("[data-close]")) e.target.closest("dialog").close();
  const copy = e.target.closest("[data-copy]");
  if (copy) {
    const from = copy.dataset.copy.startsWith("#") ? $(copy.dataset.copy).textContent : copy.dataset.copy;
    navigator.clipboard?.writeText(from.trim()).then(() => say("copied"));
  }
});
// What a dialog says and sends comes from the button that opened it: words, values, and on how many systems it acts.
function prepare(d, from) {
  for (const [key, value] of Object.entries(from.dataset)) {
    if (!key.startsWith("fill")) continue;
    const name = key[4].toLowerCase() + key.slice(5);
    $$(`input[type=hidden][name="${name}"]`, d).forEach((one) => { one.value = value; });
    $$(`[data-show="${name}"]`, d).forEach((one) => { one.textContent = value; });
  }
  $$("[data-when]", d).forEach((one) => { one.hidden = one.dataset.when !== from.dataset.fillStatus; });
  $$(".said", d).forEach((one) => one.replaceChildren());
  const form = $("form[data-live]", d);
  if (form && from.dataset.count) count(form, +from.dataset.count);
}
function count(form, n) {
  const asks = n > 10 || form.dataset.live === "danger", number = n.toLocaleString("en");
  $$("[data-systems]", form).forEach((one) => { one.textContent = `${number} system${n === 1 ? "" : "s"}`; });
  $$("[data-number]", form).forEach((one) => { one.textContent = number; });
  form.elements.count.value = n;
  form.elements.typed.value = "";
  form.elements.reason.required = asks;
  $(".type", form).hidden = !asks;
  $(".why", form).hidden = !asks && form.dataset.live !== "reason";
  if (asks) form.dataset.count = n; else delete form.dataset.count;
  $(".sure", form).disabled = asks;
}
// A dangerous action wants the number of systems, typed.
document.addEventListener("input", (e) => {
  const f = e.target.closest("form[data-count]");
  if (f) $(".sure", f).disabled = $("[data-type]", f).value.replace(/[,\s]/g, "") !== f.dataset.count;
});

document.addEventListener("change", (e) => {
  const from = e.target.closest("[data-into]");
  if (from?.value) { const field = from.form.elements[from.dataset.into]; field.value = from.value; from.form.requestSubmit(); }
});
// A button whose dialog is not there: the reader may not do it.
const bar = () => $$("main [data-open]").forEach((b) => { if (!document.getElementById(b.dataset.open)) { b.disabled = true; b.title ||= "your roles do not allow this: ask an admin"; } });

// Rows of a table: one of them is in the tab order, j and k move, Enter opens its first link.
function rows() {
  const table = document.activeElement?.closest("[data-rows]") || $("main [data-rows]");
  return table ? $$("tbody tr", table).filter((r) => !r.classList.contains("names")) : [];
}
function move(by) {
  const all = rows(), at = all.indexOf(document.activeElement?.closest("tr"));
  const to = all[Math.max(0, Math.min(all.length - 1, at + by))];
  if (!to) return;
  all.forEach((r) => (r.tabIndex = -1));
  to.tabIndex = 0;
  to.focus();
}
const enroll = () => $$("[data-rows]").forEach((t) => { const r = $("tbody tr", t); if (r && !$("tr[tabindex='0']", t)) r.tabIndex = 0; });

// The matrix: a grid with one stop in the tab order.
const matrix = () => $(".matrix");
const cells = () => (matrix() ? $$("tr", matrix()).map((r) => $$(".c", r)).filter((r) => r.length) : []);
function pick(row, col) {
  const all = cells(), line = all[Math.max(0, Math.min(all.length - 1, row))];
  const c = line?.[Math.max(0, Math.min(line.length - 1, col))];
  if (!c) return;
  $$(".c[tabindex='0']", matrix()).forEach((x) => (x.tabIndex = -1));
  c.tabIndex = 0;
  c.focus();
}
// What a cell printed: its row says which system it is, its column which step.
function outputOf(c) {
  const system = c.parentNode.dataset.system, step = $$("thead th.step", matrix())[c.cellIndex - 1]?.dataset.step;
  if (!system || !step || c.classList.contains("gap")) return "";
  return `${matrix().dataset.run}/${encodeURIComponent(system)}/output?step=${encodeURIComponent(step)}`;
}
// The drawer beside it shows what one cell printed. Esc closes it, and the cell has the focus again.
const drawer = $("#drawer"), blank = drawer?.innerHTML;
let chosen = null; // the system and the column of the cell, by which it is found again in a new matrix
const chosenCell = () => chosen && cells().flat().find((c) => c.parentNode.dataset.system === chosen.system && c.cellIndex === chosen.column);
function mark(c) {
  $$("[aria-selected]", matrix()).forEach((x) => x.removeAttribute("aria-selected"));
  c?.setAttribute("aria-selected", "true");
  c?.parentNode.setAttribute("aria-selected", "true");
}
function select(c) {
  const from = outputOf(c);
  if (!from || !window.htmx) return;
  chosen = { system: c.parentNode.dataset.system, column: c.cellIndex };
  mark(c);
  const bars = setTimeout(() => { drawer.innerHTML = '<div class="bars" role="status"><span class="unseen">loading</span><i></i><i></i><i></i></div>'; }, 200);
  htmx.ajax("GET", from, { target: "#drawer", swap: "innerHTML" }).finally(() => { clearTimeout(bars); if (chosen) drawer.scrollIntoView({ block: "nearest" }); else drawer.innerHTML = blank; });
}
function shut() {
  const back = chosenCell();
  chosen = null;
  mark(null);
  drawer.innerHTML = blank;
  if (back) { $$(".c[tabindex='0']", matrix()).forEach((x) => (x.tabIndex = -1)); back.tabIndex = 0; back.focus(); }
}
document.addEventListener("click", (e) => { if (e.target.closest("[data-shut]")) shut(); });
document.addEventListener("keydown", (e) => {
  if (e.key !== "Escape" || !chosen || $("dialog[open]") || (e.target !== document.body && !e.target.closest("#drawer, .matrix"))) return;
  if (e.target.matches("input[type=search]") && e.target.value) return; // the browser empties the field
  e.preventDefault();
  e.stopImmediatePropagation();
  shut();
});
function readyMatrix() {
  const all = cells().flat();
  if (chosen) mark(chosenCell());
  if (all.length && !all.some((c) => c.tabIndex === 0)) (all.find((c) => c.getAttribute("aria-selected")) || all[0]).tabIndex = 0;
}
document.addEventListener("click", (e) => { const c = e.target.closest(".matrix .c"); if (c) select(c); });
document.addEventListener("keydown", (e) => {
  const c = e.target.closest?.(".matrix .c");
  if (!c) return;
  const all = cells(), r = all.findIndex((row) => row.includes(c)), k = all[r].indexOf(c);
  const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[e.key];
  if (by) { e.preventDefault(); pick(r + by[0], k + by[1]); }
  if (e.key === "Enter") { e.preventDefault(); select(c); }
});
function nextFailure() {
  const all = cells(), bad = all.flat().filter((c) => /\b(failed|timeout|unknown)\b/.test(c.className));
  if (!bad.length) return;
  const c = bad[(bad.indexOf(document.activeElement) + 1) % bad.length], r = all.findIndex((row) => row.includes(c));
  pick(r, all[r].indexOf(c));
}

// Time travel: the server folds the journal up to a moment; the address has the moment.
const time = $("#time");
function travel(at) {
  const url = new URL(location.href);
  if (at === null) url.searchParams.delete("at"); else url.searchParams.set("at", at);
  go(url.href);
}
if (time) {
  const moments = (time.dataset.moments || "").split(",").map(Number).filter(Boolean);
  const now = () => (time.dataset.at ? +time.dataset.at : Infinity);
  window.jump = (by) => {
    const to = by < 0 ? moments.filter((m) => m < now() - 0.001).at(-1) : moments.find((m) => m > now() + 0.001);
    if (to !== undefined) travel(to); else if (by > 0 && now() !== Infinity) travel(null);
  };
  time.addEventListener("change", () => travel(+time.value >= +time.max ? null : time.value));
  time.addEventListener("input", () => { const s = $("#asof"); if (s) s.textContent = new Date(+time.value * 1000).toISOString().slice(11, 19); });
}
$("#prev")?.addEventListener("click", () => jump(-1));
$("#next")?.addEventListener("click", () => jump(1));
$("#golive")?.addEventListener("click", () => travel(null));

// A list that changed under its reader is not moved: a button offers the new one.
document.addEventListener("saltern:changed", (e) => {
  const box = $("#changed");
  if (!box) return;
  const names = (e.detail?.was !== undefined && e.detail.html.match(/value="([^"]*)"/)?.[1].split(" ")) || [];
  const had = new Set((e.detail?.was || "").split(" ")), n = names.filter((one) => !had.has(one)).length, b = $("button", box) || box;
  b.textContent = n > 0 ? `${n} new: show` : "it has changed: show it";
  box.hidden = false;
});
// The line that sums a page up is read aloud when it changes, at most once in ten seconds.
let summary = $("[data-summary]")?.textContent, last = 0, later = 0;
function sum() {
  const now = $("[data-summary]")?.textContent;
  if (!now || now === summary) return;
  clearTimeout(later);
  const wait = 10000 - (Date.now() - last);
  if (wait > 0) { later = setTimeout(sum, wait); return; }
  summary = now;
  last = Date.now();
  say(now.replace(/\s+/g, " ").trim());
}
document.addEventListener("saltern:swapped", sum);
const ready = () => { enroll(); readyMatrix(); bar(); };
document.addEventListener("saltern:swapped", ready);
document.addEventListener("htmx:afterSettle", ready);
ready();

// Follow: the output of a step is loaded again while it runs, and its end is kept in sight.
let following = 0;
async function look() {
  const box = $(".log-box"), b = $(".follow", box || document);
  if (!box || !b) { clearInterval(following); following = 0; return; }
  if (document.hidden) return;
  const answer = await fetch(box.dataset.output, { headers: { "HX-Request": "true" } });
  if (!answer.ok) return;
  const fresh = $(".log-box", new DOMParser().parseFromString(await answer.text(), "text/html"));
  if (!fresh || !following) return;
  $("ol.log", box).replaceWith($("ol.log", fresh));
  const still = $(".follow", fresh);
  if (still) $("ol.log", box).lastElementChild?.scrollIntoView({ block: "nearest" });
  else { box.replaceWith(fresh); say("the step has ended"); }
}
document.addEventListener("click", (e) => {
  const b = e.target.closest(".follow");
  if (!b) return;
  clearInterval(following);
  following = following ? 0 : setInterval(look, 1000);
  b.setAttribute("aria-pressed", String(!!following));
  say(following ? "the output is followed" : "the output is not followed");
  if (following) look();
});

// Keys. None in a field; all can be turned off in the help (WCAG 2.1.4).
const pages = { o: "/", s: "/systems", r: "/runs", c: "/chains", x: "/command", w: "/calendar", e: "/events", i: "/inbox" };
const keysOn = () => { try { return localStorage.keys !== "off"; } catch { return true; } };
const box = $("#keys-on");
if (box) { box.checked = keysOn(); box.addEventListener("change", () => { try { localStorage.keys = box.checked ? "on" : "off"; } catch {} }); }
let g = 0;
const keys = {
  "/": (e) => { e.preventDefault(); $("#jump")?.focus(); },
  j: () => move(1),
  k: () => move(-1),
  n: () => nextFailure(),
  "?": () => $("#keys").showModal(),
  "[": () => (window.jump ? jump(-1) : $("a[rel=prev]")?.click()),
  "]": () => (window.jump ? jump(1) : $("a[rel=next]")?.click()),
  l: () => time && travel(null),
  e: () => $("[data-each]")?.click(),
  f: () => $(".follow")?.click(),
  y: () => navigator.clipboard?.writeText(location.href).then(() => say("the link is copied")),
  Enter: () => { const r = document.activeElement?.closest("[data-rows] tr"); if (r === document.activeElement) $("a[href]", r)?.click(); },
  Escape: () => { if (document.activeElement !== document.body) document.activeElement?.blur(); else if (history.length > 1) history.back(); },
};
document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if ($("dialog[open]")) return; // Escape closes it, and nothing else
  if (e.target.closest?.("input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]")) { if (e.key === "Escape") e.target.blur(); return; }
  if (!keysOn() && e.key !== "?") return;
  if (Date.now() - g < 1200 && pages[e.key]) { g = 0; go(base + pages[e.key]); return; }
  if (e.key === "g") { g = Date.now(); return; }
  if (/^\d$/.test(e.key)) { $$("[data-filter]")[+e.key]?.click(); return; }
  keys[e.key]?.(e);
});
