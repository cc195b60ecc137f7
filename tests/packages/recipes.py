"""The recipes of docs/packaging say what they must: recipes.py FOLDER VERSION ARCHIVE."""
import re
import sys

import yaml

folder, version, archive = sys.argv[1:]

text = open(folder + '/voxsift.def').read()
header, *rest = re.split(r'^%(\w+)\n', text, flags=re.M)
sections = dict(zip(rest[::2], rest[1::2]))
keys = dict(line.split(': ', 1) for line in header.splitlines() if line and not line.startswith('#'))
assert keys['Bootstrap'] == 'docker' and keys['From'], keys
assert {'files', 'post', 'environment', 'runscript', 'test', 'labels', 'help'} <= set(sections), sorted(sections)
for name, body in sections.items():
    assert all(not line or line.startswith('    ') for line in body.splitlines()), name
assert 'ARCHIVE=build/%s\n' % archive in sections['arguments'], sections['arguments']
assert re.search(r'^    Version %s$' % re.escape(version), sections['labels'], re.M)

# Comments in brackets are selectors, which conda-build reads before YAML is read.
recipe = yaml.safe_load(open(folder + '/conda/meta.yaml'))
assert recipe['package'] == {'name': 'voxsift', 'version': version}, recipe['package']
assert recipe['source']['path'] == '../../../build/' + archive, recipe['source']
assert recipe['test']['commands'] and recipe['about']['license'] == 'BSD-3-Clause'
print('recipes: right')
