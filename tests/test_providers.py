"""Conversations for providers: round trips, strict rules, the official SDKs over HTTP, and files of conversations"""
import copy, json
from base64 import b64encode
import anthropic, openai, pytest
from google import genai
from hypothesis import HealthCheck, given, settings, strategies as st
from llmsurgery.chat import *
from llmsurgery.chat import PartType as T
from llmsurgery import providers as P
from conftest import shared_files
from llmsurgery.providers import *
from strict_api import anthropic_problems, gemini_problems, openai_problems, responses_problems
from strict_servers import strict_server

few = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))

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
@settings(many, max_examples=200)
@given(msgs=any_msgs)
def test_nothing_is_sent_that_a_provider_refuses(fmt, msgs):
    try: sent(fmt, msgs)
    except ValueError as e: assert 'would refuse' in str(e)

@each
@settings(many, max_examples=100)
@given(msgs=any_msgs)
def test_a_repaired_list_is_sent(fmt, msgs):
    msgs,_ = repair_chat(msgs)
    if fmt=='gemini' and any(p.type==T.tool_use and p.data['name'][0].isdigit() for m in msgs for p in m.content): return
    if any(m.role!='system' for m in msgs): sent(fmt, msgs)

@settings(many, max_examples=200)
@given(msgs=any_msgs, first=st.booleans())
def test_the_quick_look_agrees_with_the_report(msgs, first):
    ps = [o for o in check_chat(msgs) if not P._is_lax(o, msgs, first)]
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
@settings(many, max_examples=100)
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
@settings(many, max_examples=75)
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

# --- what must come out right, one by one

def through(fmt, server, reply, msgs=(user('q'),)):
    "What the SDK makes of the provider's `reply`, as messages; and that it goes back to the letter"
    to,back,key,_ = fmts[fmt]
    server.says = reply
    got = back(asks[fmt](server.url, to(list(msgs))))
    again = to([*msgs, *got, *[tool(res(p.data['id'], '3')) for m in got for p in m.content if p.type==T.tool_use and not p.data.get('server')]])[key]
    return got,again

replies = dict(
    anthropic=[dict(type='text', text='Hm.', citations=[dict(type='web_search_result_location', cited_text='c', encrypted_index='e', title=None, url='http://localhost')]), dict(type='hologram', beams=[1, dict(a=None)]), dict(type='text', text='So.')],
    responses=[dict(type='hologram', id='h_1', beams=[1]), dict(type='message', id='msg_1', role='assistant', status='completed', phase='final_answer', content=[dict(type='output_text', text='So.', annotations=[dict(type='url_citation', start_index=0, end_index=2, title='T', url='http://localhost')])])],
    gemini=dict(role='model', parts=[dict(toolCall=dict(id='t1', toolType='GOOGLE_SEARCH_WEB', args=dict(q='x'))), dict(toolResponse=dict(id='t1', toolType='GOOGLE_SEARCH_WEB', response=dict(a=1))), dict(text='So.', thoughtSignature='_-8=')]))

@pytest.mark.parametrize('fmt', replies)
@pytest.mark.filterwarnings('ignore')
def test_blocks_of_unknown_types_and_unknown_fields_come_back(fmt, server):
    got,again = through(fmt, server, replies[fmt])
    assert [p.text for p in got[0].content if p.type==T.text][-1]=='So.'
    for k in fmts: fmts[k][0]([user('q'), *got])
    if fmt=='gemini': assert again[1]==P._gemini_norm(replies[fmt])
    elif fmt=='anthropic': assert again[1]['content']==[dict(replies[fmt][0], citations=[dict(replies[fmt][0]['citations'][0])]), *replies[fmt][1:]]
    else: assert again[1:]==replies[fmt]

def test_a_blocked_prompt_of_gemini(server):
    server.says = None
    from strict_servers import routes
    check,reply = routes['/v1/models/m:generateContent']
    routes['/v1/models/m:generateContent'] = check,lambda _: dict(promptFeedback=dict(blockReason='SAFETY'))
    try: assert gemini2chat(ask_gemini(server.url, chat2gemini([user('q')])))==[bot(Part(T.refusal, 'The model refused to answer: SAFETY'))]
    finally: routes['/v1/models/m:generateContent'] = check,reply

def test_a_refusal_of_openai(server):
    got,again = through('openai', server, dict(role='assistant', content=None, refusal='I cannot.'))
    assert got==[bot(Part(T.refusal, 'I cannot.'))]
    assert again[1]==dict(role='assistant', content=[dict(type='refusal', refusal='I cannot.')])

