import { CodeBlock } from '../../ui/copy-button';

/** An empty list that requests fill: its purpose, and a command that makes the first one. */
export const FirstCall = ({ text, code }: { readonly text: string; readonly code: string }) => (
  <div className="grid gap-3">
    <p>{text}</p>
    <div className="min-w-0 text-left">
      <CodeBlock label="The first one" code={code} />
    </div>
  </div>
);
