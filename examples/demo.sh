#!/bin/sh
# What `make demo` runs: a study of real images, from the table to models and reports.
# BUILD is the build directory; default: the one next to this folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-$here/../build}
BUILD=$(cd "$BUILD" && pwd)
voxsift=$BUILD/voxsift
out=$BUILD/demo
mkdir -p "$out"

echo "1. Who is in the Aphasia Recovery Cohort's table?"
echo
"$voxsift" info "$here/arc/participants.tsv"
echo
echo "   114 people after a stroke. wab_aq is the severity of their aphasia (0 to 100, lower is more"
echo "   severe), wab_type its kind."
echo
echo "2. Join the T1-weighted images to the table, check and mask them: a cohort."
echo
"$voxsift" cohort "$here/arc/participants.tsv" --image-column t1w -o "$out/t1w" --force
echo
"$voxsift" info "$out/t1w"
echo
echo "3. The same for the lesion maps, with the voxels that are damaged in at least 5 % of the people."
echo
"$voxsift" cohort "$here/arc/participants.tsv" --image-column lesion --mask-fraction 0.05 \
    -o "$out/lesion" --force
echo
echo "4. Where do the lesions of at least 60 people overlap?"
echo
"$voxsift" regions "$out/lesion/coverage.nii.gz" --threshold 60 --min-size 5 --atlas schaefer100 \
    --underlay "$here/../atlases/icbm152/icbm152_t1_2mm.nii.gz" -o "$out/overlap" --force > "$out/table.txt"
awk -F '\t' 'NR > 1 { printf "   %d voxels (%d mm3) around x %.0f, y %.0f, z %.0f mm, at most %d people: %s\n", $3, $4, $9, $10, $11, $8, $15 }' \
    "$out/overlap/clusters.tsv"
echo
echo "5. Predict the severity of aphasia from lesion maps, and age from T1-weighted images."
echo "   Three of four people are the training set, every fourth is in the test set."
echo
table=$here/arc/participants.tsv
awk 'NR == 1 || NR % 4 != 1' "$table" | sed "s#\tlesion/#\t$here/arc/lesion/#; s#\tt1w/#\t$here/arc/t1w/#" > "$out/training.tsv"
awk 'NR == 1 || NR % 4 == 1' "$table" | sed "s#\tlesion/#\t$here/arc/lesion/#; s#\tt1w/#\t$here/arc/t1w/#" > "$out/test.tsv"
train() { # images, column, words, unit, more options of 'voxsift cohort'
    images=$1 column=$2 words=$3 unit=$4
    shift 4
    "$voxsift" cohort "$out/training.tsv" --image-column "$images" "$@" -o "$out/training_$images" --force -q > "$out/log.txt"
    "$voxsift" fit "$out/training_$images" --target "$column" -o "$out/$column" --force > "$out/log.txt"
    echo "   $words from $images:"
    sed -n '2,3s/^/   /p' "$out/log.txt"
    "$voxsift" check-model "$out/$column" "$out/training_$images" | sed -n '1s/^/     check-model, by independent code: /p'
    "$voxsift" predict "$out/$column" "$out/test.tsv" --image-column "$images" --json -q > "$out/$column.json"
    awk -v unit="$unit" '/"subjects":/ { n = $2 + 0 } /"r":/ { r = $2 + 0 } /"mae":/ { e = $2 + 0 }
        END { printf "     %d test subjects: correlation %.2f, mean absolute error %.1f %s\n", n, r, e, unit }' "$out/$column.json"
    "$voxsift" regions "$out/$column/weights.nii.gz" --connectivity 26 --atlas schaefer100 \
        --underlay "$here/../atlases/icbm152/icbm152_t1_2mm.nii.gz" -o "$out/${column}_regions" --force > "$out/log.txt"
    awk -F '\t' 'NR > 1 && NR <= 4 { printf "     weight %+.3g per unit of the image at x %.0f, y %.0f, z %.0f mm%s\n", $8, $5, $6, $7,
        $14 == "n/a" ? "" : ": " $14 }' "$out/${column}_regions/clusters.tsv"
    echo
}
train lesion wab_aq "Severity of aphasia" points --mask-fraction 0.05 --smooth 8
train t1w age_at_stroke "Age" years --smooth 8
echo "6. How accurate is that, and more accurate than the sum of all voxels (the lesion volume), or than a linear"
echo "   model that weighs all voxels and selects none?"
echo "   Nested cross-validation, repeated with five random splits into folds."
echo
judge() { # images, column, words, more options of 'voxsift cohort'
    images=$1 column=$2 words=$3
    shift 3
    "$voxsift" cohort "$table" --image-column "$images" "$@" -o "$out/all_$images" --force -q > "$out/log.txt"
    "$voxsift" cv "$out/all_$images" --target "$column" --repeats 5 -o "$out/${column}_cv" --force -q > "$out/log.txt"
    echo "   $words from $images:"
    sed -n -e '3,7s/^/   /p' -e '/^  mean absolute error/,/dense linear/s/^/   /p' -e '/^  .*correlation r .*\(baseline\|linear model\)/s/^/   /p' "$out/log.txt"
    "$voxsift" report "$out/${column}_cv" --atlas schaefer100 --underlay icbm152 -o "$out/${column}_report.html" --force > "$out/log.txt"
    echo "     the report: $out/${column}_report.html"
    echo
}
judge lesion wab_aq "Severity of aphasia" --mask-fraction 0.05 --smooth 8
judge t1w age_at_stroke Age --smooth 8
echo "7. Which areas of the brain predict age, if neighboring voxels share one weight? The fused lasso on the"
echo "   grid of all voxels, with a bound on how much better any other map could fit."
echo
"$voxsift" fit "$out/all_t1w" --target age_at_stroke --method fused --graph grid6 --sparsity 1 --lambda-ratio 0.2 \
    -o "$out/areas" --force > "$out/log.txt"
sed -n '2,4s/^/   /p' "$out/log.txt"
"$voxsift" check-model "$out/areas" "$out/all_t1w" | sed -n '1s/^/     check-model, by independent code: /p'
"$voxsift" report "$out/areas" --atlas schaefer100 --underlay icbm152 -o "$out/areas_report.html" --force > "$out/log.txt"
echo "     the report: $out/areas_report.html"
echo
echo "Open $out/lesion/coverage.nii.gz in a viewer to see how often each voxel is damaged,"
echo "$out/wab_aq/weights.nii.gz for the voxels that predict severity (FSLeyes: sh $out/wab_aq_regions/open_fsleyes.sh),"
echo "$out/wab_aq_regions/clusters.tsv for the table, and $out/wab_aq/model.json for the certificate."
