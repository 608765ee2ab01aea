import { runnerImport } from 'vite';

// node cannot read TypeScript; Vite can.
await runnerImport(new URL('../e2e/shots.ts', import.meta.url).pathname);
