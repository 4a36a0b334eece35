"""Checks of the rows of a complete run, and tables for terminals."""

import csv


def read(path):
    """The rows of a results file, each a dict by column name."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file, strict=True))


def problems(rows):
    """Faults of these rows: each must have run with closed accounting, or say why it was skipped."""
    if not rows:
        return ["there are no rows"]
    found = []
    for row in rows:
        if row["status"] == "skipped" and row["reason"]:
            continue
        if row["status"] != "ok":
            found.append(f"{row['case']} is {row['status']}: {row['reason']}")
        elif row["unaccounted_packets"] != "0":
            found.append(f"{row['case']}: {row['unaccounted_packets']} datagrams unaccounted for")
        elif int(row["received_packets"]) > int(row["sent_packets"]):
            found.append(f"{row['case']}: more received than sent")
    if all(row["status"] == "skipped" for row in rows):
        found.append("every case was skipped")
    return found


def print_table(heads, lines):
    """Columns as wide as their widest cell; numbers to the right."""

    def is_number(cell):
        return cell.replace(",", "").isdigit()

    widths = [max(len(cell) for cell in column) for column in zip(heads, *lines)]
    for line in [heads, *lines]:
        cells = zip(line, widths)
        padded = [cell.rjust(width) if is_number(cell) else cell.ljust(width) for cell, width in cells]
        print("  ".join(padded).rstrip())
