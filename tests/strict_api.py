"""What each provider documents that it refuses, as functions from a request to its problems; written apart from the library, to judge it

`anthropic_problems(messages)`, `openai_problems(messages)`, `responses_problems(input)` and `gemini_problems(contents)` return strings, an empty list where the provider would take the list.
They are strict: a field or type that is not documented is a problem."""
import base64, binascii, json, re

def is_b64(s):
    try: return isinstance(s, str) and bool(base64.b64decode(s, validate=True))
    except (binascii.Error, ValueError): return False

def extra(d, *allowed): return sorted(set(d)-set(allowed))
def blank(s): return not isinstance(s, str) or not s.strip()
def is_url(s): return isinstance(s, str) and s.startswith(('http://', 'https://'))
def is_object(s):
    def no(x): raise ValueError(x)
    try: return isinstance(json.loads(s, parse_constant=no), dict)
    except (ValueError, TypeError): return False

class Problems(list):
    "Problems, each with the place it is at"
    def need(self, ok, at, what):
        if not ok: self.append(f'{at}: {what}')
        return bool(ok)

    def fields(self, d, at, *allowed): self.need(isinstance(d, dict) and not extra(d, *allowed), at, f'extra inputs are not permitted: {extra(d, *allowed) if isinstance(d, dict) else d!r}')

# --- Anthropic

images = ('image/jpeg', 'image/png', 'image/gif', 'image/webp')
blocks = dict(
    text='text citations', image='source transformations', document='source title context citations', search_result='source title content citations', tool_use='id name input caller toolset_name',
    tool_result='tool_use_id content is_error toolset_name', thinking='thinking signature', redacted_thinking='data', server_tool_use='id name input caller',
    web_search_tool_result='tool_use_id content caller', web_fetch_tool_result='tool_use_id content caller', code_execution_tool_result='tool_use_id content',
    bash_code_execution_tool_result='tool_use_id content', text_editor_code_execution_tool_result='tool_use_id content', container_upload='file_id')
of_user = {'text', 'image', 'document', 'search_result', 'tool_result', 'container_upload'}
in_result = {'text', 'image', 'document', 'search_result'}
server_tools = ('web_search', 'web_fetch', 'code_execution', 'bash_code_execution', 'text_editor_code_execution')

def anthropic_source(ps, b, at):
    s = b.get('source') or {}
    typ,pdf = s.get('type'),b['type']=='document'
    if typ=='base64':
        ps.fields(s, at, 'type', 'media_type', 'data')
        ps.need(s.get('media_type') in (('application/pdf',) if pdf else images), at, f'media_type {s.get("media_type")!r}')
        ps.need(is_b64(s.get('data')), at, 'data is no base64')
    elif typ=='url': ps.need(is_url(s.get('url')), at, f'url {s.get("url")!r}')
    elif typ=='text': ps.need(pdf and s.get('media_type')=='text/plain' and isinstance(s.get('data'), str), at, 'a text source is for documents, and text/plain')
    elif typ=='file': ps.need(isinstance(s.get('file_id'), str), at, 'file_id')
    else: ps.append(f'{at}: source of type {typ!r}')

def anthropic_block(ps, b, at, allowed):
    if not ps.need(isinstance(b, dict) and b.get('type') in allowed, at, f'block {b.get("type") if isinstance(b, dict) else b!r} is not allowed here'): return
    typ = b['type']
    ps.fields(b, at, 'type', 'cache_control', *blocks[typ].split())
    if typ=='text': ps.need(not blank(b.get('text')), at, 'text content blocks must be non-empty, and contain non-whitespace text')
    if typ in ('image', 'document'): anthropic_source(ps, b, at)
    if typ=='thinking': ps.need(isinstance(b.get('thinking'), str) and not blank(b.get('signature')), at, 'thinking without signature')
    if typ=='redacted_thinking': ps.need(not blank(b.get('data')), at, 'redacted_thinking without data')
    if typ in ('tool_use', 'server_tool_use'):
        pat = r'[a-zA-Z0-9_-]+' if typ=='tool_use' else r'srvtoolu_[a-zA-Z0-9_]+'
        ps.need(isinstance(b.get('id'), str) and re.fullmatch(pat, b['id']), at, f'id {b.get("id")!r} should match {pat}')
        ps.need(re.fullmatch(r'[a-zA-Z0-9_-]{1,64}', b.get('name') or '') if typ=='tool_use' else b.get('name') in server_tools, at, f'name {b.get("name")!r}')
        ps.need(isinstance(b.get('input'), dict), at, 'input should be an object')
    if typ=='tool_result':
        c = b.get('content')
        ps.need(c is None or isinstance(c, (str, list)), at, 'content')
        ps.need(not b.get('is_error') or c, at, 'content cannot be empty if is_error is true')
        for k,o in enumerate(c if isinstance(c, list) else ()): anthropic_block(ps, o, f'{at}.content.{k}', in_result)

