#!/usr/bin/env bash
# enter.sh ROOT SOURCE BUILD SERVER: runs scenario.py on a copy of this machine that nothing leaves.
#
# Called with namespaces of its own (mounts, processes, network). What is written to the machine's
# tree goes to memory at ROOT; /tmp and /run are empty; the port 80 is this copy's.
set -euo pipefail
root=$1 source=$2 build=$3 server=$4

mount -t tmpfs -o mode=755 tmpfs "$root"
mkdir "$root/upper" "$root/work" "$root/tree"
mount -t overlay overlay -o "lowerdir=/,upperdir=$root/upper,workdir=$root/work" "$root/tree"
tree=$root/tree
mount -t proc proc "$tree/proc"
mount --rbind /dev "$tree/dev"
mount -t tmpfs -o mode=755 tmpfs "$tree/run"
mount -t tmpfs -o mode=1777 tmpfs "$tree/tmp"
for folder in "$source" "$build"; do
    mkdir -p "$tree$folder"
    mount --bind "$folder" "$tree$folder"
done
mkdir -p "$tree/run/lock"
ip link set lo up
cd "$tree"
exec chroot "$tree" /usr/bin/env -i \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    HOME=/root LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 \
    /usr/bin/python3 "$source/tests/installed/scenario.py" "$server" "$build"
