// Pages of chains, plans and commands: a new chain by its name, Ctrl and Enter opens the question, and a plan that
// is being made is loaded again until it is there.
document.addEventListener("submit", (e) => {
  const form = e.target.closest("form[data-new]");
  if (!form) return;
  e.preventDefault();
  location.href = form.dataset.to + encodeURIComponent(form.elements.name.value) + "/edit" + location.search;
});
document.addEventListener("keydown", (e) => {
  if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey)) return;
  const sure = document.getElementById("sure"), form = document.getElementById("command");
  if (sure && !sure.open) { e.preventDefault(); document.querySelector("[data-open=sure]").click(); }
  else if (!sure && form) form.requestSubmit();
});
const again = document.querySelector("[data-again]");
if (again) { again.textContent = "This page follows."; setTimeout(() => location.reload(), 2000); }
