"""Compares the alert rules and the dashboard with the metrics that the service has, and lets promtool try each alert.

A metric that no event has counted yet is on no page, so that names and labels are read from the sources; what a running
service shows must be among them, or the reading is wrong.
"""

import json
import re
import subprocess
import tempfile
from pathlib import Path

import requests
import yaml

from Shared import options
from Shared.checks import equal, expect
from Shared.client import TIMEOUT

OF_PROMETHEUS = {"instance", "job", "le"}


def known(sources):
    """The metrics of the sources, each with its labels."""
    text = "\n".join(path.read_text() for path in sorted(sources.rglob("*.swift")))
    metrics = {}
    pattern = r'(Counter|Timer)\(\s*label: "(\w+)"(?:,\s*dimensions: \[\s*((?:\("\w+",.*?\)(?:,\s*)?)+)\])?'
    for kind, name, dimensions in re.findall(pattern, text, re.DOTALL):
        labels = set(re.findall(r'\("(\w+)",', dimensions))
        for end in ["_total"] if kind == "Counter" else ["_bucket", "_sum", "_count"]:
            metrics[f"countersign_{name}{end}"] = labels
    for name in re.findall(r'count\("(connections_\w+)"', text):
        metrics[f"countersign_{name}_total"] = {"listener", "reason"}
    for name, labels in re.findall(r'addGauge\("(\w+)"(?:, \[((?:\("\w+", [\w.".]+\)(?:, )?)+)\])?', text):
        metrics[f"countersign_{name}"] = set(re.findall(r'\("(\w+)",', labels))
    return metrics, text


def explained(sources):
    """The metrics that have a sentence, by their names without prefix and ending."""
    text = (sources / "API/Metrics/MetricHelp.swift").read_text()
    return set(re.findall(r'^ +"(\w+)": "[A-Z].*\.",$', text, re.MULTILINE))


def shown(page):
    """The metrics of a page, each with its labels."""
    metrics = {}
    for name, labels in re.findall(r"^(countersign_\w+)(?:\{(.*)\})? ", page, re.MULTILINE):
        metrics.setdefault(name, set()).update(re.findall(r'(\w+)="', labels))
    return metrics


def judge(query, metrics, text):
    """Fails if a query names a metric, a label or a label's value that the service does not have."""
    names = re.findall(r"countersign_\w+", query)
    expect(names or query.startswith("up{"), f"no metric in {query}")
    labels = set()
    for name in names:
        expect(name in metrics, f"{name} is no metric: {query}")
        labels |= metrics[name]
    for selector in re.findall(r"countersign_\w+\{(.*?)\}", query):
        for label, operator, value in re.findall(r'(\w+)(=~|!=|=)"(.*?)"', selector):
            expect(label in labels | OF_PROMETHEUS, f"{label} is no label: {query}")
            if operator != "=~":
                case = re.sub("_(.)", lambda found: found[1].upper(), value)
                expect(f'"{value}"' in text or f"case {case}" in text, f"{label} is never {value}: {query}")
    for group in re.findall(r"\bby \((.*?)\)", query):
        for label in group.split(", "):
            expect(label in labels | OF_PROMETHEUS, f"{label} is no label: {query}")


def promtool(*arguments, page=None):
    """Fails unless promtool is content."""
    done = subprocess.run(
        ["promtool", *map(str, arguments)], input=page, capture_output=True, text=True, timeout=60, check=False)
    equal(done.returncode, 0, f"promtool {arguments[:2]} says {done.stdout}{done.stderr}; its exit code")


def health(panels):
    """The first row answers whether the service is healthy: each of its panels is one value that is green or red."""
    expect(panels[0]["type"] == "row" and panels[0]["gridPos"]["y"] == 0, "the dashboard does not begin with a row")
    first = [panel for panel in panels if panel["gridPos"]["y"] == 1]
    expect(first == panels[1:len(first) + 1] and sum(panel["gridPos"]["w"] for panel in first) == 24, "the first row has gaps")
    for panel in first:
        equal(panel["type"], "stat", panel["title"])
        steps = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
        equal({step["color"] for step in steps}, {"green", "red"}, f"the colours of {panel['title']}")
    below = [panel for panel in panels if panel not in first and panel["type"] != "row"]
    expect(all(panel["gridPos"]["y"] >= 5 for panel in below), "a panel overlaps the first row")


def main():
    parser = options.parser(__doc__)
    parser.add_argument("--root", required=True, type=Path)
    chosen = parser.parse_args()
    folder = chosen.root / "Sources/Packaging/monitoring"
    metrics, text = known(chosen.root / "Sources")
    expect(len(metrics) > 20, f"only {len(metrics)} metrics were found in the sources")

    requests.get(chosen.ops + "/readyz", timeout=TIMEOUT)
    text_page = requests.get(chosen.ops + "/metrics", timeout=TIMEOUT).text
    promtool("check", "metrics", page=text_page)
    page = shown(text_page)
    for name in ("build_info", "certificate_end_timestamp_seconds", "outbox_waiting", "store_wait_seconds_count"):
        expect(f"countersign_{name}" in page, f"the page has no {name}")
    for name in ("cpu_seconds_total", "resident_memory_bytes", "start_time_seconds", "open_fds", "max_fds"):
        found = re.search(rf"^process_{name} (\S+)$", text_page, re.MULTILINE)
        expect(found and float(found[1]) > 0, f"process_{name} is {found and found[1]}")
    bare = {re.sub("^countersign_|(_total|_bucket|_sum|_count)$", "", name) for name in metrics}
    equal(bare, explained(chosen.root / "Sources"), "the metrics with a sentence")
    expect(len(page) > 5, f"the page shows {sorted(page)}")
    for name, labels in page.items():
        expect(name in metrics, f"{name} was not found in the sources")
        expect(labels <= metrics[name] | OF_PROMETHEUS, f"{name} has labels {sorted(labels)}")

    groups = yaml.safe_load((folder / "alerts.yml").read_text())["groups"]
    alerts = [rule for group in groups for rule in group["rules"]]
    dashboard = json.loads((folder / "dashboard.json").read_text())
    panels = [panel for panel in dashboard["panels"] if panel["type"] != "row"]
    equal(len({panel["id"] for panel in dashboard["panels"]}), len(dashboard["panels"]), "the ids of panels")
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    health(dashboard["panels"])
    for query in [alert["expr"] for alert in alerts] + queries:
        judge(query, metrics, text)
    shown_metrics = set(re.findall(r"countersign_\w+", "\n".join(queries)))
    for name in metrics:
        expect(name in shown_metrics or name.endswith(("_sum", "_count")), f"no panel shows {name}")

    promtool("check", "rules", folder / "alerts.yml")
    promtool("test", "rules", folder / "alerts_test.yml")
    tests = yaml.safe_load((folder / "alerts_test.yml").read_text())["tests"]
    fired = {case["alertname"] for test in tests for case in test["alert_rule_test"] if case.get("exp_alerts")}
    equal(fired, {alert["alert"] for alert in alerts}, "the alerts that a test fires")
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        rules = [{"record": f"panel:{number}", "expr": query.replace("$__rate_interval", "5m")}
                 for number, query in enumerate(queries)]
        yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
        file.flush()
        promtool("check", "rules", file.name)
    print(f"{len(alerts)} alerts and {len(queries)} queries of {len(metrics)} metrics")


if __name__ == "__main__":
    main()
