"use strict";
const data = JSON.parse(document.getElementById("data").textContent);

/** Invisible characters, or those that change the direction of others, shown as on the terminal. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;
const visible = (text) => String(text).replace(UNSEEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** An element with attributes and children; strings become text nodes. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === "on") for (const [event, act] of Object.entries(value)) element.addEventListener(event, act);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child !== null && child !== undefined) element.append(child instanceof Node ? child : visible(child));
  return element;
}

/** A path that may be broken after each of its parts. */
const pieces = (path) => path.split(/(?<=\/)/).flatMap((part) => [part, make("wbr")]);

function seconds(value) {
  if (value === null || value === undefined) return "";
  if (value < 0.0001) return value ? "<0.1 ms" : "0";
  if (value < 0.9995) return `${(value * 1000).toFixed(value < 0.01 ? 1 : 0)} ms`;
  return value < 120 ? `${value.toFixed(value < 10 ? 2 : 1)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

/** Light, dark, or as in the system. */
const THEMES = ["auto", "light", "dark"];
let theme = "auto";
const themeButton = document.getElementById("theme");
themeButton.addEventListener("click", () => {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  themeButton.textContent = `Theme: ${theme}`;
});

/** True if keys belong to an input field. */
const typing = () => document.activeElement?.matches("input:not([type=checkbox]), select");
