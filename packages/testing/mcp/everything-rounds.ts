// Tools of the newest revision that ask for more before they answer. Source: SEP-2322 and its scenarios in the suite.
import { createHmac, randomBytes } from 'node:crypto';
import { type FixtureTool, form, type Json, logging, Refused, text } from './everything-tools';

const SECRET = randomBytes(16);
const sign = (state: string): string => `${state}.${createHmac('sha256', SECRET).update(state).digest('hex')}`;

function readState(params: Json): string | undefined {
  const { requestState } = params;
  if (typeof requestState !== 'string') return undefined;
  const state = requestState.slice(0, requestState.lastIndexOf('.'));
  if (sign(state) !== requestState) throw new Refused(-32602, 'The requestState is not what was given.');
  return state;
}

const NAME = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
const COLOR = { type: 'object', properties: { color: { type: 'string' } }, required: ['color'] };
const OK = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };
const CONTEXT = { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] };

const sampling = (said: string) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: said } }], maxTokens: 100 },
});
const ROOTS = { method: 'roots/list', params: {} };

const more = (inputRequests: Json, requestState?: string): Json => ({
  resultType: 'input_required',
  inputRequests,
  ...(requestState === undefined ? {} : { requestState: sign(requestState) }),
});

/** What the client answered to one question; undefined where it did not, or nonsense. */
function answerOf({ params }: { readonly params: Json }, name: string): Json | undefined {
  const responses = params.inputResponses as Json | undefined;
  const found = typeof responses === 'object' && responses !== null ? responses[name] : undefined;
  return typeof found === 'object' && found !== null ? (found as Json) : undefined;
}

const accepted = (answer: Json | undefined): Json | undefined =>
  answer?.action === 'accept' && typeof answer.content === 'object' ? (answer.content as Json) : undefined;

const NEEDS = { elicitation: 'elicitation/create', sampling: 'sampling/createMessage', roots: 'roots/list' } as const;

/** A server asks no client for what it says it cannot do. */
const asking = (needs: readonly (keyof typeof NEEDS)[], tool: FixtureTool): FixtureTool => ({
  ...tool,
  run: (context) => {
    const missing = needs.filter((name) => context.capabilities[name] === undefined);
    if (missing.length === 0) return tool.run(context);
    const requiredCapabilities = Object.fromEntries(missing.map((name) => [name, {}]));
    throw new Refused(-32021, `This tool asks the client: ${missing.join(', ')} is missing.`, { requiredCapabilities });
  },
});

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

export const ROUND_TOOLS: Readonly<Record<string, FixtureTool>> = {
  test_logging_tool: logging(({ _meta: meta }) => (meta as Json | undefined)?.[LOG_LEVEL] !== undefined),
  test_trigger_tool_change: { description: 'Says that tools changed', run: () => text('Said.') },
  test_trigger_prompt_change: { description: 'Says that prompts changed', run: () => text('Said.') },
  test_missing_capability: asking(['sampling'], { description: 'Needs a model', run: () => text('It has one.') }),
  test_streaming_elicitation: {
    description: 'Tells how far it is, and asks then',
    isStream: true,
    run: ({ notify, params, capabilities }) => {
      const progressToken = (params._meta as Json | undefined)?.progressToken;
      if (progressToken !== undefined) notify('notifications/progress', { progressToken, progress: 1 });
      if (capabilities.elicitation === undefined) return text('Nobody to ask.');
      return more({ user_name: form('What is your name?', NAME) });
    },
  },
  test_input_required_result_elicitation: asking(['elicitation'], {
    description: 'Asks for a name',
    run: (context) => {
      const name = accepted(answerOf(context, 'user_name'))?.name;
      return typeof name === 'string' ? text(`Hello, ${name}!`) : more({ user_name: form('What is your name?', NAME) });
    },
  }),
  test_input_required_result_sampling: asking(['sampling'], {
    description: 'Asks a model',
    run: (context) => {
      const content = answerOf(context, 'capital_question')?.content as Json | undefined;
      return content === undefined
        ? more({ capital_question: sampling('What is the capital of France?') })
        : text(String(content.text));
    },
  }),
  test_input_required_result_list_roots: asking(['roots'], {
    description: 'Asks for roots',
    run: (context) => {
      const roots = answerOf(context, 'client_roots')?.roots;
      return Array.isArray(roots) ? text(`Roots: ${JSON.stringify(roots)}`) : more({ client_roots: ROOTS });
    },
  }),
  test_input_required_result_request_state: asking(['elicitation'], {
    description: 'Keeps its state with the client',
    run: (context) => {
      const isBack = readState(context.params) === 'one' && answerOf(context, 'confirm') !== undefined;
      return isBack ? text('state-ok') : more({ confirm: form('Please confirm', OK) }, 'one');
    },
  }),
  test_input_required_result_tampered_state: asking(['elicitation'], {
    description: 'Notices when its state is changed',
    run: (context) => {
      const isBack = readState(context.params) === 'safe';
      return isBack ? text('state-ok') : more({ confirm: form('Please confirm', OK) }, 'safe');
    },
  }),
  test_input_required_result_multiple_inputs: asking(['elicitation', 'sampling', 'roots'], {
    description: 'Asks for three things at once',
    run: (context) => {
      const names = ['user_name', 'greeting', 'client_roots'];
      const isBack = readState(context.params) === 'many' && names.every((name) => answerOf(context, name));
      if (isBack) return text('All three are here.');
      const asked = { user_name: form('What is your name?', NAME), greeting: sampling('Generate a greeting') };
      return more({ ...asked, client_roots: ROOTS }, 'many');
    },
  }),
  test_input_required_result_multi_round: asking(['elicitation'], {
    description: 'Asks twice',
    run: (context) => {
      const state = readState(context.params);
      if (state === 'step-2' && accepted(answerOf(context, 'step2'))) return text('Both steps are done.');
      if (state === 'step-1' && accepted(answerOf(context, 'step1'))) {
        return more({ step2: form('Step 2: What is your favorite color?', COLOR) }, 'step-2');
      }
      return more({ step1: form('Step 1: What is your name?', NAME) }, 'step-1');
    },
  }),
  test_input_required_result_capabilities: {
    description: 'Asks only for what the client can do',
    run: ({ capabilities }) => {
      const asked = {
        ...(capabilities.elicitation === undefined ? {} : { name: form('What is your name?', NAME) }),
        ...(capabilities.sampling === undefined ? {} : { greeting: sampling('Generate a greeting') }),
      };
      return Object.keys(asked).length === 0 ? text('Nothing to ask.') : more(asked);
    },
  },
};

/** The prompt that asks first. */
export const askingPrompt = (params: Json): Json => {
  const context = accepted(answerOf({ params }, 'user_context'))?.context;
  if (typeof context !== 'string') {
    return more({ user_context: form('What context should the prompt use?', CONTEXT) });
  }
  return { messages: [{ role: 'user', content: { type: 'text', text: `In the context of ${context}` } }] };
};
