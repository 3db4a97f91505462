const canvas = document.getElementById("canvas");
const graph = document.getElementById("graph");
const view = document.getElementById("view");
const panel = document.getElementById("panel");
const search = document.getElementById("search");
const nodes = new Map([...graph.querySelectorAll("[data-key]")].map((one) => [one.dataset.key, one]));
const edges = [...graph.querySelectorAll(".edge")];
const whole = graph.viewBox.baseVal;
const full = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
const ordered = [...nodes.keys()].filter((key) => data.items[key].kind === "state");
const states = ordered.length;
document.getElementById("heading").textContent = `${data.title} · ${states} ${states === 1 ? "state" : "states"}`;

// -- where we look ----------------------------------------------------------------------------------
const map = document.getElementById("map");
const READABLE = 0.32;
let eye = { ...full };
function look(next) {
  eye = next;
  graph.setAttribute("viewBox", `${eye.x} ${eye.y} ${eye.width} ${eye.height}`);
  const scale = pixels();
  graph.classList.toggle("far", scale < 0.55);
  graph.classList.toggle("farther", scale < 0.16);
  const part = seen();
  map.toggleAttribute("hidden", part.width >= full.width * 0.98 && part.height >= full.height * 0.98);
  for (const [name, value] of Object.entries(part)) document.getElementById("eye").setAttribute(name, value);
}
/** What of the picture is on the screen: the view box is only its middle if the shapes differ. */
function seen() {
  const scale = pixels() || 1;
  const width = graph.clientWidth / scale, height = graph.clientHeight / scale;
  return { x: eye.x + (eye.width - width) / 2, y: eye.y + (eye.height - height) / 2, width, height };
}
/** How many pixels of the screen one unit of the picture gets. */
function pixels() {
  return Math.min(graph.clientWidth / eye.width, graph.clientHeight / eye.height);
}
function zoom(factor, x = eye.x + eye.width / 2, y = eye.y + eye.height / 2) {
  const scale = pixels() * factor;
  if (scale > 4 || (factor < 1 && eye.width > full.width * 2 && eye.height > full.height * 2)) return;
  look({ x: x - (x - eye.x) / factor, y: y - (y - eye.y) / factor, width: eye.width / factor, height: eye.height / factor });
}
/** The whole picture, but a small one no larger than life. */
function fit() {
  const width = Math.max(full.width, graph.clientWidth / 1.15), height = Math.max(full.height, graph.clientHeight / 1.15);
  look({ x: full.x - (width - full.width) / 2, y: full.y - (height - full.height) / 2, width, height });
}
/** The whole picture, if it can be read then; otherwise its begin. */
function begin() {
  const scale = Math.min(graph.clientWidth / full.width, graph.clientHeight / full.height);
  if (scale >= READABLE) return fit();
  look({ x: full.x, y: full.y, width: graph.clientWidth / 0.75, height: graph.clientHeight / 0.75 });
}
const side = Math.min(220 / full.width, 170 / full.height);
map.setAttribute("viewBox", `${full.x} ${full.y} ${full.width} ${full.height}`);
map.setAttribute("width", full.width * side);
map.setAttribute("height", full.height * side);
function lookFromMap(event) {
  if (!event.buttons) return;
  event.stopPropagation();
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
  look({ ...eye, x: at.x - eye.width / 2, y: at.y - eye.height / 2 });
}
for (const name of ["pointerdown", "pointermove"]) map.addEventListener(name, lookFromMap);
map.addEventListener("click", (event) => event.stopPropagation());
function pointAt(event) {
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(graph.getScreenCTM().inverse());
}
function middle(key) {
  const box = nodes.get(key).querySelector("rect").getBBox();
  const moved = nodes.get(key).transform.baseVal.consolidate()?.matrix;
  return { x: box.x + box.width / 2 + (moved ? moved.e : 0), y: box.y + Math.min(box.height, 60) / 2 + (moved ? moved.f : 0) };
}
function show(key) {
  const at = middle(key);
  const least = 0.8;
  const scale = Math.max(pixels(), least);
  const width = graph.clientWidth / scale, height = graph.clientHeight / scale;
  look({ x: at.x - width / 2, y: at.y - height / 2, width, height });
}
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const at = pointAt(event);
  zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), at.x, at.y);
}, { passive: false });
const fingers = new Map();
let moved = 0;
canvas.addEventListener("pointerdown", (event) => {
  fingers.set(event.pointerId, event);
  moved = 0;
});
canvas.addEventListener("pointermove", (event) => {
  const before = fingers.get(event.pointerId);
  if (!before) return;
  const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
  moved += Math.abs(dx) + Math.abs(dy);
  if (moved > 4 && !canvas.hasPointerCapture(event.pointerId)) canvas.setPointerCapture(event.pointerId);
  canvas.classList.toggle("moving", moved > 4);
  const others = [...fingers.values()].filter((one) => one.pointerId !== event.pointerId);
  if (others.length) {
    const far = (one) => Math.hypot(one.clientX - others[0].clientX, one.clientY - others[0].clientY) || 1;
    const at = pointAt(others[0]);
    zoom(far(event) / far(before), at.x, at.y);
  } else {
    const scale = pixels();
    look({ ...eye, x: eye.x - dx / scale, y: eye.y - dy / scale });
  }
  fingers.set(event.pointerId, event);
});
for (const name of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(name, (event) => {
    fingers.delete(event.pointerId);
    canvas.classList.remove("moving");
  });
}
document.getElementById("in").addEventListener("click", () => zoom(1.35));
document.getElementById("out").addEventListener("click", () => zoom(1 / 1.35));
document.getElementById("whole").addEventListener("click", fit);
addEventListener("resize", () => look(eye));

