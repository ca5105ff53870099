"""tollgatectl price: every form, lists, the calculator; and the shipped list."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest
from harness.gateway import SOURCE
from harness.oracle import quota_of
from harness.stack import Stack

SHIPPED = json.loads((SOURCE / "conf" / "prices.json").read_text())["prices"]
ROUNDS = 60


def refused(stack: Stack, *argv: str) -> str:
    done = stack.site.run_ctl("price", *argv)
    assert done.returncode in (1, 2), done
    return json.loads(done.stdout)["error"]["message"]


@pytest.fixture
def model(stack: Stack) -> Iterator[str]:
    name = f"p-{next(stack.numbers)}"
    yield name
    stack.site.run_ctl("price", "delete", name)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--input", "2.5", "--output", "10"], {"form": "token", "input": "2.5", "output": "10"}),
        (["--call", "0.04"], {"form": "call", "call": "0.04"}),
        (
            ["--input", "1", "--output", "2",
             "--tiers", "200000:input=2:output=4,9000000:input=3:output=5"],
            {
                "form": "tier",
                "tiers": [
                    {"above": 200000, "input": "2", "output": "4"},
                    {"above": 9000000, "input": "3", "output": "5"},
                ],
            },
        ),
        (
            ["--expression", "p * 2 + c * 3", "--tools", "web_search=0.01,default=0.001"],
            {"form": "expression", "tools": {"web_search": "0.01", "default": "0.001"}},
        ),
        (
            ["--input", "1", "--output", "1", "--context", "128000", "--max-output", "4096",
             "--vendor", "me", "--dated", "2026-11-30"],
            {"context_tokens": 128000, "max_output_tokens": 4096, "vendor": "me",
             "dated": "2026-11-30"},
        ),
    ],
    ids=["token", "call", "tier", "expression", "facts"],
)  # fmt: skip
def test_every_form_is_kept(stack: Stack, model: str, options: list[str], expected: dict) -> None:
    stack.site.ctl("price", "set", model, *options)
    listed = {price["model"]: price for price in stack.site.ctl("price", "list")}
    assert expected.items() <= listed[model].items()
    assert len(listed[model]["hash"]) == 64


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--input", "2.5"], "output"),
        (["--input", "2.5", "--output", "1e3"], "output"),
        (["--input", "2.5", "--output", "-1"], "output"),
        (["--call", "1", "--input", "1"], "not two of them"),
        (["--call", "1", "--expression", "p"], "not two of them"),
        (["--expression", "p * 2 +"], "column 8"),
        (["--expression", "p * 2 + q"], "column 9"),
        (["--expression", "p - c"], "negative"),
        (["--expression", "1 / c"], "column 3: a division by zero"),
        (["--input", "1", "--output", "1", "--tiers", "5:input=1"], "tiers.0.output"),
        (["--input", "1", "--output", "1", "--tiers", "5"], "tiers.0.input"),
        (["--input", "1", "--output", "1", "--tiers", "x"], "200000 input=5"),
        (["--input", "1", "--output", "1", "--tools", "magic=1"], "magic"),
        (["--input", "1", "--output", "1", "--tools", "web_search"], "web_search=0.01"),
    ],
)
def test_bad_prices_are_refused(stack: Stack, model: str, options: list[str], says: str) -> None:
    assert says in refused(stack, "set", model, *options)
    assert model not in {price["model"] for price in stack.site.ctl("price", "list")}


def test_what_has_no_price_is_listed(stack: Stack) -> None:
    names = [f"no-price-{next(stack.numbers)}", f"pat-{next(stack.numbers)}-x"]
    stack.channel(f"for-{names[0]}", names)
    pattern = names[1].replace("-x", "-*")
    stack.site.ctl("price", "set", pattern, "--call", "1")
    unpriced = {row["model"] for row in stack.site.ctl("price", "unpriced")}
    assert names[0] in unpriced and names[1] not in unpriced
    stack.site.ctl("price", "delete", pattern)
    assert names[1] in {row["model"] for row in stack.site.ctl("price", "unpriced")}


def test_the_calculator_shows_formula_and_numbers(stack: Stack) -> None:
    usage = json.dumps({"input": 280, "cache_read": 260, "output": 8})
    said = stack.site.ctl("price", "check", "m-ref", "--usage", usage, "--ratio", "0.5")
    assert said["quota"] == 65 and said["usd"] == "0.000130"
    assert said["formula"] == (
        "(20 x 3 + 260 x 0.3 + 8 x 15) / 1000000 USD x 500000 x 0.5 = 64.5, rounded to 65 quota"
    )
    assert [line["what"] for line in said["bill"]["lines"]] == ["input", "cache_read", "output"]
    assert "no price" in refused(stack, "check", "no-such-model", "--usage", "{}")
    assert "inptu" in refused(stack, "check", "m-ref", "--usage", '{"inptu":1}')


def test_the_calculator_shows_an_expression(stack: Stack, model: str) -> None:
    options = ["--expression", "p * 3 + cr * 0.3 + c * 15", "--tools", "web_search=0.01"]
    stack.site.ctl("price", "set", model, *options)
    usage = json.dumps({"input": 280, "cache_read": 260, "output": 8, "tools": {"web_search": 2}})
    said = stack.site.ctl("price", "check", model, "--usage", usage)
    assert said["quota"] == 129 + 10_000
    assert "p * 3 + cr * 0.3 + c * 15 = 258 with p = 20, c = 8, cr = 260" in said["formula"]
    assert "+ 2 x 0.01) USD" in said["formula"]


def test_export_and_import_are_the_same(stack: Stack, model: str) -> None:
    options = ["--input", "1", "--output", "2", "--tiers", "10:input=3:output=4"]
    stack.site.ctl("price", "set", model, *options)
    exported = stack.site.run_ctl("price", "export").stdout
    stack.site.ctl("price", "delete", model)
    count = len(json.loads(exported)["prices"])
    assert stack.site.ctl("price", "import", "-", stdin=exported) == {"set": count, "left": 0}
    assert stack.site.run_ctl("price", "export").stdout == exported
    said = stack.site.ctl("price", "import", "-", "--missing-only", stdin=exported)
    assert said == {"set": 0, "left": count}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "JSON"),
        ('{"prices":7}', "list of prices"),
        ('[{"model":"a","input":"1","output":"x"}]', "prices.0 (a): price output"),
        ('[{"model":"a","call":"1"},{"model":"b","input":0.5,"output":"1"}]', "prices.1 (b)"),
        ('[{"model":"a","call":"1"},{"model":"a","call":"2"}]', "two prices"),
        ('[{"call":"1"}]', "no model"),
        ('[{"model":"a","call":"1","colour":"red"}]', "colour"),
        ('[{"model":"a,b","call":"1"}]', "model"),
    ],
)
def test_a_bad_list_changes_nothing(stack: Stack, text: str, says: str) -> None:
    before = stack.site.run_ctl("price", "export").stdout
    done = stack.site.run_ctl("price", "import", "-", stdin=text)
    assert done.returncode == 2 and says in done.stderr, done.stderr
    assert stack.site.run_ctl("price", "export").stdout == before


def test_the_shipped_list(stack: Stack) -> None:
    """At least 120 models, with their windows and their date; the operator's own prices stay."""
    before = {price["model"]: price for price in stack.site.ctl("price", "list")}
    said = stack.site.ctl("price", "import", "--shipped", "--missing-only")
    try:
        assert said["set"] + said["left"] == len(SHIPPED) >= 120
        after = {price["model"]: price for price in stack.site.ctl("price", "list")}
        assert {name: after[name] for name in before} == before
        for price in SHIPPED:
            assert price["vendor"] and price["dated"], price
            if price["model"] not in before:
                kept = {key: after[price["model"]][key] for key in price}
                assert kept == price
        assert sum("context_tokens" in price for price in SHIPPED) > 200
        assert len({price["vendor"] for price in SHIPPED}) >= 10
        check_bills(stack)
    finally:
        for price in SHIPPED:
            if price["model"] not in before:
                stack.site.main_sql(f"DELETE FROM model_prices WHERE model = '{price['model']}'")


def check_bills(stack: Stack) -> None:
    """Bills of random usages at shipped prices, against fractions."""
    source = random.Random(5)
    plain = [price for price in SHIPPED if "expression" not in price]
    for price in source.sample(plain, ROUNDS):
        size = source.choice([50, 5_000, 500_000])
        parts = {name: source.randrange(size) for name in ("cache_read", "audio_in", "image")}
        usage = {**parts, "input": sum(parts.values()) + source.randrange(size)}
        usage |= {"output": size + source.randrange(size), "audio_out": source.randrange(size)}
        usage["tools"] = {"web_search": source.randrange(3), "file_search": source.randrange(2)}
        ratio = source.choice(["1", "0.8", "0.333", "2.5"])
        argv = ["price", "check", price["model"], "--usage", json.dumps(usage), "--ratio", ratio]
        said = stack.site.ctl(*argv)
        expected = quota_of(price, usage, ratio)
        if said["quota"] != expected and "pattern" not in said:
            own = next(p for p in stack.site.ctl("price", "list") if p["model"] == price["model"])
            assert said["quota"] == quota_of(own, usage, ratio), (own, usage, said)
