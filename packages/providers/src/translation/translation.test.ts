import { describe, expect, test } from 'bun:test';
import type { JsonObject, JsonValue } from '@llm0/core/chat/json';
import type { ChatMessage, ChatRequest, ToolCall } from '@llm0/core/chat/request';
import { runs } from '@llm0/testing/lane';
import fc from 'fast-check';
import { anthropic } from '../anthropic/index';
import { bedrock } from '../bedrock/index';
import { cohere } from '../cohere/index';
import { gemini } from '../gemini/index';
import type { Provider } from '../provider';
import { asObject, asObjects, asString } from './read-json';

/** What a conversation says, whatever its format: nothing of it may be lost or change its order. */
type Fact =
  | readonly ['system', string]
  | readonly ['user' | 'assistant', string]
  | readonly ['call', string, JsonValue]
  | readonly ['result', string];

/** Facts as the vendor would read them from the body. */
type ReadFacts = (body: JsonObject) => { readonly facts: Fact[]; readonly roles: string[] };

const readAnthropic: ReadFacts = (body) => ({
  roles: asObjects(body.messages).map((turn) => String(turn.role)),
  facts: [
    ...asObjects(body.system).map((block): Fact => ['system', String(block.text)]),
    ...asObjects(body.messages).flatMap((turn) =>
      asObjects(turn.content).map((block): Fact => {
        if (block.type === 'tool_use') return ['call', String(block.name), block.input ?? null];
        if (block.type === 'tool_result') return ['result', asString(block.content) ?? ''];
        return [turn.role === 'assistant' ? 'assistant' : 'user', String(block.text)];
      }),
    ),
  ],
});

const readGemini: ReadFacts = (body) => ({
  roles: asObjects(body.contents).map((turn) => String(turn.role)),
  facts: [
    ...asObjects(asObject(body.systemInstruction)?.parts).map((part): Fact => ['system', String(part.text)]),
    ...asObjects(body.contents).flatMap((turn) =>
      asObjects(turn.parts).map((part): Fact => {
        const call = asObject(part.functionCall);
        if (call !== undefined) return ['call', String(call.name), call.args ?? null];
        const response = asObject(asObject(part.functionResponse)?.response);
        if (response !== undefined) return ['result', String(response.output)];
        return [turn.role === 'model' ? 'assistant' : 'user', String(part.text)];
      }),
    ),
  ],
});

const readBedrock: ReadFacts = (body) => ({
  roles: asObjects(body.messages).map((turn) => String(turn.role)),
  facts: [
    ...asObjects(body.system).map((block): Fact => ['system', String(block.text)]),
    ...asObjects(body.messages).flatMap((turn) =>
      asObjects(turn.content).map((block): Fact => {
        const call = asObject(block.toolUse);
        if (call !== undefined) return ['call', String(call.name), call.input ?? null];
        const result = asObject(block.toolResult);
        if (result !== undefined) return ['result', String(asObjects(result.content)[0]?.text)];
        return [turn.role === 'assistant' ? 'assistant' : 'user', String(block.text)];
      }),
    ),
  ],
});

const readCohere: ReadFacts = (body) => {
  const messages = asObjects(body.messages);
  const textsOf = ({ content }: JsonObject) => asObjects(content).map(({ text }) => String(text));
  return {
    // Results and what the user says after them are one turn.
    roles: messages
      .filter(({ role }, i) => role !== 'system' && (role === 'assistant' || messages[i - 1]?.role !== 'tool'))
      .map(({ role }) => (role === 'assistant' ? 'assistant' : 'user')),
    facts: messages.flatMap((message): Fact[] => {
      const { role } = message;
      if (role === 'tool') return [['result', textsOf(message).join('')]];
      const plan = asString(message.tool_plan)?.split('\n') ?? [];
      const said = [...plan, ...textsOf(message)].map((words): Fact => [role as 'system' | 'user', words]);
      const calls = asObjects(message.tool_calls).map(({ function: called }): Fact => {
        const { name, arguments: args } = asObject(called) ?? {};
        return ['call', String(name), JSON.parse(String(args))];
      });
      return [...said, ...calls];
    }),
  };
};

