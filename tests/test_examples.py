"""The shared examples: each projection of each dialog, to the letter"""
import json
from base64 import b64decode, b64encode
import pytest
from conftest import shared
from llmsurgery.dialog import *
from llmsurgery.ipynb import *
from llmsurgery.hist import *

f = shared/'examples'/'projections.json'
examples = json.loads(f.read_text()) if f.exists() else []
params = [pytest.param(e, id=e['dialog']['name']) for e in examples] or [pytest.param(None, marks=pytest.mark.skip(reason='the shared examples are absent'))]

def mk(d):
    ms = [Message(m['content'], id=m['id'], msg_type=m['msg_type'], output=m['output'], meta=m['meta'],
        attachments=[Attachment(b64decode(a['data']), a['content_type'], a['id']) for a in m['attachments']]) for m in d['messages']]
    return Dialog(d['name'], ms, d['meta'])

def plain(o): return dict(b64=b64encode(o).decode()) if isinstance(o, bytes) else o
def rows(sub): return [[m.msg_type, m.content, m.output, m.meta] for m in sub]

@pytest.fixture(params=params)
def ex(request): return request.param['expected'], mk(request.param['dialog']), request.param['dialog']['aim_info']

def test_xml_and_output(ex):
    e,d,_ = ex
    assert [m.to_xml() for m in d]==e['xml']
    assert [m.ai_output for m in d]==e['ai']

def test_history(ex):
    e,d,aim = ex
    assert [[plain(o) for o in t] if isinstance(t, list) else t for t in dlg2hist(d, aim)]==e['hist']

def test_chat(ex):
    e,d,aim = ex
    assert [dict(role=m.role, content=[dict(type=str(p.type), text=p.text, data=p.data) for p in m.content]) for m in dlg2chat(d, aim)]==e['chat']

def test_sub_dialogs(ex):
    e,d,_ = ex
    subs = [reply2dlg(m) for m in d if m.msg_type==sprompt]
    assert [rows(s) for s in subs]==e['sub']
    assert [dlg2reply(s) for s in subs]==e['reply']

def test_notebook(ex):
    e,d,_ = ex
    assert write_ipynb(d)==e['ipynb']
    assert [[m.msg_type, m.content, m.id, m.meta, m.ai_res] for m in reads_ipynb(e['ipynb'])]==e['back']
    assert write_ipynb(reads_ipynb(e['ipynb']))==e['ipynb']

def test_nothing_changes_by_looking(ex):
    _,d,aim = ex
    before = write_ipynb(d)
    dlg2hist(d, aim), dlg2chat(d, aim), [m.tool_call for m in d], [reply2dlg(m) for m in d if m.msg_type==sprompt], repr(d), d.todict()
    assert write_ipynb(d)==before
