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
/** All states that must run before it, and all that wait for it, directly or indirectly. */
function follow(key, way, other, seen) {
  const open = [key];
  while (open.length) {
    const at = open.pop();
    for (const edge of ends[way].get(at) || []) {
      const listens = edge.classList.contains("e-listen"); // makes no order: it leads no further
      if (listens && at !== key) continue;
      edge.classList.add("near");
      copies.get(edge.dataset.copy)?.classList.add("near");
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
const MOST = 12;
/** States grouped by their requisites; only the first if there are many. */
function relations(title, some) {
  if (!some.length) return [];
  const parts = [make("h3", {}, title)];
  for (const kind of new Set(some.map((one) => one.kind))) {
    const rows = some.filter((one) => one.kind === kind).map(relation);
    const list = make("ul", {}, ...rows.slice(0, rows.length > MOST + 1 ? MOST : rows.length));
    parts.push(make("div", { class: "tag" }, kind), list);
    if (rows.length > MOST + 1) {
      const more = make("button", { class: "more", on: { click: () => { more.remove(); list.append(...rows.slice(MOST)); } } }, `and ${rows.length - MOST} more`);
      parts.push(more);
    }
  }
  return parts;
}
function relation(one) {
  const name = `${one.position ? `${one.position}. ` : ""}${data.items[one.key]?.title ?? one.title}`;
  const go = () => select(one.key, { move: true });
  return make("li", {}, make("button", { class: "link", title: one.title, on: { click: go } }, name));
}
function describe() {
  panel.replaceChildren();
  if (selected === null) return void panel.append(...overview());
  const one = data.items[selected];
  panel.append(make("h2", {}, one.title), make("div", { class: "soft" }, one.below));
  if (one.name && one.name !== one.title) panel.append(make("div", { class: "mono" }, one.name));
  const within = one.box === undefined ? "" : ` in ${data.items[one.box].title}`;
  if (one.number) panel.append(make("p", {}, `Runs as number ${one.position} of ${one.total}${within}.`));
  document.getElementById("told").textContent = `${one.title}, ${one.number ? `number ${one.position} of ${one.total}${within}` : one.below}${one.status ? `, ${WORDS[one.status]}` : ""}`;
  if (one.result) {
    const took = one.result.took === null ? "" : ` · ${seconds(one.result.took)}`;
    panel.append(...section("Result", [make("b", { class: one.status }, WORDS[one.status] + took)]));
    if (one.result.comment) panel.append(make("pre", {}, one.result.comment));
  } else if (one.status === "waiting") panel.append(...section("Result", ["not reached"]));
  if (one.where) panel.append(...section("Source", [make("code", {}, ...pieces(one.where))]));
  if (one.source) panel.append(make("pre", {}, one.source));
  if (one.include_path && one.include_path.length > 1) panel.append(...section("Included by", [one.include_path.join(" → ")]));
  panel.append(...section("Why it runs at this position", one.why || []));
  panel.append(...relations("Waits for", one.waits_for || []), ...relations("Waited for by", one.waited_for_by || []));
  panel.append(...section("Rendered right after it", one.renders || []));
  if (one.text) panel.append(make("h3", {}, "Text"), make("pre", {}, one.text));
  panel.scrollTop = 0;
}
const WORDS = { ok: "unchanged", changed: "changed", failed: "failed", blocked: "blocked by a failure", would: "would change", skipped: "not run", waiting: "not reached" };
function overview() {
  const counts = {};
  for (const key of ordered) if (data.items[key].status) counts[data.items[key].status] = (counts[data.items[key].status] || 0) + 1;
  const results = Object.entries(counts).map(([status, count]) => make("button", { class: `link ${status}`, title: "Go to the next one", on: { click: () => next([status]) } }, `${count} ${WORDS[status]}`));
  const keys = [["/", "search; Enter goes to the next match"], ["← →", "the state before, after"], ["+ −", "zoom, also with the wheel"], ["⇧ ← ↑", "move the picture"],
    ["0", "the whole picture"], ["n", "the next failure"], ["o", "draw the order"], ["Esc", "clear selection"]];
  if (!nodes.size) return [make("h2", {}, data.title), make("p", {}, "There are no states to draw.")];
  return [make("h2", {}, data.title), make("p", {}, "States run from left to right, each after those that it waits for. The number is the position in the run."),
    make("p", { class: "soft" }, "Click a state to see where it is declared, why it runs at its position, and which states depend on it."),
    ...section("Results", results), make("h3", {}, "Keys"),
    make("ul", {}, ...keys.map(([key, text]) => make("li", {}, make("kbd", {}, key), ` ${text}`)))];
}
/** The next state with one of these results, after the selected one or the last one found. */
let led = -1;
function next(statuses) {
  const some = ordered.filter((key) => statuses.includes(data.items[key].status));
  if (!some.length) return;
  const from = selected === null ? led : ordered.indexOf(selected);
  const key = some.find((one) => ordered.indexOf(one) > from) ?? some[0];
  led = ordered.indexOf(key);
  select(key, { move: true });
}
const guilty = ordered.filter((key) => data.items[key].status === "failed").length;
const stopped = ordered.filter((key) => data.items[key].status === "blocked").length;
const failuresButton = document.getElementById("failures");
failuresButton.hidden = !(guilty + stopped);
failuresButton.textContent = `${guilty + stopped} failed${stopped ? ` (${stopped} blocked)` : ""}`;
failuresButton.addEventListener("click", () => next(guilty ? ["failed"] : ["blocked"]));
canvas.addEventListener("click", (event) => {
  if (moved > 4) return;
  const copy = event.target.closest("[data-of]");
  if (copy) select(copy.dataset.of, { move: true });
  else select(event.target.closest("[data-key]")?.dataset.key ?? null);
  canvas.focus({ preventScroll: true });
});
function step(by) {
  if (!ordered.length) return;
  const at = ordered.indexOf(selected);
  select(ordered[at < 0 ? (by > 0 ? 0 : ordered.length - 1) : (at + by + ordered.length) % ordered.length], { move: true });
}
