"""Generated dialogs for the benchmarks"""
import random
from llmsurgery.chat import Msg, Part, PartType, hist2fmt
from llmsurgery.js import obj2js
from llmsurgery.dialog import Dialog, code_output, prompt_output, scode, snote, sprompt

words = 'the of and to in is you that it he was for on are as with his they at be this have from or one had by word but not what all were we when'.split()

def text(n, rng):
    "About `n` characters of prose, in lines of about 60"
    lines = [' '.join(rng.choices(words, k=15)) for _ in range(n//60)]
    return '\n'.join(lines)

def texts(size=1200, seed=0):
    "50 texts of about `size` characters, and 50 of half that"
    rng = random.Random(seed)
    return [text(size, rng) for _ in range(50)],[text(size//2, rng) for _ in range(50)]

def fill(dlg, n, pools):
    "Append `n` messages made of the texts in `pools` to `dlg`: notes, code with output, and prompts with replies"
    pool,half = pools
    for i in range(n):
        if i%4==0: dlg.mk_message(pool[i%50], msg_type=scode, output=code_output('42'))
        elif i%4==1: dlg.mk_message(half[i%50], msg_type=sprompt, output=prompt_output(half[-i%50]))
        else: dlg.mk_message(pool[i%50], msg_type=snote)
    return dlg

def dialog(n, size=1200, seed=0): return fill(Dialog('bench'), n, texts(size, seed))

def reply(i, prose, result):
    "A reply with two tool calls"
    calls = [(Part(PartType.tool_use, data=dict(id=f'call_{i}_{j}', name='search', arguments=dict(query=prose[:50], n=j))), Part(PartType.tool_result, result, dict(id=f'call_{i}_{j}', name='search'))) for j in range(2)]
    return hist2fmt([Msg('assistant', [Part(PartType.text, prose), *[c for c,_ in calls]]), Msg('tool', [r for _,r in calls]), Msg('assistant', [Part(PartType.text, prose)])], None)

def tool_dialog(n, seed=0):
    "`n` messages of about 1 kB, every fourth a prompt whose reply holds two tool calls"
    rng,d = random.Random(seed),Dialog('bench')
    pool,short = [text(1000, rng) for _ in range(50)],[text(180, rng) for _ in range(50)]
    for i in range(n):
        if i%4==3: d.mk_message(short[i%50], msg_type=sprompt, output=prompt_output(reply(i, short[i%50], short[-i%50])))
        else: d.mk_message(pool[i%50], msg_type=scode if i%4==1 else snote, output=code_output('42') if i%4==1 else '')
    return d

def session(n, size=1500, seed=0):
    "About `n` records of a Claude Code session of about `size` characters each, one after the other: turns with thoughts, pairs of parallel calls and their results"
    rng = random.Random(seed)
    pool,last,k = [text(size, rng) for _ in range(50)],None,0
    def rec(typ, content, parent, **message):
        nonlocal k
        k += 1
        return dict(parentUuid=parent, isSidechain=False, userType='external', cwd='/bench', sessionId='s', version='2.1.200', gitBranch='', type=typ, message=dict(role=typ, content=content, **message),
            uuid=f'{rng.getrandbits(32):08x}-0000-4000-8000-{k:012x}', timestamp=f'2026-01-{1+k//86400:02}T{k//3600%24:02}:{k//60%60:02}:{k%60:02}.000Z')
    while k<n:
        t,calls = pool[k%50],[f'toolu_{k}_{j}' for j in range(2)]
        recs = [rec('user', t, last)]
        recs.append(rec('assistant', [dict(type='thinking', thinking=t, signature='c2ln')], recs[-1]['uuid'], id=f'm{k}', usage=dict(output_tokens=k)))
        for b in [dict(type='text', text=t), *[dict(type='tool_use', id=c, name='Bash', input=dict(command=t)) for c in calls]]:
            recs.append(rec('assistant', [b], recs[-1]['uuid'], id=recs[1]['message']['id'], usage=dict(output_tokens=k)))
        recs += [rec('user', [dict(type='tool_result', tool_use_id=c, content=t)], r['uuid']) for c,r in zip(calls, recs[-2:])]
        recs.append(rec('assistant', [dict(type='text', text=t)], recs[-1]['uuid'], id=f'm{k}', usage=dict(output_tokens=k)))
        last = recs[-1]['uuid']
        yield from recs

def thread(n, size=1500, seed=0):
    "About `n` records of a Codex rollout of about `size` characters each: turns with reasoning, pairs of parallel calls, their outputs, and the events that show all that"
    rng = random.Random(seed)
    pool,k = [text(size, rng) for _ in range(50)],0
    def rec(typ, sub, **payload):
        nonlocal k
        k += 1
        return dict(timestamp=f'2026-01-{1+k//86400:02}T{k//3600%24:02}:{k//60%60:02}:{k%60:02}.000Z', type=typ, payload=dict(type=sub, **payload))
    def said(role, s): return rec('response_item', 'message', role=role, content=[dict(type='output_text' if role=='assistant' else 'input_text', text=s)])
    yield rec('session_meta', None, id='0198aaaa-0000-7000-8000-000000000001', timestamp='2026-01-01T00:00:00.000Z', cwd='/bench', originator='bench', cli_version='0.146.0')
    while k<n:
        t,calls = f'{k} {pool[k%50]}',[f'call_{k}_{j}' for j in range(2)]
        yield from [said('user', t), rec('event_msg', 'user_message', message=t), rec('response_item', 'reasoning', id=f'rs_{k}', summary=[], encrypted_content=t), rec('event_msg', 'agent_message', message=t), said('assistant', t)]
        yield from [rec('response_item', 'custom_tool_call', call_id=c, name='exec', input=f'const r = await tools.exec_command({{cmd:{obj2js(t)}}}); text(r.output)') for c in calls]
        yield from [rec('response_item', 'custom_tool_call_output', call_id=c, output=[dict(type='input_text', text=t)]) for c in calls]
        yield from [rec('event_msg', 'token_count', info=dict(last_token_usage=dict(output_tokens=k))), said('assistant', t), rec('event_msg', 'task_complete', last_agent_message=t)]

def messages(n, seed=0):
    "`n` canonical messages of about 1 kB: questions, replies with a call, results, and answers"
    rng = random.Random(seed)
    pool = [text(1000, rng) for _ in range(50)]
    def msg(i):
        t,id = pool[i%50],f'call_{i//4}'
        if i%4==0: return Msg('user', [Part(PartType.text, t)])
        if i%4==2: return Msg('tool', [Part(PartType.tool_result, t, dict(id=id, name='search'))])
        return Msg('assistant', [Part(PartType.text, t)] + ([Part(PartType.tool_use, None, dict(id=id, name='search', arguments=dict(query=t[:50], n=i)))] if i%4==1 else []))
    return [msg(i) for i in range(n)]
