"""What several test modules share"""
import os
from pathlib import Path
import pytest
from hypothesis import settings

# a check that a machine runs has to give the same answer each time; people get new examples at every run
settings.register_profile('ci', derandomize=True)
if os.environ.get('CI'): settings.load_profile('ci')

shared = Path(__file__).parents[2]/'shared'

def shared_files(pat):
    "Parameters for the files under `shared` that match `pat`; a skipped one where the folder is absent"
    fs = sorted(shared.glob(pat))
    return [pytest.param(f, id=f.name) for f in fs] or [pytest.param(None, marks=pytest.mark.skip(reason='the folder of shared examples is absent'))]

@pytest.fixture
def home(tmp_path, monkeypatch):
    "An empty home, for every agent too, so that no test knows the real one"
    for k in 'CLAUDE_CONFIG_DIR','CODEX_HOME': monkeypatch.setenv(k, str(tmp_path/k))
    for k in 'CLAUDE_CODE_SESSION_ID','CODEX_THREAD_ID': monkeypatch.delenv(k, raising=False)
    monkeypatch.setenv('HOME', str(tmp_path/'home'))
    return tmp_path
