"""Claude Code sessions: samples, edits, broken graphs, and what a resumed session must be like"""
import copy, os, random, subprocess, sys
from pathlib import Path
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from claude_resume import api_messages, blocks, is_conv, session
from conftest import shared_files
from llmsurgery.ant import *
from llmsurgery.chat import *
from llmsurgery.dialog import *
from llmsurgery.hist import *
from llmsurgery.ipynb import *
from llmsurgery.sess import *

fuzz = settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
sample = pytest.mark.parametrize('f', shared_files('real/claude_*.jsonl'))

pytestmark = pytest.mark.usefixtures('home')

def strict(recs):
    "What the API would refuse on resuming"
    api = pytest.importorskip('strict_api')
    return api.anthropic_problems(api_messages(recs))

def through(dlg): return reads_ipynb(write_ipynb(dlg))
def by_type(recs, typ): return [b for r in recs if is_conv(r) for b in blocks(r) if b['type']==typ]

# --- samples

@sample
def test_unedited_comes_back_to_the_letter(f):
    recs = load_recs(f)
    back = dlg2sess(through(sess2dlg(recs)))
    assert b''.join(map(rec_line, back))==b''.join(map(rec_line, recs))

@sample
def test_dialog_says_all_that_the_session_says(f):
    "Every typed turn, text, call, argument, result and record is in the dialog, field by field"
    recs = load_recs(f)
    dlg = sess2dlg(recs)
    live = conv_recs(recs, whole=True)
    typed = [rec_txt(r) for r in live if claude.kind(r)=='prompt']
    prompts = [m for m in dlg if m.msg_type==sprompt]
    assert [m.content for m in prompts if 'rec_kind' not in m.meta]==typed
    calls = {b['id']:(b['name'], b['input']) for b in by_type(live, 'tool_use')}
    results = {}
    for b in by_type(live, 'tool_result'): results.setdefault(b['tool_use_id'], b['content'] if isinstance(b['content'], str) else '\n'.join(o['text'] for o in b['content']))
    shown = [p.data for m in prompts for p in split_reply(m.ai_res) if p.kind=='tool']
    assert {d['id']:(d['name'], d['arguments']) for d in shown}==calls and len(shown)==len(calls)
    assert {d['id']:d['result'] for d in shown}=={**dict.fromkeys(calls, ''), **{k:v for k,v in results.items() if k in calls}}
    said = ''.join(m.ai_res for m in prompts)
    for b in by_type([r for r in live if not r.isMeta], 'text'): assert b['text'].strip() in said or any(b['text'] in m.content for m in dlg)
    n = sum(len(m.meta['rec']['pos']) for m in dlg)
    assert n==len(recs) and sorted(i for m in dlg for i in m.meta['rec']['pos'])==list(range(n))
    for m in dlg:
        if m.meta.get('uuid'): assert m.meta['uuid']==recs[m.meta['rec']['pos'][0]].uuid and m.meta.get('time')
    assert all(m.meta['usage'] for m in prompts if m.ai_res)
    dlg.validate()

@sample
def test_every_call_has_its_result(f):
    recs = load_recs(f)
    chat = recs2chat(recs)
    calls = [p.data['id'] for m in chat for p in m.content if p.type==PartType.tool_use]
    assert set(calls)=={b['id'] for b in by_type(recs, 'tool_use')} and len(set(calls))==len(calls)
    assert [p.data['id'] for m in chat if m.role=='tool' for p in m.content]==calls
    assert check_chat(chat)==[]
    assert [p.data['anthropic'] for m in chat for p in m.content if p.type==PartType.thinking]==by_type(conv_recs(recs, True), 'thinking')
    assert sum(bool(p.data.get('is_error')) for m in chat if m.role=='tool' for p in m.content)>=len([b for b in by_type(conv_recs(recs, True), 'tool_result') if b.get('is_error')])

