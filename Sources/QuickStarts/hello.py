"""Starts Countersign and a quick start, signs a user in from a device, and shows the session that the backend verified.

    python3 hello.py LANGUAGE --countersign BINARY --policies Policies --build FOLDER

It ends by itself, with everything that it started, and leaves nothing but what it compiled in FOLDER (`make hello`).
"""

import argparse
import os
import shutil
import tempfile
import time
from pathlib import Path

import jvm_device
from device import Device
from starting import LANGUAGES, backend, compile_backend, free_port, service


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("language", choices=LANGUAGES)
    for name in ("countersign", "policies", "build"):
        parser.add_argument(f"--{name}", type=lambda text: str(Path(text).resolve()), required=True)
    chosen = parser.parse_args()
    os.makedirs(chosen.build, exist_ok=True)
    compile_backend(chosen.language, chosen.build)
    if chosen.language == "java":
        jvm_device.compile_device(chosen.build)
    begun = time.monotonic()
    folder = tempfile.mkdtemp(prefix="countersign-hello-")
    try:
        running, where = service(chosen.countersign, chosen.policies, folder)
        port = free_port()
        settings = {
            "SERVICE": f"https://{where['public']}", "CA": f"{folder}/Keys/ca.pem", "REALM": where["realm"],
            "PROVIDER": f"{folder}/provider.json", "KEY": f"{folder}/provider.key",
            "EVENTS": f"http://127.0.0.1:{port}/events"}
        with running, backend(chosen.language, chosen.build, port, settings, f"{folder}/backend.log"):
            urls = settings["SERVICE"], f"https://{where['client']}", f"http://127.0.0.1:{port}"
            if chosen.language == "java":
                jvm_device.walk(chosen.build, *urls, folder)
            else:
                Device(*urls, folder).walk()
    finally:
        shutil.rmtree(folder)
    print(f"{time.monotonic() - begun:.1f} s from the first key to the end")


if __name__ == "__main__":
    main()
