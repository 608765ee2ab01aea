// @vitest-environment jsdom
import { screen } from '@testing-library/svelte';
import { flushSync, type Component } from 'svelte';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import ArtifactPanel from '../src/components/ArtifactPanel.svelte';
import Banners from '../src/components/Banners.svelte';
import CallCard from '../src/components/CallCard.svelte';
import Composer from '../src/components/Composer.svelte';
import ConfirmCard from '../src/components/ConfirmCard.svelte';
import EndNote from '../src/components/EndNote.svelte';
import LiveRegions from '../src/components/LiveRegions.svelte';
import Markdown from '../src/components/Markdown.svelte';
import { Refused } from '../src/lib/api';
import type { Call, Confirm } from '../src/lib/conversation';
import { I18n, type Lang } from '../src/lib/i18n/i18n.svelte';
import type { App } from '../src/lib/state/app.svelte';
import { aCall, aConfirm, draw, fakeApp } from './page';

// What the page says in each state, word for word, in both languages: said by the component that a person sees.

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-29T14:30:00'), toFake: ['Date', 'setInterval', 'setTimeout'] });
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
});
afterEach(() => void vi.useRealTimers());

const today = new Date('2026-11-29T14:32:00').toISOString();
type Props = Record<string, unknown>;
type Scene = (lang: Lang) => void;
const page = (lang: Lang, answer?: Parameters<typeof fakeApp>[0]) => {
  const { app } = fakeApp(answer, lang);
  app.me = { user: 'anna', roles: [] };
  app.environments = [
    { id: 'ss-dev', title: 'Dev', class: 'dev' },
    { id: 'ss-prod', title: 'Prod', class: 'prod' },
  ];
  app.session.id = 'c1';
  return app;
};
const drawn =
  (child: Component<never>, props: Props, before: (app: App) => void = () => undefined): Scene =>
  (lang) => {
    const app = page(lang);
    before(app);
    draw(app, child as unknown as Component<Props>, props);
    flushSync();
  };
const call = (more: Partial<Call>) => drawn(CallCard as never, { call: aCall(more), onretry: () => undefined });
const card = (more: Partial<Confirm>, before?: (app: App) => void) => {
  const confirm = aConfirm(more);
  return drawn(ConfirmCard as never, { confirm }, (app) => {
    app.session.conversation = { seq: 1, items: [confirm], runs: {}, activeRun: null, stale: false };
    before?.(app);
  });
};
const decided = (state: Confirm['state'], by = 'anna', decidedAt = today) => card({ state, by, decidedAt });
const banner = (before: (app: App) => void) => drawn(Banners as never, {}, before);
const composer = (before: (app: App) => void) => drawn(Composer as never, {}, before);
const spoken = (before: (app: App) => void) => drawn(LiveRegions as never, {}, before);
const unknown: Partial<Call> = {
  state: 'unknown',
  why: 'timeout',
  timeoutMs: 60_000,
  verify: 'https://bi.example.com/',
};
const refused: Partial<Call> = { state: 'denied', why: 'role', requiredPermission: 'can_read on Chart' };
const asked = (app: App) => {
  app.session.conversation = { seq: 1, items: [aConfirm()], runs: {}, activeRun: null, stale: false };
};
const write: Partial<Confirm> = { dangerous: false, risk: { tool: 'write', env: 'dev', permission: 'granted' } };

