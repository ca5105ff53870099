"""The whole of Tollgate, private: stores, simulator, gateway, ledger; and its accounts."""

from __future__ import annotations

import itertools
import json
import os
import socket
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.answer import Answer
from harness.fcgi import Exchange, FcgiClient, connect
from harness.gateway import SOURCE, Site
from harness.money import M_REF, Price, bill, quota
from harness.procs import Process, eventually
from harness.simclient import KEYS, Simulator
from harness.stores import MariaDB, Redis

MODELS = ["m-ref", "m-alt", "m-call", "m-free", "gpt-4o"]
PRICES = {
    "m-ref": M_REF,
    "m-alt": Price("1.10", "4.40", "0.275"),
    "m-call": Price(call="0.02"),
    "m-free": Price("0", "0"),
    "gpt-4o": Price("2.50", "10.00", "1.25"),
}
CHAT = "/v1/chat/completions"


def recorded_folder() -> Path | None:
    """Real exchanges: TOLLGATE_RECORDED, else ../shared/recorded beside the repository."""
    named = os.environ.get("TOLLGATE_RECORDED")
    folder = Path(named) if named else SOURCE.parent / "shared" / "recorded"
    return folder if folder.is_dir() else None


def recorded_exchanges() -> list[str]:
    """The names of those between chat clients and chat providers."""
    folder = recorded_folder()
    return sorted(path.stem for path in folder.glob("openai-chat-*.json")) if folder else []


def chat_body(model: str = "m-ref", text: str = "hi", **more: Any) -> bytes:
    value = {"model": model, "messages": [{"role": "user", "content": text}], **more}
    return json.dumps(value, separators=(",", ":")).encode()


@dataclass
class Account:
    """A user with a token, made for one test; sends its requests."""

    stack: Stack
    name: str
    credited: int
    token: str = ""
    token_id: int = 0
    client: Any = None

    def auth(self) -> list[tuple[str, str]]:
        return [("Authorization", f"Bearer {self.token}"), ("Content-Type", "application/json")]

    def open(self, body: bytes | Iterable[bytes], headers=None, uri: str = CHAT, **options):
        client = self.client or self.stack.fcgi
        headers = self.auth() if headers is None else headers
        return client.open("POST", uri, headers, body, **options)

    def post(self, body: bytes | Iterable[bytes], headers=None, **options) -> Answer:
        return self.open(body, headers, **options).finish()

    def chat(self, model: str = "m-ref", text: str = "hi", **more: Any) -> Answer:
        return self.post(chat_body(model, text, **more))

    def stream(self, model: str = "m-ref", text: str = "hi", **more: Any) -> Answer:
        return self.chat(model, text, stream=True, **more)

    def open_stream(self, model: str = "m-ref", text: str = "hi", **more: Any) -> Exchange:
        return self.open(chat_body(model, text, stream=True, **more))

    def new_token(self, *options: str) -> dict[str, Any]:
        return self.stack.site.ctl("token", "create", "--user", self.name, *options)

    def show(self) -> dict[str, Any]:
        return self.stack.site.ctl("show", "user", self.name)

    @property
    def balance(self) -> int:
        return int(self.show()["quota"])

    @property
    def spent(self) -> int:
        return self.credited - self.balance

    def wait_spent(self, expected: int, timeout: float = 15) -> None:
        """The books have settled at this charge, and the audit agrees with them."""
        try:
            eventually(f"{self.name} has spent {expected}", lambda: self.spent == expected, timeout)
        except AssertionError as error:
            raise AssertionError(f"{error}; spent is {self.spent}") from None

    def credit(self, usd: str) -> None:
        self.stack.site.ctl("credit", self.name, usd)
        self.credited += quota(usd)


