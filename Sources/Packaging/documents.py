"""Copies the documents into a package: documents.py ROOT FOLDER.

All land in one folder, with the examples below it. A link between two of them leads to the copy. A link to something that
is not packaged, such as a source file, becomes plain text.
"""

import os
import re
import sys
from pathlib import Path

# Those whose names differ from the sources'.
NAMES = {
    "Sources/Packaging/README.md": "README.Debian",
    "Sources/Packaging/Changes.md": "Changes.md",
    "Sources/Packaging/kubernetes/README.md": "Kubernetes.md",
    "Keys/README.md": "Keys.md",
    "Policies/README.md": "Policies.md",
    "Policies/ThreatModel.md": "ThreatModel.md",
    "README.md": "README.md",
    "Sources/API/openapi.json": "openapi.json",
    "Sources/SwiftSDK/Herald/herald.thrift": "herald.thrift",
    "Sources/Packaging/kubernetes/countersign.yaml": "examples/kubernetes.yaml",
    "Sources/Packaging/kubernetes/migrate.yaml": "examples/kubernetes-migrate.yaml",
}
FOLDERS = ("Sources/API/API.docc", "Sources/countersign/countersign.docc")
EXAMPLES = (
    "examples/etcd.conf", "examples/haproxy.cfg", "examples/nginx.conf", "examples/patroni.yml", "examples/pgbackrest.conf",
    "examples/prometheus.yml", "monitoring/alerts.yml",
    "monitoring/dashboard.json", "container/Containerfile", "container/compose.yaml")
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^()\s]+)\)")


def packaged(root):
    """The name in the package of each file that lands there, by its path."""
    names = {root / path: name for path, name in NAMES.items()}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.md")):
            names[path] = "-".join(path.relative_to(root / folder).parts)
    names |= {root / "Sources/Packaging" / path: f"examples/{Path(path).name}" for path in EXAMPLES}
    if len(set(names.values())) < len(names):
        raise SystemExit("two documents have one name")
    return names


def rewritten(text, path, names):
    """The text with links that lead somewhere from its place in the package."""
    def link(match):
        label, target = match.groups()
        if "://" in target or target.startswith(("#", "mailto:")):
            return match[0]
        place, _, anchor = target.partition("#")
        name = names.get(Path(os.path.normpath(path.parent / place)))
        return f"[{label}]({name}{'#' + anchor if anchor else ''})" if name else label
    # What is in a fence is shown as it stands.
    parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    return "".join(part if part.startswith("```") else LINK.sub(link, part) for part in parts)


def main():
    root, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    names = packaged(root)
    for path, name in names.items():
        copy = folder / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8")
        copy.write_text(rewritten(text, path, names) if path.suffix == ".md" else text, encoding="utf-8")
        copy.chmod(0o644)


if __name__ == "__main__":
    main()
