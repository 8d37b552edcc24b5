"""Replies and chats: properties on generated ones, hostile ones, and real files"""
import json, sys, warnings
from html import unescape
import pytest
from hypothesis import given, settings, strategies as st, HealthCheck
from llmsurgery import chat
from llmsurgery.chat import *
from conftest import shared, shared_files

T = PartType
slow = settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))

# ---- What is generated: texts made of what matters to a reply, calls with arguments of every kind, and chats

block = mk_tr_details(Part(T.tool_result, '3', dict(id='doc', name='add', arguments=dict(a=1))))
fence = mk_tr_details(Part(T.tool_result, '3', dict(id='doc', name='add', arguments=dict(a=1))), dialect='fence')
bits = ['\n', '\n', '\n\n', ' ', '   ', '    ', '\r', '\r\n', '\t', 'text', '- ', '> ', '.', '🤖', '\u2028', '\x85', '\x0b', '\x00', '\ud800', '\x1b[31m',
    '```', '~~~', '````', '`````', '`````py\n1', '`````result\n2', '```json', '```json {.tool}', '```json {.usage}\n{}', block, fence, block[:100], block[100:], block[-60:],
    fence[:40], "<details class='tool-usage-details'>", tool_dtls_tag, "<details class='token-usage-details'>", '<summary>', '</summary>', '</details>',
    '<!--think_start-->', '<!--think_end-->', '- `f({})`', '  - `x`', '{"id":"a","name":"f"}', '{"id":"a","call":{"function":"f"}}',
    '##### 🤖Reply🤖<!-- SOLVEIT_SEPARATOR_7f3a9b2c -->', '*[Response interrupted]*']
texts = st.lists(st.sampled_from(bits) | st.text(max_size=5), max_size=12).map(''.join)
keys = st.sampled_from(['a','from','class','max-results','','é','a\nb', '`', '<b>', '\n```json {.tool}\n', '</summary>\n\n```json\n']) | st.text(max_size=5)
scalars = st.none() | st.booleans() | st.integers(-2**70, 2**70) | st.floats(allow_nan=False) | texts
values = st.recursive(scalars, lambda o: st.lists(o, max_size=3) | st.dictionaries(keys, o, max_size=3), max_leaves=6)
arguments = st.dictionaries(keys, values, max_size=3)
names = st.sampled_from(['add','functions.add','a b','<i>','f\n','é']) | st.text(min_size=1, max_size=5)
safe = st.sampled_from(['Some text.', 'a\n\nb', '```\ncode\n```', f'````\n{block}\n````', 'a `b` <c>', '# é 🤖', '.', '1.  x\u2028y', '~~~py\n```\n~~~'])
dialects = st.sampled_from(['details','fence'])

def batches(text):
    "Lists of text, and of calls as name, arguments, and result"
    return st.lists(st.tuples(text, st.lists(st.tuples(names, arguments, texts), min_size=1, max_size=3)), max_size=3)

def mk_chat(bs, last):
    "The canonical messages of the batches `bs` with the text `last` behind"
    res,n = [],0
    for txt,calls in bs:
        calls = [(f'call_{(n := n+1)}',*o) for o in calls]
        if res and not txt: continue
        uses = [Part(T.tool_use, data=dict(id=i, name=nm, arguments=a)) for i,nm,a,_ in calls]
        res += [Msg('assistant', ([Part(T.text, txt)] if txt else [])+uses), Msg('tool', [Part(T.tool_result, r, dict(id=i, name=nm)) for i,nm,_,r in calls])]
    return res + [Msg('assistant', [Part(T.text, last)])]

chats = st.builds(mk_chat, batches(safe | st.just('')), safe)
wild_chats = st.builds(mk_chat, batches(texts), texts)

# ---- Splitting

def whole(s): return ''.join(s[o.start:o.end] for o in split_reply(s))

@given(texts)
@slow
def test_pieces_are_the_reply(s):
    ps = split_reply(s)
    assert whole(s)==s
    assert all(a.end==b.start for a,b in zip(ps, ps[1:])) and all(o.start<o.end for o in ps)
    assert all(o.line==s.count('\n', 0, o.start)+1 for o in ps)
    assert not any(a.kind==b.kind=='prose' for a,b in zip(ps, ps[1:]))

