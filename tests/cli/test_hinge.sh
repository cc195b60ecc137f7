# A sparse SVM (lasso with the squared hinge) by every screening rule, then every command; what vi refuses.
works "a cohort" voxsift simulate lasso --target diagnosis --subjects 60 --features 400 -o svm -q
fit() { # SCREEN OPTIONS...
    works "fit, $1" voxsift fit svm --target diagnosis --loss squared-hinge --class-weights none --lambda-ratio 0.2 --tol 1e-10 --screen "$1" \
        -o "m-$1" --force -q "${@:2}"
    works "check-model, $1" voxsift check-model "m-$1" svm
}
for screen in saif none dynamic dpp strong vi; do
    fit "$screen"
    same "$screen has the features of saif" "$(cut -f 1 "m-$screen/weights.tsv")" "$(cut -f 1 m-saif/weights.tsv)"
done
fit vi --nthreads 1
cp m-vi/weights.tsv one.tsv
fit vi --nthreads 2
same "two threads change no bit" "$(cat m-vi/weights.tsv)" "$(cat one.tsv)"
holds "the share of features that vi rejects" '"rejected"' m-vi/model.json
for options in "--ridge 2" "--nonnegative" "--method graphnet --graph chain"; do
    read -ra words <<< "$options"
    fit vi "${words[@]}"
done
few=(--target diagnosis --loss squared-hinge --screen vi --folds 3 --nlambda 5)
works "cv" voxsift cv svm "${few[@]}" --inner-folds 2 -o cv -q
works "permute" voxsift permute svm "${few[@]}" --inner-folds 2 --permutations 2 -o permuted -q
run voxsift predict m-vi svm --training-too -q # it warns of training subjects
same "predict" "$code" 0
works "few subjects" voxsift simulate lasso --target diagnosis --subjects 12 --features 30 -o few -q
run voxsift fit few --target diagnosis --loss squared-hinge --screen vi --subproblem descent --lambda-ratio 1e-8 --tol 1e-12 -o no -q
same "what does not converge" "$code" 3
refuses 2 "--screen vi is for the squared loss and the squared hinge, not for --loss logistic" \
    voxsift fit svm --target diagnosis --screen vi -o x -q
