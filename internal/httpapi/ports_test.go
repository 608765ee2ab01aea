package httpapi_test

import (
	"agentd/internal/agent"
	"agentd/internal/artifact"
	"agentd/internal/auth"
	"agentd/internal/eventlog"
	"agentd/internal/httpapi"
	"agentd/internal/sse"
)

// What this package asks for is what is there.
var (
	_ httpapi.Identifier   = (*auth.Resolver)(nil)
	_ httpapi.Log          = (*eventlog.Log)(nil)
	_ httpapi.Audit        = (*eventlog.Log)(nil)
	_ httpapi.Feedback     = (*eventlog.Log)(nil)
	_ httpapi.Memories     = (*eventlog.Log)(nil)
	_ httpapi.Work         = (*agent.Service)(nil)
	_ httpapi.Surroundings = (*agent.Service)(nil)
	_ httpapi.Simulator    = (*agent.Service)(nil)
	_ httpapi.Artifacts    = (*artifact.Store)(nil)
	_ httpapi.Streams      = (*sse.Server)(nil)
)
