#!/bin/sh
# What `make demo` shows: a real table in words, a cohort whose truth is known, and what is in it.
# BUILD is the build directory, the one beside this folder when it is not set.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-$here/../build}
voxsift=$(cd "$BUILD" && pwd)/voxsift
out=$BUILD/demo
mkdir -p "$out"

echo "1. Who is in the Aphasia Recovery Cohort's table?"
echo
"$voxsift" info "$here/arc/participants.tsv"
echo
echo "   114 people after a stroke. wab_aq is how severe their aphasia is (0 to 100), wab_type its"
echo "   kind; these are what images will be asked to predict."
echo
echo "2. A cohort whose truth is known: 100 subjects, 5000 features, 1000 of which count."
echo
"$voxsift" simulate lasso -o "$out/sim" --force
echo
"$voxsift" info "$out/sim"
"$voxsift" info "$out/sim/features.npy"
echo
echo "Open $out/sim/participants.tsv to see the scores, and $out/sim/truth.tsv to see which"
echo "features made them. In Python: numpy.load(\"$out/sim/features.npy\")."
