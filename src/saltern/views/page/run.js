const WORDS = { ok: "fine", changed: "changed", would: "would change", failed: "failed", skipped: "not run" };
const list = document.getElementById("rows");
const search = document.getElementById("search");
const sort = document.getElementById("sort");
const steps = document.getElementById("steps");
const span = data.took || 1e-9;
const rows = data.rows.map((row, at) => ({ ...row, at, parent: -1, children: [] }));
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

/** A frame lasts from the begin of its first state to the end of its last. */
function spanOf(row) {
  const inner = rows.slice(row.at + 1).slice(0, size(row)).filter((one) => one.start !== undefined && one.start !== null);
  if (!inner.length) return;
  row.start = Math.min(...inner.map((one) => one.start));
  row.took = Math.max(...inner.map((one) => one.start + one.took)) - row.start;
}
function size(row) {
  return row.children.reduce((sum, at) => sum + 1 + size(rows[at]), 0);
}

// -- head ---------------------------------------------------------------------------------------------
const STATUS = { succeeded: "ok", failed: "failed", broken: "failed", interrupted: "would" };
document.getElementById("heading").textContent = `${data.asked}${data.test ? " (test mode)" : ""}`;
document.getElementById("summary").append(
  make("b", { class: STATUS[data.status] || "" }, data.status), ` · run ${data.jid}`, data.id ? ` · ${data.id}` : "",
  data.started ? ` · ${new Date(data.started * 1000).toISOString().replace("T", " ").slice(0, 19)} UTC` : "", ` · ${seconds(data.took)}`,
  data.resumed ? ` · resumed ${data.resumed}×` : "", data.stopped ? ` · ${data.stopped}` : "");
const ruler = make("div", {});
for (const part of [0, 0.25, 0.5, 0.75, 1]) ruler.append(make("span", { style: `left:${part * 100}%` }, seconds(part * span) || "0"));
document.getElementById("ruler").append(ruler);

// -- filters --------------------------------------------------------------------------------------------
const shownStatuses = new Set();
const counts = {};
for (const row of rows) if (row.kind === "state") counts[row.status] = (counts[row.status] || 0) + 1;
const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
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
for (const key of ["failed", "changed", "would", "skipped", "ok"]) if (counts[key]) addFilter(key, `${WORDS[key]} ${counts[key]}`);

function fits(row, words) {
  if (row.kind === "frame") return false;
  if (shownStatuses.size && !shownStatuses.has(row.status)) return false;
  const text = `${row.title} ${row.name} ${row.function} ${row.sls} ${row.comment}`.toLowerCase();
  return words.every((word) => text.includes(word));
}
/** What fits, and whatever it stands under. */
function visible() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = new Set();
  let count = 0;
  for (const row of rows) {
    if ((row.kind === "sub" && !steps.checked) || !fits(row, words)) continue;
    if (row.kind === "state") count += 1;
    for (let at = row.at; at >= 0 && !wanted.has(at); at = rows[at].parent) wanted.add(at);
  }
  document.getElementById("count").textContent = shownStatuses.size || words.length ? `${count} of ${total} states` : "";
  return rows.filter((row) => wanted.has(row.at));
}

