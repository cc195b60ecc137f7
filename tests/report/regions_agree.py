"""`voxsift regions` on maps whose clusters are known, against numpy; every label format; the files for
viewers as their own readers would parse them. Runs in an empty directory."""
import json
import os
import re
import shutil
import subprocess
import sys

import nibabel as nib
import numpy as np
from oracle import check, finish
from oracle import run as voxsift

rng = np.random.default_rng(11)


def run(*words, code=0):
    return voxsift("regions", *words, code=code)


# a left-handed, oblique, off-center grid
turn = np.array([[0.96, -0.28, 0], [0.28, 0.96, 0], [0, 0, 1]])
affine = nib.affines.from_matvec(turn @ np.diag([-2, 2, 2.5]), [40, -70, -30])
shape = (20, 18, 16)
data = np.zeros(shape)
blobs = [np.s_[2:6, 2:7, 3:6], np.s_[10:12, 10:12, 10:12], np.s_[14:18, 3:6, 9:12]]
for sign, blob in zip([1, -1, -1], blobs):
    data[blob] = sign * rng.uniform(1, 3, data[blob].shape)
data[9, 9, 9] = -2  # touches the second blob at a corner only
data[0, 0, 15] = 0.5  # below the threshold
data[19, 17, 0] = np.nan


def save(values, path, dtype="f4"):
    image = nib.Nifti1Image(np.asarray(values, dtype), affine)
    image.set_sform(affine, 4)
    image.set_qform(affine, 1)
    nib.save(image, path)


save(data, "map.nii.gz")
data = np.asarray(nib.load("map.nii.gz").dataobj).astype(float)
volume = abs(np.linalg.det(affine[:3, :3]))


def expected(mask):
    v, index = data[mask], np.argwhere(mask)
    peak = index[np.argmax(abs(v))]
    center = (abs(v)[:, None] * index).sum(0) / abs(v).sum()
    mm = nib.affines.apply_affine
    return [np.sign(v[0]), len(v), len(v) * volume, *mm(affine, peak), v[np.argmax(abs(v))], *mm(affine, center),
            v.mean(), v.sum()]


def mask_of(*pieces):
    m = np.zeros(shape, bool)
    for p in pieces:
        m[p] = True
    return m


atlas = np.zeros(shape)
atlas[:8], atlas[8:13], atlas[13:, :4] = 3, 7, 9
save(atlas, "atlas.nii.gz")
formats = {
    "schaefer.txt": "3\tFront\t1\t2\t3\t0\n7\tMiddle\t4\t5\t6\t0\n9\tBack\t7\t8\t9\t0\n",
    "mricrogl.txt": "3 Front part\n7 Middle part\n9 Back part\n",
    "niistat.txt": "3|Front|the front part|1\n7|Middle|the middle|1\n9|Back|the back|1\n",
    "fsleyes.lut": "3 0.1 0.2 0.3 Front part\n7 1 0 0 Middle part\n9 0 0 1 Back part\n",
    "itksnap.txt": '# ITK-SnAP Label Description File\n0 0 0 0 0 0 0 "Clear Label"\n3 255 0 0 1 1 1 "Front part"\n'
                   '7 0 255 0 1 1 1 "Middle part"\n9 0 0 255 1 1 1 "Back part"\n',
    "freesurfer.txt": "#No. Label\n0 Unknown 0 0 0 0\n3 Front 245 245 245 0\n7 Middle 205 62 78 0\n9 Back 1 2 3 0\n",
    "x_dseg.tsv": "index\tname\tabbreviation\n3\tFront part\tF\n7\tMiddle part\tM\n9\tBack part\tB\n",
    "aal.txt": "3 Front_L 2001\n7 Middle_L 2002\n9 Back_L 2101\n",
    "label.xml": "<atlas><header><type>Label</type><images><imagefile>/atlas</imagefile></images></header><data>"
                 '<label index="3" x="1" y="1" z="1">Front part</label><label index="7">Middle part</label>'
                 '<label index="9">Back part</label></data></atlas>',
    "prob.xml": "<atlas><header><type>Probabilistic</type><images><summaryimagefile>/atlas</summaryimagefile></images>"
                '</header><data><label index="2">Front part</label><label index="6">Middle part</label>'
                '<label index="8">Back part</label></data></atlas>',
}
for name, text in formats.items():
    open(name, "w").write(text)
    words = ["--atlas", name] if name.endswith("xml") else ["--atlas", "atlas.nii.gz", "--atlas-names", name]
    said = json.loads(run("map.nii.gz", "--threshold", "0.9", "--json", *words)[0])
    labels = [list(c["atlases"].values())[0]["overlap_label"] for c in said["clusters"]]
    check(name, [re.split("[ _]", n)[0] for n in labels] == ["Front", "Back", "Middle"], labels)
    check(f"{name} without codes", not any(c.isdigit() for c in "".join(labels)), labels)
