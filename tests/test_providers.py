"""Conversations for providers: round trips, strict rules, the official SDKs over HTTP, and files of conversations"""
import copy, json
from base64 import b64encode
import anthropic, openai, pytest
from google import genai
from hypothesis import HealthCheck, given, settings, strategies as st
from llmsurgery.chat import *
from llmsurgery.chat import PartType as T
from llmsurgery import providers as P
from llmsurgery.providers import *
from strict_api import anthropic_problems, gemini_problems, openai_problems, responses_problems
from strict_servers import strict_server

few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))

def user(*ps): return Msg('user', [Part(T.text, o) if isinstance(o, str) else o for o in ps])
def bot(*ps): return Msg('assistant', [Part(T.text, o) if isinstance(o, str) else o for o in ps])
def tool(*ps): return Msg('tool', list(ps))
def call(id, name='add', **args): return Part(T.tool_use, None, dict(id=id, name=name, arguments=args))
def res(id, text='', name='add', **kw): return Part(T.tool_result, text, dict(id=id, name=name, **kw))
png = Part(T.input_image, 'data:image/png;base64,iVBORw0KGgo=')
png_url = Part(T.input_image, 'http://localhost/a.png', dict(mime='image/png'))
pdf = Part(T.input_file, 'data:application/pdf;base64,JVBERi0xLjc=')
wav = Part(T.input_audio, 'data:audio/wav;base64,UklGRg==')
mp4 = Part(T.input_video, 'data:video/mp4;base64,AAAAIGZ0eXA=')

# --- formats: functions, the conversation in the arguments, what is refused

def problems_responses(items, msgs=()):
    led = {p.data['responses']['id']:p.data['reasoning'] for m in msgs for p in m.content if p.data and 'reasoning' in p.data and 'id' in p.data.get('responses', {})}
    return responses_problems(items, led)

fmts = dict(anthropic=(chat2anthropic, anthropic2chat, 'messages', anthropic_problems), openai=(chat2openai, openai2chat, 'messages', openai_problems),
    responses=(chat2responses, responses2chat, 'input', problems_responses), gemini=(chat2gemini, gemini2chat, 'contents', gemini_problems))
each = pytest.mark.parametrize('fmt', fmts)

def sent(fmt, msgs, sys=None):
    "The conversation that `chat2x` gives, which the provider takes"
    f,_,key,problems = fmts[fmt]
    res = f(msgs, sys)[key]
    assert problems(res, msgs)==[] if fmt=='responses' else problems(res)==[]
    return res

# --- generated conversations

texts = st.text(st.characters(codec='utf-8'), min_size=1, max_size=30).map(str.strip).filter(bool)
values = st.recursive(st.none() | st.booleans() | st.integers(-2**70, 2**70) | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(codec='utf-8'), max_size=8),
    lambda s: st.lists(s, max_size=3) | st.dictionaries(st.text(st.characters(codec='utf-8'), max_size=5), s, max_size=3), max_leaves=5)
args = st.dictionaries(st.text(st.characters(codec='utf-8'), max_size=8), values, max_size=3)
names = st.from_regex(r'[a-zA-Z_][a-zA-Z0-9_-]{0,20}', fullmatch=True)
b64 = st.binary(min_size=1, max_size=12).map(lambda b: b64encode(b).decode())
def media(mimes, typ): return st.builds(lambda m,b: Part(typ, f'data:{m};base64,{b}'), st.sampled_from(mimes), b64)
pictures = media(['image/png', 'image/jpeg', 'image/webp'], T.input_image) | st.just(png_url)
pdfs = media(['application/pdf'], T.input_file)
text_parts = texts.map(lambda s: Part(T.text, s))
users = dict(anthropic=text_parts | pictures | pdfs | st.just(Part(T.input_file, pdf.text, dict(filename='a.pdf'))) | media(['text/plain'], T.input_file).map(lambda p: P._text_file(p.text)),
    openai=text_parts | pictures | pdfs | media(['audio/wav', 'audio/mpeg'], T.input_audio), responses=text_parts | pictures | pdfs | st.just(Part(T.input_file, 'http://localhost/a.pdf', dict(mime='application/pdf'))),
    gemini=text_parts | pictures | pdfs | media(['audio/ogg'], T.input_audio) | media(['video/mp4'], T.input_video) | media(['text/csv'], T.input_file))

