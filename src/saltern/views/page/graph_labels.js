// -- names from afar ------------------------------------------------------------------------------------
// If the names of states are too small to read, their files are shown: one label for each patch.
const PATCH = { width: 150, height: 44 }; // in pixels of the screen
const labels = document.createElementNS("http://www.w3.org/2000/svg", "g");
labels.id = "labels";
labels.setAttribute("aria-hidden", "true");
graph.append(labels);
let spots = null;
const allSpots = () => [...nodes].filter(([key]) => data.items[key].kind !== "box").map(([key]) => ({ ...middle(key), name: fileOf(data.items[key]), failed: data.items[key].status === "failed" }));
function fileOf(one) {
  const at = one.below.lastIndexOf(" · ");
  return at < 0 ? one.title : one.below.slice(at + 3);
}
function label(part, scale) {
  if (mode.title) return void labels.replaceChildren();
  spots ??= allSpots();
  const wide = PATCH.width / scale, high = PATCH.height / scale;
  const patches = new Map();
  for (const { x, y, name, failed } of spots) {
    if (x < part.x || y < part.y || x > part.x + part.width || y > part.y + part.height) continue;
    const place = `${Math.floor(x / wide)} ${Math.floor(y / high)}`;
    if (!patches.has(place)) patches.set(place, new Map());
    const names = patches.get(place);
    const sum = names.get(name) ?? { count: 0, x: 0, y: 0 };
    names.set(name, { count: sum.count + (failed ? 1000 : 1), x: failed ? x * 1000 + sum.x : sum.x + x, y: failed ? y * 1000 + sum.y : sum.y + y });
  }
  labels.replaceChildren(...chosen([...patches.values()].map((names) => foremost(names, scale)), scale).map((one) => written(one, part, scale)));
}
/** The file of most states of a patch, and their centre; a file with a failure takes precedence. */
function foremost(names, scale) {
  const [name, sum] = [...names].reduce((best, one) => (one[1].count > best[1].count ? one : best));
  const above = sum.count >= 1000 ? 12 / scale : 0; // it does not cover what failed
  return { name, count: sum.count, x: sum.x / sum.count, y: sum.y / sum.count - above };
}
/** As many labels as are readable: none over another, and no file twice side by side. */
function chosen(some, scale) {
  const kept = [];
  for (const one of some.sort((left, right) => right.count - left.count)) {
    const apart = (other) => ({ right: Math.abs(one.x - other.x) * scale, down: Math.abs(one.y - other.y) * scale });
    const clear = (other) => {
      const { right, down } = apart(other);
      return (right > PATCH.width || down > 20) && (other.name !== one.name || right > 2 * PATCH.width || down > 2 * PATCH.height);
    };
    if (kept.every(clear)) kept.push(one);
  }
  return kept;
}
function written({ name, count, x, y }, part, scale) {
  const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
  text.textContent = cut(visible(name), PATCH.width - 12, `600 12px ${FONT}`);
  const half = (pen.measureText(text.textContent).width / 2 + 6) / scale; // none leaves the screen
  const at = Math.min(Math.max(x, part.x + half), part.x + part.width - half);
  text.setAttribute("class", count >= 1000 ? "label failed" : "label");
  text.setAttribute("transform", `translate(${at} ${y}) scale(${1 / scale})`);
  return text;
}
