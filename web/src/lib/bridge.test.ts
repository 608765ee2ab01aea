// @vitest-environment jsdom
import { expect, test, vi } from 'vitest';
import { Bridge, type BridgeOptions } from './bridge';

const host = 'https://bi.example.com';

function meet(referrer = `${host}/`, origins = [host]) {
  const parent = { postMessage: vi.fn() };
  const heard = { oncontext: vi.fn(), ontheme: vi.fn(), onvisible: vi.fn(), ontoken: vi.fn(), onready: vi.fn() };
  const bridge = new Bridge({
    parent: parent as unknown as Window,
    self: window,
    origins,
    referrer,
    ...heard,
  } satisfies BridgeOptions);
  bridge.start();
  const port = { postMessage: vi.fn(), onmessage: null as ((e: { data: unknown }) => void) | null };
  const init = (o: { origin?: string; source?: unknown; data?: unknown; ports?: unknown[] } = {}) => {
    const e = new Event('message');
    Object.assign(e, {
      origin: host,
      source: parent,
      data: { type: 'agentd:init', v: 1, context: { objectType: 'chart' }, theme: { mode: 'dark' }, handover: true },
      ports: [port],
      ...o,
    });
    window.dispatchEvent(e);
  };
  return { bridge, parent, heard, port, init };
}

test('says hello to the embedding origin only, and takes its answer once', () => {
  const m = meet();
  expect(m.parent.postMessage.mock.calls).toEqual([[{ type: 'agentd:hello', v: 1 }, host]]);
  m.init();
  expect(m.heard.oncontext.mock.calls).toEqual([[{ objectType: 'chart' }]]);
  expect(m.heard.ontheme.mock.calls).toEqual([[{ mode: 'dark' }]]);
  expect(m.heard.onready).toHaveBeenCalledTimes(1);
  expect(m.bridge.handover).toBe(true);
  m.bridge.send({ type: 'close' });
  expect(m.port.postMessage.mock.calls).toEqual([[{ type: 'close' }]]);
  m.init({ data: { type: 'agentd:init', v: 1, context: { objectType: 'dataset' }, theme: {} } });
  expect(m.heard.oncontext).toHaveBeenCalledTimes(1);
});

test.each([
  ['a foreign origin', { origin: 'https://evil.example' }],
  ['another window', { source: {} }],
  ['another version', { data: { type: 'agentd:init', v: 2, context: {}, theme: {} } }],
  ['another message', { data: { type: 'hello' } }],
  ['no data', { data: null }],
  ['no port', { ports: [] }],
])('an answer from %s is not heard', (_name, o) => {
  const m = meet();
  m.init(o);
  expect(m.heard.oncontext).not.toHaveBeenCalled();
  m.bridge.send({ type: 'close' });
  expect(m.port.postMessage).not.toHaveBeenCalled();
});

test.each([['https://evil.example/'], [''], ['about:blank'], ['https://bi.example.com.evil.example/']])(
  'embedded by %j it tells nobody anything',
  (referrer) => {
    const m = meet(referrer);
    m.init();
    expect(m.parent.postMessage).not.toHaveBeenCalled();
    expect(m.heard.oncontext).not.toHaveBeenCalled();
  },
);

test('what comes over the port is checked', () => {
  const m = meet();
  m.init();
  for (const data of [
    null,
    3,
    {},
    { type: 'theme', theme: 'dark' },
    { type: 'theme', theme: null },
    { type: 'token', token: 3 },
    { type: 'token' },
    { type: 'agentd:init', v: 1, context: { objectType: 'dataset' } },
    { type: 'context', context: 'x' },
  ])
    m.port.onmessage?.({ data });
  expect(m.heard.ontheme).toHaveBeenCalledTimes(1);
  expect(m.heard.ontoken).not.toHaveBeenCalled();
  expect(m.heard.oncontext).toHaveBeenCalledTimes(1);
  m.port.onmessage?.({ data: { type: 'visibility', open: false } });
  m.port.onmessage?.({ data: { type: 'token', token: 't' } });
  expect(m.heard.onvisible.mock.calls).toEqual([[false]]);
  m.port.onmessage?.({ data: { type: 'token', token: null } });
  expect(m.heard.ontoken.mock.calls).toEqual([['t'], [null]]);
  m.port.onmessage?.({ data: { type: 'theme', theme: { mode: 'light', link: '#003366' } } });
  expect(m.heard.ontheme.mock.lastCall).toEqual([{ mode: 'light', link: '#003366' }]);
});