def anthropic_calls(ps, ms):
    "Calls and results: a result right after its call, first in the message, one for each"
    seen = set()
    for i,m in enumerate(ms):
        calls = [b['id'] for b in m['content'] if m['role']=='assistant' and b['type']=='tool_use']
        for o in calls: ps.need(o not in seen, f'messages.{i}', f'tool_use ids must be unique: {o}')
        seen |= set(calls)
        after = ms[i+1]['content'] if i+1<len(ms) else []
        got = [b['tool_use_id'] for b in after if b['type']=='tool_result']
        ps.need(not set(calls)-set(got), f'messages.{i}', 'tool_use ids were found without tool_result blocks immediately after')
        if m['role']!='user': continue
        own = [b['tool_use_id'] for b in m['content'] if b['type']=='tool_result']
        before = [b['id'] for b in ms[i-1]['content'] if b['type']=='tool_use'] if i else []
        ps.need(not set(own)-set(before), f'messages.{i}', 'unexpected tool_use_id found in tool_result blocks')
        ps.need(len(set(own))==len(own), f'messages.{i}', 'each tool_use must have a single result')
        ps.need(all(b['type']=='tool_result' for b in m['content'][:len(own)]), f'messages.{i}', 'tool_result blocks must come first in the message')

def anthropic_server(ps, m, at, last):
    uses = [b['id'] for b in m['content'] if b['type']=='server_tool_use']
    results = [b['tool_use_id'] for b in m['content'] if b['type'].endswith('_tool_result') and b['type']!='tool_result']
    ps.need(not set(results)-set(uses), at, 'result of a server tool without its server_tool_use')
    ps.need(last or not set(uses)-set(results), at, 'server_tool_use without its result')

def anthropic_problems(messages):
    "What Anthropic's Messages would refuse in `messages`, a list of plain dicts"
    ps = Problems()
    if not ps.need(isinstance(messages, list) and messages, 'messages', 'at least one message is required'): return ps
    ms = []
    for i,m in enumerate(messages):
        at = f'messages.{i}'
        if not ps.need(isinstance(m, dict) and m.get('role') in ('user', 'assistant') and set(m)=={'role', 'content'}, at, 'a message has a role, user or assistant, and content'): return ps
        c = [dict(type='text', text=m['content'])] if isinstance(m['content'], str) else m['content']
        if not ps.need(isinstance(c, list) and c, at, 'all messages must have non-empty content'): return ps
        for j,b in enumerate(c): anthropic_block(ps, b, f'{at}.content.{j}', of_user if m['role']=='user' else set(blocks)-of_user|{'text'})
        ms.append(dict(role=m['role'], content=c))
    if ps: return ps
    ps.need(ms[0]['role']=='user', 'messages.0', 'first message must use the user role')
    for i,(a,b) in enumerate(zip(ms, ms[1:]), 1): ps.need(a['role']!=b['role'], f'messages.{i}', 'roles must alternate between user and assistant')
    anthropic_calls(ps, ms)
    for i,m in enumerate(ms):
        if m['role']!='assistant': continue
        ps.need('thinking' not in m['content'][-1]['type'], f'messages.{i}', 'the final block in an assistant message cannot be thinking')
        anthropic_server(ps, m, f'messages.{i}', i==len(ms)-1)
    end = ms[-1]['content'][-1]
    if ms[-1]['role']=='assistant' and end['type']=='text': ps.need(end['text']==end['text'].rstrip(), f'messages.{len(ms)-1}', 'final assistant content cannot end with trailing whitespace')
    return ps

# --- OpenAI Chat Completions

def openai_part(ps, b, at, role):
    typ = b.get('type') if isinstance(b, dict) else None
    allowed = dict(user=('text', 'image_url', 'input_audio', 'file'), assistant=('text', 'refusal')).get(role, ('text',))
    if not ps.need(typ in allowed, at, f"invalid value: {typ!r}; supported values are {allowed}"): return
    ps.fields(b, at, 'type', typ)
    if typ in ('text', 'refusal'): ps.need(isinstance(b.get(typ), str), at, typ)
    elif typ=='image_url':
        url = b['image_url'].get('url') or ''
        head,_,data = url.partition(';base64,')
        ps.fields(b['image_url'], at, 'url', 'detail')
        ps.need(is_url(url) or (head.removeprefix('data:') in images and is_b64(data)), at, 'you uploaded an unsupported image')
    elif typ=='input_audio': ps.need(b[typ].get('format') in ('wav', 'mp3') and is_b64(b[typ].get('data')) and set(b[typ])=={'format', 'data'}, at, 'input_audio')
    else: openai_file(ps, b['file'], at)

