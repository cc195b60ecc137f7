#!/bin/sh
# When all tasks have ended well: their parts become what one run would have made.
#SBATCH --job-name=voxsift-merge
#SBATCH --output=merge.log
set -eu
voxsift merge part-* -o age-p
