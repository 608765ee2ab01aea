package mocksuperset

import "strings"

const masked = "XXXXXXXXXX"

// maskURI hides the password of a connection's address.
func maskURI(uri string) string {
	scheme, rest, found := strings.Cut(uri, "://")
	if !found {
		return uri
	}
	user, host, found := strings.Cut(rest, "@")
	if !found {
		return uri
	}
	name, _, hasPassword := strings.Cut(user, ":")
	if !hasPassword {
		return uri
	}
	return scheme + "://" + name + ":" + masked + "@" + host
}
