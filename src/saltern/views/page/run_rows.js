const WORDS = { ok: "unchanged", changed: "changed", would: "would change", failed: "failed", blocked: "blocked", skipped: "not run", begun: "running", waiting: "not reached" };
const list = document.getElementById("rows");
const search = document.getElementById("search");
const sort = document.getElementById("sort");
const steps = document.getElementById("steps");
const span = data.took || 1e-9;
const rows = data.rows.map((row, at) => ({ ...row, at, parent: -1, children: [] }));
const byNumber = new Map(rows.filter((row) => row.number !== undefined).map((row) => [row.number, row]));
const stack = [];
for (const row of rows) {
  stack.length = row.level;
  if (row.level) {
    row.parent = stack[row.level - 1];
    rows[row.parent].children.push(row.at);
  }
  stack[row.level] = row.at;
}
for (const row of rows.filter((one) => one.kind === "frame")) spanOf(row);

/** A frame lasts from the beginning of its first state to the end of its last one. */
function spanOf(row) {
  let end = -Infinity;
  for (let at = row.at + 1; at < rows.length && rows[at].level > row.level; at += 1) {
    const { start, took } = rows[at];
    if (start === undefined || start === null) continue;
    row.start = Math.min(row.start ?? Infinity, start);
    end = Math.max(end, start + took);
  }
  if (row.start !== undefined) row.took = end - row.start;
}
/** Part of an address, which stays the same when the page is written again. */
const nameOf = (row) => (row.kind === "frame" ? `frame-${row.path}` : `state-${row.number ?? `left-${row.title}`}`);

// -- head ---------------------------------------------------------------------------------------------
const STATUS = { succeeded: "ok", failed: "failed", broken: "failed", interrupted: "would" };
document.getElementById("heading").textContent = `${data.asked}${data.test ? " (test mode)" : ""}`;
const tallied = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
/** The number of failures, as a link to them: causes, and the states that they blocked. */
function failures() {
  const { failed, forgiven } = data.totals;
  if (!failed) return "";
  const blocked = rows.filter((row) => row.status === "blocked").length;
  const parts = [blocked ? `${tallied(blocked, "blocked by another", "blocked by others")}` : "", forgiven ? `${forgiven} forgiven` : ""].filter(Boolean).join(", ");
  return make("a", { class: "failed", id: "failures", href: "#failed" }, `${failed} failed${parts ? ` (${parts})` : ""}`);
}
const { total: states, changed: altered, sub_states: parts } = data.totals;
document.getElementById("summary").append(
  make("b", { class: STATUS[data.status] || "" }, data.status), " · ", ...[failures()].flatMap((one) => (one ? [one, " · "] : [])),
  `${tallied(states, "state")}${parts ? ` (${tallied(parts, "sub state")} among them)` : ""}, ${altered} changed`, ` · run ${data.jid}`, data.id ? ` · ${data.id}` : "",
  data.started ? ` · ${new Date(data.started * 1000).toISOString().replace("T", " ").slice(0, 19)} UTC` : "", ` · ${seconds(data.took)}`,
  data.resumed ? ` · resumed ${data.resumed}×` : "", data.stopped ? ` · ${data.stopped}` : "");
const ruler = make("div", {});
const step = roundStep(span / 6);
for (let at = 0; at < span * 0.97; at += step) ruler.append(make("span", { style: `left:${(at / span) * 100}%` }, roundSeconds(at)));
document.getElementById("ruler").append(ruler);
document.querySelector("main").style.setProperty("--step", `${(step / span) * 100}%`);
/** The next of 1, 2, 5, 10 … */
function roundStep(least) {
  const ten = 10 ** Math.floor(Math.log10(least));
  return ten * [1, 2, 5, 10].find((one) => one * ten >= least * 0.999);
}
function roundSeconds(value) {
  if (!value) return "0";
  return value < 0.9995 ? `${Number((value * 1000).toPrecision(3))} ms` : value < 120 ? `${Number(value.toPrecision(3))} s` : seconds(value);
}

// -- filters --------------------------------------------------------------------------------------------
const shownStatuses = new Set();
const counts = {};
for (const row of rows) if (row.kind === "state") counts[row.status] = (counts[row.status] || 0) + 1;
const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
if (counts.blocked) counts.failed = (counts.failed || 0) + counts.blocked;
const filters = new Map();
function addFilter(key, text) {
  const button = make("button", { class: key, "aria-pressed": "false", "data-filter": key }, text);
  button.addEventListener("click", () => {
    if (key === "all") shownStatuses.clear();
    else if (!shownStatuses.delete(key)) shownStatuses.add(key);
    draw();
  });
  filters.set(key, button);
  document.getElementById("filters").append(button);
}
addFilter("all", `All ${total}`);
for (const key of ["failed", "blocked", "begun", "changed", "would", "skipped", "ok", "waiting"]) if (counts[key]) addFilter(key, `${WORDS[key]} ${counts[key]}`);