@given(texts)
@slow
def test_prose_is_kept(s):
    "All prose of a reply is in its messages, in order, and only that"
    prose = ''.join(s[o.start:o.end] for o in split_reply(s) if o.kind in ('prose','result'))
    got = ''.join(m.text for m in fmt2hist(s))
    assert [c for c in got if not c.isspace()] in ([c for c in prose if not c.isspace()], [c for c in prose+'.' if not c.isspace()])

@given(texts)
@slow
def test_strict_raises_or_agrees(s):
    try: ms = fmt2hist(s, strict=True)
    except ValueError as e: assert str(e).startswith('line ')
    else: assert ms==fmt2hist(s)

# ---- Round trips

@given(chats, dialects)
@slow
def test_messages_round_trip(ms, d):
    r = hist2fmt(ms, mx=None, dialect=d)
    assert fmt2hist(r)==ms and fmt2hist(r, strict=True)==ms
    assert reply_dialect(r) in (d, None)

@given(wild_chats, dialects, st.sampled_from([None, 2000, 30]))
@slow
def test_what_is_written_is_final(ms, d, mx):
    r = hist2fmt(ms, mx=mx, dialect=d)
    assert hist2fmt(fmt2hist(r), mx=None, dialect=d)==r

@given(wild_chats, dialects)
@slow
def test_texts_never_become_calls(ms, d):
    "Whatever the texts hold, the calls are those that were written, and what they hold is exact"
    def calls(ms): return [[(p.text, p.data) for m in ms for p in m.content if p.type==t] for t in (T.tool_use, T.tool_result)]
    back = fmt2hist(hist2fmt(ms, mx=None, dialect=d))
    assert calls(back)==calls(ms)
    assert {m.role for m in back}<={'assistant','tool'}

@given(texts, dialects)
@slow
def test_normal_form(s, d):
    "Any reply at all comes to rest after one round"
    if any(m.role=='user' for m in fmt2hist(s)): return
    r = hist2fmt(fmt2hist(s), mx=None, dialect=d)
    assert hist2fmt(fmt2hist(r), mx=None, dialect=d)==r

@given(texts, dialects)
@slow
def test_convert_keeps_all(s, d):
    c = convert_reply(s, d)
    assert fmt2hist(c)==fmt2hist(s)
    assert convert_reply(c, d)==c
    def rest(s): return [s[o.start:o.end] for o in split_reply(s) if o.kind!='tool']
    assert rest(c)==rest(s)

@given(chats, dialects)
@slow
def test_convert_there_and_back(ms, d):
    r,other = hist2fmt(ms, mx=None, dialect=d), 'fence' if d=='details' else 'details'
    assert convert_reply(r, other)==hist2fmt(ms, mx=None, dialect=other)
    assert convert_reply(convert_reply(r, other), d)==r

# ---- Values of every kind

def one(args, res=''):
    return [Msg('assistant', [Part(T.tool_use, data=dict(id='x', name='f', arguments=args))]),
        Msg('tool', [Part(T.tool_result, res, dict(id='x', name='f'))]), Msg('assistant', [Part(T.text, '.')])]

@pytest.mark.parametrize('dialect', ['details','fence'])
@pytest.mark.parametrize('v', ['a'*300_000, '`'*5000, '\n```\n\n</details>\n', '\ud800', '𝍁x𝍁', 'x \n', '\u2028\x0b\x85\r\r\n', block, fence,
    2**64, -2**200, float('inf'), 1e22, 1e-7, [], {}, [[[]]], None], ids=lambda o: repr(o)[:20])
def test_values(v, dialect):
    ms = one({'k': v, 'l': [v]}, v if isinstance(v, str) else 'r')
    assert fmt2hist(hist2fmt(ms, mx=None, dialect=dialect))==ms

def test_nan():
    r = hist2fmt(one(dict(a=float('nan'))), mx=None)
    assert hist2fmt(fmt2hist(r), mx=None)==r and fmt2hist(r)[0].content[0].data['arguments']['a']!=0

@pytest.mark.parametrize('args', [None, [], [1], 'text', 3])
def test_arguments_that_are_no_object(args):
    ms = one(args)
    assert fmt2hist(hist2fmt(ms, mx=None))==ms
    assert [o.kind for o in check_chat([mk_msg('hi'), *ms])]==['arguments that are no object']

@pytest.mark.parametrize('res,txt', [(3, '3'), (None, 'None'), ([1,'a'], "[1, 'a']"), ('', ''),
    ({'_full': 'x'}, 'x'), ({'_full': 2}, '2'), ({'_full': 1, 'b': 2}, "{'_full': 1, 'b': 2}")])
