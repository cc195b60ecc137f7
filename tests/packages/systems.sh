#!/bin/sh
# The archive and the package on fresh systems: systems.sh BUILD VERSION WORK. Debian's systems need root,
# debootstrap and the network; what comes before does not.
#   - all commands of tests/same, static and linked as usual, at 1 and 2 threads: the same bits
#   - another clone of the revision, built in another folder by a user with another umask: the same archive
#   - the archive where there is no system at all (root)
#   - the archive on Debian 11 and 13, with no package of ours
#   - the package on Debian 12: installed with what it depends on, run, removed with nothing left
set -eu
build=$1 version=$2 work=$3
top=$(cd "$(dirname "$0")/../.." && pwd)
name=voxsift-$version-linux-$(uname -m)
python=${PYTHON:-/usr/bin/python3}
mirror=${MIRROR:-http://deb.debian.org/debian}
rm -rf "$work"
mkdir -p "$work/out" "$work/archive"

fail() { echo "FAIL $1" >&2; exit 1; }

for threads in 1 2; do
    (cd "$top" && SAME_BITS=1 SAME_THREADS=$threads "$python" tests/same/same.py "$build/voxsift" "$build/static/voxsift" \
        "$work/same") || fail "static and linked as usual differ at $threads threads"
done

commit=$(git -C "$top" rev-parse HEAD)
if [ -z "$(git -C "$top" status --porcelain)" ]; then
    git clone -q "$top" "$work/another folder"
    (umask 077 && cd "$work/another folder" && git checkout -q "$commit" && mv "$work/another folder" "$work/another" &&
        cd "$work/another" && TZ=Asia/Tokyo make -s -j2 BUILD=made dist > "$work/another.log" 2>&1) || fail "the clone: $work/another.log"
    cmp "$work/another/made/$name.tar.gz" "$build/$name.tar.gz" || fail "another clone makes another archive"
    echo "reproducible: another clone makes the same archive"
else
    echo "NOT TRIED: whether another clone makes the same archive, since this tree has changes"
fi

[ "$(id -u)" -eq 0 ] || fail "NOT TRIED: the systems, which only root may make"

# No system at all: the program, its documents, /proc and /dev/null.
mkdir -p "$work/nothing"
tar -xzf "$build/$name.tar.gz" -C "$work/archive"
unshare -m sh "$top/tests/packages/bare.sh" "$work/archive/$name" "$work/nothing" "$work/out" > "$work/nothing.run" 2>&1 ||
    fail "the archive without a system: $work/nothing.run"
grep -q "the certificate holds" "$work/nothing.run" || fail "no certificate: $work/nothing.run"
rm -rf "$work/out" && mkdir "$work/out"
echo "the archive runs where there is nothing else"

command -v debootstrap > /dev/null || fail "NOT TRIED: Debian 11, 12 and 13; debootstrap (Debian's package) is missing"
for system in bullseye trixie; do # Debian 11 and 13
    debootstrap --variant=minbase "$system" "$work/$system" "$mirror" > "$work/$system.log" 2>&1 || fail "debootstrap: $work/$system.log"
    rm -rf "$work/out" && mkdir "$work/out"
    unshare -m sh "$top/tests/packages/bare.sh" "$work/archive/$name" "$work/$system" "$work/out" > "$work/$system.run" 2>&1 ||
        fail "the archive on $system: $work/$system.run"
    grep -q "the certificate holds" "$work/$system.run" || fail "no certificate: $work/$system.run"
    echo "the archive runs on Debian $(cat "$work/$system/etc/debian_version")"
done

echo "Debian 12 ..."
debootstrap --variant=minbase bookworm "$work/bookworm" "$mirror" > "$work/bookworm.log" 2>&1 || fail "debootstrap: $work/bookworm.log"
deb=$(ls -t "$build"/voxsift_"$version"-*.deb | head -n 1)
cp "$deb" "$work/bookworm/root/voxsift.deb"
state() { # what is there: files but for apt's own, and packages
    (cd "$work/bookworm" && find . \( -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/log -o -path ./tmp \) \
        -prune -o -print | sort)
    dpkg-query --admindir="$work/bookworm/var/lib/dpkg" -W -f '${Package} ${Status}\n'
}
inside() {
    unshare -m sh -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" && cd / && exec chroot "$@"' sh "$work/bookworm" \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"
}
{
    inside apt-get update
    inside apt-get install -y --no-install-recommends libopenblas0 libnifti2-2 libamd2 libdeflate0 libnettle8 libgomp1
    state > "$work/before"
    inside apt-get install -y --no-install-recommends /root/voxsift.deb
    inside voxsift version
    inside sh -c 'cd /usr/share/doc/voxsift && voxsift cohort examples/arc/participants.tsv --image-column t1w --voxel-size 8 -o /tmp/t1w'
    inside sh -c 'cd /tmp && voxsift fit t1w --target age_at_stroke -o age && voxsift report age --atlas schaefer100 -o age.html'
    inside voxsift check-model /tmp/age /tmp/t1w
    inside test -s /usr/share/man/man1/voxsift.1.gz
    inside apt-get purge -y voxsift
    rm -rf "$work"/bookworm/tmp/*
    state > "$work/after"
} > "$work/bookworm.run" 2>&1 || fail "the package on Debian 12: $work/bookworm.run"
grep -q "the certificate holds" "$work/bookworm.run" || fail "no certificate: $work/bookworm.run"
diff "$work/before" "$work/after" || fail "the package leaves something behind"
echo "the package installs, runs and leaves nothing on Debian 12"
rm -rf "$work/bullseye" "$work/trixie" "$work/bookworm" "$work/another"
echo "dist-check: everything passed"
