"""Replies opened and closed, and what models see, on generated and hostile dialogs"""
import copy, json, math, subprocess, sys
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from conftest import shared_files
from llmsurgery.chat import *
from llmsurgery.dialog import *
from llmsurgery.hist import *
from llmsurgery.ipynb import *

fuzz = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
block = mk_tr_details(Part('tool_result', 'r', dict(id='inner', name='f', arguments=dict(a=1))))
texts = st.text(st.characters(codec='utf-8') | st.sampled_from('\n\r\x1b`~<>\u2028\x85\x00"\'\\')) | st.sampled_from(['', ' x ', '</details>', '```', '`````', block, f'a\n\n{block}\n\nb', '\x1b[31mr\x1b[0m',
    'a\rb', '##### 🤖Reply🤖<!-- SOLVEIT_SEPARATOR_7f3a9b2c -->', '\u2028', '<details', '\ud800'])
scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(texts, v, max_size=3), max_leaves=6)
arg_names = st.sampled_from(['a', 'b', 'from', 'class', 'max-results', '', 'é', 'ﬁ', 'None', 'x y', '1']) | texts
args = st.dictionaries(arg_names, values, max_size=4)
names = st.sampled_from(['f', 'functions.run', 'a.b.c', 'é'])
prose = texts.filter(lambda s: s.strip() and not any(o in s for o in ('<details', '```', '~~~', '`````', '<!--'))).map(str.strip)

@st.composite
def replies(draw, dialect=st.sampled_from(['details', 'fence'])):
    "A reply as `hist2fmt` writes it"
    msgs,n = [],0
    for _ in range(draw(st.integers(0, 3))):
        parts,results = [],[]
        if draw(st.booleans()): parts.append(Part(PartType.text, draw(prose)))
        for _ in range(draw(st.integers(1, 2))):
            n += 1
            data = dict(id=f'call_{n}', name=draw(names))
            parts.append(Part(PartType.tool_use, data=dict(data, arguments=draw(args))))
            results.append(Part(PartType.tool_result, draw(texts), data))
        msgs += Msg('assistant', parts), Msg('tool', results)
    msgs.append(Msg('assistant', [Part(PartType.text, draw(prose))]))
    return hist2fmt(msgs, None, draw(dialect))

def prompt(reply): return Message('q', id='p1', msg_type=sprompt, output=reply)

@fuzz
@given(replies())
def test_closing_an_opened_reply_gives_it_back(reply):
    m = prompt(reply)
    assert dlg2reply(reply2dlg(m))==reply
    assert m.ai_res==reply

@fuzz
@given(replies())
def test_so_it_does_through_a_notebook_and_without_what_was_remembered(reply):
    sub = reads_ipynb(write_ipynb(reply2dlg(prompt(reply))))
    assert dlg2reply(sub)==reply

@fuzz
@given(args, names)
def test_a_call_survives_as_source(a, name):
    got = src2call(call2src(name, a))
    assert repr(got)==repr(dict(name=name, arguments=a))

@fuzz
@given(replies(), st.data())
def test_editing_one_argument_changes_that_alone(reply, data):
    sub = reply2dlg(prompt(reply))
    calls = [m for m in sub if m.msg_type==scode]
    if not calls: return
    m = data.draw(st.sampled_from(calls))
    call = m.tool_call
    if not call['arguments']: return
    k = data.draw(st.sampled_from(list(call['arguments'])))
    new = {**call['arguments'], k:'EDITED'}
    before = [p.data for p in split_reply(reply) if p.kind=='tool']
    m.content = call2src(call['name'], new)
    after = [p.data for p in split_reply(dlg2reply(sub)) if p.kind=='tool']
    changed = [(a, b) for a,b in zip(before, after) if repr(a)!=repr(b)]
    assert len(before)==len(after) and len(changed)<=1
    for a,b in changed: assert repr({**a, 'arguments':new})==repr(b)

