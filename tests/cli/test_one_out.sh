# One subject held out at a time: no fold has a pair, scores are compared over folds. Models without a
# feature differ by a constant alone, whose change is the class that is held out: that must be no score.
awk 'BEGIN { srand(1); print "participant_id\tx1\tx2\tx3" > "f.tsv"; print "participant_id\tc\ty" > "r.tsv"
    for (i = 1; i <= 30; i++) { u = 3.1 * (rand() - .5)
        printf "k%dz\t%.3f\t%.3f\t%.3f\n", i, rand(), rand(), rand() > "f.tsv"
        printf "k%dz\t%s\t%.3f\n", i, (i > 15 ? "A" : "B"), sin(u) / cos(u) > "r.tsv" } }'
run voxsift cohort --feature-table f.tsv --participants r.tsv -q -o c
same "a cohort" "$code" 0
pooled() { "$PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1] + "/cv.json"))["outer"][sys.argv[2]]["pooled"])' "$1" "$2"; }
for loss in logistic squared-hinge; do
    run voxsift cv c --target c --loss $loss --folds 30 --lambda-ratio 1 --inner-folds 0 -q -o $loss
    same "empty models by one out ($loss)" "$code" 0
    same "have the area of a constant ($loss)" "$(pooled $loss auc)" 0.5
    same "and its balanced accuracy ($loss)" "$(pooled $loss balanced_accuracy)" 0.5
done
for loss in squared huber; do
    run voxsift cv c --target y --loss $loss --folds 30 --lambda-ratio 1 --inner-folds 0 -q -o $loss
    same "empty models of a score by one out ($loss)" "$code" 0
    same "have no correlation ($loss)" "$(pooled $loss r)" 0
done