// -- one state ---------------------------------------------------------------------------------------
let selected = null;
const ends = { forth: new Map(), back: new Map() };
for (const edge of edges) {
  const { from, to } = edge.dataset;
  if (!ends.forth.has(from)) ends.forth.set(from, []);
  if (!ends.back.has(to)) ends.back.set(to, []);
  ends.forth.get(from).push(edge);
  ends.back.get(to).push(edge);
}
/** All that has to run before it, and all that waits for it, however indirectly. */
function follow(key, way, other, seen) {
  const open = [key];
  while (open.length) {
    const at = open.pop();
    for (const edge of ends[way].get(at) || []) {
      const listens = edge.classList.contains("e-listen"); // makes no order: it leads no further
      if (listens && at !== key) continue;
      edge.classList.add("near");
      const next = edge.dataset[other];
      if (!seen.has(next)) {
        seen.add(next);
        if (!listens) open.push(next);
      }
    }
  }
}
function select(key, { move = false } = {}) {
  for (const one of graph.querySelectorAll(".near, .selected")) one.classList.remove("near", "selected");
  selected = key;
  graph.classList.toggle("picked", key !== null);
  if (key !== null) {
    const seen = new Set([key]);
    follow(key, "back", "from", seen);
    const later = new Set([key]);
    follow(key, "forth", "to", later);
    const near = new Set([...seen, ...later]);
    for (const [one, node] of nodes) {
      for (let at = one; at !== undefined; at = data.items[at].box) if (near.has(at)) node.classList.add("near");
    }
    for (let at = data.items[key].box; at !== undefined; at = data.items[at].box) {
      follow(at, "back", "from", near);
      near.add(at);
    }
    for (const one of near) nodes.get(one)?.classList.add("near");
    nodes.get(key).classList.add("selected");
    if (move) show(key);
  }
  history.replaceState(null, "", key === null ? "#" : `#${encodeURIComponent(key)}`);
  describe();
}
function section(title, rows) {
  return rows.length ? [make("h3", {}, title), make("ul", {}, ...rows.map((row) => make("li", {}, ...[row].flat())))] : [];
}
function relation(one) {
  const number = one.position ? `${one.position}. ` : "";
  const go = make("button", { class: "link", on: { click: () => select(one.key, { move: true }) } }, number + one.title);
  return [make("span", { class: "tag" }, one.kind), " ", go];
}
function describe() {
  panel.replaceChildren();
  if (selected === null) return void panel.append(...overview());
  const one = data.items[selected];
  panel.append(make("h2", {}, one.title), make("div", { class: "soft" }, one.below));
  if (one.name && one.name !== one.title) panel.append(make("div", { class: "mono" }, one.name));
  if (one.number) panel.append(make("p", {}, `Runs as number ${one.position} of ${one.total}.`));
  if (one.result) {
    const took = one.result.took === null ? "" : ` · ${seconds(one.result.took)}`;
    panel.append(...section("Result", [make("b", { class: one.status }, WORDS[one.status] + took)]));
    if (one.result.comment) panel.append(make("pre", {}, one.result.comment));
  } else if (one.status === "waiting") panel.append(...section("Result", ["not reached"]));
  if (one.where) panel.append(...section("Source", [make("code", {}, one.where)]));
  if (one.source) panel.append(make("pre", {}, one.source));
  if (one.include_path && one.include_path.length > 1) panel.append(...section("Included by", [one.include_path.join(" → ")]));
  panel.append(...section("Why it runs there", one.why || []));
  panel.append(...section("Waits for", (one.waits_for || []).map(relation)));
  panel.append(...section("Waited for by", (one.waited_for_by || []).map(relation)));
  panel.append(...section("Rendered right after it", one.renders || []));
  if (one.text) panel.append(make("h3", {}, "Text"), make("pre", {}, one.text));
  panel.scrollTop = 0;
}
const WORDS = { ok: "fine as it was", changed: "changed", failed: "failed", would: "would change", skipped: "not run", waiting: "not reached" };
function overview() {
  const counts = {};
  for (const key of ordered) if (data.items[key].status) counts[data.items[key].status] = (counts[data.items[key].status] || 0) + 1;
  const results = Object.entries(counts).map(([status, count]) => make("span", { class: status }, `${count} ${WORDS[status]}`));
  const keys = [["/", "search; Enter goes to the next match"], ["← →", "the state that runs before, after"], ["+ −", "zoom; the wheel does, too"],
    ["0", "the whole picture"], ["o", "draw the order"], ["Esc", "let go"]];
  return [make("h2", {}, data.title), make("p", {}, "States stand from left to right, each after what it waits for. The number is its place in the run."),
    make("p", { class: "soft" }, "Click a state to see where it is written, why it runs where it runs, and what hangs on it."),
    ...section("Results", results), make("h3", {}, "Keys"),
    make("ul", {}, ...keys.map(([key, text]) => make("li", {}, make("kbd", {}, key), ` ${text}`)))];
}
canvas.addEventListener("click", (event) => {
  if (moved > 4) return;
  const hit = event.target.closest("[data-key]");
  select(hit ? hit.dataset.key : null);
  canvas.focus({ preventScroll: true });
});
function step(by) {
  if (!ordered.length) return;
  const at = ordered.indexOf(selected);
  select(ordered[at < 0 ? (by > 0 ? 0 : ordered.length - 1) : (at + by + ordered.length) % ordered.length], { move: true });
}

