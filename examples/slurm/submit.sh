#!/bin/sh
# Submits the array and the merge behind it, from the folder in which the cohort `learn` is:
#   sh slurm/submit.sh
set -eu
here=$(dirname "$0")
array=$(sbatch --parsable "$here/chunk.sh")
merge=$(sbatch --parsable --dependency=afterok:"$array" "$here/merge.sh")
echo "array $array, then $merge; age-p is there when it has ended"
