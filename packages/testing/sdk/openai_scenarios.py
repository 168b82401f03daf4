"""Asks the gateway through the official SDK; prints one JSON object: scenario -> what the SDK made of the answer."""

import json
import os
import sys

import openai

MODEL = "gpt-4o-mini"
BASE_URL = os.environ["GATEWAY_URL"] + "/v1"
KEYS = json.loads(os.environ["GATEWAY_KEYS"])


def client(key="plain"):
    return openai.OpenAI(api_key=KEYS.get(key, key), base_url=BASE_URL, max_retries=0)


def ask(content, fake=None, **settings):
    body = {"vendor_extra": {"deep": [1, None]}, **({"x_fake": fake} if fake else {})}
    return {"model": MODEL, "messages": [{"role": "user", "content": content}], "extra_body": body, **settings}


def chat(by="plain", content="x", fake=None, **settings):
    return client(by).chat.completions.create(**{**ask(content, fake), **settings})


def plain():
    raw = client().chat.completions.with_raw_response.create(**ask("py plain", {"text": "Grüße 🌍"}, temperature=0))
    done = raw.parse()
    return {
        "text": done.choices[0].message.content,
        "total": done.usage.total_tokens,
        "cost": done.model_extra["cost_usd"],
        "same_id": raw.headers["x-request-id"] == raw.request_id if hasattr(raw, "request_id") else True,
    }


def stream():
    text, usages = "", []
    for chunk in chat(content="py stream", fake={"text": "one two three"}, stream=True):
        text += chunk.choices[0].delta.content or ""
        if chunk.usage is not None:
            usages.append(len(chunk.choices))
    return {"text": text, "usages": usages}


def stream_with_usage():
    options = {"include_usage": True}
    chunks = list(chat(content="py usage", fake={"text": "one two three"}, stream=True, stream_options=options))
    return {"usages": [len(chunk.choices) for chunk in chunks if chunk.usage is not None]}


def helper(fake, **settings):
    with client().chat.completions.stream(**ask("py helper", fake, **settings)) as events:
        kinds = [event.type for event in events]
        choice = events.get_final_completion().choices[0]
    calls = [[call.function.name, call.function.arguments] for call in choice.message.tool_calls or []]
    done = sorted(kind for kind in kinds if kind.endswith(".done"))
    return {"text": choice.message.content, "finish": choice.finish_reason, "calls": calls, "done": done}


def completions():
    client_ = client()
    body = {"model": MODEL, "max_tokens": 20}
    plain = client_.completions.create(**body, prompt="py text", extra_body={"x_fake": {"text": "one two"}})
    many = client_.completions.create(**body, prompt=["a", "b"], echo=True, extra_body={"x_fake": {"text": "!"}})
    text = ""
    for chunk in client_.completions.create(**body, prompt="py", stream=True, extra_body={"x_fake": {"text": "one two"}}):
        text += chunk.choices[0].text
    return {"plain": plain.choices[0].text, "many": [choice.text for choice in many.choices], "stream": text}


def stream_helper():
    calls = [{"name": "get_weather", "arguments": '{"city":"Bern"}'}]
    return {"text": helper({"text": "one two"}), "tools": helper({"toolCalls": calls}, tools=[TOOL])}


TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def tools():
    calls = [{"name": "get_weather", "arguments": '{"city":"Bern"}'}]
    done = chat(content="py tools", fake={"toolCalls": calls}, tools=[TOOL])
    arguments = ""
    for chunk in chat(content="py tools stream", fake={"toolCalls": calls}, tools=[TOOL], stream=True):
        for choice in chunk.choices:
            for call in choice.delta.tool_calls or []:
                arguments += call.function.arguments or ""
    call = done.choices[0].message.tool_calls[0].function
    return {"finish": done.choices[0].finish_reason, "name": call.name, "plain": call.arguments, "stream": arguments}


def json_schema():
    schema = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"], "additionalProperties": False}
    done = chat(
        content="py schema",
        fake={"text": '{"age":7}'},
        response_format={"type": "json_schema", "json_schema": {"name": "person", "strict": True, "schema": schema}},
    )
    return json.loads(done.choices[0].message.content)


def images():
    parts = [
        {"type": "text", "text": "py image"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}},
    ]
    return {"text": chat(content=parts, fake={"text": "a pixel"}).choices[0].message.content}


def abort():
    with chat(content="py abort", fake={"chunks": 1000, "gapMs": 20}, stream=True) as chunks:
        for count, _ in enumerate(chunks):
            if count == 5:
                break
    return {"left": True}


def broken_stream():
    text = ""
    try:
        for chunk in chat(content="py broken", fake={"chunks": 10, "errorAfter": 3}, stream=True):
            text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    except openai.APIError as error:
        return {"text": text, "code": error.code}
    return {"text": text, "code": None}


def models():
    return {"listed": MODEL in [model.id for model in client().models.list()], "one": client().models.retrieve(MODEL).id}


def error_of(**request):
    try:
        chat(**request)
    except openai.APIStatusError as error:
        names = [one.__name__ for one in type(error).__mro__ if one.__module__ == "openai" or "openai." in one.__module__]
        return {"class": names[0], "status": error.status_code, "code": error.code, "param": error.param}
    return {"class": None}


def errors():
    chat(by="limited", content="py first")
    return {
        "wrong_key": error_of(by="sk-wrong"),
        "expired": error_of(by="expired"),
        "unknown_model": error_of(model="no-such-model"),
        "no_messages": error_of(messages=[]),
        "rejected": error_of(fake={"status": 422}),
        "limited": error_of(by="limited"),
        "poor": error_of(by="poor"),
        "failing": error_of(by="failing", fake={"status": 500}),
    }


SCENARIOS = [plain, stream, stream_with_usage, stream_helper, completions, tools, json_schema, images, abort, broken_stream, models, errors]
results = {}
for scenario in SCENARIOS:
    try:
        results[scenario.__name__] = scenario()
    except Exception as error:  # told to the test, which knows what was to come
        results[scenario.__name__] = {"raised": f"{type(error).__name__}: {error}"}
json.dump(results, sys.stdout)