// -- rows -------------------------------------------------------------------------------------------------
const open = new Set();
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
    make("span", { class: "lead", style: `--level:${row.level}` }, make("span", { class: "title" }, row.title), make("span", { class: "fun" }, row.function || "rendered during the run")),
    bar, make("span", { class: "took" }, seconds(row.took)));
  line.addEventListener("click", () => toggle(row));
  const item = make("li", { class: `row ${row.kind}` }, line);
  drawn.set(row.at, item);
  return item;
}
function toggle(row, to = !open.has(row.at)) {
  const item = element(row);
  if (to === open.has(row.at)) return;
  if (to) {
    open.add(row.at);
    item.append(details(row));
  } else {
    open.delete(row.at);
    item.querySelector(".details").remove();
  }
  item.classList.toggle("open", to);
  item.firstChild.setAttribute("aria-expanded", String(to));
}
function details(row) {
  const facts = make("dl", {});
  const add = (name, text) => text && facts.append(make("dt", {}, name), make("dd", {}, text));
  add("name", row.name);
  add("source", row.where && make("code", {}, row.where));
  add("sls", row.sls);
  add("path", row.path);
  add("run number", row.number === undefined ? "" : String(row.number));
  add("started", row.start === undefined || row.start === null ? "" : `${seconds(row.start) || "0 ms"} into the run${row.parallel ? ", in parallel" : ""}`);
  const box = make("div", { class: "details", style: `--level:${row.level}` });
  if (row.comment) box.append(make("pre", {}, row.comment));
  for (const text of row.warnings || []) box.append(make("p", { class: "warning" }, `Warning: ${text}`));
  const changed = changes(row.changes || {});
  if (changed.length) box.append(make("h3", {}, "Changes"), ...changed);
  box.append(make("h3", {}, "About"), facts);
  return box;
}
/** Diffs in colours; old and new side by side in words; all else as data. */
function changes(value, path = "") {
  const parts = [];
  const brief = make("dl", {});
  for (const [key, one] of Object.entries(value)) {
    if (one === "" || one === null) continue;
    if (typeof one !== "object" && shown(one).length < 100 && !shown(one).includes("\n")) {
      brief.append(make("dt", {}, path ? `${path} › ${key}` : key), make("dd", { class: "mono" }, shown(one)));
      continue;
    }
    const name = path ? `${path} › ${key}` : key;
    const whole = typeof one === "object" && one !== null && !Array.isArray(one);
    const pair = whole && Object.keys(one).length > 0 && Object.keys(one).every((word) => word === "old" || word === "new");
    if (pair) parts.push(make("h3", {}, name), beforeAfter(one));
    else if (whole && Object.keys(one).length) parts.push(...changes(one, name));
    else parts.push(make("h3", {}, name), lines(one));
  }
  return brief.childNodes.length ? [brief, ...parts] : parts;
}
const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 1));
function beforeAfter(pair) {
  const box = make("pre", { class: "diff" });
  for (const [word, sign, tone] of [["old", "-", "remove"], ["new", "+", "add"]]) {
    if (!(word in pair) || pair[word] === "" || pair[word] === null) continue;
    for (const text of shown(pair[word]).split("\n")) box.append(make("span", { class: tone }, `${sign} ${text}`));
  }
  if (!box.childNodes.length) box.append("(empty)");
  return box;
}
const TONES = [[/^(\+\+\+|---|@@)/, "hunk"], [/^\+/, "add"], [/^-/, "remove"]];
function lines(value) {
  const text = shown(value);
  if (typeof value !== "string" || !/^(---|\+\+\+|@@)/m.test(text)) return make("pre", {}, text);
  const box = make("pre", { class: "diff" });
  for (const one of text.replace(/\n$/, "").split("\n")) box.append(make("span", { class: TONES.find(([fits]) => fits.test(one))?.[1] || "" }, one || " "));
  return box;
}
function draw() {
  const some = visible();
  if (sort.value === "slow") some.sort((one, other) => (other.took || 0) - (one.took || 0));
  list.replaceChildren(...some.map(element));
  document.getElementById("none").hidden = some.length > 0;
  for (const [key, button] of filters) button.setAttribute("aria-pressed", String(key === "all" ? !shownStatuses.size : shownStatuses.has(key)));
}
for (const one of [search, sort, steps]) one.addEventListener("input", draw);
const all = (to) => () => { for (const row of visible()) toggle(row, to); };
document.getElementById("unfold").addEventListener("click", all(true));
document.getElementById("fold").addEventListener("click", all(false));

// -- keys -----------------------------------------------------------------------------------------------
function go(by, wanted = () => true) {
  const lines = [...list.querySelectorAll(".line")];
  let at = lines.indexOf(document.activeElement);
  if (at < 0 && by < 0) at = lines.length;
  for (at += by; at >= 0 && at < lines.length; at += by) {
    if (!wanted(rows[Number(lines[at].dataset.row)])) continue;
    lines[at].focus();
    lines[at].scrollIntoView({ block: "nearest" });
    return;
  }
}
const KEYS = {
  j: () => go(1), k: () => go(-1), ArrowDown: () => go(1), ArrowUp: () => go(-1), n: () => go(1, (row) => row.status === "failed"),
  "/": () => search.focus(), e: all(true), c: all(false), Escape: () => { shownStatuses.clear(); search.value = ""; draw(); },
};
[...filters.values()].forEach((button, at) => { KEYS[at + 1] = () => button.click(); });
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.activeElement === search) search.blur();
  if (typing() || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
draw();
for (const row of rows) if (row.status === "failed" && total < 400) toggle(row, true);
