# A disk that fills up: one line, exit 73, nothing left; an older output stays.
full() { # where the small disk is
    refuses 73 "cannot write '$1/x/features.npy'" voxsift simulate lasso --features 50000 -o "$1/x"
    same "nothing is left on the disk" "$(ls -A "$1")" ""
    voxsift simulate lasso --features 20 -o "$1/x" > /dev/null && cp -R "$1/x" before
    refuses 73 "cannot write '$1/x/features.npy'" \
        voxsift simulate lasso --features 50000 -o "$1/x" --force
    run diff -r before "$1/x"
    same "the old output is whole" "$code" 0
    rm -r before "$1/x"
}
mkdir small
if mount -t tmpfs -o size=2m none small 2> /dev/null; then
    full small
    umount small
else
    skip "no small disk could be mounted here; a limit on file size stands in"
fi
limited() { ( ulimit -f 1000; "$@" ); }
refuses 73 "cannot write 'small/x/features.npy': File too large" \
    limited voxsift simulate lasso --features 50000 -o small/x
refuses 73 "cannot write 'small/x/features.npy': File too large" \
    limited voxsift simulate skfs-linear --subjects 40 -q -o small/x
refuses 73 ".nii.gz': File too large" limited voxsift simulate skfs-linear --subjects 4 \
    --voxel-size 1.5 --radius 1 --write-images -q -o small/x
printf '1 1:1 200000:1\n2 2:1\n' > wide.svm
refuses 73 "cannot write 'small/x/features.starts.npy': File too large" \
    limited voxsift cohort --svmlight wide.svm -o small/x
rm wide.svm
voxsift simulate skfs-linear --subjects 40 --write-images -q -o pictures > /dev/null
refuses 73 "cannot write 'small/x/features.npy' (" limited voxsift cohort pictures/sub-*.nii.gz --mask pictures/mask.nii.gz -q -o small/x
same "how much" "$(grep -cE 'features.npy. \([1-9][0-9.]* MB\): File too large' "$work/err")" 1
rm -r pictures
rmdir small
nothing_left "disk full"
