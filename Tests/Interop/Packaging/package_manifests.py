"""Judges the Kubernetes manifests by the schemas of Kubernetes, and the Compose file by its form: no container engine is
there to run them. Then holds the names in both against the service: options, ports, paths and files.
"""

import argparse
import copy
import re
import subprocess
import tempfile
from pathlib import Path

import kubernetes_validate
import yaml

from Shared.checks import equal, expect

# The oldest and the newest version that the manifests are for.
VERSIONS = ("1.30", "1.37")
KINDS = ["ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service", "Service", "ServiceAccount"]


def valid(document):
    """Whether every version takes a manifest, without unknown members."""
    try:
        for version in VERSIONS:
            kubernetes_validate.validate(document, version, strict=True)
    except kubernetes_validate.ValidationError:
        return False
    return True


def kubernetes(folder, options):
    """Each manifest is valid, and what one refers to is in another, or in the list of what an operator creates."""
    documents = list(yaml.safe_load_all((folder / "countersign.yaml").read_text()))
    equal(sorted(document["kind"] for document in documents), KINDS, "the kinds of manifests")
    for document in documents:
        expect(valid(document), f"{document['kind']} {document['metadata']['name']} is not valid")
    by_kind = {document["kind"]: document for document in documents}

    deployment = by_kind["Deployment"]
    broken = copy.deepcopy(deployment)
    broken["spec"]["template"]["spec"]["containers"][0]["livenessprobe"] = {}
    expect(not valid(broken), "a misspelt member is accepted, so nothing was judged")
    broken = copy.deepcopy(deployment)
    broken["spec"]["replicas"] = "three"
    expect(not valid(broken), "a text is accepted as a number, so nothing was judged")

    equal(deployment["spec"]["replicas"], 3, "the number of nodes")
    pod = deployment["spec"]["template"]["spec"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    for selector in [deployment["spec"]["selector"]["matchLabels"], by_kind["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
                     by_kind["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"]] + [
                         document["spec"]["selector"] for document in documents if document["kind"] == "Service"]:
        expect(selector.items() <= labels.items(), f"{selector} selects no node")
    expect(1 <= by_kind["PodDisruptionBudget"]["spec"]["maxUnavailable"] < 3, "a drain may take all nodes")
    node = pod["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in node["ports"]}
    equal(ports, {"public": 8440, "client": 8441, "ops": 8442}, "the ports")
    for document in documents:
        if document["kind"] == "Service":
            expect({port["targetPort"] for port in document["spec"]["ports"]} <= ports.keys(), "a Service has no such port")
    named = {port["port"] for rule in by_kind["NetworkPolicy"]["spec"]["ingress"] for port in rule["ports"]}
    equal(named, set(ports), "the ports of the network policy")
    for probe, path in (("startupProbe", "/livez"), ("livenessProbe", "/livez"), ("readinessProbe", "/readyz")):
        equal(node[probe]["httpGet"], {"path": path, "port": "ops", "scheme": "HTTPS"}, probe)
    wait = int(node["lifecycle"]["preStop"]["exec"]["command"][-1])
    expect(wait >= 3 * node["readinessProbe"]["periodSeconds"], "preStop ends before the node is known to go")
    shutdown = int(re.search(r"^shutdown_timeout: (\d+)s$", (folder / "../../../Policies/requests.yaml").read_text(), re.MULTILINE)[1])
    expect(pod["terminationGracePeriodSeconds"] > wait + shutdown, "the grace period is too short")

    values = by_kind["ConfigMap"]["data"]
    equal(node["envFrom"], [{"configMapRef": {"name": by_kind["ConfigMap"]["metadata"]["name"]}}], "the options")
    variables = [*values, *(entry["name"] for entry in node["env"])]
    expect({name for name in variables if name.startswith("COUNTERSIGN_")} <= options, f"{variables} are not all options")
    for listener in ("PUBLIC", "CLIENT", "OPS"):
        equal(values[f"COUNTERSIGN_{listener}"], f"0.0.0.0:{ports[listener.lower()]}", listener)

    volumes = {volume["name"] for volume in pod["volumes"]}
    for container in pod["initContainers"] + pod["containers"]:
        confined = container["securityContext"]
        expect(confined["readOnlyRootFilesystem"] and not confined["allowPrivilegeEscalation"]
               and confined["capabilities"] == {"drop": ["ALL"]}, f"{container['name']} is not confined")
        expect({mount["name"] for mount in container["volumeMounts"]} <= volumes, f"{container['name']} mounts nothing known")
    page = (folder / "README.md").read_text()
    for volume in pod["volumes"]:
        for kind, member in (("secret generic", "secretName"), ("configmap", "name")):
            name = volume.get(kind.split()[0], volume.get("configMap", {}) if kind == "configmap" else {}).get(member)
            expect(not name or f"kubectl create {kind} {name} " in page, f"the page does not create {name}")
    folders(pod)
    job(folder, deployment)
    return len(documents) + 1


def folders(pod):
    """The keys reach the node with their folders, which a Secret has not, on each start of the pod's containers."""
    [prepare] = pod["initContainers"]
    mounts = {mount["name"]: mount["mountPath"] for mount in prepare["volumeMounts"]}
    secrets = {volume["name"]: volume["secret"] for volume in pod["volumes"] if "secret" in volume}
    equal({name for name, secret in secrets.items() if secret.get("optional")}, {"issuers", "attestation"}, "the optional Secrets")
    equal({mounts[name] for name in secrets}, {f"/secret/{name}" for name in secrets}, "the places of the Secrets")
    shell, flags, script = prepare["command"]
    with tempfile.TemporaryDirectory() as place:
        base = Path(place)
        for name in [*secrets, "run"]:
            (base / name).mkdir()
        (base / "keys/wallet.key").write_text("key")
        (base / "store/pgpass").write_text("password")
        here = script.replace("/run/countersign", f"{base}/run").replace("/secret/", f"{base}/")
        keys = base / "run/keys"
        for files in ({"issuers/dmv.pem", "issuers/other.pem"}, {"issuers/dmv.pem", "attestation/apple.pem"}, set()):
            for name in ("issuers", "attestation"):
                for old in (base / name).iterdir():
                    old.unlink()
            for file in files:
                (base / file).write_text(file)
            subprocess.run([shell, flags, here], check=True)
            found = {str(path.relative_to(keys)) for path in keys.rglob("*") if path.is_file()}
            equal(found, files | {"wallet.key"}, "the keys of the node")
            expect(all(path.stat().st_mode & 0o077 == 0 for path in keys.rglob("*")), "others may read the keys")


def job(folder, deployment):
    """The Job that migrates has the options, the store and the confinement of the nodes, and no selector takes it for one."""
    document = yaml.safe_load((folder / "migrate.yaml").read_text())
    expect(valid(document), "the Job is not valid")
    pod, nodes = document["spec"]["template"]["spec"], deployment["spec"]["template"]["spec"]
    [migrate], node = pod["containers"], nodes["containers"][0]
    equal(migrate["args"], ["store", "migrate"], "the command of the Job")
    for member in ("image", "envFrom", "env", "securityContext"):
        equal(migrate[member], node[member], f"{member} of the Job")
    for member in ("serviceAccountName", "securityContext"):
        equal(pod[member], nodes[member], f"{member} of the Job's pod")
    for container in pod["initContainers"]:
        equal(container["securityContext"], node["securityContext"], f"the confinement of {container['name']}")
    expect("activeDeadlineSeconds" not in document["spec"] | pod, "a long migration is ended")
    volumes = {volume["name"]: volume for volume in nodes["volumes"]}
    expect(all(volumes[volume["name"]] == volume for volume in pod["volumes"]), "the Job has other volumes")
    labels = document["spec"]["template"]["metadata"]["labels"]
    expect(not deployment["spec"]["selector"]["matchLabels"].items() <= labels.items(), "the Job is taken for a node")


def compose(path, options):
    """The file has the form of Compose's specification, as far as it uses it, and refers to what it declares."""
    document = yaml.safe_load(path.read_text())
    expect(document.keys() <= {"name", "services", "volumes", "secrets"}, f"{document.keys()} are not all known")
    for name, service in document["services"].items():
        expect(isinstance(service["image"], str) and service["restart"] in ("unless-stopped", "always"), name)
        for member, kind in (("environment", dict), ("volumes", list), ("healthcheck", dict)):
            expect(isinstance(service[member], kind), f"{member} of {name}")
        expect(set(service.get("secrets", [])) <= document["secrets"].keys(), f"a secret of {name} is not declared")
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            expect(source.startswith("./") or source in document["volumes"], f"{source} is not declared")
        for port in service.get("ports", []):
            expect(re.fullmatch(r"\d+:\d+", port), f"the port {port}")
        for other, need in service.get("depends_on", {}).items():
            expect(other in document["services"] and need["condition"] == "service_healthy"
                   and "healthcheck" in document["services"][other], f"{name} depends on {other}")
        expect(service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL"), f"the health check of {name}")
        for member in ("interval", "timeout", "start_period"):
            expect(re.fullmatch(r"\d+s", service["healthcheck"].get(member, "1s")), f"{member} of {name}")
    node = document["services"]["countersign"]
    expect({name for name in node["environment"] if name.startswith("COUNTERSIGN_")} <= options, "an option is not known")
    equal([port.split(":")[1] for port in node["ports"]], ["8440", "8441"], "the ports")
    return len(document["services"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", required=True, type=Path)
    root = parser.parse_args().root
    text = (root / "Sources/countersign/countersign.docc/Operating.md").read_text()
    options = set(re.findall(r"COUNTERSIGN_[A-Z_]+", text))
    expect(len(options) > 12, f"only {options} were found")
    packaging = root / "Sources/Packaging"
    print(f"{kubernetes(packaging / 'kubernetes', options)} manifests, "
          f"{compose(packaging / 'container/compose.yaml', options)} services of Compose")


if __name__ == "__main__":
    main()
