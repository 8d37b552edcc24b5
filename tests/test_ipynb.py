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

# --- faults that were found, and their kind

def nb1(*cells, minor=5): return json.dumps(dict(cells=list(cells), metadata={}, nbformat=4, nbformat_minor=minor))
def code(**kw): return dict(dict(cell_type='code', id='c', metadata={}, source='x', outputs=[], execution_count=None), **kw)
def md(**kw): return dict(dict(cell_type='markdown', id='m', metadata={}, source='x'), **kw)

broken = [dict(metadata=None), dict(metadata=[]), dict(metadata='x'), dict(execution_count='x'), dict(execution_count=-1), dict(execution_count=True), dict(outputs=None), dict(outputs=5), dict(cell_type=[]), dict(cell_type={}),
    dict(id=None), dict(id=5), dict(id='a b'), dict(foo=1), dict(attachments={'a':{'image/png':'aGk='}})]
bad_outputs = [{'output_type':[]}, {'output_type':'display_data', 'metadata':{}, 'data':{'text/plain':5}}, {'output_type':'display_data', 'metadata':{}, 'data':'x'}, {'output_type':'display_data', 'metadata':None, 'data':{}},
    {'output_type':'stream', 'name':'stdout', 'text':None}, {'output_type':'stream', 'name':1, 'text':'x'}, {'output_type':'error', 'ename':'E', 'evalue':None, 'traceback':[]}, {'output_type':'error', 'ename':'E', 'evalue':'', 'traceback':[1]},
    {'output_type':'execute_result', 'metadata':{}, 'data':{}, 'execution_count':'x'}, 5, None]
bad_atts = [None, 'x', [], {'a':'x'}, {'a':{'image/png':5}}, {'a':{'image/png':[5]}}]
bad_cells = [code(**o) for o in broken] + [code(outputs=[o]) for o in bad_outputs] + [md(attachments=a) for a in bad_atts] + [md(metadata={'execution':{'a':5}})]

@pytest.mark.parametrize('cell', bad_cells, ids=lambda c: json.dumps(c)[:60])
def test_a_broken_cell_is_carried_healed_and_valid_once_it_is_edited(cell):
    txt = nb1(md(id='a'), cell)
    d = reads_ipynb(txt)
    assert write_ipynb(d)==txt and [m.id for m in d]==[m.id for m in reads_ipynb(txt)]
    healed,report = heal_ipynb(txt)
    nbformat.validate(json.loads(healed))
    assert report
    repr(d), d.messages[1].ai_res, get_output_mds(d.messages[1].output)
    d.messages[1].content = 'edited'
    nbformat.validate(json.loads(write_ipynb(d)))
    nbformat.validate(get_ipynb(Dialog.from_cells(json.loads(txt)['cells'])))

@pytest.mark.parametrize('out', bad_outputs, ids=lambda o: json.dumps(o)[:60])
def test_a_broken_output_of_a_new_message_is_written_as_a_valid_one(out):
    nbformat.validate(json.loads(write_ipynb(Dialog('d', [Message('x', output=[out])]))))

prompt_cell = code(source='%%prompt', metadata={'solveit_ai':True})
@pytest.mark.parametrize('content', ['hello', '', '\n\n', '\r', ' ', '\r\n', '%%prompt'])
def test_a_bare_prompt_cell_takes_any_content(content):
    d = reads_ipynb(nb1(prompt_cell))
    d.messages[0].content = content
    m = reads_ipynb(write_ipynb(d)).messages[0]
    assert (m.msg_type, m.content)==(sprompt, content)

@pytest.mark.parametrize('minor', range(6))
@pytest.mark.parametrize('typ', smsg_types)
def test_a_new_type_gives_a_valid_cell(typ, minor):
    cells = [{k:v for k,v in c.items() if minor>=5 or k!='id'} for c in (code(execution_count=3), md())]
    d = reads_ipynb(nb1(*cells, minor=minor))
    for m in d: m.msg_type = typ
    nbformat.validate(json.loads(write_ipynb(d)))
    back = reads_ipynb(write_ipynb(d))
    assert [(m.msg_type, m.content, m.meta) for m in back]==[(typ, 'x', {})]*2

def test_two_halves_of_a_character_stay_apart():
    d = Dialog('d', [Message('\ud83d\ude00 a\n', msg_type=t) for t in smsg_types])
    assert [m.content for m in reads_ipynb(write_ipynb(d))]==['\ud83d\ude00 a\n']*4

@pytest.mark.parametrize('n', [2000])
def test_hostile_input_is_read_in_linear_time(n):
    "Each of these took minutes when it was quadratic; they run far under a second"
    assert header_info('# x' + ' '*n*50 + 'y')[0]==header_info('# ' + '#'*n*50 + ' x')[0]==1
    cells = [md() for _ in range(n*4)]
    assert len(heal_ipynb(nb1(*cells))[1])==n*4-1
    assert len({c['id'] for c in get_ipynb(Dialog.from_cells(cells))['cells']})==n*4
    assert reads_ipynb(nb1(md(source='x SOLVEIT_SEPARATOR '*n*100))).messages[0].msg_type==snote

def test_writing_leaves_the_users_random_stream_alone(tmp_path):
    import random
    random.seed(1)
    a = random.random()
    random.seed(1)
    Dialog('d').write(tmp_path)
    assert random.random()==a

def test_a_message_is_itself_even_where_ids_repeat():
    d = Dialog('d', [Message('first', id='x'), Message('mid', id='y'), Message('second', id='x')])
    assert d.messages[0].next().content=='mid'
    d.mk_message('new', after=d.messages[0])
    d.remove_msgs([d.messages[0]])
    assert [m.content for m in d]==['new', 'mid', 'second']
    d.messages[2].remove_from_dlg()
    assert [m.content for m in d]==['new', 'mid']

def test_a_dialog_keeps_its_own_list():
    ms = [Message('a')]
    d = Dialog('d', ms)
    d.mk_message('b')
    e = Dialog('e', d.messages)
    e.mk_message('c')
    assert (len(ms), len(d), len(e))==(1, 2, 3)
    c = copy.copy(d)
    c.mk_message('x')
    assert len(d)==2 and all(m.dlg is c for m in c)

def test_metadata_and_the_attributes_made_of_it_can_both_be_edited():
    m = HostMsg('x')
    m.meta['pinned'] = True
    assert m.cell_meta()=={'pinned':True}
    m.pinned = 'yes'
    assert m.cell_meta()=={'pinned':'yes'}
    n = HostMsg('x', meta={'pinned':True})
    n.meta = {}
    assert n.cell_meta()=={}
    assert HostDlg('h').mk_messages([Message('x', foo=3)])[0].foo==3
