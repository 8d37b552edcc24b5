"""The project itself: its metadata, its README's commands, and what importing each module costs and promises"""
import ast, configparser, importlib, inspect, json, re, subprocess, sys, tempfile, tomllib
from pathlib import Path
import pytest, yaml

root = Path(__file__).parents[1]
nbs = sorted((root/'nbs').glob('*.ipynb'))

def code_cells(nb): return [''.join(c['source']) for c in json.loads(nb.read_text(encoding='utf-8'))['cells'] if c['cell_type']=='code']

def module_name(nb):
    "The module that notebook `nb` exports to, or None"
    m = re.search(r'^#\|\s*default_exp\s+(\S+)', '\n'.join(code_cells(nb)), re.M)
    return m and m[1]

modules = [f'llmsurgery.{m}' for m in map(module_name, nbs) if m]

# --- metadata

proj = tomllib.loads((root/'pyproject.toml').read_text(encoding='utf-8'))

def settings():
    cp = configparser.ConfigParser(delimiters='=', interpolation=None)
    cp.read(root/'settings.ini', encoding='utf-8')
    return dict(cp['DEFAULT'])

def joined(reqs): return ' '.join(r.replace(' ', '') for r in reqs)

def test_settings_ini_says_what_pyproject_says():
    from nbdev.config import get_config
    p, cfg = proj['project'], get_config(root)
    assert settings()==dict(lib_name=p['name'], lib_path=' '.join(proj['tool']['setuptools']['packages']['find']['include']), version=cfg.version,
        description=p['description'], license=p['license'], min_python=p['requires-python'].removeprefix('>='), keywords=' '.join(p['keywords']),
        requirements=joined(p['dependencies']), dev_requirements=joined(p['optional-dependencies']['dev']),
        console_scripts=' '.join(f'{k}={v}' for k,v in p['scripts'].items()), title=cfg.title,
        **{k:getattr(cfg, k).relative_to(root).as_posix() for k in ('nbs_path', 'doc_path')})

def test_version_is_the_same_everywhere():
    import llmsurgery
    assert llmsurgery.__version__==settings()['version']
    assert proj['tool']['setuptools']['dynamic']['version']=={'attr':'llmsurgery.__version__'}
    assert f"## [{llmsurgery.__version__}]" in (root/'CHANGELOG.md').read_text(encoding='utf-8')

def test_no_address_is_made_up(): assert 'urls' not in proj['project']

def test_every_python_that_is_named_is_tried():
    "In .ci/run, which the workflow runs too"
    named = re.findall(r'Python :: (3\.\d+)', ' '.join(proj['project']['classifiers']))
    script = (root/'.ci'/'run').read_text(encoding='utf-8')
    assert named[0]==settings()['min_python'] and f'find_python {named[0]}' in script and f'for v in {" ".join(named[1:])};' in script
    all_ = yaml.safe_load((root/'.github'/'workflows'/'test.yaml').read_text(encoding='utf-8'))['jobs']['all']['steps']
    assert all_[1]['with']['python-version'].split()==named[::-1] and all_[2]=={'run':'bash .ci/run'}

# --- README

commands = ['pip install -e . && llmsurgery demo', "pip install -e '.[dev]' && nbdev-test && pytest -q"]

def test_readme_holds_exactly_the_two_commands():
    blocks = re.findall(r'^```[ \t]*(\w*)\n(.*?)^```$', (root/'README.md').read_text(encoding='utf-8'), re.M|re.S)
    assert [b.rstrip('\n') for lang,b in blocks if 'pip ' in b or 'pytest' in b]==commands

def test_readme_is_what_the_index_notebook_says():
    r = subprocess.run([sys.executable, 'tools/build_readme.py', '--check'], cwd=root, capture_output=True, text=True)
    assert not r.returncode, r.stderr

# --- what is tracked

def tracked():
    r = subprocess.run(['git', 'ls-files', '-z'], cwd=root, capture_output=True, text=True)
    if r.returncode: pytest.skip('no git checkout')
    return [f for f in r.stdout.split('\0') if f and (root/f).is_file()]

def test_no_tracked_file_names_this_machine_or_a_registry():
    here = {f'{p.as_posix()}/' for p in (root, root.parent, Path.home()) if p not in (Path('/'), Path(tempfile.gettempdir()))}
    hosts = {'.'.join(h) for h in [('pypi', 'org'), ('python' 'hosted', 'org'), ('registry', 'npmjs'), ('deb', 'debian')]}
    bad = []
    for f in tracked():
        txt = (root/f).read_bytes().decode('utf-8', 'replace')
        bad += [f'{f}: {s}' for s in here|hosts if s in txt]
    assert not bad

def test_no_build_output_is_tracked():
    assert not [f for f in tracked() if re.search(r'(^|/)(_proc|_docs|\.venv|__pycache__|\.ipynb_checkpoints|[^/]*\.egg-info)/', f)]

