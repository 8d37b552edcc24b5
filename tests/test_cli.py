"""The command as a process: streams, exit codes, terminals, and files that must not be harmed"""
import json, os, pty, subprocess, sys
import pytest
from conftest import shared_files
from llmsurgery.cli import demo_dialog
from llmsurgery.dialog import *
from llmsurgery.ipynb import *

cmds = ['show', 'check', 'hist', 'tools', 'explode', 'implode', 'sessions', 'search', 'from', 'to', 'fork', 'doctor', 'demo']

def run(*args, stdin=b'', env=None, code=0):
    r = subprocess.run([sys.executable, '-m', 'llmsurgery', *map(str, args)], input=stdin, capture_output=True, env={**os.environ, **(env or {})})
    assert r.returncode==code, r
    return r.stdout.decode(), r.stderr.decode()

@pytest.fixture
def trip(tmp_path): return demo_dialog().write(tmp_path)

def on_terminal(*args, **env):
    "Output of the command on a terminal"
    pid,fd = pty.fork()
    if not pid: os.execvpe(sys.executable, [sys.executable, '-m', 'llmsurgery', *map(str, args)], {**os.environ, 'TERM':'xterm-256color', 'COLUMNS':'70', **env})
    out = b''
    try:
        while b := os.read(fd, 65536): out += b
    except OSError: pass
    return out.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

@pytest.mark.parametrize('cmd', cmds)
def test_help_shows_an_example(cmd):
    out,_ = run(cmd, '--help')
    assert f'Example: llmsurgery {cmd}' in out

def test_colour_is_for_terminals_that_want_it(trip):
    assert '\x1b' not in run('show', trip)[0] and '\x1b' not in run('show', trip, env=dict(FORCE_COLOR=''))[0]
    out,code = on_terminal('show', trip)
    assert code==0 and '\x1b[' in out and 'prompt' in out
    assert '\x1b[3' not in on_terminal('show', trip, NO_COLOR='1')[0]

def test_a_message_is_one_line_on_a_narrow_terminal(trip):
    d = read_ipynb(trip)
    d.mk_message('word '*100)
    d.save()
    assert len(on_terminal('show', trip, NO_COLOR='1')[0].splitlines())==5

@pytest.mark.parametrize('cmd', ['show', 'check', 'hist', 'tools'])
def test_standard_input(cmd, trip):
    out,err = run(cmd, '-', stdin=trip.read_bytes())
    assert out and not err

def test_errors_are_one_line(tmp_path, trip):
    (tmp_path/'bad.ipynb').write_text('{"a":\n1,}')
    for args,code in ((('show', tmp_path/'none.ipynb'), 1), (('show', tmp_path/'bad.ipynb'), 1), (('show', tmp_path), 1), (('show',), 2), (('nonsense',), 2), (('show', trip, '--what'), 2),
            (('explode', trip, 'nope'), 1), (('explode', trip, '00000001'), 1), (('hist', tmp_path/'bad.ipynb'), 1)):
        out,err = run(*args, code=code)
        assert out=='' and err.count('\n')==1 and err.startswith('llmsurgery: ') and 'Traceback' not in err
    assert 'bad.ipynb' in run('show', tmp_path/'bad.ipynb', code=1)[1] and 'line 2' in run('show', tmp_path/'bad.ipynb', code=1)[1]
    assert 'standard input: not JSON' in run('show', '-', stdin=b'{', code=1)[1]

@pytest.mark.parametrize('where', ['first', 'last'])
def test_debug_shows_where_an_error_came_from(where, tmp_path):
    args = ['show', str(tmp_path/'none.ipynb')]
    r = subprocess.run([sys.executable, '-m', 'llmsurgery', *(['--debug', *args] if where=='first' else [*args, '--debug'])], capture_output=True, text=True)
    assert 'Traceback' in r.stderr and r.returncode==1

