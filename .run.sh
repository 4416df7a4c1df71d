#!/usr/bin/env bash
# Starts the service in development mode and the sample provider, walks the tour once, and stays up until it is stopped
# (`make run`). It builds nothing. It acts in the directory where it is called: Keys, Policies, and .run for what it writes.
# Its exit code is 0 if it was stopped by SIGINT or SIGTERM, else that of what failed: a start, the tour, a process.
#
#   COUNTERSIGN_PUBLIC, COUNTERSIGN_CLIENT, COUNTERSIGN_OPS, COUNTERSIGN_CONSOLE
#                            the listeners' addresses, as for `countersign serve`: 127.0.0.1:8440, :8441, :8442 and :8443
#   SAMPLE_PROVIDER_PORT     the sample provider's port on 127.0.0.1: 8450
#   COUNTERSIGN_BIN          where countersign and sample-provider are: where `swift build` puts them
set -euo pipefail
public=${COUNTERSIGN_PUBLIC:-127.0.0.1:8440}
client=${COUNTERSIGN_CLIENT:-127.0.0.1:8441}
ops=${COUNTERSIGN_OPS:-127.0.0.1:8442}
console=${COUNTERSIGN_CONSOLE:-127.0.0.1:8443}
provider=127.0.0.1:${SAMPLE_PROVIDER_PORT:-8450}
bin=${COUNTERSIGN_BIN:-$(swift build --show-bin-path)}
state=.run
mkdir -p "$state"
chmod 700 "$state"
store=sqlite:$state/development.db
places=(--keys Keys --policies Policies --store "$store")

# Commands that are given in this directory find the same store, where there is no countersign.yaml of somebody's own. It
# names nothing else: what lies beside the store would be wrong with another --store.
cat >"$state/countersign.yaml" <<EOF
# Written by \`make run\` at each start.
store: $store
EOF

# Settings of an operator's own, in the environment or in a countersign.yaml here, are for another service.
for variable in $(compgen -e COUNTERSIGN_); do unset "$variable"; done
cs() { # countersign with the places of this service
    "$bin/countersign" "$@" "${places[@]}"
}

cs keys init
[ -e "$state/provider.key" ] || (umask 077 && openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:2048 \
    -out "$state/provider.key")
openssl pkey -in "$state/provider.key" -pubout -out "$state/provider.pem"
if [ ! -s "$state/provider.json" ] || [ ! -e "$state/development.db" ]; then
    cs store migrate --development
    cs provider add --name "Sample provider" --slug sample --key "$state/provider.pem" --json >"$state/provider.new"
    mv "$state/provider.new" "$state/provider.json"
fi

# The certificate of the first administrator, for a year. If it was deleted, there is a new one.
admin=$state/admin.p12
if [ ! -e "$admin" ]; then
    end=$(date -u -d '+1 year' +%F)
    (umask 077
        cs admin add admin --role security --out "$admin" --until "$end" --json >"$state/admin.json" 2>/dev/null \
            || cs admin renew admin --out "$admin" --until "$end" --json >"$state/admin.json")
fi
password=$(sed -n 's/.*"password":"\([^"]*\)".*/\1/p' "$state/admin.json")

pids=()
trap 'for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done; wait' EXIT
trap 'exit 0' INT TERM

ready() { # waits until a process wrote its ready line, or ended
    for _ in $(seq 400); do
        grep -q '"ready":true' "$2" 2>/dev/null && return 0
        kill -0 "$1" 2>/dev/null || break
        sleep 0.05
    done
    echo "It did not start: see $3" >&2
    tail -n 5 "$3" >&2
    return 1
}

# Each setting that a countersign.yaml of an operator's own could hold is given here, which goes before it.
"$bin/countersign" serve --development "${places[@]}" --public "$public" --client "$client" --ops "$ops" --console "$console" \
    --realm localhost --base-url "https://$public" --client-url "https://$client" --limits off \
    --texts "$state/texts.jsonl" >"$state/serve.out" 2>"$state/serve.log" &
pids+=($!)
ready "${pids[0]}" "$state/serve.out" "$state/serve.log"
"$bin/sample-provider" --port "${provider##*:}" --service "https://$public" --ca Keys/ca.pem --key "$state/provider.key" \
    --registration "$state/provider.json" --users "$state/users.json" >"$state/provider.out" 2>"$state/provider.log" &
pids+=($!)
ready "${pids[1]}" "$state/provider.out" "$state/provider.log"

cs tour --public "https://$public" --client "https://$client" --provider "http://$provider" --texts "$state/texts.jsonl" \
    --console "https://$console" --administrator "$state/admin.json"
countersign=$(realpath --relative-to=. "$bin")/countersign
cat <<EOF

The service is up in development mode, for this machine only: public https://$public, client https://$client,
ops http://$ops, the admin console https://$console, the sample provider http://$provider. Logs are in $state. Stop it with Ctrl-C.
Try next, in another terminal in this directory:
  $countersign status                    what is live
  $countersign inbox                     the texts that were sent, and why one was not
  $countersign sample card --state CA    a card to show; +1 202 555 0100 to 0199 have the code 000000
  $countersign audit tail --follow       what happens, as it happens
  curl --cacert Keys/ca.pem --cert-type P12 --cert $admin:$password -H 'Sec-Fetch-Site: none' https://$console/
                                         the start page of the admin console
  make hello IN=python                   your backend in six languages: Sources/QuickStarts
To open the admin console in a browser, import $admin (password $password) as your
certificate and Keys/ca.pem as an authority for websites, then open https://$console.
Begin anew with rm -r $state.
EOF
wait -n "${pids[@]}"