const texts = new Map();
function textOf(row) {
  if (!texts.has(row.at)) {
    const changed = Object.keys(row.changes || {}).length ? JSON.stringify(row.changes) : "";
    texts.set(row.at, `${row.title} ${row.name} ${row.function} ${row.sls} ${row.comment} ${changed}`.toLowerCase());
  }
  return texts.get(row.at);
}
function fits(row, words) {
  if (row.kind === "frame" || (row.kind === "sub" && !steps.checked)) return false;
  if (shownStatuses.size && !shownStatuses.has(row.status) && !(row.status === "blocked" && shownStatuses.has("failed"))) return false;
  return words.every((word) => textOf(row).includes(word));
}
const subStates = rows.filter((row) => row.kind === "sub").length;
steps.closest("label").hidden = !subStates;
/** The matching rows, and all rows above them in the tree. */
function wantedRows() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = new Set();
  const found = { state: 0, sub: 0 };
  for (const row of rows) {
    if (!fits(row, words)) continue;
    found[row.kind] += 1;
    for (let at = row.at; at >= 0 && !wanted.has(at); at = rows[at].parent) wanted.add(at);
  }
  const subs = subStates && steps.checked ? `, ${found.sub} of ${subStates} sub states` : "";
  document.getElementById("count").textContent = shownStatuses.size || words.length ? `${found.state} of ${total} states${subs}` : "";
  return rows.filter((row) => wanted.has(row.at));
}

// -- rows -------------------------------------------------------------------------------------------------
const open = new Set();
const folded = new Set();
const drawn = new Map();
function element(row) {
  if (drawn.has(row.at)) return drawn.get(row.at);
  const bar = make("span", { class: "time", "aria-hidden": "true" });
  if (row.start !== undefined && row.start !== null) {
    const left = Math.min((row.start / span) * 100, 99.5);
    bar.append(make("i", { class: row.status || "skipped", style: `left:${left}%;width:${Math.min((row.took / span) * 100, 100 - left)}%` }));
  }
  const word = row.kind === "frame" ? `${row.states} ${row.states === 1 ? "state" : "states"}` : WORDS[row.status];
  const line = make("button", { class: "line", "aria-expanded": "false", "data-row": row.at },
    make("span", { class: `badge ${row.status || ""}` }, word),
    make("span", { class: "lead" }, make("span", { class: "title" }, row.title), make("span", { class: "fun" }, row.function || "rendered during the run"), aside(row)),
    bar, make("span", { class: "took" }, seconds(row.took)));
  line.addEventListener("click", () => toggle(row));
  const item = make("li", { class: `row ${row.kind} ${row.status === "failed" ? "guilty" : ""}`, style: `--level:${row.level}` }, line);
  if (row.children.length) {
    const twist = make("button", { class: "twist", "aria-expanded": "true", "aria-label": "What is below", tabindex: "-1", title: "Fold what is below (← →)" });
    twist.addEventListener("click", () => fold(row));
    item.append(twist);
  }
  drawn.set(row.at, item);
  return item;
}
/** Beside the name: the failure that caused it, or the number of states that it has blocked. */
function aside(row) {
  if (row.victims) return make("span", { class: "blame" }, `blocks ${tallied(row.victims, "state")}`);
  const cause = byNumber.get(row.cause);
  return cause ? make("span", { class: "blame" }, `because of ${cause.title}`) : null;
}
/** Hide or show the rows below a row. */
function fold(row, to = !folded.has(row.at)) {
  if (to) folded.add(row.at);
  else folded.delete(row.at);
  const item = element(row);
  item.classList.toggle("folded", to);
  item.querySelector(":scope > .twist").setAttribute("aria-expanded", String(!to));
}
function toggle(row, to = !open.has(row.at)) {
  const item = element(row);
  if (to === open.has(row.at)) return;
  if (to) {
    open.add(row.at);
    item.insertBefore(details(row), item.querySelector(":scope > ol"));
  } else {
    open.delete(row.at);
    item.querySelector(":scope > .details").remove();
  }
  item.classList.toggle("open", to);
  item.firstChild.setAttribute("aria-expanded", String(to));
}
function details(row) {
  const began = row.start === undefined || row.start === null ? "" : `started ${seconds(row.start) || "0 ms"} into the run${row.parallel ? ", in parallel" : ""}`;
  const about = make("p", { class: "about soft" });
  const add = (part) => part && about.append(about.childNodes.length ? " · " : "", part);
  add(row.name && make("span", {}, "name ", make("code", {}, row.name)));
  add(row.where && make("code", {}, ...pieces(row.where)));
  add(row.sls && `sls ${row.sls}`);
  add(row.path && make("code", {}, row.path));
  add(row.number === undefined ? "" : `number ${row.number + 1}`);
  add(began);
  add(make("a", { href: `#${encodeURIComponent(nameOf(row))}` }, "link to it"));
  const box = make("div", { class: "details" });
  if (row.comment) box.append(make("pre", {}, row.comment));
  const cause = byNumber.get(row.cause);
  if (cause) box.append(make("p", {}, "Not run because of ", make("a", { href: `#${encodeURIComponent(nameOf(cause))}` }, cause.title), "."));
  if (row.victims) box.append(victims(row));
  for (const text of row.warnings || []) box.append(make("p", { class: "warning" }, `Warning: ${text}`));
  box.append(...changes(row.changes || {}), about);
  return box;
}
const MOST_NAMED = 20;
function victims(row) {
  const some = rows.filter((one) => one.cause === row.number);
  const box = make("p", {}, `Not run because of this, ${tallied(some.length, "state")}: `);
  some.slice(0, MOST_NAMED).forEach((one, at) => box.append(at ? ", " : "", make("a", { href: `#${encodeURIComponent(nameOf(one))}` }, one.title)));
  if (some.length > MOST_NAMED) box.append(" …");
  return box;
}
function draw() {
  const some = wantedRows();
  const flat = sort.value === "slow";
  if (flat) some.sort((one, other) => (other.took || 0) - (one.took || 0));
  list.classList.toggle("flat", flat);
  const lists = new Map([[-1, []]]);
  for (const row of some) {
    const into = flat ? -1 : row.parent;
    if (!lists.has(into)) lists.set(into, []);
    lists.get(into).push(element(row));
  }
  for (const row of some) {
    const item = element(row), below = lists.get(row.at);
    item.querySelector(":scope > ol")?.remove();
    item.classList.toggle("leaf", !below);
    if (below) item.append(make("ol", {}, ...below));
  }
  list.replaceChildren(...lists.get(-1));
  document.getElementById("none").hidden = some.length > 0;
  document.getElementById("ruler").hidden = !some.length;
  for (const [key, button] of filters) button.setAttribute("aria-pressed", String(key === "all" ? !shownStatuses.size : shownStatuses.has(key)));
}
for (const one of [search, sort, steps]) one.addEventListener("input", draw);
const all = (to) => () => { for (const row of wantedRows()) toggle(row, to); };
document.getElementById("unfold").addEventListener("click", all(true));
document.getElementById("fold").addEventListener("click", all(false));

