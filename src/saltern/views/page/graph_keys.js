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
  const button = make("button", { "data-kind": kind, "aria-pressed": "true", title: "Show or hide these lines" }, make("i", { class: `e-${kind}` }), kind === "member" ? "part of a file" : kind);
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
  "/": () => search.focus(), "+": () => zoom(1.35), "=": () => zoom(1.35), "-": () => zoom(1 / 1.35), 0: fit, n: () => failuresButton.click(), o: () => orderButton.click(),
  ArrowRight: () => step(1), ArrowDown: () => step(1), ArrowLeft: () => step(-1), ArrowUp: () => step(-1), Escape: () => select(null),
};
/** Move by a fifth of the visible part. */
const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
function shift([right, down]) {
  look({ ...eye, x: eye.x + (right * eye.width) / 5, y: eye.y + (down * eye.height) / 5 });
}
addEventListener("keydown", (event) => {
  if (event.shiftKey && MOVES[event.key] && !typing()) return void (event.preventDefault(), shift(MOVES[event.key]));
  if (typing() || event.ctrlKey || event.metaKey || event.altKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
begin();
function fromAddress() {
  const asked = decodeURIComponent(location.hash.slice(1));
  if (data.items[asked]) select(asked, { move: true });
  else describe();
}
addEventListener("hashchange", fromAddress);
fromAddress();
