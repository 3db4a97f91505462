const canvas = document.getElementById("canvas");
const graph = document.getElementById("graph");
const view = document.getElementById("view");
const panel = document.getElementById("panel");
const search = document.getElementById("search");
const nodes = new Map([...graph.querySelectorAll("[data-key]")].map((one) => [one.dataset.key, one]));
const copies = new Map([...graph.querySelectorAll("[data-of]")].map((one) => [one.dataset.copy, one]));
const edges = [...graph.querySelectorAll(".edge")];
const whole = graph.viewBox.baseVal;
const full = { x: whole.x, y: whole.y, width: whole.width, height: whole.height };
const ordered = [...nodes.keys()].filter((key) => data.items[key].kind === "state");
const states = ordered.length;
const COPY = copies.size ? [...copies.values()][0].querySelector(".below").textContent : "";
document.getElementById("heading").textContent = `${data.title} · ${states} ${states === 1 ? "state" : "states"}`;

// -- the view ----------------------------------------------------------------------------------
const map = document.getElementById("map");
// From afar, fewer and larger letters are shown: their size in the picture, and the pixels per unit from which they apply.
const MODES = [{ least: 0.75, title: 13, below: 10.5, number: 11 }, { least: 0.45, title: 17, below: 13, number: 14 }, { least: 0.33, title: 26 }, { least: 0 }];
let eye = { ...full };
let mode = null;
function look(next) {
  eye = next;
  graph.setAttribute("viewBox", `${eye.x} ${eye.y} ${eye.width} ${eye.height}`);
  const scale = pixels();
  const wanted = MODES.find((one) => scale >= one.least);
  if (wanted !== mode) letter(wanted);
  const part = seen();
  map.toggleAttribute("hidden", part.width >= full.width * 0.98 && part.height >= full.height * 0.98);
  for (const [name, value] of Object.entries(part)) document.getElementById("eye").setAttribute(name, value);
  label(part, scale);
}
const pen = document.createElement("canvas").getContext("2d");
const FONT = getComputedStyle(document.body).fontFamily;
/** As much of a text as fits, from both ends. */
function cut(text, room, font) {
  pen.font = font;
  const fits = (one) => pen.measureText(one).width <= room;
  if (fits(text)) return text;
  const ends = (count) => `${text.slice(0, Math.ceil(count / 2))}…${text.slice(text.length - Math.floor(count / 2))}`;
  let low = 0, high = text.length;
  while (low < high) {
    const count = (low + high + 1) >> 1;
    if (fits(ends(count))) low = count;
    else high = count - 1;
  }
  return ends(low);
}
function letter(wanted) {
  mode = wanted;
  graph.setAttribute("class", [...graph.classList].filter((one) => !/^mode/.test(one)).concat(`mode${MODES.indexOf(mode)}`).join(" "));
  if (!mode.title) return;
  for (const node of [...nodes.values(), ...copies.values()]) {
    const one = data.items[node.dataset.of ?? node.dataset.key], box = one.kind === "box" && !node.dataset.of;
    const left = box ? 14 : 12, [title, below] = [node.querySelector(".title"), node.querySelector(".below")];
    const whole = node.querySelector("rect").width.baseVal.value - left - 10;
    pen.font = `${mode.number}px ${FONT}`;
    const room = whole - (mode.number && one.number ? pen.measureText(one.number).width + 6 : 0);
    title.textContent = cut(visible(one.title).replace(/\s+/g, " "), room, `600 ${mode.title}px ${FONT}`);
    title.setAttribute("y", mode.below ? 14 + mode.title / 3 : box ? 28 : 31);
    if (mode.below) below.textContent = cut(node.dataset.of ? COPY : visible(one.below), whole, `${mode.below}px ${FONT}`);
  }
}
/** The visible part of the picture: the view box is only its middle if the proportions differ. */
function seen() {
  const scale = pixels() || 1;
  const width = graph.clientWidth / scale, height = graph.clientHeight / scale;
  return { x: eye.x + (eye.width - width) / 2, y: eye.y + (eye.height - height) / 2, width, height };
}
/** The number of screen pixels for one unit of the picture. */
function pixels() {
  return Math.min(graph.clientWidth / eye.width, graph.clientHeight / eye.height);
}
function zoom(factor, x = eye.x + eye.width / 2, y = eye.y + eye.height / 2) {
  const scale = pixels() * factor;
  if (scale > 4 || (factor < 1 && eye.width > full.width * 2 && eye.height > full.height * 2)) return;
  look({ x: x - (x - eye.x) / factor, y: y - (y - eye.y) / factor, width: eye.width / factor, height: eye.height / factor });
}
/** Show the whole picture; a small one is not enlarged. */
function fit() {
  const width = Math.max(full.width, graph.clientWidth / 1.15), height = Math.max(full.height, graph.clientHeight / 1.15);
  look({ x: full.x - (width - full.width) / 2, y: full.y - (height - full.height) / 2, width, height });
}
/** Show the whole picture if it is readable; otherwise, the beginning of the run. */
function begin() {
  const scale = Math.min(graph.clientWidth / full.width, graph.clientHeight / full.height);
  if (scale >= MODES[1].least || !ordered.length) return fit();
  const at = middle(ordered[0]), width = graph.clientWidth / 0.8, height = graph.clientHeight / 0.8;
  const from = (least, size, first, room) => (size < room ? least - (room - size) / 2 : first < least + room - 60 ? least : first - room / 3);
  look({ x: from(full.x, full.width, at.x, width), y: from(full.y, full.height, at.y, height), width, height });
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
/** Bring an item into view; one that is already visible and readable does not move. */
function show(key) {
  if (pixels() >= MODES[1].least && inSight(nodes.get(key).querySelector("rect").getBoundingClientRect())) return;
  const at = middle(key);
  const scale = Math.max(pixels(), 0.8);
  const width = graph.clientWidth / scale, height = graph.clientHeight / scale;
  look({ x: at.x - width / 2, y: at.y - height / 2, width, height });
}
function inSight(box) {
  const room = canvas.getBoundingClientRect(), little = map.getBoundingClientRect();
  const covered = little.width && box.right > little.left && box.bottom > little.top;
  const right = Math.min(box.right, box.left + 220), bottom = Math.min(box.bottom, box.top + 60); // of a box, its heading
  return !covered && box.left > room.left && right < room.right && box.top > room.top && bottom < room.bottom;
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
let before = null; // where we looked before it was printed
let touched = false; // once somebody has moved it, it stays where it is
for (const name of ["wheel", "pointerdown", "keydown", "click"]) addEventListener(name, () => { touched = true; }, { capture: true, passive: true });
new ResizeObserver(() => {
  if (touched || before) return look(eye);
  begin();
  if (selected !== null) show(selected);
}).observe(canvas);
addEventListener("beforeprint", () => { before = eye; look({ ...full }); });
addEventListener("afterprint", () => {
  const back = before ?? eye;
  before = null;
  look(back);
});
