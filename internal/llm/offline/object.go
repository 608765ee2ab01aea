package offline

import (
	"regexp"
	"strconv"
	"strings"
)

var kindPatterns = []struct {
	kind    string
	pattern *regexp.Regexp
}{
	{"dashboard", regexp.MustCompile(`(?i)` + dashboardWord)},
	{"dataset", regexp.MustCompile(`(?i)` + datasetWord)},
	{"chart", regexp.MustCompile(`(?i)` + chartWord)},
}

// kindIn finds the kind that is meant: the one with a number behind it, else the one that is named first.
// Charts count only where nothing else is named, since they are asked for as parts of the others.
func kindIn(text string) string {
	kind, at := "", len(text)
	for _, k := range kindPatterns {
		m := k.pattern.FindStringIndex(text)
		switch {
		case m == nil:
		case numberBehind.MatchString(text[m[1]:]):
			return k.kind
		case m[0] < at && (k.kind != "chart" || kind == ""):
			kind, at = k.kind, m[0]
		}
	}
	return kind
}

var numberBehind = regexp.MustCompile(`(?i)^\s*(?:id|#|№|number|номер)?\s*[:=]?\s*(?:\d|` + uuidShape + `)`)

// understandObject reads an order about an object, or a search. Environments are already taken out of text.
func understandObject(text string, s scene) ask {
	a := ask{kind: kindIn(text)}
	tail := func(re *regexp.Regexp, v verb) ask {
		a.verb = v
		if m := re.FindStringIndex(text); m != nil {
			a.object(text, text[m[1]:], s)
		}
		return a
	}
	switch {
	case applyPlan.MatchString(text):
		return ask{verb: applyMigration, ref: strings.TrimRight(applyPlan.FindStringSubmatch(text)[1], ".!")}
	case rollBack.MatchString(text):
		return ask{verb: rollback, ref: strings.TrimRight(rollBack.FindStringSubmatch(text)[1], ".!")}
	case readMore.MatchString(text) && a.kind == "":
		return ask{verb: readArtifact, ref: readMore.FindStringSubmatch(text)[1]}
	case migrate.MatchString(text):
		return tail(migrate, planMigration)
	case exporting.MatchString(text):
		return tail(exporting, export)
	case unpublishing.MatchString(text):
		return tail(unpublishing, unpublish)
	case publishing.MatchString(text):
		return tail(publishing, publish)
	case removing.MatchString(text):
		return tail(removing, remove)
	case checking.MatchString(text) && (a.kind != "" || this.MatchString(text)):
		return tail(checking, check)
	case refreshing.MatchString(text):
		return tail(refreshing, refresh)
	case a.kind == "chart" && inspecting.MatchString(text) && refWord.MatchString(text):
		return tail(inspecting, inspect)
	case a.kind != "chart" && opening.MatchString(text) && one(text, a.kind, s):
		return tail(opening, get)
	case searching.MatchString(text) && (a.kind == "dashboard" || a.kind == "dataset"):
		a.search(text)
		return a
	case statusOf.MatchString(text):
		return ask{verb: status}
	}
	return ask{}
}

// one reports whether a text means one object and not a list: it has a number, a quoted name, or says "this".
func one(text, kind string, s scene) bool {
	text = stale.ReplaceAllString(text, " ") // its number is no object's
	switch {
	case refWord.MatchString(text), this.MatchString(text) && s.pageID != "":
		return true
	case kind == "" || plural.MatchString(text):
		return false
	}
	return quoted.MatchString(text) || !topic.MatchString(text)
}

// object finds which object is meant. rest is what of text follows the verb.
func (a *ask) object(text, rest string, s scene) {
	if a.kind == "" {
		a.kind = s.pageType
		if a.kind == "" {
			a.kind = "dashboard"
		}
	}
	if m := quoted.FindStringSubmatch(text); m != nil {
		a.name = m[1] + m[2]
		return
	}
	if m := refWord.FindStringSubmatch(text); m != nil {
		a.ref = m[1]
		return
	}
	if a.kind == s.pageType && s.pageID != "" {
		if bare(rest) == "" || this.MatchString(text) {
			a.ref = s.pageID
			return
		}
	}
	a.name = bare(rest)
}

