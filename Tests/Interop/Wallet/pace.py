"""Writes answers of wallets to a directory, and prints the processor time of openvc for each kind, in nanoseconds."""

import argparse
import json
import pathlib
import time

from Wallet import judges
from Wallet.own_credentials import der
from Wallet.population import Population, written

ROUNDS = 5


def pace(kind, channel, count, directory):
    population = Population(kind, channel, seed=1)
    # Those with an odd number are made by isomdoc or sd-jwt. The first answer to a request is the one to be accepted.
    answers = [next(iter(population.answers(2 * index + 1))) for index in range(count)]
    name = f"{kind}-{channel}"
    (directory / f"{name}.jsonl").write_text("".join(written(kind, *answer) for answer in answers), encoding="utf-8")
    (directory / f"{name}.der").write_bytes(der(population.issuer.root))
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time_ns()
        accepted = [
            judges.answer(kind, population.issuer.root, text, request, request.key) for request, text, _ in answers]
        rounds.append((time.process_time_ns() - began) // count)
        if not all(accepted):
            raise SystemExit(f"openvc refuses {kind} {channel}")
    return name, sorted(rounds)[ROUNDS // 2]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, required=True)
    arguments = parser.parse_args()
    ways = [("mdl", "dc_api"), ("mdl", "annex_c"), ("pid", "dc_api")]
    print(json.dumps(dict(pace(*way, arguments.count, arguments.directory) for way in ways)))


if __name__ == "__main__":
    main()
