"""Goes on from kept answers through the official SDK; prints one JSON object: model -> scenario -> what came of it."""

import json
import os
import sys
import urllib.request

import openai

MODELS = json.loads(os.environ["GATEWAY_MODELS"])
client = openai.OpenAI(api_key=os.environ["GATEWAY_KEY"], base_url=os.environ["GATEWAY_URL"] + "/v1", max_retries=0)
TOOL = {
    "type": "function",
    "name": "get_weather",
    "strict": False,
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def control(*queue):
    """Tells the fake vendor what to do next."""
    url = os.environ["UPSTREAM_URL"] + "/control"
    command = json.dumps({"queue": queue}).encode()
    urllib.request.urlopen(urllib.request.Request(url, command, method="POST")).read()


def plainly(model, **body):
    return client.responses.create(model=model, **body)


def streamed(model, **body):
    with client.responses.stream(model=model, **body) as events:
        numbers = [event.sequence_number for event in events]
        assert numbers == sorted(set(numbers)), numbers
        return events.get_final_response()


def loop(model, way):
    """Results of two calls, sent with the id of the answer that made them."""
    calls = [{"name": "get_weather", "arguments": json.dumps({"city": city})} for city in ("Bern", "Basel")]
    control({"toolCalls": calls}, {"text": "Sunny."})
    first = way(model, input="py tools", tools=[TOOL])
    results = [
        {"type": "function_call_output", "call_id": item.call_id, "output": f"result {index}"}
        for index, item in enumerate(first.output)
    ]
    second = way(model, input=results, previous_response_id=first.id, tools=[TOOL])
    asked = [json.loads(item.arguments)["city"] for item in first.output]
    return [asked, second.output_text, second.previous_response_id == first.id]


def parsed(model, way):
    """The SDK's own parsing into a pydantic model."""
    import pydantic

    class Person(pydantic.BaseModel):
        age: int

    control({"text": '{"age": 7}'})
    return client.responses.parse(model=model, input="py schema", text_format=Person).output_parsed.age


def kept(model, way):
    control({"text": "Grüße 🌍"})
    made = way(model, input="py words", metadata={"a": "b"})
    shown = client.responses.retrieve(made.id)
    items = client.responses.input_items.list(made.id)
    client.responses.delete(made.id)
    try:
        client.responses.retrieve(made.id)
    except openai.NotFoundError as error:
        return [shown.output_text, shown.metadata, [item.role for item in items], error.code]
    return None


def broken(model, way):
    control({"chunks": 10, "errorAfter": 3})
    text = ""
    try:
        for event in client.responses.create(model=model, input="py broken", stream=True):
            if event.type == "response.output_text.delta":
                text += event.delta
            assert event.type != "response.completed"
    except openai.APIError as error:
        return [text, error.code]
    return [text, None]


def refused(model, way):
    try:
        way(model, input="py words", background=True)
    except openai.BadRequestError as error:
        return [error.status_code, error.code, error.param]
    return None


results = {
    model: {
        scenario.__name__: [scenario(model, way) for way in (plainly, streamed)]
        for scenario in (loop, parsed, kept, broken, refused)
    }
    for model in MODELS
}
json.dump(results, sys.stdout)
