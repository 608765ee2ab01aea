package httpapi

import "context"

// Feedback stores what the owner of a conversation thinks of a message. Missing for a message that is not there.
type Feedback interface {
	Feedback(ctx context.Context, conversation, messageID, user, rating, comment string) error
}

const maxComment = 2000 // code points

func (a *API) feedback(c *call) error {
	conv, err := a.own(c)
	if err != nil {
		return err
	}
	message, err := c.id("message_id")
	if err != nil {
		return err
	}
	o, err := c.body()
	if err != nil {
		return err
	}
	rating := o.oneOf("rating", "up", "down")
	o.must("rating", "up or down")
	comment := o.text("comment", maxComment)
	o.done()
	if err := o.err(); err != nil {
		return err
	}
	if err := a.o.Feedback.Feedback(c.Request().Context(), conv.ID, message, c.who.User, rating, comment); err != nil {
		return err
	}
	return c.none()
}
