"""Write README.md from the index notebook, as `nbdev-readme` does, with pandoc in place of Quarto

    python tools/build_readme.py [--check]     # --check writes nothing, and exits 1 where README.md is stale
"""
import json, os, re, sys, textwrap, pypandoc, yaml
from pathlib import Path
from fastcore.nbio import read_nb
from nbdev.config import get_config
from nbdev.processors import FilterDefaults, add_links
from nbdev.readme_filter import doc_link

root = Path(__file__).resolve().parents[1]

class ReadmeProcs(FilterDefaults):
    "nbdev's processors for a page, without links to symbols where no site is known that they could lead to"
    def base_procs(self): return [p for p in super().base_procs() if p is not add_links or get_config().doc_host]

def shown(o):
    "The Markdown that shows output `o` of a cell"
    data = o.get('data') or {'text/plain': o.get('text', '')}
    k = next((k for k in ('text/markdown', 'text/html', 'text/plain') if k in data), None)
    if not k: return ''
    txt = ''.join(data[k])
    return textwrap.indent(txt, '    ') if k=='text/plain' else txt

def cell_md(c):
    "The Markdown that stands for processed cell `c`"
    opts = dict(re.findall(r'^#\| *([\w-]+): *(\S+)', c.source, re.M))
    src = re.sub(r'\A(#\|.*\n?)+', '', c.source).strip('\n')
    if c.cell_type!='code': return src
    code = [f'```python\n{src}\n```'] if src and opts.get('echo')!='false' else []
    return '\n\n'.join(code + ([shown(o) for o in c.outputs] if opts.get('output')!='false' else []))

def relink(node, fix):
    "Replaces in place the target of each link in pandoc's tree with what `fix` makes of it"
    if isinstance(node, dict):
        if node.get('t')=='Link': node['c'][2][0] = fix(node['c'][2][0])
        node = node.values()
    elif not isinstance(node, list): return
    for o in node: relink(o, fix)

def repo_link(url, nbs): return f'{nbs}/{url}' if re.match(r'[^:/#]+\.ipynb(#|$)', url) else url

def readme():
    "The text of README.md"
    cfg = get_config(root)
    nb = read_nb(cfg.nbs_path/cfg.readme_nb)
    ReadmeProcs()(nb)
    front, *cells = nb.cells
    meta = yaml.safe_load(front.source.strip().strip('-'))
    doc = json.loads(pypandoc.convert_text('\n\n'.join(map(cell_md, cells)), 'json', format='markdown-smart'))
    relink(doc['blocks'], (lambda u: doc_link(u, cfg.doc_url)) if cfg.doc_host else (lambda u: repo_link(u, cfg.nbs_path.relative_to(root).as_posix())))
    body = pypandoc.convert_text(json.dumps(doc), 'gfm', format='json', extra_args=['--wrap=preserve'])
    return f"# {meta['title']}\n\n{meta['description']}\n\n{body.strip()}\n"

def main():
    os.chdir(root)
    path, txt = root/'README.md', readme()
    if '--check' not in sys.argv[1:]: path.write_text(txt, encoding='utf-8')
    elif not path.exists() or path.read_text(encoding='utf-8')!=txt: sys.exit('README.md is stale: run python tools/build_readme.py')

if __name__=='__main__': main()
