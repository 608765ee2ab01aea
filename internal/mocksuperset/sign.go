package mocksuperset

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strings"
	"time"
)

var b64 = base64.RawURLEncoding.Strict()

// seal makes a text of three parts, payload, time and signature, for cookies and CSRF tokens.
func (s *Server) seal(purpose string, v any, at time.Time) string {
	var when [4]byte
	binary.BigEndian.PutUint32(when[:], uint32(at.Unix()))
	text := b64.EncodeToString(encode(v)) + "." + b64.EncodeToString(when[:])
	return text + "." + s.shortMAC(purpose, text)
}

// unseal reads what seal made; false for anything else.
func (s *Server) unseal(purpose, text string, v any) (at time.Time, ok bool) {
	cut := strings.LastIndexByte(text, '.')
	if cut < 0 || !hmac.Equal([]byte(s.shortMAC(purpose, text[:cut])), []byte(text[cut+1:])) {
		return time.Time{}, false
	}
	payload, when, _ := strings.Cut(text[:cut], ".")
	raw, err := b64.DecodeString(payload)
	if err != nil || json.Unmarshal(raw, v) != nil {
		return time.Time{}, false
	}
	sec, err := b64.DecodeString(when)
	if err != nil || len(sec) != 4 {
		return time.Time{}, false
	}
	return time.Unix(int64(binary.BigEndian.Uint32(sec)), 0), true
}

func (s *Server) shortMAC(purpose, text string) string {
	mac := hmac.New(sha1.New, append([]byte(purpose+" "), s.secret...))
	mac.Write([]byte(text))
	return b64.EncodeToString(mac.Sum(nil))
}

// claims are what a token of the API says.
type claims struct {
	Fresh bool   `json:"fresh"`
	Iat   int64  `json:"iat"`
	Jti   string `json:"jti"`
	Type  string `json:"type"`
	Sub   string `json:"sub"`
	Nbf   int64  `json:"nbf"`
	Csrf  string `json:"csrf"`
	Exp   int64  `json:"exp"`
}

const (
	accessLife  = 15 * time.Minute
	refreshLife = 30 * 24 * time.Hour
)

// newToken must be called with writing held.
func (s *Server) newToken(kind string, user int, fresh bool) string {
	now, life := s.clock.wall(), accessLife
	if kind == "refresh" {
		life = refreshLife
	}
	head := b64.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`))
	body := b64.EncodeToString(encode(claims{
		Fresh: fresh, Iat: now.Unix(), Jti: s.newUUID(), Type: kind, Sub: itoa(user),
		Nbf: now.Unix(), Csrf: s.newUUID(), Exp: now.Add(life).Unix(),
	}))
	return head + "." + body + "." + s.tokenMAC(head+"."+body)
}

func (s *Server) tokenMAC(text string) string {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte(text))
	return b64.EncodeToString(mac.Sum(nil))
}

// readToken checks a token in Superset's order: form, algorithm, signature, expiry.
// The text is the reason, empty when the token is good.
func (s *Server) readToken(text string) (claims, int, string) {
	var out claims
	parts := strings.Split(text, ".")
	if len(parts) < 3 {
		return out, 422, "Not enough segments"
	}
	if len(parts) > 3 {
		return out, 422, "Invalid crypto padding"
	}
	var head struct{ Alg string }
	raw, err := b64.DecodeString(parts[0])
	if err != nil || json.Unmarshal(raw, &head) != nil {
		return out, 422, "Invalid header padding"
	}
	if head.Alg != "HS256" {
		return out, 422, "The specified alg value is not allowed"
	}
	if !hmac.Equal([]byte(s.tokenMAC(parts[0]+"."+parts[1])), []byte(parts[2])) {
		return out, 422, "Signature verification failed"
	}
	raw, err = b64.DecodeString(parts[1])
	if err != nil || json.Unmarshal(raw, &out) != nil {
		return out, 422, "Invalid payload padding"
	}
	if s.clock.wall().Unix() >= out.Exp {
		return out, 401, "Token has expired"
	}
	return out, 0, ""
}