def test_a_reader_that_stops_early_is_no_error(trip):
    d = read_ipynb(trip)
    for i in range(5000): d.mk_message('x'*50)
    d.save()
    p = subprocess.Popen([sys.executable, '-m', 'llmsurgery', 'show', str(trip)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    p.stdout.readline()
    p.stdout.close()
    assert p.stderr.read()==b'' and p.wait()==0

def test_what_a_terminal_would_obey_is_shown_instead(tmp_path):
    p = Dialog('d', [Message('\x1b]0;title\x07 \x9b31m \ud800', msg_type=snote, id='a'), Message('x', output='\x1b[2J', id='b')]).write(tmp_path)
    for args in (('show', p), ('show', '--full', p)):
        out,_ = run(*args)
        assert '\x1b' not in out and '\x9b' not in out and '\\x1b]0;' in out

def test_check_names_file_message_and_reason(tmp_path, trip):
    nb = json.loads(trip.read_text())
    nb['cells'][0]['outputs'] = []
    nb['cells'][1]['id'] = nb['cells'][2]['id']
    bad = tmp_path/'bad.ipynb'
    bad.write_text(json.dumps(nb))
    out,_ = run('check', trip, bad, tmp_path/'none', code=1)
    lines = out.splitlines()
    assert lines[0].startswith(f'{trip}: fine')
    assert any(l.startswith(f'{bad}: 00000001: would be healed: outputs') for l in lines) and any(l.startswith(f'{bad}: 00000003: ') for l in lines)
    assert lines[-1].startswith(f'{tmp_path}/none: ')
    assert run('check', '-', stdin=trip.read_bytes())[0].startswith('-: fine')

@pytest.mark.parametrize('f', shared_files('real/*.ipynb'))
def test_real_dialogs_are_fine(f):
    assert 'fine' in run('check', f)[0] and run('show', '--full', f)[0] and run('tools', f)[0]
    assert json.loads(run('show', '--json', f)[0])['messages']

def test_explode_and_implode(trip, tmp_path):
    before = trip.read_bytes()
    run('explode', trip, '00000003')
    sub = tmp_path/'trip.00000003.ipynb'
    run('explode', trip, '00000003', code=1)
    run('implode', sub, trip)
    assert trip.read_bytes()==before
    d = read_ipynb(sub)
    d.messages[1].content = d.messages[1].content.replace('Lisbon', 'Porto')
    d.mk_message("weather(city='Rome')", before=d.messages[-1], output='Mild')
    d.save()
    diff,_ = run('implode', sub, trip, '--dry-run')
    assert diff.startswith('--- ') and 'Porto' in diff and trip.read_bytes()==before
    run('implode', sub, trip)
    calls = json.loads(run('tools', trip, '--json')[0])
    assert [c['arguments'] for c in calls]==[dict(city='Porto', days=1), dict(city='Bergen', days=1), dict(city='Rome')]
    assert read_ipynb(sub).messages[-2].meta['tool_id']==calls[-1]['id']
    after = trip.read_bytes()
    run('implode', sub, trip)
    assert trip.read_bytes()==after

def test_an_interrupted_implode_harms_nothing(trip, tmp_path):
    run('explode', trip, '00000003', '-o', tmp_path/'s.ipynb')
    d = read_ipynb(tmp_path/'s')
    d.messages[0].content = 'x = '
    d.messages[0].msg_type = 'code'
    d.messages[0].content = 'x = 1'
    d.save()
    before = trip.read_bytes()
    assert 'is no tool call' in run('implode', tmp_path/'s.ipynb', trip, code=1)[1]
    assert trip.read_bytes()==before and sorted(p.name for p in tmp_path.iterdir())==['s.ipynb', 'trip.ipynb']

def test_implode_through_pipes(trip, tmp_path):
    run('explode', trip, '00000003', '-o', tmp_path/'s.ipynb')
    assert run('implode', tmp_path/'s.ipynb', '-', stdin=trip.read_bytes())[0]==trip.read_text()
    assert reads_ipynb(run('explode', '-', '00000003', stdin=trip.read_bytes())[0]).meta['reply_of']=='00000003'

def test_explode_says_what_is_left_out(trip):
    d = read_ipynb(trip)
    d.messages[3].output = '<!--think_start-->\nhm\n<!--think_end-->\n\nHi'
    d.save()
    assert '1 of thoughts' in run('explode', trip, '00000004')[1]

def test_demo(tmp_path):
    out,err = run('demo', tmp_path/'x')
    assert not err and all(s in out for s in ('1.', '7.', 'Oslo', 'fine')) and sorted(p.name for p in (tmp_path/'x').iterdir())==['reply.ipynb', 'trip.ipynb']
    assert 'llmsurgery-demo-' in run('demo', env=dict(TMPDIR=str(tmp_path)))[0]

# --- agents' sessions

@pytest.fixture
def home(tmp_path):
    "A home of agents with real sessions in it, and the environment that says so"
    proj = tmp_path/'claude'/'projects'/'-x'
    proj.mkdir(parents=True)
    for p in shared_files('real/claude_*.jsonl'):
        if p.values[0]: (proj/p.values[0].name).write_bytes(p.values[0].read_bytes())
    return dict(CLAUDE_CONFIG_DIR=str(tmp_path/'claude'), CODEX_HOME=str(tmp_path/'codex'), HOME=str(tmp_path))

@pytest.mark.parametrize('f', shared_files('real/codex_*.jsonl'))
def test_a_thread_goes_to_claude_and_back_to_codex(f, home, tmp_path):
    p = tmp_path/'codex'/'sessions'/'2026'/'07'/'01'/f'rollout-2026-07-01T00-00-00-{"0"*8}-0000-4000-8000-{"0"*12}.jsonl'
    p.parent.mkdir(parents=True)
    p.write_bytes(f.read_bytes())
    run('from', 'codex', p, '-o', tmp_path/'a.ipynb', env=home)
    left,_ = run('to', 'claude', tmp_path/'a.ipynb', '--dry-run', env=home)
    assert all('cannot cross to claude' in l for l in left.splitlines())
    new = run('to', 'claude', tmp_path/'a.ipynb', '--project', tmp_path, env=home)[0].splitlines()
    assert 'claude --resume' in new[1]
    run('doctor', new[0], env=home)
    run('from', 'claude', new[0], '-o', tmp_path/'b.ipynb', env=home)
    again = run('to', 'codex', tmp_path/'b.ipynb', '--project', tmp_path, env=home)[0].splitlines()
    assert 'codex resume' in again[1]
    run('doctor', again[0], env=home)
    assert p.read_bytes()==f.read_bytes()

@pytest.mark.parametrize('f', shared_files('real/claude_*.jsonl'))
def test_a_session_as_a_notebook_and_back(f, home, tmp_path):
    before = {p:p.read_bytes() for p in (tmp_path/'claude').rglob('*.jsonl')}
    out = tmp_path/'s.ipynb'
    run('from', 'claude', f.stem, '-o', out, env=home)
    assert 'fine' in run('check', out)[0]
    new = run('to', 'claude', out, '--project', tmp_path, env=home)[0].splitlines()
    assert 'claude --resume' in new[1]
    run('doctor', new[0], env=home)
    run('fork', new[0], '--turns', '1', env=home)
    rows = json.loads(run('sessions', '--all', '--json', env=home)[0])
    assert len(rows)==len(before)+2
    assert {p:p.read_bytes() for p in before}==before

def test_sessions_are_listed_and_searched(home):
    rows = json.loads(run('sessions', '--all', '--json', env=home)[0])
    if not rows: pytest.skip('the folder of shared examples is absent')
    table = run('sessions', '--all', env=home)[0].splitlines()
    assert len(table)==len(rows)+1
    assert run('search', 'no such thing at all', env=home, code=1)==('', '')
    assert run('search', r'\w{5}', env=home)[0].count('\n')>10
    assert 'unterminated' in run('search', '(', env=home, code=1)[1]
