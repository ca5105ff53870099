"""Through the gateway: where no usage came, the bill is of tiktoken's count, to the token."""

from __future__ import annotations

import pytest
import tokenisers
from harness.checks import is_ok
from harness.money import M_REF, bill
from harness.stack import PRICES, Account, Stack

PROMPT = "Où est passé le chat ? It's 12345 o'clock … 猫はどこですか"
# Longer than what waits before it is counted, with and without places to cut.
ANSWER = " ".join(
    f"Don't panic, item {n}: naïve façade 人人生而自由。 😀 x=={n};"
    for n in range(400)
)


def tokens(text: str) -> int:
    return len(tokenisers.encoding("o200k_base").encode_ordinary(text))


@pytest.mark.books_differ("no usage: counted locally")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_without_usage_the_count_is_exact(stack: Stack, account: Account, stream: bool) -> None:
    stack.simulator.behave("gpt-4o", "no-usage", text=ANSWER)
    answer = is_ok(account.chat("gpt-4o", text=PROMPT, stream=stream))
    assert answer.text == ANSWER
    record = stack.site.record(answer.request_id)
    assert record["usage_source"] == "counted_locally"
    assert record["output"] == tokens(ANSWER)
    # 3 for the answer to begin, 3 for the message, 1 for its role.
    assert record["input"] == 3 + 3 + 1 + tokens(PROMPT)
    counted = {"prompt_tokens": record["input"], "completion_tokens": record["output"]}
    account.wait_spent(bill(counted, PRICES["gpt-4o"]))


@pytest.mark.books_differ("the provider's charge is of tokens alone")
def test_a_model_that_always_searches_costs_a_search(stack: Stack, account: Account) -> None:
    model = stack.new_model(prefix="gpt-4o-search-preview")
    stack.site.ctl("price", "set", model, *M_REF.options(), "--tools", "web_search=0.025")
    stack.channel(model, [model])
    stack.wait_model(account, model)
    stack.simulator.behave(model, "ok", p=1000, c=100)
    is_ok(account.chat(model))
    usage = {"prompt_tokens": 1000, "completion_tokens": 100}
    account.wait_spent(bill(usage, M_REF) + 12500)
