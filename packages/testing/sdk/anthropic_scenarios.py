"""Asks the gateway through the official SDK; prints one JSON object: scenario -> what the SDK made of the answer."""

import json
import os
import sys
import urllib.request

import anthropic

MODELS = json.loads(os.environ["GATEWAY_MODELS"])
KEYS = json.loads(os.environ["GATEWAY_KEYS"])
PIXEL = "iVBORw0KGgo="
WEATHER = {
    "name": "get_weather",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def control(**command):
    """Tells the fake vendor what to do next."""
    url = os.environ["UPSTREAM_URL"] + "/control"
    urllib.request.urlopen(urllib.request.Request(url, json.dumps(command).encode(), method="POST")).read()


def client(key="plain"):
    return anthropic.Anthropic(api_key=KEYS.get(key, key), base_url=os.environ["GATEWAY_URL"], max_retries=0)


def ask(model, content, **settings):
    return {"model": model, "max_tokens": 2000, "messages": [{"role": "user", "content": content}], **settings}


def streamed(model, content, **settings):
    """The SDK's own accumulator."""
    with client().messages.stream(**ask(model, content, **settings)) as stream:
        for _ in stream:
            pass
        return stream.get_final_message()


def plainly(model, content, **settings):
    return client().messages.create(**ask(model, content, **settings))


def view(message):
    blocks = [block.to_dict() for block in message.content]
    return {
        "text": "".join(block["text"] for block in blocks if block["type"] == "text"),
        "thinking": "".join(block["thinking"] for block in blocks if block["type"] == "thinking"),
        "calls": [[block["name"], block["input"]] for block in blocks if block["type"] == "tool_use"],
        "stop": message.stop_reason,
        "output": message.usage.output_tokens,
    }


def both(scenario, *script):
    def run(model, way):
        control(queue=script)
        return scenario(model, way)

    return {model: [run(model, way) for way in (plainly, streamed)] for model in MODELS}


def words():
    script = {"text": "Grüße 🌍", "usage": {"prompt": 9, "completion": 3}}
    return both(lambda model, way: view(way(model, "py words", system="Be brief.")), script)


def tools():
    def talk(model, way):
        called = way(model, "py tools", tools=[WEATHER])
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": f"result {index}"}
            for index, block in enumerate(block for block in called.content if block.type == "tool_use")
        ]
        messages = [
            {"role": "user", "content": "py tools"},
            {"role": "assistant", "content": called.content},
            {"role": "user", "content": results + [{"type": "text", "text": "py words"}]},
        ]
        answer = client().messages.create(model=model, max_tokens=100, tools=[WEATHER], messages=messages)
        return {"called": view(called), "answer": view(answer)["text"]}

    calls = [{"name": "get_weather", "arguments": json.dumps({"city": city})} for city in ("Bern", "Basel")]
    return both(talk, {"toolCalls": calls}, {"text": "Sunny."})


def image():
    source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
    content = [{"type": "text", "text": "py words"}, {"type": "image", "source": source}]
    return both(lambda model, way: view(way(model, content))["text"], {"text": "a pixel"})


def thinking():
    settings = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    return both(lambda model, way: view(way(model, "py thinking", **settings)), {"reasoning": "Hm.", "text": "42"})


def abort():
    control(queue=[{"chunks": 1000, "gapMs": 20}])
    with client().messages.stream(**ask(MODELS[0], "py slow")) as stream:
        for count, _ in enumerate(stream.text_stream):
            if count == 3:
                break
    return {"left": True}


def broken():
    control(queue=[{"chunks": 10, "errorAfter": 3}])
    text = ""
    try:
        with client().messages.stream(**ask(MODELS[0], "py broken")) as stream:
            for piece in stream.text_stream:
                text += piece
    except anthropic.APIError as error:
        return {"text": text, "body": error.body}
    return {"text": text, "body": None}


def count():
    message = {"role": "user", "content": "py words"}
    return {model: client().messages.count_tokens(model=model, messages=[message]).to_dict() for model in MODELS}


def models():
    return {"listed": [model.id for model in client().models.list(limit=1000)], "one": client().models.retrieve(MODELS[0]).type}


def error_of(by="plain", **request):
    try:
        client(by).messages.create(**{**ask(MODELS[0], "py words"), **request})
    except anthropic.APIStatusError as error:
        return {"class": type(error).__name__, "status": error.status_code, "type": error.body["error"]["type"]}
    return {"class": None}


def errors():
    client("limited").messages.create(**ask(MODELS[0], "py words"))
    found = {
        "wrong_key": error_of(by="sk-ant-wrong"),
        "expired": error_of(by="expired"),
        "unknown_model": error_of(model="nothing-like-it"),
        "no_messages": error_of(messages=[]),
        "limited": error_of(by="limited"),
        "poor": error_of(by="poor"),
    }
    control(default={"status": 500})
    return {**found, "failing": error_of(by="failing", messages=[{"role": "user", "content": "py failing"}])}


SCENARIOS = [words, tools, image, thinking, abort, broken, count, models, errors]
results = {}
for scenario in SCENARIOS:
    try:
        results[scenario.__name__] = scenario()
    except Exception as error:  # told to the test, which knows what was to come
        results[scenario.__name__] = {"raised": f"{type(error).__name__}: {error}"}
json.dump(results, sys.stdout)