@each
@pytest.mark.parametrize('name', ['empty texts', 'calls side by side', 'an image in a result', 'texts in a result', 'no text beside a call', 'two users', 'users and results', 'media of every kind', 'a failure', 'results in two messages'])
def test_shapes(fmt, name, server):
    "Each of these is taken, and what it says comes back"
    q,shot = user('q'),res('x', 'see', parts=[Part(T.text, 'see'), png, pdf])
    msgs = {'empty texts': [user('', 'q', ' '), bot('', call('x')), tool(res('x', '')), bot('')], 'calls side by side': [q, bot('a', call('x'), call('y')), tool(res('x', '1'), res('y', '2')), bot('b')],
        'an image in a result': [q, bot(call('x')), tool(shot), bot('b')], 'texts in a result': [q, bot(call('x')), tool(res('x', 'a\nb', parts=[Part(T.text, 'a'), Part(T.text, 'b')])), bot('b')],
        'no text beside a call': [q, bot(call('x')), tool(res('x', '1'))], 'two users': [q, user('r'), bot('b')], 'users and results': [q, bot(call('x')), tool(res('x', '1')), user('stop', png), bot('b')],
        'media of every kind': [user(png, png_url, pdf, wav, mp4, Part(T.input_file, 'data:text/plain;base64,aGk='), Part(T.input_image, 'data:image/bmp;base64,AAAA'), Part(T.input_file, 'https://localhost/a.pdf', dict(mime='application/pdf')), 'q'), bot('b')],
        'a failure': [q, bot(call('x')), tool(res('x', '', is_error=True)), bot('b')], 'results in two messages': [q, bot(call('x'), call('y')), tool(res('y', '2')), tool(res('x', '1')), bot('b')]}[name]
    server.says = wire_reply(fmt, [q, bot('ok')], 1)
    assert fmts[fmt][1](asks[fmt](server.url, fmts[fmt][0](msgs)))[0].text=='ok'
    back = fmts[fmt][1](fmts[fmt][0](msgs))
    if name!='a failure': assert [(p.data['id'], p.text) for m in back for p in m.content if p.type==T.tool_result]==[(p.data['id'], p.text) for m in msgs for p in m.content if p.type==T.tool_result]
    assert [p.data for m in back for p in m.content if p.type==T.tool_use]==[p.data for m in msgs for p in m.content if p.type==T.tool_use]
    assert ('<media-unavailable' in json.dumps(fmts[fmt][0](msgs)))==(name=='media of every kind')

@each
@few
@given(data=st.data())
def test_what_is_read_becomes_a_dialog(fmt, data):
    from llmsurgery.hist import chat2dlg, dlg2chat
    msgs = data.draw(chats(fmt))
    d = chat2dlg(fmts[fmt][1](fmts[fmt][0](msgs)), 'd')
    assert len(d)==sum(m.role=='user' for m in msgs)
    assert [p.data['arguments'] for m in dlg2chat([*d, d.mk_message('q', msg_type='prompt')]) for p in m.content if p.type==T.tool_use]==[p.data['arguments'] for m in msgs for p in m.content if p.type==T.tool_use and not p.data.get('server')]

# --- files

rows = dict(finetune='openai', hf='openai', sharegpt='openai', anthropic='anthropic', openai='openai', responses='responses', gemini='gemini')

@pytest.mark.parametrize('fmt', rows)
@few
@given(data=st.data())
def test_files_come_back(fmt, data):
    named = [(f'conversation {i}', data.draw(chats(rows[fmt]))) for i in range(data.draw(st.integers(1, 3)))]
    back = text2chats(chats2text(named, fmt).encode(), fmt)
    if fmt!='sharegpt': assert back==named
    else: assert [(n, [m.role for m in ms], [p.data['arguments'] for m in ms for p in m.content if p.type==T.tool_use]) for n,ms in back]==[(n, [m.role for m in ms], [p.data['arguments'] for m in ms for p in m.content if p.type==T.tool_use]) for n,ms in named]
    assert text2chats(chats2text(back, fmt), fmt)==back

