// The page can be read without this. With it, the rows can be had as CSV: from the page itself, offline.
for (const button of document.querySelectorAll("button[data-rows]")) {
  button.hidden = false;
  button.addEventListener("click", () => {
    const rows = JSON.parse(document.getElementById("rows-" + button.dataset.rows).textContent);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([rows], { type: "text/csv" }));
    link.download = button.dataset.name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}
