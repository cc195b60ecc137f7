# A loss is fitted as it is named, or refused with those that the method takes.
awk 'BEGIN { srand(5); print "participant_id\tscore\tgrade\tdx" > "p.tsv"; print "participant_id\tx1\tx2\tx3\tx4" > "f.tsv"
    for (i = 1; i <= 36; i++) { g = i % 3; printf "k%dz\t%.4f\t%d\t%s\n", i, g + rand(), g + 1, (g > 1 ? "yes" : "no") > "p.tsv"
        printf "k%dz\t%.4f\t%.4f\t%.4f\t%.4f\n", i, g + 2 * rand(), rand() - g, rand(), rand() > "f.tsv" } }'
works "a cohort" voxsift cohort --feature-table f.tsv --participants p.tsv -q -o c
field() { "$PYTHON" -c 'import json, sys; print(eval("json.load(open(sys.argv[1]))" + sys.argv[2]))' "$@"; }
options_of() {
    case $1 in
    fused) echo "--graph chain --lambda-ratio 0.2" ;;
    mkl) echo "--groups file:groups.tsv" ;;
    group-lasso) echo "--groups file:groups.tsv --lambda-ratio 0.2" ;;
    svm | fgm | mslr) echo "" ;;
    *) echo "--lambda-ratio 0.2" ;;
    esac
}
printf 'feature\tgroup\nx1\ta\nx2\ta\nx3\tb\nx4\tb\n' > groups.tsv
for method in lasso graphnet group-lasso fused skfs hsic-lasso fgm mslr svm mkl; do
    voxsift fit --help --method $method | sed -n '/--loss LOSS/,/default *auto)/p' | tr '\n' ' ' | tr -s ' ' > listed
    # a grade of 1, 2 and 3 is a score or a class, as the loss says
    for loss in squared logistic multinomial squared-hinge huber soft-margin epsilon hinge; do
        # shellcheck disable=SC2046 # options are words
        run voxsift fit c --target grade --method $method --loss $loss $(options_of $method) --force -q -o m
        if grep -q "[ (]$loss[,;]" listed; then
            same "$method takes $loss" "$code$(cat "$work/err")" 0
            same "$method fits $loss" "$(field m/model.json '["loss"]')" $loss
            scores=$([ $method = hsic-lasso ] || case $loss in squared | huber | epsilon) echo yes ;; esac)
            same "$method with $loss: scores or classes" "$(field m/model.json '["classes"]')" \
                "$([ "$scores" ] && echo "[]" || echo "['1', '2', '3']")"
            run voxsift check-model m c
            same "$method with $loss is certified" "$code" 0
            run voxsift predict m c --training-too -q
            same "$method with $loss predicts" "$code" 0
        else
            same "$method refuses $loss" "$code$(grep -c "$loss' goes with" "$work/err")" 21
        fi
    done
done
refuses 2 "'--loss logistic' goes with methods lasso, graphnet, group-lasso, fused, fgm, mslr; method 'svm' takes soft-margin, epsilon" \
    voxsift fit c --target dx --method svm --loss logistic -o x
refuses 2 "method 'skfs' takes hinge" voxsift fit c --target dx --method skfs --loss logistic -o x
refuses 2 "'--huber-threshold' goes with '--loss huber'" voxsift fit c --target score --method svm --loss epsilon --huber-threshold 1 -o x
refuses 65 "column 'dx' holds text; '--loss epsilon' is of numbers" voxsift fit c --target dx --method svm --loss epsilon -o x
refuses 65 "(or, with --loss hinge, as many classes as values)" voxsift fit c --target score --method skfs -o x

# a loss that auto would take changes nothing but its name, in the choice of C and lambda by folds too
for way in "score svm epsilon" "dx svm soft-margin" "score mkl epsilon" "dx mkl soft-margin" "dx skfs hinge" "dx hsic-lasso squared"; do
    read -r target method loss <<< "$way"
    few=(--target "$target" --method "$method" --folds 3 --inner-folds 2 -q)
    case $method in
    svm) few+=(--C 0.1,1) ;;
    mkl) few+=(--C 0.1,1 --groups file:groups.tsv) ;;
    *) few+=(--nlambda 3) ;;
    esac
    run voxsift cv c "${few[@]}" --force -o by-auto
    same "cv of $method" "$code" 0
    run voxsift cv c "${few[@]}" --loss "$loss" --force -o by-name
    same "cv of $method with $loss" "$code" 0
    same "$way: the same predictions" "$(cat by-name/predictions.tsv)" "$(cat by-auto/predictions.tsv)"
    same "$way: the same inner losses" "$(field by-name/cv.json '["inner_losses"]')" "$(field by-auto/cv.json '["inner_losses"]')"
done

# a model whose loss was written as "logistic", for classes, predicts as it did; it is not confirmed
works "a machine" voxsift fit c --target dx --method svm -q -o old
voxsift predict old c --training-too -q > before 2> /dev/null
sed -i 's/"loss": "auto"/"loss": "logistic"/' old/model.json
voxsift predict old c --training-too -q > after 2> /dev/null
same "an old model predicts" "$(cat after)" "$(cat before)"
run voxsift check-model old c
same "and is refused by name where it would be fitted" "$code$(grep -c "method 'svm' takes soft-margin, epsilon" "$work/err")" 651
rm -rf ./*
nothing_left "losses"
