import { defineConfig } from 'vite';

// The loader is one classic script without a framework: it runs on every page of somebody else's application.
export default defineConfig({
  publicDir: false,
  build: {
    target: 'es2020',
    emptyOutDir: false,
    lib: { entry: 'src/embed/loader.ts', formats: ['iife'], name: 'AgentdEmbed', fileName: () => 'embed.js' },
  },
});
