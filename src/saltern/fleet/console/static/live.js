// Live pages. One stream for each browser: the tab that holds the lock reads it, and hands on what it gets to the
// other tabs. A part is swapped only if it is another one than the page has.
const live = (() => {
  const body = document.body, root = body.dataset.root;
  const mine = body.dataset.topics ? body.dataset.topics.split(",") : [];
  const badge = document.querySelector(".live"), stale = document.getElementById("stale");
  const me = Math.random().toString(36).slice(2);
  const tabs = new Map();  // tab → its topics and when it said so
  let heard = Date.now(), after = +body.dataset.after || 0, source = null, following = "", paused = false, asking = false;
  const waiting = new Map(), ACTS = "main .acts, dialog .sure";

  function state(name) {
    if (!badge || badge.dataset.state === name) return;
    badge.dataset.state = name;
    badge.querySelector(".word").textContent = { live: "live", late: "late since", polled: "every 10 s," }[name] || "as of";
    document.querySelectorAll(ACTS).forEach((b) => { b.classList.toggle("late", name === "late"); if (name === "late") b.setAttribute("aria-disabled", "true"); else b.removeAttribute("aria-disabled"); });
    body.toggleAttribute("data-late", name === "late");
    if (!stale) return;
    stale.hidden = name !== "late";
    stale.querySelector("[data-since]").textContent = clock(heard) + " UTC";
    const work = [...document.querySelectorAll("[data-work]")].reduce((n, one) => n + +one.value, 0);
    stale.querySelector("[data-working]").textContent = work ? `${work.toLocaleString("en")} ${work === 1 ? "is" : "are"} at work and ${work === 1 ? "has its" : "have their"} whole plan.` : "";
  }
  const clock = (ms) => new Date(ms).toISOString().slice(11, 19);
  function alive(how = "live") {
    heard = Date.now();
    state(how);
    const at = document.querySelector("[data-clock]");
    if (at) at.textContent = clock(heard) + " UTC";
    const run = document.getElementById("asof");  // beside the time slider, unless it is being moved or shows the past
    if (run && !document.getElementById("past") && document.activeElement?.id !== "time") run.textContent = clock(heard);
  }
  function swap(part) {
    after = Math.max(after, part.number);
    if (!mine.includes(part.topic)) return;
    const old = document.getElementById(part.id);
    if (!old) { document.dispatchEvent(new CustomEvent("saltern:changed", { detail: part })); return; }
    if (old.dataset.hash === part.hash) return;
    if (old.closest("[data-watch]")) { const was = old.querySelector("data").value; old.dataset.hash = part.hash; document.dispatchEvent(new CustomEvent("saltern:changed", { detail: { was, html: part.html } })); return; }
    if (document.hidden || old.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")) { waiting.set(part.id, part); return; }
    put(old, part);
  }
  // How the same thing is found again in a part that was replaced.
  function keyOf(one) {
    if (one.dataset.key) return `[data-key="${CSS.escape(one.dataset.key)}"]`;
    const system = one.parentNode.dataset?.system;
    return system ? `[data-system="${CSS.escape(system)}"] > :nth-child(${one.cellIndex + 1})` : null;
  }
  function put(old, part) {
    const focus = old.contains(document.activeElement) ? keyOf(document.activeElement) : null;
    old.innerHTML = part.html;
    old.dataset.hash = part.hash;
    if (window.htmx) htmx.process(old);
    if (focus) old.querySelector(focus)?.focus();
    document.dispatchEvent(new CustomEvent("saltern:swapped", { detail: old }));
  }
  function flush() {
    for (const [id, part] of waiting) { const old = document.getElementById(id); if (old) { waiting.delete(id); put(old, part); } }
  }
  document.addEventListener("visibilitychange", () => { if (!document.hidden) flush(); });
  document.addEventListener("focusout", () => setTimeout(flush, 100));

  function take(kind, data) {
    if (kind === "beat") alive();
    if (kind === "polled") alive("polled");
    if (kind === "part") { alive(data.how); if (!paused) swap(data); }
    if (kind === "signed-out") location.reload();
  }
  if (!mine.length || !window.EventSource) return { pause() {} };

  const channel = window.BroadcastChannel ? new BroadcastChannel("saltern" + root) : null;
  const say = (message) => channel?.postMessage({ from: me, ...message });
  let leads = false;
  function open() {
    const wanted = new Set(mine);
    for (const [tab, one] of tabs) { if (Date.now() - one.at > 40000) tabs.delete(tab); else one.topics.forEach((t) => wanted.add(t)); }
    const names = [...wanted].sort().slice(0, 20).join(",");
    if (source && names === following && source.readyState !== EventSource.CLOSED) return;
    source?.close();
    following = names;
    source = new EventSource(`${root}/stream?topics=${encodeURIComponent(names)}&after=${after}`);
    for (const kind of ["beat", "part", "signed-out"]) {
      source.addEventListener(kind, (e) => { const data = kind === "part" ? JSON.parse(e.data) : null; take(kind, data); say({ kind, data }); });
    }
    source.onerror = () => { if (source.readyState === EventSource.CLOSED) { source = null; setTimeout(open, 5000 + Math.random() * 5000); } };
  }
  channel?.addEventListener("message", (e) => {
    const m = e.data;
    if (m.topics) { tabs.set(m.from, { topics: m.topics, at: Date.now() }); if (leads) open(); }
    else if (m.gone) { tabs.delete(m.from); }
    else if (m.kind) take(m.kind, m.data);
  });
  // Without a word of the stream the parts are asked for, every ten seconds; what answers is no stream, and the page says so.
  async function poll() {
    if (asking || !leads || document.hidden) return;
    asking = true;
    try {
      const answer = await fetch(`${root}/parts?topics=${encodeURIComponent(following || mine.join(","))}`, { signal: AbortSignal.timeout(8000) });
      if (answer.ok) {
        const parts = (await answer.text()).split("\n\n").filter(Boolean).map((one) => JSON.parse(one.slice(one.indexOf("data: ") + 6)));
        for (const one of parts) { const data = { ...one, how: "polled" }; take("part", data); say({ kind: "part", data }); }
        take("polled"); say({ kind: "polled" });
      }
    } catch {} finally { asking = false; }
  }
  const lead = () => { leads = true; open(); return new Promise(() => {}); };
  if (navigator.locks && channel) navigator.locks.request("saltern" + root, lead); else lead();
  const announce = () => { if (!leads) say({ topics: mine }); else if (!source) open(); };
  announce();
  setInterval(announce, 15000);
  setInterval(() => {
    const silent = Date.now() - heard, polled = badge?.dataset.state === "polled";
    if (silent > (polled ? 10000 : 7000)) poll();
    if (silent > (polled ? 20000 : 10000)) state("late");
  }, 1000);
  addEventListener("pagehide", () => { say({ gone: true }); source?.close(); });
  addEventListener("pageshow", (e) => { if (e.persisted) location.reload(); });
  return { pause(on) { paused = on; if (!on) flush(); } };
})();
// A page that is late, or shows the past, cannot act.
document.addEventListener("click", (e) => {
  if (document.body.hasAttribute("data-late") && e.target.closest("main .acts, dialog .sure")) { e.preventDefault(); e.stopPropagation(); }
}, true);
document.addEventListener("submit", (e) => {
  if (document.body.hasAttribute("data-late") && e.target.method === "post") { e.preventDefault(); e.stopPropagation(); }
}, true);
