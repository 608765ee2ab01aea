import globals from 'globals';
import svelte from 'eslint-plugin-svelte';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';

const sinks = ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'srcdoc'].map((property) => ({
  property,
  message: 'Build nodes: no text becomes markup in this page.',
}));

export default ts.config(
  { ignores: ['dist', 'node_modules', 'coverage'] },
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
  },
  {
    rules: {
      'no-restricted-properties': ['error', ...sinks, { object: 'document', property: 'write' }],
      'svelte/no-at-html-tags': 'error',
      'svelte/require-each-key': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      eqeqeq: 'error',
      // Dates are values here, and private maps are no state that anything is drawn from.
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  {
    // Tests look at what was built; they put nothing into a page.
    files: ['**/*.test.ts', 'tests/**'],
    rules: { 'no-restricted-properties': 'off' },
  },
);
