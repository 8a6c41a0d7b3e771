"""Responses that handlers return."""

import pytest
from bottle import HTTPResponse

from sigservice.web import respond


@pytest.mark.parametrize("status", [200, 304])
def test_answer_has_the_headers_of_a_response_of_bottle(status: int):
    headers = {"Etag": '"1"', "Content-Type": respond.JSON, "Cache-Control": "no-cache"}
    answer = respond.answer(b"{}", status, headers)
    expected = HTTPResponse(b"{}", status, headers)
    assert answer.headerlist == expected.headerlist
    assert (answer.status_line, answer.body) == (expected.status_line, expected.body)


def test_header_of_an_answer_can_be_replaced():
    answer = respond.answer(b"", 200, {"Cache-Control": "no-cache"})
    answer.set_header("cache-control", "no-store")
    assert answer.get_header("Cache-Control") == "no-store"
