// What the page of Superset (the host) and the frame say to each other, version 1. One message of the window each to
// meet; everything after goes over the port that the host made for this frame, where nobody else can listen or speak.

export const version = 1;

export interface HostContext {
  objectType?: string;
  objectId?: string;
  objectName?: string;
  route?: string;
  lang?: string;
}

/** How the host looks. The frame checks each value before it uses it. */
export interface HostTheme {
  mode?: string;
  fontFamily?: string;
  link?: string;
}

export type ToHost =
  | { type: 'close' }
  /** The size that the frame would like; the host keeps it within its window. */
  | { type: 'resize'; w: number; h: number }
  | { type: 'unread'; n: number }
  /** What the frame shows, for those who cannot see it. */
  | { type: 'title'; title: string }
  /** To a page of the host's own origin; nowhere else. */
  | { type: 'navigate'; url: string }
  | { type: 'openFull'; query: string }
  /** Something may have another name now: the context is asked anew. */
  | { type: 'look' }
  /** The frame is to be loaded anew: another user looks at it. From within, its referrer would be itself. */
  | { type: 'restart' }
  /** The frame asks who is logged in at Superset, where the host has a way to tell. */
  | { type: 'needToken' };

export type ToFrame =
  | { type: 'context'; context: HostContext }
  | { type: 'theme'; theme: HostTheme }
  | { type: 'visibility'; open: boolean }
  /** Null says that nobody is logged in there. */
  | { type: 'token'; token: string | null };

export type Hello = { type: 'agentd:hello'; v: number };
export type Init = { type: 'agentd:init'; v: number; context: HostContext; theme: HostTheme; handover: boolean };
