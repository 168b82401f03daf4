import { describe, expect, test } from 'bun:test';
import { threadMs } from '@llm0/testing/thread-time';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import Drawn from './drawn-markdown';
import { parseMarkdown } from './parse-markdown';

const html = (text: string) => renderToStaticMarkup(createElement(Drawn, { text }));

describe('Markdown', () => {
  test('model output, with each line break', () => {
    const drawn = html(
      '# T\n\nA **b** `c` [l](https://x.y)\nnext\n\n- one\n- two\n\n2. a\n3. b\n\n```js\n<x>\n# no\n```\n\n|a|b|\n|-|-|\n|1|2|\n\n> q\n\n---',
    );
    expect([...drawn.matchAll(/<(p|ul|ol|pre|table|blockquote|hr)\b/g)].map(([, name]) => name).join(' ')).toBe(
      'p p ul ol pre table blockquote p hr',
    );
    expect(drawn).toMatch(
      /<strong>b<\/strong> <code[^>]*>c<\/code> <a href="https:\/\/x\.y" target="_blank" rel="noopener noreferrer"/,
    );
    expect(drawn).toMatch(/<\/a><br\/>next<\/p>/);
    expect(drawn).toContain('<ol start="2"');
    expect(drawn).toContain('&lt;x&gt;\n# no</pre>');
  });

  test('HTML and other schemes stay text, and nothing is loaded from elsewhere', () => {
    expect(html('[j](javascript:alert(1)) <b onclick="x">x</b>')).toContain('[j](javascript:alert(1))');
    const hostile = html(
      '<script>x</script>\n\n<img src="https://far.example/a.png">\n\n![i](javascript:x) [d](data:text/html,x) ![a](https://far.example/a.png)',
    );
    expect(hostile).not.toMatch(/<(script|img|iframe)|href="(?!https:)/);
    expect(hostile).toContain('&lt;script&gt;');
    expect(hostile).toMatch(/<a href="https:\/\/far\.example\/a\.png" target="_blank"[^>]*>Image “a” at far\.example/);
    expect(html('![own](data:image/png;base64,AA==)')).toContain('<img src="data:image/png;base64,AA=="');
  });

  test.each([
    ['[a](javascript:alert(1))', 'href'],
    ['[a](data:text/html,x)', 'href'],
    ['![a](https://tracker.example/x.png)', '<img'],
    ['![a](data:image/svg+xml;base64,AAAA)', '<img'],
    ['a <b onclick=x>c</b>', '<b'],
  ])('%p brings nothing to life', (text, never) => expect(html(text)).not.toContain(never));

  test('no text is lost or takes long, whatever it is', () => {
    for (const text of [
      ...['*', '`', '[', '|', '_a', '*a ', '[a](', '<a '].map((part) => part.repeat(50_000)),
      ...['> '.repeat(20_000), '> '.repeat(4000), '- '.repeat(4500), '```\nopen', '_a'.repeat(4990)],
      `${'_a'.repeat(4990)}\n\n`.repeat(3),
    ]) {
      const startMs = threadMs();
      expect(html(text).length).toBeGreaterThan(1);
      expect(threadMs() - startMs).toBeLessThan(2000);
    }
    expect(parseMarkdown('> '.repeat(4000))).toBeNull();
    expect(parseMarkdown('> > > deep enough')).not.toBeNull();
  });
});