/** Facts in the order in which vendors want them: system apart, results ahead of what else is in their turn. */
function expectedFacts(messages: readonly ChatMessage[]): Fact[] {
  const system: Fact[] = [];
  const turns: { assistant: boolean; facts: Fact[] }[] = [];
  for (const message of messages) {
    const texts = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
    if (message.role === 'system' || message.role === 'developer') {
      system.push(...texts.map((words): Fact => ['system', words]));
      continue;
    }
    const assistant = message.role === 'assistant';
    const calls = assistant ? (message.toolCalls ?? []) : [];
    const said =
      message.role === 'tool'
        ? [['result', texts.join('')] as const]
        : texts.map((words): Fact => [assistant ? 'assistant' : 'user', words]);
    const facts: Fact[] = [...said, ...calls.map((call): Fact => ['call', call.name, JSON.parse(call.arguments)])];
    const last = turns.at(-1);
    if (last?.assistant === assistant) last.facts.push(...facts);
    else turns.push({ assistant, facts });
  }
  const isResult = (fact: Fact) => fact[0] === 'result';
  return [
    ...system,
    ...turns.flatMap(({ facts }) => [...facts.filter(isResult), ...facts.filter((fact) => !isResult(fact))]),
  ];
}

const words = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }).map((text) => `w${text}w`);
const content = fc
  .array(words, { minLength: 1, maxLength: 3 })
  .map((texts) => texts.map((text) => ({ type: 'text' as const, text })));
const plainMessage = fc.record({
  role: fc.constantFrom('system' as const, 'developer' as const, 'user' as const),
  content,
});
const args = fc
  .dictionary(fc.string({ maxLength: 5 }), fc.oneof(fc.integer(), fc.string(), fc.boolean()))
  .map((value) => JSON.stringify(value));
const call = fc.record({ name: fc.stringMatching(/^[a-z_]{1,8}$/), arguments: args });

/** An assistant's turn with calls, followed by the result of each. */
const exchange = fc.record({ content: fc.oneof(content, fc.constant([])), calls: fc.array(call, { maxLength: 3 }) });

const conversation = fc
  .array(fc.oneof(plainMessage, exchange), { minLength: 1, maxLength: 8 })
  .map((steps): ChatMessage[] =>
    steps.flatMap((step, at): ChatMessage[] => {
      if ('role' in step) return [step];
      const toolCalls: ToolCall[] = step.calls.map((one, i) => ({ ...one, id: `call_${at}_${i}` }));
      return [
        { role: 'assistant', content: step.content, toolCalls },
        ...toolCalls.map(
          (one): ChatMessage => ({
            role: 'tool',
            toolCallId: one.id,
            content: [{ type: 'text', text: `result of ${one.id}` }],
          }),
        ),
      ];
    }),
  );

const VENDORS: readonly (readonly [Provider, ReadFacts])[] = [
  [anthropic, readAnthropic],
  [gemini, readGemini],
  [bedrock, readBedrock],
  [cohere, readCohere],
];

describe.each(VENDORS)('a conversation translated', (provider, readFacts) => {
  test(`for ${provider.name} keeps every turn's meaning and alternates`, () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        // A conversation of system messages alone is sent as the user's.
        fc.pre(expectedFacts(messages).some(([kind]) => kind !== 'system'));
        const request: ChatRequest = { model: 'm', messages, stream: false, extra: {} };
        const context = { connection: { baseUrl: 'https://h' }, model: 'm', dropParams: false };
        const { body, dropped } = provider.encodeRequest(request, context);
        const { facts, roles } = readFacts(JSON.parse(String(body)) as JsonObject);
        expect(facts).toEqual(expectedFacts(messages));
        for (const [i, role] of roles.entries()) expect(role).not.toBe(roles[i + 1] ?? '');
        expect(dropped).toEqual([]);
      }),
      { numRuns: runs(150) },
    );
  });
});
