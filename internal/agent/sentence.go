package agent

import "agentd/internal/chat"

// sentences are what agentd says itself, where the model cannot.
var sentences = map[string]map[string]string{
	"en": {
		chat.OutcomeMaxSteps:   "I stopped here: this took more steps than one answer may. Tell me how to go on.",
		chat.OutcomeRepetition: "I stopped here: the same call was made again and again without anything new. Please say it in other words or name the object by its id.",
		chat.OutcomeDenied:     "I stopped here: several calls in a row were denied. Your role does not allow this; an administrator can change that.",
		"empty":                "The work is done; the model gave no closing words. The results are above.",
	},
	"ru": {
		chat.OutcomeMaxSteps:   "Останавливаюсь: шагов больше, чем допускает один ответ. Скажите, как продолжать.",
		chat.OutcomeRepetition: "Останавливаюсь: один и тот же вызов повторялся без новых данных. Переформулируйте или назовите объект по номеру.",
		chat.OutcomeDenied:     "Останавливаюсь: несколько вызовов подряд запрещены. Ваша роль этого не позволяет; права меняет администратор.",
		"empty":                "Готово; модель не добавила слов. Результаты выше.",
	},
}

func sentence(key, language string) string {
	if s, ok := sentences[language][key]; ok {
		return s
	}
	return sentences["en"][key]
}
