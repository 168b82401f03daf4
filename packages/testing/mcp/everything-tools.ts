// What the official conformance suite expects of a server: names and texts are the suite's own.

export type Json = Record<string, unknown>;

/** One call, as a tool of the fixture sees it. */
export interface ToolContext {
  readonly args: Json;
  readonly params: Json;
  readonly capabilities: Json;
  notify(method: string, params: Json): void;
  /** Asks the client mid-call; servers with sessions only. */
  ask(method: string, params: Json): Promise<Json>;
}

export interface FixtureTool {
  readonly description: string;
  readonly inputSchema?: Json;
  /** Its answer is a stream. */
  readonly isStream?: true;
  run(context: ToolContext): Json | Promise<Json>;
}

/** The server refuses the request itself. */
export class Refused extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data?: Json,
  ) {
    super(message);
  }
}

const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const AUDIO = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
export const IMAGE_PART = { type: 'image', data: IMAGE, mimeType: 'image/png' };
export const text = (said: string): Json => ({ content: [{ type: 'text', text: said }] });

const properties = (more: Json, required: readonly string[] = []) => ({ type: 'object', properties: more, required });

export const form = (message: string, requestedSchema: Json) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema, mode: 'form' },
});

const ENUMS = {
  untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
  titledSingle: {
    type: 'string',
    oneOf: [1, 2, 3].map((n) => ({ const: `value${n}`, title: `Option ${n}` })),
  },
  legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
  untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
  titledMulti: {
    type: 'array',
    items: { anyOf: [1, 2, 3].map((n) => ({ const: `value${n}`, title: `Choice ${n}` })) },
  },
};
const DEFAULTS = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
};

const elicit = (message: string, schema: Json, said: string): FixtureTool => ({
  description: message,
  isStream: true,
  run: async ({ ask }) => {
    const { action, content } = await ask('elicitation/create', { message, requestedSchema: schema, mode: 'form' });
    return text(`${said}: action=${action}, content=${JSON.stringify(content ?? {})}`);
  },
});

/** Tools of both revisions. */
export const SHARED_TOOLS: Readonly<Record<string, FixtureTool>> = {
  test_simple_text: {
    description: 'Says one line',
    run: () => text('This is a simple text response for testing.'),
  },
  test_image_content: { description: 'Shows a picture', run: () => ({ content: [IMAGE_PART] }) },
  test_audio_content: {
    description: 'Plays a sound',
    run: () => ({ content: [{ type: 'audio', data: AUDIO, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    description: 'Gives a resource',
    run: () => ({
      content: [
        {
          type: 'resource',
          resource: {
            uri: 'test://embedded-resource',
            mimeType: 'text/plain',
            text: 'This is an embedded resource content.',
          },
        },
      ],
    }),
  },
  test_multiple_content_types: {
    description: 'Gives three kinds of content',
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        IMAGE_PART,
        {
          type: 'resource',
          resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"test":"data"}' },
        },
      ],
    }),
  },
  test_tool_with_progress: {
    description: 'Tells how far it is',
    isStream: true,
    run: async ({ params, notify }) => {
      const progressToken = (params._meta as Json | undefined)?.progressToken;
      for (const progress of [0, 50, 100]) {
        if (progressToken !== undefined) notify('notifications/progress', { progressToken, progress, total: 100 });
        await Bun.sleep(20);
      }
      return text('It is done.');
    },
  },
  test_error_handling: {
    description: 'Fails',
    run: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  },
  echo_region: {
    description: 'Takes an argument that goes into a header as well',
    inputSchema: properties({ region: { type: 'string', 'x-mcp-header': 'Region' } }),
    run: ({ args }) => text(`region: ${args.region}`),
  },
  json_schema_2020_12_tool: {
    description: 'Has a schema with all that the dialect allows',
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: {
          $anchor: 'addressDef',
          type: 'object',
          properties: { street: { type: 'string' }, city: { type: 'string' } },
        },
      },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of the dialect
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
    run: () => text('It fits.'),
  },
};

/** A tool that logs one line. */
export const logging = (isWanted: (params: Json) => boolean): FixtureTool => ({
  description: 'Logs one line',
  isStream: true,
  run: ({ params, notify }) => {
    if (isWanted(params)) notify('notifications/message', { level: 'info', data: 'One line' });
    return text('It is done.');
  },
});

/** Of servers with sessions. */
export const LEGACY_TOOLS: Readonly<Record<string, FixtureTool>> = {
  test_logging_tool: logging(() => true),
  test_tool_with_logging: {
    description: 'Logs while it works',
    isStream: true,
    run: async ({ notify }) => {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        notify('notifications/message', { level: 'info', data });
        await Bun.sleep(20);
      }
      return text('Tool with logging executed successfully');
    },
  },
  test_sampling: {
    description: 'Asks the model of the client',
    isStream: true,
    inputSchema: properties({ prompt: { type: 'string' } }, ['prompt']),
    run: async ({ args, ask }) => {
      const messages = [{ role: 'user', content: { type: 'text', text: args.prompt } }];
      const { content } = await ask('sampling/createMessage', { messages, maxTokens: 100 });
      return text(`LLM response: ${(content as Json | undefined)?.text}`);
    },
  },
  test_elicitation: {
    description: 'Asks the user',
    isStream: true,
    inputSchema: properties({ message: { type: 'string' } }, ['message']),
    run: async ({ args, ask }) => {
      const requestedSchema = properties({ response: { type: 'string' } }, ['response']);
      const { action, content } = await ask('elicitation/create', {
        message: args.message,
        requestedSchema,
        mode: 'form',
      });
      return text(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`);
    },
  },
  test_elicitation_sep1034_defaults: elicit(
    'Please review and update the form fields with defaults',
    properties(DEFAULTS),
    'Elicitation completed',
  ),
  test_elicitation_sep1330_enums: elicit(
    'Please select options from the enum fields',
    properties(ENUMS),
    'Elicitation completed',
  ),
};
