#!/bin/sh
# What `make demo` shows: real images and a table become cohorts, and a map becomes a region table.
# BUILD is the build directory, the one beside this folder when it is not set.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-$here/../build}
voxsift=$(cd "$BUILD" && pwd)/voxsift
out=$BUILD/demo
mkdir -p "$out"

echo "1. Who is in the Aphasia Recovery Cohort's table?"
echo
"$voxsift" info "$here/arc/participants.tsv"
echo
echo "   114 people after a stroke. wab_aq is how severe their aphasia is (0 to 100), wab_type its"
echo "   kind; these are what images will be asked to predict."
echo
echo "2. Their T1-weighted images become a cohort: joined by id, checked, masked."
echo
"$voxsift" cohort "$here/arc/participants.tsv" --image-column t1w -o "$out/t1w" --force
echo
"$voxsift" info "$out/t1w"
echo
echo "3. So do their lesions, on voxels where at least one person in twenty has one."
echo
"$voxsift" cohort "$here/arc/participants.tsv" --image-column lesion --mask-fraction 0.05 \
    -o "$out/lesion" --force
echo
echo "4. Where do the lesions of more than 60 of them overlap?"
echo
"$voxsift" regions "$out/lesion/coverage.nii.gz" --threshold 60 --min-size 5 --atlas schaefer100 \
    --underlay "$here/../atlases/icbm152/icbm152_t1_2mm.nii.gz" -o "$out/overlap" --force > "$out/table.txt"
awk -F '\t' 'NR > 1 { printf "   %d voxels (%d mm3) around x %.0f, y %.0f, z %.0f mm, at most %d people: %s\n", $3, $4, $9, $10, $11, $8, $14 }' \
    "$out/overlap/clusters.tsv"
echo
echo "Open $out/lesion/coverage.nii.gz in a viewer to see how often each voxel is damaged,"
echo "$out/overlap/clusters.nii.gz for the regions above (FSLeyes: sh $out/overlap/open_fsleyes.sh),"
echo "$out/overlap/clusters.tsv for the table, and $out/t1w/cohort.json for where all of it came from."
