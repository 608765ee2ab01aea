package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"agentd/internal/fault"
	"agentd/internal/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a server may put before the model.
const (
	maxTools       = 256
	maxPages       = 64
	maxDescription = 4000      // characters; the rest is left out
	maxList        = 512 << 10 // bytes of descriptions and schemas of one server
	maxOwnName     = 256       // bytes of a name as the server gives it
)

// read reads the list of tools, every page of it. What cannot be offered is in skipped. A session that turns out to
// be gone is replaced once.
func (s *server) read(ctx context.Context) (list []tool.Tool, skipped []Skipped, err error) {
	for second := false; ; second = true {
		session, err := s.connected(ctx)
		if err != nil {
			return nil, nil, err
		}
		list, skipped, lost, err := s.pages(ctx, session)
		if err == nil {
			return list, skipped, nil
		}
		s.drop(session)
		if lost == sessionFine || second {
			return nil, nil, err
		}
	}
}

func (s *server) pages(ctx context.Context, session *mcp.ClientSession) (list []tool.Tool, skipped []Skipped, lost loss, err error) {
	taken, size := map[string]bool{}, 0
	unknown := maps.Clone(s.Tools) // what is configured and was not met
	skip := func(name, why string) { skipped = append(skipped, Skipped{Tool: s.clipName(name), Why: why}) }
	cursor := ""
	for range maxPages {
		page, schemas, lost, err := s.page(ctx, session, cursor)
		if err != nil {
			return nil, nil, lost, err
		}
		for _, t := range page.Tools {
			delete(unknown, t.Name)
			built, err := s.build(t, schemas[t.Name])
			switch {
			case err != nil:
				skip(t.Name, err.Error())
			case taken[built.Name]:
				skip(t.Name, "the server has two tools of that name")
			case len(list) == maxTools:
				skip(t.Name, fmt.Sprintf("a server may have at most %d tools", maxTools))
			case size+len(built.Description)+len(built.Schema) > maxList:
				skip(t.Name, fmt.Sprintf("the tools of a server may have at most %d bytes together", maxList))
			default:
				taken[built.Name] = true
				size += len(built.Description) + len(built.Schema)
				list = append(list, built)
			}
		}
		if cursor = page.NextCursor; cursor == "" {
			for _, name := range slices.Sorted(maps.Keys(unknown)) { // a typing mistake would leave the tool's risk unsaid
				skip(name, "it is configured, and the server has no tool of that name")
			}
			return list, skipped, sessionFine, nil
		}
		if len(skipped) > maxTools {
			return list, skipped, sessionFine, nil
		}
	}
	skip("", fmt.Sprintf("its list has more than %d pages", maxPages))
	return list, skipped, sessionFine, nil
}

// page reads one page, and of each tool the schema as it came: in order, and with its numbers exact.
func (s *server) page(ctx context.Context, session *mcp.ClientSession, cursor string) (*mcp.ListToolsResult, map[string]json.RawMessage, loss, error) {
	ctx, x, end := begin(ctx)
	defer end()
	page, err := session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
	if err != nil {
		_, lost, ferr := s.outcome(ctx, x, false, err)
		if ferr == nil { // the answer came, and the SDK could not read it
			ferr = s.strange(false, "Its list of tools could not be read", s.cause(err))
		}
		return nil, nil, lost, ferr
	}
	schemas := map[string]json.RawMessage{}
	var as struct {
		Tools []struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		} `json:"tools"`
	}
	// Without an answer the page is one that the SDK still had; then its own copy of the schemas has to do.
	if r, ok := x.response(); ok && json.Unmarshal(r.Result, &as) == nil {
		for _, t := range as.Tools {
			schemas[t.Name] = t.InputSchema
		}
	}
	return page, schemas, sessionFine, nil
}

// build makes a tool of ours of one of a server. The error is a clause that says why it cannot be offered.
func (s *server) build(t *mcp.Tool, raw json.RawMessage) (tool.Tool, error) {
	if t.Name == "" || len(t.Name) > maxOwnName || !utf8.ValidString(t.Name) || clean(t.Name) != t.Name {
		return tool.Tool{}, errors.New("its name cannot be used")
	}
	if len(raw) == 0 {
		b, err := json.Marshal(t.InputSchema)
		if err != nil {
			return tool.Tool{}, errors.New("its schema cannot be read")
		}
		raw = b
	}
	schema, err := acceptable(raw)
	if err != nil {
		return tool.Tool{}, err
	}
	if schema, err = cleanTexts(schema); err != nil {
		return tool.Tool{}, errors.New("its schema is no JSON object")
	}
	operator := s.Tools[t.Name]
	risk, raised := riskOf(operator.Risk, t.Annotations)
	if raised {
		s.log.Info("a tool counts as dangerous, since its server calls it destructive", "tool", t.Name, "configured", operator.Risk)
	}
	out := tool.Tool{Name: Name(s.Name, t.Name), Description: s.describe(t), Schema: schema, Risk: risk, Affinity: operator.Affinity}
	if s.o.Referable != nil && !operator.NoReferences {
		out.References = s.o.Referable(schema)
	}
	own := t.Name
	var takes struct {
		Properties json.RawMessage `json:"properties"`
	}
	takesEnv := json.Unmarshal(schema, &takes) == nil && names(takes.Properties, "env_id")
	built, err := tool.FromSchema(out, func(c tool.Call) (tool.Bound, error) {
		if !takesEnv && names(c.Args, "env_id") {
			// The guard would judge by an environment of which the server knows nothing.
			return tool.Bound{}, &fault.Error{Kind: fault.Invalid, Msg: out.Name + " works on no environment; leave env_id out.", Fields: []fault.Field{{Pointer: "/env_id", Detail: "must be left out"}}}
		}
		return tool.Bound{
			Risk:   risk,
			Verify: "Look at what the tool " + own + " of the MCP server " + s.Name + " changes.",
			Run: func(ctx context.Context) (tool.Result, error) {
				raw, err := s.call(ctx, own, c.Args, risk)
				if err != nil {
					return tool.Result{}, err
				}
				return s.result(raw, risk.Writes())
			},
		}, nil
	})
	if err != nil {
		return tool.Tool{}, fmt.Errorf("its schema cannot be used: %s", s.clip(errors.Unwrap(err).Error()))
	}
	return built, nil
}

// describe is what the model reads of a tool.
func (s *server) describe(t *mcp.Tool) string {
	d := clean(t.Description)
	if d == "" {
		d = clean(t.Title)
	}
	if d == "" {
		d = "The tool " + t.Name + " of the MCP server " + s.Name + "."
	}
	if utf8.RuneCountInString(d) > maxDescription {
		d = string([]rune(d)[:maxDescription-1]) + "…"
	}
	return d
}

// clipName is a name for the log.
func (s *server) clipName(name string) string {
	return strings.ToValidUTF8(name[:min(len(name), maxOwnName)], "\uFFFD")
}

// names reports whether an object has a member of a name.
func names(object json.RawMessage, name string) bool {
	var m map[string]json.RawMessage
	if json.Unmarshal(object, &m) != nil {
		return false
	}
	_, has := m[name]
	return has
}
