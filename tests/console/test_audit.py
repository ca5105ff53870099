"""Audit: who changed what, and whether the chain is whole."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable

from conftest import Person
from harness.console import BASE, Browser
from harness.stack import Stack


def test_a_change_in_the_console_is_told_with_who_and_from_where(
    root: Browser, people: Callable[..., Person]
) -> None:
    person = people(log_in=False)
    assert root.api("POST", f"users/{person.id}", {"team": "green"}).status == 200
    query = f"object_type=user&object_id={person.id}&action=user.change"
    (row,) = root.api("GET", f"audit?{query}").json["rows"]
    assert row["actor"] == "admin" and row["address"] == "127.0.0.1"
    assert row["before_json"]["team"] == "" and row["after_json"]["team"] == "green"
    page = root.visit(BASE + f"audit.cgi?{query}")
    assert page.status == 200 and "green" in page.text
    assert root.api("GET", "audit?actor=admin&action=user.").json["rows"]
    assert root.api("GET", "audit?actor=nobody-here").status == 422
    assert root.api("GET", "audit?object_id=1").status == 422


def test_the_audit_log_as_csv(root: Browser, people: Callable[..., Person]) -> None:
    person = people(log_in=False)
    reply = root.get(BASE + f"audit.cgi/csv?object_type=user&object_id={person.id}")
    assert reply.status == 200 and "audit.csv" in (reply.header("Content-Disposition") or "")
    rows = list(csv.DictReader(io.StringIO(reply.text)))
    assert [row["action"] for row in rows] == ["user.add"]
    assert json.loads(rows[0]["after_json"])["username"] == person.name
    whole = list(csv.DictReader(io.StringIO(root.get(BASE + "audit.cgi/csv").text)))
    ids = [int(row["id"]) for row in whole]
    assert ids == sorted(set(ids), reverse=True) and len(ids) > 3


def test_no_secret_is_in_the_audit_log(root: Browser, people: Callable[..., Person]) -> None:
    person = people(log_in=False)
    text = root.api("GET", f"audit?object_type=user&object_id={person.id}").text
    assert person.password not in text and "argon2" not in text


def test_a_changed_row_is_found(root: Browser, stack: Stack) -> None:
    assert root.api("GET", "audit/verify").json["whole"] is True
    newest = root.api("GET", "audit?limit=1").json["rows"][0]
    where = f"WHERE id = {newest['id']}"
    stack.site.main_sql(f"UPDATE audit_log SET action = 'forged' {where}")
    try:
        page = root.visit(BASE + "audit.cgi/verify")
        assert f"Row {newest['id']} is not what was written" in page.text
        told = root.api("GET", "audit/verify").json
        assert told["whole"] is False and told["first_broken_id"] == newest["id"]
    finally:
        stack.site.main_sql(f"UPDATE audit_log SET action = '{newest['action']}' {where}")
    page = root.visit(BASE + "audit.cgi/verify")
    assert "The chain is whole" in page.text
