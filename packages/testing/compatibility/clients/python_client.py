"""One official SDK asked by another process: a JSON question a line on stdin, JSON answers a line on stdout."""

import json
import os
import sys

API = sys.argv[1]
URL = os.environ["GATEWAY_URL"]
KEY = os.environ["GATEWAY_KEY"]
COMMON = json.loads(os.environ["COMMON"])
WEATHER, CITY_SCHEMA, MAX_TOKENS = COMMON["weather"], COMMON["citySchema"], COMMON["maxTokens"]
THINKING_TOKENS = 1024

# Earlier answers in the SDK's own form; the other process knows their places.
natives = []


class Left(Exception):
    """The program has seen enough of a stream."""


def say(value):
    print(json.dumps(value), flush=True)


def told(question):
    """Called with every piece of a stream."""

    def on_piece():
        say({"piece": True})
        if question["leaves"]:
            raise Left

    return on_piece


def reply(text, calls, reasoning, tokens, native):
    natives.append(native)
    return {"text": text, "calls": calls, "reasoning": reasoning, "totalTokens": tokens, "native": len(natives) - 1}


def call(id, name, args):
    return {"id": id, "name": name, "args": args}


class Messages:
    def __init__(self):
        import anthropic

        self.client = anthropic.Anthropic(api_key=KEY, base_url=URL, max_retries=0)

    def ask(self, question, on_piece):
        body = {
            "model": question["model"],
            "max_tokens": MAX_TOKENS,
            "messages": [self.message(turn) for turn in question["turns"]],
        }
        if question["tools"]:
            body["tools"] = [
                {"name": WEATHER["name"], "description": WEATHER["description"], "input_schema": WEATHER["schema"]}
            ]
        if question["structured"]:
            body["output_config"] = {"format": {"type": "json_schema", "schema": CITY_SCHEMA}}
        if question["reasoning"]:
            body["thinking"] = {"type": "enabled", "budget_tokens": THINKING_TOKENS}
        if not question["stream"]:
            return self.view(self.client.messages.create(**body))
        with self.client.messages.stream(**body) as stream:
            for event in stream:
                if event.type == "content_block_delta":
                    on_piece()
            return self.view(stream.get_final_message())

    def message(self, turn):
        if turn["role"] == "assistant":
            return {"role": "assistant", "content": natives[turn["native"]]}
        if turn["role"] == "tool":
            results = [
                {"type": "tool_result", "tool_use_id": one["id"], "content": one["text"]} for one in turn["results"]
            ]
            return {"role": "user", "content": results}
        if turn.get("imageBase64") is None:
            return {"role": "user", "content": turn["text"]}
        source = {"type": "base64", "media_type": "image/png", "data": turn["imageBase64"]}
        return {"role": "user", "content": [{"type": "image", "source": source}, {"type": "text", "text": turn["text"]}]}

    def view(self, message):
        blocks = message.content
        return reply(
            "".join(block.text for block in blocks if block.type == "text"),
            [call(block.id, block.name, block.input) for block in blocks if block.type == "tool_use"],
            "".join(block.thinking for block in blocks if block.type == "thinking"),
            message.usage.input_tokens + message.usage.output_tokens + (message.usage.cache_read_input_tokens or 0),
            blocks,
        )


class OpenAi:
    def __init__(self):
        import openai

        self.client = openai.OpenAI(api_key=KEY, base_url=URL + "/v1", max_retries=0)


