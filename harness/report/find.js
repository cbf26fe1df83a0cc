"use strict";
(() => {
  const field = document.getElementById("find");
  const rows = document.querySelectorAll("[data-find]");
  const said = document.getElementById("found");
  document.getElementById("search").hidden = false;
  const look = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.dataset.find.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      shown += row.hidden ? 0 : 1;
    }
    said.textContent = words.length ? `${shown} of ${rows.length}` : "";
  };
  field.addEventListener("input", look);
  look();
})();
