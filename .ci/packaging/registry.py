"""A registry for npm on the loopback interface, with the packages of a folder and nothing else."""

import base64
import hashlib
import io
import json
import tarfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def manifest(data):
    """The package.json in a package."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        return json.load(archive.extractfile("package/package.json"))


class Registry:
    """Serves packages while it is open. `absent` are manifests of packages that must not be downloaded."""

    def __init__(self, files, absent):
        self.asked = []
        self._files, self._documents = {}, {}
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                registry._answer(self)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/"
        for file in files:
            data = file.read_bytes()
            self._files[file.name] = data
            digest = base64.b64encode(hashlib.sha512(data).digest()).decode()
            self._add(manifest(data), {"tarball": f"{self.url}-/{file.name}", "integrity": f"sha512-{digest}"})
        for one in absent:
            self._add(one, {"tarball": f"{self.url}-/absent", "shasum": "0" * 40})

    def _add(self, about, dist):
        name, version = about["name"], about["version"]
        document = {"name": name, "dist-tags": {"latest": version}, "versions": {version: about | {"dist": dist}}}
        self._documents[name] = json.dumps(document).encode()

    def _answer(self, handler):
        path = urllib.parse.unquote(urllib.parse.urlsplit(handler.path).path)[1:]
        self.asked.append(path)
        data = self._documents.get(path) or self._files.get(path.removeprefix("-/"))
        handler.send_response(200 if data else 404)
        handler.send_header("Content-Length", str(len(data or b"")))
        handler.end_headers()
        handler.wfile.write(data or b"")

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