def openai_file(ps, f, at):
    head,_,data = (f.get('file_data') or '').partition(';base64,')
    ps.need(f.get('file_id') or (f.get('filename') and head=='data:application/pdf' and is_b64(data)), at, 'file')

def openai_call(ps, c, at):
    if not ps.need(isinstance(c, dict) and c.get('type') in ('function', 'custom') and set(c)=={'id', 'type', c['type']}, at, 'tool call'): return
    ps.need(isinstance(c['id'], str) and 0<len(c['id'])<=40, at, 'id: string too long, or empty')
    f = c[c['type']]
    ps.need(set(f)=={'name', 'arguments' if c['type']=='function' else 'input'} and re.fullmatch(r'[a-zA-Z0-9_-]{1,64}', f['name']), at, f'name {f.get("name")!r} does not match the pattern')
    ps.need(c['type']=='custom' or is_object(f['arguments']), at, 'arguments should be a string of JSON')

def openai_said(ps, m, at):
    ps.fields(m, at, 'role', 'content', 'tool_calls', 'refusal', 'name', 'audio')
    calls = m.get('tool_calls')
    ps.need(calls is None or (isinstance(calls, list) and calls), at, '[] is too short - tool_calls')
    ps.need(m.get('content') is not None or calls, at, 'content may be null only beside tool calls')
    for j,c in enumerate(calls or ()): openai_call(ps, c, f'{at}.tool_calls.{j}')

def openai_message(ps, m, at):
    role,c = m.get('role'),m.get('content')
    if not ps.need(role in ('system', 'developer', 'user', 'assistant', 'tool'), at, f'role {role!r}'): return
    if role=='assistant': openai_said(ps, m, at)
    else:
        ps.fields(m, at, 'role', 'content', 'name', *(['tool_call_id'] if role=='tool' else []))
        ps.need(c is not None, at, 'content is required')
    ps.need(c is None or isinstance(c, str) or (isinstance(c, list) and c), at, 'content is a string, or a list that is not empty')
    for j,b in enumerate(c if isinstance(c, list) else ()): openai_part(ps, b, f'{at}.content.{j}', role)

def openai_problems(messages):
    "What OpenAI's Chat Completions would refuse in `messages`, a list of plain dicts"
    ps,waiting = Problems(),set()
    if not ps.need(isinstance(messages, list) and messages, 'messages', '[] is too short'): return ps
    for i,m in enumerate(messages):
        at = f'messages.{i}'
        openai_message(ps, m, at)
        if m.get('role')=='tool':
            ps.need(m.get('tool_call_id') in waiting, at, "messages with role 'tool' must be a response to a preceding message with 'tool_calls'")
            waiting.discard(m.get('tool_call_id'))
            continue
        ps.need(not waiting, at, f"an assistant message with 'tool_calls' must be followed by tool messages responding to each: {waiting}")
        ids = [c.get('id') for c in m.get('tool_calls') or ()]
        ps.need(len(set(ids))==len(ids), at, 'duplicate tool call ids')
        waiting = set(ids)
    ps.need(not waiting, 'messages', f'tool calls without a response: {waiting}')
    return ps

# --- OpenAI Responses

items = dict(function_call='call_id name arguments', function_call_output='call_id output', custom_tool_call='call_id name input', custom_tool_call_output='call_id output',
    reasoning='summary content encrypted_content', web_search_call='action', code_interpreter_call='code container_id outputs', file_search_call='queries results',
    image_generation_call='result', local_shell_call='call_id action', local_shell_call_output='output', mcp_call='arguments name server_label output error', mcp_list_tools='server_label tools error', message='role content phase')
outputs = {'message', 'function_call', 'custom_tool_call', 'web_search_call', 'code_interpreter_call', 'local_shell_call', 'mcp_call', 'file_search_call', 'image_generation_call'}

