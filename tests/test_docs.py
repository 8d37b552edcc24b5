"""The docs site: it builds, leads nowhere wrong, shows every public symbol, and works in a browser"""
import enum, importlib.util, inspect, json, os, re, shutil, subprocess, sys, threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
import pytest
from fastcore.docments import docments
from nbdev.config import nbpath2html
from test_project import module_name, nbs, public, root, tracked

pages = [nbpath2html(nb).stem for nb in nbs]
page_of = {f'llmsurgery.{m}':p for p,m in zip(pages, map(module_name, nbs)) if m}

def title(nb): return ''.join(json.loads(nb.read_text(encoding='utf-8'))['cells'][0]['source']).split('\n')[0].removeprefix('# ')

def run(*args, cwd=root, env=()): return subprocess.run([sys.executable, *map(str, args)], cwd=cwd, env={**os.environ, **dict(env)}, capture_output=True, text=True)

@pytest.fixture(scope='session')
def www(tmp_path_factory):
    "A web server's folder that holds the site in a folder of a folder, since it may be published anywhere"
    res = tmp_path_factory.mktemp('www')
    r = run('tools/build_docs.py', res/'some'/'base')
    assert not r.returncode, r.stdout+r.stderr
    return res

@pytest.fixture(scope='session')
def site(www): return www/'some'/'base'

# --- what is built

def test_each_notebook_has_a_page_and_a_markdown_copy(site):
    llms = re.findall(r'^- \[(.*)\]\((.*)\)$', (site/'llms.txt').read_text(encoding='utf-8'), re.M)
    assert sorted(llms)==sorted((title(nb), f'{p}.html.md') for nb,p in zip(nbs, pages))
    assert llms[0][1]=='index.html.md'
    for nb,p in zip(nbs, pages):
        assert (site/f'{p}.html').is_file()
        assert (site/f'{p}.html.md').read_text(encoding='utf-8').startswith(f'# {title(nb)}\n\n')

def test_site_depends_on_no_address(site):
    for f in [*site.glob('*.html'), *site.glob('*.md'), site/'llms.txt', *site.rglob('*.css')]:
        txt = f.read_text(encoding='utf-8')
        assert not re.search(r'@import url\(["\']?http|(?:href|src)="/|\]\(/', txt), f.name
        assert '__main__.' not in txt, f.name

def build_docs():
    spec = importlib.util.spec_from_file_location('build_docs', root/'tools'/'build_docs.py')
    mod = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mod)
    return mod

def test_broken_links_are_found(tmp_path):
    (tmp_path/'b').mkdir()
    (tmp_path/'b'/'index.html').write_text('<h2 id="x y">X</h2><a href="../a.html#no">1</a><a href="../gone.html">2</a><a href="../a.html#in">ok</a>')
    (tmp_path/'a.html').write_text('<p id="in"><a href="b/#x%20y">ok</a><a href="b">ok</a><a href="#">ok</a><a href="#no">3</a>'
        '<img src="no.png"><a href="/a.html">4</a><a href="mailto:a@b">ok</a><a href="//other/x.html">ok</a>')
    (tmp_path/'a.html.md').write_text('[ok](a.html) [5](no.html.md)\n`[ok](code.html)`\n\n```\n[ok](fence.html)\n```\n\n    [ok](indented.html)\n')
    (tmp_path/'llms.txt').write_text('- [a](a.html.md)\n- [6](c.html.md)\n')
    assert set(build_docs().broken_links(tmp_path))=={'b/index.html: no anchor ../a.html#no', 'b/index.html: no file ../gone.html', 'a.html: no anchor #no',
        'a.html: no file no.png', 'a.html: no file /a.html', 'a.html.md: no file no.html.md', 'llms.txt: no file c.html.md'}

def test_only_a_site_is_replaced(tmp_path):
    (tmp_path/'mine.txt').write_text('mine')
    r = run('tools/build_docs.py', tmp_path)
    assert r.returncode==1 and 'is no site' in r.stderr and (tmp_path/'mine.txt').read_text()=='mine'

@pytest.fixture
def copy(tmp_path):
    "A copy of the project that a test may change"
    for f in tracked():
        (to := tmp_path/'copy'/f).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root/f, to)
    return tmp_path/'copy'

def run_copy(copy, *args): return run(*args, cwd=copy, env={'PYTHONPATH':str(copy)})

def test_a_broken_link_fails_the_build(copy):
    nb = copy/'nbs'/'index.ipynb'
    d = json.loads(nb.read_text(encoding='utf-8'))
    d['cells'].append(dict(cell_type='markdown', id='broken', metadata={}, source='[a](gone.ipynb) [b](index.ipynb#gone) [c](index.ipynb)'))
    nb.write_text(json.dumps(d), encoding='utf-8')
    r = run_copy(copy, 'tools/build_docs.py', copy/'out')
    assert r.returncode==1
    assert 'index.html: no file gone.html' in r.stdout and 'index.html: no anchor index.html#gone' in r.stdout and r.stdout.count('no file')<4