open("areas.txt", "w").write("3 Area 44\n7 Area 45\n9 Area 6\n")
said = json.loads(run("map.nii.gz", "--threshold", "0.9", "--json", "--atlas", "atlas.nii.gz", "--atlas-names",
                      "areas.txt")[0])
check("numbers that tell areas apart stay", said["clusters"][0]["atlases"]["atlas"]["overlap_label"] == "Area 44")

# atlases by name: the user's folders, and FSL's
os.makedirs("mine")
os.makedirs("fsl/data/atlases/Fsl")
shutil.copy("atlas.nii.gz", "mine/own.nii.gz")
shutil.copy("aal.txt", "mine/own.nii.txt")
shutil.copy("atlas.nii.gz", "fsl/data/atlases/Fsl/Fsl-maxprob.nii.gz")
open("fsl/data/atlases/FSL-Test.xml", "w").write(formats["prob.xml"].replace("/atlas<", "/Fsl/Fsl-maxprob<"))
os.environ.update(VOXSIFT_ATLASES="nowhere:mine", FSLDIR="fsl")
for name, first in [("own", "Front_L"), ("FSL-Test", "Front part"), ("schaefer100", None)]:
    said = json.loads(run("map.nii.gz", "--threshold", "0.9", "--json", "--atlas", name)[0])
    label = said["clusters"][0]["atlases"][name]["overlap_label"]
    check(f"atlas {name}", first is None or label == first, label)
    p = subprocess.run(["voxsift", "info", name, "--json"], capture_output=True, text=True)
    said = json.loads(p.stdout)
    check(f"info {name}", said["kind"] == "atlas" and (first is None or [
        (e["value"], e["voxels"]) for e in said["labels"]] == [(k, int((atlas == k).sum())) for k in (3, 7, 9)]))
    check(f"info {name} first", first is None or said["labels"][0]["name"] == first)
del os.environ["VOXSIFT_ATLASES"], os.environ["FSLDIR"]
out, err = run("map.nii.gz", "--atlas", "own", code=66)
check("no such name", "nor an atlas of that name" in err, err)

for ways, pieces in [("26", [(blobs[0],), (blobs[2],), (blobs[1], np.s_[9, 9, 9])]),
                     ("18", [(blobs[0],), (blobs[2],), (blobs[1],), (np.s_[9, 9, 9],)]),
                     ("6", [(blobs[0],), (blobs[2],), (blobs[1],), (np.s_[9, 9, 9],)])]:
    said = json.loads(run("map.nii.gz", "--threshold", "0.9", "--connectivity", ways, "--json")[0])
    check(f"{ways} connectivity said", said["connectivity"] == int(ways))
    check(f"{ways} count", len(said["clusters"]) == len(pieces), len(said["clusters"]))
    for k, (c, p) in enumerate(zip(said["clusters"], pieces)):
        got = [c[key] for key in ("sign n_voxels volume_mm3 peak_x peak_y peak_z peak_value cog_x cog_y cog_z "
                                  "mean sum").split()]
        check(f"{ways} cluster {k}", np.allclose(got, expected(mask_of(*p)), rtol=1e-5, atol=1e-4), got)
        check(f"{ways} index {k}", c["index"] == k + 1)

open("atlas.txt", "w").write(formats["mricrogl.txt"])
shutil.copy("map.nii.gz", "it's.nii.gz")
out, err = run("map.nii.gz", "--threshold", "0.9", "--atlas", "atlas.nii.gz,atlas.nii.gz", "-o", "r",
               "--underlay", "it's.nii.gz")
check("table is the file", out == open("r/clusters.tsv").read())
rows = [line.split("\t") for line in out.rstrip("\n").split("\n")]
last = blobs[2]
share = 100 * (atlas[last] == 9).mean()
peaks = [np.unravel_index(np.argmax(abs(np.where(mask_of(*b), data, 0))), shape) for b in ((blobs[0],), (blobs[2],), (blobs[1], np.s_[9, 9, 9]))]
at_peak = [{3: "Front part", 7: "Middle part", 9: "Back part"}.get(int(atlas[p]), "n/a") for p in peaks]
check("headings", rows[0][13:16] == ["atlas_peak_label", "atlas_overlap_label", "atlas_overlap_percent"], rows[0])
check("overlap", rows[2][13:16] == [at_peak[1], "Back part", f"{int(share + 0.5)}"], rows[2][13:])
millimeters = [k for k, name in enumerate(rows[0]) if name[:-2] in ("peak", "cog")]
exact = [c[name] for c in json.loads(run("map.nii.gz", "--threshold", "0.9", "--json")[0])["clusters"] for name in (rows[0][k] for k in millimeters)]
check("mm to a tenth in the table, in full in JSON", len(millimeters) == 6 and all(abs(float(r) - e) <= 0.0500001 and len(r.partition(".")[2]) <= 1
      for r, e in zip([r[k] for r in rows[1:] for k in millimeters], exact)) and any(abs(10 * e - round(10 * e)) > 1e-6 for e in exact), exact)
