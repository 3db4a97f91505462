/** Diffs in colours; old and new values side by side; everything else as data. */
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
