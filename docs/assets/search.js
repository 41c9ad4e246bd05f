// An error that is pasted into the search holds signs that the search takes for its own language: `0:` would be a field.
function searchable(text) {
  return text.replace(/[:~^*+"'`()[\]{}<>|\n\r\t]+/g, " ").replace(/\s-+/g, " ").trim();
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
