"""The bounds of u by linear programmes (scipy's HiGHS), beside those of bound propagation, on the inequalities that
the program wrote: bound_lp.py FOLDER EDGES EVERY. Writes FOLDER/lp-EDGES-bounds.tsv, a line a term and lambda, and
FOLDER/lp-EDGES-seconds.tsv. Fails when a programme is looser than ours, or cuts off a u that is known to be
allowed: no u is lost by either, or one of the two is wrong.

Sums of one term bound it by themselves; the others fall apart into pieces that share no term."""
import sys
import time
from multiprocessing import Pool

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

TOLERANCE = 2e-6  # HiGHS keeps to its inequalities by 1e-7, times factors; u is what a gap of 1e-10 leaves
folder, edges, every = sys.argv[1], sys.argv[2], int(sys.argv[3])


def read(name):
    return np.loadtxt(f"{folder}/lp-{edges}-{name}.tsv", ndmin=2)


def pieces_of(matrix):
    """Sums and terms of each piece."""
    sums, terms = matrix.shape
    both = coo_matrix((np.ones(matrix.nnz), (matrix.row, matrix.col + sums)), shape=(sums + terms, sums + terms))
    count, label = connected_components(both, directed=False)
    order = np.argsort(label, kind="stable")
    for group in np.split(order, np.cumsum(np.bincount(label, minlength=count))[:-1]):
        yield group[group < sums], group[group >= sums] - sums


def bound(job):
    """Least and most of every term at one lambda, and the processor's seconds."""
    k, low, high = job
    start = time.process_time()
    least, most = -np.ones(system.shape[1]), np.ones(system.shape[1])
    rows = system.tocsr()
    for sums, terms in pieces:
        if len(terms) == 1:
            factors = rows[sums][:, terms].toarray()[:, 0]
            ends = np.sort(np.array([low[sums] / factors, high[sums] / factors]), axis=0)
            least[terms[0]], most[terms[0]] = max(-1, ends[0].max()), min(1, ends[1].min())
            continue
        part = rows[sums][:, terms]
        left, right = np.concatenate([part.toarray(), -part.toarray()]), np.concatenate([high[sums], -low[sums]])
        for j, term in enumerate(terms):
            for way in (1, -1):
                cost = np.zeros(len(terms))
                cost[j] = way
                found = linprog(cost, left, right, bounds=(-1, 1), method="highs-ds")
                if found.status != 0:
                    sys.exit(f"bound_lp.py: lambda {k}, term {term}: {found.message}")
                (least if way == 1 else most)[term] = way * found.fun
    return k, least, most, time.process_time() - start


factors = read("system")
system = coo_matrix((factors[:, 2], (factors[:, 0].astype(int), factors[:, 1].astype(int))))
pieces = list(pieces_of(system))
sums, ours = read("sums"), read("terms")
jobs = [(k, *sums[sums[:, 0] == k][:, 2:].T) for k in np.unique(sums[:, 0])[::every]]
looser = cut = seconds = 0
with Pool(2) as pool, open(f"{folder}/lp-{edges}-bounds.tsv", "w") as out:
    for k, least, most, spent in pool.imap(bound, jobs):
        own = ours[ours[:, 0] == k]
        looser = max(looser, np.max(own[:, 2] - least), np.max(most - own[:, 3]))
        cut = max(cut, np.max(least - own[:, 4]), np.max(own[:, 4] - most))
        seconds += spent
        for term in range(len(least)):
            print(int(k), term, *own[term, 2:4], least[term], most[term], sep="\t", file=out)
        out.flush()
with open(f"{folder}/lp-{edges}-seconds.tsv", "w") as out:
    print(len(jobs), seconds, looser, cut, sep="\t", file=out)
if looser > TOLERANCE or cut > TOLERANCE:
    sys.exit(f"bound_lp.py: {edges} edges: programmes are looser by {looser:g}, or cut off by {cut:g}")
