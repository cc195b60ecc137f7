"""The same commands by two builds of voxsift: exit codes, what they print and every file they write, compared.

same.py BEFORE NOW WORK [PATTERN]: two programs, a directory to work in, and perhaps a regular expression that chooses
commands (what they need comes along). commands.txt lists them. Seconds, versions and the like are left out. Two lists
say what differs on purpose: renames.tsv (text of the old outputs, and of the commands for the old program) and
rounding.tsv (commands whose numbers may differ by so much, since sums change their order). With SAME_BITS=1 both are
one revision, built or run in two ways: the lists do not count. SAME_THREADS: threads of each command, else 1;
SAME_BEFORE, SAME_NOW: variables (NAME=VALUE, blanks between) that the commands of one build alone get."""
import csv
import gzip
import html
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np

here = os.path.dirname(os.path.abspath(__file__))
before, now, work = (os.path.abspath(path) for path in sys.argv[1:4])
chosen = re.compile(sys.argv[4]) if len(sys.argv) > 4 and sys.argv[4] else None

expected = {}  # exit codes of the program as it is now
UNSTEADY = re.compile(r'seconds|^voxsift$|^commit$|^version$|^build$|^finished$|^started$|sha256$|^run$|^fingerprint$')
NUMBER = re.compile(r'[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?')
TIMES = re.compile(r'\b[0-9.e+-]+ (?:s|min|h)\b|(?<=Seconds</th><td>)[^<]*|\bvoxsift \d+\.\d+\.\d+[^\s<]*')


def table(name):
    if os.environ.get('SAME_BITS') == '1':
        return []
    with open(os.path.join(here, name), newline='') as file:
        return list(csv.DictReader(file, delimiter='\t'))


def read_commands():
    found = {}
    with open(os.path.join(here, 'commands.txt')) as file:
        for line in file:
            if line.strip() and not line.startswith('#'):
                name, code, words = re.fullmatch(r'(\S+)(?: \[(\d+)\])?: (.*)\n', line).groups()
                assert name not in found, name
                found[name] = words
                expected[name] = code or '0'
    return found


def needed(commands):
    """The chosen commands, and those that make what they read."""
    if not chosen:
        return commands
    kept = {name for name in commands if chosen.search(name)}
    grown = True
    while grown:
        wanted = {word.split('/')[0] for name in kept for word in shlex.split(commands[name])}
        more = {name for name in commands if name in wanted} - kept
        kept |= more
        grown = bool(more)
    return {name: words for name, words in commands.items() if name in kept}


def write_tables(folder):
    os.makedirs(folder)
    random = np.random.default_rng(5)
    x = random.normal(size=(60, 12))
    kind = x[:, :3].argmax(axis=1)
    score = x[:, 3] + x[:, 4] + random.normal(size=60)
    with open(folder + '/three.tsv', 'w') as file:
        file.write('participant_id\t' + '\t'.join('f%d' % j for j in range(12)) + '\n')
        for i in range(60):
            file.write('p%02d\t' % i + '\t'.join('%.6f' % v for v in x[i]) + '\n')
    with open(folder + '/three_people.tsv', 'w') as file:
        file.write('participant_id\tkind\tscore\tweight\tsite\n')
        for i in range(60):
            file.write('p%02d\t%s\t%.6f\t%.3f\ts%d\n' % (i, 'abc'[kind[i]], score[i], 0.5 + i % 3, i % 6))
    with open(folder + '/penalties.tsv', 'w') as file:
        file.write('feature\tpenalty\nf0\t2\nf3\t0.5\n')
    with open(folder + '/edges.tsv', 'w') as file:
        file.write('from\tto\tweight\n' + ''.join('f%d\tf%d\t%d\n' % (j, (j + 1) % 12, 1 + j % 2) for j in range(12)))


