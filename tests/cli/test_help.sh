# Every command answers -h on standard output, with nothing else needed, in 80 columns.
commands=$(voxsift help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
same "help lists the commands" "$(echo $commands)" "info regions cohort simulate fit path cv permute stability merge predict report check-model methods version completion help"
works "overview" voxsift help
cp "$work/out" overview
for alias in --help -h; do
    works "voxsift $alias" voxsift $alias
    same "voxsift $alias is the overview" "$(cat "$work/out")" "$(cat overview)"
done
for command in $commands; do
    works "$command -h" voxsift "$command" -h
    cp "$work/out" short
    holds "$command: usage" "usage: voxsift $command" short
    holds "$command: examples" "Examples" short
    works "help $command" voxsift help "$command"
    same "help $command is $command -h" "$(cat "$work/out")" "$(cat short)"
    same "$command: 80 columns" "$(awk 'length > 80 && !/^  voxsift|^  source/' short)" ""
    works "manual of $command" voxsift help --man "$command"
    cp "$work/out" page
    run man --warnings -l page
    same "$command: man has no complaint" "$code$(cat "$work/err")" 0
    for option in $(grep -oE '^ +(-[a-z], )?--[a-z-]+' short | grep -oE -- '--[a-z-]+'); do
        holds "$command: manual has $option" "$(echo "$option" | sed 's/-/\\-/g')" page
    done
done
works "simulate -h" voxsift simulate -h
for words in "skfs-linear  " "spheres  " "(only of fused)" "(not of lasso, fused, pairs)" "default 200" "(only of skfs-linear, skfs-additive,"; do
    holds "help of simulate: $words" "$words" "$work/out"
done
same "overview: 80 columns" "$(awk 'length > 80' overview)" ""
run voxsift
same "no command is misuse" "$code" 2
same "no command shows the overview" "$(cat "$work/err")" "$(cat overview)"
works "version" voxsift version
works "--version" voxsift --version
holds "version says the compiler" "compiler" "$work/out"
works "version --json" voxsift version --json --nthreads 3
same "version --json is JSON" \
    "$("$PYTHON" -c 'import json,sys; d=json.load(open(sys.argv[1])); print(d["threads"], *sorted(d))' "$work/out")" \
    "3 blas commit compiler flags processor threads version warnings"
same "threads: the cores it may use" "$(taskset -c 0 voxsift version | sed -n 's/^threads *//p')" 1
same "threads: SLURM before OpenMP" \
    "$(OMP_NUM_THREADS=5 SLURM_CPUS_PER_TASK=3 voxsift version | sed -n 's/^threads *//p')" 3
same "threads are said when asked" \
    "$(VOXSIFT_NTHREADS=2 voxsift version -v 2>&1 > "$work/out")" \
    "voxsift version: threads: 2 (from VOXSIFT_NTHREADS)"
same "version is the library's" "$(voxsift version | head -n 1)" \
    "voxsift $(sed -n 's/^#define VXS_VERSION *"\(.*\)"/\1/p' "$top/include/voxsift/core.h")"
works "methods" voxsift methods
works "methods --json" voxsift methods --json
same "methods --json is JSON" \
    "$("$PYTHON" -c 'import json,sys; print(type(json.load(open(sys.argv[1]))["methods"]).__name__)' "$work/out")" list
