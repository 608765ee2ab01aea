package mcpclient

import (
	"agentd/internal/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// riskOf joins the operator's word and the server's. raised reports that the server's made it higher.
//
// The operator decides, and a server that calls its tool destructive is believed. Where the operator said nothing,
// the server's word makes a tool milder than dangerous, never so mild that nobody is asked: a claim to read only is
// as easily made by what writes.
func riskOf(operator tool.Risk, a *mcp.ToolAnnotations) (risk tool.Risk, raised bool) {
	claim := tool.Dangerous
	if a != nil && !destructive(a) && (a.ReadOnlyHint || a.DestructiveHint != nil) {
		claim = tool.Write
	}
	if operator == "" {
		return claim, false
	}
	if a != nil && destructive(a) && operator.Level() < tool.Dangerous.Level() {
		return tool.Dangerous, true
	}
	return operator, false
}

// destructive reports whether the server says so in as many words; that it is the protocol's default is not its word.
func destructive(a *mcp.ToolAnnotations) bool { return a.DestructiveHint != nil && *a.DestructiveHint }
