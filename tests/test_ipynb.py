"""Notebooks in and out: byte for byte on real and generated files, nothing lost, valid, and unharmed by failures"""
import copy, itertools, json, os, pickle, stat
from pathlib import Path
import nbformat, pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from conftest import shared_files
from llmsurgery.dialog import *
from llmsurgery.ipynb import *

root = Path(__file__).parents[1]
sep = '\n\n##### 🤖Reply🤖<!-- SOLVEIT_SEPARATOR_7f3a9b2c -->\n\n'

def check_same(a, b, ids=True): assert diff_dlgs(a, b, ids=ids)==[]

# --- real files

real = shared_files('real/*.ipynb')
own = [pytest.param(f, id=f.name) for f in sorted((root/'nbs').glob('*.ipynb'))]

@pytest.mark.parametrize('f', real+own)
def test_real_files_come_back_byte_for_byte(f, tmp_path):
    d = read_ipynb(f)
    write_ipynb(d, tmp_path/'out')
    assert (tmp_path/'out.ipynb').read_bytes()==f.read_bytes()
    assert len(d)==len(json.loads(f.read_text())['cells'])

@pytest.mark.parametrize('f', real)
def test_an_edit_of_a_real_file_changes_one_cell(f):
    txt = f.read_text()
    old = json.loads(txt)
    for i in range(len(old['cells'])):
        d = reads_ipynb(txt)
        d.messages[i].content += 'edited'
        new = json.loads(write_ipynb(d))
        assert [j for j,(a,b) in enumerate(zip(old['cells'], new['cells'])) if a!=b]==[i]
        assert {k:v for k,v in new['cells'][i].items() if k!='source'}=={k:v for k,v in old['cells'][i].items() if k!='source'}
        assert {k:v for k,v in new.items() if k!='cells'}=={k:v for k,v in old.items() if k!='cells'}
        check_same(reads_ipynb(write_ipynb(d)), d)
    nbformat.validate(new)

# --- every style of file

def sample(minor=5):
    cells = [dict(cell_type='markdown', id='m1', metadata={'time_run':'11:16:11p', 'z':{'b':1.5, 'a':[1e-7, 2**70]}}, source=['# Té\r\n', '🤖 x']),
        dict(cell_type='markdown', id='p1', metadata={'solveit_ai':True}, source=f'Why?{sep}So. 漢'),
        dict(cell_type='code', id='c1', execution_count=3, metadata={}, source='f()\n', outputs=[
            dict(output_type='stream', name='stdout', text=['a\n', 'b']),
            dict(output_type='execute_result', execution_count=3, metadata={'did':1}, data={'text/plain':'é', 'application/json':{'n':float('nan'), 'i':[2**64, -2**80]}})]),
        dict(cell_type='raw', id='r1', metadata={'foo':None}, source='\ud800 raw', attachments={'a.png':{'image/png':'aGk=', 'image/jpeg':'aGk='}})]
    if minor<5:
        for c in cells: del c['id']
    return dict(metadata={'kernelspec':{'name':'python3', 'display_name':'P'}, 'x':[]}, nbformat=4, nbformat_minor=minor, cells=cells)

styles = [dict(indent=i, sort_keys=s, ensure_ascii=a) for i,s,a in itertools.product((1, 2, 4, '\t', None), (True, False), (True, False))]

def dumped(nb, style, end='\n'):
    s = json.dumps(nb, **style)+end
    return s if style['ensure_ascii'] else s.replace('\ud800', '\\ud800')

@pytest.mark.parametrize('minor', range(6))
@pytest.mark.parametrize('end', ['\n', ''])
@pytest.mark.parametrize('style', styles, ids=str)
def test_each_style_comes_back(style, end, minor):
    nb = sample(minor)
    txt = dumped(nb, style, end)
    assert write_ipynb(reads_ipynb(txt))==txt
    d = reads_ipynb(txt)
    d.messages[2].content = 'g()'
    nb['cells'][2]['source'] = 'g()'
    assert write_ipynb(d)==dumped(nb, style, end)

