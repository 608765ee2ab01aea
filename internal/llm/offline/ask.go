package offline

import (
	"cmp"
	"regexp"
	"strings"
)

// A verb is something the planner can be asked to do.
type verb int

const (
	nothing verb = iota // it was not understood
	greet
	capabilities
	search
	get
	check
	refresh
	rename
	publish
	unpublish
	remove
	inspect
	sql
	planMigration
	applyMigration
	rollback
	export
	status
	readArtifact
)

// An ask is what a text asks for.
type ask struct {
	verb verb
	kind string // dashboard, dataset, chart
	ref  string // number, uuid or slug; "" is the page's
	name string // a title to search for, where there is no ref
	text string // what to search for; the new title; the SQL
	env  string
	from string // of a migration
	to   string

	mine      bool
	published *bool
	untouched int // days without a change; 0 is any
	database  string
}

// introduces reports whether the answer says anyway what the planner is.
func (a ask) introduces() bool { return a.verb == nothing || a.verb == greet || a.verb == capabilities }

// kinds of objects, as stems: Russian words change their ends.
const (
	dashboardWord = `(?:dashboards?|дашборд\p{L}*|д[аэ]шборд\p{L}*)`
	datasetWord   = `(?:datasets?|data sets?|датасет\p{L}*|набор\p{L}* данных)`
	chartWord     = `(?:charts?|график\p{L}*|диаграмм\p{L}*|чарт\p{L}*)`
	uuidShape     = `[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`
	artifactShape = `art_[0-9A-Za-z]+`
)

// start is ^ with the politeness that people put before an order.
const start = `(?is)^\s*(?:please[, ]+|can you |could you |пожалуйста[, ]+|можешь )?`

func order(p string) *regexp.Regexp { return regexp.MustCompile(start + p) }

