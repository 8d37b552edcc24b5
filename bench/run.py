"""Benchmarks against named peers, in one run: `python bench/run.py [SIZE...]` prints a table of times, ratios and peak memory.

Each measurement is the best of several in a process of its own, so that memory is that of the one task."""
import gc, json, subprocess, sys, time
from pathlib import Path

here = Path(__file__).parent

def best(f, setup=lambda: (), times=3):
    "The least seconds that `f(*setup())` took, without what it takes to throw the result away; of `times` runs, and of more while all took less than half a second"
    res = []
    while len(res)<times or sum(res)<0.5:
        args,out = setup(),None
        gc.collect() # or `f` would pay for what `setup` left to the collector
        t = time.perf_counter()
        out = f(*args)
        res.append(time.perf_counter()-t)
    return min(res)

def peak_mb():
    import resource
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss/1024

def measure(task, n):
    "Seconds and peak megabytes of `task`, a name in `tasks`, at size `n`, in a fresh process"
    out = subprocess.run([sys.executable, str(here/'tasks.py'), task, str(n)], capture_output=True, text=True)
    if out.returncode: sys.exit(f'{task} {n}: {out.stderr}')
    return json.loads(out.stdout)

# name, task, peer task, what the ratio has to be
storage = [
    ('read', 'read', 'nbformat_read', 'faster', 6), ('read', 'read', 'orjson_loads', 'slower', 3),
    ('build and write', 'build_write', 'nbformat_build_write', 'faster', 40), ('write', 'write', 'orjson_dumps', 'slower', 10)]
projections = [(f, f, 'nbformat_read_tools', 'faster', 4) for f in ('dlg2hist', 'dlg2chat', 'explode', 'implode')]
sessions = [(f, f, 'orjson_lines', 'slower', 3) for f in ('list_sess', 'search_sess', 'search_regex')] + [(f, f, 'orjson_rollout', 'slower', 3) for f in ('list_rollouts', 'search_rollouts')]
records = ['sess2dlg', 'dlg2sess', 'dlg2sess_edited', 'recs2chat', 'repair', 'thread2dlg', 'dlg2thread_edited', 'active_items', 'repair_rollout']
fmts = ['anthropic', 'openai', 'responses', 'gemini']
providers = [(f'chat2{f}', f'chat2{f}', f'{f}_dumps', 'slower', 10) for f in fmts]
linear = ['mk_message', 'mk_messages', 'remove_msgs', 'section_msgs']

def compare(rows, sizes, got, unit='messages'):
    print(f'\n{"":22}{unit:>9}{"ms":>10}{"peer":>24}{"peer ms":>10}{"ratio":>16}{"target":>12}')
    for name,task,peer,how,target in rows:
        for n in sizes:
            a,b = got(task, n)['seconds'],got(peer, n)['seconds']
            r = b/a if how=='faster' else a/b
            print(f'{name:22}{n:9}{a*1e3:10.1f}{peer:>24}{b*1e3:10.1f}{r:9.1f}x {how}{target:>9}x {"" if (r>=target if how=="faster" else r<=target) else "MISSED"}')

def growth(tasks, sizes, got):
    print(f'\n{"growth":22}' + ''.join(f'{f"{n} ms":>14}' for n in sizes) + '   times for ten times the messages (at most 13)')
    for task in tasks:
        ts = [got(task, n)['seconds'] for n in sizes]
        print(f'{task:22}' + ''.join(f'{t*1e3:14.2f}' for t in ts) + '   ' + ', '.join(f'{b/a:.1f}' for a,b in zip(ts, ts[1:])))

def memory(tasks, n, got, unit='messages'):
    print(f'\n{"peak memory":22}{n} {unit}, MB')
    for task in tasks: print(f'{task:22}{got(task, n)["mb"]:10.0f}')

def imports():
    ts = {m:min(measure(f'import {m}', 0)['seconds'] for _ in range(7)) for m in ('fastcore.utils', 'llmsurgery.dialog')}
    a,b = ts.values()
    print(f'\nimport llmsurgery.dialog {b*1e3:.0f} ms, fastcore.utils {a*1e3:.0f} ms: {b/a:.2f} times (at most 1.5)')

def main():
    sizes = [int(o) for o in sys.argv[1:]] or [1000, 10_000, 100_000]
    cache = {}
    def got(task, n):
        if (task,n) not in cache: cache[task,n] = measure(task, n)
        return cache[task,n]
    compare(storage+projections, sizes, got)
    compare(providers, sizes[-1:], got)
    growth(linear+[t for t,*_ in projections+providers]+[f'{f}2chat' for f in fmts], sizes, got)
    growth(['unclosed_blocks'], [200, 2000, 20_000], got)
    memory(['read', 'nbformat_read', 'orjson_loads', 'build_write', 'nbformat_build_write'], sizes[-1], got)
    growth(records, sizes, got)
    compare(sessions, [100, 1000], got, 'MB')
    memory([t for t,*_ in sessions], 1000, got, 'MB of session (at most 300)')
    imports()

if __name__=='__main__': main()
