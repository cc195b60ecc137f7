# Covariates that agree with each other to 1e-5 or 1e-6 span what their difference spans, and give the same model; one
# that agrees with another to 1e-8, as after rounding to float32, is no second covariate.
"$PYTHON" - << 'EOP'
import numpy as np
rng = np.random.default_rng(3)
n = 60
x = rng.normal(size=(n, 40))
np.save("x.npy", x.astype("f4"))
a, d = rng.normal(size=n), rng.normal(size=n)
y = x[:, 0] - x[:, 1] + a + d + 0.5 * rng.normal(size=n)
columns = {"y": y, "dx": np.where(y > 0, "x", "z"), "three": np.array(["u", "v", "w"])[np.digitize(y, [-0.7, 0.7])], "a": a, "d": d}
columns.update({f"b{e}": a + 10.0**-e * d for e in range(5, 11)})
with open("who.tsv", "w") as f:
    f.write("participant_id\t" + "\t".join(columns) + "\n")
    for i in range(n):
        f.write(f"s{i:03}\t" + "\t".join(v[i] if isinstance(v[i], str) else repr(float(v[i])) for v in columns.values()) + "\n")
EOP
works "a cohort" voxsift cohort --npy x.npy --rows who.tsv --person participant_id -q -o c
scores() { voxsift predict "$1" c --training-too --json -q 2> /dev/null > "$1.json"; }
# alike WHAT MODEL: the predictions of `near` are those of MODEL
alike() {
    same "$1" "$("$PYTHON" -c "
import json
import numpy as np
def values(file):
    return np.array([list(s['probability'].values()) if 'probability' in s else [s['predicted']] for s in json.load(open(file))['subjects']])
print(np.abs(values('near.json') - values('$2.json')).max() < 2e-3)")" True
}
for how in "y" "dx" "three" "dx --loss squared-hinge" "y --method fused --graph chain" "dx --method fused --graph chain" \
    "dx --method fused --graph chain --sparsity 1" "dx --method fused --graph chain --solver bound-propagation" "y --method fused --graph chain --solver saif" \
    "three --method fused --graph chain --sparsity 1 --loss multinomial" "dx --method graphnet --graph chain" \
    "y --confounds-as regress" "dx --method skfs --graph chain --confounds-as regress" "dx --method fgm --iterations 2 --confounds-as regress"; do
    share=$(case $how in *fgm*) ;; *) echo "--lambda-ratio 0.3" ;; esac)
    run voxsift fit c --target $how --confounds a,d $share -q -o far --force
    same "far from each other, $how" "$code" 0
    scores far
    for e in 5 6; do
        run voxsift fit c --target $how --confounds a,b$e $share -q -o near --force
        same "near each other by 1e-$e, $how" "$code$(cat "$work/err")" 0
        run voxsift check-model near c -q
        same "its certificate, $how, 1e-$e" "$code" 0
        scores near
        alike "its predictions, $how, 1e-$e" far
    done
    run voxsift fit c --target $how --confounds a $share -q -o alone --force
    scores alone
    for e in 8 9 10; do
        run voxsift fit c --target $how --confounds a,b$e $share -q -o near --force
        same "a copy within 1e-$e, $how" "$code" 0
        run voxsift check-model near c -q
        same "its certificate, $how, 1e-$e" "$code" 0
        scores near
        alike "its predictions, $how, 1e-$e" alone
    done
done
run voxsift fit c --target y --confounds a,b9 --lambda-ratio 0.3 -o near --force
holds "a copy is named" "covariate 'b9' equals a combination" "$work/err"
run voxsift path c --target dx --confounds a,b6 --nlambda 10 -q
same "a path" "$code" 0
run voxsift cv c --target dx --confounds a,b6 --folds 3 --inner-folds 2 --nlambda 5 --bootstraps 100 -q -o v
same "a cross-validation" "$code" 0
rm -rf ./*
nothing_left "near covariates"
