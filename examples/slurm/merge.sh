#!/bin/sh
# After all tasks have ended well: their parts become what one run would have made. A part that is
# missing is named; after its task was computed again:  sbatch slurm/merge.sh
#SBATCH --job-name=voxsift-merge
#SBATCH --output=merge.log
set -eu
voxsift merge part-* -o age-p
