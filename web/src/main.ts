import { mount } from 'svelte';
import AppView from './App.svelte';
import './app.css';
import { Api } from './lib/api';
import { readParams } from './lib/params';
import { App } from './lib/state/app.svelte';

const app = new App(
  new Api(new URL('api/v1/', document.baseURI).href),
  readParams(location.search),
  undefined,
  (id) => {
    const url = new URL(location.href);
    if (id === null) url.searchParams.delete('c');
    else url.searchParams.set('c', id);
    history.replaceState(null, '', url);
  },
);
const target = document.getElementById('app');
if (target) mount(AppView, { target, props: { app } });
void app.start();
