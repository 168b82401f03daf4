"""Pictures, sound and verdicts through the official SDK; prints one JSON object: scenario -> what came of it."""

import base64
import io
import json
import os
import struct

import openai

client = openai.OpenAI(api_key=os.environ["GATEWAY_KEY"], base_url=os.environ["GATEWAY_URL"] + "/v1", max_retries=0)
IMAGES = "gpt-image-2"


def png():
    """One pixel."""
    return base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )


def wav():
    """A second of silence."""
    data = bytes(16_000)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, 8000, 16_000, 2, 16)
    head = struct.pack("<4sI4s", b"RIFF", 36 + len(data), b"WAVE") + form + struct.pack("<4sI", b"data", len(data))
    return ("second.wav", io.BytesIO(head + data), "audio/wav")


def pictures():
    whole = client.images.generate(model=IMAGES, prompt="a cat", size="1024x1024", n=2)
    stream = client.images.generate(model=IMAGES, prompt="a dog", size="1024x1024", stream=True, partial_images=2)
    types = [event.type.split(".")[-1] for event in stream]
    return [len(whole.data), whole.usage.output_tokens, types]


def edits():
    image = ("pixel.png", io.BytesIO(png()), "image/png")
    edited = client.images.edit(model=IMAGES, prompt="bluer", image=image, size="1024x1024")
    return [len(edited.data), base64.b64decode(edited.data[0].b64_json)[:4] == b"\x89PNG"]


def heard():
    plain = client.audio.transcriptions.create(model="gpt-4o-transcribe", file=wav())
    stream = client.audio.transcriptions.create(model="gpt-4o-transcribe", file=wav(), stream=True)
    events = list(stream)
    return [plain.text, "".join(one.delta for one in events if one.type == "transcript.text.delta"), events[-1].type]


def spoken():
    with client.audio.speech.with_streaming_response.create(model="tts-1", input="Hello", voice="alloy") as answer:
        kind = answer.headers["content-type"]
        return [kind, b"".join(answer.iter_bytes()).startswith(b"ID3 alloy: Hello")]


def judged():
    answer = client.moderations.create(model="omni-moderation-latest", input=["hello", "I kill you"])
    return [one.flagged for one in answer.results]


def refused():
    found = []
    for ask in (
        lambda: client.images.generate(model=IMAGES, prompt="x", n=99),
        lambda: client.audio.transcriptions.create(model="gpt-4o-transcribe", file=("a.txt", b"", "text/plain")),
        lambda: client.audio.speech.create(model="gpt-4o-mini", input="x", voice="alloy"),
    ):
        try:
            ask()
            found.append(None)
        except openai.BadRequestError as error:
            found.append([error.status_code, error.code, error.param])
    return found


print(json.dumps({one.__name__: one() for one in (pictures, edits, heard, spoken, judged, refused)}))