@pytest.mark.parametrize('style', styles, ids=str)
def test_added_moved_and_removed_cells_look_like_the_rest(style):
    nb = sample()
    d = reads_ipynb(dumped(nb, style))
    d.messages = d.messages[::-1][:3]
    d.mk_message('x\ny', msg_type=snote, id='new')
    nb['cells'] = nb['cells'][::-1][:3] + [dict(cell_type='markdown', id='new', metadata={}, source=['x\n', 'y'])]
    assert write_ipynb(d)==dumped(nb, style)

@pytest.mark.parametrize('end', ['', '\n', '\r\n'])
def test_windows_line_ends_stay(end):
    txt = json.dumps(sample(), indent=1).replace('\n', '\r\n')+end
    d = reads_ipynb(txt)
    assert write_ipynb(d)==txt
    d.messages[0].content = 'x'
    new = write_ipynb(d)
    assert new.endswith(end) and '\n' not in new[:len(new)-len(end)].replace('\r\n', '') and json.loads(new)['cells'][0]['source']==['x']

# --- generated notebooks

texts = st.text(st.characters() | st.sampled_from('\n\r\u2028\x85\x00"\\\x7f\ud800')) | st.sampled_from([sep, f'a{sep}b{sep}c', '%%prompt\n', '%%prompt\nx', sep.strip(), '\r\n', 'x",'])
# two surrogates side by side are the character that they encode: JSON has no way to tell them apart
texts = texts.map(lambda s: s.encode('utf-16', 'surrogatepass').decode('utf-16', 'surrogatepass') if '\ud800' not in s else s.replace('\ud800', '\ud800 '))
sources = texts | texts.map(lambda s: s.splitlines(True))
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(texts, v, max_size=3), max_leaves=5)
metas = st.dictionaries(st.sampled_from(['solveit_ai', 'skipped', 'tags', 'x']) | texts, values, max_size=3)
outputs = st.lists(st.fixed_dictionaries(dict(output_type=st.just('stream'), name=st.just('stdout'), text=sources)) |
    st.fixed_dictionaries(dict(output_type=st.just('display_data'), metadata=metas, data=st.dictionaries(st.sampled_from(['text/plain', 'text/markdown', 'image/png']), sources, max_size=2) |
        st.fixed_dictionaries({'application/json':values}))), max_size=2)
cells = st.fixed_dictionaries(dict(cell_type=st.sampled_from(['markdown', 'code', 'raw', 'markdown']), metadata=metas, source=sources),
    optional=dict(id=st.text('abc-_', min_size=1, max_size=3), outputs=outputs, execution_count=st.none() | st.integers(), attachments=st.dictionaries(texts, st.dictionaries(texts, texts, max_size=2), max_size=2), foo=values))
notebooks = st.fixed_dictionaries(dict(cells=st.lists(cells, max_size=4), metadata=metas, nbformat=st.just(4)), optional=dict(nbformat_minor=st.integers(0, 5), bar=values))
fuzz = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))

@fuzz
@given(notebooks, st.sampled_from(styles), st.sampled_from(['\n', '']))
def test_any_notebook_comes_back(nb, style, end):
    txt = json.dumps(nb, **style)+end
    assert write_ipynb(reads_ipynb(txt))==txt

@fuzz
@given(notebooks, st.sampled_from(styles), st.data())
def test_any_edit_changes_that_cell_only(nb, style, data):
    txt = json.dumps(nb, **style)
    d = reads_ipynb(txt)
    if not len(d) or len({m.id for m in d})<len(d): return
    i = data.draw(st.integers(0, len(d)-1))
    m = d.messages[i]
    m.content = data.draw(texts)
    if m.msg_type==sprompt: m.output = data.draw(texts)
    new = write_ipynb(d)
    old_cells,new_cells = json.loads(txt)['cells'],json.loads(new)['cells']
    assert all(repr(a)==repr(b) for j,(a,b) in enumerate(zip(old_cells, new_cells)) if j!=i) and len(old_cells)==len(new_cells)
    back = reads_ipynb(new).messages[i]
    assert (back.msg_type, back.content, back.ai_res)==(m.msg_type, m.content, m.ai_res)

