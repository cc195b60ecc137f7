# Names made to act on a terminal, to turn the direction of writing or to hide, in every place that
# gives voxsift names: a table's columns, classes, levels and ids, file names, an atlas's labels, an
# image's description. Everything works with them, and no command lets one out.
"$PYTHON" - << 'END'
import numpy as np, nibabel as nib, os
rng = np.random.default_rng(5)
evil = ["\x1b[31mred\x07", "\u202egnp.exe\u2066", "bell\u009b2J\u200f", "A\u200bB\u2028C"]
column = "diag\x1b]0;owned\x07\u202enosis"
os.mkdir("images")
rows = [f"participant_id\t{column}\tage\x7f\u061c\tsi\u2029te\tfile"]
for i in range(24):
    data = rng.normal(100, 20, (7, 6, 5)).astype(np.float32)
    data[2:4, 2:4, 2] += 30 * (i % 2)
    name = f"p\u200e{i:02}\x1b.nii.gz"
    image = nib.Nifti1Image(data, np.diag([4, 4, 4, 1.0]))
    image.header["descrip"] = b"\x1b[2J evil \xff\xc2\x9b"
    nib.save(image, "images/" + name)
    rows.append(f"p\u200e{i:02}\x1b\t{evil[i % 2]}\t{30 + i % 9}\t{evil[2 + i // 2 % 2]}\timages/{name}")
open("evil.tsv", "w").write("\n".join(rows) + "\n")
labels = np.zeros((7, 6, 5), np.int16)
labels[:3], labels[3:, :3], labels[3:, 3:] = 1, 2, 3
nib.save(nib.Nifti1Image(labels, np.diag([4, 4, 4, 1.0])), "parts.nii.gz")
open("parts.txt", "wb").write(b"1 \x1b[31mLeft\x07\n2 \xe2\x80\xaethgiR \xe9t\xe9\n3 \xc2\x9b2JMiddle\n")
open("show", "w").write(column)
END
column=$(cat show) evil=$'\e[31mred\a'
rm show
number=0
keeps() { # CODE COMMAND...: ends with this code; what it printed is kept
    local wanted=$1
    shift
    run "$@"
    number=$((number + 1))
    cp "$work/out" "printed-$number.out"
    cp "$work/err" "printed-$number.err"
    if [ "$code" -eq "$wanted" ]; then pass; else fail "$*" "exit $code" "$(cat "$work/err")"; fi
}
keeps 0 voxsift info evil.tsv
holds "what is shown can be typed" "diag<U+001B>]0;owned<U+0007><U+202E>nosis" "$work/out"
keeps 0 voxsift info evil.tsv --json
keeps 0 voxsift info "$(ls images/* | head -n 1)"
keeps 0 voxsift info "$(ls images/* | head -n 1)" --json
keeps 0 voxsift info parts.nii.gz
keeps 0 voxsift cohort evil.tsv --image-column file -o base
keeps 0 voxsift info base
keeps 0 voxsift info base --json
keeps 0 voxsift cohort evil.tsv --image-column file --regions --atlas parts.nii.gz -o regions
keeps 0 voxsift cohort images --drop-bad -o plain
model="--target $column --confounds $(printf 'age\x7f\u061c') --method lasso --tol 1e-4"
for data in base regions; do
    keeps 0 voxsift fit $data $model --lambda-ratio 0.3 -o $data.fit
    keeps 0 voxsift check-model $data.fit $data
    keeps 0 voxsift info $data.fit
    keeps 0 voxsift predict $data.fit $data
    keeps 0 voxsift report $data.fit -o $data.fit.html
    keeps 0 voxsift cv $data $model --nlambda 3 --folds 3 --inner-folds 2 -o $data.cv
    keeps 0 voxsift report $data.cv -o $data.cv.html