def test_results_become_text(res, txt):
    js = json.dumps(dict(id='x', call=dict(function='f', arguments={}), result=res))
    assert fmt2hist(f'{tool_dtls_tag}\n\n```json\n{js}\n```\n\n</details>')[1].content[0].text==txt

# ---- Every row of the table of formats

call_js = dict(id='x1', server=False, call=dict(function='f', arguments=dict(k='é <b>')), result='1\n</details>\n```\n2')
def reads(s, id='x1', name='f', args=dict(k='é <b>'), res=call_js['result']):
    for r in s, f'a\n{s}\nb', f'a\n\n{s}\n\nb', s.replace('\n', '\r\n'):
        a,t = fmt2hist(r, strict=True)[:2]
        p = a.content[-1]
        assert (p.data['name'], p.data['arguments'], t.content[0].text, len(a.content))==(name, args, res, 1+r.startswith('a'))
        if id: assert p.data['id']==t.content[0].data['id']==id
    return True

@pytest.mark.parametrize('tag', ["<details class='tool-usage-details'>", tool_dtls_tag])
@pytest.mark.parametrize('summ', ['', '<summary><code>f(k=&quot;é&quot;)</code></summary>\n', '<summary>f(k=é <b>…)</summary>\n',
    "<summary>f(k='a\n\n<b>\n</details>\n…)</summary>\n", '<summary>f(k=<summary>a</summary>\n</summary> b)</summary>\n'])
@pytest.mark.parametrize('kw', [dict(), dict(indent=2), dict(ensure_ascii=False), dict(indent=2, ensure_ascii=False)])
@pytest.mark.parametrize('server', [True, False])
def test_details(tag, summ, kw, server):
    o = call_js if server else {k:v for k,v in call_js.items() if k!='server'}
    assert reads(f'{tag}\n{summ}\n```json\n{json.dumps(o, **kw)}\n```\n\n</details>')

@pytest.mark.parametrize('n', [3,4,5,9])
@pytest.mark.parametrize('kw', [dict(), dict(indent=2)])
@pytest.mark.parametrize('extra', [dict(), dict(md=True), dict(server=False)])
def test_fence(n, kw, extra):
    js = json.dumps(dict(id='x1', name='f', args=dict(k='é <b>'), result=call_js['result'])|extra, **kw)
    assert reads(f"{'`'*n}json {{.tool}}\n{js}\n{'`'*n}")

@pytest.mark.parametrize('args,val', [("{'n': 1000}", dict(n=1000)), ('{"n": 1000, "b": true}', dict(n=1000, b=True)),
    ("{'a': None, 'b': [1, 'x`y\\n)']}", dict(a=None, b=[1,'x`y\n)'])), ('{}', {})])
@pytest.mark.parametrize('body,id', [('- `f(ARGS)`\n  - `RES`', None), ('- `f(ARGS)`\n  - `call_1`\n\n- `RES`', 'call_1'),
    ('- `f(ARGS)`\n  - `call_1`\n\n  - `RES`', 'call_1')])
@pytest.mark.parametrize('res', ['1003.12', '', '&lt;b&gt; &amp; &#x27;x&#x27;', 'a `b` c'])
def test_lists(args, val, body, id, res):
    b = body.replace('ARGS', args).replace('RES', res)
    assert reads(f"<details class='tool-usage-details'>\n\n{b}\n\n</details>", id, args=val, res=unescape(res))

def test_list_ids():
    b = "<details class='tool-usage-details'>\n\n- `f({'n': 1000})`\n  - `1003.12`\n\n</details>"
    def ids(s): return [o.data['id'] for o in split_reply(s) if o.kind=='tool']
    two = ids(f'{b}\n\n{b}')
    assert len(set(two))==2 and two==ids(f'{b}\n\n{b}') and not set(two)&set(ids(b))

@pytest.mark.parametrize('id', ['toolu_01', 'call_00_x', 'fc_1', 'functions.f:3'])
def test_ids(id): assert reads(mk_tr_details(Part(T.tool_result, 'r', dict(id=id, name='f', arguments={}))), id=id, args={}, res='r')

@pytest.mark.parametrize('usage', ["<details class='token-usage-details'>\n<summary>$0.0192</summary>\n\n`Usage(1)`\n\n</details>",
    "<details class='token-usage-details' markdown='1'><summary>$0.0192</summary>\n\n`Usage(1)`\n\n</details>", '```json {.usage}\n{"total": 3}\n```'])
