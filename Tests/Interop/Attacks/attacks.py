"""Attacks on a started service, each with one line that says what it achieves: the processor time of a request, memory, how
long others wait, the share that is refused. Nothing is judged here; a test judges what is counted.

    python3 attacks.py --root . --countersign FILE [NAME…]
"""

import argparse
import importlib
import sys
from pathlib import Path

from Attacks.attack_world import ATTACKS, Target

# A new family comes along by itself.
for path in sorted(Path(__file__).parent.glob("attack_*.py")):
    importlib.import_module(f"Attacks.{path.stem}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="those alone: " + ", ".join(sorted(ATTACKS)))
    parser.add_argument("--root", required=True)
    parser.add_argument("--countersign", required=True)
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(ATTACKS):
        parser.error(f"there is no attack {', '.join(sorted(unknown))}")
    figures, failed = {}, 0
    for name in chosen.names or ATTACKS:
        wanted = ATTACKS[name]
        try:
            target = Target(chosen, wanted)
            try:
                figures[name] = wanted.run(target)
            finally:
                target.close()
        except Exception as error:
            failed += 1
            figures[name] = f"not measured: {type(error).__name__}: {error}"
        print(f"{name}: {figures[name]}", flush=True)
    print("\n| attack | what it does | figure |\n|---|---|---|")
    for name, figure in figures.items():
        print(f"| {name} | {' '.join(ATTACKS[name].run.__doc__.split())} | {figure} |")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
