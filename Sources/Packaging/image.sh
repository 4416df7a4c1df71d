#!/usr/bin/env bash
# image.sh ROOT PACKAGE OUT: makes OUT, an OCI image layout, of the package and a minimal root that has what it depends
# on. The image's tag is the package's version. Needs root and umoci. container/Containerfile says the same to a container
# engine.
set -euo pipefail
root=$(realpath "$1") package=$(realpath "$2") out=$3
version=$(dpkg-deb -f "$package" Version)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf "$out"
umoci init --layout "$out"
umoci new --image "$out:$version"
umoci unpack --image "$out:$version" "$work/bundle"
tree=$work/bundle/rootfs
cp -a "$root/." "$tree"
cp "$package" "$tree/countersign.deb"
# The account has the same number on every host, so that volumes keep their owner.
chroot "$tree" sh -euc '
    addgroup --quiet --gid 10001 countersign
    adduser --quiet --disabled-password --gecos Countersign --shell /usr/sbin/nologin --uid 10001 --gid 10001 \
        --home /var/lib/countersign --no-create-home countersign
    dpkg --install /countersign.deb
    rm -rf /countersign.deb /var/lib/apt/lists/* /var/cache/apt/* /var/cache/debconf/*-old /var/log/*'
umoci repack --image "$out:$version" "$work/bundle"
umoci config --image "$out:$version" --clear=config.cmd --config.user 10001:10001 --config.workingdir /etc/countersign \
    --config.entrypoint /usr/bin/countersign --config.cmd serve --config.stopsignal SIGTERM \
    --config.env COUNTERSIGN_PUBLIC=0.0.0.0:8440 --config.env COUNTERSIGN_CLIENT=0.0.0.0:8441 \
    --config.exposedports 8440/tcp --config.exposedports 8441/tcp --config.volume /var/lib/countersign
umoci gc --layout "$out"
