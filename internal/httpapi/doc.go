// Package httpapi is the HTTP edge: routes, problem documents, the encoding of events, the page. It decides nothing
// about work: it reads requests strictly, asks who is asking, calls the services, and writes what they answer.
//
// The web framework is known to this package only.
package httpapi