@dataclass
class Stack:
    directory: Path
    mariadb: MariaDB = field(init=False)
    redis: Redis = field(init=False)
    simulator: Simulator = field(init=False)
    site: Site = field(init=False)
    accounts: list[Account] = field(default_factory=list)
    prices: dict[str, Price] = field(default_factory=dict)
    upstream_names: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.numbers = itertools.count(1)
        self.mariadb = MariaDB(self.directory)
        self.redis = Redis(self.directory)
        self.simulator = Simulator(self.directory, recorded_folder())
        self.site = Site(self.directory, self.mariadb, self.redis, "tg_main", "tg_log")
        self.fcgi = FcgiClient(self.site.address)

    @classmethod
    def create(cls) -> Stack:
        """Short paths: a unix socket's name has 107 bytes at most."""
        return cls(Path(tempfile.mkdtemp(prefix="tg-")))

    @property
    def gateway(self):
        return self.site.gateway

    @property
    def ledger(self):
        return self.site.ledger

    def processes(self) -> list[Process]:
        return [
            self.gateway.process,
            self.ledger.process,
            self.simulator.process,
            self.redis.process,
            self.mariadb.process,
        ]

    # --- life -------------------------------------------------------------------------------

    def start_stores(self) -> None:
        self.mariadb.install()
        self.mariadb.start()
        self.mariadb.account()
        self.redis.start()
        self.simulator.start()

    def start(self) -> None:
        self.start_stores()
        self.site.init()
        self.site.ctl("create-admin", "admin", "--password-stdin", stdin="an admin's password\n")
        for model, price in PRICES.items():
            self.price(model, price)
        self.channel("main", MODELS)
        self.ledger.start()
        self.gateway.start()

    def stop(self) -> None:
        failures = []
        for process in self.processes():
            try:
                process.stop(90)
            except AssertionError as error:
                failures.append(str(error))
        assert not failures, "\n".join(failures)

    def kill(self) -> None:
        for process in self.processes():
            process.kill()

    def fcgi_socket(self) -> socket.socket:
        """A bare connection to the gateway's FastCGI socket."""
        return connect(self.site.address)

    # --- configuration through tollgatectl ---------------------------------------------------

    def price(self, model: str, price: Price) -> None:
        self.prices[model] = price
        self.site.ctl("price", "set", model, *price.options())

    def channel(
        self, name: str, models: list[str], *options: str, key: str = KEYS[0], **more
    ) -> int:
        base_url = more.pop("base_url", self.simulator.base_url)
        assert not more
        argv = ["channel", "add", name, "--base-url", base_url, "--models", ",".join(models)]
        return int(self.site.ctl(*argv, "--key-stdin", *options, stdin=key + "\n")["id"])

    def new_model(self, price: Price = M_REF, prefix: str = "m") -> str:
        """A model name of this test's own, priced; give it channels, then wait_model."""
        name = f"{prefix}-{next(self.numbers)}"
        self.price(name, price)
        return name

    def wait_model(self, account: Account, model: str) -> None:
        """Every worker routes by what the database says now, and that knows the model."""
        ((version,),) = self.site.main_sql("SELECT version FROM routing_version")
        eventually(
            f"every worker has snapshot {version}",
            lambda: min(map(self.gateway.snapshot, self.gateway.workers())) >= int(version),
            30,
            every=0.05,
        )
        answer = self.fcgi.request("GET", "/v1/models", account.auth())
        assert model in {entry["id"] for entry in answer.json["data"]}, f"{model} is not served"

    def account(self, credit: str = "10", *token_options: str, group: str | None = None) -> Account:
        name = f"user{next(self.numbers)}"
        argv = ["user", "add", name, "--credit", credit]
        self.site.ctl(*argv, *(["--group", group] if group else []))
        account = Account(self, name, quota(credit))
        made = account.new_token(*token_options)
        account.token, account.token_id = made["token"], int(made["id"])
        self.accounts.append(account)
        return account

    # --- the books --------------------------------------------------------------------------

    def charged_by_simulator(self) -> int:
        """What the provider's usage costs at our prices: the sum over its requests since reset."""
        return sum(
            bill(row["charged"], self.prices[self.upstream_names.get(row["model"], row["model"])])
            for row in self.simulator.charges()
        )

    def spent(self) -> int:
        return sum(account.spent for account in self.accounts)