def test_usage(usage):
    for s in f'a\n\n{usage}', f'a\n\n{usage}\n', f'{usage}\na', f'a\n{usage}': assert fmt2hist(s)==[Msg('assistant', [Part(T.text, 'a')])]

@pytest.mark.parametrize('s', ['Usage: 3 tokens', '🧠🧠🧠', '- ⏳ `f(1)` ⏳', '*[Response interrupted]*', '<!--think_start-->\nopen',
    "<details class='token-usage-details'>\nmine\nmine\n</details>", '```json {.usage}\nmine\n```', '`````py\n1\n`````', '`````result\n1\n`````',
    '`````py\n1\n`````\ntext\n`````result\n1\n`````', '````py\n1\n````\n`````result\n1\n`````'])
def test_prose(s): assert fmt2hist(f'a\n\n{s}')==[Msg('assistant', [Part(T.text, f'a\n\n{s}')])]

def test_server_calls_are_dropped_and_stored():
    s = mk_tr_details(Part(T.server_tool_result, '3', dict(id='s', name='web', arguments={})))
    assert '"server": true' in s
    assert fmt2hist(f'a\n\n{s}\n\nb')==[Msg('assistant', [Part(T.text, 'a\n\nb')])]
    assert convert_reply(convert_reply(s, 'fence'), 'details')==s and '"server": true' in convert_reply(s, 'fence')

# ---- Nothing that somebody typed vanishes

@pytest.mark.parametrize('old,new', [('"id"', '"ID"'), ('"id": "x1"', '"id": ""'), ('"id": "x1"', '"id": 3'), ('"call"', '"Call"'), ('"function"', '"fn"'), ('"f"', '""'),
    ('{\n', '{{\n'), ('"3"', "'3'"), ('\n\n</details>', ''), ('\n```\n', '\n'), ('\n```\n', '\n``` x\n'), ('```json', '```js'), ('\n\n```json', '\n\nmine\n\n```json'),
    ('\n\n</details>', '\n\nmine\n\n</details>'), ('</details>', '</details>mine'), ('<details', ' <details'), ('<details', 'x<details'), ("markdown='1'", 'open')])
def test_broken_blocks_are_prose(old, new):
    good = mk_tr_details(Part(T.tool_result, '3', dict(id='x1', name='f', arguments={})))
    bad = good.replace(old, new, 1)
    assert bad!=good
    assert fmt2hist(bad)==[Msg('assistant', [Part(T.text, bad.strip())])]
    for d in 'details','fence': assert hist2fmt(fmt2hist(bad), dialect=d)==bad and convert_reply(bad, d)==bad
    if bad.startswith('<details class') and 'open' not in bad:
        with pytest.raises(ValueError, match='^line 3: '): fmt2hist(f'a\n\n{bad}', strict=True)
    ms = fmt2hist(f'{bad}\n\n{good}\n\nb')
    assert ms[0].content[0].text==bad.strip() and ms[0].content[1].data['id']=='x1' and ms[-1].text=='b'

@pytest.mark.parametrize('f', ['````', '~~~', '~~~~~', '``````'])
@pytest.mark.parametrize('inner', [block, fence, "<details class='tool-usage-details'>\n\n- `f({})`\n  - `1`\n\n</details>",
    '<!--think_start-->a<!--think_end-->'])
def test_shown_in_a_fence(f, inner):
    for info in '', 'md', ' md':
        s = f'{f}{info}\n{inner}\n{f}'
        assert fmt2hist(s)==[Msg('assistant', [Part(T.text, s)])]
    assert [o.kind for o in split_reply(f'{s}\n{block}')]==['prose','tool']

# ---- Hostile replies

def steps(f, *args):
    "How many lines of this package `f` runs, which unlike time is the same each time"
    n = 0
    def trace(frame, ev, arg):
        nonlocal n
        if 'llmsurgery' not in frame.f_code.co_filename: return
        n += 1
        return trace
    sys.settrace(trace)
    try: f(*args)
    finally: sys.settrace(None)
    return n

class Probe(str):
    "A string that counts the characters that are searched or copied"
    n = 0
    def find(self, sub, start=0, end=None):
        i = super().find(sub, start, len(self) if end is None else end)
        Probe.n += (i if i>=0 else len(self) if end is None else end) - start
        return i
    def index(self, sub, start=0): return self.find(sub, start)
    def rfind(self, sub, start, end):
        i = super().rfind(sub, start, end)
        Probe.n += end-max(i, start)
        return i
    def __getitem__(self, i):
        Probe.n += len(res := super().__getitem__(i))
        return res

