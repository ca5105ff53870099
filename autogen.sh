#!/bin/sh
# Makes ./configure from configure.ac; needs autoconf and automake.
set -e
cd "$(dirname "$0")"
exec autoreconf --install --force --warnings=all
