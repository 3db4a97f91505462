// The builder: list, form and text are one chain. Each change is sent, and the server answers with all three; what is
// being typed into is left as it is.
(() => {
  const form = document.getElementById("builder");
  if (!form) return;
  const at = (s, r = document) => r.querySelector(s), all = (s, r = document) => [...r.querySelectorAll(s)];
  const past = [];
  let busy = null, again = null, timer = 0;

  const text = () => form.elements.text.value;
  function swap(page, keep) {
    for (const id of ["b-head", "b-list", "b-form", "b-yaml"]) {
      const fresh = page.getElementById(id), old = document.getElementById(id);
      if (!fresh || !old) continue;
      if (id === "b-yaml" && keep === "text") {
        for (const part of [".yaml", "#b-flaws"]) at(part, old).replaceWith(at(part, fresh));
        for (const name of ["was", "saved", "base"]) at(`[name=${name}]`, old).value = at(`[name=${name}]`, fresh).value;
        continue;
      }
      if (id === "b-form" && keep && keep !== "text" && at(`[name=place]`, fresh).value === at(`[name=place]`, old).value) {
        for (const p of all(".note.failed", old)) p.remove();
        continue;
      }
      old.replaceWith(fresh);
    }
    const title = page.querySelector("title");
    if (title) document.title = title.textContent;
    ready();
  }
  async function send(what, { keep = "", focus = "", over = null, silent = false } = {}) {
    if (busy) { again = [what, { keep, focus, over, silent }]; return; }
    busy = true;
    const body = new URLSearchParams(new FormData(form));
    body.set("do", what);
    if (over !== null) { body.set("text", over); body.set("was", over + "\u0000"); }
    const before = form.elements.was.value;
    try {
      const answer = await fetch(form.action, { method: "POST", body, headers: { "X-Part": "builder" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!answer.ok || !page.getElementById("builder")) {
        at("#b-said").replaceChildren(...(page.querySelector(".note")?.cloneNode(true) ? [page.querySelector(".note").cloneNode(true)] : ["That did not work; reload the page."]));
      } else {
        at("#b-said").replaceChildren();
        const key = focus || document.activeElement?.dataset?.key || "";
        swap(page, keep);
        if (over === null && before !== form.elements.was.value && !silent) past.push(before);
        if (key && document.activeElement?.dataset?.key !== key) at(`[data-key="${CSS.escape(key)}"]`)?.focus();
        at("#undo").disabled = !past.length;
        if (focus && what) tell(what);
      }
    } catch { at("#b-said").textContent = "The controller did not answer; nothing is lost, try again."; }
    busy = null;
    if (again) { const next = again; again = null; send(...next); }
  }
  function tell(what) {
    const steps = all(".act"), chosen = at('.act[aria-current="true"]');
    if (/^(up|down|move)/.test(what) && chosen) announce(`${at("b", chosen).textContent} is now action ${steps.indexOf(chosen) + 1} of ${steps.length}`);
    if (what === "remove") announce("removed");
  }
  function announce(words) {
    let p = document.getElementById("announce");
    if (!p) { p = document.createElement("p"); p.id = "announce"; p.className = "unseen"; p.setAttribute("role", "status"); document.body.append(p); }
    p.textContent = words;
  }
  const place = () => form.elements.place.value.split(":");
  const key = (list, index) => `act-${list}-${index}`;
  function adopt(act) {  // keys act on what has the focus, also if another action is chosen
    const own = act.closest("li").dataset.place;
    if (own !== form.elements.place.value) { form.elements.place.value = own; form.elements.kind.value = ""; }
  }
  function undo() { const last = past.pop(); if (last !== undefined) send("", { over: last, focus: key(...place()) }).then(() => announce("undone")); }
  function step(by) {
    const steps = all(".act"), n = steps.indexOf(document.activeElement), to = steps[n + by];
    if (to) send(to.value, { focus: to.dataset.key });
  }
  function shift(by) {
    const [list, index] = place(), n = +index + by, many = all(`[data-place^="${list}:"]`).length;
    if (n >= 0 && n < many) send(by < 0 ? "up" : "down", { focus: key(list, n) });
  }

  form.addEventListener("submit", (e) => {
    const button = e.submitter;
    if (!button || button.name !== "do") return;  // it is kept: an ordinary form
    e.preventDefault();
    const [list, index] = place(), what = button.value;
    const goal = { add: key(list, +index + (all(".act").length ? 1 : 0)), copy: key(list, +index + 1), up: key(list, Math.max(0, +index - 1)), down: key(list, +index + 1), remove: key(list, Math.max(0, +index - 1)) };
    const verb = what.split(" ")[0];
    const menu = button.closest("details");
    if (menu) menu.open = false;
    send(what, { focus: verb === "choose" ? button.dataset.key : goal[verb] || "" });
  });
  form.addEventListener("input", (e) => {
    if (e.target.name === "text") { clearTimeout(timer); timer = setTimeout(() => send("", { keep: "text" }), 350); }
  });
  form.addEventListener("change", (e) => {
    if (/^[fp]-/.test(e.target.name || "")) send("", { keep: e.target.matches("input[type=text], textarea") && e.target === document.activeElement ? "form" : "" });
  });
  document.addEventListener("keydown", (e) => {
    if (e.target.closest?.("dialog")) return;
    const typing = e.target.closest?.("input:not([type=radio]):not([type=checkbox]), textarea, select");
    if ((e.ctrlKey || e.metaKey) && e.key === "z" && !(typing && typing.name === "text")) { e.preventDefault(); undo(); return; }
    if (e.ctrlKey && e.key === "Enter" && typing) { e.preventDefault(); send("", {}); return; }
    if (typing) return;
    const act = e.target.closest?.(".act");
    if (e.key === "a" && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); const menu = at("details.add"); menu.open = true; at("button", menu).focus(); return; }
    const item = e.target.closest?.("details.add button");
    if (item && (e.key === "ArrowDown" || e.key === "ArrowUp")) { e.preventDefault(); const items = all("details.add button"); items[(items.indexOf(item) + (e.key === "ArrowDown" ? 1 : -1) + items.length) % items.length].focus(); return; }
    if (item && e.key === "Escape") { e.preventDefault(); at("details.add").open = false; at("#add").focus(); return; }
    if (!act) return;
    adopt(act);
    const by = { ArrowUp: -1, ArrowDown: 1 }[e.key];
    if (by) { e.preventDefault(); if (e.altKey) shift(by); else step(by); }
    if (e.key === "Delete") { e.preventDefault(); const [list, index] = place(); send("remove", { focus: key(list, Math.max(0, +index - 1)) }); }
    if (e.key === "Enter") { e.preventDefault(); at("#b-form input:not([type=hidden]), #b-form textarea")?.focus(); }
  });

  // Drag: the place that it is dropped on is where it goes.
  let held = null;
  form.addEventListener("dragstart", (e) => { held = e.target.closest?.("li[data-place]"); });
  form.addEventListener("dragover", (e) => {
    const over = e.target.closest?.("li[data-place]");
    if (!over || !held) return;
    e.preventDefault();
    all(".act").forEach((s) => s.classList.remove("over"));
    at(".act", over).classList.add("over");
  });
  form.addEventListener("drop", (e) => {
    const over = e.target.closest?.("li[data-place]");
    if (!over || !held || over === held) { held = null; return; }
    e.preventDefault();
    form.elements.place.value = held.dataset.place;
    form.elements.kind.value = "";  // what the form shows is another action
    const [list, index] = over.dataset.place.split(":");
    send(`move ${over.dataset.place}`, { focus: key(list, +index) });
    held = null;
  });
  function ready() {
    if (window.htmx && form.dataset.swapped) htmx.process(at("#b-head"));
    form.dataset.swapped = "1";
    all("li[data-place]").forEach((li) => { li.draggable = true; });
    const box = at(".yaml-text"), lines = at(".editor .yaml");
    if (box && lines) box.addEventListener("scroll", () => { lines.scrollTop = box.scrollTop; lines.scrollLeft = box.scrollLeft; });
    at("#undo").disabled = !past.length;
    at("#undo").onclick = undo;
  }
  addEventListener("beforeunload", (e) => { if (form.elements.was.value !== form.elements.saved.value && !form.dataset.kept) e.preventDefault(); });
  form.addEventListener("submit", (e) => { if (e.submitter?.name !== "do") form.dataset.kept = "1"; });
  // What is saved, or planned and with that saved, is not lost: the browser does not ask.
  document.addEventListener("htmx:configRequest", (e) => { if (e.detail.verb === "post") form.dataset.kept = "1"; });
  document.addEventListener("htmx:responseError", () => { delete form.dataset.kept; });
  ready();
})();

// Enter in the target of a plan asks which systems it matches; the button with their number then plans.
document.addEventListener("keydown", (e) => {
  if (e.key !== "Enter" || e.target.id !== "plan-on") return;
  e.preventDefault();
  document.getElementById("plan-who").click();
});
