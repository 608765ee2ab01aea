// @vitest-environment jsdom
import { fireEvent, screen } from '@testing-library/svelte';
import { flushSync } from 'svelte';
import { beforeEach, expect, test, vi } from 'vitest';
import { aConfirm, draw, fakeApp } from '../../tests/page';
import EnvSelect from './EnvSelect.svelte';

beforeEach(() => {
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
});

/** A selector in an environment, beside an open decision or none. */
function page(envId: string, asked: boolean) {
  const { app } = fakeApp();
  app.environments = [
    { id: 'ss-dev', title: 'Dev', class: 'dev' },
    { id: 'ss-staging', title: 'Staging', class: 'staging' },
    { id: 'ss-prod', title: 'Prod', class: 'prod' },
  ];
  app.envId = envId;
  const items = asked ? [aConfirm()] : [];
  app.session.conversation = { seq: 1, items, runs: {}, activeRun: null, stale: false };
  draw(app, EnvSelect, {});
  flushSync();
  return app;
}
const select = () => screen.getByRole<HTMLSelectElement>('combobox', { name: 'Environment' });
const choose = (id: string) => fireEvent.change(select(), { target: { value: id } });

test('production beside an open decision: it is asked first, and staying changes nothing', async () => {
  const app = page('ss-dev', true);
  const say = vi.spyOn(app.announcer, 'say');
  await choose('ss-prod');
  expect(screen.getByRole('dialog', { name: 'Switch to production?' })).toHaveTextContent(
    'New requests will go to Prod',
  );
  expect([app.envId, select().value]).toEqual(['ss-dev', 'ss-dev']);
  // To stay comes first, and is what Enter does.
  expect(screen.getAllByRole('button').map((b) => b.textContent)).toEqual(['Stay here', 'Switch']);
  screen.getByRole('dialog').dispatchEvent(new Event('close'));
  flushSync();
  expect(screen.queryByRole('dialog')).toBeNull();
  expect([app.envId, select().value]).toEqual(['ss-dev', 'ss-dev']);
  expect(say).not.toHaveBeenCalled();
});

test('the person may switch, and is told where requests go', async () => {
  const app = page('ss-dev', true);
  const say = vi.spyOn(app.announcer, 'say');
  await choose('ss-prod');
  await fireEvent.click(screen.getByRole('button', { name: 'Switch' }));
  expect(screen.queryByRole('dialog')).toBeNull();
  expect([app.envId, select().value]).toEqual(['ss-prod', 'ss-prod']);
  expect(say.mock.calls).toEqual([['Environment: Prod. New requests go there.']]);
});

test.each([
  ['no decision is open', 'ss-dev', false, 'ss-prod'],
  ['it is not production', 'ss-dev', true, 'ss-staging'],
  ['it leaves production', 'ss-prod', true, 'ss-dev'],
])('nothing is asked where %s', async (_why, from, asked, to) => {
  const app = page(from, asked);
  await choose(to);
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(app.envId).toBe(to);
});
