package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"agentd/internal/fault"

	"github.com/go-json-experiment/json/jsontext"
)

// maxBody is the largest body of a request, in bytes.
const maxBody = 1 << 20

// readObject reads the body of r as one JSON object. A request without a body is an empty object.
//
// Errors: TooLarge over maxBody; Invalid with codeMediaType for another content type, with codeMalformed and
// the position for what is not JSON, and with a field for JSON that is no object.
func readObject(w http.ResponseWriter, r *http.Request) (*object, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, &fault.Error{Kind: fault.TooLarge, Code: codeBodyTooLarge, Msg: "The body is larger than 1 MB.", Err: err}
		}
		return nil, &fault.Error{Kind: fault.Invalid, Code: codeMalformed, Msg: "The body ended before it was whole.", Err: err}
	}
	if err := checkMediaType(r, len(body) > 0); err != nil {
		return nil, err
	}
	if len(body) == 0 {
		return newObject("", nil, &[]fault.Field{}), nil
	}
	return parseObject(body)
}

// checkMediaType wants JSON. A request without a body needs no type, unless a browser's cookie came with a POST:
// a page of another origin can send that by itself, but not with this type. It cannot send DELETE by itself at all.
func checkMediaType(r *http.Request, body bool) error {
	got := r.Header.Get("Content-Type")
	if got == "" && !body && (r.Header.Get("Cookie") == "" || r.Method == http.MethodDelete) {
		return nil
	}
	if t, _, err := mime.ParseMediaType(got); err == nil && t == "application/json" {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Code: codeMediaType, Msg: "The content type must be application/json."}
}

// parseObject is readObject without the request. It refuses a name that comes twice and text that is not UTF-8,
// since two readers would understand such a body differently.
func parseObject(body []byte) (*object, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(body))
	val, err := dec.ReadValue()
	if err == nil {
		val = val.Clone()
		if _, more := dec.ReadToken(); !errors.Is(more, io.EOF) {
			return nil, malformed(body, dec.InputOffset(), "there is something after the end of the value")
		}
		bad := &[]fault.Field{}
		if val.Kind() != '{' {
			*bad = append(*bad, fault.Field{Pointer: "", Detail: "must be a JSON object"})
			return nil, refused(*bad)
		}
		return newObject("", json.RawMessage(val), bad), nil
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return nil, malformed(body, e.ByteOffset, e.Err.Error())
	}
	return nil, malformed(body, int64(len(body)), "the text ends too early")
}

// malformed names the place of what is not JSON, in lines and columns that count from 1. Columns are bytes.
func malformed(body []byte, offset int64, why string) error {
	before := body[:min(int(offset), len(body))]
	line := bytes.Count(before, []byte("\n")) + 1
	col := len(before) - bytes.LastIndexByte(before, '\n')
	why = strings.TrimPrefix(why, "jsontext: ")
	return &fault.Error{Kind: fault.Invalid, Code: codeMalformed, Msg: fmt.Sprintf(
		"The body is not JSON: line %d, column %d (byte %d): %s.", line, col, offset, why)}
}

// refused is the one error of a request whose values cannot be used, all of them named.
func refused(bad []fault.Field) error {
	if len(bad) == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Invalid, Msg: "The request has values that cannot be used.", Fields: bad}
}
