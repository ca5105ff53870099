"""The OpenAI chat dialect: what a request must look like, what it costs, what an answer looks like.

Everything is deterministic, so that a test can compute a bill by hand:

* prompt_tokens      words (separated by white space) of every text in `messages`,
                     plus 100 for each image part and 50 for each audio or file part
* completion_tokens  words of the answer's text, of tool names and of tool arguments
* a scenario's parameters (p, c, r, w, t, ai, ao) put other numbers in their place
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

ROLES = {"system", "developer", "user", "assistant", "tool", "function"}
PART_TYPES = {"text", "image_url", "input_audio", "file", "refusal"}
IMAGE_TOKENS = 100
OTHER_PART_TOKENS = 50
DEFAULT_TEXT = "Hello from the simulator: every word counts."


@dataclass
class Refusal(Exception):
    """An error answer in the provider's shape."""

    status: int
    message: str
    type: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None
    headers: list[tuple[str, str]] = field(default_factory=list)

    def body(self) -> bytes:
        error = {"message": self.message, "type": self.type, "param": self.param}
        return encode({"error": {**error, "code": self.code}})


def encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def wrong(param: str, message: str) -> Refusal:
    return Refusal(400, message, param=param, code="invalid_type")


def parse_body(body: bytes) -> dict[str, Any]:
    """The request as an object, or a Refusal; check_request judges what is in it."""
    try:
        parsed = json.loads(body.decode("utf-8"), object_pairs_hook=_no_duplicates)
    except (UnicodeDecodeError, ValueError) as error:
        raise Refusal(400, f"We could not parse the JSON body of your request: {error}") from None
    if not isinstance(parsed, dict):
        raise wrong("body", "The body must be a JSON object.")
    return parsed


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("duplicate key")
    return result


TYPES: dict[str, tuple[type | tuple[type, ...], str]] = {
    "stream": (bool, "a boolean"),
    "stream_options": (dict, "an object"),
    "tools": (list, "an array"),
    "n": (int, "an integer"),
    "max_tokens": (int, "an integer"),
    "max_completion_tokens": (int, "an integer"),
    "temperature": ((int, float), "a number"),
    "top_p": ((int, float), "a number"),
    "user": (str, "a string"),
}


def check_request(request: dict[str, Any]) -> None:
    """Refuses what the provider would refuse."""
    model = request.get("model")
    if model is None:
        raise Refusal(400, "you must provide a model parameter", param="model")
    if not isinstance(model, str):
        raise wrong("model", "Invalid type for 'model': expected a string.")
    if "messages" not in request:
        raise Refusal(
            400,
            "Missing required parameter: 'messages'.",
            param="messages",
            code="missing_required_parameter",
        )
    messages = request["messages"]
    if not isinstance(messages, list):
        raise wrong("messages", "Invalid type for 'messages': expected an array.")
    if not messages:
        raise Refusal(400, "Invalid 'messages': empty array.", param="messages", code="empty_array")
    for index, message in enumerate(messages):
        _check_message(f"messages[{index}]", message)
    for name, (kind, text) in TYPES.items():
        value = request.get(name)
        if value is None:
            continue
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise wrong(name, f"Invalid type for '{name}': expected {text}.")
    if request.get("stream_options") is not None and not request.get("stream"):
        raise Refusal(
            400,
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            param="stream_options",
        )


def _check_message(where: str, message: Any) -> None:
    if not isinstance(message, dict):
        raise wrong(where, f"Invalid type for '{where}': expected an object.")
    if message.get("role") not in ROLES:
        raise Refusal(
            400,
            f"Invalid value: {message.get('role')!r}. Supported values are: {sorted(ROLES)}.",
            param=f"{where}.role",
            code="invalid_value",
        )
    content = message.get("content")
    if content is None and message["role"] != "assistant":
        raise Refusal(400, "Missing required parameter.", param=f"{where}.content")
    if isinstance(content, list):
        for part in content:
            if not isinstance(part, dict) or part.get("type") not in PART_TYPES:
                raise Refusal(
                    400,
                    f"Invalid value for a part of '{where}.content'.",
                    param=f"{where}.content",
                    code="invalid_value",
                )
    elif content is not None and not isinstance(content, str):
        raise wrong(f"{where}.content", f"Invalid type for '{where}.content'.")


# --- counting -------------------------------------------------------------------------------


def words(text: str) -> int:
    return len(text.split())


