"""One measurement, for `run.py`: `python bench/tasks.py TASK N` prints its seconds and peak megabytes as JSON"""
import json, sys, time
from functools import partial
from run import best, peak_mb


def _text(n):
    import gen
    from llmsurgery.ipynb import write_ipynb
    return write_ipynb(gen.dialog(n)).encode()

def _with_file(txt, f, **kw):
    "Time of `f` on the path of a notebook with that text"
    import tempfile # here, as all else, so that what an import costs is measured without it
    from pathlib import Path
    with tempfile.TemporaryDirectory() as d:
        p = Path(d)/'bench.ipynb'
        p.write_bytes(txt)
        return best(lambda: f(p), **kw)

def read(n):
    from llmsurgery.ipynb import read_ipynb
    return _with_file(_text(n), read_ipynb)

def _nbformat_read(n, txt):
    import nbformat
    return _with_file(txt, lambda p: nbformat.read(p, as_version=4), times=2 if n>10_000 else 3)

def nbformat_read(n): return _nbformat_read(n, _text(n))

def orjson_loads(n):
    import orjson
    txt = _text(n)
    return best(lambda: orjson.loads(txt))

def orjson_dumps(n):
    import orjson
    o = orjson.loads(_text(n))
    return best(lambda: orjson.dumps(o))

def write(n):
    import gen
    from llmsurgery.ipynb import write_ipynb
    d = gen.dialog(n)
    return best(lambda: write_ipynb(d))

def build_write(n):
    import gen
    from llmsurgery.dialog import Dialog
    from llmsurgery.ipynb import write_ipynb
    pools = gen.texts() # beforehand, as for the peer: what is measured is not how texts are made up
    return best(lambda: write_ipynb(gen.fill(Dialog('bench'), n, pools)))

def nbformat_build_write(n):
    import gen
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
    from llmsurgery.ipynb import get_ipynb
    cells = [(c['cell_type'], ''.join(c['source'])) for c in get_ipynb(gen.dialog(n))['cells']]
    def out(): return [new_output('execute_result', {'text/plain':'42'}, execution_count=1)]
    def f(): return nbformat.writes(new_notebook(cells=[new_code_cell(s, outputs=out()) if t=='code' else new_markdown_cell(s) for t,s in cells]))
    return best(f, times=1 if n>10_000 else 2)

def _dlg(): 
    from llmsurgery.dialog import Dialog
    return Dialog('d')

def mk_message(n):
    def f(d):
        for i in range(n): d.mk_message(str(i), msg_type='note')
    return best(f, lambda: (_dlg(),), times=5)

def mk_messages(n):
    import gen
    src = gen.dialog(n)
    return best(lambda d: d.mk_messages(src.messages), lambda: (_dlg(),), times=5)

def remove_msgs(n):
    import gen
    def setup():
        d = gen.dialog(n)
        return d, d.messages[::2]
    return best(lambda d,ms: d.remove_msgs(ms), setup, times=5)

def section_msgs(n):
    import gen
    from llmsurgery.dialog import section_msgs
    d = gen.dialog(n)
    d.mk_message('# head', idx=0, msg_type='note')
    return best(lambda: section_msgs(d, d.messages[0]), times=5)

def _tools_text(n):
    import gen
    from llmsurgery.ipynb import write_ipynb
    return write_ipynb(gen.tool_dialog(n)).encode()

def nbformat_read_tools(n): return _nbformat_read(n, _tools_text(n))

def _fresh(n):
    "A dialog as it was just read, so that nothing is cached"
    from llmsurgery.ipynb import reads_ipynb
    txt = _tools_text(n)
    return lambda: (reads_ipynb(txt),)

def dlg2hist(n):
    from llmsurgery.hist import dlg2hist
    return best(lambda d: dlg2hist(d, {}), _fresh(n))

def dlg2chat(n):
    from llmsurgery.hist import dlg2chat
    return best(dlg2chat, _fresh(n))

def explode(n):
    "With the garbage collector paused, as the documentation says for very many replies"
    from llmsurgery.dialog import gc_paused
    from llmsurgery.hist import reply2dlg
    def f(d):
        with gc_paused(): return [reply2dlg(m) for m in d if m.msg_type=='prompt']
    return best(f, _fresh(n))

def implode(n):
    from llmsurgery.hist import dlg2reply, reply2dlg
    make = _fresh(n)
    return best(lambda subs: [dlg2reply(s) for s in subs], lambda: ([reply2dlg(m) for m in make()[0] if m.msg_type=='prompt'],))

def unclosed_blocks(n):
    "A reply with that many blocks that are never closed"
    from llmsurgery.chat import fmt2hist, tool_dtls_tag
    reply = f"{tool_dtls_tag}\n<summary>x</summary>\n\n```json\n{{\n\n"*n
    return best(lambda: fmt2hist(reply))

def _records(n):
    import gen
    from llmsurgery.sess import Rec
    return [Rec(r) for r in gen.session(n)]

def sess2dlg(n):
    from llmsurgery.ant import sess2dlg
    recs = _records(n)
    return best(lambda: sess2dlg(recs), times=2)

def dlg2sess(n):
    from llmsurgery.ant import dlg2sess, sess2dlg
    d = sess2dlg(_records(n))
    return best(lambda: dlg2sess(d), times=2)