def test_huge_arguments():
    for v in ('x'*300_000, '"\\\n'*100_000, [[i, str(i)] for i in range(20_000)], {str(i):{'v':i} for i in range(10_000)}):
        r = hist2fmt([Msg('assistant', [Part(PartType.tool_use, data=dict(id='c', name='f', arguments=dict(v=v)))]), Msg('tool', [Part(PartType.tool_result, 'x'*300_000, dict(id='c', name='f'))])], None)
        assert dlg2reply(reads_ipynb(write_ipynb(reply2dlg(prompt(r)))))==r

@fuzz
@given(st.lists(st.sampled_from([block, block[:-12], block.replace('"id"', '"no"'), block.replace('{', '['), f'````\n{block}\n````', f'~~~\n{block}\n~~~', convert_reply(block, 'fence'), '````json {.tool}\n{', 'text', '', '\n',
    block.replace('"server": false', '"server": true'), '<!--think_start-->\nhm\n<!--think_end-->', "<details class='tool-usage-details'>", '```']), max_size=5), st.sampled_from(['\n\n', '\n']))
def test_nothing_that_is_no_call_vanishes(parts, sep):
    reply = sep.join(parts)
    pieces = split_reply(reply)
    assert ''.join(reply[p.start:p.end] for p in pieces)==reply
    sub = reply2dlg(prompt(reply))
    closed = dlg2reply(sub)
    shown = '\n'.join(m.content for m in sub)
    for p in pieces:
        if p.kind=='prose':
            for line in reply[p.start:p.end].strip().split('\n'): assert line.strip() in shown
    # a text that would read as a block, once what stood between is gone, gets a space before its line, or its fence a closing line
    def said(dlg): return [l for m in dlg for l in map(str.strip, m.content.split('\n')) if l.strip('`~')]
    assert said(reply2dlg(prompt(closed)))==said(sub)

@fuzz
@given(texts | st.text('f(a=1){}[]"\'\\ .,-*\n#'))
def test_tool_call_is_a_dict_or_none_for_any_source(src):
    assert isinstance(Message(src).tool_call, (dict, type(None)))

@pytest.mark.parametrize('src', ['('*100_000, '['*100_000, 'f('*30_000, 'f(a=' + '('*100_000, 'f(a=' + '{"a":'*50_000, 'f(a=' + '-'*100_000 + '1)', 'f' + '.a'*100_000 + '()', 'f(' + 'a=1,'*100_000 + ')', 'f(a="' + 'x'*10**6, 'f(a=1' + '+1'*100_000 + ')'])
def test_hostile_sources_do_no_harm(src):
    assert isinstance(Message(src).tool_call, (dict, type(None)))

def test_sources_are_never_evaluated(tmp_path):
    for src in (f'f(a=open({str(tmp_path/"x")!r}, "w"))', 'f(a=__import__("os").system("true"))', 'f(a=(lambda: 1)())', 'f(a=[x for x in (1,)])', 'f(a=float.fromhex("1"))', 'f(a=float(1))', 'f(a=float("1", x=2))'):
        assert Message(src).tool_call is None
    assert not (tmp_path/'x').exists()

def deep(n, v=1):
    for _ in range(n): v = [v]
    return v

@pytest.mark.parametrize('n', [10, 100, 150])
def test_deep_arguments(n):
    r = hist2fmt([Msg('assistant', [Part(PartType.tool_use, data=dict(id='c', name='f', arguments=dict(v=deep(n))))]), Msg('tool', [Part(PartType.tool_result, '', dict(id='c', name='f'))])], None)
    assert dlg2reply(reads_ipynb(write_ipynb(reply2dlg(prompt(r)))))==r

def test_too_deep_is_a_clear_error():
    with pytest.raises(ValueError, match='nested'): call2src('f', dict(v=deep(5000)))

# --- what a model sees

