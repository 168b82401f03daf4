/** Reason of a line of the error file, in the format of either vendor; null for a line without one. */
export function readReason(line: string): string | null {
  const { custom_id: name, error, response, result } = parseLine(line);
  const fault = [error, response?.body?.error, result?.error?.error, result?.error].find((one) => one?.message);
  return fault?.message === undefined ? null : `${name ?? 'A line'}: ${fault.message}`;
}

interface Fault {
  readonly message?: string;
}
interface FailedLine {
  readonly custom_id?: string;
  readonly error?: Fault | null;
  readonly response?: { readonly body?: { readonly error?: Fault } } | null;
  readonly result?: { readonly error?: Fault & { readonly error?: Fault } } | null;
}

function parseLine(line: string): FailedLine {
  try {
    return JSON.parse(line) as FailedLine;
  } catch {
    return {};
  }
}
