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

export type ToHost =
  | { type: 'close' }
  | { type: 'unread'; n: number }
  | { type: 'navigate'; url: string }
  | { type: 'openFull'; query: string }
  /** The frame is signed out and asks for a new token, where the host has a way to get one. */
  | { type: 'needToken' };

export type ToFrame =
  | { type: 'context'; context: HostContext }
  | { type: 'theme'; mode: 'light' | 'dark' }
  | { type: 'visibility'; open: boolean }
  | { type: 'token'; token: string };

export type Hello = { type: 'agentd:hello'; v: number };
export type Init = { type: 'agentd:init'; v: number; context: HostContext; theme: 'light' | 'dark'; handover: boolean };
