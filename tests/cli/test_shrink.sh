# A file that gets shorter while it is read: one line that names it, exit 65, nothing left.
cat > shrink.py << 'END'
import os, subprocess, sys, time
path, words = sys.argv[1], sys.argv[2:]
p = subprocess.Popen(["voxsift", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
wanted = os.path.realpath(path)
while p.poll() is None:
    if wanted in open(f"/proc/{p.pid}/maps").read():
        break
os.truncate(path, 4096)
out, err = p.communicate(timeout=60)
lines = [l for l in err.decode().splitlines() if "warning" not in l and " of " not in l]
print(p.returncode, *lines)
END
shrinks() { # FILE COMMAND...
    local file=$1
    shift
    "$PYTHON" shrink.py "$file" "$@" > "$work/out" 2>&1
    same "$*" "$(cat "$work/out")" \
        "65 voxsift $1: cannot read '$file': it became shorter while in use"
}
# sparse files, as large as takes a while to read
"$PYTHON" - << 'END'
import numpy as np
for name, shape in (("rows.npy", (8, 60000000)), ("whole.npy", (300000000,))):
    np.lib.format.open_memmap(name, mode="w+", dtype="<f4", shape=shape)
open("rows.tsv", "w").write("participant_id\ty\n" + "".join(f"s{k}\t{k % 2}\n" for k in range(8)))
END
shrinks whole.npy info whole.npy
shrinks rows.npy cohort --npy rows.npy --rows rows.tsv -o out
rm rows.npy whole.npy
voxsift simulate lasso --subjects 200 --features 60000 -q -o base > "$work/out"
cp -r base kept
for words in "fit base --target score" "cv base --target score --folds 3" \
    "path base --target score --nlambda 50" "stability base --target score"; do
    rm -r base
    cp -r kept base
    out="-o out"
    [ "${words%% *}" = path ] && out=
    shrinks base/features.npy $words $out --nthreads 2
    rm -f out.checkpoint
done
rm -r base kept shrink.py rows.tsv
nothing_left "a file that shrinks"
