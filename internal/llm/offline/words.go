package offline

// words are the sentences of one language.
type words struct {
	introduction string // what the planner is
	signature    string // the same, short, under the first answer
	unclear      string
	canDo        string
	canNothing   string
	examples     []example // in the order in which they are told

	whichDatabase  string
	whichTitle     string
	whichMigration string
	whichKind      map[string]string // kind → the question which object is meant
	noMore         string
	missing        string // %s: tool

	none     string // %s: kind in the plural
	count    func(n int, kind string) string
	found    string // %s: count
	atLeast  string // %s: count
	about    string // %s: what was searched for
	more     string // %d
	draft    string
	done     string // before a summary
	empty    string // a result without words
	statuses map[string]string
	other    string // a status without words of its own
	fields   map[string]string
	yes, no  string
}

// An example is an order that leads to a tool.
type example struct{ tool, text string }

// wordsFor speaks the language of the text, or the user's where the text has no letters that tell.
func wordsFor(text, language string) words {
	if russian(text) || (language == "ru" && !latin(text)) {
		return russianWords
	}
	return english
}

func latin(s string) bool {
	for _, r := range s {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return true
		}
	}
	return false
}

var english = words{
	introduction: "I am agentd's offline planner: there is no language model behind me, so I understand only a few plain orders.",
	signature:    "_This is the offline planner, without a language model. Ask “what can you do” to see the orders it understands._",
	unclear:      "I did not understand that. I am the offline planner, without a language model, and know only a few plain orders.",
	canDo:        "With the tools that are offered here you can ask me for:",
	canNothing:   "No tool is offered here, so there is nothing that I could do.",
	examples: []example{
		{"search_dashboards", "Find dashboards about sales"},
		{"get_dashboard", "Open dashboard 1"},
		{"check_dashboard", "Check dashboard 1"},
		{"update_dashboard", "Rename dashboard 1 to “Sales 2026”"},
		{"update_dashboard", "Publish dashboard 1"},
		{"refresh_dashboard", "Refresh dashboard 1"},
		{"delete_dashboard", "Delete dashboard 1"},
		{"inspect_chart", "Inspect chart 1"},
		{"search_datasets", "Find datasets about orders"},
		{"get_dataset", "Show dataset 1"},
		{"check_dataset", "Check dataset 1"},
		{"refresh_dataset", "Refresh dataset 1"},
		{"delete_dataset", "Delete dataset 1"},
		{"export_assets", "Export dashboard 1"},
		{"plan_migration", "Plan migration of dashboard 1 from dev to staging"},
		{"environment_status", "Status of the environments"},
		{"run_sql", "Run SQL SELECT 1 in database 1"},
		{"show_capabilities", "What can you do?"},
	},
	whichDatabase:  "Which database? Say it by its number, for example: run SQL SELECT 1 in database 1.",
	whichTitle:     "What is the new title? Say for example: rename dashboard 1 to “Sales 2026”.",
	whichMigration: "From which environment to which? Say for example: plan migration of dashboard 1 from dev to staging.",
	whichKind: map[string]string{
		"dashboard": "Which dashboard? Please name it by its number.",
		"dataset":   "Which dataset? Please name it by its number.",
		"chart":     "Which chart? Please name it by its number.",
	},
	noMore:  "There is no stored result to read on from.",
	missing: "That needs the tool %s, which is not offered here: your role or this page leaves it out.",
	none:    "I found no %s",
	count:   englishCount,
	found:   "I found %s",
	atLeast: "I found at least %s",
	about:   " for “%s”",
	more:    "… and %d more.",
	draft:   "draft",
	done:    "Done. ",
	empty:   "The tool gave an empty result.",
	statuses: map[string]string{
		"denied":       "This was denied and not executed.",
		"rejected":     "It was not executed: a person said no.",
		"unknown":      "It is not known whether this was executed. Please look in Superset; I will not repeat it.",
		"not_executed": "It was not executed.",
		"timeout":      "There was no answer in time.",
		"missing":      "It was not found.",
		"invalid":      "The call did not fit.",
		"expired":      "The question was not answered in time, so it was not executed.",
		"superseded":   "The question was overtaken by a later message, so it was not executed.",
		"cancelled":    "It was stopped.",
		"not_offered":  "That tool is not offered here.",
		"unknown_tool": "There is no such tool.",
	},
	other:  "That did not work.",
	fields: map[string]string{},
	yes:    "yes", no: "no",
}

func englishCount(n int, kind string) string {
	if n == 1 {
		kind = kind[:len(kind)-1]
	}
	return num(n) + " " + kind
}

