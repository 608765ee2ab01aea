package offline

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"agentd/internal/chat"
)

// A scene is where the user asks from: the page, the environments, the tools on offer.
type scene struct {
	pageType string // dashboard, dataset, chart
	pageID   string
	language string // en, ru or ""
	envs     []environment
	env      string // the conversation's own environment
	tools    map[string]schema

	lastArtifact string // the stored result that was spoken of last
	lastCursor   string // where reading it stopped
}

type environment struct{ id, class string }

// A schema is what is needed to know of a tool's arguments.
type schema struct {
	Type       json.RawMessage   `json:"type"`
	Properties map[string]schema `json:"properties"`
}

var (
	pageLine = regexp.MustCompile(`(?m)^Page: objectType=([a-z_]+)(?: objectId="([^"]+)")?`)
	envsLine = regexp.MustCompile(`(?m)^Environments: (.+)$`)
	envItem  = regexp.MustCompile(`([A-Za-z0-9][A-Za-z0-9._-]*) \(([a-z]+)\)`)
	envLine  = regexp.MustCompile(`(?m)^Environment: (\S+)`)
	langLine = regexp.MustCompile(`(?m)^Language: ([a-z]{2})`)
)

// look reads the lines of the system prompt that are for the model, and the user's own page where it has none.
func look(p chat.Prompt, user chat.UserMessage) scene {
	s := scene{pageType: user.View.ObjectType, pageID: user.View.ObjectID, tools: map[string]schema{}}
	if m := pageLine.FindStringSubmatch(p.System); m != nil {
		s.pageType, s.pageID = m[1], m[2]
	}
	if m := envsLine.FindStringSubmatch(p.System); m != nil {
		for _, e := range envItem.FindAllStringSubmatch(m[1], -1) {
			s.envs = append(s.envs, environment{id: e[1], class: e[2]})
		}
	}
	if m := langLine.FindStringSubmatch(p.System); m != nil {
		s.language = m[1]
	}
	if m := envLine.FindStringSubmatch(p.System); m != nil {
		s.env = m[1]
	}
	for _, m := range p.Messages {
		if r, ok := m.(chat.ToolResult); ok {
			if id := artifactID.FindString(r.Content); id != "" {
				s.lastArtifact, s.lastCursor = id, ""
			}
			if c := nextCursor.FindStringSubmatch(r.Content); c != nil {
				s.lastCursor = c[1]
			}
		}
	}
	for _, t := range p.Tools {
		var sc schema
		if json.Unmarshal(t.Schema, &sc) != nil { // a schema that cannot be read has no arguments we could give
			sc = schema{}
		}
		s.tools[t.Name] = sc
	}
	return s
}

// envWords are what people call classes of environments, as whole words.
var envWords = map[string]string{
	"prod": "prod", "production": "prod", "прод": "prod", "проде": "prod", "прода": "prod", "проду": "prod", "продакшн": "prod", "продакшене": "prod", "продакшен": "prod", "продакшена": "prod",
	"staging": "staging", "stage": "staging", "стейдж": "staging", "стейдже": "staging", "стейджа": "staging", "стейджинг": "staging", "стейджинге": "staging", "стейджинга": "staging",
	"dev": "dev", "development": "dev", "дев": "dev", "деве": "dev", "дева": "dev",
}

// envOf finds the environment that a word names, by its id or, where one only has that class, by its class.
func (s scene) envOf(word string) (string, bool) {
	word = strings.ToLower(strings.Trim(word, ".,!?:;«»\"'()"))
	for _, e := range s.envs {
		if strings.ToLower(e.id) == word {
			return e.id, true
		}
	}
	found := ""
	if class, ok := envWords[word]; ok {
		for _, e := range s.envs {
			if e.class == class {
				if found != "" {
					return "", false
				}
				found = e.id
			}
		}
	}
	return found, found != ""
}

var envPrepositions = map[string]bool{
	"in": true, "on": true, "at": true, "from": true, "to": true, "into": true, "of": true, "for": true, "env": true, "environment": true, "the": true,
	"в": true, "во": true, "на": true, "из": true, "с": true, "со": true, "к": true, "для": true, "среде": true, "среда": true, "среду": true, "среды": true,
}

// A place is an environment that a text names, with the word before it.
type place struct{ word, env string }

// withoutPlaces takes the environments out of a text, each with the prepositions before it.
func (s scene) withoutPlaces(text string) (string, []place) {
	var kept []string
	var found []place
	for _, w := range strings.FieldsFunc(text, unicode.IsSpace) {
		env, ok := s.envOf(w)
		if !ok {
			kept = append(kept, w)
			continue
		}
		p := place{env: env}
		for len(kept) > 0 && envPrepositions[strings.ToLower(kept[len(kept)-1])] {
			w := strings.ToLower(kept[len(kept)-1])
			if w != "the" && !strings.HasPrefix(w, "env") && !strings.HasPrefix(w, "сред") {
				p.word = w
			}
			kept = kept[:len(kept)-1]
		}
		found = append(found, p)
	}
	if found == nil {
		return text, nil
	}
	return strings.Join(kept, " "), found
}

func russian(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Cyrillic, r) })
}
