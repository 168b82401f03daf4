import type { ApiKey, Project } from '@llm0/core/keys/api-key';

interface WithTools {
  readonly allowedTools?: readonly string[] | null;
}

/** Tools that a key may call: its own list, else its project's, else none. */
export function patternsOf({
  key,
  project,
}: {
  readonly key: ApiKey & WithTools;
  readonly project: Project & WithTools;
}) {
  return key.allowedTools ?? project.allowedTools ?? [];
}
