"""Build the docs site without Quarto, and check its links: nbdev processes the notebooks, smalldocs renders them

    python tools/build_docs.py [FOLDER]     # FOLDER is `_docs` where not given

Reads what `nbdev-docs` reads: the notebooks, `nbs/_quarto.yml` and `pyproject.toml`. Each page has a Markdown copy, which `llms.txt` lists.
Exits 1 where a link leads nowhere. No link depends on where the site is served.
"""
import ast, json, os, re, shutil, sys, tempfile, textwrap
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit
from nbdev.config import get_config
from nbdev.quarto import nbdev_sidebar, refresh_quarto_yml
from nbdev.serve import proc_nbs
from smalldocs.config import load
from smalldocs.site import Site

root = Path(__file__).resolve().parents[1]

# --- from nbdev's pages to what smalldocs renders

class PageSite(Site):
    "A site of the pages that nbdev made, at the addresses that nbdev gives them"
    def discover(self): return sorted(super().discover(), key=lambda p: p.stem!='index')

    def read(self, src):
        page = super().read(src)
        if name := page.front.get('output-file'): page.out = page.src.with_name(name)
        return page

    def find_page(self, target): return super().find_page(target) or next((p for p in self.pages.values() if p.out==target), None)

def is_shown_doc(c): return c['cell_type']=='code' and {'#| echo: false', '#| output: asis'} <= set(''.join(c['source']).split('\n'))

def relink(txt, cfg):
    "`txt` with its links to the published site made links from the top of whatever site holds it, and those to an unknown repository left out"
    if cfg.doc_host: txt = txt.replace(f']({cfg.doc_url.rstrip("/")}/', '](/')
    return txt if cfg.git_url else re.sub(r'^\[source\]\(/blob/.*\n+', '', txt, flags=re.M)

def source(lines, node, stop=None):
    "The lines of `node`, decorators included, up to node `stop` where one is given, without the indentation of the first"
    start = min([node, *getattr(node, 'decorator_list', [])], key=lambda o: o.lineno).lineno-1
    res = lines[start:node.end_lineno]
    if stop: res = [*lines[start:stop.lineno-1], lines[stop.lineno-1].encode()[:stop.col_offset].decode()]
    return textwrap.dedent('\n'.join(res)).rstrip()

def fields_md(lines, c):
    "Class `c` as its source tells what it holds: the line that names it, and its fields"
    fields = [source(lines, f) for f in c.body if isinstance(f, (ast.Assign, ast.AnnAssign)) and not source(lines, f).startswith('_')]
    return f'class {c.name}({", ".join(map(ast.unparse, c.bases))}):\n' + textwrap.indent('\n'.join(fields or ['...']), '    ')

def methods_md(lines, c):
    "A section for each public method in the body of class `c`: `show_doc` has none for them"
    fs = [f for f in c.body if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef)) and not f.name.startswith('_') and ast.get_docstring(f)]
    return ''.join(f'\n\n#### {c.name}.{f.name}\n\n```python\n{source(lines, f, f.body[0])}\n```\n\n*{ast.get_docstring(f)}*' for f in fs)

def class_docs(lib):
    "For each class of the package at `lib`, by name, what `fields_md` and `methods_md` tell of it"
    res = {}
    for p in lib.glob('*.py'):
        txt = p.read_text(encoding='utf-8')
        res.update({c.name:[f(txt.splitlines(), c) for f in (fields_md, methods_md)] for c in ast.parse(txt).body if isinstance(c, ast.ClassDef)})
    return res

def symbol_doc(c, classes):
    "The Markdown that `show_doc` put out in cell `c`, without what only the run that made it knows of types, and with what it left out of a class"
    md = '\n\n'.join(''.join(o['data']['text/markdown']) for o in c['outputs'] if 'data' in o)
    md = re.sub(r'\b(?:__main__|llmsurgery\.\w+)\.(?=[A-Z])', '', md).replace(':NoneType=None', '=None')
    md = re.sub(r'(\n    \*\*\w+)\n(\)->.*?:) (# .*)', r'\1 \3\n\2', md) # what is said of `**kw` was put after the result
    if not (m := re.search(r'^### (\w+)$', md, re.M)) or m[1] not in classes: return md
    fields,methods = classes[m[1]]
    return re.sub(r'def \w+\(\n    \*args, \*\*kw\w+\n\):', lambda _: fields, md) + methods

def page_cell(c, cfg, classes):
    "Cell `c` of a processed notebook as smalldocs needs it: docs of a symbol are Markdown of the page, not output of code"
    if is_shown_doc(c): c = dict(cell_type='markdown', metadata={}, source=symbol_doc(c, classes))
    if c['cell_type']=='markdown': return {**c, 'source':relink(re.sub(r'\A(#\|.*\n?)+', '', ''.join(c['source'])), cfg)}
    for o in c.get('outputs', []):
        if 'text/markdown' in (data := o.get('data') or {}): data['text/markdown'] = relink(''.join(data['text/markdown']), cfg)
    return c

