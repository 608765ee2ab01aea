import type { Lang } from './i18n/i18n.svelte';

// They fill the composer and are never sent by themselves.
const asks: Record<Lang, Record<string, string[]>> = {
  en: {
    '': ['What can you do?', 'Find a dashboard', 'Show my datasets', 'Is Superset healthy?'],
    dashboard: [
      'What does this dashboard show?',
      'Which charts load slowest?',
      'Check the charts for errors',
      'Who has access?',
    ],
    chart: ['Explain this chart', 'Show the SQL', 'Why is there no data?', 'Compare with last month'],
    dataset: ['Describe the columns', 'Where is it used?', 'Check the metrics', 'Find duplicates'],
    sqllab: ['Explain the query', 'Make the query faster', 'Fix the error'],
  },
  ru: {
    '': ['Что ты умеешь?', 'Найди дашборд', 'Покажи мои датасеты', 'Всё ли в порядке с Superset?'],
    dashboard: [
      'Что показывает этот дашборд?',
      'Какие графики грузятся дольше всего?',
      'Проверь графики с ошибками',
      'Кто имеет доступ?',
    ],
    chart: ['Объясни график', 'Покажи SQL', 'Почему нет данных?', 'Сравни с прошлым месяцем'],
    dataset: ['Опиши колонки', 'Где используется?', 'Проверь метрики', 'Найди дубликаты'],
    sqllab: ['Объясни запрос', 'Ускорь запрос', 'Исправь ошибку'],
  },
};

/** What one may ask about such an object. */
export const suggestions = (type: string | undefined, lang: Lang): string[] =>
  asks[lang][type ?? ''] ?? asks[lang][''] ?? [];
