/** Vocabulary of vendors' formats: rules apply to people's words, never to these. */
const words = (text: string): string[] => text.trim().split(/\s+/);

/** Fields with a closed list of values. */
const CHOOSING: ReadonlySet<string> = new Set(
  words(`
  type role object status format detail effort reasoning_effort service_tier tool_choice mode encoding_format media_type
  mimeType mime_type finish_reason native_finish_reason finishReason stop_reason truncation verbosity phase modalities
  responseModalities response_mime_type responseMimeType category threshold blockReason cache_control ttl display
  serviceTier reasoningEffort input_audio_format output_audio_format voice language schema_version jsonrpc method resultType`),
);

/** Field names and their values. */
const KNOWN: ReadonlySet<string> = new Set(
  words(`
  model messages message role content contents parts part text type name id object created choices choice index delta finish_reason
  native_finish_reason usage stream stream_options include_usage metadata user system instructions input output prompt suffix
  tools tool tool_choice tool_calls tool_call_id tool_use tool_use_id tool_result tool_results functions function function_call
  function_call_output functionCall functionResponse functionDeclarations arguments args parameters properties required items
  description enum anyOf oneOf allOf additionalProperties additional_properties strict schema json_schema json_object title default
  minimum maximum minLength maxLength minItems maxItems pattern format const definitions $defs $ref
  string number integer boolean array null any auto none low medium high minimal xhigh max flex priority standard standard_only batch
  image image_url input_image input_text output_text input_file input_audio file audio document refusal reasoning thinking
  redacted_thinking summary summary_text encrypted_content signature thought thoughtSignature inlineData inline_data fileData
  file_data fileUri mimeType mime_type media_type source base64 url data detail ephemeral persistent cache_control citations
  assistant developer model_version modelVersion temperature top_p top_k topP topK seed stop stop_sequences stop_sequence
  stopSequences max_tokens max_completion_tokens max_output_tokens maxOutputTokens n frequency_penalty presence_penalty logprobs
  top_logprobs logit_bias response_format responseFormat responseMimeType responseSchema generationConfig safetySettings
  toolConfig systemInstruction system_instruction candidates candidateCount usageMetadata promptTokenCount candidatesTokenCount
  totalTokenCount prompt_tokens completion_tokens total_tokens input_tokens output_tokens prompt_tokens_details
  completion_tokens_details cached_tokens audio_tokens reasoning_tokens cache_creation_input_tokens cache_read_input_tokens
  accepted_prediction_tokens rejected_prediction_tokens system_fingerprint service_tier serviceTier store previous_response_id
  parallel_tool_calls reasoning_effort effort truncation verbosity status completed in_progress incomplete failed cancelled queued
  length tool_calls content_filter end_turn pause_turn STOP MAX_TOKENS SAFETY RECITATION OTHER user_id annotations audio_url
  response output_index content_index item_id item sequence_number created_at completed_at error code param incomplete_details
  disabled enabled adaptive budget_tokens display concise detailed optional custom grammar namespace custom_tool_call
  custom_tool_call_output call_id web_search computer code_interpreter file_search mcp message_start message_delta message_stop
  content_block content_block_start content_block_delta content_block_stop text_delta input_json_delta partial_json thinking_delta
  signature_delta ping list embedding embeddings dimensions encoding_format float vectors dataUrl fileId filename file_id
  toolCalls toolCallId toolChoice responseModalities modalities isError is_error raw value toolIndex jsonrpc method params result
  structuredContent resource resources uri _meta progressToken nextCursor resultType complete input_required
  chat.completion chat.completion.chunk text_completion application/json text/plain 2.0`),
);

/** True for a field's name that vendors gave it. */
export const isKnownName = (name: string): boolean => KNOWN.has(name);

/** True for a value from a field's closed list. */
export const isKnownChoice = (name: string, text: string): boolean => CHOOSING.has(name) && KNOWN.has(text);