const rows: [string, Scene, string, string][] = [
  [
    'placeholder',
    composer((a) => (a.view = { objectType: 'dashboard', objectId: '42' })),
    'Ask about this dashboard…',
    'Спросите об этом дашборде…',
  ],
  ['answering', spoken((a) => a.announcer.say(a.i18n.t('answering'))), 'The agent is answering', 'Агент отвечает'],
  ['answered', spoken((a) => a.announcer.say(a.i18n.t('answered'))), 'The agent has answered', 'Агент ответил'],
  [
    'stopped',
    drawn(EndNote as never, {
      end: { kind: 'end', id: 'r1', runId: 'r1', at: '', folded: false, outcome: 'cancelled' },
      last: true,
    }),
    'You stopped the answer',
    'Вы остановили ответ',
  ],
  [
    'production',
    banner((a) => (a.envId = 'ss-prod')),
    'Production: changes are visible to all users at once',
    'Продакшн: изменения сразу увидят все пользователи',
  ],
  ['running', call({}), 'Running…', 'Выполняется…'],
  ['done', call({ state: 'done' }), 'Done', 'Готово'],
  ['failed', call({ state: 'failed' }), 'Failed', 'Ошибка'],
  [
    'retrying',
    call({ state: 'retrying', attempt: 2, maxAttempts: 2 }),
    'No answer from Superset. Trying again (2 of 2)…',
    'Superset не отвечает. Повторяю попытку (2 из 2)…',
  ],
  [
    'retry exhausted',
    call({ state: 'failed', retryExhausted: true }),
    'Superset did not answer twice.',
    'Superset не ответил два раза подряд.',
  ],
  ['retry button', call({ state: 'failed', retryable: true }), 'Try again', 'Повторить'],
  [
    'unknown, title',
    call(unknown),
    'Operation status unknown — check Superset',
    'Статус операции неизвестен — проверьте в Superset',
  ],
  [
    'unknown, text',
    call(unknown),
    'Superset did not answer in 60 s. The change may or may not have been made. Do not run it again before you have checked.',
    'Superset не ответил за 60 с. Изменение могло быть применено, а могло и не быть. Не запускайте операцию снова, пока не проверите.',
  ],
  ['open', call(unknown), 'Open in Superset', 'Открыть в Superset'],
  ['denied, title', call(refused), 'Not allowed', 'Недостаточно прав'],
  [
    'denied, text',
    call(refused),
    'Your Superset role does not allow “get_dashboard”.',
    'Ваша роль в Superset не позволяет выполнить «get_dashboard».',
  ],
  ['denied, reason', call(refused), 'Needed permission: can_read on Chart.', 'Нужно право: can_read on Chart.'],
  [
    'denied, hint',
    call(refused),
    'Ask the owner or an administrator for access.',
    'Попросите доступ у владельца или администратора.',
  ],
  [
    'confirm, title',
    card(write),
    'The agent asks to run an operation: delete_dashboard',
    'Агент просит разрешения выполнить операцию: delete_dashboard',
  ],
  ['dangerous', card({}), 'Dangerous operation: delete_dashboard', 'Опасная операция: delete_dashboard'],
  ['run', card({ ...write, countdownSeconds: 0 }), 'Run', 'Выполнить'],
  ['wait', card({}), 'Run (in 10 s)', 'Выполнить (через 10 с)'],
  ['cancel', card({}), 'Cancel', 'Отменить'],
  ['armed', spoken((a) => a.announcer.say(a.i18n.t('armed'))), 'You can run it now', 'Можно выполнить'],
  ['decision needed', composer(asked), 'Your decision is needed', 'Нужно ваше решение'],
  ['reject reason', card({}), 'Reason (optional)', 'Причина отказа (необязательно)'],
  ['allowed', decided('approved'), 'You allowed this at 02:32 PM', 'Вы разрешили в 14:32'],
  [
    'allowed with changes',
    decided('edited'),
    'You allowed this with changes at 02:32 PM',
    'Вы разрешили с изменениями в 14:32',
  ],
  ['refused', decided('rejected'), 'You refused this at 02:32 PM', 'Вы отказали в 14:32'],
  [
    'refused on another day',
    decided('rejected', 'anna', new Date('2026-11-27T09:05:00').toISOString()),
    'You refused this on Nov 27, 2026, 9:05 AM',
    'Вы отказали 27 нояб. 2026 г., 09:05',
  ],
  [
    'allowed by somebody else',
    decided('approved', 'boris'),
    'Allowed at 02:32 PM by boris',
    'Разрешено в 14:32 — boris',
  ],
  [
    'allowed with changes by somebody else',
    decided('edited', 'boris'),
    'Allowed with changes at 02:32 PM by boris',
    'Разрешено с изменениями в 14:32 — boris',
  ],
  [
    'refused by somebody else',
    decided('rejected', 'boris'),
    'Refused at 02:32 PM by boris',
    'Отказано в 14:32 — boris',
  ],
  ['expired', decided('expired'), 'The request expired', 'Срок запроса истёк'],
  [
    'other tab',
    card({ state: 'approved', by: 'anna', decidedAt: today }, (a) => {
      a.session.deciding = { q1: { state: 'elsewhere' } };
    }),
    'Already decided in another tab',
    'Решение уже принято в другой вкладке',
  ],
  [
    'reconnecting',
    banner((a) => Object.assign(a.session, { link: 'reconnecting', attempt: 2 })),
    'Connection lost. Reconnecting… (2) The agent keeps working on the server.',
    'Связь потеряна. Переподключаюсь… (2) Агент продолжает работу на сервере.',
  ],
  [
    'reconnected',
    spoken((a) => a.announcer.say(a.i18n.t('reconnected'))),
    'Connection restored',
    'Связь восстановлена',
  ],
  [
    'offline',
    banner((a) => (a.online = false)),
    'You are offline. Your draft is kept.',
    'Нет сети. Черновик сохранён.',
  ],
  [
    'session expired',
    banner((a) => (a.blocked = 'signed-out')),
    'Your session has expired. Sign in to Superset again.',
    'Сеанс истёк. Войдите в Superset снова.',
  ],
  [
    'rate limit',
    composer((a) => (a.session.refusal = new Refused(429, 'rate_limited', '', [], 12))),
    'Too many requests. Try again in 12 s.',
    'Слишком много запросов. Повторите через 12 с.',
  ],
  [
    'context changed',
    composer((a) => {
      asked(a);
      a.lookAt({ objectType: 'chart', objectId: '7', objectName: 'Revenue' } as never);
    }),
    'Context changed: Revenue',
    'Контекст изменился: Revenue',
  ],
  [
    'environment changed',
    spoken((a) => a.setEnv('ss-prod')),
    'Environment: Prod. New requests go there.',
    'Окружение: Prod. Новые запросы пойдут туда.',
  ],
  [
    'disclaimer',
    composer(() => undefined),
    'The agent can be wrong. Changes are made only with your permission.',
    'Агент может ошибаться. Изменения выполняются только с вашего разрешения.',
  ],
  [
    'blocked image',
    drawn(Markdown as never, { text: '![sales](https://evil.example/x.png)', live: false }),
    '[image not loaded: sales]',
    '[изображение не загружено: sales]',
  ],
];