var russianWords = words{
	introduction: "Я — офлайн-планировщик agentd: языковой модели за мной нет, поэтому я понимаю только несколько простых указаний.",
	signature:    "_Это офлайн-планировщик, без языковой модели. Спросите «что ты умеешь», чтобы увидеть понятные ему указания._",
	unclear:      "Не понимаю. Я офлайн-планировщик без языковой модели и знаю только несколько простых указаний.",
	canDo:        "С доступными здесь инструментами можно попросить:",
	canNothing:   "Здесь не доступен ни один инструмент, поэтому сделать я ничего не могу.",
	examples: []example{
		{"search_dashboards", "Найди дашборды о продажах"},
		{"get_dashboard", "Открой дашборд 1"},
		{"check_dashboard", "Проверь дашборд 1"},
		{"update_dashboard", "Переименуй дашборд 1 в «Продажи 2026»"},
		{"update_dashboard", "Опубликуй дашборд 1"},
		{"refresh_dashboard", "Обнови дашборд 1"},
		{"delete_dashboard", "Удали дашборд 1"},
		{"inspect_chart", "Покажи график 1"},
		{"search_datasets", "Найди датасеты о заказах"},
		{"get_dataset", "Покажи датасет 1"},
		{"check_dataset", "Проверь датасет 1"},
		{"refresh_dataset", "Обнови датасет 1"},
		{"delete_dataset", "Удали датасет 1"},
		{"export_assets", "Экспортируй дашборд 1"},
		{"plan_migration", "Спланируй миграцию дашборда 1 из dev в staging"},
		{"environment_status", "Статус сред"},
		{"run_sql", "Выполни SQL SELECT 1 в базе 1"},
		{"show_capabilities", "Что ты умеешь?"},
	},
	whichDatabase:  "В какой базе? Назовите её номер, например: выполни SQL SELECT 1 в базе 1.",
	whichTitle:     "Какое новое название? Скажите, например: переименуй дашборд 1 в «Продажи 2026».",
	whichMigration: "Из какой среды в какую? Скажите, например: спланируй миграцию дашборда 1 из dev в staging.",
	whichKind: map[string]string{
		"dashboard": "Какой дашборд? Назовите его номер.",
		"dataset":   "Какой датасет? Назовите его номер.",
		"chart":     "Какой график? Назовите его номер.",
	},
	noMore:  "Сохранённого результата, который можно читать дальше, нет.",
	missing: "Для этого нужен инструмент %s, а здесь он не доступен: его исключает ваша роль или эта страница.",
	none:    "Не нашлось: %s",
	count:   russianCount,
	found:   "Нашлось: %s",
	atLeast: "Нашлось не меньше: %s",
	about:   " по запросу «%s»",
	more:    "… и ещё %d.",
	draft:   "черновик",
	done:    "Готово. ",
	empty:   "Инструмент вернул пустой результат.",
	statuses: map[string]string{
		"denied":       "Это запрещено и не выполнено.",
		"rejected":     "Это не выполнено: человек отказал.",
		"unknown":      "Неизвестно, выполнено ли это. Проверьте в Superset; повторять я не буду.",
		"not_executed": "Это не выполнено.",
		"timeout":      "Ответ не пришёл вовремя.",
		"missing":      "Не найдено.",
		"invalid":      "Вызов не подошёл.",
		"expired":      "На вопрос не ответили вовремя, поэтому это не выполнено.",
		"superseded":   "Вопрос сменило следующее сообщение, поэтому это не выполнено.",
		"cancelled":    "Это остановлено.",
		"not_offered":  "Этот инструмент здесь не доступен.",
		"unknown_tool": "Такого инструмента нет.",
	},
	other: "Не получилось.",
	fields: map[string]string{
		"title": "название", "name": "название", "published": "опубликован", "owners": "владельцы", "changed": "изменён", "charts": "графики",
		"datasets": "датасеты", "url": "адрес", "slug": "адресное имя", "filters": "фильтры", "columns": "столбцы", "metrics": "метрики",
		"database": "база", "schema": "схема", "description": "описание", "tabs": "вкладки", "reports": "отчёты",
	},
	yes: "да", no: "нет",
}

func russianCount(n int, kind string) string {
	forms := map[string][3]string{
		"dashboards": {"дашборд", "дашборда", "дашбордов"},
		"datasets":   {"датасет", "датасета", "датасетов"},
	}[kind]
	form := forms[2]
	switch {
	case n%100 >= 11 && n%100 <= 14:
	case n%10 == 1:
		form = forms[0]
	case n%10 >= 2 && n%10 <= 4:
		form = forms[1]
	}
	return num(n) + " " + form
}
