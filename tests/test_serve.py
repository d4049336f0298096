"""What lies between the server and the visitor: compressed once, preloaded, never grown without end."""

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ui import serve

LONG = "function () { return 42 } " * 400


def client():
    calls = []

    def script(request):
        calls.append(request.url.path)
        return PlainTextResponse(LONG, media_type="text/javascript")

    def document(request):
        return HTMLResponse("<p>hello")

    routes = [Route("/static/a.js", script), Route("/b.js", script), Route("/{rest:path}", document)]
    app = serve.Statics(Starlette(routes=routes))
    return TestClient(app), app, calls


def test_static_file_is_made_once_and_sent_compressed():
    visitor, _, calls = client()
    answers = [visitor.get("/static/a.js") for _ in range(3)]

    assert [answer.text for answer in answers] == [LONG] * 3
    assert {answer.headers["content-encoding"] for answer in answers} == {"gzip"}
    assert calls == ["/static/a.js"]


def test_visitor_who_takes_no_gzip_gets_none():
    visitor, _, _ = client()
    visitor.get("/static/a.js")
    answer = visitor.get("/static/a.js", headers={"accept-encoding": "identity"})

    assert (answer.text, "content-encoding" in answer.headers) == (LONG, False)


def test_other_answers_are_made_every_time():
    visitor, _, calls = client()
    for _ in range(2):
        assert visitor.get("/b.js").headers["content-encoding"] == "gzip"

    assert calls == ["/b.js", "/b.js"]


def test_unknown_static_paths_are_not_kept():
    visitor, app, _ = client()
    for name in ("x", "y"):
        assert visitor.get(f"/static/{name}").text == "<p>hello"

    assert app.kept == {}


def test_document_tells_what_to_preload():
    visitor, _, _ = client()

    assert "plotly-cartesian.min.js" in visitor.get("/").headers["link"]
    assert "link" not in visitor.get("/b.js").headers