check("label at the peak", [r[13] for r in rows[1:]] == at_peak, at_peak)
said = json.loads(run("map.nii.gz", "--threshold", "0.9", "--atlas", "atlas.nii.gz", "--json")[0])["clusters"]
check("the same as JSON", [[c["atlases"]["atlas"][k] for k in ("peak_label", "overlap_label")] for c in said] ==
      [[None if v == "n/a" else v for v in r[13:15]] for r in rows[1:]], said)
labels = nib.load("r/clusters.nii.gz")
image = np.asarray(labels.dataobj)
want = 1 * mask_of(blobs[0]) + 2 * mask_of(blobs[2]) + 3 * mask_of(blobs[1], np.s_[9, 9, 9])
check("label image", (image == want).all())
h = labels.header
check("its header", (np.allclose(labels.affine, affine, atol=1e-4), int(h["sform_code"]), int(h["qform_code"]),
                     int(h["intent_code"]), h.get_data_dtype(), int(h["xyzt_units"])) ==
      (True, 4, 1, 1002, np.dtype("<i4"), 2))
# single-precision quaternions hold no more, by any writer
check("its qform", np.allclose(labels.get_qform(), affine, atol=2e-3))
lut = [line.split(" ", 4) for line in open("r/clusters_fsleyes.lut").read().splitlines()]
check("FSLeyes", [x[0] for x in lut] == ["1", "2", "3"] and all(0 <= float(v) <= 1 for x in lut for v in x[1:4])
      and lut[0][4] == "cluster 1: Front part", lut)
check("MRIcroGL", open("r/clusters.txt").read().splitlines()[1] == "2 cluster 2: Back part")
snap = open("r/clusters_itksnap.txt").read().splitlines()
check("ITK-SNAP", snap[1] == "# ITK-SnAP Label Description File" and snap[-1].endswith('"cluster 3: Middle part"'))
niivue = json.load(open("r/clusters_niivue.json"))
check("NiiVue", niivue["I"] == [0, 1, 2, 3] and all(len(niivue[k]) == 4 for k in ("R", "G", "B", "A", "labels")))
check("dictionary", set(rows[0][:16]) < set(json.load(open("r/clusters.json"))))
command = open("r/open_fsleyes.sh").read()
check("command", "it'\\''s.nii.gz'" in command and " -dr 0.9 " in command and "-ot label" in command, command)
os.mkdir("bin")
with open("bin/fsleyes", "w", opener=lambda name, flags: os.open(name, flags, 0o755)) as f:
    f.write('#!/bin/sh\nfor name in "$1" "$2"; do [ -f "$name" ] && echo found; done\n')
opened = subprocess.run(["sh", "r/open_fsleyes.sh"], env=dict(
    os.environ, PATH=os.path.abspath("bin") + ":" + os.environ["PATH"]), stdout=subprocess.PIPE, text=True).stdout
check("command opens underlay and map", opened == "found\nfound\n", opened)
shutil.rmtree("bin")
check("command is sh", subprocess.run(["sh", "-n", "r/open_fsleyes.sh"]).returncode == 0)

run("map.nii.gz", "--threshold", "0.9", "--table-format", "fsl", "-o", "f")
rows = [line.split("\t") for line in open("f/clusters.tsv").read().splitlines()]
check("FSL", rows[0][:3] == ["Cluster Index", "Voxels", "MAX"] and [r[0] for r in rows[1:]] == ["3", "2", "1"])
fsl = np.asarray(nib.load("f/clusters.nii.gz").dataobj)
check("FSL numbers are the image's", all((fsl == int(r[0])).sum() == int(r[1]) for r in rows[1:]))
peak = tuple(int(v) for v in rows[1][3:6])
check("FSL peaks are voxels", abs(data[peak]) == abs(data[blobs[0]]).max())
rows = [line.split("\t") for line in run("map.nii.gz", "--threshold", "0.9", "--table-format", "nilearn")[0].splitlines()]
check("nilearn", rows[0] == ["Cluster ID", "X", "Y", "Z", "Peak Stat", "Cluster Size (mm3)"] and len(rows) == 4)
out, err = run("map.nii.gz", "--threshold", "99")
check("nothing there is said", "has no voxel above 99" in err and out.count("\n") == 1)
save(np.stack([data, -data], 3), "two.nii.gz")
out, err = run("two.nii.gz", code=65)
check("which volume", "has 2 volumes: say which with --volume" in err, err)
said = json.loads(run("two.nii.gz", "--volume", "2", "--threshold", "0.9", "--json")[0])
check("second volume", said["clusters"][0]["sign"] == -1)
save(np.linspace(0, 1, data.size).reshape(shape), "prob.nii.gz")
out, err = run("map.nii.gz", "--atlas", "prob.nii.gz", code=65)
check("a probability map is no atlas", "labels are whole numbers" in err, err)
finish()
