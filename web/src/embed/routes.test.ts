import { expect, test } from 'vitest';
import { below, placeOf } from './routes';

const none = {};
const uuid = '0b5c1d3e-1111-4222-8333-444455556666';
const dashboard = (objectId: string) => ({ objectType: 'dashboard', objectId });
const chart = (objectId: string) => ({ objectType: 'chart', objectId });
const dataset = (objectId: string) => ({ objectType: 'dataset', objectId });
test.each([
  ['/dashboard/list/', '', '', none],
  ['/dashboard/list/', '?pageIndex=0&viewMode=table', '', none],
  ['/chart/list/', '', '', none],
  ['/tablemodelview/list/', '?pageIndex=0', '', none],
  ['/superset/welcome/', '', '', none],
  ['/login/', '?next=http://host/superset/dashboard/1/', '', none],
  ['/superset/dashboard/sales-overview/', '?native_filters_key=x', '', dashboard('sales-overview')],
  ['/superset/dashboard/12', '', '', dashboard('12')],
  ['/superset/dashboard/12/', '?edit=true', '', dashboard('12')],
  ['/superset/dashboard/list/', '', '', dashboard('list')], // a dashboard of that name
  ['/superset/dashboard/0b5c1d3e-1111-4222-8333-444455556666/', '?permalink_key=k', '', dashboard(uuid)],
  ['/superset/dashboard/%D0%BF%D1%80%D0%B8%D0%B1%D1%8B%D0%BB%D1%8C-2026/', '', '', dashboard('прибыль-2026')],
  [`/superset/dashboard/${'a'.repeat(255)}/`, '', '', dashboard('a'.repeat(255))],
  ['/superset/dashboard/%E0%A4%A/', '', '', dashboard('%E0%A4%A')],
  ['/superset/dashboard/p/abc/', '', '', none], // sends on to the dashboard by its uuid
  ['/superset/dashboard/p/', '', '', none],
  ['/superset/dashboard/1/more/', '', '', none],
  ['/superset/explore/p/Ab3xY/', '', '', { link: 'Ab3xY' }],
  ['/explore/', '?form_data_key=k&dashboard_page_id=d&slice_id=1', '', chart('1')],
  ['/explore/', '?slice_id=2&datasource_id=3&datasource_type=table', '', chart('2')],
  ['/explore', '?slice_id=2', '', chart('2')],
  ['/explore/', '?datasource_type=table&datasource_id=3', '', dataset('3')],
  ['/explore/', '?datasource_type=query&datasource_id=3', '', none],
  ['/explore/', '?slice_id=x', '', none],
  ['/explore/', '?slice_id=0x1', '', none],
  ['/explore/', '', '', none],
  ['/explorer/', '?slice_id=1', '', none],
  ['/sqllab', '', '', { objectType: 'sqllab' }],
  ['/sqllab/', '?dbid=1', '', { objectType: 'sqllab' }],
  ['/sqllab/history/', '', '', { objectType: 'sqllab' }],
  ['/sqllabx', '', '', none],
  ['/dataset/1', '', '', none],
  ['/dataset/add/', '', '', none],
  ['/dashboard/new/', '', '', none],
  ['/bi/superset/dashboard/1/', '', '/bi', dashboard('1')],
  ['/bi/dashboard/list/', '', '/bi', none],
  ['/bi/explore/', '?slice_id=1', '/bi', chart('1')],
  ['/bi/sqllab', '', '/bi', { objectType: 'sqllab' }],
  ['/bi', '', '/bi', none],
  ['/bix/superset/dashboard/1/', '', '/bi', none],
  ['/superset/dashboard/1/', '', '/bi', dashboard('1')], // not sent by Superset, and not wrong either
])('%s%s below "%s"', (path, search, root, want) => {
  expect(placeOf(below(root, path), search)).toEqual(want);
});
