// The model fails, or may not be called: the check throws, and its rule's `on_error` decides.
import type {
  CheckNeeds,
  ModelAnswer,
  ModelQuestion,
  ModerationAnswer,
} from '@llm0/core/guardrails/checks/check-needs';
import type { KnownPrincipal } from '@llm0/core/keys/key-cache';
import { resolveTargets } from '@llm0/core/routing/resolve-targets';
import type { Services } from './contract';
import { SeenKeys } from './seen-keys';

export type AnswerChat = (
  services: Services,
  request: Request,
  as: { readonly keyHash: string; readonly requestId: string },
) => Promise<Response>;

export interface AskModelNeeds {
  /** The services, once they are there. */
  readonly services: () => Services;
  /** Answers a chat request in OpenAI's format, as the key with this hash. */
  readonly answerChat: AnswerChat;
  /** Hash of an existing key; null if deleted. */
  readonly findKeyHash: (path: { readonly projectId: string; readonly id: string }) => Promise<string | null>;
}

type Asking = Pick<CheckNeeds, 'askModel' | 'moderate'>;
type Asked = Omit<ModelQuestion, 'system'> & { readonly system?: string };

/**
 * Asks models for guardrails as the checked request's key, so each question has its own row and cost. The key's
 * guardrails and model list don't apply.
 */
export function createAskModel({ services, answerChat, findKeyHash }: AskModelNeeds): Asking {
  const ask = async (
    { projectId, keyId, requestId, ...question }: Asked,
    signal: AbortSignal,
  ): Promise<ModelAnswer> => {
    const keyHash = await findKeyHash({ projectId, id: keyId });
    if (keyHash === null) throw new Error('the key is gone');
    const asking = asForChecks(services());
    const chosen = { keyHash, requestId: asking.createId() };
    // A check blocks its request, so it gets the time of a stream's start, not of a whole answer.
    const timeoutMs = asking.config.requestTimeoutMs;
    const request = requestFor({ ...question, timeoutMs }, requestId, signal);
    return readAnswer(await answerChat(asking, request, chosen));
  };
  return {
    askModel: ask,
    async moderate({ text, ...question }, signal) {
      if (!isModeration(services(), question)) return undefined;
      const answer = await ask({ ...question, user: text, maxOutputTokens: 1 }, signal);
      return { ...readVerdict(answer.text), costNanoUsd: answer.costNanoUsd };
    },
  };
}

function isModeration(
  { routing, connect }: Services,
  { model, projectId }: Pick<ModelQuestion, 'model' | 'projectId'>,
) {
  const [{ provider, model: name }] = resolveTargets(model, routing(), projectId).targets;
  return connect({ provider, model: name }, projectId)?.provider.moderates?.(name) === true;
}

type Sent = Omit<Asked, 'projectId' | 'keyId' | 'requestId'> & { readonly timeoutMs: number };

function requestFor(
  { model, system, user, maxOutputTokens, timeoutMs }: Sent,
  requestId: string,
  signal: AbortSignal,
): Request {
  const messages = [
    ...(system === undefined ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: user },
  ];
  return new Request('http://guardrail.invalid/v1/chat/completions', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-request-id': requestId,
      'x-llm0-cache': 'off',
      'x-llm0-drop-params': 'true',
      'x-llm0-guardrail-check': 'moderation',
      'x-llm0-timeout-ms': String(timeoutMs),
    },
    body: JSON.stringify({ model, messages, max_completion_tokens: maxOutputTokens }),
    signal,
  });
}

interface ChatAnswer {
  readonly choices?: readonly { readonly message?: { readonly content?: unknown } }[];
  readonly error?: { readonly message?: string };
}

const NANO_USD = 1e9;

async function readAnswer(response: Response): Promise<ModelAnswer> {
  const answer = (await response.json()) as ChatAnswer;
  if (!response.ok) throw new Error(answer.error?.message ?? `the model could not be asked: ${response.status}`);
  const content = answer.choices?.[0]?.message?.content;
  if (typeof content !== 'string') throw new Error('the model answered without text');
  const usd = Number(response.headers.get('x-cost-usd') ?? 0);
  return { text: content, costNanoUsd: Math.round(usd * NANO_USD) };
}

function readVerdict(text: string): Omit<ModerationAnswer, 'costNanoUsd'> {
  const { flagged, categories } = JSON.parse(text) as Partial<ModerationAnswer>;
  if (typeof flagged !== 'boolean' || !Array.isArray(categories))
    throw new Error('the moderation model gave no verdict');
  return { flagged, categories };
}

const known = new WeakMap<Services, Services>();

/** A guardrail's question isn't judged itself: it contains the text, and each would cause another one. */
function asForChecks(services: Services): Services {
  const made = known.get(services) ?? { ...services, keyCache: new SeenKeys(services.keyCache, unguarded) };
  known.set(services, made);
  return made;
}

function unguarded({ guardrails: _guardrails, key, ...rest }: KnownPrincipal): KnownPrincipal {
  const { modelsAbove: _models, modelsOfLevels: _ofLevels, providersAbove: _providers, ...own } = key;
  return { ...rest, key: { ...own, allowedModels: null, allowedProviders: null } };
}
