package httpapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"agentd/internal/chat"
)

// The document of the whole API, written by hand. Events are added from their own schemas.
//
//go:embed openapi.json
var openapiSource []byte

// describe gives the document of the routes that are there.
func describe(routes []route) ([]byte, error) {
	var doc map[string]json.RawMessage
	var paths map[string]map[string]json.RawMessage
	var components map[string]map[string]json.RawMessage
	if err := json.Unmarshal(openapiSource, &doc); err != nil {
		return nil, fmt.Errorf("read the API's document: %w", err)
	}
	if err := json.Unmarshal(doc["paths"], &paths); err != nil {
		return nil, fmt.Errorf("read the API's paths: %w", err)
	}
	if err := json.Unmarshal(doc["components"], &components); err != nil {
		return nil, fmt.Errorf("read the API's components: %w", err)
	}
	there := map[string]map[string]json.RawMessage{}
	for _, r := range routes {
		op, ok := paths[r.path][strings.ToLower(r.method)]
		if !ok {
			return nil, fmt.Errorf("%s %s is not described", r.method, r.path)
		}
		if there[r.path] == nil {
			there[r.path] = map[string]json.RawMessage{}
		}
		there[r.path][strings.ToLower(r.method)] = op
	}
	if err := addEvents(components["schemas"]); err != nil {
		return nil, err
	}
	var err error
	if doc["paths"], err = json.Marshal(there); err != nil {
		return nil, err
	}
	if doc["components"], err = json.Marshal(components); err != nil {
		return nil, err
	}
	return marshal(doc)
}

// addEvents puts the schema of each event among the components, and Event, which is any of them.
func addEvents(into map[string]json.RawMessage) error {
	events, err := eventSchemas()
	if err != nil {
		return err
	}
	type ref struct {
		Ref string `json:"$ref"`
	}
	var any struct {
		OneOf []ref `json:"oneOf"`
	}
	for _, typ := range append(chat.EventTypes(), resetType) {
		into["event_"+typ] = events[typ]
		any.OneOf = append(any.OneOf, ref{"#/components/schemas/event_" + typ})
	}
	into["Event"], err = json.Marshal(any)
	return err
}

func (a *API) document(c *call) error {
	c.Response().Header().Set("Cache-Control", "no-cache")
	return c.Blob(http.StatusOK, "application/json", a.openapi)
}