class Chat(OpenAi):
    def ask(self, question, on_piece):
        body = {
            "model": question["model"],
            "messages": [message for turn in question["turns"] for message in self.messages(turn)],
        }
        if question["tools"]:
            function = {"name": WEATHER["name"], "description": WEATHER["description"], "parameters": WEATHER["schema"]}
            body["tools"] = [{"type": "function", "function": function}]
        if question["structured"]:
            json_schema = {"name": "city", "strict": True, "schema": CITY_SCHEMA}
            body["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        if question["reasoning"]:
            body["reasoning_effort"] = "medium"
        if not question["stream"]:
            return self.view(self.client.chat.completions.create(**body))
        reasoning = ""
        with self.client.chat.completions.stream(**body, stream_options={"include_usage": True}) as stream:
            for event in stream:
                if event.type != "chunk":
                    continue
                on_piece()
                for choice in event.chunk.choices:
                    reasoning += (choice.delta.model_extra or {}).get("reasoning_content") or ""
            return self.view(stream.get_final_completion(), reasoning)

    def messages(self, turn):
        if turn["role"] == "assistant":
            return [natives[turn["native"]]]
        if turn["role"] == "tool":
            return [{"role": "tool", "tool_call_id": one["id"], "content": one["text"]} for one in turn["results"]]
        if turn.get("imageBase64") is None:
            return [{"role": "user", "content": turn["text"]}]
        image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + turn["imageBase64"]}}
        return [{"role": "user", "content": [{"type": "text", "text": turn["text"]}, image]}]

    def view(self, completion, reasoning=None):
        message = completion.choices[0].message
        calls = [call(one.id, one.function.name, json.loads(one.function.arguments)) for one in message.tool_calls or []]
        thought = reasoning if reasoning is not None else (message.model_extra or {}).get("reasoning_content", "")
        native = {"role": "assistant", "content": message.content}
        if message.tool_calls:
            native["tool_calls"] = [
                one.model_dump(exclude={"index": True, "function": {"parsed_arguments": True}})
                for one in message.tool_calls
            ]
        return reply(message.content or "", calls, thought, completion.usage.total_tokens, native)


class Responses(OpenAi):
    def ask(self, question, on_piece):
        body = {
            "model": question["model"],
            "input": [item for turn in question["turns"] for item in self.items(turn)],
            "store": False,
        }
        if question["tools"]:
            body["tools"] = [
                {
                    "type": "function",
                    "name": WEATHER["name"],
                    "description": WEATHER["description"],
                    "parameters": WEATHER["schema"],
                    "strict": True,
                }
            ]
        if question["structured"]:
            body["text"] = {"format": {"type": "json_schema", "name": "city", "strict": True, "schema": CITY_SCHEMA}}
        if question["reasoning"]:
            body["reasoning"] = {"effort": "medium", "summary": "auto"}
        if not question["stream"]:
            return self.view(self.client.responses.create(**body))
        with self.client.responses.stream(**body) as stream:
            for event in stream:
                if event.type.endswith(".delta"):
                    on_piece()
                if event.type in ("error", "response.failed"):
                    raise RuntimeError(event.type)
            return self.view(stream.get_final_response())

    def items(self, turn):
        if turn["role"] == "assistant":
            return natives[turn["native"]]
        if turn["role"] == "tool":
            return [
                {"type": "function_call_output", "call_id": one["id"], "output": one["text"]} for one in turn["results"]
            ]
        if turn.get("imageBase64") is None:
            return [{"role": "user", "content": turn["text"]}]
        url = "data:image/png;base64," + turn["imageBase64"]
        image = {"type": "input_image", "image_url": url, "detail": "auto"}
        return [{"role": "user", "content": [{"type": "input_text", "text": turn["text"]}, image]}]

    def view(self, response):
        calls, thoughts = [], []
        for item in response.output:
            if item.type == "function_call":
                calls.append(call(item.call_id, item.name, json.loads(item.arguments)))
            if item.type == "reasoning":
                thoughts += [part.text for part in item.summary] + [part.text for part in item.content or []]
        # The stream's own helper adds what was parsed, which no request takes.
        native = [item.model_dump(exclude={"parsed_arguments"}, exclude_none=True) for item in response.output]
        return reply(response.output_text, calls, "".join(thoughts), response.usage.total_tokens, native)


class Embeddings(OpenAi):
    def ask(self, question, on_piece):
        settings = {} if question["dimensions"] is None else {"dimensions": question["dimensions"]}
        made = self.client.embeddings.create(model=question["model"], input=question["texts"], **settings)
        return [one.embedding for one in sorted(made.data, key=lambda one: one.index)]


client = {"messages": Messages, "chat": Chat, "responses": Responses, "embeddings": Embeddings}[API]()
for line in sys.stdin:
    question = json.loads(line)
    try:
        say({"reply": client.ask(question, told(question))})
    except Exception as error:  # told to the test, which knows what was to come
        say({"failure": f"{type(error).__name__}: {error}", "status": getattr(error, "status_code", None)})
