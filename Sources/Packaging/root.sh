#!/usr/bin/env bash
# root.sh DIRECTORY PACKAGE…: makes a minimal Debian of this machine's release with these packages, if it is not there
# already. Needs root, debootstrap, and the mirror that apt uses here.
set -euo pipefail
directory=$1
shift
[ ! -e "$directory" ] || exit 0
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mirror=$(apt-get indextargets 'Created-By: Packages' "Codename: $release" 'Component: main' --format '$(REPO_URI)' |
    head -1)
mkdir -p "$(dirname "$directory")"
rm -rf "$directory.new"
debootstrap --variant=minbase --include="$(IFS=, && echo "$*")" "$release" "$directory.new" "$mirror"
rm -rf "$directory.new"/var/cache/apt/archives/*.deb
mv "$directory.new" "$directory"