def test_addresses_are_used_once_they_are_known(copy):
    toml = copy/'pyproject.toml'
    urls = '[project.urls]\nRepository = "https://code.example/me/proj"\nDocumentation = "https://docs.example/proj/"\n\n'
    toml.write_text(toml.read_text(encoding='utf-8').replace('[project.scripts]', urls+'[project.scripts]'), encoding='utf-8')
    for args in (['-c', 'from nbdev.doclinks import nbdev_export; nbdev_export()'], ['tools/build_readme.py'], ['tools/build_docs.py', copy/'out']):
        r = run_copy(copy, *args)
        assert not r.returncode, r.stdout+r.stderr
    js, index = ((copy/'out'/f'{p}.html').read_text(encoding='utf-8') for p in ('js', 'index'))
    assert 'href="https://code.example/me/proj/blob/main/llmsurgery/js.py#L' in js
    assert 'href="dialog.html#dialog"' in index and 'href="https://docs.example/' not in index
    assert '(https://docs.example/proj/dialog.html#dialog)' in (copy/'README.md').read_text(encoding='utf-8')
    assert 'https://docs.example/proj/js.html.md' in (copy/'out'/'llms.txt').read_text(encoding='utf-8')

# --- what is shown of each symbol

def sections(txt):
    "The Markdown under each heading of page `txt`, by heading"
    res, name, fence = {}, '', False
    for l in txt.split('\n'):
        fence ^= l.startswith('```')
        if (m := re.match(r'#+ (.*)', l)) and not fence: name = m[1].replace('\\', '')
        res[name] = f'{res.get(name, "")}{l}\n'
    return res

@pytest.fixture(scope='session')
def shown(site): return {p:(site/f'{p}.html.md').read_text(encoding='utf-8') for p in pages}

def symbols():
    "Page, name there, and object of each public function, class and method; a class's own section tells of its properties"
    for m,name,o in public():
        if not isinstance(o, property): yield page_of[m], name, getattr(o, '__func__', o)

def has_help(p):
    "Whether parameter `p` of a command says in the terminal what it is"
    return any(getattr(a, 'help', None) for a in (p.default, *getattr(p.annotation, '__metadata__', ())))

def undocumented(o):
    "The parameters of `o` that nothing is said of: beside them, in the docstring, or in the terminal"
    if hasattr(o, '_fields'):
        src = inspect.getsource(o) if '__annotations__' in vars(o) else '' # that of `namedtuple()` tells nothing
        return [f for f in o._fields if not re.search(rf'^ +{f}:.*# \S', src, re.M)]
    if inspect.isclass(o) and ('__init__' not in vars(o) or issubclass(o, enum.Enum)): return []
    said, params = docments(o), inspect.signature(o, eval_str=True).parameters
    def ok(k, p): return k in ('self', 'cls') or said.get(k) or f'`{k}`' in (o.__doc__ or '') or has_help(p) or re.search(rf'\*\*{k}\b.*# \S', inspect.getsource(o))
    return [k for k,p in params.items() if not ok(k, p)]

signature = r'^(#+ [^\n]*\n\n)```python\n((?:@\w+\n)?(?:async )?(?:def|class) .*?)^```'

def test_each_symbol_has_a_section_with_its_signature(shown):
    secs = {p:sections(t) for p,t in shown.items()}
    def ok(page, name): return (m := re.search(signature, secs[page].get(name, ''), re.M|re.S)) and re.search(rf'(def|class) {name.split(".")[-1]}\b', m[2])
    assert not [f'{p}: {name}' for p,name,o in symbols() if not ok(p, name)]

def test_each_parameter_is_documented(): assert not [f'{p}: {name}: {bad}' for p,name,o in symbols() if (bad := undocumented(o))]

def test_each_symbol_has_an_example(shown):
    code = '\n'.join(c for t in shown.values() for _,c in re.findall(r'^(```+)python\n(.*?)^\1', re.sub(signature, r'\1', t, flags=re.M|re.S), re.M|re.S))
    def used(name): return re.search((r'(\.|def )' if '.' in name else r'\b')+name.split('.')[-1]+r'\b', code)
    assert not [f'{p}: {name}' for p,name,o in symbols() if not (used(name) or any(used(f'{name}.{f}') for f in getattr(o, '_fields', ())))]

def test_no_section_is_empty(shown):
    "A heading, then one that is no part of it, says that a reader was forgotten"
    bad = []
    for p,t in shown.items():
        heads = [(m[1], m[2], m.end(), m.start()) for m in re.finditer(r'^(#+) (.*)$', re.sub(r'^(```+).*?^\1', lambda m: re.sub(r'[^\n]', '.', m[0]), t, flags=re.M|re.S), re.M)]
        bad += [f'{p}: {a[1]}' for a,b in zip(heads, heads[1:]) if len(b[0])<=len(a[0]) and not t[a[2]:b[3]].strip()]
    assert not bad

