// An error that is pasted into the search holds signs that the search takes for its own language (`0:` would be a field), and
// scraps such as `e.g.` that it would take for the beginning of every word with that letter.
function searchable(text) {
  return text
    .split(/[^\w]+/)
    .filter((word) => word.length > 2)
    .join(" ");
}

if (typeof document !== "undefined") {
  document.addEventListener("paste", (event) => {
    const field = event.target;
    if (!(field instanceof HTMLInputElement) || field.dataset.mdComponent !== "search-query") {
      return;
    }
    event.preventDefault();
    field.setRangeText(searchable(event.clipboardData.getData("text")), field.selectionStart, field.selectionEnd, "end");
    field.dispatchEvent(new InputEvent("input", { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }));
  });
}
