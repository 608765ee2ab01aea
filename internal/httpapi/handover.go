package httpapi

import (
	"context"
	"net/http"
)

// Handover signs people in on an origin of agentd's own, by the word of Superset's side.
type Handover interface {
	// Exchange takes a token, once, and returns the cookie of the session that it opens, and whose it is. Auth for a
	// token that does not count.
	Exchange(ctx context.Context, token string) (cookie *http.Cookie, user string, err error)
	// Ended returns the cookie that ends a session in the browser that gets it.
	Ended() *http.Cookie
}

const maxToken = 8000 // code points

func (a *API) handover(c *call) error {
	o, err := c.body()
	if err != nil {
		return err
	}
	token := o.text("token", maxToken)
	o.must("token", "what the page of Superset was given for you")
	o.done()
	if err := o.err(); err != nil {
		return err
	}
	cookie, user, err := a.o.Handover.Exchange(c.Request().Context(), token)
	if err != nil {
		return err
	}
	traceOf(c).user = user
	http.SetCookie(c.Response(), cookie)
	return c.none()
}

// endHandover signs out, by the word of Superset's page that nobody is logged in there any more. Who was signed in is
// not asked: a session that has ended already ends well too.
func (a *API) endHandover(c *call) error {
	if err := c.noBody(); err != nil {
		return err
	}
	http.SetCookie(c.Response(), a.o.Handover.Ended())
	return c.none()
}

// newFrame makes a frame that is being loaded begin signed out, so that it asks Superset's page who is logged in
// there now. A session that is still good can be of somebody who has logged out since.
func (a *API) newFrame(h http.Header) {
	if a.o.Handover != nil {
		h.Add("Set-Cookie", a.o.Handover.Ended().String())
	}
}
