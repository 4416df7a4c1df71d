#!/usr/bin/env bash
# sdk.sh OUT [BRANCH]: writes the package of the SDK as a tree of its own, OUT/countersign-client, and packs it as
# OUT/countersign-client.tar.gz. BRANCH becomes a branch with that tree and its history, as of the last commit.
set -euo pipefail
umask 022
mkdir -p "$1"
out=$(realpath "$1") branch=${2:-}
cd "$(dirname "$(realpath "$0")")/../.."
folder=Sources/SwiftSDK name=countersign-client
git rev-parse --verify --quiet HEAD >/dev/null || {
    echo "The SDK is written from a clone: git knows which files belong to it." >&2
    exit 1
}

# The files as they are, so that a change can be tried before it is committed.
rm -rf "${out:?}/$name"
git ls-files -z "$folder" | while IFS= read -r -d '' file; do
    if [ -f "$file" ]; then install -D -m 0644 "$file" "$out/$name/${file#"$folder"/}"; fi
done
time=$(git log -1 --format=%ct)
tar --create --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$time" --directory "$out" "$name" |
    gzip -9n >"$out/$name.tar.gz"
echo "$out/$name"
echo "$out/$name.tar.gz"

if [ -n "$branch" ]; then
    git subtree split -q --prefix="$folder" --branch="$branch" >/dev/null
    echo "branch $branch"
fi