const said = () => [
  ...document.body.querySelectorAll<HTMLElement>('p, h3, button, a, span, b, div, h2'),
  ...document.body.querySelectorAll<HTMLTextAreaElement>('textarea'),
];
const texts = () =>
  said()
    .flatMap((e) => [e.textContent ?? '', e.getAttribute('placeholder') ?? ''])
    .map((s) => s.replace(/\s+/g, ' ').trim());

describe.each(rows)('%s', (_state, scene, english, russian) => {
  test.each([
    ['en', english],
    ['ru', russian],
  ] as const)('%s: %s', (lang, want) => {
    scene(lang);
    expect(texts()).toContain(want);
  });
});

test.each([
  ['en', 'This result is no longer stored. Run the query again.'],
  ['ru', 'Результат больше не хранится. Выполните запрос снова.'],
] as const)('a stored result that is gone, %s: %s', async (lang, want) => {
  const app = page(lang, () => [410, { code: 'artifact_expired' }]);
  draw(app, ArtifactPanel, { id: 'a1', title: 'x', format: 'jsonl', onclose: () => undefined });
  await vi.advanceTimersByTimeAsync(0);
  expect(screen.getByRole('alert')).toHaveTextContent(want);
});

describe('plural forms', () => {
  const i = new I18n('ru');
  test.each([
    [1, 'Показано 1 из 1 строки', '1 строка'],
    [2, 'Показано 1 из 2 строк', '2 строки'],
    [5, 'Показано 1 из 5 строк', '5 строк'],
    [11, 'Показано 1 из 11 строк', '11 строк'],
    [21, 'Показано 1 из 21 строки', '21 строка'],
    [22, 'Показано 1 из 22 строк', '22 строки'],
    [112, 'Показано 1 из 112 строк', '112 строк'],
    [101, 'Показано 1 из 101 строки', '101 строка'],
  ])('%i', (n, part, all) => {
    expect([i.t('rowsOf', { a: 1, n }), i.t('allShown', { n })]).toEqual([part, all]);
  });
  test.each([
    [1, 'Showing 1 of 1 row'],
    [2, 'Showing 1 of 2 rows'],
  ])('%i in English', (n, text) => {
    expect(new I18n('en').t('rowsOf', { a: 1, n })).toBe(text);
  });
});
