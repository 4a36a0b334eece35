// The page can be read without this. With it, the rows can be had as CSV: from the page itself, offline.
for (const button of document.querySelectorAll("button[data-rows]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const { names, same, rows } = JSON.parse(document.getElementById("rows-" + button.dataset.rows).textContent);
    const quoted = cell => /[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
    const line = cells => cells.map(quoted).join(",") + "\n";
    const lines = rows.split("\n").map(row => {
      const own = row.split("\t");
      return line(names.map((_, n) => n in same ? same[n] : own.shift()));
    });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([line(names), ...lines], { type: "text/csv" }));
    link.download = button.dataset.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}