def signed(fmt, block, typ, text, **data): return Part(typ, text, {**data, fmt:block})
thoughts = dict(
    anthropic=st.builds(lambda s,g: signed('anthropic', dict(type='thinking', thinking=s, signature=g), T.thinking, s), texts, b64) | b64.map(lambda g: signed('anthropic', dict(type='redacted_thinking', data=g), T.thinking, None)),
    responses=st.builds(lambda s,g,n: signed('responses', dict(type='reasoning', id=f'rs_{n}', summary=[dict(type='summary_text', text=s)], encrypted_content=g), T.thinking, s), texts, b64, st.integers(1, 10**9)),
    gemini=texts.map(lambda s: signed('gemini', dict(text=s, thought=True), T.thinking, s)) | b64.map(lambda g: signed('gemini', dict(text='', thought_signature=g), T.thinking, '')))

@st.composite
def says(draw, fmt):
    "Texts of an assistant"
    n = 1 if fmt=='openai' else draw(st.integers(1, 2))
    ps = [draw(text_parts) for _ in range(n)]
    if fmt=='gemini' and draw(st.booleans()): ps[0] = signed('gemini', dict(text=ps[0].text, thought_signature=draw(b64)), T.text, ps[0].text)
    if fmt=='anthropic' and draw(st.booleans()): ps[0] = signed('anthropic', dict(type='text', text=ps[0].text, citations=[dict(type='char_location', cited_text='x', document_index=0, document_title=None, start_char_index=0, end_char_index=1)]), T.text, ps[0].text)
    return ps

@st.composite
def served(draw, fmt, n):
    "What ran on the provider's server: call and result"
    if fmt=='anthropic':
        id,q = f'srvtoolu_{n}',draw(texts)
        return [signed(fmt, dict(type='server_tool_use', id=id, name='web_search', input=dict(query=q)), T.tool_use, None, id=id, name='web_search', arguments=dict(query=q), server=True),
            signed(fmt, dict(type='web_search_tool_result', tool_use_id=id, content=[dict(type='web_search_result', title='T', url='U', encrypted_content='e')]), T.server_tool_result, 'T\nU', id=id, name='web_search')]
    if fmt=='responses':
        id,a = f'ws_{n}',dict(type='search', query=draw(texts))
        return [signed(fmt, dict(type='web_search_call', id=id, status='completed', action=a), T.tool_use, None, id=id, name='web_search', arguments=a, server=True), Part(T.server_tool_result, '', dict(id=id, name='web_search'))]
    if fmt=='gemini':
        c,id = dict(language='PYTHON', code=draw(texts)),f'exec_{n}'
        return [signed(fmt, dict(executable_code=dict(c, id=id)), T.tool_use, None, id=id, name='code_execution', arguments=c, server=True),
            signed(fmt, dict(code_execution_result=dict(outcome='OUTCOME_OK', output='2', id=id)), T.server_tool_result, '2', id=id, name='code_execution')]
    return []

@st.composite
def results(draw, fmt, c):
    text,kw = draw(texts),{}
    if fmt in ('anthropic', 'gemini') and draw(st.booleans()): kw['is_error'] = True
    if fmt!='openai' and draw(st.booleans()):
        kw['parts'] = [Part(T.text, text), draw(pictures), *([draw(pdfs)] if draw(st.booleans()) else [])]
        if fmt!='gemini' and draw(st.booleans()): kw['parts'].append(Part(T.text, 'more'))
        text = '\n'.join(p.text for p in kw['parts'] if p.type==T.text)
    return Part(T.tool_result, text, dict(id=c.data['id'], name=c.data['name'], **kw))

@st.composite
def calls(draw, fmt, n):
    p = Part(T.tool_use, None, dict(id=f'call_{n}', name=draw(names), arguments=draw(args)))
    if fmt=='responses' and draw(st.booleans()): p.data['responses'] = dict(type='function_call', id=f'fc_{n}', status='completed', call_id=p.data['id'], name=p.data['name'], arguments=json.dumps(p.data['arguments']))
    if fmt=='gemini' and draw(st.booleans()): p.data['gemini'] = dict(function_call=dict(id=p.data['id'], name=p.data['name'], args=p.data['arguments']), thought_signature=draw(b64))
    return p

