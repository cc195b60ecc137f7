#!/bin/sh
# So many regions, and pairs: what is added in rounds, the best few in each.
set -eu
# The five regions whose lesions tell two kinds of aphasia apart best together, whatever their sizes are.
awk -F '\t' 'NR == 1 || $8 == "Broca" || $8 == "Anomic"' arc/participants.tsv > arc/two.tsv
voxsift cohort arc/two.tsv --image-column lesion --mask-fraction 0.05 --smooth 8 -o two
voxsift fit two --target wab_type --method fgm --groups atlas:schaefer100 --by-size --per-iteration 2 --nselect 5 -o five
cat five/selected.tsv
voxsift check-model five two
voxsift report five --atlas schaefer100 --underlay icbm152 -o five.html
# How far five, ten or twenty voxels are from the best that any number of them could do.
voxsift path two --target wab_type --method fgm --per-iteration 2 --nselect 5,10,20
# Three pairs among half a million tell a diagnosis, and no feature alone does.
voxsift simulate pairs --features 1000 --subjects 200 -o hidden
cat hidden/truth.tsv
voxsift fit hidden --target diagnosis --method fgm --feature-map poly2 --per-iteration 1 --nselect 3 -o found
cat found/pairs.tsv
voxsift report found -o found.html