def responses_part(ps, b, at, allowed):
    typ = b.get('type') if isinstance(b, dict) else None
    if not ps.need(typ in allowed, at, f'invalid value: {typ!r}; supported values are {allowed}'): return
    if typ in ('input_text', 'output_text', 'refusal'):
        key = 'refusal' if typ=='refusal' else 'text'
        ps.fields(b, at, 'type', key, *(['annotations', 'logprobs'] if typ=='output_text' else []))
        ps.need(isinstance(b.get(key), str), at, key)
    elif typ=='input_image':
        url = b.get('image_url') or ''
        head,_,data = url.partition(';base64,')
        ps.fields(b, at, 'type', 'image_url', 'detail', 'file_id')
        ps.need(b.get('file_id') or is_url(url) or (head.removeprefix('data:') in images and is_b64(data)), at, 'image')
    else:
        ps.fields(b, at, 'type', 'file_data', 'file_id', 'file_url', 'filename')
        ps.need(is_url(b['file_url']) if 'file_url' in b else True, at, 'file_url')
        if 'file_url' not in b: openai_file(ps, b, at)

def responses_item(ps, o, at):
    typ = o.get('type', 'message')
    if not ps.need(typ in items, at, f'invalid value: {typ!r}'): return
    ps.fields(o, at, 'type', 'id', 'status', *items[typ].split())
    if typ=='message':
        if not ps.need(o.get('role') in ('user', 'assistant', 'system', 'developer'), at, f'role {o.get("role")!r}'): return
        allowed = ('output_text', 'refusal') if o['role']=='assistant' else ('input_text', 'input_image', 'input_file')
        ps.need(isinstance(o['content'], str) or (isinstance(o['content'], list) and o['content']), at, 'content')
        for j,b in enumerate(o['content'] if isinstance(o['content'], list) else ()): responses_part(ps, b, f'{at}.content.{j}', allowed)
    elif typ in ('function_call', 'custom_tool_call'):
        ps.need(isinstance(o.get('call_id'), str) and 0<len(o['call_id'])<=64, at, 'call_id: string too long, or empty')
        ps.need(re.fullmatch(r'[a-zA-Z0-9_-]{1,64}', o.get('name') or ''), at, f'name {o.get("name")!r}')
        ps.need(typ!='function_call' or is_object(o.get('arguments')), at, 'arguments should be a string of JSON')
    elif typ=='function_call_output':
        ps.need(isinstance(o.get('output'), (str, list)), at, 'output')
        for j,b in enumerate(o['output'] if isinstance(o.get('output'), list) else ()): responses_part(ps, b, f'{at}.output.{j}', ('input_text', 'input_image', 'input_file'))
    elif typ=='reasoning': ps.need(isinstance(o.get('id'), str) and isinstance(o.get('summary'), list), at, 'reasoning needs id and summary')

def responses_problems(input, led=None):
    "What OpenAI's Responses would refuse in `input`, a list of items; `led` tells for ids of items which reasoning they came with"
    ps,calls,done,thoughts = Problems(),{},set(),set()
    if not ps.need(isinstance(input, list) and input, 'input', 'one of input or previous_response_id must be provided'): return ps
    for i,o in enumerate(input):
        at = f'input.{i}'
        responses_item(ps, o, at)
        typ = o.get('type', 'message')
        if typ=='reasoning':
            thoughts.add(o.get('id'))
            nxt = input[i+1] if i+1<len(input) else {}
            ps.need(nxt.get('type')=='reasoning' or (nxt.get('type') in outputs and nxt.get('role', 'assistant')=='assistant'), at, 'reasoning was provided without its required following item')
        elif (rs := (led or {}).get(o.get('id'))): ps.need(rs in thoughts, at, f'item was provided without its required reasoning item {rs}')
        if typ.endswith('_call') and 'call_id' in o:
            ps.need(o['call_id'] not in calls, at, f'duplicate call_id {o["call_id"]}')
            calls[o['call_id']] = typ
        elif typ.endswith('_output'):
            id = o.get('call_id') or o.get('id')
            ps.need(calls.get(id)==typ.removesuffix('_output') and id not in done, at, f'no tool call found for the output with call_id {id}')
            done.add(id)
    ps.need(not set(calls)-done, 'input', f'no tool output found for call {set(calls)-done}')
    return ps

# --- Gemini

kinds = ('text', 'inline_data', 'file_data', 'function_call', 'function_response', 'executable_code', 'code_execution_result', 'tool_call', 'tool_response')
media = re.compile(r'image/(png|jpeg|webp|heic|heif)|(audio|video|text)/.+|application/pdf').fullmatch

def snake(o, skip=('args', 'response')):
    if isinstance(o, list): return [snake(v) for v in o]
    if not isinstance(o, dict): return o
    return {k:v if k in skip else snake(v) for k,v in ((re.sub('(?<=[a-z0-9])[A-Z]', lambda m: '_'+m[0].lower(), k),v) for k,v in o.items())}

