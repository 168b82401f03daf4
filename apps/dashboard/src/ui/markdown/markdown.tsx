import { lazy, Suspense } from 'react';

interface Props {
  readonly text: string;
}

const AsWritten = ({ text }: Props) => <div className="whitespace-pre-wrap wrap-anywhere">{text}</div>;

/** Loads the library with the first text. */
const Drawn = lazy(() => import('./drawn-markdown').catch(() => ({ default: AsWritten })));

/** Text of a model or of a caller: drawn as elements, never as HTML, and nothing is loaded from elsewhere. */
export const Markdown = ({ text }: Props) => (
  <Suspense fallback={<AsWritten text={text} />}>
    <Drawn text={text} />
  </Suspense>
);
