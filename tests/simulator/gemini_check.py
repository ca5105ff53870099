"""What Google refuses: the types of its SDK, and the rules of its documents.

Stricter than Google in two places: only the camel case is known, and contents of one role in a row
are refused but for the user's word behind the results of calls, so that what a converter sends is
in its final form.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from gemini import GeminiRefusal

NAME = re.compile(r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$")
NUMBER = (int, float)
TYPES = {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}
GENERATION = re.compile(r"gemini-(\d+)")

MEMBERS: dict[str, Any] = {
    "contents": list, "systemInstruction": dict, "tools": list, "toolConfig": dict,
    "safetySettings": list, "generationConfig": dict, "cachedContent": str, "labels": dict,
    "serviceTier": str, "store": bool, "continuationToken": str,
}  # fmt: skip
CONFIG: dict[str, Any] = {
    "temperature": NUMBER, "topP": NUMBER, "topK": NUMBER, "candidateCount": int,
    "maxOutputTokens": int, "stopSequences": list, "responseLogprobs": bool, "logprobs": int,
    "presencePenalty": NUMBER, "frequencyPenalty": NUMBER, "seed": int, "responseMimeType": str,
    "responseSchema": dict, "responseJsonSchema": dict, "responseModalities": list,
    "mediaResolution": str, "speechConfig": dict, "thinkingConfig": dict, "imageConfig": dict,
    "enableEnhancedCivicAnswers": bool, "audioTimestamp": bool, "responseFormat": list,
}  # fmt: skip
THINKING = {"includeThoughts": bool, "thinkingBudget": int, "thinkingLevel": str}
DATA = ("text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
        "codeExecutionResult")  # fmt: skip
BESIDE = {"thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"}
INNER: dict[str, dict[str, Any]] = {
    "inlineData": {"mimeType": str, "data": str, "displayName": str},
    "fileData": {"mimeType": str, "fileUri": str, "displayName": str},
    "functionCall": {"id": str, "name": str, "args": dict},
    "functionResponse": {"id": str, "name": str, "response": dict, "parts": list},
    "executableCode": {"id": str, "language": str, "code": str},
    "codeExecutionResult": {"id": str, "outcome": str, "output": str},
}
SCHEMA: dict[str, Any] = {
    "type": str, "format": str, "title": str, "description": str, "nullable": bool, "enum": list,
    "items": dict, "maxItems": (int, str), "minItems": (int, str), "properties": dict,
    "required": list, "minProperties": (int, str), "maxProperties": (int, str),
    "minimum": NUMBER, "maximum": NUMBER, "minLength": (int, str), "maxLength": (int, str),
    "pattern": str, "anyOf": list, "propertyOrdering": list, "default": object, "example": object,
}  # fmt: skip
JSON_SCHEMA = {
    "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items",
    "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties",
    "additionalProperties", "required", "propertyOrdering",
}  # fmt: skip
FUNCTION = {"name": str, "description": str, "parameters": dict, "parametersJsonSchema": dict,
            "response": dict, "responseJsonSchema": dict, "behavior": str}  # fmt: skip
TOOLS = {"functionDeclarations", "googleSearch", "codeExecution", "urlContext", "googleMaps",
         "fileSearch", "computerUse", "googleSearchRetrieval"}  # fmt: skip


def wrong(where: str, what: str) -> GeminiRefusal:
    return GeminiRefusal(400, f"Invalid value at '{where}': {what}")


def check_members(where: str, value: Any, members: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise wrong(where, "no object")
    for name, inner in value.items():
        if name not in members:
            raise GeminiRefusal(
                400, f'Invalid JSON payload received. Unknown name "{name}" at \'{where}\''
            )
        kinds = members[name] if isinstance(members[name], tuple) else (members[name],)
        odd = isinstance(inner, bool) and not {bool, object} & {*kinds}
        if odd or not isinstance(inner, kinds):
            raise wrong(f"{where}.{name}", f"expected {kinds[0].__name__}")
    return value


def check_request(
    request: dict[str, Any], model: str, counting: bool = False, strict: bool = True
) -> None:
    if counting and "generateContentRequest" in request:
        request = dict(request["generateContentRequest"])
        request.pop("model", None)
    if not request.get("contents"):
        raise GeminiRefusal(400, "* GenerateContentRequest.contents: contents is not specified")
    if not strict:  # Google's own SDK writes both spellings, and turns as they came
        return
    check_members("request", request, MEMBERS)
    found = GENERATION.search(model)
    generation = int(found[1]) if found else 2
    if "systemInstruction" in request:
        check_content("systemInstruction", request["systemInstruction"])
    check_tools(request, generation)
    check_config(request.get("generationConfig") or {}, bool(request.get("tools")), generation)
    check_turns(request["contents"], generation)


# --- parameters -----------------------------------------------------------------------------


def check_config(config: dict[str, Any], tools: bool, generation: int) -> None:
    check_members("generationConfig", config, CONFIG)
    thinking = check_members("thinkingConfig", config.get("thinkingConfig", {}), THINKING)
    if {"thinkingBudget", "thinkingLevel"} <= thinking.keys():
        raise wrong("thinkingConfig", "a budget or a level, not both")
    if "thinkingLevel" in thinking and generation < 3:
        raise wrong("thinkingConfig", "this model takes no level")
    for name, most in (("temperature", 2), ("topP", 1)):
        if not 0 <= config.get(name, 0) <= most:
            raise wrong(name, f"range: 0..{most}")
    if len(config.get("stopSequences", [])) > 5 or not 1 <= config.get("candidateCount", 1) <= 8:
        raise wrong("generationConfig", "at most 5 stop sequences and 8 candidates")
    if not 0 <= config.get("seed", 0) < 1 << 31:
        raise wrong("seed", "no int32")
    if "responseSchema" in config:
        check_schema("responseSchema", config["responseSchema"])
    if "responseJsonSchema" in config:
        check_json_schema("responseJsonSchema", config["responseJsonSchema"])
    json = config.get("responseMimeType") == "application/json"
    if json and tools and generation < 3:
        raise GeminiRefusal(
            400, "Function calling with a response mime type: 'application/json' is unsupported"
        )


def check_tools(request: dict[str, Any], generation: int) -> None:
    names: set[str] = set()
    builtins = False
    for index, tool in enumerate(request.get("tools", [])):
        where = f"tools[{index}]"
        check_members(where, tool, {name: (dict, list) for name in TOOLS})
        builtins |= bool(set(tool) - {"functionDeclarations"})
        for function in tool.get("functionDeclarations", []):
            check_function(where, function)
            if function["name"] in names:
                raise wrong(where, f"Duplicate function declaration found: {function['name']}")
            names.add(function["name"])
    if builtins and names and generation < 3:
        raise GeminiRefusal(400, "Tool use with function calling is unsupported")
    members = {"functionCallingConfig": dict, "retrievalConfig": dict,
               "includeServerSideToolInvocations": bool}  # fmt: skip
    config = check_members("toolConfig", request.get("toolConfig", {}), members)
    calling = config.get("functionCallingConfig", {})
    check_members("functionCallingConfig", calling, {"mode": str, "allowedFunctionNames": list})
    if calling and not names:
        raise GeminiRefusal(400, "Function calling config is set without function_declarations.")
    if calling.get("mode", "AUTO") not in ("AUTO", "ANY", "NONE", "VALIDATED"):
        raise wrong("functionCallingConfig.mode", "unknown")
    allowed = calling.get("allowedFunctionNames", [])
    if set(allowed) - names or (allowed and calling.get("mode") not in ("ANY", "VALIDATED")):
        raise wrong("allowedFunctionNames", "unknown names, or not with this mode")


def check_function(where: str, function: Any) -> None:
    check_members(where, function, FUNCTION)
    if not NAME.match(function.get("name", "")):
        raise wrong(f"{where}.name", "Invalid function name")
    if {"parameters", "parametersJsonSchema"} <= function.keys():
        raise wrong(where, "parameters or parametersJsonSchema, not both")
    if "parameters" in function:
        check_schema(f"{where}.parameters", function["parameters"])
        if function["parameters"].get("type") != "OBJECT":
            raise wrong(f"{where}.parameters", "schema should be of type OBJECT")
    if "parametersJsonSchema" in function:
        check_json_schema(where, function["parametersJsonSchema"])


def check_schema(where: str, schema: Any) -> None:
    check_members(where, schema, SCHEMA)
    kind = schema.get("type")
    if kind is not None and kind not in TYPES:
        raise wrong(f"{where}.type", f"unknown {kind!r}")
    if kind is None and "anyOf" not in schema:
        raise wrong(where, "type is missing")
    if kind == "ARRAY" and "items" not in schema:
        raise wrong(f"{where}.items", "missing field.")
    for value in schema.get("enum", []):
        if not isinstance(value, str) or not value or kind != "STRING":
            raise wrong(f"{where}.enum", "only allowed for STRING type, cannot be empty")
    if "properties" in schema and not schema["properties"]:
        raise wrong(f"{where}.properties", "should be non-empty for OBJECT type")
    for name in schema.get("required", []):
        if name not in schema.get("properties", {}):
            raise wrong(f"{where}.required", f"property is not defined: {name}")
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    for one in [*inner, *([schema["items"]] if "items" in schema else [])]:
        check_schema(where + ".", one)


def check_json_schema(where: str, schema: Any) -> None:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict) or set(schema) - JSON_SCHEMA:
        raise wrong(where, f"unknown keywords {sorted(set(schema) - JSON_SCHEMA)}")
    inner = [*schema.get("properties", {}).values(), *schema.get("$defs", {}).values()]
    for name in ("anyOf", "oneOf", "prefixItems"):
        inner += schema.get(name, [])
    inner += [schema[name] for name in ("items", "additionalProperties") if name in schema]
    for one in inner:
        check_json_schema(where + ".", one)


# --- turns ----------------------------------------------------------------------------------


def check_content(where: str, content: Any) -> list[dict[str, Any]]:
    check_members(where, content, {"role": str, "parts": list})
    if not content.get("parts"):
        raise GeminiRefusal(400, f"* {where}.parts: contents.parts must not be empty.")
    for index, part in enumerate(content["parts"]):
        check_part(f"{where}.parts[{index}]", part)
    return content["parts"]


def check_part(where: str, part: Any) -> None:
    if not isinstance(part, dict) or set(part) - {*DATA, *BESIDE}:
        raise wrong(where, f"unknown members of {part}")
    data = [name for name in DATA if name in part]
    if len(data) != 1:
        raise GeminiRefusal(400, f"* {where}.data: required oneof field 'data' must have one")
    if data[0] == "text":
        if not isinstance(part["text"], str) or not (part["text"] or "thoughtSignature" in part):
            raise wrong(f"{where}.text", "empty")
        return
    inner = check_members(f"{where}.{data[0]}", part[data[0]], INNER[data[0]])
    if data[0].startswith("function") and not NAME.match(inner.get("name", "")):
        raise wrong(f"{where}.{data[0]}.name", "Name cannot be empty.")
    if data[0] == "functionResponse" and "response" not in inner:
        raise wrong(where, "a functionResponse without response")
    if data[0] == "inlineData":
        try:
            base64.b64decode(inner.get("data", ""), validate=True)
        except (binascii.Error, ValueError):
            raise wrong(f"{where}.inlineData.data", "Base64 decoding failed") from None


def check_turns(contents: list[Any], generation: int) -> None:
    waiting: list[tuple[Any, Any]] = []
    before = answered = ""
    for index, content in enumerate(contents):
        where = f"contents[{index}]"
        parts = check_content(where, content)
        role = content.get("role", "user")
        if role not in ("user", "model") or (index == 0 and role != "user"):
            raise GeminiRefusal(400, "Please use a valid role: user, model.")
        if role == before and not answered:
            raise wrong(where, "two contents of one role")
        check_responses(where, parts, waiting, generation)
        answered = "functionResponse" in parts[0] and "answered"
        waiting = [(p["functionCall"].get("id"), p["functionCall"]["name"])
                   for p in parts if "functionCall" in p]  # fmt: skip
        if role == "user" and waiting:
            raise wrong(where, "a user calls no function")
        before = role
    if waiting:
        raise wrong("contents", "the last function call has no function response turn after it")
    if generation >= 3:
        check_signatures(contents)


def check_responses(where: str, parts: list[Any], waiting: list[Any], generation: int) -> None:
    given = [part["functionResponse"] for part in parts if "functionResponse" in part]
    if len(given) != len(waiting) or (given and len(given) != len(parts)):
        raise GeminiRefusal(
            400,
            "Please ensure that the number of function response parts is equal to the number of "
            f"function call parts of the function call turn. ({where})",
        )
    for response, (call_id, name) in zip(given, waiting, strict=True):
        if response["name"] != name or (generation >= 3 and response.get("id") != call_id):
            raise wrong(where, "a function response out of the order of its calls")


def check_signatures(contents: list[Any]) -> None:
    """The first call of every step since the user's last plain word is signed."""
    for content in reversed(contents):
        parts = content["parts"]
        if content.get("role", "user") == "user" and "functionResponse" not in parts[0]:
            return
        calls = [part for part in parts if "functionCall" in part]
        if calls and not calls[0].get("thoughtSignature"):
            raise GeminiRefusal(400, "Function call is missing a thought_signature")
