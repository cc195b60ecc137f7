# Every command answers -h and --help on standard output, with nothing else needed, in 80 columns and few lines.
commands=$(voxsift help | sed '/^Help$/,$d' | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
same "help lists the commands" "$(echo $commands)" "info regions match cohort patches simulate fit path cv permute stability compare merge predict report check-model methods version describe completion help"
works "overview" voxsift help
cp "$work/out" overview
for alias in --help -h; do
    works "voxsift $alias" voxsift $alias
    same "voxsift $alias is the overview" "$(cat "$work/out")" "$(cat overview)"
done
for command in $commands; do
    works "$command -h" voxsift "$command" -h
    cp "$work/out" short
    holds "$command -h: usage" "usage: voxsift $command" short
    same "$command -h: at most 33 lines" "$(awk 'END { print (NR <= 33) }' short)" 1
    works "$command --help" voxsift "$command" --help
    cp "$work/out" long
    holds "$command: usage" "usage: voxsift $command" long
    holds "$command: example" "Example" long
    [ "$command" = simulate ] || same "$command: no option without a heading" "$(grep -c '^Options$' long)" 0
    works "help $command" voxsift help "$command"
    same "help $command is $command --help" "$(cat "$work/out")" "$(cat long)"
    same "$command: 80 columns" "$(cat short long | awk 'length > 80 && !/^  voxsift|^  source/')" ""
    works "manual of $command" voxsift help --man "$command"
    cp "$work/out" page
    run man --warnings -l page
    same "$command: man has no complaint" "$code$(cat "$work/err")" 0
    for option in $(grep -oE '^ +(-[a-z], )?--[a-zA-Z0-9-]+' long | grep -oE -- '--[a-zA-Z0-9-]+'); do
        holds "$command: manual has $option" "$(echo "$option" | sed 's/-/\\-/g')" page
    done
done

# Each method: the options that apply to it and no others, and a page.
works "methods" voxsift methods
cp "$work/out" table
same "methods: 80 columns" "$(awk 'length > 80' table)" ""
for method in $(voxsift methods --json | "$PYTHON" -c 'import json,sys; print(*(m["name"] for m in json.load(sys.stdin)["methods"]))'); do
    holds "methods: $method" "$method " table
    for command in fit path cv permute stability; do
        run voxsift "$command" --method "$method" -h
        same "$command --method $method -h" "$code$(awk 'END { print (NR <= 50) }' "$work/out")" 01
        run voxsift "$command" --help --method "$method"
        cp "$work/out" long
        holds "$command --help of $method" "The options are those of method '$method'" long
        same "$command --help of $method: 80 columns" "$(awk 'length > 80 && !/^  voxsift/' long)" ""
        for heading in "Data and target" Covariates Model Hyperparameters Output Performance; do
            same "$command of $method: $heading" "$(grep -cx "$heading" long)" 1
        done
    done
    run voxsift fit --help --method "$method"
    same "fit of $method: fewer than 90 lines" "$(awk 'END { print (NR < 90) }' "$work/out")" 1
    works "help $method" voxsift help "$method"
    cp "$work/out" page
    for heading in "When to use it" Problem Target Options Example "Reading the result" Cost Citation; do
        same "help $method: $heading" "$(grep -cx "$heading" page)" 1
    done
    for loss in $(sed -n 's/^  --loss LOSS *//p' page | tr -d ,); do
        run voxsift fit none --target x --method "$method" --loss "$loss" -o y
        same "--loss $loss of help $method" "$(grep -c "expects one of" "$work/err")" 0
    done
    same "help $method: 80 columns" "$(awk 'length > 80 && !/^  voxsift/' page)" ""
    works "methods $method" voxsift methods "$method"
    same "methods $method is help $method" "$(cat "$work/out")" "$(cat page)"
done
# A page about a method has the options of the task that only some methods take.
for words in "fused --graph GRAPH" "fused squared, logistic, multinomial" "graphnet --graph GRAPH" "skfs --graph GRAPH" \
    "lasso --huber-threshold X" "lasso --penalty-factors FILE" "fgm --loss LOSS"; do
    run voxsift help "${words%% *}"
    holds "help of $words" "${words#* }" "$work/out"
done
run voxsift help lasso
same "help lasso has no --graph" "$(grep -c -- --graph "$work/out")" 0
run voxsift fit --help --method fused
holds "fused has --sparsity" "--sparsity X" "$work/out"
holds "fused has --graph" "--graph GRAPH" "$work/out"
run voxsift fit --help
same "lasso has neither" "$(grep -cE -- '^  --(sparsity|graph|nselect) ' "$work/out")" 0
same "fit has --lambda" "$(grep -c -- '^  --lambda X' "$work/out")" 1
for command in cv permute stability; do # each fold or half has a lambda_max of its own
    same "$command has no --lambda in its help" "$(voxsift $command --help | grep -c -- '^  --lambda X')" 0
done
# What permute takes from a line of cv without an effect on p is not offered; --out is shown where it is required.
same "permute offers no intervals and no dense baseline" \
    "$(voxsift permute --help | grep -cE -- '--(bootstraps|no-dense-baseline)')" 0
for command in cohort patches; do
    holds "$command shows --out" "--out DIR [OPTIONS]" <(voxsift $command --help)
done
# Methods that fit kernels alone do not offer covariates in the model.
for method in skfs hsic-lasso svm mkl; do
    holds "--confounds-as of $method" "regress: out of every voxel, the only way of $method" \
        <(voxsift fit --help --method $method | tr -s '\n ' ' ')
done
run voxsift fit --help
same "the research options are last" "$(grep -nxE 'Performance|Research|Example' "$work/out" | cut -d : -f 2 | tr '\n' ' ')" "Performance Research Example "
for topic in persons folds scores; do
    works "help $topic" voxsift help $topic
    same "help $topic: 80 columns" "$(awk 'length > 80' "$work/out")" ""
    holds "overview names $topic" "voxsift help $topic" overview
done
refuses 2 "unknown TOPIC 'lass'; did you mean 'lasso'?" voxsift help lass

# Words of other programs.
hint() { # WORDS HINT
    refuses 2 "did you mean $2?" voxsift $1
}
hint "cv c --cv 10" "'--folds'"
hint "fit c --cv 10" "'--choose-lambda'"
hint "cv c --choose-lambda 5" "'--inner-folds'"
hint "cv c --n-jobs 2" "'--nthreads'"
hint "cv c --n_jobs=2" "'--nthreads'"
hint "permute c --n-perm 100" "'--permutations'"
hint "permute c --n_permutations 100" "'--permutations'"
hint "cv c --n_permutations 100" "'voxsift permute --permutations N'"
hint "fit c --alpha 0.1" "'--lambda'"
hint "fit c --l1-ratio 0.5" "'--ridge'"
hint "fit c --l1_ratio 0.5" "'--ridge'"
hint "fit c --penalty l1" "'--method lasso'"
hint "fit c --method svr" "'--method svm' with a numeric target"
hint "fit c --method enet" "'--method lasso --ridge X'"
hint "fit c --method elasticnet" "'--method lasso --ridge X'"
hint "fit c --method ridge" "'--method lasso --ridge X'"
hint "fit c --method randomise" "'voxsift permute'"
hint "fit c --method tfce" "'voxsift permute'"
hint "permute c -n 100" "'--permutations'"
hint "fit -i c" "the input without an option, as the first argument"
hint "fit c -d design.mat" "'--target'"
hint "cohort t.tsv -m mask.nii" "'--mask'"
hint "randomise -i c" "'permute'"
hint "fit c --sample_weight w" "'--subject-weights'"
works "-V" voxsift -V

works "simulate --help" voxsift simulate --help
for words in "skfs-linear  " "spheres  " "(only of fused)" "(not of lasso, fused, pairs)" "default 200" "(only of skfs-linear, skfs-additive,"; do
    holds "help of simulate: $words" "$words" "$work/out"
done
works "simulate fused --help" voxsift simulate fused --help
holds "help of one model" "--edges E" "$work/out"
same "and of no other" "$(grep -c -- --radius "$work/out")" 0
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
    "3 blas commit compiler flags processor threads vectors version warnings"
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

# Boutiques
run "$PYTHON" "$top/tests/cli/boutiques_agree.py"
same "Boutiques descriptors" "$code$(cat "$work/out")" 0
refuses 2 "pass --boutiques" voxsift describe fit
refuses 2 "unknown COMMAND 'lasso'" voxsift describe --boutiques lasso