types = st.sampled_from(smsg_types)
outs = st.lists(st.sampled_from([*code_output("'x'"), dict(output_type='stream', name='stdout', text=['a\r', 'b\n']), dict(output_type='error', ename='E', evalue='', traceback=['\x1b[1mt']),
    mk_output('display_data', {'image/png':'aGk='}), mk_output('display_data', {'image/png':'!'}), mk_output('display_data', {'image/svg+xml':'<svg/>'}), {}, 5, None, {'output_type':'stream'}, {'output_type':'display_data', 'data':None}]), max_size=3)

@st.composite
def dialogs(draw):
    d = Dialog('d')
    for i in range(draw(st.integers(0, 4))):
        t = draw(types)
        m = d.mk_message(draw(texts), msg_type=t, id=f'm{i}', output=draw(outs) if t==scode else draw(replies()) if t==sprompt else '')
        if draw(st.booleans()):
            m.attachments = [Attachment(draw(st.sampled_from(['aGk=', 'a G\nk=', '!', '', 'aGk'])), draw(st.sampled_from(['image/png', 'image/tiff', 'audio/wav', 'text/plain'])), 'x')]
            m.content += ' ![](attachment:x) ![](attachment:gone)'
    d.mk_message('last', msg_type=sprompt, id='last')
    return d

@fuzz
@given(dialogs(), st.sampled_from([None, {}, dict(supports_vision=True)]))
def test_looking_changes_nothing_and_hides_no_medium(d, aim):
    before = copy.deepcopy(d)
    h = dlg2hist(d, aim)
    assert len(h)%2==0 and all(isinstance(o, list if i%2==0 else str) for i,o in enumerate(h)) and all(h[1::2])
    for m in d:
        m.tool_call, m.ai_output, m.preview()
        if m.msg_type==sprompt: reply2dlg(m)
        parts = m.to_media(aim)
        if m.msg_type!=scode: assert len([p for p in parts if isinstance(p, str)])==len({r for r in ('x', 'gone') if f'attachment:{r})' in m.content})
    assert diff_dlgs(before, d)==[] and write_ipynb(before)==write_ipynb(d)

@fuzz
@given(dialogs())
def test_chat_holds_every_call_and_result_in_turn(d):
    dedup_tool_ids(d)
    msgs = dlg2chat(d)
    calls = [p for m in d if m.msg_type==sprompt for p in split_reply(m.ai_output) if p.kind=='tool']
    assert [(p.data['id'], repr(p.data['arguments'])) for m in msgs for p in m.content if p.type==PartType.tool_use]==[(p.data['id'], repr(p.data['arguments'])) for p in calls]
    assert [p.text for m in msgs for p in m.content if p.type==PartType.tool_result]==[p.data['result'] for p in calls]
    for a,b in zip(msgs, msgs[1:]):
        assert (a.role, b.role)!=('user', 'user') and sum(p.type==PartType.tool_use for p in a.content)<=1
        if any(p.type==PartType.tool_use for p in a.content): assert b.role=='tool'
    assert not [p for p in check_chat(msgs) if p.kind not in ('name that providers refuse', 'empty text')]

@fuzz
@given(dialogs())
def test_a_dialog_survives_as_chat(d):
    "Replies, with all calls and results, come back from canonical messages; what the user said is in the prompts"
    dedup_tool_ids(d)
    msgs = dlg2chat(d)
    back = chat2dlg(msgs, 'back')
    prompts = [m for m in d if m.msg_type==sprompt]
    assert len(back)==len(prompts)
    assert [fmt2hist(m.ai_res) for m in back]==[fmt2hist(m.ai_output) for m in prompts]

