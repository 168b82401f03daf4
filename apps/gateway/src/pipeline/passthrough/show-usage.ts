import type { NativePath, PassthroughProvider } from '@llm0/providers/transport/call-passthrough';
import { hidesUsage } from '../request/forwarded-headers';
import { type NativeBody, rewrite } from '../request/native-body';
import type { NativeJob } from './plan-passthrough';

/** Removes parameters and headers that would hide usage; `dropped` names them. */
export function showUsage(
  { passthrough }: PassthroughProvider,
  { path, query }: NativePath,
  headers: Headers,
): { readonly native: NativePath; readonly dropped: readonly string[] } {
  // Other endpoints don't bill by usage, and callers want partial answers.
  const isInference = passthrough.shapes.some((shape) => shape.path.test(path));
  const kept = new URLSearchParams();
  const dropped: string[] = [];
  for (const [name, value] of query) {
    if (isInference && passthrough.hidesUsage?.(name.toLowerCase(), value) === true) dropped.push(name);
    else kept.append(name, value);
  }
  headers.forEach((_value, name) => {
    if (hidesUsage(name)) dropped.push(name);
  });
  return { native: { path, query: kept }, dropped: dropped.map((name) => name.replace(/[^\w$.-]/g, '_')) };
}

/** Adds a request for usage; the same body if it has one. */
export async function askForUsage(
  job: NativeJob,
  body: NativeBody,
): Promise<{ readonly job: NativeJob; readonly body: NativeBody }> {
  const asked = job.body && job.shape?.askForUsage?.(job.body);
  if (asked === undefined || asked === job.body) return { job, body };
  return { job: { ...job, body: asked }, body: await rewrite(body, asked) };
}
