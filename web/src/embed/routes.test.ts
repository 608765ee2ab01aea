import { expect, test } from 'vitest';
import { placeOf } from './routes';

const none = {};
test.each([
  ['/dashboard/list/', '', '/', none],
  ['/dashboard/list/', '?pageIndex=0&viewMode=table', '/', none],
  [
    '/superset/dashboard/sales-overview/',
    '?native_filters_key=x',
    '/',
    { objectType: 'dashboard', objectId: 'sales-overview' },
  ],
  ['/superset/dashboard/12', '', '/', { objectType: 'dashboard', objectId: '12' }],
  ['/superset/dashboard/%D0%BF%D1%80-2026/', '?edit=true', '/', { objectType: 'dashboard', objectId: 'пр-2026' }],
  ['/superset/dashboard/p/abc/', '', '/', none],
  ['/superset/dashboard/%E0%A4%A/', '', '/', { objectType: 'dashboard', objectId: '%E0%A4%A' }],
  ['/bi/superset/dashboard/1/', '', '/bi/', { objectType: 'dashboard', objectId: '1' }],
  ['/superset/dashboard/1/', '', '/bi/', { objectType: 'dashboard', objectId: '1' }],
  ['/explore/', '?form_data_key=k&dashboard_page_id=d&slice_id=1', '/', { objectType: 'chart', objectId: '1' }],
  ['/explore/', '?datasource_type=table&datasource_id=3', '/', { objectType: 'dataset', objectId: '3' }],
  ['/explore/', '?datasource_type=query&datasource_id=3', '/', none],
  ['/explore/', '?slice_id=x', '/', none],
  ['/sqllab', '', '/', { objectType: 'sqllab' }],
  ['/sqllab/', '?dbid=1', '/', { objectType: 'sqllab' }],
  ['/sqllab/history/', '', '/', { objectType: 'sqllab' }],
  ['/sqllabx', '', '/', none],
  ['/superset/welcome/', '', '/', none],
  ['/dataset/1', '', '/', none],
  ['/chart/list/', '', '/', none],
])('%s%s below %s', (path, search, root, want) => {
  expect(placeOf(path, search, root)).toEqual({ ...want, route: path });
});
