#!/bin/sh
# Cohorts with known truth: the same seed gives the same cohort, whatever the number of threads.
set -eu
voxsift simulate lasso --subjects 60 --features 2000 --nonzero 0.01 --seed 7 -o small
voxsift simulate lasso --subjects 60 --features 2000 --nonzero 0.01 --seed 7 --nthreads 1 -o again
cmp small/features.npy again/features.npy
voxsift info small
voxsift simulate lasso --target diagnosis --seed 7 -o classes
voxsift info classes/participants.tsv
