"""What Codex reads and sends when it resumes a thread, written apart from the library, to judge it; and rollouts for the tests"""
import random, re

time_ok = re.compile(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)').fullmatch
kinds = {'session_meta', 'response_item', 'event_msg', 'turn_context', 'world_state', 'compacted', 'inter_agent_communication_metadata'}
sent = dict(message='role content phase', function_call='name arguments call_id', function_call_output='call_id output', custom_tool_call='name input call_id', custom_tool_call_output='call_id output',
    reasoning='id summary encrypted_content', local_shell_call='call_id action', web_search_call='action')

def framed(recs):
    "Problems in how the lines are made"
    res = []
    if not recs or recs[0].get('type')!='session_meta': res.append('the first record does not tell the thread')
    else: res += [f'session_meta lacks {k}' for k in ('id', 'timestamp', 'cwd', 'originator', 'cli_version') if not isinstance(recs[0]['payload'].get(k), str)]
    for i,r in enumerate(recs):
        if not (isinstance(r.get('timestamp'), str) and time_ok(r['timestamp'])): res.append(f'{i}: time {r.get("timestamp")!r}')
        if r.get('type') not in kinds or not isinstance(r.get('payload'), dict): res.append(f'{i}: {r.get("type")!r} is no record')
    ns = [r.get('ordinal') for r in recs]
    if any(n is not None for n in ns) and [n-ns[0] if isinstance(n, int) else None for n in ns]!=list(range(len(ns))): res.append('ordinals')
    return res

def live(recs):
    "The items of the live history"
    res,users = [],[]
    for i,r in enumerate(recs):
        p = r['payload']
        if r['type']=='compacted':
            res = list(p['replacement_history']) if p.get('replacement_history') is not None else [o for o in users]+[dict(type='message', role='user', content=[dict(type='input_text', text=p['message'])])]
        elif r['type']=='response_item':
            res.append(p)
        elif p.get('type')=='user_message': users += [o for o in res[-1:] if o.get('role')=='user']
        elif p.get('type')=='thread_rolled_back':
            at = [n for n,o in enumerate(res) if any(o is u for u in users)]
            del res[at[-p['num_turns']]:]
    return res

def api_items(recs):
    "The request's `input`, with what is typed then"
    res = []
    for o in live(recs):
        typ = o['type']
        if typ in ('ghost_snapshot', 'compaction', 'context_compaction', 'image_generation_call'): continue
        if typ=='agent_message': o = dict(type='message', role='user', content=[b for b in o['content'] if b['type']=='input_text'] or [dict(type='input_text', text='.')])
        if typ=='tool_search_call': o = dict(type='function_call', name='tool_search', arguments='{}', call_id=o['call_id'])
        if typ=='tool_search_output':
            assert isinstance(o['tools'], list)
            o = dict(type='function_call_output', call_id=o['call_id'], output='')
        if o['type']=='local_shell_call': o = dict(type='function_call', name='local_shell', arguments='{}', call_id=o.get('call_id') or o.get('id'))
        res.append({k:v for k,v in o.items() if k in ('type', *sent[o['type']].split()) and v is not None})
    return res+[dict(type='message', role='user', content=[dict(type='input_text', text='go on')])]

# --- generated rollouts

def thread(n, seed=0, text='word ' * 20, out='line\n'*30, numbered=False):
    "`n` or a few more records: turns with reasoning, calls of all kinds, parallel ones, injected text, events and bookkeeping"
    rng,recs,k = random.Random(seed),[],0
    def add(typ, **payload):
        nonlocal k
        k += 1
        recs.append(dict(timestamp=f'2026-01-{1+k//8640000:02}T{k//360000%24:02}:{k//6000%60:02}:{k//100%60:02}.{k%100*10:03}Z', type=typ, **(dict(ordinal=len(recs)) if numbered else {}), payload=payload))
    def msg(role, *texts): add('response_item', type='message', role=role, content=[dict(type='output_text' if role=='assistant' else 'input_text', text=s) for s in texts])
    def call(j):
        c = dict(call_id=f'call_{k}_{j}')
        typ = rng.randrange(5)
        if typ==0: return dict(type='function_call', id=f'fc_{k}', name='view', namespace='mcp__x', arguments=f'{{"path": "a {k}"}}', **c), 'function_call_output'
        if typ==1: return dict(type='custom_tool_call', status='completed', name='apply_patch', input=f'*** Begin Patch\n+{k}\n*** End Patch', **c), 'custom_tool_call_output'
        if typ==2: return dict(type='custom_tool_call', status='completed', name='exec', input='for (const f of fs) text(await tools.view({f}));', **c), 'custom_tool_call_output'
        if typ==3: return dict(type='local_shell_call', status='completed', action=dict(type='exec', command=['ls', str(k)]), **c), 'function_call_output'
        return dict(type='custom_tool_call', status='completed', name='exec', input=f'const r = await tools.exec_command({{cmd:"ls {k}", workdir:\'/p\'}});\ntext(r.output);\n', **c), 'custom_tool_call_output'
    sid = f'{rng.getrandbits(32):08x}-0000-4000-8000-{seed:012x}'
    add('session_meta', id=sid, timestamp='2026-01-01T00:00:00.000Z', cwd='/p', originator='codex_cli_rs', cli_version='0.146.0', source='cli', base_instructions=dict(text='Be good.'))
    msg('developer', 'rules')
    msg('user', '# AGENTS.md instructions for /p', '<environment_context>\n<cwd>/p</cwd>\n</environment_context>')
    while len(recs)<n:
        add('event_msg', type='task_started', turn_id=f't{k}')
        add('turn_context', cwd='/p', model='m')
        typed = f'turn {k} {text}'
        msg('user', typed)
        add('event_msg', type='user_message', message=typed if k%5 else f' {typed} ', images=[])
        for _ in range(rng.randrange(1, 4)):
            add('response_item', type='reasoning', id=f'rs_{k}', summary=[dict(type='summary_text', text='hm')], encrypted_content='c2ln')
            add('event_msg', type='agent_reasoning', text='hm')
            s = f'{text}{k}'
            add('event_msg', type='agent_message', message=s)
            msg('assistant', s)
            calls = [call(j) for j in range(rng.randrange(0, 3))]
            for c,_ in calls: add('response_item', **c)
            for c,typ in calls:
                add('event_msg', type='exec_command_end', call_id=c['call_id'], stdout=out)
                add('response_item', type=typ, call_id=c['call_id'], output=rng.choice([out, [dict(type='input_text', text='Done\n'), dict(type='input_text', text=out)]]))
            add('event_msg', type='token_count', info=dict(last_token_usage=dict(output_tokens=k)))
        add('event_msg', type='task_complete', last_agent_message=s)
    return recs