done
keeps 0 voxsift compare base.cv regions.cv --permutations 99 --metric all -o compared
keeps 0 voxsift report compared -o compared.html
# the table as it was given: its names are those that the model learned
keeps 0 voxsift predict base.fit images --participants evil.tsv --json
keeps 0 voxsift predict base.fit evil.tsv --image-column file
keeps 0 voxsift path base $model --nlambda 3
keeps 0 voxsift path base $model --nlambda 3 --json
keeps 0 voxsift stability base $model --pairs 2 --nlambda 3 -o st
keeps 0 voxsift report st -o st.html
keeps 0 voxsift permute base $model --nlambda 2 --folds 2 --inner-folds 2 --permutations 2 -o pm
keeps 0 voxsift report pm -o pm.html
keeps 0 voxsift cv base $model --nlambda 2 --folds 2 --inner-folds 2 --chunk 1/2 -o part-1
keeps 0 voxsift cv base $model --nlambda 2 --folds 2 --inner-folds 2 --chunk 2/2 -o part-2
keeps 0 voxsift merge part-1 part-2 -o whole
keeps 0 voxsift cv base --target "$column" --folds-from $'si\u2029te' --nlambda 2 --inner-folds 2 -o sites
keeps 0 voxsift report sites -o sites.html
keeps 0 voxsift fit base --target "$column" --method skfs -o sk
keeps 0 voxsift fit base --target "$column" --method fgm --groups atlas:parts.nii.gz --iterations 2 --per-iteration 1 -o fg
keeps 0 voxsift report fg -o fg.html
keeps 0 voxsift regions base.fit/weights.nii.gz --threshold 1e-9 --atlas parts.nii.gz -o rg
mv base.fit/weights.nii.gz "base.fit/$evil.nii.gz"
keeps 0 voxsift regions "base.fit/$evil.nii.gz" --threshold 1e-9 --atlas parts.nii.gz -o rg2
keeps 0 voxsift match "base.fit/$evil.nii.gz" parts.nii.gz --tolerance 2
# the script that opens it finds the file by its real name
mkdir bin
printf '#!/bin/sh\n[ -f "$1" ] && echo found\n' > bin/fsleyes
chmod +x bin/fsleyes
same "a script that opens it" "$(PATH="$PWD/bin:$PATH" sh rg2/open_fsleyes.sh)" found
rm -r bin
mv "base.fit/$evil.nii.gz" base.fit/weights.nii.gz
# refusals
keeps 65 voxsift fit base --target "$evil" -o never
keeps 66 voxsift info "$evil"
keeps 2 voxsift "$evil"
keeps 2 voxsift info --"$evil"
keeps 65 voxsift fit base --target "$column" --only "$column=$evil" -o never
"$PYTHON" - > "$work/out" 2>&1 << 'END'
import json, os, re
hidden = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e"
                    "\u2060-\u206f\ufeff]")
shown = (".out", ".err", ".tsv", ".html", ".lut", ".txt", ".sh", ".json")
seen = 0
for folder, _, names in os.walk("."):
    if folder.startswith("./images"):
        continue
    for name in names:
        path = os.path.join(folder, name)
        if not name.endswith(shown) or path in ("./evil.tsv", "./parts.txt"):
            continue
        text = open(path, "rb").read().decode()  # fails where it is not UTF-8
        seen += 1
        for found in hidden.finditer(text):
            print(path, repr(text[max(0, found.start() - 30):found.end() + 30]))
        if name.endswith(".json") or (name.endswith(".out") and text.startswith("{")):
            json.loads(text)
print(seen > 100)
people = open("base/participants.tsv").read()
for name in ("<U+001B>[31mred<U+0007>", "p<U+200E>00<U+001B>", "si<U+2029>te"):
    assert name in people, name
assert "\x1b" in json.load(open("base.fit/model.json"))["command"], "JSON holds what was typed"
END
same "nothing gets out" "$(cat "$work/out")" True
rm -rf ./*
nothing_left "hostile text"
