"use strict";
const all = (selector) => [...document.querySelectorAll(selector)];
const named = document.getElementById("named");
const operation = document.getElementById("operation");
const state = document.getElementById("state");
const rows = all("#matrix tbody tr");

function filter() {
  const columns = all(".place").filter((box) => box.checked).map((box) => Number(box.value));
  const chosen = (cell) => !all(".place").length || columns.includes(cell.cellIndex);
  let shown = 0;
  for (const row of rows) {
    const cells = [...row.cells].slice(1).filter(chosen);
    const states = cells.map((cell) => cell.className);
    const right = !state.value || (state.value === "pass" || state.value === "none"
      ? states.every((one) => one === state.value || one === "empty") && states.includes(state.value)
      : states.includes(state.value));
    row.hidden = !(row.dataset.name.includes(named.value.trim()) && right
      && (!operation.value || row.dataset.operation === operation.value));
    shown += row.hidden ? 0 : 1;
  }
  for (const cell of all("#matrix th, #matrix td")) cell.hidden = cell.cellIndex > 0 && !chosen(cell);
  document.getElementById("shown").textContent = `${shown} of ${rows.length} implementations`;
}

function reveal() {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const folded = target && target.closest("details");
  if (folded) {
    folded.open = true;
    target.scrollIntoView();
    target.focus({ preventScroll: true });
  }
}

for (const form of all(".filters")) {
  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter();
}
window.addEventListener("hashchange", reveal);
reveal();

for (const button of all(".copy")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    button.textContent = "copied";
  });
}

const theme = document.getElementById("theme");
theme.hidden = false;
theme.addEventListener("click", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});
