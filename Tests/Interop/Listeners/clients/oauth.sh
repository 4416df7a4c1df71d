#!/bin/sh
# curl and jq use the service by its metadata alone. The environment has CA, ISSUER, CERTIFICATE and KEY of a device, ASSERTION (an
# identity token), AUDIENCE, and CLIENT_ASSERTION of the provider. It prints the answer of the introspection.
set -eu

server=$(curl -sS --fail --cacert "$CA" "$ISSUER/.well-known/oauth-authorization-server")
at() { printf %s "$server" | jq -er "$1"; }
device() { curl -sS --fail --cacert "$CA" --cert "$CERTIFICATE" --key "$KEY" "$@"; }

session=$(device "$(at .mtls_endpoint_aliases.token_endpoint)" \
    -d grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer --data-urlencode "assertion=$ASSERTION" | jq -er .access_token)
token=$(device "$(at .mtls_endpoint_aliases.token_endpoint)" \
    -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange --data-urlencode "subject_token=$session" \
    -d subject_token_type=urn:ietf:params:oauth:token-type:access_token -d "audience=$AUDIENCE" | jq -er .access_token)

# What the token says, by the key set that it names.
part() { printf %s "$token" | cut -d. -f"$1" | jq -Rr 'gsub("-"; "+") | gsub("_"; "/") | @base64d'; }
kid=$(part 1 | jq -er .kid)
curl -sS --fail --cacert "$CA" "$(at .jwks_uri)" | jq -e --arg kid "$kid" 'any(.keys[]; .kid == $kid)' > /dev/null
part 2 | jq -e --arg issuer "$ISSUER" --arg audience "$AUDIENCE" \
    '.iss == $issuer and .aud == $audience and (.cnf["x5t#S256"] | length) == 43' > /dev/null

bearer=$(curl -sS --fail --cacert "$CA" "$(at .token_endpoint)" -d grant_type=client_credentials \
    -d client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer \
    --data-urlencode "client_assertion=$CLIENT_ASSERTION" | jq -er .access_token)
curl -sS --fail --cacert "$CA" -H "Authorization: Bearer $bearer" "$(at .introspection_endpoint)" \
    --data-urlencode "token=$session" | jq -e .