// fillers are words that say nothing about which object is meant.
var fillers = map[string]bool{
	"the": true, "a": true, "an": true, "all": true, "me": true, "any": true, "of": true, "this": true, "current": true, "it": true, "for": true, "please": true, "with": true,
	"named": true, "called": true, "titled": true, "there": true, "are": true, "is": true, "do": true, "we": true, "i": true, "have": true, "exist": true, "in": true, "superset": true, "my": true, "mine": true, "own": true,
	"published": true, "unpublished": true, "draft": true, "drafts": true, "id": true, "number": true, "about": true, "on": true, "from": true, "to": true, "и": true, "and": true, "some": true, "every": true, "list": true,
	"все": true, "всё": true, "весь": true, "этот": true, "эту": true, "этого": true, "это": true, "этом": true, "текущий": true, "мне": true, "мои": true, "моих": true, "мой": true, "пожалуйста": true, "есть": true, "у": true, "нас": true,
	"под": true, "названием": true, "с": true, "номер": true, "существуют": true, "всего": true, "ли": true, "из": true, "в": true, "на": true, "опубликованные": true, "неопубликованные": true, "черновики": true, "список": true,
}

// bare is a text without the words for kinds and without fillers.
func bare(text string) string {
	for _, k := range kindPatterns {
		text = k.pattern.ReplaceAllString(text, " ")
	}
	words := strings.Fields(strings.Trim(text, " .!?,:;"))
	for len(words) > 0 && fillers[strings.ToLower(words[0])] {
		words = words[1:]
	}
	for len(words) > 0 && fillers[strings.ToLower(words[len(words)-1])] {
		words = words[:len(words)-1]
	}
	return strings.Join(words, " ")
}

// search reads what is searched for.
func (a *ask) search(text string) {
	a.verb = search
	a.mine = mineTag.MatchString(text)
	yes, no := true, false
	switch {
	case draft.MatchString(text):
		a.published = &no
	case public.MatchString(text):
		a.published = &yes
	}
	if m := quoted.FindStringSubmatch(text); m != nil {
		a.text = m[1] + m[2]
		return
	}
	if m := stale.FindStringSubmatch(text); m != nil {
		a.untouched = days(m[1]+m[3], m[2]+m[4])
		text = strings.Replace(text, m[0], " ", 1)
	}
	m := searching.FindStringIndex(text)
	rest := draft.ReplaceAllString(public.ReplaceAllString(mineTag.ReplaceAllString(text[m[1]:], " "), " "), " ")
	if t := topic.FindStringSubmatch(rest); t != nil {
		if words := bare(t[1]); words != "" {
			a.text = stem(words)
			return
		}
	}
	a.text = stem(bare(rest))
}

// days are so many days, weeks, months or years; a unit without a number is one.
func days(n, unit string) int {
	count, err := strconv.Atoi(n)
	if err != nil {
		count = 1
	}
	each := map[string]int{"day": 1, "дн": 1, "ден": 1, "week": 7, "недел": 7, "month": 30, "месяц": 30, "year": 365, "год": 365, "лет": 365}[strings.ToLower(unit)]
	return min(count, 100) * each
}

// stem cuts the ending of one Russian word, so that "продажам" and "продажи" find the same titles.
func stem(words string) string {
	if strings.Contains(words, " ") || !russian(words) {
		return words
	}
	r := []rune(words)
	for _, end := range []string{"ами", "ями", "ах", "ях", "ам", "ям", "ов", "ев", "ей", "ой", "ы", "и", "а", "я", "у", "ю", "е", "о"} {
		if e := []rune(end); len(r)-len(e) >= 4 && strings.HasSuffix(words, end) {
			return string(r[:len(r)-len(e)])
		}
	}
	return words
}
