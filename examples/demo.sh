#!/bin/sh
# What `make demo` shows: real images and a table become cohorts, models and pages to read.
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
awk -F '\t' 'NR > 1 { printf "   %d voxels (%d mm3) around x %.0f, y %.0f, z %.0f mm, at most %d people: %s\n", $3, $4, $9, $10, $11, $8, $15 }' \
    "$out/overlap/clusters.tsv"
echo
echo "5. Does it take a brain image to tell how severe the aphasia is, and how old somebody is?"
echo "   Three of four people are learned from; every fourth is kept back and never looked at."
echo
table=$here/arc/participants.tsv
awk 'NR == 1 || NR % 4 != 1' "$table" | sed "s#\tlesion/#\t$here/arc/lesion/#; s#\tt1w/#\t$here/arc/t1w/#" > "$out/learn.tsv"
awk 'NR == 1 || NR % 4 == 1' "$table" | sed "s#\tlesion/#\t$here/arc/lesion/#; s#\tt1w/#\t$here/arc/t1w/#" > "$out/kept.tsv"
learn() { # images, column, words, unit, more options of 'voxsift cohort'
    images=$1 column=$2 words=$3 unit=$4
    shift 4
    "$voxsift" cohort "$out/learn.tsv" --image-column "$images" "$@" -o "$out/learn_$images" --force -q > "$out/log.txt"
    "$voxsift" fit "$out/learn_$images" --target "$column" -o "$out/$column" --force > "$out/log.txt"
    echo "   $words from $images:"
    sed -n '2,3s/^/   /p' "$out/log.txt"
    "$voxsift" check-model "$out/$column" "$out/learn_$images" | sed -n '1s/^/     checked by other means: /p'
    "$voxsift" predict "$out/$column" "$out/kept.tsv" --image-column "$images" --json -q > "$out/$column.json"
    awk -v unit="$unit" '/"subjects":/ { n = $2 + 0 } /"r":/ { r = $2 + 0 } /"mae":/ { e = $2 + 0 }
        END { printf "     the %d kept back: correlation %.2f, off by %.1f %s on average\n", n, r, e, unit }' "$out/$column.json"
    "$voxsift" regions "$out/$column/weights.nii.gz" --connectivity 26 --atlas schaefer100 \
        --underlay "$here/../atlases/icbm152/icbm152_t1_2mm.nii.gz" -o "$out/${column}_regions" --force > "$out/log.txt"
    awk -F '\t' 'NR > 1 && NR <= 4 { printf "     weight %+.3g per unit at x %.0f, y %.0f, z %.0f mm%s\n", $8, $5, $6, $7,
        $14 == "n/a" ? "" : ": " $14 }' "$out/${column}_regions/clusters.tsv"
    echo
}
learn lesion wab_aq "Severity of aphasia" points --mask-fraction 0.05 --smooth 8
learn t1w age_at_stroke "Age" years --smooth 8
echo "6. How good is that for anybody, and is it more than the volume of the lesion tells?"
echo "   Everybody is predicted by models that had not seen them, five times dealt anew."
echo
judge() { # images, column, words, more options of 'voxsift cohort'
    images=$1 column=$2 words=$3
    shift 3
    "$voxsift" cohort "$table" --image-column "$images" "$@" -o "$out/all_$images" --force -q > "$out/log.txt"
    "$voxsift" cv "$out/all_$images" --target "$column" --repeats 5 -o "$out/${column}_cv" --force -q > "$out/log.txt"
    echo "   $words from $images:"
    sed -n -e '3,6s/^/   /p' -e '/^  mae/,/volume/s/^/   /p' "$out/log.txt"
    "$voxsift" report "$out/${column}_cv" --atlas schaefer100 --underlay icbm152 -o "$out/${column}_report.html" --force > "$out/log.txt"
    echo "     all of it on a page: $out/${column}_report.html"
    echo
}
judge lesion wab_aq "Severity of aphasia" --mask-fraction 0.05 --smooth 8
judge t1w age_at_stroke Age --smooth 8
echo "7. Which pieces of the whole brain tell age, when neighbors are to count alike? The fused lasso on the"
echo "   grid of all voxels, and a bound that no other map on it can pass."
echo
"$voxsift" fit "$out/all_t1w" --target age_at_stroke --method fused --graph grid6 --sparsity 1 --lambda-ratio 0.2 \
    -o "$out/pieces" --force > "$out/log.txt"
sed -n '2,4s/^/   /p' "$out/log.txt"
"$voxsift" check-model "$out/pieces" "$out/all_t1w" | sed -n '1s/^/     checked by other means: /p'
"$voxsift" report "$out/pieces" --atlas schaefer100 --underlay icbm152 -o "$out/pieces_report.html" --force > "$out/log.txt"
echo "     the pieces on a page: $out/pieces_report.html"
echo
echo "Open $out/lesion/coverage.nii.gz in a viewer to see how often each voxel is damaged,"
echo "$out/wab_aq/weights.nii.gz for the voxels that tell severity (FSLeyes: sh $out/wab_aq_regions/open_fsleyes.sh),"
echo "$out/wab_aq_regions/clusters.tsv for the table, and $out/wab_aq/model.json for the certificate."
