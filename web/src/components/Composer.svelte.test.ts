// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/svelte';
import { flushSync } from 'svelte';
import { expect, test } from 'vitest';
import { draw, fakeApp } from '../../tests/page';
import Composer from './Composer.svelte';

// The server counts code points; so does the page.
test.each([
  ['one less than the limit', 'ab', true],
  ['the limit', 'abc', true],
  ['one more', 'abcd', false],
  ['the limit, in letters of two units', '😀я😀', true],
  ['one more of them', '😀😀😀😀', false],
  ['the limit, with a space that is sent too', 'ab ', true],
  ['one more, by a space', 'abc ', false],
])('the limit that the server says: %s', async (_name, text, sendable) => {
  const { app, sent } = fakeApp(() => [503, {}]);
  app.me = { user: 'anna', roles: [], limits: { message_chars: 3 } };
  draw(app, Composer, {});
  const field = screen.getByRole('textbox', { name: 'Message to the agent' });
  await fireEvent.input(field, { target: { value: text } });
  flushSync();
  expect(screen.queryAllByText('The message is longer than 3 characters.')).toHaveLength(sendable ? 0 : 1);
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Send' }).disabled).toBe(!sendable);
  await fireEvent.keyDown(field, { key: 'Enter' });
  expect(sent.map((s) => s.path)).toEqual(sendable ? ['conversations'] : []);
  // What was not taken is still there.
  await new Promise((done) => setTimeout(done));
  expect(app.draft).toBe(text);
});

test.each([
  [20_000, true],
  [20_001, false],
])('a server that says no limit: %i characters, %s', async (n, sendable) => {
  const { app } = fakeApp();
  draw(app, Composer, {});
  await fireEvent.input(screen.getByRole('textbox'), { target: { value: 'я'.repeat(n) } });
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Send' }).disabled).toBe(!sendable);
});
