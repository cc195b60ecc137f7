"""The same commands by two builds of voxsift: exit codes, what they print and every file they write, compared.

same.py BEFORE NOW WORK [PATTERN]: two programs, a directory to work in, and perhaps a regular expression that chooses
commands (what they need comes along). commands.txt lists them. Seconds, versions and the like are left out. Three lists
say what differs on purpose: renames.tsv, rounding.tsv (commands whose numbers may differ by so much, since sums change
their order) and changes.tsv (outputs that are meant to differ, with the reason; `part`: lines of them alone). Each of their rows names the revision
it came with; with SAME_BASE, the revision of BEFORE, those that BASE has already do not count. With SAME_BITS=1 both are
one revision, built or run in two ways: only rows of any two builds (-) count. SAME_THREADS: threads of each command, else 1;
SAME_BEFORE, SAME_NOW: variables (NAME=VALUE, blanks between) that the commands of one build alone get.

renames.tsv, by its column where (its column output: a regular expression; only there):
  command  text of a command: the old program gets `before` for `now`
  old      what the old program gets of commands that match `before` (a regular expression; groups as \\1)
  option   an option that commands matching `before` get in the new program alone, since a default has changed
  file     part of a file's name
  key      a key of JSON or a column of a table, or the end of a path of keys (outputs.rounds); a path that begins
           with a dot is all of it; `now` empty: gone; `before` empty: new
  value    a value of JSON: path=value
  round    a column of tables (a regular expression), whose numbers have `now` decimals now
  text     any text of the old outputs
  prose    outputs that match `before` (command or file, then .out or .err) are said in other words: what remains to be
           compared is that the numbers of the old text are in the new one"""
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


def is_in_base(revision, known={}):
    base = os.environ.get('SAME_BASE')
    if revision == '-':  # of any two builds
        return False
    if os.environ.get('SAME_BITS') == '1':
        return True
    if not base:
        return False
    if revision not in known:
        done = subprocess.run(['git', '-C', here, 'merge-base', '--is-ancestor', revision, base])
        assert done.returncode < 2, 'no such revision: %s or %s' % (revision, base)
        known[revision] = done.returncode == 0
    return known[revision]


def table(name):
    """The rows of a list that count: those of changes that came after the revision of the old program."""
    with open(os.path.join(here, name), newline='') as file:
        return [row for row in csv.DictReader(file, delimiter='\t') if not is_in_base(row['since'])]


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


SUM = re.compile(r'^[0-9a-f]{64}(?=  \S)', re.M)  # of files that are compared themselves
PROGRESS = re.compile(r', [0-9.e+]+/s|% .*left')  # lines that slow machines say and fast ones do not


