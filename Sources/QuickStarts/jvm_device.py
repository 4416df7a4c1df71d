"""The device of the quick start in Java: a program that uses the SDK for Android and the JVM, as an app does."""

import subprocess

from starting import PLACE

PROGRAM = PLACE / "java" / "device"
SDK = PLACE.parent / "CountersignAndroid" / "src" / "main" / "java"
LIBRARIES = ":".join(f"/usr/share/java/{name}.jar" for name in ("okhttp", "okio", "gson", "jsr305"))


def compile_device(build):
    """Compiles the program, and what it uses of the SDK."""
    subprocess.run(
        ["javac", "-nowarn", "-d", f"{build}/device", "-cp", LIBRARIES, "-sourcepath", f"{PROGRAM}:{SDK}",
         "HelloDevice.java"], cwd=PROGRAM, check=True)


def walk(build, public, client, backend, folder):
    """Certifies, signs in, calls the backend, signs out, and calls it again."""
    subprocess.run(
        ["java", "-cp", f"{build}/device:{LIBRARIES}", "HelloDevice", public, client, backend, folder], check=True)
