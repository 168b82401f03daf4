import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';
import type { FakeFormatName } from './render-answer';

/** Tools of which the request demands one to be called. */
interface Forced {
  /** Set where the request names it. */
  readonly name?: string;
  readonly offered: readonly Offered[];
}

interface Offered {
  readonly name: JsonValue | undefined;
  readonly schema: JsonValue | undefined;
}

const asObject = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
const asObjects = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.map(asObject) : []);

function demand(name: JsonValue | undefined, isAny: boolean, offered: readonly Offered[]): Forced | undefined {
  if (typeof name === 'string') return { name, offered };
  return isAny ? { offered } : undefined;
}

/** How each vendor is told that a tool must be called. */
const FORCED = {
  'openai-chat': ({ tool_choice: choice, tools }) => {
    const functions = asObjects(tools).map((tool) => asObject(tool.function));
    const offered = functions.map(({ name, parameters: schema }) => ({ name, schema }));
    return demand(asObject(asObject(choice).function).name, choice === 'required', offered);
  },
  'openai-responses': ({ tool_choice: choice, tools }) => {
    const functions = asObjects(tools).filter(({ type }) => type === 'function');
    const offered = functions.map(({ name, parameters: schema }) => ({ name, schema }));
    return demand(asObject(choice).name, choice === 'required', offered);
  },
  'anthropic-messages': ({ tool_choice: choice, tools }) =>
    claudeDemand(
      choice,
      asObjects(tools).map(({ name, input_schema: schema }) => ({ name, schema })),
    ),
  'gemini-content': ({ toolConfig, tools }) => {
    const { mode, allowedFunctionNames: allowed } = asObject(asObject(toolConfig).functionCallingConfig);
    const declared = asObjects(tools).flatMap((tool) => asObjects(tool.functionDeclarations));
    const offered = declared.map((one) => ({ name: one.name, schema: one.parametersJsonSchema ?? one.parameters }));
    const only = Array.isArray(allowed) && allowed.length === 1 ? allowed[0] : undefined;
    return demand(mode === 'ANY' ? only : undefined, mode === 'ANY', offered);
  },
  'cohere-chat': ({ tool_choice: choice, tools }) => {
    const functions = asObjects(tools).map((tool) => asObject(tool.function));
    const offered = functions.map(({ name, parameters: schema }) => ({ name, schema }));
    return demand(undefined, choice === 'REQUIRED', offered);
  },
  'openai-completions': () => undefined,
  'bedrock-converse': ({ toolConfig, additionalModelRequestFields: own }) => {
    const { toolChoice, tools } = asObject(toolConfig);
    const specs = asObjects(tools).map((tool) => asObject(tool.toolSpec));
    const offered = specs.map(({ name, inputSchema }) => ({ name, schema: asObject(inputSchema).json }));
    const { tool, any } = asObject(toolChoice);
    return demand(asObject(tool).name, any !== undefined, offered) ?? claudeDemand(asObject(own).tool_choice, offered);
  },
} as const satisfies Record<FakeFormatName, (body: JsonObject) => Forced | undefined>;

function claudeDemand(choice: JsonValue | undefined, offered: readonly Offered[]): Forced | undefined {
  const { type, name } = asObject(choice);
  return demand(type === 'tool' ? name : undefined, type === 'any', offered);
}

/** Vendors that end a call demanded by name as if it were the last word. */
const ENDS_AS_LAST_WORD: ReadonlySet<FakeFormatName> = new Set(['openai-chat']);

/**
 * A model that must call a tool does: what it would say, where that is JSON, are the arguments, for the first tool that
 * takes them. Any other request gets its behaviour as it was.
 */
export function withForcedTool(
  behaviour: FakeBehaviour | undefined,
  format: FakeFormatName,
  body: JsonObject,
): FakeBehaviour | undefined {
  const forced: Forced | undefined = FORCED[format](body);
  if (forced === undefined || behaviour?.toolCalls !== undefined || behaviour?.refusal !== undefined) return behaviour;
  const text = behaviour?.text?.startsWith('{') === true ? behaviour.text : '{}';
  const name = forced.name ?? chooseTool(forced.offered, asObject(JSON.parse(text) as JsonValue));
  if (name === undefined) return behaviour;
  const isLastWord = forced.name !== undefined && ENDS_AS_LAST_WORD.has(format);
  return { ...(isLastWord ? { finishReason: 'stop' } : {}), ...behaviour, toolCalls: [{ name, arguments: text }] };
}

function chooseTool(offered: readonly Offered[], given: JsonObject): string | undefined {
  const takes = ({ schema }: Offered) => {
    const { required } = asObject(schema);
    return !Array.isArray(required) || required.every((field) => String(field) in given);
  };
  const { name } = offered.find(takes) ?? offered[0] ?? {};
  return typeof name === 'string' ? name : undefined;
}