var (
	greeting  = order(`(?:hi|hello|hey|good (?:morning|day|evening)|привет\p{L}*|здравствуй\p{L}*|добрый (?:день|вечер)|доброе утро)\s*[!.,)]*\s*$`)
	canDo     = order(`(?:help|what (?:can|could) (?:you|i|we) do.*|what are you.*|who are you.*|show (?:me )?(?:your )?capabilities|capabilities|помощь|помоги|что (?:ты |вы )?(?:умеешь|умеете|можешь|можете).*|кто (?:ты|вы).*|возможности|покажи возможности)\s*[?!.]*\s*$`)
	runSQL    = order(`(?:(?:run|execute)(?: the| this)?(?: sql| query)+|(?:выполни|запусти)(?: sql| запрос)+|sql)\s*:?\s*(.+)$`)
	runSelect = order(`(?:(?:run|execute|выполни|запусти)\s+)?((?:select|with)\s.+)$`)
	onBase    = regexp.MustCompile(`(?i)[\s,;]*(?:in|on|in the|on the|в|на|из)?\s*(?:database|db|base|баз[аеыу](?: данных)?|бд)\s*(?:id|№|#)?\s*(\d+)\s*[.!?]*\s*$`)

	applyPlan = order(`(?:apply|выполни|примени)\s+(?:the |this )?(?:migration|plan|migration plan|миграци\p{L}*|план\p{L}*|план миграции)\s+(\S+)`)
	rollBack  = order(`(?:roll ?back|undo|откати\p{L}*|отмени)\s+(?:the |this )?(?:migration|миграци\p{L}*)\s+(\S+)`)
	migrate   = order(`(?:plan(?: a| the)? migration|migrate|promote|copy|move|спланируй (?:миграцию|перенос)|план миграции|запланируй (?:миграцию|перенос)|перенеси|мигрируй|скопируй)(?:\s|$)|.*план\p{L}* миграции`)
	exporting = order(`(?:export|download|экспортируй|выгрузи)\s`)
	statusOf  = order(`(?:(?:show |check )?(?:the )?(?:environment|system|superset)s? status.*|status(?: of)?.*|is .*\b(?:up|alive|reachable)\b.*|состояние.*|статус.*|(?:работает|доступен|жив) ли .*|какие среды.*|which environments.*)$`)
	readMore  = order(`(?:(?:read|show|open|get|прочитай|покажи|открой)\s+(?:me )?(?:the )?(?:artifact|артефакт\p{L}*)?\s*(` + artifactShape + `)|(?:show |read )?(?:me )?(?:more|the rest|next page|next)|(?:покажи )?(?:ещё|еще|дальше|остальное|следующ\p{L}* страниц\p{L}*))`)

	renaming = order(`(?:rename|retitle|change (?:the )?(?:title|name) of|set (?:the )?(?:title|name) of|переименуй\p{L}*|измени (?:название|заголовок)|смени (?:название|заголовок))\s+(.+)$`)
	renameTo = regexp.MustCompile(`(?i)\s(?:to|as|в|на)\s|->|→`)

	unpublishing = order(`(?:unpublish|hide|make .* (?:a )?draft|сними с публикации|снять с публикации|скрой|отмени публикацию)`)
	publishing   = order(`(?:publish|make .* public|опубликуй\p{L}*)`)
	removing     = order(`(?:delete|remove|drop|удали\p{L}*|сотри)`)
	checking     = order(`(?:check|validate|test|diagnose|is .* (?:broken|ok|working)|what is wrong with|проверь\p{L}*|диагностируй|что не так с)`)
	refreshing   = order(`(?:refresh|reload|update the cache|обнови\p{L}*)`)
	inspecting   = order(`(?:inspect|explain|open|show|get|describe|покажи|открой|опиши|изучи)`)
	opening      = order(`(?:who|whose|how many|when|кто|чей|чья|сколько|когда|open|show|get|describe|display|tell me about|details of|what(?:'s| is)(?: in| on)?|(?:what|which) (?:charts|datasets|filters)|открой|покажи|опиши|расскажи о\p{L}*|что (?:на|в)|какие (?:графики|датасеты|фильтры)|подробн\p{L}*)`)
	searching    = order(`(?:find|search|look for|look up|list|show|give me|get|which|what|how many|are there|find me|search for|найди|найти|поищи|покажи|список|перечисли|какие|сколько|есть ли|выведи)`)

	plural  = regexp.MustCompile(`(?i)\b(?:dashboards|datasets|data sets)\b|(?:дашборды|дашбордов|дашбордах|датасеты|датасетов|наборы данных|наборов данных|список|сколько)`)
	topic   = regexp.MustCompile(`(?is)(?:\b(?:about|named|called|matching|containing|with the (?:name|title)|with|related to|regarding|for|on)\b|(?:^|\s)(?:о|об|обо|про|по|с названием|с именем|со словом|для|на тему))\s+(.+)$`)
	quoted  = regexp.MustCompile(`["“«]([^"”»]+)["”»]|'([^']+)'`)
	mineTag = regexp.MustCompile(`(?i)\b(?:my|mine|i own)\b|(?:^|\s)мо(?:и|их|й)(?:\s|$)`)
	draft   = regexp.MustCompile(`(?i)\b(?:unpublished|drafts?)\b|черновик\p{L}*|неопубликованн\p{L}*`)
	public  = regexp.MustCompile(`(?i)\bpublished\b|опубликованн\p{L}*`)
	stale   = regexp.MustCompile(`(?i)(?:that (?:were|have|are) |which (?:were|have|are) )?(?:not|un)\s*(?:been |were )?(?:changed|touched|modified|updated) (?:for|in|since|within)(?: the last| more than| over)? (\d+|an?|one) (day|week|month|year)s?|(?:котор\p{L}+ )?не (?:менял\p{L}*|обновлял\p{L}*|изменял\p{L}*)(?: больше| более)?(?: (\d+))? (дн|ден|недел|месяц|год|лет)\p{L}*`)
	this    = regexp.MustCompile(`(?i)\b(?:this|current|it)\b|(?:^|\s)(?:этот|эту|этого|это|этом|текущ\p{L}*|его)(?:\s|$)`)
	refWord = regexp.MustCompile(`(?i)(?:^|[\s#№])(?:id\s*[:=]?\s*|#|№\s*|number\s+|номер\s+)?(` + uuidShape + `|\d+)(?:[\s.,!?:;]|$)`)
)

