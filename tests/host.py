"""A host on this machine that sends a site as hosts do: text compressed, and a page of its own for what is missing."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_TEXT = (".html", ".css", ".js", ".json", ".svg", ".xml", ".txt", ".md", ".py")


@contextmanager
def serve(site: Path) -> Iterator[str]:
    """The address under which a built site is served, until the block ends."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Handler(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        path = path / "index.html" if path.is_dir() else path
        status = HTTPStatus.OK
        if not path.is_file():
            path, status = Path(self.directory) / "404.html", HTTPStatus.NOT_FOUND
        body = path.read_bytes()
        self.send_response(status)
        self.send_header("Content-Type", self.guess_type(path))
        if path.suffix in _TEXT:
            body = gzip.compress(body, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