// -- search, legend, order, keys ------------------------------------------------------------------------
let hits = [];
let hit = -1;
search.addEventListener("input", () => {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  hits = [];
  hit = -1;
  for (const [key, node] of nodes) {
    const one = data.items[key];
    const text = `${one.title} ${one.name || ""} ${one.below} ${one.number || ""} ${WORDS[one.status] || ""}`.toLowerCase();
    const found = words.length > 0 && words.every((word) => text.includes(word));
    node.classList.toggle("found", found);
    if (found) hits.push(key);
  }
  graph.classList.toggle("searching", words.length > 0);
  document.getElementById("matches").textContent = words.length ? `${hits.length} found` : "";
});
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && hits.length) {
    hit = (hit + (event.shiftKey ? -1 : 1) + hits.length) % hits.length;
    select(hits[hit], { move: true });
    document.getElementById("matches").textContent = `${hit + 1} of ${hits.length}`;
  }
  if (event.key === "Escape") {
    search.value = "";
    search.dispatchEvent(new Event("input"));
    canvas.focus();
  }
});
for (const kind of data.kinds) {
  const button = make("button", { class: `e-${kind}`, "aria-pressed": "true" }, kind === "member" ? "part of a file" : kind);
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    for (const edge of graph.querySelectorAll(`.edge.e-${kind}`)) edge.classList.toggle("off", !on);
  });
  document.getElementById("legend").append(button);
}
const orderButton = document.getElementById("order");
orderButton.addEventListener("click", () => {
  const old = document.getElementById("orderline");
  orderButton.setAttribute("aria-pressed", String(!old));
  if (old) return void old.remove();
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.id = "orderline";
  line.setAttribute("d", ordered.map((key, at) => `${at ? "L" : "M"}${middle(key).x} ${middle(key).y}`).join(""));
  view.append(line);
});
const KEYS = {
  "/": () => search.focus(), "+": () => zoom(1.35), "=": () => zoom(1.35), "-": () => zoom(1 / 1.35), 0: fit, o: () => orderButton.click(),
  ArrowRight: () => step(1), ArrowDown: () => step(1), ArrowLeft: () => step(-1), ArrowUp: () => step(-1), Escape: () => select(null),
};
addEventListener("keydown", (event) => {
  if (typing() || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
begin();
const asked = decodeURIComponent(location.hash.slice(1));
if (data.items[asked]) select(asked, { move: true });
else describe();
