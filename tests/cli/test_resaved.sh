# Training images that were saved in other numbers, or scaled, are known by a model; other images are not.
cat > make.py << 'END'
import nibabel as nib, numpy as np, os
rng = np.random.default_rng(11)
grid = np.indices((12, 12, 12)) - 5.5
template = 1 + np.exp(-(grid**2).sum(0) / 40)
def save(data, path, kind="f4"):
    image = nib.Nifti1Image(data.astype(kind) if kind == "f4" else data, np.eye(4))
    image.set_data_dtype(kind)
    nib.save(image, path)
for d in ("img", "near", "int16", "double", "hair", "other", "close"):
    os.makedirs(d)
for k in range(16):
    image = template + 0.2 * rng.normal(size=template.shape)
    save(image, f"img/p{k:02}.nii.gz")
    save(image, f"int16/a{k:02}.nii.gz", "i2")
    save(2 * image.astype("f4"), f"double/b{k:02}.nii.gz")
    save(image.astype("f4") * 1.0000001, f"hair/c{k:02}.nii.gz")
    save(template + 0.2 * rng.normal(size=template.shape), f"other/d{k:02}.nii.gz")
    # all alike but for a thousandth: each is another image all the same
    save(template + 1e-3 * rng.normal(size=template.shape), f"near/e{k:02}.nii.gz")
    save(template + 1e-3 * rng.normal(size=template.shape), f"close/f{k:02}.nii.gz")
for cohort in ("img", "near"):
    with open(f"{cohort}.tsv", "w") as f:
        print("participant_id\tscore", *(f"{'pe'[cohort == 'near']}{k:02}\t{k * 7 % 11}" for k in range(16)), sep="\n", file=f)
END
"$PYTHON" make.py
# usage: known MODEL FOLDER: the values of trained_on
known() {
    run voxsift predict "$1" "$2"
    tail -n +2 "$work/out" | awk -F'\t' '{ print $NF }' | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ' '
}
for cohort in img near; do
    voxsift cohort $cohort --participants $cohort.tsv --mask-fraction 0.5 -q -o c-$cohort > /dev/null
    works "a model of $cohort" voxsift fit c-$cohort --target score -q -o m-$cohort
done
for folder in int16 double hair; do
    same "training images, $folder" "$(known m-img $folder)" "16 image "
done
same "other images" "$(known m-img other)" "16 no "
same "images that are much alike" "$(known m-near close)" "16 no "
same "the same ones" "$(known m-near near)" "16 image "
# a model of an older version has none of this
same "eight numbers a subject" "$("$PYTHON" - << 'END'
import json
model = json.load(open("m-img/model.json"))
numbers = model["training"]["sketches"]
print(len(numbers), {len(n) for n in numbers})
del model["training"]["sketches"]
json.dump(model, open("m-img/model.json", "w"))
END
)" "16 {8}"
rm m-img/sha256sums
same "an old model: other numbers" "$(known m-img int16)" "16 no "
same "an old model: the same ones" "$(known m-img img)" "16 image "
rm -rf ./*
nothing_left "saved again"
