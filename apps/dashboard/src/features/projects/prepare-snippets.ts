export interface SnippetInput {
  /** The gateway's address, without a path. */
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
}

/** Ready-to-paste first requests. */
export function snippets({ url, apiKey, model }: SnippetInput) {
  return {
    curl: `curl ${url}/v1/chat/completions \\
  -H "Authorization: Bearer ${apiKey}" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello!"}]}'`,
    javascript: `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${url}/v1', apiKey: '${apiKey}' });
const answer = await client.chat.completions.create({
  model: '${model}',
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.choices[0].message.content);`,
    python: `from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key="${apiKey}")
answer = client.chat.completions.create(
    model="${model}",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
  } as const;
}
