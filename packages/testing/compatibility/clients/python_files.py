"""Files and batches by the official SDK: prints what it saw as JSON."""

import io
import json
import os
import time

import openai

client = openai.OpenAI(
    base_url=os.environ["GATEWAY_URL"] + "/v1",
    api_key=os.environ["GATEWAY_KEY"],
    max_retries=0,
)
MODEL = os.environ["MODEL"]
PDF = b"%PDF-1.7\n\x00\x01 and more"


def line(index):
    body = {
        "model": MODEL,
        "max_tokens": 20,
        "messages": [{"role": "user", "content": f"hello {index}"}],
    }
    return {
        "custom_id": f"line-{index}",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": body,
    }


def status_of(call):
    try:
        call()
    except openai.APIStatusError as error:
        return [error.status_code, type(error).__name__]
    return [200, None]


pdf = client.files.create(
    file=("report.pdf", io.BytesIO(PDF)),
    purpose="user_data",
    expires_after={"anchor": "created_at", "seconds": 3600},
)
answer = client.chat.completions.create(
    model=MODEL,
    max_tokens=20,
    messages=[
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "read this"},
                {"type": "file", "file": {"file_id": pdf.id}},
            ],
        }
    ],
)
content = client.files.content(pdf.id).read()

lines = "\n".join(json.dumps(line(index)) for index in range(3))
source = client.files.create(
    file=("input.jsonl", lines.encode()), purpose="batch"
)
batch = client.batches.create(
    input_file_id=source.id,
    endpoint="/v1/chat/completions",
    completion_window="24h",
    metadata={"name": "python"},
)
while batch.status not in ("completed", "failed", "expired", "cancelled"):
    time.sleep(0.1)
    batch = client.batches.retrieve(batch.id)
output = client.files.content(batch.output_file_id).text
results = [json.loads(one) for one in output.splitlines()]

seen = {
    "file": [pdf.filename, pdf.bytes, pdf.purpose, pdf.expires_at - pdf.created_at],
    "same_content": content == PDF,
    "said": answer.choices[0].message.content,
    "listed": sorted(one.filename for one in client.files.list(purpose="batch")),
    "status": batch.status,
    "counts": batch.request_counts.model_dump(),
    "metadata": batch.metadata,
    "tokens": batch.usage.total_tokens if batch.usage else None,
    "results": sorted(
        [one["custom_id"], one["response"]["status_code"]] for one in results
    ),
    "batches": [one.id == batch.id for one in client.batches.list()],
    "deleted": client.files.delete(pdf.id).deleted,
    "gone": status_of(lambda: client.files.retrieve(pdf.id)),
    "broken": status_of(
        lambda: client.batches.create(
            input_file_id="file-" + "0" * 32,
            endpoint="/v1/chat/completions",
            completion_window="24h",
        )
    ),
}
print(json.dumps(seen))
