#!/bin/sh
# Age from T1-weighted images: which voxels tell it, how sure that is, and what it is worth for people that
# were not learned from.
set -eu
awk 'NR == 1 || NR % 4 != 1' arc/participants.tsv > arc/learn.tsv
awk 'NR == 1 || NR % 4 == 1' arc/participants.tsv > arc/kept.tsv
voxsift cohort arc/learn.tsv --image-column t1w --smooth 8 -o learn
voxsift path learn --target age_at_stroke --confounds sex --nlambda 10
voxsift fit learn --target age_at_stroke --confounds sex --lambda-ratio 0.2 -o age
voxsift check-model age learn
voxsift predict age arc/kept.tsv --image-column t1w
voxsift regions age/weights.nii.gz --connectivity 26 --atlas schaefer100 -o where
# The same as few pieces of the brain whose voxels count alike, along a tree of neighbors.
voxsift fit learn --target age_at_stroke --confounds sex --method fused --lambda-ratio 0.1 -o pieces
voxsift predict pieces arc/kept.tsv --image-column t1w
# Two kinds of aphasia by kernels of lesions: voxels at which people with like damage have the same kind.
awk -F '\t' 'NR == 1 || $8 == "Broca" || $8 == "Anomic"' arc/participants.tsv > arc/kinds.tsv
voxsift cohort arc/kinds.tsv --image-column lesion --mask-fraction 0.05 --smooth 8 -o kinds
voxsift fit kinds --target wab_type --method skfs --laplacian 0.1,1,10 --choose-lambda 5 --nlambda 10 --lambda-ratio 0.05 -o kind
voxsift check-model kind kinds
voxsift report kind --atlas schaefer100 --underlay icbm152 -o kind.html