@pytest.fixture
def searched(monkeypatch):
    "A function that runs another and tells how many characters of replies were searched or copied meanwhile"
    init = chat._Text.__init__
    def probed(self, s):
        init(self, s)
        self.s = Probe(self.s)
    monkeypatch.setattr(chat._Text, '__init__', probed)
    def f(g, *args):
        Probe.n = 0
        g(*args)
        return Probe.n
    return f

old,token = "<details class='tool-usage-details'>\n", "<details class='token-usage-details'>\n"
hostile = [old, token, "<details class='tool-usage-details'>\nx ```json {.tool}\n", old+'```json {.tool}\n', tool_dtls_tag+'\n<summary>', tool_dtls_tag+'\n<summary>'+'</summary>\n\n', tool_dtls_tag+'\n<summary>a</summary>\n\n```json\n{',
    block[:-10]+'\n', block[:-20]+'\n', block+'\n', fence+'\n', block+'\n'+fence+'\n', '```json {.tool}\n{', '```json {.tool}\n{\n```\n', 'a ```json {.tool} ',
    '```json {.usage}\n{}\n```\n', '`````py\n1\n`````\n', '`````py\n`````\n`````result\n', '```\n', '````\n```\n', '~~~\n', '``` `\n', '    ```\n', '\n'*20,
    token+'`a\n</details>\n', old+"\n- `f({'a': 1})`\n", old+"\n- `f({'a': 1})`\n </details>\n", '<!--think_start-->\n', '<!--think_start-->\n<!--think_end-->',
    '\n```json\n', '</summary>\n```json\n', '\n</details>']
ends = ['', '\n</details>', '</summary>\n\n```json\n{"id":"x","call":{"function":"f"},"result":"'+'x'*50_000+'"}\n```\n\n</details>', '\n```\n\n</details>',
    '<!--think_end-->', '`````\n', '```']

@pytest.mark.parametrize('end', ends, ids=range(len(ends)))
@pytest.mark.parametrize('unit', hostile, ids=range(len(hostile)))
def test_linear(unit, end, searched):
    "Four times as much takes about four times as many steps, and searches about four times as many characters"
    def run(n):
        s = unit*n+end
        assert whole(s)==s
        fmt2hist(s), convert_reply(s, 'fence'), hist2fmt([Msg('assistant', [Part(T.text, s)])])
    a,b = searched(run, 50),searched(run, 200)
    assert b<a*5+1000

@pytest.mark.parametrize('unit', hostile, ids=range(len(hostile)))
def test_linear_steps(unit):
    def run(n): fmt2hist(unit*n), hist2fmt([Msg('assistant', [Part(T.text, unit*n)])])
    assert steps(run, 200)<steps(run, 50)*5+1000

def test_two_thousand_unclosed():
    for unit in hostile: fmt2hist(unit*2000)

def test_brackets():
    def call(n): return '{"id":"x","call":{"function":"f","arguments":'+'['*n+']'*n+'}}'
    for s in '['*100_000, '{"a":'*100_000, call(100_000), call(600), call(201):
        r = f'{tool_dtls_tag}\n\n```json\n{s}\n```\n\n</details>'
        assert fmt2hist(r)[0].text==r
        with pytest.raises(ValueError, match='line 1: .*(deep|read)'): fmt2hist(r, strict=True)
    for s in '['*100_000, "{'a': "+'['*100_000+'}', '-'*100_000, "{'a': "+'-'*100_000+'1}', "{'a':"*150+'1'+'}'*150:
        with warnings.catch_warnings():
            warnings.simplefilter('error')
            r = f"<details class='tool-usage-details'>\n\n- `f({s})`\n  - `1`\n\n</details>"
            assert fmt2hist(r)[0].text in (r, '')

def test_deep_arguments_cannot_be_written():
    o = []
    for _ in range(100_000): o = [o]
    for mx in None, 2000:
        with pytest.raises(ValueError, match="'x' of 'f' is nested too deeply"): hist2fmt(one(dict(a=o)), mx=mx)
    while o: o = o.pop()

# ---- Checks and repairs