@sample
def test_fork_resumes(f, home):
    recs = load_recs(f)
    p = save_sess(recs, 'aaaa', home)
    turns = len([r for r in conv_recs(recs, True) if claude.kind(r)=='prompt'])
    was = p.read_bytes()
    for upto in {1, turns//2 or 1, turns, None}:
        q = load_recs(fork_sess('aaaa', upto, home))
        assert strict(q)==[] and claude.problems(q)==[]
        kept = [b for r in conv_recs(recs, True) for b in blocks(r) if b['type'] in ('text', 'tool_use')]
        got = [b for r in conv_recs(q, True) for b in blocks(r) if b['type'] in ('text', 'tool_use')]
        assert got==kept[:len(got)] and (upto not in (None, turns) or got==kept)
    assert p.read_bytes()==was
    small = load_recs(fork_sess('aaaa', None, home, drop_think=True, mx=50))
    assert strict(small)==[] and not by_type(small, 'thinking')
    assert all(len(b['content'])<=51 for b in by_type(small, 'tool_result') if isinstance(b['content'], str))

@sample
def test_broken_samples_are_mended(f):
    recs = load_recs(f)
    fixed,did = claude.repair(recs, 'salt')
    assert strict(fixed)==[] and claude.problems(fixed)==[]
    assert claude.repair(recs, 'salt')[0]==fixed
    if not did: assert fixed is recs

@sample
def test_chat_can_be_sent(f):
    "Thoughts with their signatures included"
    api = pytest.importorskip('strict_api')
    from llmsurgery.providers import chat2anthropic
    recs = load_recs(f)
    for some in recs, sess_thread(recs):
        sent = chat2anthropic(recs2chat(some))['messages']
        assert api.anthropic_problems(sent)==[]
        thoughts = [b for m in sent if isinstance(m['content'], list) for b in m['content'] if b['type']=='thinking']
        assert len(by_type(conv_recs(recs, some is recs), 'thinking'))-len(thoughts)<=1 and all(b['signature'] for b in thoughts)

# --- edits

def an_edit(d, rng):
    "One random edit of the dialog"
    ms = [m for m in d if m.msg_type==sprompt]
    m = rng.choice(ms)
    what = rng.choice(['content', 'text', 'arg', 'result', 'drop call', 'add call', 'drop turn', 'new turn', 'note', 'move', 'copy', 'drop raw', 'reply', 'empty', 'add text', 'longer'])
    if what=='content': m.content = 'edited '+m.content
    elif what=='drop turn' and len(ms)>2: d.remove_msgs(m)
    elif what=='new turn': d.mk_message('a new one', msg_type=sprompt, output='Yes.', after=m)
    elif what=='note': d.mk_message('# note', msg_type=snote, before=m)
    elif what=='move': d.messages = [o for o in d if o is not m]+[m]
    elif what=='copy': d.mk_messages([m], before=m)
    elif what=='drop raw' and (raws := [o for o in d if o.msg_type==sraw]): d.remove_msgs(rng.choice(raws))
    elif what=='reply': m.output = 'Something else.'
    elif what=='empty': m.output = ''
    elif what in ('text', 'arg', 'result', 'drop call', 'add call', 'add text', 'longer') and m.ai_res:
        s = reply2dlg(m)
        calls,notes = [o for o in s if o.msg_type==scode],[o for o in s if o.msg_type==snote]
        if what=='text' and notes: rng.choice(notes).content = 'edited'
        if what=='longer' and notes:
            o = rng.choice(notes)
            o.content = rng.choice(['before\n\n{}', '{}\n\nafter', '{} more']).format(o.content)
        if what=='add text': s.mk_message('in between', msg_type=snote, idx=rng.randrange(len(s)+1))
        if what=='arg' and calls: rng.choice(calls).content = "Edited(x=1)"
        if what=='result' and calls: rng.choice(calls).output = code_output('edited')
        if what=='drop call' and calls: s.remove_msgs(rng.choice(calls))
        if what=='add call': s.mk_message('New(a=[1])', output='r', idx=rng.randrange(len(s)+1))
        m.output = dlg2reply(s)
    return what

def check_edited(recs, seed, n=1):
    rng = random.Random(seed)
    d = through(sess2dlg(recs))
    did = [an_edit(d, rng) for _ in range(n)]
    new = dlg2sess(d, salt='s')
    assert strict(new)==[], (did, strict(new))
    assert claude.problems(new)==[], did
    if 'drop call' in did and any(m.meta.get('rec_kind')=='meta' for m in d): return # what a call had injected opens a turn of its own then
    want = [m for m in d if m.msg_type==sprompt and (m.content.strip() or m.ai_res)]
    got = [m for m in sess2dlg(new) if m.msg_type==sprompt]
    assert [m.content for m in got]==[m.content for m in want], did
    def said(m): return [(p.data['name'], p.data['arguments'], p.data['result']) if p.kind=='tool' else m.ai_res[p.start:p.end].strip() for p in split_reply(m.ai_res)]
    for a,b in zip(got, want): assert said(a)==said(b) or not (a.ai_res and b.ai_res), did
    kept = {r['uuid'] for r in new if r.get('uuid')}&{r['uuid'] for r in recs if r.get('uuid')}
    assert len(kept)>=len(recs)//4
    assert through(sess2dlg(new)) and dlg2sess(through(sess2dlg(new)))==new

@pytest.mark.parametrize('seed', range(60))
def test_edits_of_generated_sessions_resume(seed): check_edited(session(60, seed), seed)

@pytest.mark.parametrize('seed', range(20))
def test_many_edits(seed): check_edited(session(80, seed), seed, 5)

@sample
@pytest.mark.parametrize('seed', range(8))
def test_edits_of_samples_resume(f, seed): check_edited(claude.repair(load_recs(f), 's')[0], seed)

def test_one_argument_changes_one_record():
    recs = session(60, 3)
    d = through(sess2dlg(recs))
    m = next(m for m in d if m.msg_type==sprompt and 'command' in m.ai_res)
    s = reply2dlg(m)
    c = next(o for o in s if o.msg_type==scode)
    c.content = "Bash(command='rm x')"
    m.output = dlg2reply(s)
    new = dlg2sess(d)
    old,now = {r['uuid']:r for r in recs if 'uuid' in r},{r['uuid']:r for r in new if 'uuid' in r}
    gone = old.keys()-now.keys()
    assert not now.keys()-old.keys() and all(by_type([old[u]], 'thinking') for u in gone) and len(gone)==1
    changed = [u for u in now if now[u]!=old[u]]
    assert [(k, now[u][k]) for u in changed for k in now[u] if now[u][k]!=old[u][k] and k!='parentUuid']==[('message', {**old[changed[-1]]['message'], 'content':[{**old[changed[-1]]['message']['content'][0], 'input':dict(command='rm x')}]})]
    assert strict(new)==[]

def test_a_secret_is_gone_once_it_is_edited_away():
    recs = session(30, 1, out='the secret 12345')
    d = through(sess2dlg(recs))
    for m in d:
        if m.msg_type==sprompt: m.output = m.ai_res.replace('secret 12345', 'secret')
    assert '12345' not in b''.join(map(rec_line, dlg2sess(d))).decode()
    assert '12345' not in write_ipynb(drop_recs(d))

def test_images_survive(home):
    img = dict(type='image', source=dict(type='base64', media_type='image/png', data='aGkh'))
    recs = session(10, 0)
    i = next(i for i,r in enumerate(recs) if r['type']=='user')
    recs[i]['message']['content'] = [dict(type='text', text='look'), img, dict(type='image', source=dict(type='url', url='https://localhost/a.png'))]
    d = through(sess2dlg(recs))
    m = next(m for m in d if m.msg_type==sprompt)
    assert len(m.attachments)==1 and dlg2sess(d)==recs
    assert [str(p.type) for p in recs2chat(recs)[0].content]==['text', 'input_image', 'input_image']
    m.content = m.content.replace('look', 'see')
    assert blocks(dlg2sess(d)[i])==[dict(type='text', text='see'), *recs[i]['message']['content'][1:]]
    m.content = 'none'
    assert blocks(dlg2sess(d)[i])==[dict(type='text', text='none')]
    m.content = 'new ![](attachment:x)'
    m.attachments = [Attachment(b'ho!', 'image/png', 'x')]
    assert by_type(dlg2sess(d), 'image')[0]['source']['data']=='aG8h'

# --- broken sessions

uuids = st.sampled_from(['a', 'b', 'c', 'd', 'e', 'f'])
contents = st.sampled_from(['hi', '', ' ', None, 5, [], [5], [dict(type='text', text='t')], [dict(type='text', text='')], [dict(type='text')], [dict(type='thinking', thinking='x')],
    [dict(type='thinking', thinking='', signature='s')], [dict(type='tool_use', id='1', name='f', input={})], [dict(type='tool_use', id='2', name='f.g', input=3)], [dict(type='tool_use', id='', name=None)],
    [dict(type='tool_result', tool_use_id='1', content='r')], [dict(type='tool_result', tool_use_id='2', content=[dict(type='text', text='')], is_error=True)], [dict(type='tool_result', tool_use_id=None)],
    [dict(type='tool_result', tool_use_id='1')], [dict(type='image', source=dict(type='base64', media_type='image/png', data='?'))], [dict(type='image')], [dict(type='server_tool_use', id='srvtoolu_1', name='web_search', input={})],
    [dict(type='web_search_tool_result', tool_use_id='srvtoolu_1', content=[])], [dict(type='new')], '\ud800', [dict(type='tool_use', id='1', name='f', input={}), dict(type='tool_use', id='3', name='f', input={})]])
records = st.fixed_dictionaries(dict(type=st.sampled_from(['user', 'assistant', 'assistant', 'system', 'attachment', 'progress', 'x', None, 3])), optional=dict(uuid=uuids | st.sampled_from([None, 7]), parentUuid=uuids | st.sampled_from([None, 'gone', 7]),
    logicalParentUuid=uuids, subtype=st.sampled_from(['compact_boundary', 'api_error']), timestamp=st.sampled_from(['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', None, 3, '']), isMeta=st.booleans(), isSidechain=st.sampled_from([False]*5+[True]),
    isCompactSummary=st.sampled_from([False, False, True]), sessionId=st.sampled_from(['s', 't']), message=st.sampled_from([None, 'x', []]) | st.fixed_dictionaries(dict(content=contents), optional=dict(id=st.sampled_from(['m1', 'm2', None, 3]), usage=st.sampled_from([{}, dict(n=1)])))))

@settings(fuzz, max_examples=600)
@given(st.lists(records, max_size=14))
def test_nothing_raises_and_nothing_is_lost(recs):
    recs = [Rec(r) for r in recs]
    sess_thread(recs), sess_thread(recs, True), conv_recs(recs), recs2chat(recs), claude.problems(recs), strip_think(recs), trunc_tools(recs, 1), reid_recs(recs, 'n'), sess2dlg(recs, live=True)
    d = sess2dlg(recs)
    assert dlg2sess(d)==recs and dlg2sess(through(d))==recs

def server(recs): return any('srvtoolu' in str(b) or b.get('type')=='new' for r in recs if isinstance(r.get('message'), dict) for b in (r['message'].get('content') if isinstance(r['message'].get('content'), list) else ()) if isinstance(b, dict))

@settings(fuzz, max_examples=600)
@given(st.lists(records, max_size=14))
@example([dict(type='user', uuid='c', parentUuid='a', message=dict(content='hi')), dict(type='user', uuid='b', message=dict(content='')), dict(type='user', uuid='a', parentUuid='c'), dict(type='user', message=dict(content=''))]) # its end goes, and nothing else tells which branch is live
def test_whatever_is_broken_can_be_repaired(recs):
    recs = [Rec(r) for r in recs if isinstance(r.get('type'), str)]
    fixed,did = claude.repair(recs, 's')
    left = claude.problems(fixed)
    assert not left or [f.kind for f in left]==['no conversation'], (left, did)
    if not left and not server(recs) and all(isinstance(r.get('timestamp'), str) for r in fixed if is_conv(r)) and not any(r.get('isSidechain') for r in recs): assert strict(fixed)==[]

def test_each_oddity_of_the_file_is_reported(home):
    recs = session(12, 2)
    p = save_sess(recs, 'odd', home)
    lines = p.read_bytes().split(b'\n')[:-1]
    assert load_recs(p)==recs
    lines[3:5] = [lines[3]+lines[4]]
    lines[-1] = lines[-1][:40]
    lines.insert(2, b'not json')
    lines.insert(2, b'[1,2]')
    p.write_bytes(b'\n'.join(lines))
    got = load_recs(p)
    assert got==recs[:-1] and [o.kind for o in got.odd]==['no object', 'torn', 'several objects', 'torn']
    assert [f.kind for f in check_sess('odd')][:4]==['no object', 'torn', 'several objects', 'torn']

def test_long_chains_of_every_shape_are_linear():
    "Neither recursion nor a scan of all for each"
    n = 30_000
    def rec(i, p, **kw): return dict(type='user', uuid=f'u{i}', parentUuid=p, timestamp='2026-01-01T00:00:00.000Z', sessionId='s', message=dict(role='user', content=f't{i}'), **kw)
    shapes = dict(straight=[rec(i, f'u{i-1}' if i else None) for i in range(n)], circle=[rec(i, f'u{(i-1)%n}') for i in range(n)], missing=[rec(i, f'gone{i}') for i in range(n)], own=[rec(i, f'u{i}') for i in range(n)],
        same=[rec(0, 'u0') for _ in range(n)], forward=[rec(i, f'u{i+1}') for i in range(n)], star=[rec(i, 'u0' if i else None) for i in range(n)], pairs=[rec(i, f'u{i^1}') for i in range(n)])
    for k,recs in shapes.items():
        assert len(sess_thread(recs))==dict(same=1, star=2).get(k, n), k
        fixed,_ = claude.repair(recs, 's')
        assert claude.problems(fixed)==[], k

# --- where sessions are

def test_names_that_lead_elsewhere_are_refused(home):
    p = save_sess(session(5), 'good', home)
    out = home/'secret.jsonl'
    out.write_text('{"type":"user","uuid":"u"}\n')
    (p.parent/'link.jsonl').symlink_to(out)
    (claude.root()/'dir').symlink_to(home, target_is_directory=True)
    for ref in out, p.parent/'link.jsonl', p.parent/'..'/'..'/'..'/'secret.jsonl', claude.root()/'dir'/'secret.jsonl', '../../secret.jsonl', '/etc/passwd':
        with pytest.raises(ValueError): resolve_session(ref)
    for ref in 'link', 'secret', 'nothing':
        with pytest.raises(FileNotFoundError): resolve_session(ref)
    for sid in '../secret', '/etc/passwd', '..', 'a/b', 'a\0b':
        with pytest.raises(ValueError): sess_file(sid)
    assert [r.id for r in list_sess()]==['good']
    with pytest.raises(ValueError): edit_sess(out, lambda d: None, back=True)
    with pytest.raises(ValueError): fork_sess(p.parent/'link.jsonl')

def test_nothing_changes_unasked(home):
    p = save_sess(session(30), 'aaaa', home)
    was = {f:f.read_bytes() for f in home.rglob('*') if f.is_file()}
    def edit(d): next(m for m in d if m.msg_type==sprompt).content = 'edited'
    edit_sess('aaaa', edit), fork_sess('aaaa', 1), check_sess('aaaa'), fix_sess('aaaa'), sub_dlgs('aaaa'), load_sess('aaaa'), list(list_sess()), list(search_sess('turn'))
    assert all(f.read_bytes()==b for f,b in was.items())
    edit_sess('aaaa', edit, back=True)
    assert p.read_bytes()!=was[p] and [f.read_bytes() for f in p.parent.glob('*.bak')]==[was[p]]

def test_a_session_that_grew_while_it_was_edited_is_refused(home):
    p = save_sess(session(10), 'aaaa', home)
    def edit(d):
        with open(p, 'ab') as f: f.write(b'{"type":"mode","sessionId":"s"}\n')
        next(m for m in d if m.msg_type==sprompt).content = 'edited'
    with pytest.raises(ValueError, match='changed since'): edit_sess('aaaa', edit, back=True)
    assert len(load_recs(p))==len(session(10))+1 and not list(p.parent.glob('*.bak'))

def test_the_real_home_is_not_touched(home):
    code = 'from llmsurgery.ant import *\nfrom llmsurgery.sess import *\nprint(list(list_sess()), cur_sess(), prompt_hist(), sess_by_name("x"))'
    env = {k:v for k,v in os.environ.items() if not k.startswith('CLAUDE')}
    r = subprocess.run([sys.executable, '-c', code], env={**env, 'HOME':str(home/'none')}, capture_output=True, text=True)
    assert r.stdout.strip()=='[] None [] None', r.stderr
    assert not (home/'none').exists()

def test_dialogs_of_other_origin_become_sessions(home):
    d = Dialog('d')
    d.mk_message('why?', msg_type=sprompt, output=hist2fmt([Msg('assistant', [Part('tool_use', None, dict(id='functions.f:3', name='functions.f', arguments=dict(a=1)))]), Msg('tool', [Part('tool_result', '', dict(id='functions.f:3', name='functions.f'))])]))
    d.mk_message('x = 1', output='')
    d.mk_message('', msg_type=sprompt)
    d.mk_message('raw', msg_type=sraw)
    d.mk_message('system', msg_type=sraw, meta=dict(rec_kind='system'))
    recs = dlg2sess(d, project=home, salt='s')
    assert strict(recs)==[] and claude.problems(recs)==[]
    p = save_sess(recs)
    assert load_recs(p)==recs and p.parent==sess_dir(home)
    assert [m.content for m in sess2dlg(recs) if m.msg_type==sprompt]==['why?']
    assert dlg2sess(Dialog('empty'), project=home)==[]

@pytest.mark.parametrize('n', [150, 500, 900, 5000])
def test_deep_nesting(n, home):
    deep = '{"a":'*n+'1'+'}'*n
    lines = [b'{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"x"}}',
        ('{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","timestamp":"2026-01-01T00:00:01.000Z","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"f","input":'+deep+'}]}}').encode(),
        ('{"type":"attachment","uuid":"c","parentUuid":"b","sessionId":"s","attachment":'+deep+'}').encode()]
    odd = []
    recs = [Rec(r) for _,r in iter_recs(lines, claude.is_rec, odd)]
    assert len(recs)+len(odd)==3
    d = sess2dlg(recs)
    assert dlg2sess(through(d))==recs
    recs2chat(recs), claude.repair(recs, 's'), reid_recs(recs, 'n'), trunc_tools(recs, 1)
    d.messages[0].content = 'edited'
    dlg2sess(d)

def test_a_name_in_a_file_does_not_lead_elsewhere(home):
    recs = [Rec({**r, 'sessionId':'../../evil'}) if 'sessionId' in r else r for r in session(5)]
    assert sess2dlg(recs).name=='evil'
    with pytest.raises(ValueError): save_sess(recs)
