import type { ToolOutcome } from '../../api/tools';
import { formatMs } from '../../format/format-number';
import { Badge } from '../../ui/badge';
import { CodeBlock } from '../../ui/copy-button';

const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/;
const BASE64 = /^[A-Za-z0-9+/=\s]*$/;

/** Result of a tool. */
export function OutcomeView({ outcome }: { readonly outcome: ToolOutcome }) {
  const { content, structuredContent, isError, ms } = outcome;
  return (
    <section className="grid gap-2 *:min-w-0" aria-live="polite">
      <div className="flex flex-wrap gap-2">
        <Badge tone={isError ? 'bad' : 'good'}>{isError ? 'the tool failed' : 'done'}</Badge>
        <Badge>{formatMs(ms)}</Badge>
      </div>
      {content.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts have no names, and never move
        <Part key={index} part={part} />
      ))}
      {structuredContent !== undefined && (
        <CodeBlock label="Structured content" code={JSON.stringify(structuredContent, null, 2)} />
      )}
    </section>
  );
}

function Part({ part }: { readonly part: ToolOutcome['content'][number] }) {
  const { type, text, data, mimeType } = part;
  if (type === 'text' && typeof text === 'string') return <CodeBlock label="Text" code={text} />;
  const isPicture =
    typeof mimeType === 'string' && PICTURE.test(mimeType) && typeof data === 'string' && BASE64.test(data);
  if (type === 'image' && isPicture) {
    return (
      <img
        alt="From the tool"
        src={`data:${mimeType};base64,${data}`}
        className="max-h-80 max-w-full rounded-md border"
      />
    );
  }
  return <CodeBlock label={type} code={JSON.stringify(part, null, 2)} />;
}