def test_no_heading_repeats_a_symbols_name(shown):
    "Or else links to the symbol lead to that heading, whose anchor is the same"
    bad = []
    for p,t in shown.items():
        heads = re.findall(r'^##+ (.*)$', re.sub(r'^(```+).*?^\1', '', t, flags=re.M|re.S), re.M)
        slugs = [h.lower().replace('\\', '') for h in heads]
        bad += [f'{p}: {name}' for page,name,_ in symbols() if page==p and slugs.count(name.lower())>1]
    assert not bad

# --- in a browser

chromium = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
needs_browser = pytest.mark.skipif(not chromium, reason="there is no Chromium, such as Debian's package chromium has")
args = ('--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync').split()

class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_): pass

@pytest.fixture(scope='session')
def url(www):
    "The address of the served site"
    with ThreadingHTTPServer(('127.0.0.1', 0), partial(Quiet, directory=www)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f'http://127.0.0.1:{server.server_port}/some/base'
        server.shutdown()

@pytest.fixture(scope='session')
def browser():
    from playwright.sync_api import sync_playwright
    with sync_playwright() as p:
        b = p.chromium.launch(executable_path=chromium, args=args)
        yield b
        b.close()

@pytest.fixture(params=['light', 'dark'])
def mode(request): return request.param

@pytest.fixture
def tab(browser, mode):
    "A tab of a browser in light or dark mode, in which nothing may fail or be fetched from elsewhere"
    ctx = browser.new_context(viewport=dict(width=1400, height=1000), color_scheme=mode)
    tab, bad = ctx.new_page(), []
    tab.on('console', lambda m: bad.append(m.text) if m.type in ('error', 'warning') else None)
    tab.on('pageerror', lambda e: bad.append(str(e)))
    tab.on('requestfailed', lambda r: bad.append(r.url) if r.failure!='net::ERR_ABORTED' else None) # aborted: the tab went on to another page
    tab.on('request', lambda r: None if r.url.startswith(('http://127.0.0.1:', 'data:')) else bad.append(r.url))
    yield tab
    ctx.close()
    assert not bad

contrast = """sel => [...document.querySelectorAll(sel)].filter(e => e.offsetParent && e.textContent.trim()).map(e => {
    const rgb = s => s.match(/[\\d.]+/g).map(Number)
    const over = (a, b) => a.slice(0, 3).map((v, i) => v*(a[3] ?? 1) + b[i]*(1 - (a[3] ?? 1)))
    const lum = c => c.map(v => (v /= 255) <= .03928 ? v/12.92 : ((v+.055)/1.055)**2.4).reduce((t, v, i) => t + v*[.2126, .7152, .0722][i], 0)
    const under = n => n ? over(rgb(getComputedStyle(n).backgroundColor), under(n.parentElement)) : [255, 255, 255]
    const bg = under(e), [a, b] = [lum(over(rgb(getComputedStyle(e).color), bg)), lum(bg)].sort()
    return [(b+.05)/(a+.05), e.textContent.slice(0, 40)] }).sort((a, b) => a[0] - b[0])[0]"""

@needs_browser
@pytest.mark.parametrize('nb', nbs, ids=lambda p: p.name)
def test_page_renders(nb, url, tab, mode):
    tab.goto(f'{url}/{nbpath2html(nb).name}')
    assert tab.inner_text('h1.title')==title(nb)
    assert tab.locator('main p').count()>1 and tab.locator('main pre code span').count()
    assert tab.locator('#quarto-sidebar .menu-text').all_inner_texts()==[title(n) for n in sorted(nbs, key=lambda n: n.stem!='index')]
    assert tab.inner_text('#quarto-sidebar .active .menu-text')==title(nb)
    dark = tab.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] < 100")
    assert dark==(mode=='dark')
    for sel in ('main p', 'main li', 'main a', 'main pre code, main pre code span', ':not(pre) > code', '#quarto-sidebar a', '#TOC a', '.navbar-title'):
        if res := tab.evaluate(contrast, sel): assert res[0]>=4.5, (sel, res)
    tab.set_viewport_size(dict(width=400, height=800))
    assert tab.evaluate('document.documentElement.scrollWidth')<=400

@needs_browser
@pytest.mark.parametrize('page,name', [('hist', 'dlg2chat'), ('js', 'obj2js')])
def test_search_leads_to_a_symbols_section(page, name, url, tab):
    if page not in pages: pytest.skip(f'no module {page} yet')
    tab.goto(f'{url}/index.html')
    tab.fill('.smalldocs-search input', name)
    tab.wait_for_selector('.search-result')
    assert tab.evaluate(contrast, '.search-result div')[0]>=4.5
    tab.locator('.search-result').first.click()
    tab.wait_for_url(f'{url}/{page}.html#{name}')
    tab.wait_for_function(f"Math.abs(document.getElementById('{name}').getBoundingClientRect().top) < innerHeight/2")
    assert name in tab.inner_text(f'#{name} h3')

@needs_browser
def test_a_symbol_in_prose_links_to_its_section(url, tab):
    tab.goto(f'{url}/index.html')
    tab.locator('main p a code', has_text='Dialog').first.click()
    tab.wait_for_url(f'{url}/dialog.html#dialog')
    assert tab.inner_text('section#dialog h3')=='Dialog'
