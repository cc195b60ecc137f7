#!/bin/sh
# bare.sh TREE SYSTEM OUT: the unpacked TREE, read-only, in SYSTEM, a folder with nothing in it or with another
# system, run by a user who may write into OUT alone. Root, in a mount namespace of its own.
set -eu
tree=$1 system=$2 out=$3
mkdir -p "$system/proc" "$system/dev" "$system/opt/voxsift" "$system/out"
touch "$system/dev/null" # where there is none
chmod 755 "$system"
chmod 777 "$out"
mount --bind "$tree" "$system/opt/voxsift"
mount -o remount,bind,ro "$system/opt/voxsift"
mount --bind /dev/null "$system/dev/null"
mount --bind "$out" "$system/out"
mount -t proc proc "$system/proc"

voxsift() {
    env -i PATH="$PATH" VOXSIFT_NTHREADS="${VOXSIFT_NTHREADS:-1}" chroot --userspec=65534:65534 "$system" /opt/voxsift/bin/voxsift "$@"
}
arc=/opt/voxsift/share/doc/voxsift/examples/arc
voxsift version
voxsift info schaefer200
voxsift cohort $arc/participants.tsv --image-column t1w --voxel-size 8 -o /out/t1w
voxsift fit /out/t1w --target age_at_stroke --confounds sex --lambda-ratio 0.3 -o /out/age
voxsift check-model /out/age /out/t1w
voxsift report /out/age --atlas schaefer100 --underlay icbm152 -o /out/age.html
umount "$system/proc"
voxsift info schaefer100 # found without /proc