@st.composite
def chats(draw, fmt):
    "A canonical conversation, of all that the format can say"
    msgs,n = [],0
    for _ in range(draw(st.integers(1, 3))):
        msgs.append(Msg('user', draw(st.lists(users[fmt], min_size=1, max_size=3))))
        for _ in range(draw(st.integers(0, 2))):
            cs = [draw(calls(fmt, n := n+1)) for _ in range(draw(st.integers(1, 3)))]
            said = [*think(draw, fmt), *(draw(says(fmt)) if draw(st.booleans()) else [])]
            if fmt!='openai' and draw(st.booleans()): said += draw(served(fmt, n := n+1))
            msgs += led(Msg('assistant', said+cs)),Msg('tool', [draw(results(fmt, c)) for c in cs])
        end = [*think(draw, fmt), *draw(says(fmt))]
        if fmt in ('openai', 'responses') and draw(st.integers(0, 5))==0: end = [Part(T.refusal, draw(texts))]
        msgs.append(led(Msg('assistant', end)))
    return msgs

def think(draw, fmt): return [draw(thoughts[fmt])] if fmt in thoughts and draw(st.booleans()) else []

def led(m):
    "`m`, whose items note the reasoning that led to them"
    rs = next((p.data['responses']['id'] for p in m.content if p.type==T.thinking and 'responses' in p.data), None)
    for p in m.content:
        if rs and p.type!=T.thinking and 'id' in (p.data or {}).get('responses', {}): p.data['reasoning'] = rs
    return m

# --- round trips

@each
@many
@given(data=st.data())
def test_what_a_format_can_say_comes_back(fmt, data):
    msgs = data.draw(chats(fmt))
    was = copy.deepcopy(msgs)
    kw = fmts[fmt][0](msgs, 'Be brief.')
    sent(fmt, msgs)
    assert msgs==was
    assert fmts[fmt][1](kw)==[Msg('system', [Part(T.text, 'Be brief.')]), *msgs]
    assert fmts[fmt][1](fmts[fmt][0](msgs))==msgs
    json.loads(json.dumps(kw, allow_nan=False))

@each
@many
@given(data=st.data())
def test_a_conversation_of_any_provider_is_taken_by_every_other(fmt, data):
    msgs = data.draw(st.sampled_from(list(fmts)).flatmap(chats))
    sent(fmt, msgs)
    again = fmts[fmt][1](fmts[fmt][0](msgs))
    assert sent(fmt, again)==fmts[fmt][0](msgs)[fmts[fmt][2]]

def no_thoughts(msgs): return [Msg(m.role, ps) for m in msgs if (ps := [p for p in m.content if p.type!=T.thinking])]

@each
@many
@given(data=st.data())
def test_thoughts_may_be_taken_out_and_parts_edited(fmt, data):
    msgs = data.draw(chats(fmt))
    sent(fmt, no_thoughts(msgs))
    edited = copy.deepcopy(msgs)
    for m in edited:
        for p in m.content:
            if p.type==T.text: p.text = 'edited'
            elif p.type==T.tool_use: p.data['arguments'] = dict(edited=True)
            elif p.type==T.tool_result: p.text = 'edited'
    sent(fmt, edited)
    back = fmts[fmt][1](fmts[fmt][0](edited))
    assert [p.text for m in back for p in m.content if p.type in (T.text, T.tool_result)]==[p.text for m in edited for p in m.content if p.type in (T.text, T.tool_result)]
    assert all(p.data['arguments']==dict(edited=True) for m in back for p in m.content if p.type==T.tool_use)

# --- whatever the list: it is refused by us, or taken by the provider

any_text = st.sampled_from(['', ' ', '\n', 'a', 'a \n', '\ud800', 'é', '\x00'])
any_id = st.sampled_from(['a', 'b', 'c.d', 'x'*70, '', None, 5, '\ud800'])
any_part = st.builds(Part, st.sampled_from([T.text]*4+[T.thinking, T.refusal]), any_text | st.none()) | st.sampled_from([png, png_url, pdf, wav, mp4]) | st.builds(Part, st.sampled_from([o for o in T if 'input' in o]), st.sampled_from(['', None, 'data:', 'data:image/png;base64,@@', 'file:///a', 'data:text/plain;base64,gA=='])) \
    | st.builds(lambda i,n,a: Part(T.tool_use, None, dict(id=i, name=n, arguments=a)), any_id, st.sampled_from(['f', 'g.h', '', None, '9f']), st.sampled_from([{}, dict(a=float('nan')), dict(b=['\ud800']), 'x', None])) \
    | st.builds(lambda i,t,e: Part(T.tool_result, t, dict(id=i, name='f', **e)), any_id, any_text | st.none(), st.sampled_from([{}, dict(is_error=True), dict(parts=[png, Part(T.text, '')])])) | st.builds(Part, st.sampled_from(list(T)), any_text)
