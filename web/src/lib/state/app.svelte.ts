import { createContext } from 'svelte';
import { Refused, type Api, type Card, type Environment, type Me, type Summary } from '../api';
import { I18n, chooseLang, type Lang } from '../i18n/i18n.svelte';
import type { Bridge } from '../bridge';
import type { HostContext } from '../../embed/protocol';
import { Drafts } from '../drafts';
import { firstSafe } from '../environments';
import { nameIn } from '../named';
import { pageQuery, readView, type Params } from '../params';
import { spoken } from '../spoken';
import { refusalText, typeName } from '../words';
import type { Message } from '../conversation';
import type { EventOf, View, WireEvent } from '../wire';
import { Announcer } from './announcer.svelte';
import { Prefs } from './prefs.svelte';
import { Session } from './session.svelte';

const slowMs = 7000;
const searchMs = 250;
// With what the server remembers of a session (30 s) within the minute after which a log-out has to be seen.
const identityMs = 30_000;
/** A host that is asked who is logged in, and answers in vain, is not asked again at once. */
const askMs = 5_000;

export interface Notice {
  id: number;
  text: string;
}

/** What stops the whole page. */
export type Blocked = 'signed-out' | 'other-user' | null;

/** The page: who is asking, about what, in which environment, and the conversation that is open. */
export class App {
  readonly i18n: I18n;
  readonly announcer = new Announcer();
  readonly session: Session;

  me = $state.raw<Me | null>(null);
  blocked = $state<Blocked>(null);
  environments = $state.raw<Environment[]>([]);
  envId = $state('');
  /** Production that was chosen while a change waits for a decision here: the person is asked first. */
  envAsked = $state<Environment | null>(null);
  view = $state.raw<View>({});
  useView = $state(true);
  draft = $state('');
  list = $state.raw<Summary[]>([]);
  listCursor = $state('');
  listLoaded = $state(false);
  listQuery = $state('');
  inbox = $state.raw<Card[]>([]);
  /** The own message that the next one replaces. */
  editing = $state<string | null>(null);
  /** The stored result that is looked at. */
  artifact = $state.raw<{ id: string; title: string; format: string } | null>(null);
  notices = $state.raw<Notice[]>([]);
  /** The page that embeds this one; null on the full page. */
  bridge = $state.raw<Bridge | null>(null);
  /** Where to sign in, if this installation has such a page. */
  loginUrl: string | null = null;
  hostTheme = $state<'light' | 'dark' | null>(null);
  /** Begins anew for another user, where nobody is needed for it; null where a person reloads the page. */
  restart: (() => void) | null = null;
  /** Said once above the message field when the embedding page shows something else. */
  contextNote = $state('');
  /** What happened while the panel was closed. */
  unseen = $state(0);
  /** Events of types that this page does not know; shown while developing. */
  unknown = $state(0);
  #panelOpen = true;
  #hostLang = false;
  online = $state(true);

  /** Longest message that the server takes, in characters. */
  readonly messageLimit = $derived.by(() => this.me?.limits?.message_chars ?? 20_000);
  readonly env = $derived.by(() => this.environments.find((e) => e.id === this.envId));
  readonly prod = $derived.by(() => this.env?.class === 'prod');
  /** What goes with the next message. */
  readonly sentView = $derived.by<View>(() => {
    const v: View = this.useView ? { ...this.view } : {};
    return this.envId && this.useView && Object.keys(v).length > 0 ? { ...v, envId: this.envId } : v;
  });

  #begun = false;
  #askedHost = -askMs;
  #noticeId = 0;
  #listRead = 0;
  #searching: ReturnType<typeof setTimeout> | undefined;
  #slow: ReturnType<typeof setTimeout> | undefined;
  #identity: ReturnType<typeof setInterval> | undefined;