def node(id, parent, role, text, **kw): return dict(id=id, parent=parent, message=dict(id=id, author=dict(role=role, name=kw.pop('name', None)), content=dict(content_type='text', parts=[text]), **kw))
gpt_keys = st.sampled_from('title mapping current_node message parent author role name content content_type parts text recipient id asset_pointer thoughts summary sender chat_messages type tool_use input uuid attachments extracted_content files parent_message_uuid tool_use_id messages tool_calls function conversations from value system arguments'.split())
gpt_words = st.sampled_from('user assistant tool system text code multimodal_text thoughts human gpt tool_result tool_use function_call observation all python a b c'.split())
gpt_junk = st.recursive(st.none() | st.booleans() | st.integers() | gpt_words, lambda s: st.lists(s, max_size=4) | st.dictionaries(gpt_keys | gpt_words, s, max_size=5), max_leaves=25)
gpt_chats = st.fixed_dictionaries(dict(mapping=st.dictionaries(gpt_words, st.fixed_dictionaries({}, optional=dict(parent=gpt_words, message=gpt_junk | st.fixed_dictionaries(dict(id=gpt_words, author=st.fixed_dictionaries(dict(role=gpt_words))), optional=dict(content=gpt_junk, recipient=gpt_words)))), max_size=5)), optional=dict(current_node=gpt_words, title=gpt_junk))
claude_chats = st.fixed_dictionaries(dict(chat_messages=st.lists(st.fixed_dictionaries(dict(sender=st.sampled_from(['human', 'assistant'])), optional=dict(uuid=gpt_words, parent_message_uuid=gpt_words, text=gpt_junk, content=st.lists(st.dictionaries(gpt_keys, gpt_junk, max_size=4), max_size=3) | gpt_junk, attachments=gpt_junk)), max_size=4)), optional=dict(name=gpt_junk))
share_chats = st.fixed_dictionaries(dict(conversations=st.lists(st.fixed_dictionaries({'from':gpt_words, 'value':gpt_junk | st.just('{"name":"f","arguments":{}}')}), max_size=4)))

@pytest.mark.parametrize('fmt', [*P.wire_formats, *P.file_formats])
@settings(many, max_examples=100)
@given(o=gpt_junk | st.lists(gpt_chats | claude_chats | share_chats, max_size=3), cut=st.integers(0, 60))
def test_junk_files_are_read_or_refused_clearly(fmt, o, cut):
    try: named = text2chats(json.dumps(o)[:-cut or None], fmt)
    except ValueError: return
    for _,msgs in named:
        for k in fmts:
            try: fmts[k][0](msgs)
            except ValueError: pass

def test_a_long_tree_and_its_oddities():
    n = 20_000
    mapping = {f'n{i}':node(f'n{i}', f'n{i-1}' if i else None, 'assistant' if i%2 else 'user', str(i)) for i in range(n)}
    (name,msgs), = text2chats(json.dumps([dict(title='long', current_node=f'n{n-1}', mapping=mapping)]), 'chatgpt')
    assert (name,len(msgs),msgs[-1].text)==('long', n, str(n-1))
    mapping['n0']['parent'] = 'n5' # a cycle
    assert len(text2chats(json.dumps(dict(current_node='n9', mapping=mapping)), 'chatgpt')[0][1])==10
    mapping['n3']['parent'] = 'gone'
    assert text2chats(json.dumps(dict(current_node='n5', mapping=mapping)), 'chatgpt')[0][1][0].text=='3'
    assert len(text2chats(json.dumps(dict(current_node='gone', mapping=mapping)), 'chatgpt')[0][1])==n-3

def test_branches_of_a_tree():
    ms = [node('a', None, 'user', 'q'), node('b', 'a', 'assistant', '1'), node('c', 'a', 'assistant', '2'), node('d', 'c', 'user', 'r'), node('e', 'c', 'user', 's'), node('sys', None, 'system', '')]
    o = dict(title='T', current_node='d', mapping={m['id']:m for m in ms})
    assert [(n, [m.text for m in msgs]) for n,msgs in P.chatgpt2chats([o], branches=True)]==[('T', ['q', '2', 'r']), ('T (branch 2)', ['q', '1']), ('T (branch 3)', ['q', '2', 's']), ('T (branch 4)', [])]

# --- real sessions

@pytest.mark.parametrize('f', shared_files('real/claude_[st]*.jsonl'))
@each
def test_messages_of_real_sessions_are_taken(fmt, f):
    recs = [json.loads(l) for l in f.read_text().split('\n') if l]
    ms = [{k:r['message'][k] for k in ('role', 'content')} for r in recs if r.get('type') in ('user', 'assistant') and not r.get('isSidechain')]
    msgs,_ = repair_chat(anthropic2chat(ms))
    used = [b['input'] for m in ms if isinstance(m['content'], list) for b in m['content'] if b['type']=='tool_use']
    assert used and [p.data['arguments'] for m in msgs for p in m.content if p.type==T.tool_use]==used
    if fmt=='anthropic': assert sum(b['type']=='thinking' for m in sent(fmt, msgs) for b in m['content'])>0
    sent(fmt, msgs)
