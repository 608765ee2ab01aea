package mcpclient

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

// Prefix begins the name of every tool of an MCP server.
const Prefix = "mcp__"

const (
	maxName   = 64 // what model providers take
	maxServer = 20 // of it for the server, where the whole does not fit
)

// Name is the name under which a server's tool is offered: mcp__SERVER__TOOL. Where that would be too long, would
// need other characters or could be that of another tool, a hash of both names stands before the end of the tool's
// name, which is the part that tells tools apart.
func Name(server, tool string) string {
	s, t := plain(server), plain(tool)
	full := Prefix + s + "__" + t
	if len(full) <= maxName && s == server && t == tool && !blurred(s, t) {
		return full
	}
	sum := sha256.Sum256([]byte(server + "\x00" + tool))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:5]))
	head := Prefix + s[:min(len(s), maxServer)] + "__" + hash + "_"
	return head + t[max(0, len(t)-(maxName-len(head))):]
}

// blurred reports whether it could not be told where the server's name ends.
func blurred(server, tool string) bool {
	return strings.Contains(server, "__") || strings.HasSuffix(server, "_") || strings.HasPrefix(tool, "_") || server == "" || tool == ""
}

// plain keeps what providers take.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}
