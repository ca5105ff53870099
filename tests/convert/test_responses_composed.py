"""Messages on Responses and Responses on Messages: two steps, nothing lost between them."""

from __future__ import annotations

import tool

USER = {"role": "user", "content": "hi"}
PNG = "data:image/png;base64,iVBORw0KGgo="
OPEN = {"type": "object", "properties": {}}


def test_signatures_of_claude_come_back_through_a_responses_client() -> None:
    thinking = {"type": "thinking", "thinking": "Plan.", "signature": "SIGC"}
    redacted = {"type": "redacted_thinking", "data": "RED"}
    use = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}
    answer = {"id": "msg_1", "model": "m", "content": [thinking, redacted, use],
              "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 2}}
    output = tool.answer("responses", "messages", answer)["body"]["output"]
    assert [item["type"] for item in output] == ["reasoning", "reasoning", "function_call"]
    result = {"type": "function_call_output", "call_id": "toolu_1", "output": "done"}
    body = {"model": "m", "max_output_tokens": 4000, "input": [USER, *output, result],
            "tools": [{"type": "function", "name": "f", "parameters": OPEN}]}  # fmt: skip
    sent = tool.request("responses", "messages", body, "claude-sonnet-4-5")["body"]
    assert sent["messages"][1]["content"] == [thinking, redacted, use]
    assert sent["messages"][2]["content"][0]["tool_use_id"] == "toolu_1"


def test_encrypted_reasoning_comes_back_through_a_messages_client() -> None:
    output = [
        {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "t"}],
         "encrypted_content": "ENC"},
        {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "f",
         "arguments": "{}"},
    ]  # fmt: skip
    answer = {"id": "resp_1", "model": "m", "status": "completed", "output": output}
    content = tool.answer("messages", "responses", answer)["body"]["content"]
    body = {
        "model": "m",
        "max_tokens": 1000,
        "messages": [
            USER,
            {"role": "assistant", "content": content},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "done",
                 "is_error": True}]},
        ],
        "tools": [{"name": "f", "input_schema": OPEN}],
    }  # fmt: skip
    sent = tool.request("messages", "responses", body, "gpt-5")["body"]
    kinds = [item["type"] for item in sent["input"]]
    assert kinds == ["message", "reasoning", "function_call", "function_call_output"]
    assert sent["input"][1]["encrypted_content"] == "ENC" and "id" not in sent["input"][1]
    assert sent["input"][3]["output"] == "Error: done"


def test_results_with_images_stay_results_of_claude() -> None:
    items = [
        USER,
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c",
         "output": [{"type": "input_image", "image_url": PNG}]},
    ]  # fmt: skip
    body = {"model": "m", "input": items, "tools": [{"type": "web_search"}]}
    said = tool.request("responses", "messages", body, "claude-sonnet-4-5")
    result = said["body"]["messages"][2]["content"][0]
    assert result["type"] == "tool_result" and result["content"][0]["type"] == "image"
    assert said["body"]["tools"][0]["type"] == "web_search_20250305"


def test_the_second_hop_says_whose_path_it_means() -> None:
    body = {"model": "m", "max_tokens": 9, "stop_sequences": ["x"], "messages": [USER]}
    codes = tool.codes(tool.request("messages", "responses", body))
    assert "STOP_UNSUPPORTED/w hub:stop" in codes
    assert "PARAM_CLAMPED/w hub:max_completion_tokens" in codes