def run_all(program, folder, commands, translate, variables):
    """Each command's exit code, output and messages, and the state of the folder after all of them."""
    kept, folder = folder, os.path.join(work, 'run')  # outputs hold paths: the same for both programs
    shutil.rmtree(kept, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.symlink(os.path.abspath('examples'), folder + '/examples')
    write_tables(folder + '/tables')
    environment = dict(os.environ, VOXSIFT_NTHREADS=os.environ.get('SAME_THREADS', '1'), OPENBLAS_NUM_THREADS='1',
                       LC_ALL='C.UTF-8', **dict(pair.split('=', 1) for pair in variables.split()))
    results = {}
    for name, words in commands.items():
        line = ' '.join(word if '*' in word else shlex.quote(word) for word in shlex.split(translate(words)))
        done = subprocess.run(['/bin/sh', '-c', 'exec %s %s' % (shlex.quote(program), line)], cwd=folder,
                              env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors='replace')
        results[name] = {'exit': str(done.returncode), 'out': done.stdout, 'err': done.stderr}
    os.rename(folder, kept)
    return results


# a seal's line for a file with seconds in it
SEALED = re.compile(r'^[0-9a-f]{64}  model\.json$')
PROGRESS = re.compile(r', [0-9.e+]+/s|% .*left')  # lines that slow machines say and fast ones do not


def steady(value):
    """JSON without what no two runs share."""
    if isinstance(value, dict):
        return {key: steady(item) for key, item in value.items() if not UNSTEADY.search(key)}
    if isinstance(value, list):
        return [steady(item) for item in value]
    return value


def text_of(raw):
    """What a file or stream says, as lines of text to compare: JSON a key a line, others as they are."""
    text = raw.decode('utf-8', 'replace') if isinstance(raw, bytes) else raw
    try:
        text = json.dumps(steady(json.loads(text)), indent=1)
    except ValueError:
        pass
    head = text.split('\n', 1)[0].split('\t')
    if 'seconds' in head:  # a table with a column of them
        place = head.index('seconds')
        text = '\n'.join('\t'.join(cell for k, cell in enumerate(line.split('\t')) if k != place)
                         for line in text.split('\n'))
    text = '\n'.join(line for line in text.split('\n') if not SEALED.search(line) and not PROGRESS.search(line))
    return TIMES.sub('TIME', text)


def content(path):
    with open(path, 'rb') as file:
        raw = file.read()
    if path.endswith('.gz'):
        raw = gzip.decompress(raw)
    return raw


def close(a, b, factor):
    """Two texts that are the same but for numbers, which differ by no more than that share of the larger."""
    if NUMBER.sub('#', a) != NUMBER.sub('#', b):
        return False
    for left, right in zip(NUMBER.findall(a), NUMBER.findall(b)):
        left, right = float(left), float(right)
        if abs(left - right) > factor * max(abs(left), abs(right), 1e-9):
            return False
    return True


def arrays(path, raw):
    if path.endswith('.npy'):
        import io
        return np.load(io.BytesIO(raw)).astype(float)
    if re.search(r'\.nii(\.gz)?$', path):
        import nibabel
        return np.asarray(nibabel.Nifti1Image.from_bytes(raw).dataobj, float)
    return None


def first_difference(a, b):
    old, new = a.splitlines(), b.splitlines()
    for i, (left, right) in enumerate(zip(old, new)):
        if left != right:
            at = next((k for k, (c, d) in enumerate(zip(left, right)) if c != d), min(len(left), len(right)))
            start = max(0, at - 60)
            return 'line %d\n      before: %s\n      now:    %s' % (i + 1, left[start:at + 80], right[start:at + 80])
    return '%d lines before, %d now' % (len(old), len(new))


def compare_text(a, b, renames, factor):
    a, b = text_of(a), text_of(b)
    for rename in renames:
        if rename['where'] == 'line':
            a, b = (''.join(line for line in text.splitlines(True) if line.strip() != rename['now']) for text in (a, b))
        else:
            a = a.replace(rename['before'], rename['now'])
    if a == b or (factor and close(a, b, factor)):
        return None
    return first_difference(a, b)


def compare_files(old, new, renames, factor):
    a, b = content(old), content(new)
    if a == b:
        return None
    if re.search(r'\.(npy|nii|nii\.gz)$', new):
        left, right = arrays(old, a), arrays(new, b)
        if left.shape != right.shape:
            return 'shape %s before, %s now' % (left.shape, right.shape)
        size = np.nanmax(np.abs(left)) if left.size else 0
        apart = np.nanmax(np.abs(left - right)) if left.size else 0
        if factor and apart <= factor * size:
            return None
        return 'values up to %g apart of %g' % (apart, size)
    return compare_text(a, b, renames, factor)


def files_of(folder):
    found = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in ('examples', 'tables')]
        for name in names:
            path = os.path.join(root, name)
            found[os.path.relpath(path, folder)] = path
    return found


def renamed(path, renames):
    for rename in renames:
        if rename['where'] == 'file':
            path = path.replace(rename['before'], rename['now'])
    return path


def main():
    commands = needed(read_commands())
    renames = table('renames.tsv')
    rounding = {row['command']: float(row['factor']) for row in table('rounding.tsv')}
    texts = [row for row in renames if row['where'] in ('text', 'file', 'line')]

    def old_words(words):
        for rename in renames:
            if rename['where'] == 'command':
                words = words.replace(rename['now'], rename['before'])
        return words

    folders = [os.path.join(work, 'before'), os.path.join(work, 'now')]
    old = run_all(before, folders[0], commands, old_words, os.environ.get('SAME_BEFORE', ''))
    new = run_all(now, folders[1], commands, lambda words: words, os.environ.get('SAME_NOW', ''))

    differences, compared = [], 0
    for name in commands:
        if new[name]['exit'] != expected[name]:
            differences.append('%s: exit %s, not %s: %s' % (name, new[name]['exit'], expected[name], new[name]['err']))
        for stream in ('exit', 'out', 'err'):
            compared += 1
            said = compare_text(old[name][stream], new[name][stream], texts, rounding.get(name, 0))
            if said:
                differences.append('%s (%s): %s' % (name, stream, said))
    old_files = {renamed(path, renames): full for path, full in files_of(folders[0]).items()}
    new_files = files_of(folders[1])
    for path in sorted(old_files.keys() | new_files.keys()):
        compared += 1
        if path not in old_files or path not in new_files:
            differences.append('%s is only there %s' % (path, 'now' if path in new_files else 'before'))
            continue
        said = compare_files(old_files[path], new_files[path], texts, rounding.get(path.split('/')[0], 0))
        if said:
            differences.append('%s: %s' % (path, said))
    for line in differences:
        print('DIFFERENT ' + line)
    print('same: %d commands, %d outputs compared, %d differ' % (len(commands), compared, len(differences)))
    return 1 if differences else 0


sys.exit(main())
