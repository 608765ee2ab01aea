package offload

// scheme begins the name of a stored result in texts and arguments.
const scheme = "agentd+artifact://"

// URI is the name under which a stored result is passed on. It is no permission.
func URI(id string) string { return scheme + "/" + id }
