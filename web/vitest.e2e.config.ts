import { defineConfig } from 'vitest/config';

// Browser tests run one after another: each file starts its own server and its own browser.
export default defineConfig({
  test: {
    environment: 'node',
    include: ['e2e/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } }, // a busy machine; nothing depends on it but how long a broken test takes
    fileParallelism: false,
  },
});
