// The site of docs/, which the gateway serves at /docs.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { defineConfig } from 'vitepress';

const DOCS = join(import.meta.dirname, '../../../docs');

const GROUPS = [
  ['Get started', 'get-started'],
  ['Guides', 'guides'],
  ['Clients', 'guides/clients'],
  ['Operate', 'operate'],
  ['Reference', 'reference'],
  ['Internals', 'internals'],
  ['Contributing', 'contributing'],
] as const;

const titleOf = (path: string) => /^# (.+)$/m.exec(readFileSync(join(DOCS, path), 'utf8'))?.[1] ?? path;

/** The order of the contents; pages that they don't name come last, by title. */
const CONTENTS = readFileSync(join(DOCS, 'index.md'), 'utf8');
const placeOf = (link: string) => {
  const place = CONTENTS.indexOf(`](${link.slice(1)})`);
  return place === -1 ? CONTENTS.length : place;
};

function sidebarOf(folder: string) {
  const files = readdirSync(join(DOCS, folder)).filter((name) => name.endsWith('.md'));
  const pages = files.map((name) => ({ text: titleOf(`${folder}/${name}`), link: `/${folder}/${name}` }));
  return pages.sort((a, b) => placeOf(a.link) - placeOf(b.link) || a.text.localeCompare(b.text));
}

/** A link to a file of the repository that is no page of the site. */
const leadsOut = (from: string, href: string) =>
  !/^(?:[a-z]+:|#|\/)/.test(href) && normalize(join(dirname(from), href)).startsWith('..');

export default defineConfig({
  title: 'LLM0 Gateway',
  description: 'One OpenAI-compatible endpoint in front of your model providers.',
  srcDir: '../../docs',
  base: '/docs/',
  cacheDir: '../../node_modules/.cache/vitepress',
  rewrites: { 'guides/clients/README.md': 'guides/clients/index.md' },
  ignoreDeadLinks: true,
  lastUpdated: false,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    config(md) {
      md.core.ruler.push('links-out', ({ tokens, env }) => {
        for (const { children } of tokens) {
          let isOut = false;
          for (const token of children ?? []) {
            if (token.type === 'link_open') isOut = leadsOut(env.relativePath ?? '', token.attrGet('href') ?? '');
            if (!isOut || !token.type.startsWith('link_')) continue;
            token.tag = 'span';
            token.attrs = null;
          }
        }
      });
    },
  },
  themeConfig: {
    search: {
      provider: 'local',
      options: {
        // The list of questions matches every query, and answers none.
        _render: (text, env, md) => {
          const html = md.render(text, env);
          return env.relativePath?.endsWith('contributing/questions.md') ? '' : html;
        },
      },
    },
    outline: [2, 3],
    sidebar: GROUPS.map(([text, folder]) => ({ text, collapsed: folder !== 'get-started', items: sidebarOf(folder) })),
  },
});
