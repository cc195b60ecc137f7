# Copies of one image under two ids, stored in another way, are known by the values of their features.
mkdir img
k=0
for file in "$top"/examples/arc/lesion/*.nii.gz; do
    k=$((k + 1))
    [ $k -le 24 ] && cp "$file" img/p$k.nii.gz
done
gunzip -c img/p3.nii.gz > img/q3.nii
{ printf 'participant_id\tscore\n'; for k in $(seq 24); do printf 'p%d\t%d\n' "$k" $((k * 7 % 11)); done; printf 'q3\t4\n'; } > t.tsv
grep -v '^q3' t.tsv > without.tsv
voxsift cohort img --participants t.tsv --mask-fraction 0.05 -o c -q > /dev/null
voxsift cohort 'img/p*.nii.gz' --participants without.tsv --mask-fraction 0.05 -o d -q > /dev/null
few="--target score --nlambda 4 --folds 3 --inner-folds 2"
words="'p3' and 'q3' have the same feature values"
for command in "cv c $few" "permute c $few --permutations 2" "stability c --target score --pairs 2"; do
    run voxsift $command -o x
    same "$command" "$code" 0
    holds "$command warns of copies" "$words" "$work/err"
    rm -rf x
    run voxsift $command -o x -q
    same "-q hides everything else" "$code $(wc -l < "$work/err")" "0 1"
    holds "$command -q warns of copies" "$words" "$work/err"
    rm -rf x
done
run voxsift cv d $few -o y
if grep -q "same feature" "$work/err"; then fail "cv of different images warns of copies" "$(cat "$work/err")"; else pass; fi
voxsift fit d --target score -o m -q > /dev/null
run voxsift predict m img/q3.nii
same "a decompressed copy of a training image" "$(tail -n 1 "$work/out" | cut -f 3)" image

# the same of tables, dense and sparse; a few values are alike by chance
/usr/bin/python3 - << 'END'
import numpy as np
rng = np.random.default_rng(3)
x = rng.normal(size=(30, 40)) * (rng.random((30, 40)) < 0.7)
x[9] = x[4]
few = rng.integers(0, 2, size=(30, 6))
short = rng.normal(size=(30, 5)) # measured ones are not
short[9] = short[4]
for name, m in (("x", x), ("few", few), ("short", short)):
    with open(name + ".tsv", "w") as f:
        f.write("participant_id\t" + "\t".join("f%d" % j for j in range(m.shape[1])) + "\n")
        for i, row in enumerate(m):
            f.write("s%02d\t" % i + "\t".join("%.5g" % v for v in row) + "\n")
with open("people.tsv", "w") as f:
    f.write("participant_id\tscore\n" + "".join("s%02d\t%g\n" % (i, rng.normal()) for i in range(30)))
with open("x.svm", "w") as f:
    for row in x * (rng.random(40) < 0.2):
        f.write("%d" % rng.integers(0, 2) + "".join(" %d:%.5g" % (j + 1, v) for j, v in enumerate(row) if v) + "\n")
END
for name in x few short; do
    voxsift cohort --feature-table $name.tsv --participants people.tsv -o $name -q > /dev/null
    run voxsift cv $name $few -o y-$name
    cp "$work/err" $name.err
done
holds "rows that are equal" "'s04' and 's09' have the same feature values" x.err
holds "short ones" "'s04' and 's09' have the same feature values" short.err
if grep -q "same feature" few.err; then fail "a few values that are equal are no copies" "$(cat few.err)"; else pass; fi
rm -rf ./*