def count_prompt(request: dict[str, Any]) -> int:
    total = 0
    for message in request["messages"]:
        content = message.get("content")
        if isinstance(content, str):
            total += words(content)
            continue
        for part in content or []:
            if part["type"] in ("text", "refusal"):
                total += words(str(part.get(part["type"], "")))
            else:
                total += IMAGE_TOKENS if part["type"] == "image_url" else OTHER_PART_TOKENS
    return total


def usage(prompt: int, completion: int, params: dict[str, int]) -> dict[str, Any]:
    """The usage object; r, w, t, ai, ao are parts of the totals, as in the provider's dialect."""
    prompt = params.get("p", prompt)
    completion = params.get("c", completion)
    prompt_details = {
        "cached_tokens": params.get("r", 0),
        "audio_tokens": params.get("ai", 0),
    }
    if "w" in params:
        prompt_details["cache_write_tokens"] = params["w"]
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": prompt_details,
        "completion_tokens_details": {
            "reasoning_tokens": params.get("t", 0),
            "audio_tokens": params.get("ao", 0),
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


# --- answers --------------------------------------------------------------------------------


@dataclass
class Answer:
    """What the model says: text, or calls of tools; and the identity all its pieces carry."""

    number: int
    model: str
    text: str = ""
    reasoning: str = ""
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    finish: str = "stop"
    wire: str = "chat"

    def base(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-sim{self.number:06d}",
            "object": kind,
            "created": 1_700_000_000 + self.number,
            "model": self.model,
            "system_fingerprint": "fp_sim",
        }

    def count(self) -> int:
        called = sum(
            words(call["function"]["name"]) + words(call["function"]["arguments"])
            for call in self.tool_calls
        )
        return words(self.text) + words(self.reasoning) + called

    def whole(self, used: dict[str, Any] | None) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        message["refusal"] = None
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.tool_calls:
            message["tool_calls"] = self.tool_calls
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self.finish}
        result = {**self.base("chat.completion"), "choices": [choice]}
        if used is not None:
            result["usage"] = used
        return result

    def chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return {**self.base("chat.completion.chunk"), "choices": [choice]}

    def deltas(self) -> list[dict[str, Any]]:
        """The pieces of the answer, one per word or tool fragment, without the closing chunk."""
        pieces: list[dict[str, Any]] = [{"role": "assistant", "content": "", "refusal": None}]
        for index, word in enumerate(self.reasoning.split(" ") if self.reasoning else []):
            pieces.append({"reasoning_content": word if index == 0 else " " + word})
        for index, word in enumerate(self.text.split(" ") if self.text else []):
            pieces.append({"content": word if index == 0 else " " + word})
        for index, call in enumerate(self.tool_calls):
            arguments = call["function"]["arguments"]
            start = {**call, "index": index}
            start["function"] = {"name": call["function"]["name"], "arguments": ""}
            pieces.append({"tool_calls": [start]})
            for at in range(0, len(arguments), 5):
                part = {"index": index, "function": {"arguments": arguments[at : at + 5]}}
                pieces.append({"tool_calls": [part]})
        return pieces


def call_tool(answer: Answer, name: str, arguments: str) -> None:
    index = len(answer.tool_calls)
    call = {"id": f"call_sim{answer.number:06d}_{index}", "type": "function"}
    answer.tool_calls.append({**call, "function": {"name": name, "arguments": arguments}})
    answer.finish = "tool_calls"


def tool_answer(request: dict[str, Any], answer: Answer) -> None:
    """Turns the answer into one call of every tool that the request offers."""
    for tool in request.get("tools") or []:
        name = tool["function"]["name"] if "function" in tool else tool["name"]
        call_tool(answer, name, '{"city":"Paris","unit":"celsius"}')
    if answer.tool_calls:
        answer.text = ""


def agent_answer(request: dict[str, Any], answer: Answer, script: str) -> None:
    """One turn of a script: [{"text": …} or {"tool": NAME, "input": {…}}, …]. Which one is next
    shows in the conversation: a turn for every message of the assistant that called a tool."""
    turns = json.loads(script)
    done = 0
    given = request.get("input")
    for item in given if isinstance(given, list) else []:
        done += item.get("type") in ("function_call", "custom_tool_call")
    for message in request.get("messages", []):
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        called = any(block.get("type") == "tool_use" for block in blocks)
        done += message["role"] == "assistant" and bool(called or message.get("tool_calls"))
    turn = turns[min(done, len(turns) - 1)]
    answer.text = turn.get("text", "")
    if "tool" in turn and request.get("tools"):
        call_tool(answer, turn["tool"], json.dumps(turn["input"]))