def stage(folder, cfg):
    "Put the processed notebooks, and what else the site needs, into `folder`"
    refresh_quarto_yml()
    nbdev_sidebar.__wrapped__()
    shutil.copytree(proc_nbs(n_workers=0, force=True), folder)
    classes = class_docs(cfg.lib_path)
    for p in folder.rglob('*.ipynb'):
        nb = json.loads(p.read_text(encoding='utf-8'))
        nb['cells'] = [page_cell(c, cfg, classes) for c in nb['cells']]
        p.write_text(json.dumps(nb), encoding='utf-8')

# --- the site

def expected(w):
    "Whether warning `w` is about what only Quarto reads"
    return re.search('output-file is not read|^format commonmark|^format.html.keep-md|^unknown key format-links', w)

def render(folder, cfg):
    "The warnings of rendering `folder` into its output folder, and that folder"
    project = load(folder)
    web = project.website
    web['llms-txt'] = True
    if not cfg.doc_host: del web['site-url']
    if not cfg.git_url:
        for k in ('repo-url', 'repo-actions'): web.pop(k, None)
    site = PageSite(project, quiet=True)
    site.build()
    return [w for w in site.warnings if not expected(w)], site.out

def name_copies(out):
    "Name the Markdown copies of pages as Quarto and nbdev do"
    for p in [*out.rglob('*.llms.md'), out/'llms.txt']:
        p.write_text(p.read_text(encoding='utf-8').replace('.llms.md', '.html.md'), encoding='utf-8')
        p.rename(p.with_name(p.name.replace('.llms.md', '.html.md')))

def drop_web_fonts(out):
    "Fonts of the reader's system are used, so no theme has to fetch any"
    for p in (out/'site_libs').rglob('*.css'):
        css = p.read_text(encoding='utf-8')
        if (new := re.sub(r'@import url\(["\']?https?://[^)]*\);?', '', css))!=css: p.write_text(new, encoding='utf-8')

# --- links

class Page(HTMLParser):
    "The ids and links of an HTML page"
    def __init__(self, txt):
        super().__init__()
        self.ids, self.links = {''}, []
        self.feed(txt)

    def handle_starttag(self, tag, attrs):
        self.ids |= {v for k,v in attrs if k=='id'}
        self.links += [v for k,v in attrs if k in ('href', 'src') and v]

def md_links(txt):
    "The links of Markdown text, those in code left out"
    for code in (r'^( *)(```+).*?^\1\2`* *$', r'^ {4}[^\n]*$', r'(`+)(?:(?!\n\n).)+?\1'): txt = re.sub(code, '', txt, flags=re.M|re.S)
    return re.findall(r'\]\(<?([^)\s>]+)', txt)

def site_links(out, pages):
    "Each file of the site that holds links, with each of its links"
    for p,page in pages.items(): yield from ((p, l) for l in page.links)
    for p in [out/'llms.txt', *sorted(out.rglob('*.html.md'))]: yield from ((p, l) for l in md_links(p.read_text(encoding='utf-8')))

def broken_links(out):
    "A line for each link in the site at `out` that leads to no file of it or to no anchor"
    pages = {p:Page(p.read_text(encoding='utf-8')) for p in sorted(out.rglob('*.html'))}
    for p,link in site_links(out, pages):
        u = urlsplit(link)
        if u.scheme or u.netloc: continue
        to = Path(os.path.normpath(p.parent/unquote(u.path))) if u.path else p
        if to.is_dir(): to = to/'index.html'
        if link.startswith('/') or not to.is_file(): yield f'{p.relative_to(out)}: no file {link}'
        elif to in pages and unquote(u.fragment) not in pages[to].ids: yield f'{p.relative_to(out)}: no anchor {link}'

def build(out):
    "The problems met when building the site into folder `out`"
    cfg = get_config(root)
    with tempfile.TemporaryDirectory() as tmp:
        stage(folder := Path(tmp)/'site', cfg)
        problems, built = render(folder, cfg)
        name_copies(built)
        drop_web_fonts(built)
        shutil.rmtree(out, ignore_errors=True)
        shutil.move(built, out)
    return problems + list(broken_links(out))

def main():
    out = Path(sys.argv[1]).absolute() if len(sys.argv)>1 else get_config(root).doc_path
    if out.exists() and not (out/'site_libs').is_dir(): sys.exit(f'{out} is there and is no site: it would be replaced')
    os.chdir(root)
    problems = build(out)
    print(*problems, f"{len(list(out.rglob('*.html')))} pages in {out.relative_to(root) if out.is_relative_to(root) else out}, {len(problems)} problems", sep='\n')
    sys.exit(bool(problems))

if __name__=='__main__': main()
