import { MEDIA_PATHS, type MediaKind } from './media';

export interface CodeInput {
  /** The gateway's address, without a path. */
  readonly url: string;
  readonly model: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Absent for chat. */
  readonly media?: MediaKind | undefined;
}

/** Never the key itself: users paste copied code into chats and tickets. */
const KEY = '$LLM0_API_KEY';

/** Put together, so that it does not read as this page's own. */
const NODE_KEY = ['process', 'env', 'LLM0_API_KEY'].join('.');

/** The request as an application would send it, ready to paste. */
export function prepareCode({ url, model, body, headers, media }: CodeInput) {
  const whole = { model, ...body };
  const call = media === undefined ? chatCall(body.stream === true) : MEDIA_CALLS[media];
  return {
    curl: curl(`${url}/v1/${call.path}`, { body: whole, headers, call }),
    python: python(url, { body: whole, headers, call }),
    typescript: typescript(url, { body: whole, headers, call }),
  };
}

type Json = Readonly<Record<string, unknown>>;

/** A call of the official clients, and the lines that show its answer. */
interface Call {
  readonly path: string;
  readonly curlEnd?: string;
  readonly python: string;
  readonly showPython: string;
  readonly typescript: string;
  readonly showTypescript: string;
}

const MEDIA_CALLS: Readonly<Record<MediaKind, Call>> = {
  image: {
    path: MEDIA_PATHS.image,
    python: 'images.generate',
    showPython: 'import base64\nopen("image.png", "wb").write(base64.b64decode(answer.data[0].b64_json))',
    typescript: 'images.generate',
    showTypescript: "await Bun.write('image.png', Buffer.from(answer.data?.[0]?.b64_json ?? '', 'base64'));",
  },
  speech: {
    path: MEDIA_PATHS.speech,
    curlEnd: ' \\\n  --output speech.mp3',
    python: 'audio.speech.create',
    showPython: 'answer.write_to_file("speech.mp3")',
    typescript: 'audio.speech.create',
    showTypescript: "await Bun.write('speech.mp3', answer);",
  },
};

const chatCall = (isStream: boolean): Call => ({
  ...{ path: 'chat/completions', python: 'chat.completions.create', typescript: 'chat.completions.create' },
  showPython: isStream
    ? 'for chunk in answer:\n    if chunk.choices and chunk.choices[0].delta.content:\n        print(chunk.choices[0].delta.content, end="", flush=True)'
    : 'print(answer.choices[0].message)',
  showTypescript: isStream
    ? "for await (const chunk of answer) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');"
    : 'console.log(answer.choices[0]?.message);',
});

interface Rendered {
  readonly body: Json;
  readonly headers: Json;
  readonly call: Call;
}

function curl(url: string, { body, headers, call }: Rendered): string {
  const own = Object.entries(headers).map(([name, value]) => `  -H ${shell(`${name}: ${value}`)} \\\n`);
  return (
    `curl ${shell(url)} \\\n  -H "Authorization: Bearer ${KEY}" \\\n` +
    `  -H 'Content-Type: application/json' \\\n${own.join('')}  -d ${shell(JSON.stringify(body, null, 2))}${call.curlEnd ?? ''}`
  );
}

/** One word for a POSIX shell. */
const shell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Named arguments of the Python client; others go to `extra_body`. */
const KNOWN = new Set(
  (
    'model messages temperature top_p max_tokens max_completion_tokens stop seed frequency_penalty presence_penalty ' +
    'reasoning_effort response_format tools tool_choice parallel_tool_calls stream stream_options n user logit_bias ' +
    'logprobs top_logprobs metadata modalities prediction service_tier store verbosity prompt input voice'
  ).split(' '),
);

function python(url: string, { body, headers, call }: Rendered): string {
  const known = Object.entries(body).filter(([name]) => KNOWN.has(name));
  const extra = Object.fromEntries(Object.entries(body).filter(([name]) => !KNOWN.has(name)));
  const lines = known.map(([name, value]) => `    ${name}=${literal(value, '    ')},`);
  if (Object.keys(extra).length > 0) lines.push(`    extra_body=${literal(extra, '    ')},`);
  if (Object.keys(headers).length > 0) lines.push(`    extra_headers=${literal(headers, '    ')},`);
  return `import os

from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(`${url}/v1`)}, api_key=os.environ["LLM0_API_KEY"])
answer = client.${call.python}(
${lines.join('\n')}
)
${call.showPython}`;
}

const WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };

/** JSON as Python writes it. */
function literal(value: unknown, indent: string): string {
  const inner = `${indent}    `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((one) => `${inner}${literal(one, inner)},`).join('\n')}\n${indent}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return '{}';
    const rows = entries.map(([name, one]) => `${inner}${JSON.stringify(name)}: ${literal(one, inner)},`);
    return `{\n${rows.join('\n')}\n${indent}}`;
  }
  const json = JSON.stringify(value);
  return WORDS[json] ?? json;
}

function typescript(url: string, { body, headers, call }: Rendered): string {
  const options = Object.keys(headers).length === 0 ? '' : `, { headers: ${JSON.stringify(headers)} }`;
  return `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${JSON.stringify(`${url}/v1`)}, apiKey: ${NODE_KEY} });
const answer = await client.${call.typescript}(${JSON.stringify(body, null, 2)}${options});
${call.showTypescript}`;
}