@fuzz
@given(st.lists(st.tuples(st.sampled_from(smsg_types), texts, texts), max_size=5))
def test_any_text_survives_as_any_type(rows):
    d = Dialog('d')
    for t,c,r in rows: d.mk_message(c, msg_type=t, output=r if t==sprompt else '')
    txt = write_ipynb(d)
    check_same(reads_ipynb(txt), d)
    assert write_ipynb(reads_ipynb(txt))==txt
    txt.encode()
    nbformat.validate(json.loads(txt))

@fuzz
@given(notebooks)
def test_whatever_is_healed_is_valid_and_stays_so(nb):
    txt = json.dumps(nb, indent=1)
    new,report = heal_ipynb(txt)
    healed = json.loads(new)
    nbformat.validate(healed)
    assert heal_ipynb(new)==(new, [])
    if not report: assert new==txt
    assert [m.content for m in reads_ipynb(new)]==[m.content for m in reads_ipynb(txt)]

# --- hosts

class HostMsg(Message):
    meta_attrs = dict(pinned='pinned')
    cache = None
    def clear_out_cache(self):
        super().clear_out_cache()
        self.cache = None

class HostDlg(Dialog): msg_cls = HostMsg

def test_host_classes_come_back_from_everything():
    d = reads_ipynb(json.dumps(sample()), cls=HostDlg)
    d.mk_message('x', pinned=True)
    pasted = Dialog('plain', [Message('y', meta={'pinned':True})])
    d.mk_messages(pasted.messages)
    for o in d, copy.deepcopy(d), pickle.loads(pickle.dumps(d)), reads_ipynb(write_ipynb(d), cls=HostDlg):
        assert type(o) is HostDlg and {type(m) for m in o}=={HostMsg} and [m.pinned for m in o][-2:]==[True, True]

# --- errors and failures

bad_files = dict(empty=(b'', 'empty'), binary=(b'\x89PNG\x00\xff', 'UTF-8'), nojson=(b'{"a": 1,}', 'line 1'), nonotebook=(b'{"a": 1}', 'no list of cells'),
    v3=(b'{"nbformat": 3, "worksheets": []}', 'old format 3'), cell=(b'{"nbformat": 4, "cells": [{"cell_type": "raw", "source": ""}, 3]}', 'cell 1'), deep=(b'['*100_000, 'deep'))

@pytest.mark.parametrize('name', bad_files)
def test_errors_name_the_file_and_what_is_wrong(name, tmp_path):
    data,what = bad_files[name]
    p = tmp_path/f'{name}.ipynb'
    p.write_bytes(data)
    with pytest.raises(ValueError) as e: read_ipynb(p)
    assert str(p) in str(e.value) and what in str(e.value)

def test_a_missing_file():
    with pytest.raises(FileNotFoundError, match='nope.ipynb'): read_ipynb('nope')

def test_a_failed_write_harms_nothing(tmp_path, monkeypatch):
    d = Dialog('d', [Message('x')])
    d.write(tmp_path)
    old = (tmp_path/'d.ipynb').read_bytes()
    d.messages[0].content = 'y'
    def fail(*a): raise OSError('disk full')
    for name in ('fsync', 'replace'):
        with monkeypatch.context() as mp:
            mp.setattr(os, name, fail)
            with pytest.raises(OSError): d.write(tmp_path)
        assert [p.name for p in tmp_path.iterdir()]==['d.ipynb'] and (tmp_path/'d.ipynb').read_bytes()==old
    d.messages[0].meta['x'] = object()
    with pytest.raises(TypeError): d.write(tmp_path)
    assert [p.name for p in tmp_path.iterdir()]==['d.ipynb'] and (tmp_path/'d.ipynb').read_bytes()==old

def test_a_new_file_has_the_usual_mode_and_an_old_one_keeps_its_own(tmp_path):
    mask = os.umask(0o022)
    try: p = Dialog('d').write(tmp_path)
    finally: os.umask(mask)
    assert stat.S_IMODE(p.stat().st_mode)==0o644
    p.chmod(0o600)
    Dialog('d').write(tmp_path)
    assert stat.S_IMODE(p.stat().st_mode)==0o600
