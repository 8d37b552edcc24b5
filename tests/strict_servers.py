"""Servers on loopback that stand for the providers: they refuse with 400 what `strict_api` finds, note each request, and answer with the reply that the test gives"""
import json, threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from strict_api import Problems, anthropic_problems, gemini_problems, openai_problems, responses_problems

def text_of(o): return o is None or (isinstance(o, str) and o.strip()!='')

def anthropic(body):
    ps = anthropic_problems(body.get('messages'))
    ps.need(text_of(body.get('system')) and isinstance(body.get('max_tokens'), int) and body.get('model'), 'body', 'system, model or max_tokens')
    ps.fields(body, 'body', 'model', 'max_tokens', 'messages', 'system')
    return ps

def openai(body):
    ps = openai_problems(body.get('messages'))
    ps.fields(body, 'body', 'model', 'messages')
    return ps

def responses(body):
    ps = responses_problems(body.get('input'))
    ps.need(text_of(body.get('instructions')), 'body', 'instructions')
    ps.fields(body, 'body', 'model', 'input', 'instructions', 'store')
    return ps

def gemini(body):
    ps = gemini_problems(body.get('contents'))
    ps.fields(body, 'body', 'contents', 'systemInstruction', 'generationConfig')
    if s := body.get('systemInstruction'): ps.need(all(text_of(p.get('text')) for p in s['parts']), 'body', 'systemInstruction')
    return ps

usage = dict(input_tokens=1, output_tokens=1)
def anthropic_reply(content): return dict(id='msg_1', type='message', role='assistant', model='m', content=content, stop_reason='end_turn', stop_sequence=None, usage=usage)
def openai_reply(message): return dict(id='c1', object='chat.completion', created=1, model='m', choices=[dict(index=0, finish_reason='stop', logprobs=None, message=dict(dict(content=None, refusal=None), **message))])
def responses_reply(output): return dict(id='resp_1', object='response', created_at=1, model='m', status='completed', output=output, parallel_tool_calls=True, tool_choice='auto', tools=[], error=None, metadata={}, temperature=1, top_p=1, instructions=None, incomplete_details=None)
def gemini_reply(content): return dict(candidates=[dict(content=content, finishReason='STOP', index=0)], modelVersion='m')

routes = {'/v1/messages':(anthropic, anthropic_reply), '/v1/chat/completions':(openai, openai_reply), '/v1/responses':(responses, responses_reply), '/v1/models/m:generateContent':(gemini, gemini_reply)}

class Handler(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        check,reply = routes.get(self.path.partition('?')[0].replace('/v1beta/', '/v1/'), (lambda b: [f'no route {self.path}'], None))
        self.server.bodies.append(body)
        ps = check(body)
        out = dict(type='error', error=dict(type='invalid_request_error', message='; '.join(ps), code=400, status='INVALID_ARGUMENT')) if ps else reply(self.server.says)
        b = json.dumps(out).encode()
        self.send_response(400 if ps else 200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(b)))
        self.end_headers()
        self.wfile.write(b)

    def log_message(self, *args): pass

@contextmanager
def strict_server():
    "A running server with `url`, `bodies` (what it was sent) and `says` (what it is to answer)"
    srv = ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    srv.daemon_threads,srv.bodies,srv.says,srv.url = True,[],None,f'http://127.0.0.1:{srv.server_port}'
    threading.Thread(target=srv.serve_forever, daemon=True).start()
    try: yield srv
    finally:
        srv.shutdown()
        srv.server_close()
