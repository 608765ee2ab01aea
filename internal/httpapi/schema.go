package httpapi

import (
	"embed"
	"encoding/json"
	"fmt"

	"agentd/internal/chat"
)

// The JSON Schema of every event on the wire, one file each, written by hand. They refuse what they do not name.
//
//go:embed schemas/*.json
var schemaFiles embed.FS

// eventSchemas gives the schema of every type of event that the stream can hold.
func eventSchemas() (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for _, typ := range append(chat.EventTypes(), resetType) {
		b, err := schemaFiles.ReadFile("schemas/" + typ + ".json")
		if err != nil {
			return nil, fmt.Errorf("schema of event %s: %w", typ, err)
		}
		out[typ] = b
	}
	return out, nil
}