# --- notebooks

@pytest.mark.parametrize('nb', nbs, ids=lambda p: p.name)
def test_first_cell_holds_title_and_sentence_alone(nb):
    "nbdev makes the page's title and description of the first cell, and drops what else it holds"
    first = json.loads(nb.read_text(encoding='utf-8'))['cells'][0]
    assert first['cell_type']=='markdown' and re.fullmatch(r'# \S[^\n]*\n\n> \S[^\n]*', ''.join(first['source']))

@pytest.mark.parametrize('nb', nbs, ids=lambda p: p.name)
def test_no_cell_mixes_imports_and_other_code(nb):
    "nbdev runs a cell that holds an import when it makes the docs, and in that run no other cell was run before it"
    bad = []
    for src in code_cells(nb):
        if re.search(r'^#\|\s*eval:\s*false|nbdev_export\(\)|^\s*[%!]', src, re.M): continue
        kinds = {isinstance(t, (ast.Import, ast.ImportFrom)) for t in ast.parse(src).body}
        if len(kinds)>1 and not re.search(r'^#\|\s*exports?i?\b', src, re.M): bad.append(src)
    assert not bad

@pytest.mark.parametrize('nb', nbs, ids=lambda p: p.name)
def test_links_between_modules_point_back(nb):
    "A module imports only modules whose notebooks stand before its own"
    before = {module_name(n) for n in nbs[:nbs.index(nb)]}
    used = {t.module for src in code_cells(nb) if re.search(r'^#\|\s*exports?i?\b', src, re.M) for t in ast.walk(ast.parse(src))
            if isinstance(t, ast.ImportFrom) and t.level==1}
    assert used <= before

# --- modules

def fresh(code, *args):
    "What `code` prints in a new interpreter that knows this checkout and nothing of this one"
    code = f'import sys; sys.path.insert(0, {str(root)!r})\n{code}'
    r = subprocess.run([sys.executable, '-I', '-c', code, *args], capture_output=True, text=True, cwd=tempfile.gettempdir(), timeout=60)
    assert not r.returncode, r.stderr
    return r.stdout

heavy = {'IPython', 'PIL', 'fastllm', 'httpx', 'hypothesis', 'nbdev', 'nbformat', 'pytest', 'requests', 'rich', 'typer'}

@pytest.mark.parametrize('name', modules)
def test_module_imports_by_itself(name):
    "All its names are there, and nothing heavy came along; the command alone may load what draws on the terminal"
    out = json.loads(fresh(f'''
import importlib, json
before = set(sys.modules)
mod = importlib.import_module({name!r})
exec('from {name} import *', ns := {{}})
print(json.dumps([mod.__file__, sorted(set(mod.__all__)-set(ns)), sorted({{m.split('.')[0] for m in set(sys.modules)-before}})]))'''))
    file, missing, loaded = out
    assert Path(file).parent==root/'llmsurgery' and not missing
    assert not heavy & set(loaded) - ({'rich', 'typer'} if name in ('llmsurgery.cli', 'llmsurgery.__main__') else set())

@pytest.mark.parametrize('name', modules)
def test_module_defines_every_global_it_reads(name):
    "A notebook's globals hide a missing import; the compiled code does not"
    out = fresh(f'''
import builtins, dis, importlib, types
mod = importlib.import_module({name!r})
def reads(code):
    for i in dis.get_instructions(code):
        if i.opname=='LOAD_GLOBAL': yield i.argval
    for c in code.co_consts:
        if isinstance(c, types.CodeType): yield from reads(c)
code = compile(open(mod.__file__, encoding='utf-8').read(), mod.__file__, 'exec')
print(*sorted({{n for n in reads(code) if not hasattr(mod, n) and not hasattr(builtins, n)}}))''')
    assert not out.split()

def public():
    """Module, name and object of each public function, class, method and property of the package. What `@patch` adds belongs to the module
    that adds it; what overrides a method of another of the package's classes is told of there."""
    mods = [importlib.import_module(m) for m in modules]
    for mod in mods:
        for n in mod.__all__:
            o = getattr(mod, n)
            if not (inspect.isfunction(o) or inspect.isclass(o)) or o.__module__!=mod.__name__: continue
            yield mod.__name__, n, o
            told = {k for b in o.__mro__[1:] if b.__module__ in modules for k in vars(b)} if inspect.isclass(o) else ()
            for k,v in vars(o).items() if inspect.isclass(o) else ():
                if k in told: continue
                f = v.fget if isinstance(v, property) else getattr(v, '__func__', v)
                if not k.startswith('_') and inspect.isfunction(f) and f.__module__ in modules: yield f.__module__, f'{n}.{k}', v

def test_every_public_name_has_a_docstring(): assert not [f'{m}.{n}' for m,n,o in public() if not (o.__doc__ or '').strip()]
