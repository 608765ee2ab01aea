import { svelte } from '@sveltejs/vite-plugin-svelte';
import { svelteTesting } from '@testing-library/svelte/vite';
import { defineConfig } from 'vitest/config';

// `base` is relative: the page works at the root and below /agentd/ without being built again.
// Nothing is inlined: the page's policy allows no inline script, style or font.
export default defineConfig({
  plugins: [svelte(), svelteTesting()],
  base: './',
  // While developing, the page is served here and the API by `agentd demo`. The gallery reads the shared fixtures.
  server: { proxy: { '/api': 'http://127.0.0.1:8080' }, fs: { allow: ['..'] } },
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    // One file: the styles of what is fetched later are small, and each file of its own would cost more than it saves.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    sourcemap: false,
  },
  test: {
    // Tests that need a document say so themselves: most do not, and a document takes a second each.
    environment: 'node',
    setupFiles: ['tests/setup.ts'],
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
    coverage: { provider: 'v8', include: ['src/**'] },
  },
});
