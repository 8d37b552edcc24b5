"""What Claude Code sends when it resumes a session, written apart from the library, to judge it; and sessions for the tests"""
import random

def blocks(r):
    c = m.get('content') if isinstance(m := r.get('message'), dict) else None
    return [dict(type='text', text=c)] if isinstance(c, str) else [b for b in c if isinstance(b, dict)] if isinstance(c, list) else []

def is_conv(r): return r.get('type') in ('user', 'assistant') and isinstance(r.get('message'), dict) and not r.get('isSidechain') and isinstance(r.get('uuid'), str)

def live(recs):
    "Records from the last compaction on, walked back by `parentUuid`, with no leniency: a gap is an error"
    at = {r['uuid']:(i,r) for i,r in enumerate(recs) if isinstance(r.get('uuid'), str)}
    assert len(at)==len([r for r in recs if isinstance(r.get('uuid'), str)]), 'an id occurs twice'
    leaf = max((i for i,r in enumerate(recs) if is_conv(r)), key=lambda i: (recs[i]['timestamp'], i))
    on,r = set(),recs[leaf]
    while r is not None:
        i = at[r['uuid']][0]
        assert i not in on, 'a circle'
        on.add(i)
        p = r.get('parentUuid')
        assert p is None or p in at or i==min(n for n,_ in at.values()), f'{r["uuid"]} has lost its parent'
        r = at[p][1] if p in at else None
    mids = {recs[i]['message'].get('id') for i in on if is_conv(recs[i]) and recs[i]['type']=='assistant'}-{None}
    on |= {i for i,r in enumerate(recs) if is_conv(r) and r['type']=='assistant' and r['message'].get('id') in mids}
    calls = {b['id'] for i in on if is_conv(recs[i]) and recs[i]['type']=='assistant' for b in blocks(recs[i]) if b['type']=='tool_use'}
    done = {b['tool_use_id'] for i in on for b in blocks(recs[i]) if b.get('type')=='tool_result'}
    on |= {i for i,r in enumerate(recs) if is_conv(r) and any(b.get('type')=='tool_result' and b.get('tool_use_id') in calls-done for b in blocks(r))}
    return [recs[i] for i in sorted(on) if is_conv(recs[i])]

def api_messages(recs):
    "The request's messages for `recs`, as they are to be on resuming, with what is typed then"
    res,by_mid = [],{}
    for r in live(recs):
        mid = r['message'].get('id') if r['type']=='assistant' else None
        bs = [{k:v for k,v in b.items()} for b in blocks(r)]
        if mid in by_mid and mid: by_mid[mid]['content'] += bs
        elif res and res[-1]['role']==r['type']: res[-1]['content'] += bs
        else: res.append(dict(role=r['type'], content=bs))
        if mid: by_mid.setdefault(mid, res[-1])
    if res and res[-1]['role']=='user': res[-1]['content'].append(dict(type='text', text='go on'))
    else: res.append(dict(role='user', content='go on'))
    for m in res:
        if m['role']=='user' and isinstance(m['content'], list): m['content'].sort(key=lambda b: b['type']!='tool_result')
    return res

# --- generated sessions

def session(n, seed=0, text='word ' * 20, out='line\n'*30):
    "`n` or a few more records: turns with thoughts, parallel calls, attachments and bookkeeping"
    rng = random.Random(seed)
    recs,last,k = [],None,0
    def add(typ, content=None, parent=None, **kw):
        nonlocal k
        k += 1
        u = f'{rng.getrandbits(32):08x}-0000-4000-8000-{k:012x}'
        r = dict(parentUuid=parent, isSidechain=False, userType='external', cwd='/p', sessionId='s', version='2.1.200', gitBranch='', type=typ, uuid=u,
            timestamp=f'2026-01-{1+k//8640000:02}T{k//360000%24:02}:{k//6000%60:02}:{k//100%60:02}.{k%100*10:03}Z', **kw)
        if content is not None: r['message'] = dict(role=typ, content=content)
        recs.append(r)
        return u
    while len(recs)<n:
        recs.append(dict(type='file-history-snapshot', messageId='m', snapshot={}))
        last = add('user', f'turn {k} {text}', last)
        last = add('attachment', None, last, attachment=dict(type='hook_success', content='ok'))
        for _ in range(rng.randrange(1, 4)):
            mid,calls = f'msg_{k}',[f'toolu_{k}_{j}' for j in range(rng.randrange(0, 3))]
            for b in [dict(type='thinking', thinking='hm', signature='c2ln'), dict(type='text', text=f'{text}{k}'), *[dict(type='tool_use', id=c, name='Bash', input=dict(command=f'ls {k}')) for c in calls]]:
                last = add('assistant', [b], last)
                recs[-1]['message'].update(id=mid, model='m', usage=dict(output_tokens=k))
                if b['type']=='tool_use': by = recs[-1]; by['own'] = last
            for c in calls:
                p = next(r['uuid'] for r in reversed(recs) if r['type']=='assistant' and r['message']['content'][0].get('id')==c)
                last = add('user', [dict(type='tool_result', tool_use_id=c, content=out)], p, toolUseResult=dict(stdout=out), sourceToolAssistantUUID=p)
        last = add('system', None, last, subtype='turn_duration', durationMs=1)
    for r in recs: r.pop('own', None)
    return recs
