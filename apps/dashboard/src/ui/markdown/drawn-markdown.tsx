import type { Token, Tokens } from 'marked';
import { Fragment, type ReactNode, useMemo } from 'react';
import { parseMarkdown } from './parse-markdown';

const LINK = /^(?:https?:|mailto:)/i;
const OWN_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,/i;

/**
 * Renders Markdown as elements, never as HTML; HTML from a model appears as text. Loads nothing: an image becomes a
 * link that opens a new tab.
 */
export default function DrawnMarkdown({ text }: { readonly text: string }) {
  const tokens = useMemo(() => parseMarkdown(text), [text]);
  if (tokens === null) return <div className="whitespace-pre-wrap wrap-anywhere">{text}</div>;
  return <div className="grid gap-2 wrap-anywhere">{draw(tokens)}</div>;
}

const draw = (tokens: readonly Token[]): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no other name, and keep their order
  tokens.map((token, at) => <Fragment key={at}>{one(token)}</Fragment>);

const HEADINGS = ['text-base', 'text-base', 'text-sm', 'text-sm', 'text-sm', 'text-sm'] as const;

type Draw<T extends Token = Token> = (token: T) => ReactNode;

/** Renderers by token type. Other tokens show their source text. */
const DRAWN: Readonly<Record<string, Draw>> = {
  space: () => null,
  def: () => null,
  paragraph: (token) => <p>{inner(token)}</p>,
  text: (token) => inner(token),
  strong: (token) => <strong>{inner(token)}</strong>,
  em: (token) => <em>{inner(token)}</em>,
  del: (token) => <del>{inner(token)}</del>,
  br: () => <br />,
  hr: () => <hr />,
  escape: (token) => (token as Tokens.Escape).text,
  codespan: (token) => (
    <code className="rounded bg-hover px-1 font-mono text-xs">{(token as Tokens.Codespan).text}</code>
  ),
  code: (token) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <pre tabIndex={0} className="min-w-0 overflow-x-auto rounded-md border bg-bg px-3 py-2 font-mono text-xs">
      {(token as Tokens.Code).text}
    </pre>
  ),
  blockquote: (token) => <blockquote className="grid gap-2 border-l-2 pl-3 text-muted">{inner(token)}</blockquote>,
  heading: (token) => (
    // The page has headings of its own: these are parts of a text.
    <p className={`font-semibold ${HEADINGS[(token as Tokens.Heading).depth - 1] ?? 'text-sm'}`}>{inner(token)}</p>
  ),
  list: (token) => list(token as Tokens.List),
  table: (token) => table(token as Tokens.Table),
  link: (token) => link(token as Tokens.Link),
  image: (token) => image(token as Tokens.Image),
};

const one: Draw = (token) => {
  const known = Object.hasOwn(DRAWN, token.type) ? DRAWN[token.type] : undefined;
  return known === undefined ? <span className="whitespace-pre-wrap">{token.raw}</span> : known(token);
};

function inner(token: Token): ReactNode {
  if ('tokens' in token && token.tokens !== undefined && token.tokens.length > 0) return draw(token.tokens);
  return 'text' in token ? String(token.text) : token.raw;
}

function list({ ordered, start, items }: Tokens.List): ReactNode {
  const rows = items.map((item, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: items keep their order
    <li key={at}>
      {item.task && <input type="checkbox" checked={item.checked === true} readOnly disabled aria-label="Done" />}{' '}
      {draw(item.tokens.filter(({ type }) => type !== 'checkbox'))}
    </li>
  ));
  return ordered ? (
    <ol start={start === '' ? 1 : start} className="list-decimal pl-6">
      {rows}
    </ol>
  ) : (
    <ul className="list-disc pl-6">{rows}</ul>
  );
}

function table({ header, rows }: Tokens.Table): ReactNode {
  const cell = 'border px-2 py-1 text-left align-top';
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <div tabIndex={0} className="min-w-0 overflow-x-auto">
      <table className="text-xs">
        <thead>
          <tr>
            {header.map(({ tokens }, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns keep their order
              <th key={at} className={cell}>
                {draw(tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows keep their order
            <tr key={at}>
              {row.map(({ tokens }, column) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns keep their order
                <td key={column} className={cell}>
                  {draw(tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function link({ href, tokens, raw }: Tokens.Link): ReactNode {
  if (!LINK.test(href)) return raw;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" className="text-accent underline" title={href}>
      {draw(tokens)}
    </a>
  );
}

function image({ href, text, raw }: Tokens.Image): ReactNode {
  if (OWN_IMAGE.test(href)) return <img src={href} alt={text} className="max-h-80 max-w-full rounded" />;
  if (!/^https?:/i.test(href)) return raw;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" className="text-accent underline">
      Image{text === '' ? '' : ` “${text}”`} at {new URL(href).host} (not loaded; opens in a new tab)
    </a>
  );
}
