"""Generated dialogs for the benchmarks"""
import random
from llmsurgery.chat import Msg, Part, PartType, hist2fmt
from llmsurgery.dialog import Dialog, code_output, prompt_output, scode, snote, sprompt

words = 'the of and to in is you that it he was for on are as with his they at be this have from or one had by word but not what all were we when'.split()

def text(n, rng):
    "About `n` characters of prose, in lines of about 60"
    lines = [' '.join(rng.choices(words, k=15)) for _ in range(n//60)]
    return '\n'.join(lines)

def fill(dlg, n, size=1200, seed=0):
    "Append `n` messages of about `size` characters to `dlg`: notes, code with output, and prompts with replies"
    rng = random.Random(seed)
    pool = [text(size, rng) for _ in range(50)]
    half = [text(size//2, rng) for _ in range(50)]
    for i in range(n):
        if i%4==0: dlg.mk_message(pool[i%50], msg_type=scode, output=code_output('42'))
        elif i%4==1: dlg.mk_message(half[i%50], msg_type=sprompt, output=prompt_output(half[-i%50]))
        else: dlg.mk_message(pool[i%50], msg_type=snote)
    return dlg

def dialog(n, size=1200, seed=0): return fill(Dialog('bench'), n, size, seed)

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
