#!/bin/sh
# The tests in a build with sanitizers: sanitized.sh address|thread. BUILD is its directory, COMPILER
# the compiler with its flags.
set -eu
export OPENBLAS_NUM_THREADS=1 VXS_TEST_DIR="$BUILD/work"
export ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A sanitizer that sees nothing is worse than none: it must see these first.
blind() { echo "the sanitizer does not see: $1"; exit 1; }
if [ "$1" = thread ]; then
    archer=$(ls /usr/lib/llvm-*/lib/libarcher.so 2> /dev/null | tail -n 1)
    [ -z "$archer" ] || export OMP_TOOL_LIBRARIES="$archer"
    cat > "$work/race.c" << 'EOF'
int main(void)
{
    int sum = 0;
#pragma omp parallel for num_threads(4)
    for (int i = 0; i < 100000; i++)
        sum += i;
    return sum == 1;
}
EOF
    $COMPILER -o "$work/race" "$work/race.c"
    "$work/race" > /dev/null 2>&1 && blind "a race"
else
    echo 'int main(int n, char **v) { char *a = __builtin_malloc(8); a[7 + n] = **v; return a[0]; }' > "$work/over.c"
    echo 'int main(int n, char **v) { return 2147483647 + n > **v; }' > "$work/signed.c"
    echo 'int main(void) { for (int i = 0; i < 9; i++) { char *volatile a = __builtin_malloc(8); a = 0; } }' > "$work/leak.c"
    for fault in over signed leak; do
        $COMPILER -o "$work/$fault" "$work/$fault.c"
        "$work/$fault" > /dev/null 2>&1 && blind "$fault"
    done
    # Criterion does not look at how a test's process ends, which is when leaks are found.
    ASAN_OPTIONS="$ASAN_OPTIONS:log_path=$work/found" sh tests/unit.sh "$BUILD/unit"
    if ls "$work"/found.* > /dev/null 2>&1; then
        cat "$work"/found.*
        echo "the unit tests pass, but the sanitizer found this"
        exit 1
    fi
    for reader in tsv json npy nifti; do
        "$BUILD/replay" "$reader" tests/fuzz/seeds/$reader/*
    done
    # directories that were edited: those that once broke a command, then some by chance, always the same
    mutate="${PYTHON:-/usr/bin/python3} tests/fuzz/mutate.py $BUILD/voxsift $BUILD/mutate"
    $mutate --replay tests/fuzz/cases/*.json
    $mutate --cases 25
    for command in $("$BUILD/voxsift" help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p'); do
        "$BUILD/voxsift" help "$command" > /dev/null
        "$BUILD/voxsift" help --man "$command" > /dev/null
    done
    for shell in bash zsh fish; do "$BUILD/voxsift" completion $shell > /dev/null; done
fi
"$BUILD/threaded"
"$BUILD/voxsift" simulate lasso --features 20000 --nthreads 4 -o "$work/sim" > /dev/null
"$BUILD/voxsift" info "$work/sim" --json > /dev/null
"$BUILD/voxsift" info "$work/sim/features.npy" > /dev/null
"$BUILD/voxsift" info "$work/sim/participants.tsv" > /dev/null
"$BUILD/voxsift" cohort examples/arc/participants.tsv --image-column t1w --smooth 8 --scale z \
    --nthreads 4 -o "$work/t1w" > /dev/null
"$BUILD/voxsift" cohort 'examples/arc/lesion/*.nii.gz' --mask-fraction 0.1 --voxel-size 8 \
    --participants examples/arc/participants.tsv --nthreads 4 -o "$work/lesion" > /dev/null
"$BUILD/voxsift" regions "$work/lesion/coverage.nii.gz" --threshold 20 -o "$work/overlap" \
    --atlas atlases/schaefer2018/Schaefer2018_100Parcels_7Networks_order_FSLMNI152_2mm.nii.gz > /dev/null
echo "sanitized ($1): clean"
