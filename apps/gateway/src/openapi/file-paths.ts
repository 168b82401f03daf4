import {
  answers,
  arrayOf,
  COUNT,
  FLAG,
  nullable,
  OBJECT,
  type Operation,
  oneOfTexts,
  openObject,
  type Part,
  type Paths,
  schemaRef,
  TEXT,
} from './document-parts';

const idOf = (name: string, description: string): Part => ({
  ...{ name, in: 'path', required: true, schema: TEXT, description },
});
const FILE_ID = idOf('file_id', "A file's id");
const BATCH_ID = idOf('batch_id', "A batch's id");
const query = (name: string, description: string, schema: Part = TEXT): Part => ({
  ...{ name, in: 'query', required: false, schema, description },
});
const PAGE = [
  query('limit', 'Rows of a page', COUNT),
  query('after', 'Id of the row before'),
  query('order', 'asc or desc'),
];

const files = (operation: Omit<Operation, 'tag'>): Operation => ({ tag: 'files', ...operation });
const messages = (operation: Omit<Operation, 'tag' | 'error'>): Operation =>
  files({ ...operation, error: 'MessagesError' });
const BYTES = { ...answers('FileContent', 'The bytes'), type: 'application/octet-stream' };
const RESULTS = { ...answers('FileContent', 'A result for each request'), type: 'application/x-jsonl' };
const ONE_FILE = { parameters: [FILE_ID] };
const ONE_BATCH = { parameters: [BATCH_ID] };

/** Files and batches of requests. */
export const FILE_PATHS: Paths = {
  '/v1/files': {
    post: files({
      ...{
        id: 'createFile',
        summary: "Upload a file, up to 512 MiB; with `anthropic-version` in Anthropic's format",
        body: schemaRef('FileUpload'),
        isForm: true,
      },
      answer: answers('File', 'The file'),
    }),
    get: files({
      ...{ id: 'listFiles', summary: "List the project's files" },
      ...{ parameters: [...PAGE, query('purpose', 'Only of this purpose')], answer: answers('FileList', 'Files') },
    }),
  },
  '/v1/files/{file_id}': {
    get: files({ ...ONE_FILE, id: 'getFile', summary: 'Show a file', answer: answers('File', 'The file') }),
    delete: files({ ...ONE_FILE, id: 'deleteFile', summary: 'Delete a file', answer: answers('Deleted', 'Done') }),
  },
  '/v1/files/{file_id}/content': {
    get: files({ ...ONE_FILE, id: 'getFileContent', summary: 'Read the bytes of a file', answer: BYTES }),
  },
  '/v1/batches': {
    post: files({
      ...{ id: 'createBatch', summary: 'Run a file of requests', body: schemaRef('BatchRequest') },
      answer: answers('Batch', 'The batch'),
    }),
    get: files({
      ...{ id: 'listBatches', summary: "List the project's batches", parameters: PAGE },
      answer: answers('BatchList', 'Batches'),
    }),
  },
  '/v1/batches/{batch_id}': {
    get: files({ ...ONE_BATCH, id: 'getBatch', summary: 'Show a batch', answer: answers('Batch', 'The batch') }),
  },
  '/v1/batches/{batch_id}/cancel': {
    post: files({ ...ONE_BATCH, id: 'cancelBatch', summary: 'Cancel a batch', answer: answers('Batch', 'The batch') }),
  },
  '/v1/messages/batches': {
    post: messages({
      ...{
        id: 'createMessageBatch',
        summary: "Run requests in Anthropic's format",
        body: schemaRef('MessageBatchRequest'),
      },
      answer: answers('MessageBatch', 'The batch'),
    }),
    get: messages({
      ...{ id: 'listMessageBatches', summary: "List the project's message batches" },
      parameters: [
        query('limit', 'Rows of a page', COUNT),
        query('after_id', 'Older ones'),
        query('before_id', 'Newer ones'),
      ],
      answer: answers('MessageBatchList', 'Batches'),
    }),
  },
  '/v1/messages/batches/{batch_id}': {
    get: messages({
      ...{ ...ONE_BATCH, id: 'getMessageBatch', summary: 'Show a message batch' },
      answer: answers('MessageBatch', 'The batch'),
    }),
    delete: messages({
      ...{ ...ONE_BATCH, id: 'deleteMessageBatch', summary: 'Delete an ended message batch' },
      answer: answers('Deleted', 'Done'),
    }),
  },
  '/v1/messages/batches/{batch_id}/cancel': {
    post: messages({
      ...{ ...ONE_BATCH, id: 'cancelMessageBatch', summary: 'Cancel a message batch' },
      answer: answers('MessageBatch', 'The batch'),
    }),
  },
  '/v1/messages/batches/{batch_id}/results': {
    get: messages({ ...ONE_BATCH, id: 'getMessageBatchResults', summary: 'Read the results', answer: RESULTS }),
  },
};

const pageOf = (schema: string): Part => openObject({ data: arrayOf(schemaRef(schema)), has_more: FLAG }, ['data']);

/** Schemas of files and batches. */
export const FILE_SCHEMAS: Part = {
  FileUpload: openObject(
    {
      file: { type: 'string', format: 'binary' },
      purpose: oneOfTexts('assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals'),
      'expires_after[anchor]': oneOfTexts('created_at'),
      'expires_after[seconds]': { type: 'integer', minimum: 3600, maximum: 2_592_000 },
    },
    ['file', 'purpose'],
  ),
  File: openObject(
    {
      ...{ id: TEXT, object: oneOfTexts('file'), bytes: COUNT, created_at: COUNT, expires_at: nullable('integer') },
      ...{ filename: TEXT, purpose: TEXT, status: TEXT },
    },
    ['id', 'object', 'bytes', 'created_at', 'filename', 'purpose'],
  ),
  FileList: pageOf('File'),
  FileContent: { type: 'string', format: 'binary' },
  Deleted: openObject({ id: TEXT }, ['id']),
  BatchRequest: openObject(
    {
      input_file_id: { ...TEXT, description: 'A file with the purpose `batch`: a request on each line' },
      endpoint: { ...TEXT, description: 'Path that all lines name' },
      completion_window: oneOfTexts('24h'),
      ...{ metadata: OBJECT, output_expires_after: OBJECT },
    },
    ['input_file_id', 'endpoint', 'completion_window'],
  ),
  Batch: openObject(
    {
      ...{ id: TEXT, object: oneOfTexts('batch'), endpoint: TEXT, status: TEXT, input_file_id: TEXT },
      ...{
        output_file_id: nullable('string'),
        error_file_id: nullable('string'),
        request_counts: OBJECT,
        usage: OBJECT,
      },
    },
    ['id', 'object', 'endpoint', 'status', 'request_counts'],
  ),
  BatchList: pageOf('Batch'),
  MessageBatchRequest: openObject({ requests: arrayOf(openObject({ custom_id: TEXT, params: OBJECT })) }, ['requests']),
  MessageBatch: openObject(
    {
      ...{ id: TEXT, type: oneOfTexts('message_batch'), processing_status: TEXT, request_counts: OBJECT },
      results_url: nullable('string'),
    },
    ['id', 'type', 'processing_status', 'request_counts'],
  ),
  MessageBatchList: pageOf('MessageBatch'),
};