any_msgs = st.lists(st.builds(Msg, st.sampled_from(['user', 'assistant', 'tool', 'system', 'king']), st.lists(any_part, max_size=4)), max_size=6)

@each
@settings(many, max_examples=600)
@given(msgs=any_msgs)
def test_nothing_is_sent_that_a_provider_refuses(fmt, msgs):
    try: sent(fmt, msgs)
    except ValueError as e: assert 'would refuse' in str(e)

@each
@settings(many, max_examples=400)
@given(msgs=any_msgs)
def test_a_repaired_list_is_sent(fmt, msgs):
    msgs = [Msg(m.role, [p for p in m.content if p.type in P._takes[m.role] and not (p.type==T.tool_result and p.data is None)]) for m in msgs if m.role!='king']
    msgs,_ = repair_chat(msgs)
    if fmt=='gemini' and any(p.type==T.tool_use and p.data['name'][0].isdigit() for m in msgs for p in m.content): return
    if any(m.role!='system' for m in msgs): sent(fmt, msgs)

@settings(many, max_examples=600)
@given(msgs=any_msgs, first=st.booleans())
def test_the_quick_look_agrees_with_the_report(msgs, first):
    ps = [*P._misplaced(msgs), *[o for o in check_chat(msgs) if not P._is_lax(o, msgs, first)]]
    assert P._sound(msgs, first)==(not ps and any(m.role!='system' for m in msgs))

# --- the SDKs, over HTTP

def ask_anthropic(url, kw): return anthropic.Anthropic(api_key='k', base_url=url, max_retries=0).messages.create(model='m', max_tokens=9, **kw)
def ask_openai(url, kw): return openai.OpenAI(api_key='k', base_url=url+'/v1', max_retries=0).chat.completions.create(model='m', **kw)
def ask_responses(url, kw): return openai.OpenAI(api_key='k', base_url=url+'/v1', max_retries=0).responses.create(model='m', store=False, **kw)
def ask_gemini(url, kw):
    client = genai.Client(api_key='k', http_options=dict(base_url=url)) # Closes itself when nothing holds it
    return client.models.generate_content(model='m', **kw)
asks = dict(anthropic=ask_anthropic, openai=ask_openai, responses=ask_responses, gemini=ask_gemini)

def wire_reply(fmt, msgs, k):
    "The assistant's message `k` of `msgs`, as the provider answers it"
    upto = msgs[:k+2] if any(p.type==T.tool_use and not p.data.get('server') for p in msgs[k].content) else msgs[:k+1]
    full = fmts[fmt][0](upto)[fmts[fmt][2]]
    if fmt=='responses':
        own = full[len(chat2responses(msgs[:k])['input']):]
        return [o if o['type']=='reasoning' else dict({'id':f'id_{i}', 'status':'completed'}, **o) for i,o in enumerate(own) if not o['type'].endswith('_output')]
    last = [m for m in full if m['role'] in ('assistant', 'model')][-1]
    if fmt=='anthropic': return last['content']
    if fmt=='openai' and isinstance(last['content'], list): return dict(role='assistant', content=None, refusal=last['content'][0]['refusal'])
    return last

def no_ids(msgs):
    "`msgs` without what a provider adds to items"
    for m in msgs:
        for p in m.content:
            if p.type==T.thinking or not p.data or p.data.get('server'): continue
            for k in ('responses', 'reasoning'): p.data.pop(k, None)
            p.data = p.data or None
    return msgs

@pytest.fixture(scope='module')
def server():
    with strict_server() as srv: yield srv

@each
@few
@given(data=st.data())
def test_the_sdks_send_and_bring_back_every_conversation(fmt, data, server):
    msgs = data.draw(chats(fmt))
    to,back,_,_ = fmts[fmt]
    for k in [i for i,m in enumerate(msgs) if m.role=='assistant']:
        server.bodies.clear()
        server.says = wire_reply(fmt, msgs, k)
        r = asks[fmt](server.url, to(msgs[:k], 'Be brief.'))
        got,want = back(r),[msgs[k]]
        assert back(server.bodies[0])==[Msg('system', [Part(T.text, 'Be brief.')]), *msgs[:k]]
        if fmt=='responses': got,want = no_ids(got),no_ids(copy.deepcopy(want))
        assert got==want
        sent(fmt, msgs[:k]+back(r)+([msgs[k+1]] if k+1<len(msgs) and msgs[k+1].role=='tool' else []))

