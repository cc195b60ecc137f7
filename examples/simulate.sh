#!/bin/sh
# Cohorts with known truth: the same seed gives the same cohort, whatever the number of threads.
set -eu
voxsift simulate lasso --subjects 60 --features 2000 --nonzero 0.01 --seed 7 -o small
voxsift simulate lasso --subjects 60 --features 2000 --nonzero 0.01 --seed 7 --nthreads 1 -o again
cmp small/features.npy again/features.npy
voxsift info small
voxsift simulate lasso --target diagnosis --seed 7 -o classes
voxsift info classes/participants.tsv
# Brains of which half are perturbed in a sphere; the truth is an overlay as well as a table.
voxsift simulate skfs-linear --subjects 40 --seed 7 --nthreads 1 -o brains
voxsift simulate skfs-linear --subjects 40 --seed 7 -o brains-again
cmp brains/features.npy brains-again/features.npy
voxsift regions brains/truth.nii.gz --threshold 0.5 --atlas schaefer100
voxsift simulate spheres --regions 2 --subjects 60 -o spheres
voxsift fit spheres --target score --lambda-ratio 0.3 -o spheres-model
