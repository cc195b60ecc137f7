#!/bin/sh
# Real images become cohorts: by a table, by names and a table, checked without writing, as regions.
set -eu
voxsift cohort arc/participants.tsv --image-column t1w --dry-run
voxsift cohort arc/participants.tsv --image-column t1w --smooth 8 --scale global -o t1w
voxsift info t1w
voxsift cohort 'arc/lesion/*.nii.gz' --participants arc/participants.tsv --mask-fraction 0.1 -o lesion
voxsift regions lesion/coverage.nii.gz --threshold 40 --connectivity 6 -o overlap
