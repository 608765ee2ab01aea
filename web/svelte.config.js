import { vitePreprocess } from '@sveltejs/vite-plugin-svelte';

/** Names of scoped styles are short: they stand at every element and in every rule, and styles have a budget. */
const cssHash = ({ hash, filename, css }) => `s${hash(filename ?? css).slice(0, 4)}`;

export default { preprocess: vitePreprocess(), compilerOptions: { runes: true, cssHash } };