def std(s): return s.replace('-', '+').replace('_', '/') if isinstance(s, str) else s

def gemini_media(ps, b, at):
    d = b.get('inline_data') or b.get('file_data')
    ps.need(media(d.get('mime_type') or ''), at, f'unsupported MIME type: {d.get("mime_type")!r}')
    ps.need(is_b64(std(d.get('data'))) if 'inline_data' in b else d.get('file_uri'), at, 'data')

def gemini_part(ps, b, at, role):
    found = [k for k in kinds if b.get(k) is not None]
    ps.fields(b, at, *kinds, 'thought', 'thought_signature', 'video_metadata', 'part_metadata')
    if not ps.need(len(found)==1, at, f'a part has exactly one kind of data, not {found}'): return
    k = found[0]
    ps.need('thought_signature' not in b or is_b64(std(b['thought_signature'])), at, 'thought_signature is no base64')
    if k=='text': ps.need(not blank(b['text']) or b.get('thought_signature'), at, 'unable to submit request because it has an empty text parameter')
    elif k in ('inline_data', 'file_data'): gemini_media(ps, b, at)
    elif k=='function_call':
        ps.fields(b[k], at, 'id', 'name', 'args')
        ps.need(re.fullmatch(r'[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}', b[k].get('name') or ''), at, f'function name {b[k].get("name")!r}')
        ps.need(isinstance(b[k].get('args', {}), dict), at, 'args')
    elif k=='function_response':
        ps.fields(b[k], at, 'id', 'name', 'response', 'parts')
        ps.need(isinstance(b[k].get('response'), dict), at, 'response should be an object')
        for o in b[k].get('parts') or (): gemini_media(ps, o, at)
    ps.need((role=='model')==(k not in ('function_response',)) or k in ('text', 'inline_data', 'file_data'), at, f'{k} in a turn of {role}')

def gemini_turns(ps, cs):
    for i,c in enumerate(cs):
        at = f'contents.{i}'
        calls = [b['function_call'] for b in c['parts'] if 'function_call' in b]
        answers = [b['function_response'] for b in c['parts'] if 'function_response' in b]
        if calls: ps.need(i and cs[i-1]['role']=='user', at, 'a function call turn comes immediately after a user turn or after a function response turn')
        before = [b['function_call'] for b in cs[i-1]['parts'] if 'function_call' in b] if i else []
        ps.need(len(before)==len(answers), at, 'the number of function response parts is to be equal to that of function call parts of the function call turn')
        ps.need(sorted(f['name'] for f in before)==sorted(f['name'] for f in answers), at, 'names of calls and responses')
        ps.need(sorted(str(f.get('id')) for f in before)==sorted(str(f.get('id')) for f in answers), at, 'ids of calls and responses')
        ps.need(all('function_response' in b for b in c['parts'][:len(answers)]), at, 'function responses come first')
        codes,results = [sum(k in b for b in c['parts']) for k in ('executable_code', 'code_execution_result')]
        ps.need(codes==results or i==len(cs)-1, at, 'code without its result')
    ps.need(not [b for b in cs[-1]['parts'] if 'function_call' in b], 'contents', 'a function call without response')

def gemini_signatures(ps, cs):
    "The first call of each step since the user's last message has a signature"
    for i in range(len(cs)-1, -1, -1):
        c = cs[i]
        if c['role']=='user' and any('function_response' not in b for b in c['parts']): return
        firsts = [b for b in c['parts'] if 'function_call' in b][:1]
        ps.need(all('thought_signature' in b for b in firsts), f'contents.{i}', 'function call is missing a thought_signature')

def gemini_problems(contents):
    "What Gemini would refuse in `contents`, in the API's or the SDK's spelling"
    ps,cs = Problems(),snake(contents)
    if not ps.need(isinstance(cs, list) and cs, 'contents', 'contents is not specified'): return ps
    for i,c in enumerate(cs):
        if not ps.need(c.get('role') in ('user', 'model') and isinstance(c.get('parts'), list) and c['parts'] and set(c)=={'role', 'parts'}, f'contents.{i}', 'a content has a role, user or model, and parts'): return ps
        for j,b in enumerate(c['parts']): gemini_part(ps, b, f'contents.{i}.parts.{j}', c['role'])
    ps.need(cs[0]['role']=='user', 'contents.0', 'first content should be with role user')
    for i,(a,b) in enumerate(zip(cs, cs[1:]), 1): ps.need(a['role']!=b['role'], f'contents.{i}', 'multiturn requests alternate between user and model')
    if not ps: gemini_turns(ps, cs), gemini_signatures(ps, cs)
    return ps
