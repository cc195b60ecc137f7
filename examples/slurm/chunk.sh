#!/bin/sh
# One task of a job array: its share of the permutations. The array says which chunk it is.
#SBATCH --job-name=voxsift
#SBATCH --cpus-per-task=1
#SBATCH --output=chunk-%a.log
set -eu
voxsift permute learn --target age_at_stroke --nlambda 10 --permutations 40 \
    -o "part-$SLURM_ARRAY_TASK_ID"
