"""Makes the Debian package of a binary and looks into it, without installing it.

Prints what it holds. `--package FILE` looks into one that is there already.
"""

import argparse
import contextlib
import gzip
import os
import re
import socket
import subprocess
import tempfile
from pathlib import Path

from Shared.checks import equal, expect
from Shared.installation import Installation

# Every file, by its mode; what stands for several ends with a star.
FILES = {
    "/etc/countersign/countersign.yaml": 0o644,
    "/etc/countersign/policies/*": 0o644,
    "/usr/bin/countersign": 0o755,
    "/usr/lib/countersign/probe": 0o755,
    "/usr/lib/systemd/system/countersign.service": 0o644,
    "/usr/share/bash-completion/completions/countersign": 0o644,
    "/usr/share/doc/countersign/*": 0o644,
    "/usr/share/fish/vendor_completions.d/countersign.fish": 0o644,
    "/usr/share/lintian/overrides/countersign": 0o644,
    "/usr/share/man/man1/countersign.1.gz": 0o644,
    "/usr/share/zsh/vendor-completions/_countersign": 0o644,
}
DOCUMENTS = ["README.Debian", "changelog.gz", "copyright", "Changes.md", "Codes.md", "Operating.md", "Runbooks.md"] + [
    f"examples/{name}"
    for name in ("Containerfile", "alerts.yml", "compose.yaml", "dashboard.json", "etcd.conf", "haproxy.cfg",
                 "kubernetes-migrate.yaml", "kubernetes.yaml", "nginx.conf", "patroni.yml", "pgbackrest.conf", "prometheus.yml")]


def run(*command, wanted=0, **named):
    """What a program wrote; fails unless it ends as wanted."""
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120, check=False, **named)
    equal(done.returncode, wanted, f"{command[:3]} says {done.stdout[-2000:]}{done.stderr[-2000:]}; its exit code")
    return done.stdout + done.stderr


def silent(*command, **named):
    """Fails if a program says anything."""
    equal(run(*command, **named), "", f"what {command[:3]} says")


def files(package, tree, policies):
    """Files, modes and owners are those of the list; what is configuration is marked as such."""
    with open(tree / "control.tar", "wb") as archive:
        subprocess.run(["dpkg-deb", "--fsys-tarfile", package], stdout=archive, check=True, timeout=60)
    listed = {}
    for line in run("tar", "--numeric-owner", "-tvf", tree / "control.tar").splitlines():
        kind, owner, *_, name = line.split(maxsplit=5)
        equal(owner, "0/0", f"the owner of {name}")
        mode = sum(1 << (8 - index) for index, letter in enumerate(kind[1:]) if letter != "-")
        if kind[0] == "d":
            equal(mode, 0o755, f"the mode of {name}")
        else:
            equal(kind[0], "-", f"the kind of {name}")
            listed[name.removeprefix(".")] = mode
    (tree / "control.tar").unlink()
    for name, mode in listed.items():
        wanted = [FILES[known] for known in FILES if name == known or known[-1] == "*" and name.startswith(known[:-1])]
        equal(wanted, [mode], f"what the list says of {name}")
    for known in FILES:
        expect(any(name == known or known[-1] == "*" and name.startswith(known[:-1]) for name in listed), f"no {known}")
    for document in DOCUMENTS:
        expect(f"/usr/share/doc/countersign/{document}" in listed, f"no {document}")
    equal({name.rsplit("/", 1)[1] for name in listed if name.startswith("/etc/countersign/policies/")},
          {path.name for path in policies.glob("*.yaml")}, "the policies")
    configuration = (tree / "DEBIAN/conffiles").read_text().split()
    equal(sorted(configuration), sorted(name for name in listed if name.startswith("/etc/")), "the conffiles")
    return listed


