/** Dollars a token there → dollars a million tokens here. */
export const PRICES: Readonly<Record<string, string>> = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cache_read',
  cache_creation_input_token_cost: 'cache_write',
  output_cost_per_reasoning_token: 'reasoning',
  input_cost_per_audio_token: 'input_audio',
  output_cost_per_audio_token: 'output_audio',
  input_cost_per_token_above_128k_tokens: 'input_above_128k',
  output_cost_per_token_above_128k_tokens: 'output_above_128k',
  input_cost_per_token_above_200k_tokens: 'input_above_200k',
  output_cost_per_token_above_200k_tokens: 'output_above_200k',
};