def dlg2sess_edited(n):
    "As `dlg2sess`, after one turn in the middle was edited"
    from llmsurgery.ant import dlg2sess, sess2dlg
    d = sess2dlg(_records(n))
    d.messages[len(d)//2].content = 'edited'
    return best(lambda: dlg2sess(d), times=2)

def recs2chat(n):
    from llmsurgery.ant import recs2chat
    recs = _records(n)
    return best(lambda: recs2chat(recs), times=2)

def repair(n):
    from llmsurgery.ant import claude
    recs = _records(n)
    recs[n//2]['parentUuid'] = 'gone'
    return best(lambda: claude.repair(recs, 's'), times=2)

def _rollout(n):
    import gen
    from llmsurgery.sess import Rec
    return [Rec(r) for r in gen.thread(n)]

def thread2dlg(n):
    from llmsurgery.oai import thread2dlg
    recs = _rollout(n)
    return best(lambda: thread2dlg(recs), times=2)

def dlg2thread_edited(n):
    "Writing a rollout, one turn of which was edited"
    from llmsurgery.oai import dlg2thread, thread2dlg
    d = thread2dlg(_rollout(n))
    next(m for m in d.messages[len(d)//2:] if m.msg_type=='prompt').content = 'edited'
    return best(lambda: dlg2thread(d), times=2)

def active_items(n):
    from llmsurgery.oai import active_items, items2chat
    recs = _rollout(n)
    return best(lambda: items2chat(active_items(recs)), times=2)

def repair_rollout(n):
    from llmsurgery.oai import codex
    recs = _rollout(n)
    del recs[n//2:n//2+5]
    return best(lambda: codex.repair(recs, 's'), times=2)

def _with_big_file(mb, f, home, name, recs, head):
    "`f` of the path of a session of `mb` megabytes: the records `head`, and then `recs` again and again; in a home of its own, which the variable `home` names"
    import os, tempfile
    from pathlib import Path
    from llmsurgery.sess import rec_line
    with tempfile.TemporaryDirectory() as d:
        os.environ[home] = d
        p,block = Path(d)/name,b''.join(map(rec_line, recs))
        p.parent.mkdir(parents=True)
        with open(p, 'wb') as o:
            o.writelines(map(rec_line, head))
            while o.tell()<mb*1e6: o.write(block)
        return best(lambda: f(p), times=2)

_long_text = 'word '*80_000+'needle'

def _with_big_rollout(mb, f):
    import gen
    first,*recs = gen.thread(500)
    line = dict(timestamp='2026-01-02T00:00:00.000Z', type='response_item', payload=dict(type='function_call_output', call_id='c', output=_long_text))
    return _with_big_file(mb, f, 'CODEX_HOME', 'sessions/2026/01/01/rollout-2026-01-01T00-00-00-0198aaaa-0000-7000-8000-000000000001.jsonl', recs, [first, line])

def list_rollouts(mb):
    from llmsurgery import oai
    from llmsurgery.sess import list_sess
    return _with_big_rollout(mb, lambda p: list(list_sess(agent='codex')))

def search_rollouts(mb):
    from llmsurgery import oai
    from llmsurgery.sess import search_sess
    return _with_big_rollout(mb, lambda p: list(search_sess('needle')))

def _orjson_lines(p):
    import orjson
    with open(p, 'rb') as o:
        for l in o: orjson.loads(l)

def orjson_rollout(mb): return _with_big_rollout(mb, _orjson_lines)

def _with_big_session(mb, f):
    import gen
    line = dict(type='user', uuid='u', sessionId='s', timestamp='2026-01-02T00:00:00.000Z', message=dict(role='user', content=_long_text))
    return _with_big_file(mb, f, 'CLAUDE_CONFIG_DIR', 'projects/bench/s.jsonl', gen.session(500), [line])

def list_sess(mb):
    from llmsurgery.ant import claude
    from llmsurgery.sess import list_sess
    return _with_big_session(mb, lambda p: list(list_sess(agent='claude')))

def search_sess(mb):
    from llmsurgery.ant import claude
    from llmsurgery.sess import search_sess
    return _with_big_session(mb, lambda p: list(search_sess('needle')))

def search_regex(mb):
    from llmsurgery.ant import claude
    from llmsurgery.sess import search_sess
    return _with_big_session(mb, lambda p: list(search_sess('need(le|ed)')))

def orjson_lines(mb): return _with_big_session(mb, _orjson_lines)

def _convert(fmt, n):
    "Time to make a provider's payload of messages"
    import gen
    from llmsurgery import providers
    f,msgs = getattr(providers, f'chat2{fmt}'),gen.messages(n)
    return best(lambda: f(msgs))

def _dump(fmt, n):
    "Time in which orjson writes that payload"
    import gen, orjson
    from llmsurgery import providers
    o = getattr(providers, f'chat2{fmt}')(gen.messages(n))
    return best(lambda: orjson.dumps(o))

def _read(fmt, n):
    "Time to read that payload"
    import gen
    from llmsurgery import providers
    o = getattr(providers, f'chat2{fmt}')(gen.messages(n))
    return best(lambda: getattr(providers, f'{fmt}2chat')(o))

for _fmt in ('anthropic', 'openai', 'responses', 'gemini'):
    globals().update({f'chat2{_fmt}':partial(_convert, _fmt), f'{_fmt}_dumps':partial(_dump, _fmt), f'{_fmt}2chat':partial(_read, _fmt)})

def _import(mod):
    t = time.perf_counter()
    __import__(mod)
    return time.perf_counter()-t

if __name__=='__main__':
    task,n = sys.argv[1],int(sys.argv[2])
    secs = _import(task.split()[1]) if task.startswith('import ') else globals()[task](n)
    print(json.dumps(dict(seconds=secs, mb=peak_mb())))
