// Before anything is painted: the theme that was chosen in this browser.
try { if (localStorage.theme) document.documentElement.dataset.theme = localStorage.theme; } catch {}
