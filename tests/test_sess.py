"""Files of records: odd lines, two writers, files that grow, and sizes"""
import json, multiprocessing, os, stat, subprocess, sys, time
from pathlib import Path
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from llmsurgery import sess
from llmsurgery.sess import *
from llmsurgery.ant import claude

fuzz = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))

# --- reading

@fuzz
@given(st.binary(max_size=300) | st.lists(st.sampled_from([b'{"type":"user","uuid":"u"}', b'\n', b'{"type":"us', b'}', b'[', b'"', b'\0', b'\xff', '\u2028'.encode(), b'{"', b'1e999', b'\\ud800'])).map(b''.join))
def test_no_bytes_raise(data):
    odd = []
    recs = [r for _,r in iter_recs(data.split(b'\n'), claude.is_rec, odd)]
    assert all(type(r) is dict for r in recs)
    for l in data.split(b'\n'):
        try: ok = isinstance(json.loads(l), dict)
        except (ValueError, RecursionError): ok = False
        if ok: assert recs

json_values = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec=None)), lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(), v, max_size=3), max_leaves=6)

@fuzz
@given(st.lists(st.dictionaries(st.text(st.characters(codec=None)), json_values, max_size=3), max_size=5))
def test_what_is_written_reads_back(tmp_path_factory, recs):
    p = tmp_path_factory.mktemp('w')/'a.jsonl'
    write_recs(p, recs)
    got = read_recs(p)
    assert got==recs and not got.odd and [list(r) for r in got]==[list(r) for r in recs]

def test_hostile_lines_stay_linear():
    for unit in b'{"', b'{"a":{', b'[', b'{"type":"x","uuid":"', b'{"a":"b"', b'}{':
        ts = []
        for n in 20_000, 200_000:
            t = time.perf_counter()
            list(iter_recs([unit*n], claude.is_rec))
            ts.append(time.perf_counter()-t)
        assert ts[1]<max(0.5, 40*ts[0]), (unit, ts)

def test_a_line_of_400_kb(tmp_path):
    p = write_recs(tmp_path/'a.jsonl', [dict(type='user', uuid='u', message=dict(role='user', content='x'*400_000+' needle'))])
    hit, = search_file(claude, p, 'needle')
    assert hit.text.endswith('x needle') and len(hit.text)<=101
    assert len(read_recs(p)[0].message.content)==400_007

# --- writing

def grab(path, ready, go):
    with sess_lock(path):
        ready.set()
        go.wait(20)

def test_two_processes_do_not_write_at_once(tmp_path):
    p = write_recs(tmp_path/'a.jsonl', [dict(a=1)])
    ctx = multiprocessing.get_context('spawn')
    ready,go = ctx.Event(),ctx.Event()
    w = ctx.Process(target=grab, args=(p, ready, go))
    w.start()
    assert ready.wait(30)
    with pytest.raises(TimeoutError):
        with sess_lock(p, 0.1): pass
    go.set()
    w.join()
    with sess_lock(p, 1): pass

def put(path, k, n):
    for i in range(n): append_recs(path, [dict(k=k, i=i, s='x'*5000), dict(k=k, i=i, end=True)])

def test_two_appending_processes_do_not_interleave(tmp_path):
    p = write_recs(tmp_path/'a.jsonl', [])
    ctx = multiprocessing.get_context('spawn')
    ws = [ctx.Process(target=put, args=(p, k, 50)) for k in range(2)]
    for w in ws: w.start()
    for w in ws: w.join()
    recs = read_recs(p)
    assert len(recs)==200 and not recs.odd
    for a,b in zip(recs[::2], recs[1::2]): assert (a['k'], a['i'])==(b['k'], b['i']) and b.end

@pytest.mark.parametrize('mode', [0o600, 0o640, 0o400, 0o664])
def test_modes_are_kept_and_never_wider(tmp_path, mode):
    p = write_recs(tmp_path/'a.jsonl', [dict(a=1)])
    assert stat.S_IMODE(p.stat().st_mode)==0o600
    p.chmod(mode)
    bak = replace_recs(p, [dict(a=2)], file_stamp(p))
    assert stat.S_IMODE(p.stat().st_mode)==mode==stat.S_IMODE(bak.stat().st_mode)

