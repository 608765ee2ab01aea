export type Day = 'today' | 'yesterday' | 'earlier';

/** Groups a list, newest first, by the calendar days of its updates. */
export function byDay<I extends { updated_at: string }>(list: I[], now: Date): { day: Day; items: I[] }[] {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const before = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  const dayOf = (iso: string): Day => {
    const d = new Date(iso);
    return d >= midnight ? 'today' : d >= before ? 'yesterday' : 'earlier';
  };
  const days: Day[] = ['today', 'yesterday', 'earlier'];
  return days
    .map((day) => ({ day, items: list.filter((i) => dayOf(i.updated_at) === day) }))
    .filter((g) => g.items.length > 0);
}
