/** The models' own reasons, on any host. */
export { finishEvent } from '../claude/finish-reasons';

/** The model's output could not be read: another attempt may do better. */
const FAILED_OUTPUT: ReadonlySet<string> = new Set(['malformed_model_output', 'malformed_tool_use']);

export function isFailedOutput(native: string): boolean {
  return FAILED_OUTPUT.has(native);
}
