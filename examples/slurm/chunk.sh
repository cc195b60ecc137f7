#!/bin/sh
# One task of a job array: one of 10 chunks of the permutations. The number of chunks stands here, so
# that a task that failed can be computed again alone:  sbatch --array=2 slurm/chunk.sh
# --resume goes on from the checkpoint that a stopped task leaves, and begins anew where there is none.
#SBATCH --job-name=voxsift
#SBATCH --array=1-10
#SBATCH --cpus-per-task=1
#SBATCH --output=chunk-%a.log
set -eu
voxsift permute learn --target age_at_stroke --nlambda 10 --permutations 40 \
    --chunk "$SLURM_ARRAY_TASK_ID/10" --resume -o "part-$SLURM_ARRAY_TASK_ID"
