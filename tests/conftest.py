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
