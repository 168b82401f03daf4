import type { JsonObject, WireFormat } from '@llm0/core/chat/json';
import { errorStatus } from '@llm0/core/errors/error-table';
import type { GatewayError } from '@llm0/core/errors/gateway-error';
import { anthropicMessages } from './anthropic-messages/index';
import type { ErrorEnvelope } from './dialect';
import { encodeErrorDetails } from './encode-error-details';
import { openaiChat } from './openai-chat/index';

/** Source: https://cloud.google.com/apis/design/errors#error_model */
const GOOGLE_STATUS: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function encodeGoogleError(error: GatewayError): string {
  const code = errorStatus(error);
  const { retry_after: seconds, ...metadata } = encodeErrorDetails(error);
  const info: JsonObject = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: error.kind.toUpperCase(),
    domain: 'llm0',
    metadata,
  };
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` };
  const details = seconds === undefined ? [info] : [info, retry];
  return JSON.stringify({
    error: { code, message: error.message, status: GOOGLE_STATUS[code] ?? 'INVALID_ARGUMENT', details },
  });
}

/** Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors */
const AWS_EXCEPTION: Readonly<Record<number, string>> = {
  401: 'AccessDeniedException',
  402: 'ServiceQuotaExceededException',
  403: 'AccessDeniedException',
  404: 'ResourceNotFoundException',
  409: 'ConflictException',
  429: 'ThrottlingException',
  500: 'InternalServerException',
  502: 'InternalServerException',
  503: 'ServiceUnavailableException',
  504: 'ModelTimeoutException',
};

const encodeMessage = (error: GatewayError): string =>
  JSON.stringify({ message: error.message, ...encodeErrorDetails(error) });

const AWS_ERRORS: ErrorEnvelope = {
  encodeError: encodeMessage,
  errorHeaders: (error) => ({ 'x-amzn-errortype': AWS_EXCEPTION[errorStatus(error)] ?? 'ValidationException' }),
};

/** Errors before or instead of the vendor's answer, in the vendor's envelope. */
export const NATIVE_ERRORS = {
  'openai-chat': openaiChat,
  'openai-responses': openaiChat,
  'openai-completions': openaiChat,
  'anthropic-messages': anthropicMessages,
  'gemini-content': { encodeError: encodeGoogleError },
  'bedrock-converse': AWS_ERRORS,
  'cohere-chat': { encodeError: encodeMessage },
} as const satisfies Record<WireFormat, ErrorEnvelope>;
