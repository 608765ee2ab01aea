import type { App } from './state/app.svelte';

interface Actions {
  menu: () => void;
  help: () => void;
}

const inField = (e: KeyboardEvent) =>
  e.target instanceof HTMLElement && e.target.closest('input, textarea, select, [contenteditable]') !== null;

/** The keys of the whole page. None of them approves or rejects anything. */
export function handleKey(e: KeyboardEvent, app: App, actions: Actions): void {
  if (e.defaultPrevented || e.isComposing || e.repeat) return;
  const alt = e.altKey && e.shiftKey && !e.ctrlKey && !e.metaKey;
  if (alt && e.code === 'KeyD') app.goToDecision();
  else if (alt && e.code === 'KeyN') {
    app.newConversation();
    toComposer();
  } else if ((e.ctrlKey || e.metaKey) && !e.altKey && e.code === 'KeyB') actions.menu();
  else if (e.altKey && (e.key === 'ArrowUp' || e.key === 'ArrowDown')) moveTurn(e.key === 'ArrowUp' ? -1 : 1);
  else if (e.key === 'Escape' && app.session.running && !document.querySelector('dialog[open]'))
    void app.session.stop();
  else if (e.key === 'Escape' && app.bridge && !document.querySelector('dialog[open]'))
    app.bridge.send({ type: 'close' });
  else if (e.key === '/' && !inField(e)) toComposer();
  else if (e.key === '?' && !inField(e)) actions.help();
  else return;
  e.preventDefault();
}

const toComposer = () => document.getElementById('composer')?.focus();

function moveTurn(step: number): void {
  const heads = [...document.querySelectorAll<HTMLElement>('main h2[tabindex]')];
  const at = heads.findIndex((h) => h === document.activeElement);
  heads.at(at < 0 ? -1 : Math.min(heads.length - 1, Math.max(0, at + step)))?.focus();
}