  constructor(
    readonly api: Api,
    readonly params: Params,
    readonly prefs = new Prefs(),
    /** Keeps the address of the page in step with what is open. */
    private readonly onopen: (conversation: string | null) => void = () => undefined,
    private readonly drafts = new Drafts(),
  ) {
    this.i18n = new I18n(chooseLang(params.lang, prefs.lang, globalThis.navigator?.language));
    this.view = params.view;
    this.draft = params.draft || this.drafts.of(params.conversation ?? null);
    this.session = new Session(api, {
      created: (id) => {
        this.onopen(id);
        void this.readList();
      },
      happened: (events) => events.forEach((e) => this.#happened(e)),
      restored: () => this.announcer.say(this.i18n.t('reconnected')),
      malformed: () => this.notify(this.i18n.t('malformed')),
      unknown: () => this.unknown++,
      signedOut: () => this.#block('signed-out'),
    });
    if (params.dropped.length > 0) this.notify(this.i18n.t('paramsDropped', { names: params.dropped.join(', ') }));
  }

  /** Reads what the page needs to begin. Sends nothing on anybody's behalf. */
  async start(): Promise<void> {
    clearInterval(this.#identity);
    this.#identity = setInterval(() => void this.checkIdentity(), identityMs);
    await this.checkIdentity();
    if (!this.blocked) await this.#begin();
  }

  /** Reads what there is for whoever is signed in, once. */
  async #begin(): Promise<void> {
    if (this.#begun) return;
    this.#begun = true;
    const open = this.params.conversation;
    await Promise.all([
      this.readEnvironments(),
      this.readList(),
      this.readInbox(),
      open ? this.session.show(open) : undefined,
    ]);
  }

  destroy(): void {
    clearInterval(this.#identity);
    clearTimeout(this.#slow);
    clearTimeout(this.#searching);
    this.announcer.destroy();
    this.session.destroy();
  }

  /** Asks who is signed in. Another user, or none, ends what the page shows of the first one. */
  async checkIdentity(): Promise<void> {
    // Only the embedding page knows whether a session that it handed over is still that of who is logged in there.
    this.#askHost();
    await this.#identify();
  }

  #askHost(): void {
    if (!this.bridge?.handover || performance.now() - this.#askedHost < askMs) return;
    this.#askedHost = performance.now();
    this.bridge.send({ type: 'needToken' });
  }

  async #identify(): Promise<void> {
    try {
      const me = await this.api.me();
      if (this.me && this.me.user !== me.user) {
        this.#block('other-user');
        return;
      }
      if (!this.me && !this.#hostLang && !this.params.lang && !this.prefs.lang)
        this.i18n.lang = chooseLang(me.language, this.i18n.lang);
      if (this.drafts.belongTo(me.user)) this.draft = this.params.draft;
      this.me = me;
      if (this.blocked === 'signed-out') {
        this.blocked = null;
        this.session.setVisible(true);
        // Who came without a session begins now.
        await this.#begin();
      }
    } catch (e) {
      if (!(e instanceof Refused)) throw e;
      if (e.status === 401) this.#block('signed-out');
    }
  }

  async readEnvironments(): Promise<void> {
    try {
      this.environments = await this.api.environments();
    } catch (e) {
      this.#failed(e);
      return;
    }
    const asked = this.params.envId;
    if (asked && this.#lists(asked)) this.envId = asked;
    else {
      if (asked) this.notify(this.i18n.t('envUnknown', { env: asked }));
      this.envId = this.#lists(this.prefs.envId) ? this.prefs.envId : firstSafe(this.environments);
    }
  }

  /** Reads the list anew, or its next page. An answer that was overtaken is dropped. */
  async readList(more = false): Promise<void> {
    const read = ++this.#listRead;
    try {
      const page = await this.api.conversations({
        limit: 30,
        q: this.listQuery.trim(),
        cursor: more ? this.listCursor : undefined,
      });
      if (read !== this.#listRead) return;
      const known = more ? this.list : [];
      this.list = [...known, ...page.conversations.filter((c) => !known.some((k) => k.id === c.id))];
      this.listCursor = page.next_cursor ?? '';
      this.listLoaded = true;
      // The server finds a title for what has none, and other tabs rename.
      const shown = this.list.find((c) => c.id === this.session.id);
      if (shown) this.session.title = shown.title;
    } catch (e) {
      this.#failed(e);
    }
  }

  /** Takes what the embedding page shows. Old turns keep what they were asked about. */
  lookAt(c: HostContext): void {
    const text = (v: unknown) => (typeof v === 'string' ? v : undefined);
    const { view } = readView((name) => text((c as Record<string, unknown>)[name]));
    const other = view.objectType !== this.view.objectType || view.objectId !== this.view.objectId;
    this.view = view;
    const lang = text(c.lang);
    // The page around this one has a language already; the user's own record does not change it.
    if (lang) this.#hostLang = true;
    if (lang && !this.params.lang && !this.prefs.lang) this.i18n.lang = chooseLang(lang, this.i18n.lang);
    // A name that comes late still belongs to the same object.
    if ((!other && !this.contextNote) || this.session.conversation.items.length === 0) return;
    const name =
      view.objectName || [view.objectType ? typeName(view.objectType, this.i18n.t) : '—', view.objectId].join(' ');
    this.contextNote = this.i18n.t('contextChanged', { name: name.trim() });
    if (other) this.announcer.say(this.contextNote);
  }

  setPanelOpen(open: boolean): void {
    this.#panelOpen = open;
    if (!open) return;
    this.unseen = 0;
    this.bridge?.send({ type: 'look' });
  }

  /** The embedding page is there: it may know who is logged in when this page found nobody before. */
  hostReady(): void {
    if (this.blocked === 'signed-out') this.#askHost();
  }

  /** Takes what the embedding page says of who is logged in there: a token of the user, or null for nobody. */
  async signIn(token: string | null): Promise<void> {
    try {
      await (token === null ? this.api.signOut() : this.api.signIn(token));
    } catch (e) {
      this.#failed(e);
      return;
    }
    if (token === null) {
      this.#block('signed-out');
      return;
    }
    await this.#identify();
    if (!this.blocked) await this.#begin();
  }

  /** The address of this page without its frame. */
  fullQuery(): string {
    return pageQuery(this.view, this.envId, this.session.id);
  }

  /** Searches the list once the typing pauses. */
  search(q: string): void {
    this.listQuery = q;
    clearTimeout(this.#searching);
    this.#searching = setTimeout(() => void this.readList(), searchMs);
  }

  async readInbox(): Promise<void> {
    try {
      this.inbox = await this.api.confirmations();
    } catch (e) {
      this.#failed(e);
    }
  }

  async rename(id: string, title: string): Promise<void> {
    if (title.trim() === '') return;
    await this.#attempt(() => this.api.rename(id, title.trim()));
    if (this.session.id === id) this.session.title = title.trim();
    await this.readList();
  }

  async remove(id: string): Promise<void> {
    const gone = await this.#attempt(() => this.api.remove(id));
    if (gone && this.session.id === id) this.newConversation();
    await this.readList();
  }

  /** Reports whether it was kept. */
  rate = (message: string, rating: 'up' | 'down'): Promise<boolean> =>
    this.#attempt(() => this.api.feedback(this.session.id ?? '', message, rating));

  /** The last message of the person, if it may be edited now. */
  lastOwn(): Message | undefined {
    if (this.session.busy || this.session.open.length > 0) return undefined;
    const items = this.session.conversation.items;
    return items.findLast((i): i is Message => i.kind === 'message' && i.role === 'user' && !i.folded);
  }

  /** Takes the last own message back into the field; sending it again folds what came of it. */
  edit(): void {
    const last = this.lastOwn();
    if (!last) return;
    this.editing = last.id;
    this.fill(last.text);
  }

  stopEditing(): void {
    this.editing = null;
    this.draft = '';
  }

  openConversation(id: string): void {
    this.#leave(id);
    void this.session.show(id);
  }

  newConversation(): void {
    this.#leave(null);
    this.session.close();
  }

  /** Keeps what is being typed. An edited message is none of it: it can be taken back again. */
  keepDraft(): void {
    if (!this.editing) this.drafts.keep(this.session.id, this.draft);
  }

  #leave(to: string | null): void {
    this.keepDraft();
    this.editing = null;
    this.envAsked = null;
    this.onopen(to);
    if (to !== this.session.id) this.draft = this.drafts.of(to);
  }

  async send(): Promise<void> {
    const text = this.draft;
    if (this.session.open.length > 0) return;
    this.draft = '';
    this.contextNote = '';
    // The first message begins a conversation: what was typed belongs to neither any more.
    this.keepDraft();
    const taken = await this.session.send(text, this.sentView, this.envId, this.editing ?? undefined);
    if (taken) this.editing = null;
    else if (this.draft === '') this.draft = text;
  }

  /** Puts a text into the message field. Sending it is a person's own act. */
  fill(text: string): void {
    this.draft = text;
    document.getElementById('composer')?.focus();
  }

  /** Asks what a failed run was asked, once more. */
  askAgain(runId: string): void {
    const c = this.session.conversation;
    const run = c.runs[runId];
    const asked = c.items.find((i) => i.kind === 'message' && i.id === run?.messageId);
    if (asked?.kind === 'message') void this.session.send(asked.text, run?.view ?? {}, run?.envId ?? '', asked.id);
  }

  /** Moves the focus to the heading of the open question; only a person's wish does. */
  goToDecision(): void {
    const first = this.session.open[0];
    const heading = first ? document.getElementById(`confirm-${first.id}`) : null;
    heading?.scrollIntoView({ block: 'center' });
    heading?.focus();
  }

  setVisible(visible: boolean): void {
    if (!this.blocked) this.session.setVisible(visible);
    if (visible) void this.checkIdentity();
  }

  setOnline(online: boolean): void {
    this.online = online;
    if (online) this.session.reconnect();
  }

  /** Chooses an environment. Going to production beside a change that waits for a decision is asked first. */
  chooseEnv(id: string): void {
    const to = this.environments.find((e) => e.id === id);
    if (to?.class === 'prod' && !this.prod && this.session.open.length > 0) this.envAsked = to;
    else this.setEnv(id);
  }

  setEnv(id: string): void {
    this.envAsked = null;
    this.envId = id;
    this.prefs.setEnv(id);
    if (this.env) this.announcer.say(this.i18n.t('envChanged', { env: this.env.title }));
  }

  setLang(l: Lang): void {
    this.i18n.lang = l;
    this.prefs.setLang(l);
  }

  notify(text: string): void {
    this.notices = [...this.notices.filter((n) => n.text !== text), { id: ++this.#noticeId, text }];
    this.announcer.say(text);
  }

  dismiss(id: number): void {
    this.notices = this.notices.filter((n) => n.id !== id);
  }

  #lists = (id: string): boolean => this.environments.some((e) => e.id === id);

  #block(why: Exclude<Blocked, null>): void {
    const known = this.blocked === why;
    this.blocked = why;
    if (why === 'other-user') {
      this.#forget();
      this.restart?.();
    } else {
      this.session.pause();
      this.#askHost();
    }
    if (!known) this.announcer.say(this.i18n.t(why === 'other-user' ? 'otherUser' : 'sessionExpired'), true);
  }

  /** Drops everything that was somebody's. */
  #forget(): void {
    this.session.close();
    this.draft = '';
    this.editing = null;
    this.artifact = null;
    this.list = [];
    this.listCursor = '';
    this.listQuery = '';
    this.inbox = [];
    this.notices = [];
    this.contextNote = '';
    this.unseen = 0;
  }

  /** The object of the page has the name that its environment last said. */
  #rename(e: EventOf<'tool_result'>): void {
    const objectName = nameIn(e.preview, this.view);
    const call = this.session.conversation.items.find((i) => i.kind === 'call' && i.id === e.call_id);
    if (!objectName || objectName === this.view.objectName) return;
    if (call?.kind === 'call' && call.envId === this.envId) this.view = { ...this.view, objectName };
  }

  async #attempt(act: () => Promise<unknown>): Promise<boolean> {
    try {
      await act();
      return true;
    } catch (e) {
      if (!(e instanceof Refused)) throw e;
      if (e.status === 401) this.#block('signed-out');
      else this.notify(refusalText(e, this.i18n.t));
      return false;
    }
  }

  #failed(e: unknown): void {
    if (!(e instanceof Refused)) throw e;
    if (e.status === 401) this.#block('signed-out');
    else if (e.status !== 0) this.notify(e.message || this.i18n.t('refusedGeneric', { code: e.code }));
  }

  #happened(e: WireEvent): void {
    const said = spoken(e, this.me?.user, this.i18n);
    if (said) this.announcer.say(said.text, said.urgent);
    switch (e.type) {
      case 'run_started':
        clearTimeout(this.#slow);
        this.#slow = setTimeout(() => this.announcer.say(this.i18n.t('stillAnswering')), slowMs);
        break;
      case 'tool_result':
        this.#rename(e);
        break;
      case 'run_finished':
      case 'run_error':
        clearTimeout(this.#slow);
        if (!this.#panelOpen) this.unseen++;
        void this.readList();
        void this.readInbox();
        // What is looked at may have another name by now.
        this.bridge?.send({ type: 'look' });
        break;
    }
  }
}

export const [useApp, provideApp] = createContext<App>();