@fuzz
@given(st.lists(replies(st.just('details')) | replies(st.just('fence')), min_size=1, max_size=4))
def test_dedup_changes_ids_alone(rs):
    d = Dialog('d', [Message('q', msg_type=sprompt, output=r) for r in rs])
    before = [[p.data for p in split_reply(m.ai_res) if p.kind=='tool'] for m in d]
    did = dedup_tool_ids(d)
    after = [[p.data for p in split_reply(m.ai_res) if p.kind=='tool'] for m in d]
    ids = [c['id'] for cs in after for c in cs]
    assert len(set(ids))==len(ids) and len(did)==sum(len(cs) for cs in before)-len({c['id'] for cs in before for c in cs})
    assert [[repr({**c, 'id':0}) for c in cs] for cs in before]==[[repr({**c, 'id':0}) for c in cs] for cs in after]
    dlg2chat(d)

@pytest.mark.parametrize('f', shared_files('real/*.ipynb'))
def test_every_call_of_a_real_dialog_is_recovered(f):
    "Found without our scanner: by the JSON that follows each opening of a block"
    d = read_ipynb(f)
    for m in [m for m in d if m.msg_type==sprompt]:
        want = []
        for js in m.ai_res.split('json {.tool}\n' if 'json {.tool}' in m.ai_res else '```json\n')[1:]:
            o = json.JSONDecoder().raw_decode(js)[0]
            c = o.get('call', o)
            want.append((o['id'], c.get('function') or c['name'], c.get('arguments', c.get('args')), o['result']))
        ps = [p for p in split_reply(m.ai_res) if p.kind=='tool']
        assert len(ps)==m.ai_res.count("<details class='tool-usage-details'") + m.ai_res.count('json {.tool}')
        got = [(p.data['id'], p.data['name'], p.data['arguments'], p.data['result']) for p in ps]
        assert [g for g,p in zip(got, ps) if p.data['dialect']!='list']==want
        want = got
        sub = reply2dlg(m)
        assert [(s.meta['tool_id'], s.tool_call['name'], s.tool_call['arguments'], s.output[0]['data']['text/plain']) for s in sub if s.msg_type==scode]==want
        assert [(p.data['id'], p.data['arguments'], p.data['result']) for p in split_reply(dlg2reply(sub)) if p.kind=='tool']==[(i, a, r) for i,_,a,r in want]

@pytest.mark.parametrize('f', shared_files('real/solveit_welcome.ipynb'))
def test_a_call_in_the_oldest_dialect(f):
    calls = [(p.data['name'], p.data['arguments'], p.data['result']) for m in read_ipynb(f) if m.msg_type==sprompt for p in split_reply(m.ai_res) if p.kind=='tool' and p.data['dialect']=='list']
    assert calls==[('add_to_a', dict(n=1000), '1003.12')]

def test_importing_hist_loads_nothing_heavy():
    code = "import sys, llmsurgery.hist; print([m for m in ('fastllm', 'httpx', 'nbformat', 'IPython', 'PIL', 'typer', 'rich') if m in sys.modules])"
    assert subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout=='[]\n'

pipeline = '''
from llmsurgery.{mod} import *
from llmsurgery.dialog import *
from llmsurgery.ipynb import *
from llmsurgery.hist import *
d = Dialog('d')
d.mk_message('# T', msg_type='note')
m = d.mk_message('Why?', msg_type='prompt', output='Since.')
sub = reply2dlg(m)
sub.mk_message("f(a=1)", output='2', before=sub.messages[0])
m.output = dlg2reply(sub)
d = reads_ipynb(write_ipynb(d))
dedup_tool_ids(d)
msgs = dlg2chat(d)
assert [m.role for m in msgs]==['user', 'assistant', 'tool', 'assistant'], msgs
back = chat2dlg(msgs, 'b')
assert back.messages[0].ai_res==d.messages[1].ai_res
print(d, dlg2py(d), back.validate(), heal_ipynb(write_ipynb(d)))
'''
@pytest.mark.parametrize('mod', ['js', 'dialog', 'ipynb', 'chat', 'hist', 'cli'])
def test_the_pipeline_runs_in_a_fresh_interpreter(mod):
    r = subprocess.run([sys.executable, '-c', pipeline.format(mod=mod)], capture_output=True, text=True)
    assert r.returncode==0, r.stderr
