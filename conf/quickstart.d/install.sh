#!/usr/bin/env bash
# install.sh PACKAGE...: apt-get install, as root, that starts no service now and at no later boot.
set -euo pipefail

policy=/usr/sbin/policy-rc.d
saved=''

restore()
{
    rm -f "$policy"
    if [ -n "$saved" ]; then mv "$saved" "$policy"; fi
}

if [ -e "$policy" ]; then
    saved=$(mktemp "$policy.XXXXXX")
    cp -p "$policy" "$saved"
fi
trap restore EXIT
# Maintainer scripts ask this program before they start anything; 101 is "no".
printf '#!/bin/sh\nexit 101\n' >"$policy"
chmod 755 "$policy"

export DEBIAN_FRONTEND=noninteractive
apt-get -q update
apt-get -q -y -o Dpkg::Use-Pty=0 --no-install-recommends install "$@"

# What came with a package just installed would start at the next boot.
for package; do
    if [ -e "/lib/systemd/system/$package.service" ]; then
        # The helper speaks to maintainer scripts only.
        DPKG_MAINTSCRIPT_PACKAGE=$package deb-systemd-helper disable "$package.service"
    fi
    if [ -e "/etc/init.d/$package" ]; then update-rc.d "$package" disable; fi
done