def test_modes_do_not_depend_on_the_mask(tmp_path):
    old = os.umask(0)
    try: p = write_recs(tmp_path/'a.jsonl', [])
    finally: os.umask(old)
    assert stat.S_IMODE(p.stat().st_mode)==0o600

def test_a_failing_disk_leaves_all_as_it_was(tmp_path, monkeypatch):
    p = write_recs(tmp_path/'a.jsonl', [dict(a=1)])
    was,stamp = p.read_bytes(),file_stamp(p)
    def fail(*_): raise OSError('no space left')
    for name in 'fsync','replace','link':
        with monkeypatch.context() as m:
            m.setattr(os, name, fail)
            if name!='replace':
                with pytest.raises(OSError): write_recs(tmp_path/'b.jsonl', [dict(a=2)])
            with pytest.raises(OSError): replace_recs(p, [dict(a=2)], stamp)
            if name=='fsync':
                with pytest.raises(OSError): append_recs(p, [dict(a=2)])
                stamp = file_stamp(p)
        assert p.read_bytes()==was and [f.name for f in tmp_path.iterdir()]==['a.jsonl']

def test_a_file_that_grows_while_it_is_replaced_is_put_back(tmp_path, monkeypatch):
    p = write_recs(tmp_path/'a.jsonl', [dict(a=1)])
    f,replace = open(p, 'ab'),os.replace
    def grow(a, b):
        f.write(b'{"late":1}\n')
        f.flush()
        monkeypatch.setattr(os, 'replace', replace)
        return replace(a, b)
    monkeypatch.setattr(os, 'replace', grow)
    with pytest.raises(ValueError, match='at the same time'): replace_recs(p, [dict(a=2)], file_stamp(p))
    assert read_recs(p)==[dict(a=1), dict(late=1)] and len(list(tmp_path.iterdir()))==1

def test_what_was_not_written_as_it_should_be_is_noticed(tmp_path, monkeypatch):
    import llmsurgery.sess as sess
    p = write_recs(tmp_path/'a.jsonl', [dict(a=1)])
    monkeypatch.setattr(os, 'fsync', lambda fd: os.pwrite(fd, b'X', 1))
    with pytest.raises(OSError, match='reads back'): replace_recs(p, [dict(a=2)], file_stamp(p))
    assert read_recs(p)==[dict(a=1)] and len(list(tmp_path.iterdir()))==1

# --- many and big files

def test_memory_is_that_of_one_line(tmp_path):
    "Listing and searching 200 MB takes less than 300 MB in all; the benchmark does the same with a gigabyte"
    line = json.dumps(dict(type='user', uuid='u', sessionId='s', timestamp='2026-01-01T00:00:00.000Z', cwd='/p', message=dict(role='user', content='word '*8000))).encode()+b'\n'
    d = tmp_path/'projects'/'p'
    d.mkdir(parents=True)
    with open(d/'big.jsonl', 'wb') as f:
        for _ in range(200_000_000//len(line)): f.write(line)
        f.write(line.replace(b'word word', b'the needle', 1))
    code = '''import re
from llmsurgery.sess import *
from llmsurgery.ant import *
row, = list_sess()
assert row.turns>4000, row
hit, = search_sess('needle')
assert hit.line==row.turns
print(int(re.search('VmHWM:(.*)kB', open('/proc/self/status').read())[1])/1024)'''
    r = subprocess.run([sys.executable, '-c', code], env={**os.environ, 'CLAUDE_CONFIG_DIR':str(tmp_path)}, capture_output=True, text=True)
    assert not r.returncode, r.stderr
    assert float(r.stdout)<150

def test_what_is_appended_meanwhile_by_somebody_without_the_lock_stays(tmp_path, monkeypatch):
    p = write_recs(tmp_path/'a.jsonl', [dict(a=1)])
    looked = sess._last_byte
    def late(f, size):
        with open(p, 'ab') as o: o.write(rec_line(dict(late='x'*100)))
        return looked(f, size)
    monkeypatch.setattr(sess, '_last_byte', late)
    append_recs(p, [dict(a=2)])
    assert read_recs(p)==[dict(a=1), dict(late='x'*100), dict(a=2)]
