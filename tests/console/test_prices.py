"""Prices: every form by page and API, errors at their fields, the calculator, lists in and out."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from conftest import Person, numbers
from harness.checks import is_ok
from harness.console import BASE, Browser
from harness.stack import Account, Stack

PAGE = BASE + "prices.cgi"


def new_name() -> str:
    return f"price-{next(numbers)}"


def price(browser: Browser, model: str) -> dict:
    answer = browser.api("GET", "prices/model?" + urlencode({"name": model}))
    assert answer.status == 200, answer.text
    return answer.json["price"]


def test_a_price_is_set_changed_and_deleted(root: Browser) -> None:
    model = new_name()
    root.visit(PAGE)
    assert "New price" in root.last.text
    root.visit(PAGE + "/new")
    page = root.submit("prices.cgi", model=model, form="token", input="2.5", output="10")
    assert page.status == 200 and "The price is saved." in page.text
    root.visit(PAGE + f"?search={model}")
    assert f">{model}</a>" in root.last.text
    root.visit(PAGE + f"/model?name={model}")
    assert root.form("/model")["fields"]["input"] == "2.5"
    page = root.submit("/model", cache_read="0.25", tools="web_search=0.01\ndefault=0.001")
    assert page.status == 200, page.text
    kept = price(root, model)
    assert kept["cache_read"] == "0.25" and kept["output"] == "10"
    assert kept["tools"] == {"default": "0.001", "web_search": "0.01"}
    root.visit(PAGE + f"/model?name={model}")
    assert "web_search=0.01" in root.form("/model")["fields"]["tools"]
    page = root.submit("/delete")
    assert page.status == 200 and "The price is deleted." in page.text
    assert root.get(PAGE + f"/model?name={model}").status == 404


FORMS = {
    "call": {"form": "call", "call": "0.04"},
    "tier": {
        "form": "tier",
        "input": "1",
        "output": "2",
        "tiers": [{"above": 200000, "input": "2", "output": "4"}],
    },
    "expression": {"form": "expression", "expression": 'len > 9 ? tier("a", p) : p * 2'},
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_by_the_api_and_as_the_page_shows_it(root: Browser, form: str) -> None:
    """What the page shows and sends back unchanged is the same price."""
    model = new_name()
    answer = root.api("POST", "prices", {"model": model, **FORMS[form]})
    assert answer.status == 201, answer.text
    kept = price(root, model)
    assert FORMS[form].items() <= kept.items()
    root.visit(PAGE + f"/model?name={model}")
    assert root.submit("/model").status == 200
    assert price(root, model) == kept
    assert root.api("POST", "prices", {"model": model, **FORMS[form]}).status == 422


@pytest.mark.parametrize(
    ("fields", "field", "says"),
    [
        ({"form": "token", "input": "1"}, "output", "is needed"),
        ({"form": "token", "input": "much", "output": "1"}, "input", "no decimal"),
        ({"form": "call"}, "call", "is needed"),
        ({"form": "tier", "input": "1", "output": "1"}, "tiers", "needed"),
        ({"form": "tier", "input": "1", "output": "1", "tiers": "9 input=2"}, "tiers", "output"),
        ({"form": "tier", "input": "1", "output": "1", "tiers": "many"}, "tiers", "200000"),
        ({"form": "expression", "expression": "p * 2 +"}, "expression", "column 8"),
        ({"form": "expression", "expression": "p - c"}, "expression", "negative"),
        ({"form": "token", "input": "1", "output": "1", "tools": "magic=1"}, "tools", "no tool"),
        ({"form": "token", "input": "1", "output": "1", "tools": "default=x"}, "tools", "decimal"),
        ({"form": "barter"}, "form", "none of the choices"),
        ({"form": "call", "call": "1", "context_tokens": "-1"}, "context_tokens", "number from"),
    ],
)
def test_errors_stand_at_their_fields(
    root: Browser, fields: dict[str, str], field: str, says: str
) -> None:
    model = new_name()
    answer = root.api("POST", "prices", {"model": model, **fields})
    assert answer.status == 422, answer.text
    assert says in answer.json["error"]["fields"][field]
    root.visit(PAGE + "/new")
    page = root.submit("prices.cgi", model=model, **fields)
    assert page.status == 422 and f'id="e-{field}"' in page.text
    kept = root.form("prices.cgi")["fields"]
    assert kept["model"] == model and kept.get(field, "") in (fields.get(field, ""), "")
    assert root.get(PAGE + f"/model?name={model}").status == 404


def test_the_calculator_shows_the_formula_with_numbers(root: Browser) -> None:
    """By the page, without scripts, and by the API."""
    root.visit(PAGE + "/calculator")
    form = root.form("/calculator")
    asked = {"model": "m-ref", "input": "280", "cache_read": "260", "output": "8", "ratio": "0.5"}
    page = root.get(form["action"] + "?" + urlencode({**form["fields"], **asked}))
    assert page.status == 200
    assert (
        "(20 x 3 + 260 x 0.3 + 8 x 15) / 1000000 USD x 500000 x 0.5 = 64.5, rounded to 65 quota"
        in page.text
    )
    assert "0.000130 USD" in page.text
    assert root.form("/calculator")["fields"]["input"] == "280"
    said = root.api("GET", "prices/calculator?" + urlencode(asked)).json["calculation"]
    assert said["quota"] == 65
    assert [line["what"] for line in said["bill"]["lines"]] == ["input", "cache_read", "output"]
    outside = {**asked, "input": "20", "excludes_cache": "true", "web_search": "2"}
    said = root.api("GET", "prices/calculator?" + urlencode(outside)).json["calculation"]
    assert said["quota"] == 65 and said["bill"]["lines"][-1]["what"] == "web_search"
    assert root.api("GET", "prices/calculator?model=no-such").status == 404


def test_a_list_goes_out_and_comes_back(root: Browser) -> None:
    model = new_name()
    root.api("POST", "prices", {"model": model, **FORMS["tier"]})
    exported = root.get(PAGE + "/export")
    assert exported.status == 200
    assert "prices.json" in (exported.header("content-disposition") or "")
    rows = {row["model"]: row for row in exported.json["prices"]}
    assert rows[model]["tiers"] == FORMS["tier"]["tiers"]
    root.api("POST", "prices/delete", {"model": model})
    root.visit(PAGE + "/import")
    page = root.submit("/import", list=json.dumps({"prices": [rows[model]]}))
    assert page.status == 200 and "1 prices are set, 0 were left as they are." in page.text
    assert price(root, model) == rows[model]
    root.visit(PAGE + "/import")
    page = root.submit("/import", list=json.dumps([rows[model]]), missing_only="true")
    assert "0 prices are set, 1 were left as they are." in page.text
    root.visit(PAGE + "/import")
    page = root.submit("/import", list='[{"model":"a","input":"x","output":"1"}]')
    assert page.status == 422 and "prices.0 (a): price input" in page.text


def test_models_without_a_price_are_shown(root: Browser, stack: Stack) -> None:
    model = new_name()
    stack.channel(f"for-{model}", [model])
    assert model in root.visit(PAGE + "/unpriced").text
    names = {row["model"] for row in root.api("GET", "prices/unpriced").json["rows"]}
    assert model in names
    assert root.visit(PAGE + f"/new?name={model}").status == 200
    assert root.form("prices.cgi")["fields"]["model"] == model
    root.api("POST", "prices", {"model": model, **FORMS["call"]})
    assert model not in root.visit(PAGE + "/unpriced").text


def test_names_with_signs_survive(root: Browser) -> None:
    model = f"a/b[{next(numbers)}m]&*"
    assert root.api("POST", "prices", {"model": model, **FORMS["call"]}).status == 201
    assert price(root, model)["model"] == model
    root.visit(PAGE + "/model?" + urlencode({"name": model}))
    assert root.form("/model")["fields"]["model"] == model
    assert root.submit("/delete").status == 200


@pytest.mark.books_differ("the price is changed by the test")
def test_a_change_reaches_the_workers(root: Browser, stack: Stack) -> None:
    model = new_name()
    root.api("POST", "prices", {"model": model, **FORMS["call"]})
    stack.channel(f"for-{model}", [model])
    account = stack.account()
    stack.wait_model(account, model)
    is_ok(account.chat(model))
    account.wait_spent(20_000)


@pytest.mark.books_differ("the default price")
def test_a_person_accepts_the_default_price(
    root: Browser, people: Callable[..., Person], stack: Stack
) -> None:
    """One's own choice, on one's own page; it holds for the very next request."""
    user = people()
    model = new_name()
    stack.channel(f"for-{model}", [model])
    stack.site.ctl("credit", user.name, "5")
    account = Account(stack, user.name, 2_500_000)
    account.token = account.new_token()["token"]
    stack.wait_model(account, model)
    assert account.chat(model).error["code"] == "price_not_configured"
    profile = user.browser.api("GET", "account/profile").json
    assert profile["accept_unpriced"] is False
    assert profile["default_price"] == {"rule": "opt_in", "input": "75", "output": "75"}
    user.browser.visit(BASE + "account.cgi/profile")
    assert user.browser.submit("/profile", accept_unpriced="true").status == 200
    stack.simulator.behave(model, "ok", p=1000, c=10)
    is_ok(account.chat(model))
    account.wait_spent(37_875)
    changed = root.api("POST", f"users/{user.id}", {"accept_unpriced": False})
    assert changed.status == 200
    assert account.chat(model).status == 400
    assert user.browser.api("GET", "account/profile").json["accept_unpriced"] is False


def test_who_may_not_set_prices(people: Callable[..., Person]) -> None:
    user = people()
    assert user.browser.get(PAGE).status == 403
    assert user.browser.api("GET", "prices/calculator?model=m-ref").status == 403
    body = {"model": "x", "form": "call", "call": "1"}
    assert user.browser.api("POST", "prices", body).status == 403
    admin = people("admin")
    assert admin.browser.get(PAGE).status == 200
