import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { FakeBehaviour } from './behaviour';
import type { FakeFormatName } from './render-answer';

/** A tool that the request demands to be called. */
interface Forced {
  readonly name: string;
  /** Named by the request, rather than any of those on offer. */
  readonly byName: boolean;
}

const asObject = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
const asObjects = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.map(asObject) : []);
const asText = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined);

function pick(named: JsonValue | undefined, isAny: boolean, offered: readonly (JsonValue | undefined)[]) {
  const name = asText(named);
  if (name !== undefined) return { name, byName: true };
  const first = isAny ? offered.map(asText).find((one) => one !== undefined) : undefined;
  return first === undefined ? undefined : { name: first, byName: false };
}

/** How each vendor is told that a tool must be called. */
const FORCED = {
  'openai-chat': ({ tool_choice: choice, tools }) => {
    const names = asObjects(tools).map((tool) => asObject(tool.function).name);
    return pick(asObject(asObject(choice).function).name, choice === 'required', names);
  },
  'openai-responses': ({ tool_choice: choice, tools }) => {
    const names = asObjects(tools).map((tool) => (tool.type === 'function' ? tool.name : undefined));
    return pick(asObject(choice).name, choice === 'required', names);
  },
  'anthropic-messages': ({ tool_choice: choice, tools }) => claudeChoice(choice, asObjects(tools)),
  'gemini-content': ({ toolConfig, tools }) => {
    const { mode, allowedFunctionNames: allowed } = asObject(asObject(toolConfig).functionCallingConfig);
    const declared = asObjects(tools).flatMap((tool) => asObjects(tool.functionDeclarations));
    const names = Array.isArray(allowed) ? allowed : declared.map(({ name }) => name);
    return pick(mode === 'ANY' && names.length === 1 ? names[0] : undefined, mode === 'ANY', names);
  },
  'bedrock-converse': ({ toolConfig, additionalModelRequestFields: own }) => {
    const { toolChoice, tools } = asObject(toolConfig);
    const specs = asObjects(tools).map((tool) => asObject(tool.toolSpec));
    const choice = asObject(toolChoice);
    const isAny = choice.any !== undefined;
    return (
      pick(
        asObject(choice.tool).name,
        isAny,
        specs.map(({ name }) => name),
      ) ?? claudeChoice(asObject(own).tool_choice, specs)
    );
  },
} as const satisfies Record<FakeFormatName, (body: JsonObject) => Forced | undefined>;

function claudeChoice(choice: JsonValue | undefined, tools: readonly JsonObject[]): Forced | undefined {
  const { type, name } = asObject(choice);
  return pick(
    type === 'tool' ? name : undefined,
    type === 'any',
    tools.map((tool) => tool.name),
  );
}

/** Vendors that end a call demanded by name as if it were the last word. */
const ENDS_AS_LAST_WORD: ReadonlySet<FakeFormatName> = new Set(['openai-chat']);

/**
 * A model that must call a tool does: what it would say, where that is JSON, are the arguments. The behaviour as it was
 * for any other request.
 */
export function withForcedTool(
  behaviour: FakeBehaviour | undefined,
  format: FakeFormatName,
  body: JsonObject,
): FakeBehaviour | undefined {
  const forced: Forced | undefined = FORCED[format](body);
  if (forced === undefined || behaviour?.toolCalls !== undefined || behaviour?.refusal !== undefined) return behaviour;
  const text = behaviour?.text ?? '';
  const call = { name: forced.name, arguments: text.startsWith('{') ? text : '{}' };
  const finish = forced.byName && ENDS_AS_LAST_WORD.has(format) ? { finishReason: 'stop' } : {};
  return { ...finish, ...behaviour, toolCalls: [call] };
}
