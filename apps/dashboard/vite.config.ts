import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const GATEWAY = 'http://127.0.0.1:8080';
const TEXT = /\.(?:js|css|svg)$/;
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

/** Leaves each text file compressed beside itself: the gateway sends what a browser takes, and compresses nothing. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    writeBundle({ dir = 'dist' }) {
      for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => TEXT.test(name))) {
        const text = readFileSync(join(dir, name));
        writeFileSync(join(dir, `${name}.gz`), gzipSync(text, { level: 9 }));
        writeFileSync(join(dir, `${name}.br`), brotliCompressSync(text, BROTLI));
      }
    },
  };
}

/** What most pages use is one file: small ones compress badly. Charts, forms and dialogs come with the pages that have them. */
const SHARED = {
  name: 'shared',
  test: /dashboard.src.(?!charts|ui.[a-z-]*dialog|ui.combobox|features.forms|api.routing)/,
  minShareCount: 8,
};

export default defineConfig({
  plugins: [react(), tailwindcss(), compressed()],
  build: {
    ...{ outDir: 'dist', emptyOutDir: true, target: 'es2023', assetsInlineLimit: 0, chunkSizeWarningLimit: 900 },
    rollupOptions: { output: { codeSplitting: { groups: [SHARED] } } },
  },
  server: { proxy: { '/admin': GATEWAY, '/v1': GATEWAY, '/healthz': GATEWAY } },
});