ids = st.sampled_from(['a','b','c','']) | st.none()
bad_names = st.sampled_from(['f','a.b','a_b','x'*70,'x'*65,'',None,'f\n'])
any_parts = st.one_of(
    st.builds(lambda s: Part(T.text, s), st.sampled_from(['', ' ', 'hi', None])),
    st.builds(lambda i,n,a: Part(T.tool_use, data=dict(id=i, name=n, arguments=a)), ids, bad_names, st.sampled_from([{}, None, '{"a":1}', '[1]', 'x', [1]])),
    st.builds(lambda i,n: Part(T.tool_result, 'r', dict(id=i, name=n)), ids, bad_names),
    st.builds(lambda: Part(T.tool_use, data={})),
    st.sampled_from([Part(T.tool_use), Part(T.tool_result), Part(T.tool_use, data=dict(id='a', name='w', arguments={}, server=True)), Part(T.input_image, 'data:,')]))
roles = st.sampled_from(['user','assistant','tool','tool','assistant','system'])
any_chats = st.lists(st.builds(Msg, roles, st.lists(any_parts, max_size=3)), max_size=7)

@given(any_chats)
@settings(slow, max_examples=600)
def test_repair(ms):
    before = repr(ms)
    problems = check_chat(ms)
    fixed,did = repair_chat(ms)
    assert repr(ms)==before
    assert check_chat(fixed)==[]
    assert repair_chat(fixed)==(fixed, [])
    assert bool(did)==bool(problems)
    if not problems: assert fixed==ms
    assert all(0<=o.pos<len(ms) for o in problems+did)

@given(any_chats)
@slow
def test_repair_keeps_texts_and_calls(ms):
    fixed,_ = repair_chat(ms)
    def calls(ms): return sum(p.type==T.tool_use for m in ms for p in m.content)
    def texts(ms): return [t for m in ms for p in m.content if p.type==T.text and (t := (p.text or '').strip()) not in ('','.')]
    assert calls(fixed)==calls(ms) and texts(fixed)==texts(ms)

@given(chats)
@slow
def test_a_reply_is_sound(ms): assert {o.kind for o in check_chat([mk_msg('hi'), *ms])}<={'name that providers refuse'}

def test_check_is_linear():
    def chat(n):
        uses = [Part(T.tool_use, data=dict(id='x', name='a.b', arguments=3)) for _ in range(n)]
        results = [Msg('tool', [Part(T.tool_result, '', dict(id='x', name='a.b'))]) for _ in range(n)]
        return [mk_msg('hi'), Msg('assistant', uses), *results, *[mk_msg('') for _ in range(n)]]
    for f in check_chat, repair_chat: assert steps(f, chat(400))<6*steps(f, chat(100))+2000

# ---- Real files and exact examples

SEP = '##### 🤖Reply🤖<!-- SOLVEIT_SEPARATOR_7f3a9b2c -->'
def replies(path):
    for c in json.loads(path.read_text())['cells']:
        src = ''.join(c['source'])
        if SEP in src: yield src.partition(SEP)[2].strip('\n')
        for o in c.get('outputs', []):
            if o.get('metadata', {}).get('is_ai_res'): yield ''.join(o['data']['text/markdown'])

@pytest.mark.parametrize('path', shared_files('real/*.ipynb'))
def test_real(path):
    n = 0
    for r in replies(path):
        n += r.count("class='tool-usage-details'")+r.count('json {.tool}')
        got = [o.data for o in split_reply(r, strict=True) if o.kind=='tool']
        n -= len(got)
        assert all(o['name'] and o['id'] and isinstance(o['arguments'], dict) and isinstance(o['result'], str) for o in got)
        ms = fmt2hist(r)
        for d in 'details','fence':
            assert fmt2hist(hist2fmt(ms, mx=None, dialect=d))==ms and fmt2hist(convert_reply(r, d))==ms
            assert check_chat([mk_msg('hi'), *ms])==[]
    assert n==0

@pytest.mark.parametrize('path', shared_files('examples/projections.json'))
def test_examples(path):
    for x in json.loads(path.read_text()):
        prompts = [(m,ai) for m,ai in zip(x['dialog']['messages'], x['expected']['ai']) if m['msg_type']=='prompt']
        for (m,ai),want in zip(prompts, x['expected']['reply']):
            assert hist2fmt(fmt2hist(m['output']), mx=None)==want
        def rows(ms): return [(str(p.type), p.text, p.data) for m in ms if m.role!='user' for p in m.content if p.type!=T.tool_result]
        want = [Msg(m['role'], [Part(**p) for p in m['content']]) for m in x['expected']['chat']]
        assert sum([rows(fmt2hist(ai)) for _,ai in prompts], [])==rows(want)
