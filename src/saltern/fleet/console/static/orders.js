// The buttons of a run, a leg or a job follow what is possible: the page has all of them, and the stream says which
// can be used, on how many systems, and why not. A dialog that is open stays as it was read: the controller counts again.
(() => {
  const all = (s, r = document) => [...r.querySelectorAll(s)];
  // What an offer has for the dialog: it is copied to the button, which fills the dialog when it opens.
  function fill(button, offer) {
    const steps = (offer.dataset.fillSteps || "").split("\n");
    for (const [name, value] of Object.entries(offer.dataset)) if (name.startsWith("fill")) button.dataset[name] = value;
    if (steps.includes(button.dataset.step)) button.dataset.fillAction = button.dataset.step;
    all("[data-show=action]", button).forEach((one) => { one.textContent = button.dataset.fillAction; });
    if (!offer.value) return;
    button.dataset.count = offer.value;
    all("[data-number]", button).forEach((one) => { one.textContent = (+offer.value).toLocaleString("en"); });
  }
  function follow(button, offer) {
    const state = offer.dataset.state, barred = "barred" in button.dataset;
    if (state === "on") button.hidden = false;
    if (state === "away") button.hidden = true;
    if (!barred) { button.disabled = state !== "on"; button.title = state === "on" ? "" : offer.dataset.why; }
    fill(button, offer);
  }
  function look() {
    const held = document.activeElement;
    for (const offer of all("data[data-offer]")) all(`[data-order="${offer.dataset.offer}"]`).forEach((button) => follow(button, offer));
    if (held?.dataset?.order && held.hidden) all("[data-order=pause], [data-order^=resume]").find((one) => !one.hidden)?.focus();
  }
  document.addEventListener("saltern:swapped", (e) => { if (e.detail.id === "part-offers") look(); });
})();