// -- keys -----------------------------------------------------------------------------------------------
function go(by, wanted = () => true) {
  const lines = [...list.querySelectorAll(".line")].filter((one) => !one.closest(".folded > ol"));
  let at = lines.indexOf(document.activeElement);
  if (at < 0 && by < 0) at = lines.length;
  for (at += by; at >= 0 && at < lines.length; at += by) {
    if (!wanted(rows[Number(lines[at].dataset.row)])) continue;
    lines[at].focus();
    lines[at].scrollIntoView({ block: "nearest" });
    return;
  }
}
/** Hide the rows below; if there are none, go to the row above in the tree. */
function foldHere(to) {
  const row = rows[document.activeElement?.dataset?.row];
  if (!row) return;
  if (element(row).querySelector(":scope > ol") && to !== folded.has(row.at)) fold(row, to);
  else if (to && row.parent >= 0) element(rows[row.parent]).firstChild.focus();
}
const KEYS = {
  ArrowLeft: () => foldHere(true), ArrowRight: () => foldHere(false),
  j: () => go(1), k: () => go(-1), ArrowDown: () => go(1), ArrowUp: () => go(-1), n: () => go(1, (row) => ["failed", "begun"].includes(row.status)),
  "/": () => search.focus(), e: all(true), c: all(false), Escape: () => { shownStatuses.clear(); search.value = ""; draw(); },
};
[...filters.values()].forEach((button, at) => { KEYS[at + 1] = () => button.click(); });
if (filters.size > 1) document.getElementById("digits").append(" · ", make("kbd", {}, "1"), "–", make("kbd", {}, filters.size), " filter");
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.activeElement === search) search.blur();
  if (typing() || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
/** `#failed` opens the page with a filter, `#state-3` at a state. */
function fromAddress() {
  const asked = decodeURIComponent(location.hash.slice(1));
  if (filters.has(asked)) {
    shownStatuses.clear();
    if (asked !== "all") shownStatuses.add(asked);
    draw();
    const first = rows.find((row) => row.status === asked && drawn.has(row.at));
    if (first) element(first).firstChild.focus();
  }
  const row = rows.find((one) => nameOf(one) === asked);
  if (!row) return;
  shownStatuses.clear();
  search.value = "";
  draw();
  for (let at = row.parent; at >= 0; at = rows[at].parent) fold(rows[at], false);
  toggle(row, true);
  element(row).firstChild.scrollIntoView({ block: "center" });
  element(row).firstChild.focus({ preventScroll: true });
}
if (!rows.length) document.getElementById("none").textContent = "The run had no states.";
draw();
const MOST_OPEN = 100; // what failed is open, however large the run; what was only blocked by it is not
for (const row of rows.filter((one) => ["failed", "begun"].includes(one.status)).slice(0, MOST_OPEN)) toggle(row, true);
addEventListener("hashchange", fromAddress);
fromAddress();