def control(package, tree):
    """Every library that the binary asks for comes with a package that is depended on."""
    depends = run("dpkg-deb", "-f", package, "Depends")
    names = {entry.split()[0] for entry in depends.split(",")}
    expect({"adduser", "ca-certificates"} <= names, f"Depends is {depends}")
    wanted = set()
    needed = set(re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", tree / "usr/bin/countersign")))
    for name, path in re.findall(r"(\S+) => (/\S+)", run("ldd", tree / "usr/bin/countersign")):
        if name in needed and "/swift/" not in path:
            wanted.add(run("dpkg", "-S", "*" + os.path.realpath(path).removeprefix("/usr")).split(":")[0])
    expect(len(wanted) > 4 and wanted <= names, f"{wanted - names} is missing in {depends}")
    expect(".symtab" not in run("readelf", "-SW", tree / "usr/bin/countersign"), "the binary has symbols")
    for script in ("postinst", "prerm", "postrm"):
        silent("sh", "-n", tree / "DEBIAN" / script)
        equal((tree / "DEBIAN" / script).stat().st_mode & 0o777, 0o755, f"the mode of {script}")
    return depends.strip()


def unit(tree):
    """The unit is one that systemd reads without a word, and leaves the service little."""
    text = (tree / "usr/lib/systemd/system/countersign.service").read_text()
    # Here neither the program nor its manual is installed.
    text = text.replace("/usr/bin/countersign", str(tree / "usr/bin/countersign")).replace("man:countersign(1) ", "")
    copy = tree / "countersign.service"
    copy.write_text(text)
    silent("systemd-analyze", "verify", "--man=no", copy)
    return run("systemd-analyze", "security", "--offline=yes", "--threshold=15", copy).strip().splitlines()[-1]


def manual(tree):
    """The page is rendered without a warning and has a section for each command."""
    page = tree / "usr/share/man/man1/countersign.1.gz"
    warnings = subprocess.run(
        ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, timeout=60, check=True, env={**os.environ, "LC_ALL": "C.UTF-8"}).stderr
    equal(warnings, "", "what man warns of")
    sections = re.findall(r"^\.SS (.*)$", gzip.decompress(page.read_bytes()).decode(), re.MULTILINE)
    sections = [section.replace("\\", "") for section in sections]
    for words in ("serve", "keys init", "provider key revoke", "ban add", "store restore", "audit verify"):
        expect(f"countersign {words}" in sections, f"the manual has no section for {words}")
    return len(sections)


def documents(tree, version):
    """Each link of a document leads to another one, also those of the manual; the changelog has the release's notes."""
    folder = tree / "usr/share/doc/countersign"
    count = 0
    for path in [*folder.glob("*.md"), folder / "README.Debian"]:
        text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^()\s]+)\)", text):
            place = target.partition("#")[0]
            if "://" not in target and place:
                expect((folder / place).is_file(), f"{path.name} links to {target}")
                count += 1
    page = gzip.decompress((tree / "usr/share/man/man1/countersign.1.gz").read_bytes()).decode()
    named = re.findall(r"\\fI([A-Z]\w+\.\w+)\\fR", page)
    expect(len(named) > 4, f"the manual names only {named}")
    for name in named:
        expect((folder / name).is_file(), f"the manual names {name}")
    changes = gzip.decompress((folder / "changelog.gz").read_bytes()).decode()
    expect(f"({version})" in changes and changes.count("\n  * ") > 2, f"the changelog is {changes}")
    expect(re.search(r"^  \* Built from source: \S+ \(.+\)$", changes, re.MULTILINE), f"no commit in {changes}")
    return count


def completions(tree):
    """Each shell reads its file, and bash completes with it."""
    share = tree / "usr/share"
    bash = share / "bash-completion/completions/countersign"
    silent("bash", "-n", bash)
    silent("zsh", "-n", share / "zsh/vendor-completions/_countersign")
    silent("fish", "--no-execute", share / "fish/vendor_completions.d/countersign.fish")
    script = 'COMP_WORDS=(countersign keys ro); COMP_CWORD=2; _countersign countersign ro keys; echo "${COMPREPLY[@]}"'
    equal(run("bash", "-c", f"source {bash}; {script}").strip(), "rotate", "what bash completes")


def configuration(countersign, tree):
    """The policies are valid, and so are the options, also those that are only shown."""
    folder = tree / "etc/countersign"
    places = ["--policies", folder / "policies"]
    run(countersign, "policy", "check", *places, cwd=folder)
    options = folder / "countersign.yaml"
    text = options.read_text()
    options.write_text(re.sub(r"^#(?=[a-z-]+: )", "", text, flags=re.MULTILINE))
    expect(options.read_text() != text, "no option is shown")
    run(countersign, "policy", "check", *places, cwd=folder)


def service(countersign, tree, policies):
    """A service says by the socket of systemd that it is ready, and the probe sees it live."""
    probe = tree / "usr/lib/countersign/probe"
    with tempfile.TemporaryDirectory(prefix="countersign-") as directory, contextlib.ExitStack() as sockets:
        made = Installation(countersign, policies, directory, f"sqlite:{directory}/store.db")
        for name, address in ((f"{directory}/notify", f"{directory}/notify"), (f"\0{directory}", f"@{directory}")):
            listener = sockets.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
            listener.bind(name)
            listener.settimeout(60)
            node = made.node(f"node{len(made.nodes)}", environment={"NOTIFY_SOCKET": address})
            equal(listener.recv(100), b"READY=1", f"what {address} gets")
            environment = {**os.environ, "COUNTERSIGN_OPS": node.ports[2]}
            for path, wanted in (("/livez", 0), ("/readyz", 0), ("/nowhere", 1)):
                run(probe, path, wanted=wanted, env=environment)
            made.stop()
            run(probe, wanted=1, env=environment)
            made.nodes.clear()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("root", "countersign"):
        parser.add_argument(f"--{name}", required=True, type=Path)
    parser.add_argument("--package", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="countersign-package-") as directory:
        package, tree = chosen.package, Path(directory, "tree")
        if not package:
            package = run(
                "bash", chosen.root / "Sources/Packaging/package.sh", chosen.countersign,
                run(chosen.countersign, "--version").split()[0], directory,
                env={**os.environ, "COMPRESSION": "none"}).splitlines()[-1]
        run("dpkg-deb", "--raw-extract", package, tree)
        policies = chosen.root / "Policies"
        print(f"{len(files(package, tree, policies))} files; {control(package, tree)}")
        print(f"{manual(tree)} sections in the manual; unit: {unit(tree)}")
        print(f"{documents(tree, run('dpkg-deb', '-f', package, 'Version').strip())} links between documents")
        completions(tree)
        configuration(chosen.countersign, tree)
        service(chosen.countersign, tree, policies)


if __name__ == "__main__":
    main()
