#!/usr/bin/env bash
# Starts the three samples beside the service of `make run`, and stays up until it is stopped (`make samples`). It builds
# nothing. It acts in the directory where it is called, in .run, where `make run` has left a store and the sample provider.
#
#   COUNTERSIGN_PUBLIC       the service's public listener: 127.0.0.1:8440
#   SAMPLES_PORT             the first of six ports on 127.0.0.1: 8470
#   COUNTERSIGN_BIN          where the programs are: where `swift build` puts them
set -euo pipefail
public=${COUNTERSIGN_PUBLIC:-127.0.0.1:8440}
port=${SAMPLES_PORT:-8470}
bin=${COUNTERSIGN_BIN:-$(swift build --show-bin-path)}
state=.run
store=sqlite:$state/development.db
for variable in $(compgen -e COUNTERSIGN_); do unset "$variable"; done
umask 077
[ -s "$state/provider.json" ] || { echo "Start the service first, in another terminal: make run" >&2; exit 1; }

# A certificate for the listeners of the samples. Devices must trust it, so an app has it built in, or a public one.
[ -s "$state/samples.pem" ] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 365 \
    -subj "/CN=samples" -addext "subjectAltName=IP:127.0.0.1" -keyout "$state/samples.key" -out "$state/samples.pem" \
    2>/dev/null

register() { # a provider with an EC key of its own
    [ -s "$state/$1.key" ] || openssl genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$state/$1.key"
    openssl pkey -in "$state/$1.key" -pubout -out "$state/$1.pem"
    if [ ! -s "$state/$1.json" ] || [ "$state/provider.json" -nt "$state/$1.json" ]; then
        "$bin/countersign" provider add --name "$1" --slug "$1" --key "$state/$1.pem" --json --keys Keys \
            --policies Policies --store "$store" >"$state/$1.new"
        mv "$state/$1.new" "$state/$1.json"
    fi
}
register msgr
register reader
provider=$(sed -n 's/.*"provider_id" *: *"\([^"]*\)".*/\1/p' "$state/provider.json")

pids=()
trap 'for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done; wait' EXIT
trap 'exit 0' INT TERM

start() { # starts a sample on two ports, and waits until it is ready
    local name=$1 plain=$2
    shift 2
    "$bin/$name" --service "https://$public" --ca Keys/ca.pem --tls-certificate "$state/samples.pem" \
        --tls-key "$state/samples.key" --store "$state/$name.db" --plain-port "$plain" --device-port $((plain + 1)) "$@" \
        >"$state/$name.out" 2>"$state/$name.log" &
    pids+=($!)
    for _ in $(seq 400); do
        grep -q '"ready":true' "$state/$name.out" && return 0
        kill -0 "${pids[-1]}" 2>/dev/null || break
        sleep 0.05
    done
    echo "$name did not start: see $state/$name.log" >&2
    tail -n 5 "$state/$name.log" >&2
    return 1
}
start forum "$port" --audience "$provider" --loopback-images on
start msgr $((port + 2)) --key "$state/msgr.key" --registration "$state/msgr.json"
start reader $((port + 4)) --key "$state/reader.key" --registration "$state/reader.json" \
    --recordings "$state/recordings" --uploads "$state/uploads"

cat <<DONE
The samples are up, for this machine only. Logs are in $state. Stop them with Ctrl-C.
  forum   http://127.0.0.1:$port (its page)   https://127.0.0.1:$((port + 1)) (devices)
  msgr    http://127.0.0.1:$((port + 2)) (log-in)     https://127.0.0.1:$((port + 3)) (devices)
  reader  http://127.0.0.1:$((port + 4)) (log-in)     https://127.0.0.1:$((port + 5)) (devices)
Devices trust $state/samples.pem. What each does: Sources/Samples.
DONE
wait -n "${pids[@]}"