// understand reads an order. What it does not know is the verb nothing.
func understand(text string, s scene) ask {
	text = strings.TrimSpace(text)
	switch {
	case greeting.MatchString(text):
		return ask{verb: greet}
	case canDo.MatchString(text):
		return ask{verb: capabilities}
	}
	if a, ok := understandSQL(text, s); ok {
		return a
	}
	if m := renaming.FindStringSubmatch(text); m != nil {
		return understandRename(m[1], s)
	}
	text, places := s.withoutPlaces(text)
	a := understandObject(text, s)
	for _, p := range places {
		switch p.word {
		case "from", "из", "с", "со":
			a.from = p.env
		case "to", "into", "в", "во", "на", "к":
			a.to = p.env
		default:
			a.env = p.env
		}
	}
	if a.verb != planMigration {
		for _, e := range []string{a.from, a.to} {
			if e != "" {
				a.env = e
			}
		}
		a.from, a.to = "", ""
	}
	return a
}

func understandSQL(text string, s scene) (ask, bool) {
	m := runSQL.FindStringSubmatch(text)
	if m == nil {
		m = runSelect.FindStringSubmatch(text)
	}
	if m == nil {
		return ask{}, false
	}
	a := ask{verb: sql, text: strings.TrimSpace(m[1])}
	// The places stand after the statement; within it they may be names of tables.
	for {
		words := strings.Fields(a.text)
		if len(words) < 3 {
			break
		}
		env, ok := s.envOf(words[len(words)-1])
		if prep := strings.ToLower(words[len(words)-2]); !ok || !envPrepositions[prep] || prep == "from" || prep == "of" {
			break
		}
		a.env = env
		cut := strings.TrimRight(strings.TrimSuffix(a.text, words[len(words)-1]), " \t\n")
		a.text = strings.TrimSpace(strings.TrimSuffix(cut, words[len(words)-2]))
	}
	if m := onBase.FindStringSubmatchIndex(a.text); m != nil {
		a.database, a.text = a.text[m[2]:m[3]], strings.TrimSpace(a.text[:m[0]])
	}
	return a, true
}

func understandRename(rest string, s scene) ask {
	object, title, ok := splitRename(rest, s)
	a := ask{verb: rename, kind: cmp.Or(kindIn(rest), "dashboard")}
	if !ok {
		a.object(rest, rest, s)
		return a
	}
	object, places := s.withoutPlaces(object)
	if q := quoted.FindStringSubmatch(title); q != nil {
		if strings.HasSuffix(title, q[0]) || strings.HasPrefix(title, q[0]) {
			_, after := s.withoutPlaces(strings.TrimPrefix(title, q[0]))
			places = append(places, after...)
			title = q[1] + q[2]
		}
	} else {
		title = strings.TrimRight(title, ".!")
	}
	a.text = title
	a.object(object, object, s)
	if len(places) > 0 {
		a.env = places[len(places)-1].env
	}
	return a
}

// splitRename parts an object from its new title: after a quoted title if the object has one, else at the first
// word that parts them and is not the preposition of an environment.
func splitRename(rest string, s scene) (object, title string, ok bool) {
	from := 0
	if q := quoted.FindStringIndex(rest); q != nil && renameTo.MatchString(rest[q[1]:]) {
		from = q[1]
	}
	for _, m := range renameTo.FindAllStringIndex(rest[from:], -1) {
		object, title = strings.TrimSpace(rest[:from+m[0]]), strings.TrimSpace(rest[from+m[1]:])
		words := strings.Fields(title)
		if len(words) == 0 {
			continue
		}
		if _, env := s.envOf(words[0]); env && len(words) > 1 {
			continue
		}
		return object, title, true
	}
	return "", "", false
}
