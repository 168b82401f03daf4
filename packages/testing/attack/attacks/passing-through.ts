// What native paths might reach beside what they are for.
import { HIDES_USAGE } from '../answers';
import type { Attack, AttackContext } from '../attack';
import type { HostileAnswer } from '../hostile-upstream';
import { HONEST } from '../hostile-upstream';
import { APIS, MAY_PASS_THROUGH } from './ask-with';

const SETTINGS = { perMinute: 1_000, project: MAY_PASS_THROUGH } as const;
const GENERATE = '/passthrough/gemini/v1beta/models/gemini-2.5-flash:generateContent';
const CHAT = '/passthrough/openai/v1/chat/completions';

/** Paths at which a vendor generates; everything else is the operator's account. */
const INFERENCE =
  /^(?:\/(?:groq|openrouter|deepseek|ollama))?\/(?:v1\/(?:chat\/completions|completions|responses|messages|messages\/count_tokens|embeddings)|v1(?:beta|alpha)?\/models\/[\w.-]+:\w+|api\/(?:chat|generate|embed|embeddings))$/;

/** What reached the vendor beside inference. */
function beyondInference({ upstream }: Pick<AttackContext, 'upstream'>): string | undefined {
  const found = upstream.calls.filter(({ method, path }) => {
    return method !== 'POST' || !INFERENCE.test(path.split('?')[0] ?? '');
  });
  return found.length === 0 ? undefined : `reached ${found.map(({ method, path }) => `${method} ${path}`).join(', ')}`;
}

/** Method and path of what is the operator's alone. */
const ADMINISTRATION: readonly (readonly [string, string])[] = [
  ['GET', 'openai/v1/files'],
  ['POST', 'openai/v1/files'],
  ['DELETE', 'openai/v1/files/file-1'],
  ['POST', 'openai/v1/fine_tuning/jobs'],
  ['GET', 'openai/v1/organization/users'],
  ['GET', 'openai/v1/organization/admin_api_keys'],
  ['DELETE', 'openai/v1/models/ft:gpt-4o-mini:acme'],
  ['GET', 'openai/v1/responses/resp_1'],
  ['DELETE', 'openai/v1/responses/resp_1'],
  ['GET', 'openai/v1/chat/completions'],
  ['POST', 'openai/v1/assistants'],
  ['POST', 'openai/v1/vector_stores'],
  ['POST', 'openai/v1/batches'],
  ['POST', 'openai/v1/realtime/sessions'],
  ['POST', 'openai/v1/containers'],
  ['POST', 'openai/v1/images/generations'],
  ['POST', 'openai/v1/audio/speech'],
  ['PUT', 'openai/v1/chat/completions'],
  ['POST', 'anthropic/v1/messages/batches'],
  ['GET', 'anthropic/v1/organizations/me'],
  ['POST', 'anthropic/v1/files'],
  ['DELETE', 'anthropic/v1/files/file_1'],
  ['GET', 'gemini/v1beta/files'],
  ['POST', 'gemini/upload/v1beta/files'],
  ['POST', 'gemini/v1beta/cachedContents'],
  ['POST', 'gemini/v1beta/models/gemini-2.5-flash:batchGenerateContent'],
  ['DELETE', 'gemini/v1beta/tunedModels/one'],
  ['POST', 'gemini/v1beta/tunedModels'],
  ['POST', 'ollama/api/pull'],
  ['POST', 'ollama/api/create'],
  ['POST', 'ollama/api/push'],
  ['POST', 'ollama/api/copy'],
  ['DELETE', 'ollama/api/delete'],
  ['POST', 'ollama/api/blobs/sha256:00'],
  ['GET', 'openrouter/v1/credits'],
  ['POST', 'openrouter/v1/keys'],
];

/** Paths that look like inference and lead elsewhere. */
const DISGUISED = [
  ...['v1/files/chat/completions', 'v1/fine_tuning/jobs/x/responses', 'v1/chat/completions/../../files'],
  ...[
    'v1/chat/completions/%2e%2e/%2e%2e/files',
    'v1/chat/completions/..%2f..%2ffiles',
    'v1/files%2f..%2fchat/completions',
  ],
  ...[
    'v1/organization/x/completions',
    '/v1/files',
    'v1//files',
    'v1/files;/chat/completions',
    'v1\\files',
    'v1/%66iles',
  ],
  ...['v1/files%3f/chat/completions', 'v1/files%23/chat/completions', 'v1/files%00/chat/completions', './/v1/files'],
  ...['@evil.test/v1/chat/completions', '..%2f..%2fv1/files', '%2e%2e/v1/files', 'v1/batches/x/embeddings'],
];

