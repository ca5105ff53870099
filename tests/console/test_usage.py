"""What one has used: by day of one's own zone (FR146), by model, and nobody else's."""

from __future__ import annotations

from collections.abc import Callable

from conftest import Person
from harness.console import BASE
from harness.money import quota
from harness.stack import Stack

ROWS = [("2026-02-23 20:00:00", "1"), ("2026-02-24 10:00:00", "2"), ("2026-02-24 18:00:00", "4")]


def use(stack: Stack, user_id: int, hour: str, usd: str, model: str = "m-ref") -> None:
    stack.site.log_sql(
        "INSERT INTO usage_hourly (hour, user_id, token_id, team, served_model, channel_id,"
        f" requests, quota) VALUES ('{hour}', {user_id}, 0, '', '{model}', 0, 1, {quota(usd)})"
    )


def test_a_day_is_a_day_of_ones_own_zone(people: Callable[..., Person], stack: Stack) -> None:
    person = people()
    for hour, usd in ROWS:
        use(stack, person.id, hour, usd)
    ask = person.browser.api

    def spent(first: str, last: str) -> int:
        return ask("GET", f"account/usage?from={first}&to={last}").json["total"]["quota"]

    assert spent("2026-02-24", "2026-02-24") == quota("6")
    zone = {"time_zone": "Asia/Kolkata"}
    assert ask("POST", "account/profile", zone).status == 200
    assert spent("2026-02-24", "2026-02-24") == quota("7")
    assert spent("2026-02-23", "2026-02-23") == 0
    assert spent("2026-02-25", "2026-02-25") == 0
    days = ask("GET", "account/usage?from=2026-02-22&to=2026-02-26").json
    assert [day["label"] for day in days["days"]] == [f"2026-02-{d}" for d in range(22, 27)]
    assert [day["quota"] for day in days["days"]] == [0, 0, quota("7"), 0, 0]
    assert days["total"]["quota"] == quota("7")
    assert ask("POST", "account/profile", {"time_zone": "Mars/Base"}).status == 422


def test_days_of_a_change_to_summer_time_add_up(
    people: Callable[..., Person], stack: Stack
) -> None:
    person = people()
    for hour in ("2026-03-28 23:00:00", "2026-03-29 21:00:00", "2026-03-29 22:00:00"):
        use(stack, person.id, hour, "1")
    ask = person.browser.api
    assert ask("POST", "account/profile", {"time_zone": "Europe/Berlin"}).status == 200
    answer = ask("GET", "account/usage?from=2026-03-28&to=2026-03-30").json
    assert [day["quota"] for day in answer["days"]] == [0, quota("2"), quota("1")]
    one = ask("GET", "account/usage?from=2026-03-29&to=2026-03-29").json
    assert one["total"]["quota"] == quota("2")


def test_only_ones_own_is_counted(people: Callable[..., Person], stack: Stack) -> None:
    person, other = people(), people()
    use(stack, other.id, "2026-02-24 10:00:00", "5")
    use(stack, person.id, "2026-02-24 10:00:00", "1", "m-alt")
    query = "account/usage?from=2026-02-24&to=2026-02-24"
    answer = person.browser.api("GET", query).json
    assert answer["total"]["quota"] == quota("1")
    assert [row["label"] for row in answer["models"]] == ["m-alt"]
    page = person.browser.get(BASE + "account.cgi/usage?from=2026-02-24&to=2026-02-24").text
    assert "1.00 USD in 1 requests" in page


def test_a_span_has_bounds(people: Callable[..., Person]) -> None:
    ask = people().browser.api
    assert ask("GET", "account/usage?from=2026-02-24&to=2026-02-23").status == 422
    assert ask("GET", "account/usage?from=2020-01-01&to=2026-01-01").status == 422
    assert ask("GET", "account/usage?from=2020-02-30x").status == 422