@each
def test_the_servers_refuse(fmt, server):
    bad = dict(anthropic=dict(messages=[dict(role='user', content=[dict(type='text', text=' ')])]), openai=dict(messages=[dict(role='tool', content='x', tool_call_id='x')]),
        responses=dict(input=[dict(type='function_call_output', call_id='x', output='')]), gemini=dict(contents=[dict(role='model', parts=[dict(text='x')])]))[fmt]
    with pytest.raises((anthropic.BadRequestError, openai.BadRequestError, genai.errors.ClientError)): asks[fmt](server.url, bad)

@each
def test_the_sdks_objects_in_a_conversation(fmt, server):
    "A reply is put into the list as the object it is, as people do"
    to,back,key,_ = fmts[fmt]
    server.says = wire_reply(fmt, msgs := [user('Add.'), bot('Adding.', call('x', a=1)), tool(res('x', '3'))], 1)
    kw = to(msgs[:1])
    r = asks[fmt](server.url, kw)
    more = dict(anthropic=lambda: [dict(role='assistant', content=r.content)], openai=lambda: [r.choices[0].message], responses=lambda: r.output, gemini=lambda: [r.candidates[0].content])[fmt]()
    assert no_ids(back({key:[*kw[key], *more, *to(msgs)[key][-1:]]}))==msgs
    assert back(r)[0].text=='Adding.'

def test_no_sdk_is_imported():
    import subprocess, sys
    out = subprocess.run([sys.executable, '-c', 'import sys, llmsurgery.providers; print([o for o in ("anthropic", "openai", "google.genai", "pydantic", "httpx") if o in sys.modules])'], capture_output=True, text=True, check=True)
    assert out.stdout.strip()=='[]'

# --- reading never crashes

keys = st.sampled_from('role content type text parts tool_calls function name arguments id call_id tool_use_id input output source data media_type url image_url function_call functionCall functionResponse response inlineData mimeType messages contents candidates choices message system thought summary file file_data input_audio custom'.split())
words = st.sampled_from('user assistant model tool system developer text image image_url tool_use tool_result thinking reasoning message function_call function_call_output web_search_call file base64 input_text output_text input_file'.split())
junk = st.recursive(st.none() | st.booleans() | st.integers() | words | st.text(max_size=4), lambda s: st.lists(s, max_size=4) | st.dictionaries(keys, s, max_size=5), max_leaves=12)

def read_and_sent(fmt, o):
    try: msgs = fmts[fmt][1](o)
    except ValueError: return
    for k in fmts:
        try: fmts[k][0](msgs) if k==fmt else sent(k, msgs) # What is not known goes back as it came, refused or not
        except ValueError: pass

@each
@settings(many, max_examples=500)
@given(o=junk | st.lists(st.fixed_dictionaries(dict(role=words), optional=dict(content=junk, parts=st.lists(st.dictionaries(keys, junk, max_size=3)), tool_calls=junk, type=words)), max_size=4))
def test_junk_is_read_or_refused_clearly(fmt, o):
    read_and_sent(fmt, o)

@st.composite
def broken(draw, fmt):
    "A conversation with one thing in it replaced by junk"
    o = copy.deepcopy(fmts[fmt][0](draw(chats(fmt))))
    at = o
    while isinstance(at, (dict, list)) and at:
        k = draw(st.sampled_from(sorted(at))) if isinstance(at, dict) else draw(st.integers(0, len(at)-1))
        if draw(st.integers(0, 3))==0 or not isinstance(at[k], (dict, list)): break
        at = at[k]
    if isinstance(at, (dict, list)) and at: at[k] = draw(junk)
    return o

@each
@settings(many, max_examples=300)
@given(data=st.data())
def test_a_broken_payload_is_read_or_refused_clearly(fmt, data):
    read_and_sent(fmt, data.draw(broken(fmt)))

@each
def test_hostile_depth(fmt):
    deep = []
    for _ in range(100_000): deep = [deep]
    for o in deep, [dict(role='user', content=deep, parts=deep)], dict(messages=deep, contents=deep, input=deep):
        with pytest.raises(ValueError): fmts[fmt][1](o)
    with pytest.raises(ValueError, match="call 'x'|deep"): fmts[fmt][0]([user('q'), bot(call('x', a=deep)), tool(res('x'))])
