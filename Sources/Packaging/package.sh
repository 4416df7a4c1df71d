#!/usr/bin/env bash
# package.sh BINARY VERSION OUT: makes OUT/countersign_VERSION_ARCHITECTURE.deb of a built binary, and prints its path.
# COMPRESSION is dpkg-deb's (xz; `none` is quick, for a package that is only looked into). SOURCE_DATE_EPOCH is the time
# that the files bear; the same input then gives the same bytes.
set -euo pipefail
umask 022
binary=$(realpath "$1") version=$2 out=$(realpath "$3")
here=$(dirname "$(realpath "$0")")
root=$(realpath "$here/../..")
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct 2>/dev/null || date +%s)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir -p "$tree/DEBIAN"

put() { # put MODE SOURCE DESTINATION
    install -D -m "$1" "$2" "$tree/$3"
}

# The binary, without symbols.
put 0755 "$binary" usr/bin/countersign
strip --strip-all --remove-section=.comment --remove-section=.note "$tree/usr/bin/countersign"

# Nobody answers mail to this address: put the name of whoever hands the package out in its place.
maintainer=${MAINTAINER:-Countersign <countersign@packages.invalid>}

# Where an administrator looks first: unit, probe, configuration, policies.
put 0644 "$here/debian/countersign.service" usr/lib/systemd/system/countersign.service
put 0755 "$here/container/probe" usr/lib/countersign/probe
put 0644 "$here/debian/countersign.yaml" etc/countersign/countersign.yaml
for policy in "$root"/Policies/*.yaml; do
    put 0644 "$policy" "etc/countersign/policies/${policy##*/}"
done
(cd "$tree" && find etc -type f -printf '/%p\n' | LC_ALL=C sort) >"$tree/DEBIAN/conffiles"

# What the commands say about themselves: the man page and the shells' completions.
countersign() { env --chdir="$work" "$binary" "$@"; }
countersign --experimental-dump-help | python3 "$here/manual.py" "$version" "$SOURCE_DATE_EPOCH" >"$work/countersign.1"
gzip -9n "$work/countersign.1"
put 0644 "$work/countersign.1.gz" usr/share/man/man1/countersign.1.gz
# The file is read by a shell that runs, which is no place for `#!`.
countersign --generate-completion-script bash | sed 1d >"$work/bash"
countersign --generate-completion-script zsh >"$work/zsh"
countersign --generate-completion-script fish >"$work/fish"
put 0644 "$work/bash" usr/share/bash-completion/completions/countersign
put 0644 "$work/zsh" usr/share/zsh/vendor-completions/_countersign
put 0644 "$work/fish" usr/share/fish/vendor_completions.d/countersign.fish

# Documents, examples, and the licences of what is linked in.
documents=usr/share/doc/countersign
python3 "$here/documents.py" "$root" "$tree/$documents"
put 0644 "$here/debian/copyright" "$documents/copyright"
for licence in "$root"/.build/checkouts/*/{LICENSE,NOTICE}*; do
    [ -f "$licence" ] || continue
    project=$(basename "$(dirname "$licence")") kind=$(basename "$licence" .txt)
    put 0644 "$licence" "$documents/linked/${project,,}-$(basename "${kind,,}" .md)"
done
put 0644 "$root/Sources/PhoneNumbers/NOTICE.md" "$documents/linked/libphonenumber-notice"
# The notes of the release, each as an item. The binary names the commit.
{
    printf 'countersign (%s) unstable; urgency=medium\n\n' "$version"
    sed -n "/^## ${version//./\\.}\$/,/^## /{s/^- /  * /p; s/^  \([^ *]\)/    \1/p}" "$here/Changes.md"
    printf '  * Built from source: %s\n\n' "$(countersign --version)"
    printf ' -- %s  %s\n' "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
} >"$work/changelog"
gzip -9n "$work/changelog"
put 0644 "$work/changelog.gz" "$documents/changelog.gz"
put 0644 "$here/debian/lintian-overrides" usr/share/lintian/overrides/countersign

# The libraries that the binary asks for, as the packages that bring them. Those of Swift's runtime have none: a binary
# that needs them (a debug one) cannot be installed elsewhere, and is only looked into.
mkdir -p "$work/debian"
printf 'Source: countersign\n\nPackage: countersign\nArchitecture: any\n' >"$work/debian/control"
libraries=$(cd "$work" && dpkg-shlibdeps --ignore-missing-info -O "tree/usr/bin/countersign" 2>"$work/warnings" |
    sed -n 's/^shlibs:Depends=//p')
[ -n "$libraries" ] || { cat "$work/warnings" >&2; exit 1; }
cat >"$tree/DEBIAN/control" <<EOF
Package: countersign
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: $maintainer
Section: net
Priority: optional
Installed-Size: $(du -sk --apparent-size "$tree" | cut -f1)
Depends: $libraries, adduser, ca-certificates
Recommends: openssl
Description: federated authentication service that binds sessions to devices
 Countersign lets apps prove who their users are without holding their
 passwords. It certifies devices, opens sessions for users whom a provider's
 backend vouches for, proves phone numbers and identity cards, and enforces bans
 within a second.
 .
 The service is not started by the installation: it needs keys first, see
 /usr/share/doc/countersign/README.Debian.
 .
 Built from source: $(countersign --version).
EOF
for script in postinst prerm postrm; do
    install -m 0755 "$here/debian/$script" "$tree/DEBIAN/$script"
done
(cd "$tree" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
chmod 0644 "$tree"/DEBIAN/{md5sums,conffiles,control}

package=$out/countersign_${version}_$(dpkg --print-architecture).deb
dpkg-deb --root-owner-group -Z"${COMPRESSION:-xz}" --build "$tree" "$package" >/dev/null
echo "$package"