/** A vendor that leaves usage out where it is asked to. */
const OBEYS_MASKS: HostileAnswer = {
  ...HONEST,
  play: (wire, call) => {
    const isMasked =
      /[?&](?:fields|%24fields|\$|alt=(?!sse|json))/.test(call.path) || call.headers.has('x-goog-fieldmask');
    return (isMasked ? HIDES_USAGE : HONEST).play(wire, call);
  },
};
const MASKS = [
  '?fields=candidates',
  '?$fields=candidates',
  '?%24fields=candidates',
  '?$alt=proto',
  '?alt=media',
  '?Fields=candidates',
  '?fields=candidates&fields=usageMetadata',
  '?prettyPrint=false&fields=candidates',
];

export const PASSING_THROUGH: readonly Attack[] = [
  {
    name: 'passing through where it is not allowed',
    perMinute: 1_000,
    play: async ({ send, upstream }) => {
      await send(CHAT, { body: APIS.chat('x').body });
      await send(GENERATE, { body: APIS.gemini('x').body });
      await send('/passthrough/anthropic/v1/messages', { body: APIS.messages('x').body });
      return upstream.calls.length === 0 ? undefined : `${upstream.calls.length} requests were passed through`;
    },
  },
  {
    name: 'the operator’s account by native paths',
    ...SETTINGS,
    play: async (context) => {
      for (const [method, path] of ADMINISTRATION) {
        await context.send(`/passthrough/${path}`, {
          method,
          body: method === 'GET' ? undefined : APIS.chat('x').body,
        });
      }
      return beyondInference(context);
    },
  },
  {
    name: 'the operator’s account by paths in disguise',
    ...SETTINGS,
    play: async (context) => {
      const body = JSON.stringify(APIS.chat('x').body);
      for (const path of DISGUISED) {
        // By hand: a client library would clean it up.
        await context.send.raw(
          [`POST /passthrough/openai/${path} HTTP/1.1`, 'host: x', `authorization: Bearer ${context.key.apiKey}`].join(
            '\r\n',
          ) +
            `\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
        );
      }
      await Bun.sleep(500);
      return beyondInference(context);
    },
  },
  {
    name: 'masks that hide usage',
    ...{ ...SETTINGS, answer: () => OBEYS_MASKS },
    play: async ({ send }) => {
      const { body } = APIS.gemini('x');
      for (const path of [GENERATE, GENERATE.replace('/passthrough/gemini', '')]) {
        for (const mask of MASKS) await send(path + mask, { body });
        for (const name of ['x-goog-fieldmask', 'X-Goog-FieldMask', 'X-GOOG-FIELDMASK']) {
          await send(path, { body, headers: { [name]: 'candidates' } });
        }
      }
    },
  },
  {
    name: 'a body that says two things',
    ...{ ...SETTINGS, keySettings: { allowed_models: ['gpt-4o-mini'] } },
    play: async ({ send, upstream }) => {
      const rest = '"max_tokens":10,"messages":[{"role":"user","content":"x"}]}';
      for (const head of ['"model":"gpt-5.6","model":"gpt-4o-mini"', '"mod\\u0065l":"gpt-5.6","model":"gpt-4o-mini"']) {
        await send(CHAT, { body: `{${head},${rest}` });
        await send('/v1/chat/completions', { body: `{${head},${rest}` });
      }
      const got = upstream.calls.filter(({ text }) => text.includes('gpt-5.6'));
      return got.length === 0 ? undefined : `${got.length} bodies with two models reached the vendor`;
    },
  },
  {
    name: 'headers that choose the account',
    ...SETTINGS,
    play: async ({ send, upstream, key }) => {
      const headers = {
        ...{ 'OpenAI-Organization': 'org-else', 'OpenAI-Project': 'proj-else', 'X-Goog-User-Project': 'else' },
        ...{ 'X-Api-Key': key.apiKey, 'Api-Key': key.apiKey, 'X-Goog-Api-Key': key.apiKey, cookie: `a=${key.apiKey}` },
      };
      await send(CHAT, { body: APIS.chat('x').body, headers });
      await send(GENERATE, { body: APIS.gemini('x').body, headers });
      await send('/passthrough/anthropic/v1/messages', { body: APIS.messages('x').body, headers });
      await send('/v1/chat/completions', { body: APIS.chat('x').body, headers });
      const all = upstream.calls.flatMap(({ headers: got }) => [...got]);
      const leaked = all.find(([, value]) => value.includes(key.apiKey) || /^(?:org-|proj-)?else$/.test(value));
      return leaked === undefined ? undefined : `the vendor got the header ${leaked[0]}`;
    },
  },
];