def lines_of(value, path=''):
    """JSON as lines path=value, without what no two runs share."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not UNSTEADY.search(key):
                yield from lines_of(item, path + '.' + key if path else key)
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        for item in value:
            yield from lines_of(item, path)
    else:
        yield '%s=%s' % (path, json.dumps(value, ensure_ascii=False))


def has_end(path, end):
    if end.startswith('.'):
        return ('.' + path + '.').startswith(end + '.')
    return path == end or path.endswith('.' + end) or path.startswith(end + '.') or '.' + end + '.' in path


def rename_key(line, renames, is_old):
    """A line of JSON by the names of now; None: it is nothing to compare."""
    path, value = line.split('=', 1)
    for rename in renames:
        before, after = rename['before'], rename['now']
        if rename['where'] == 'value' and is_old and line.endswith(before) and has_end(path, before.split('=')[0]):
            return after
        if rename['where'] != 'key':
            continue
        if not (before and after):
            if has_end(path, before or after):
                return None
        elif is_old and has_end(path, before):
            path = ('.' + path + '.').replace('.%s.' % before, '.%s.' % after, 1).strip('.')
    return path + '=' + value


def rounded(rows, renames):
    places = {k: int(rename['now']) for k, name in enumerate(rows[0].split('\t')) for rename in renames
              if rename['where'] == 'round' and re.fullmatch(rename['before'], name)}
    for number, row in enumerate(rows[1:] if places else [], 1):
        cells = row.split('\t')
        for place, decimals in places.items():
            if place < len(cells) and NUMBER.fullmatch(cells[place]):
                cells[place] = '%g' % round(float(cells[place]), decimals)
        rows[number] = '\t'.join(cells)
    return rows


def text_of(raw, renames, is_old):
    """What a file or stream says, as lines of text to compare: JSON a path a line, others as they are."""
    text = raw.decode('utf-8', 'replace') if isinstance(raw, bytes) else raw
    try:
        named = (rename_key(line, renames, is_old) for line in lines_of(json.loads(text)))
        text = '\n'.join(sorted((line for line in named if line is not None), key=lambda line: line.split('=')[0]))
    except ValueError:
        pass
    rows = text.split('\n')
    for number, row in enumerate(rows):
        head = row.split('\t')
        if 'seconds' in head:  # a table with a column of them
            place = head.index('seconds')
            rows[number:] = ['\t'.join(cell for k, cell in enumerate(line.split('\t')) if k != place)
                             for line in rows[number:]]
    if len(rows) > 1 and '\t' in rows[0] and is_old:
        names = {rename['before']: rename['now'] for rename in renames if rename['where'] == 'key' and rename['now']}
        rows[0] = '\t'.join(names.get(cell, cell) for cell in rows[0].split('\t'))
        rows = rounded(rows, renames)
    text = '\n'.join(line for line in rows if not PROGRESS.search(line))
    text = TIMES.sub('TIME', SUM.sub('SUM', text))
    if is_old:
        for rename in renames:
            if rename['where'] == 'text':
                text = text.replace(rename['before'], rename['now'])
    return text


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
        if abs(left - right) > factor * max(abs(left), abs(right), 1e-6):
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


def in_other_words(name, renames):
    return any(rename['where'] == 'prose' and re.fullmatch(rename['before'], name) for rename in renames)


def numbers_of(text):
    """The numbers of a text for people: what stands between tags, without names that have digits in them."""
    text = html.unescape(re.sub(r'(?s)<(style|script|svg)\b.*?</\1>|<[^>]*>|TIME', ' ', text)).replace('\u2212', '-')
    return [(float(word), word + percent)
            for word, percent in re.findall(r'(?<![\w.-])([-+]?\d+\.?\d*(?:e[-+]?\d+)?)(?![\w.]*\w)( %)?', text)]


def missing_numbers(a, b):
    """What the old text says in numbers and the new one does not: both round, to three digits or whole per cents."""
    now = [value for value, _ in numbers_of(b)]
    lost = [word for value, word in numbers_of(a)
            if not any(abs(value - other) <= max(0.006 * abs(value), 0.5 if '%' in word else 0.0006) for other in now)]
    return 'in other words, without the numbers ' + ' '.join(lost) if lost else None


def compare_text(name, a, b, renames, factor, apart=None):
    renames = [rename for rename in renames if not rename.get('output') or re.match(rename['output'], name)]
    a, b = text_of(a, renames, True), text_of(b, renames, False)
    if apart:
        a, b = ('\n'.join(line for line in text.split('\n') if not apart.fullmatch(line)) for text in (a, b))
    if a == b or (factor and close(a, b, factor)):
        return None
    is_json = all(re.match(r'[\w.-]+=', line) for line in b.split('\n'))
    return missing_numbers(a, b) if in_other_words(name, renames) and not is_json else first_difference(a, b)


def compare_files(name, old, new, renames, factor, apart=None):
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
    return compare_text(name, a, b, renames, factor, apart)


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


def old_words(words, renames):
    for rename in renames:
        if rename['where'] == 'command':
            words = words.replace(rename['now'], rename['before'])
        elif rename['where'] == 'old':
            words = re.sub(rename['before'], rename['now'], words)
    return words


def new_words(words, renames):
    for rename in renames:
        if rename['where'] == 'option' and re.search(rename['before'], words):
            words += ' ' + rename['now']
    return words


def main():
    commands = needed(read_commands())
    renames, changes = table('renames.tsv'), table('changes.tsv')
    rounding = {name: max(float(row['factor']) for row in rows) for name in commands
                for rows in [[row for row in table('rounding.tsv') if re.fullmatch(row['command'], name)]] if rows}
    folders = [os.path.join(work, 'before'), os.path.join(work, 'now')]
    old = run_all(before, folders[0], commands, lambda words: old_words(words, renames), os.environ.get('SAME_BEFORE', ''))
    renames += [{'where': 'text', 'before': 'voxsift ' + old_words(words, renames), 'now': 'voxsift ' + new_words(words, renames)}
                for words in commands.values()]  # the commands themselves, which outputs name
    new = run_all(now, folders[1], commands, lambda words: new_words(words, renames), os.environ.get('SAME_NOW', ''))

    differences, meant, compared = [], [], 0

    def note(name, compare):
        said = compare(None)
        if not said:
            return
        rows = [row for row in changes if re.fullmatch(row['output'], name)]
        parts = [row['part'] for row in rows if row['part']]
        remains = None if any(not row['part'] for row in rows) else compare(re.compile('|'.join(parts))) if parts else said
        (differences if remains else meant).append('%s: %s' % (name, remains or '; '.join(row['why'] for row in rows)))

    for name in commands:
        if new[name]['exit'] != expected[name]:
            differences.append('%s: exit %s, not %s: %s' % (name, new[name]['exit'], expected[name], new[name]['err']))
        for stream in ('exit', 'out', 'err'):
            compared += 1
            output = name + '.' + stream
            note(output, lambda apart: compare_text(output, old[name][stream], new[name][stream], renames,
                                                    rounding.get(name, 0), apart))
    old_files = {renamed(path, renames): full for path, full in files_of(folders[0]).items()}
    new_files = files_of(folders[1])
    for path in sorted(old_files.keys() | new_files.keys()):
        compared += 1
        if path not in old_files or path not in new_files:
            note(path, lambda apart: 'only there %s' % ('now' if path in new_files else 'before'))
            continue
        note(path, lambda apart: compare_files(path, old_files[path], new_files[path], renames,
                                               rounding.get(path.split('/')[0], 0), apart))
    for line in meant:
        print('MEANT     ' + line)
    for line in differences:
        print('DIFFERENT ' + line)
    print('same: %d commands, %d outputs compared, %d differ, %d as they are meant to'
          % (len(commands), compared, len(differences), len(meant)))
    return 1 if differences else 0


if __name__ == '__main__':
    sys.exit(main())
