package confirm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"agentd/internal/chat"
	"agentd/internal/fault"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns args without insignificant space and with keys in order. Numbers keep their digits, so that
// two different integers beyond 2^53 never become one. Text that is not one JSON value is Invalid.
func Canonical(args json.RawMessage) (json.RawMessage, error) {
	v := jsontext.Value(args).Clone()
	if len(v) == 0 {
		v = jsontext.Value("{}")
	}
	if err := v.Format(jsontext.ReorderRawObjects(true), jsontext.Multiline(false), jsontext.SpaceAfterColon(false), jsontext.SpaceAfterComma(false)); err != nil {
		return nil, fault.Wrap(fault.Invalid, "The arguments are not valid JSON.", err)
	}
	return json.RawMessage(v), nil
}

// Digest is the SHA-256 of the canonical arguments, in hex, with the digests of the stored results behind them that
// they name. Arguments that are not JSON are digested as they are.
func Digest(args json.RawMessage, passed ...chat.Reference) string {
	c, err := Canonical(args)
	if err != nil {
		c = args
	}
	h := sha256.New()
	h.Write(c)
	for _, r := range passed {
		h.Write([]byte("\n" + r.SHA256)) // no line break stands in canonical arguments
	}
	return hex.EncodeToString(h.Sum(nil))
}
