package eventlog

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"time"

	"agentd/internal/fault"
)

const secretBytes = 32

// Secret returns the key of a name, which is made when it is asked for first, and is the same on every replica
// and after a restart.
func (l *Log) Secret(ctx context.Context, name string) ([]byte, error) {
	fresh := make([]byte, secretBytes)
	rand.Read(fresh) // never fails
	var value string
	err := l.apply(ctx, func(t *tx) error {
		_, err := t.exec(`INSERT INTO secret (name, value) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`, name, base64.StdEncoding.EncodeToString(fresh))
		if err != nil {
			return err
		}
		return t.get(`SELECT value FROM secret WHERE name = ?`, []any{name}, &value)
	})
	if err != nil {
		return nil, err
	}
	b, err := base64.StdEncoding.DecodeString(value)
	if err != nil || len(b) != secretBytes {
		return nil, fault.Wrap(fault.Internal, "A stored key is damaged.", err)
	}
	return b, nil
}

// Spend notes that something was used that counts once. Conflict with code spent when it was used before, on
// any replica. It is forgotten when expires has passed: until then the caller must have refused it for its age.
func (l *Log) Spend(ctx context.Context, id string, expires time.Time) error {
	return l.apply(ctx, func(t *tx) error {
		if _, err := t.exec(`DELETE FROM spent WHERE expires <= ?`, micros(t.now)); err != nil {
			return err
		}
		n, err := t.exec(`INSERT INTO spent (id, expires) VALUES (?, ?) ON CONFLICT (id) DO NOTHING`, id, micros(expires))
		if err == nil && n == 0 {
			return &fault.Error{Kind: fault.Conflict, Code: "spent", Msg: "It was used before."}
		}
		return err
	})
}
