#!/usr/bin/env python3
"""Draws `peers.svg` from `RESULTS.md`: the processor time of a request, beside other servers. `make bench` runs it.

With `--check` it writes nothing, and fails if the chart is not that of the results.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
SECTION = "Beside other servers: 32 connections, TLS 1.3, one log line a request"
COLOURS = {"nginx": "#9aa5b1", "node": "#c9b458", "Countersign": "#1f6feb"}
LEFT, BAR, GAP, WIDTH = 330, 18, 14, 860


def rows(text, section):
    """The call, the server and the microseconds of each row of a section."""
    table = text.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [(row[0], row[1], float(row[2])) for row in cells]


def chart(text):
    """The chart as SVG, one bar a row, grouped by call."""
    found = rows(text, SECTION)
    scale = (WIDTH - LEFT - 60) / max(time for _, _, time in found)
    parts, y, call = [], 64, None
    for name, server, time in found:
        if name != call:
            y += GAP
            parts.append(f'<text x="{LEFT - 90}" y="{y + 13}" text-anchor="end">{name}</text>')
            call = name
        parts.append(f'<text x="{LEFT - 6}" y="{y + 13}" text-anchor="end" fill="#57606a">{server}</text>')
        parts.append(
            f'<rect x="{LEFT}" y="{y}" width="{time * scale:.1f}" height="{BAR - 3}" fill="{COLOURS[server]}"/>')
        parts.append(f'<text x="{LEFT + time * scale + 6:.1f}" y="{y + 13}">{time:.0f}</text>')
        y += BAR
    title = "Processor time of one request in µs: less is better"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + 20}" viewBox="0 0 {WIDTH} {y + 20}"'
        f' font-family="sans-serif" font-size="12" role="img" aria-label="{title}">',
        f'<rect width="{WIDTH}" height="{y + 20}" fill="#ffffff"/>',
        f'<text x="20" y="28" font-size="16" font-weight="bold">{title}</text>',
        '<text x="20" y="48" fill="#57606a">TLS 1.3 on the same two processors. nginx gives a fixed answer, node works '
        "in memory: neither has a store, expiry or revocation.</text>",
    ] + parts + ["</svg>", ""])


def main():
    drawn, path = chart((HERE / "RESULTS.md").read_text()), HERE / "peers.svg"
    if "--check" in sys.argv:
        sys.exit(None if path.read_text() == drawn else "peers.svg is not of RESULTS.md: run Tests/Benchmarks/chart.py")
    path.write_text(drawn)


if __name__ == "__main__":
    main()
